//===- Ranges.h - How large the numbers in buffers are -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_RANGES_H
#define CUPILOT_LIB_EVALUATION_RANGES_H

#include "Cases.h"
#include "cupilot/Evaluation/Magnitudes.h"

namespace cupilot {

/// What the contract of \p K promises of \p Buffer; null for nothing.
const MagnitudeRange *rangeOfBuffer(const Kernel &K, const GateCase &C,
                                    size_t Buffer);
/// Multiplies buffers whose numbers the contract excludes by a power of two, or
/// by less where their range has none.
void moveIntoRange(const Kernel &K, GateCase &C);
/// A usage error where \p K has no such buffer as its contract names.
llvm::Error checkRangeNames(const Kernel &K);
/// A usage error where what a launch reads contradicts the contract. \p Pure
/// says which buffers it only writes.
llvm::Error checkRecordedRanges(const Kernel &K, const GateCase &C,
                                llvm::ArrayRef<bool> Pure);

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_RANGES_H
