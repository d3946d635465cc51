//===- Magnitudes.h - How large numbers in buffers are ----------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVALUATION_MAGNITUDES_H
#define CUPILOT_EVALUATION_MAGNITUDES_H

#include "cupilot/Evaluation/Layout.h"
#include "llvm/ADT/ArrayRef.h"

namespace cupilot {

/// Of the finite floats of a buffer that are not 0.
struct Magnitudes {
  double Least = 0, Largest = 0;
};

/// Nothing where a buffer that holds \p Content has no such number.
std::optional<Magnitudes> magnitudesOf(llvm::ArrayRef<uint8_t> Content,
                                       const Layout &L);

} // namespace cupilot

#endif // CUPILOT_EVALUATION_MAGNITUDES_H
