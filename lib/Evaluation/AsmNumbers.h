//===- AsmNumbers.h - What inline PTX compares with -------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_ASMNUMBERS_H
#define CUPILOT_LIB_EVALUATION_ASMNUMBERS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/InstrTypes.h"

namespace cupilot {

/// Numbers in the text of inline PTX that its comparisons, minima and maxima
/// have (PTX ISA, "Comparison and Selection Instructions"). With which of the
/// operands they are compared is not looked into.
struct AsmNumbers {
  llvm::SmallVector<int64_t, 4> Integers;
  llvm::SmallVector<double, 2> Floats;
};

/// Nothing where \p Call is none of inline PTX, or cannot be read.
AsmNumbers comparedIn(const llvm::CallBase &Call);

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_ASMNUMBERS_H
