//===- Residuals.h - How far modelled speed-ups are off -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_ROOFLINE_RESIDUALS_H
#define CUPILOT_ROOFLINE_RESIDUALS_H

#include "cupilot/Model/Genome.h"

namespace cupilot {

/// A modelled speed-up, and between what measured ones lie: around it.
struct ModelledSpeedup {
  double Ratio = 0, Low = 0, High = 0;
};

/// What a GPU is likely to measure where the model says \p Ratio of a variant
/// that rules made by \p Change; a variant that somebody else wrote has no
/// genes. lib/Roofline/Residuals.def has the figures (docs/CostModel.md).
ModelledSpeedup withInterval(double Ratio, const Genome &Change);

} // namespace cupilot

#endif // CUPILOT_ROOFLINE_RESIDUALS_H
