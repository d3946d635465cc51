//===- FoldedDecisions.h - Comparisons that are arithmetic -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_FOLDEDDECISIONS_H
#define CUPILOT_LIB_EVALUATION_FOLDEDDECISIONS_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Instructions.h"

namespace cupilot {

/// Comparisons of integers that say what decisions of other kinds do: which
/// numbers are 0 that can be two things only (__clz(n ^ 7) >> 5), and how
/// floats compare that are sums of integers (fabsf(float(n) - 7) < 1).
struct FoldedDecisions {
  /// Numbers of DecisionKind::Number that can be two things only, or are
  /// quotients of a constant.
  llvm::SmallPtrSet<const llvm::Instruction *, 8> Numbers;
  /// Is true where the number is not 0, or the comparison is: nothing for what
  /// does not come to one comparison. They stand behind those instructions.
  llvm::DenseMap<const llvm::Instruction *, const llvm::ICmpInst *> Compares;
};

/// Finds them in \p F, a kernel of prepared code, whose decisions are marked,
/// and writes the comparisons into it.
FoldedDecisions foldDecisions(llvm::Function &F);

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_FOLDEDDECISIONS_H
