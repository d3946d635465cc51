//===- Stride.h - Grid-stride loops, and jumps in bodies -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_FRONTEND_RULES_STRIDE_H
#define CUPILOT_LIB_FRONTEND_RULES_STRIDE_H

#include "IndexUses.h"

namespace cupilot {

/// A kernel that is one loop `for (i = global; i < limit; i += total)` in x,
/// whose iterations know nothing of each other: any number of threads does the
/// same.
struct GridStride {
  const clang::ForStmt *Loop;
  Expr Limit;
  std::vector<Constraint> Needed; ///< For Limit to be right.
};

/// The grid-stride loop that the kernel is; nothing when it is none.
std::optional<GridStride> findGridStride(Values &Vals, IndexUses &Uses);

/// The return statements in \p S, not those of lambda expressions.
std::vector<const clang::ReturnStmt *> returnsIn(const clang::Stmt *S);

/// Is there a loop or switch between \p S and \p Outer around it?
bool inLoopOrSwitch(const KernelView &V, const clang::Stmt *S,
                    const clang::Stmt *Outer);

/// Does \p S hold a break or continue that concerns a loop around it?
bool breaksOut(const KernelView &V, const clang::Stmt *S, bool CountContinue);

/// Turns the returns in the kernel's body into jumps to the end of the block
/// that is put around it: `continue` where no loop is in between and
/// \p InLoop, else `goto Label`. Says whether the label is needed. A finding
/// names a return that cannot be edited.
llvm::Expected<bool> replaceReturns(KernelView &V, bool InLoop,
                                    llvm::StringRef Label,
                                    std::vector<Edit> &Edits);

} // namespace cupilot

#endif // CUPILOT_LIB_FRONTEND_RULES_STRIDE_H
