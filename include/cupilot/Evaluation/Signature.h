//===- Signature.h - The parameters of a variant -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVALUATION_SIGNATURE_H
#define CUPILOT_EVALUATION_SIGNATURE_H

#include "cupilot/Model/Kernel.h"

namespace cupilot {

/// A usage error unless \p Variant has the parameters that \p Plan gives it:
/// the original's, a pointer for each scratch buffer, and a CUtensorMap for
/// each tensor map.
llvm::Error checkParameters(const Kernel &Original, const Kernel &Variant,
                            const LaunchPlan &Plan);

} // namespace cupilot

#endif // CUPILOT_EVALUATION_SIGNATURE_H
