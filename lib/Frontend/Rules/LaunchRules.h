//===- LaunchRules.h - What rules about launches share -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_FRONTEND_RULES_LAUNCHRULES_H
#define CUPILOT_LIB_FRONTEND_RULES_LAUNCHRULES_H

#include "Bounds.h"
#include "Effects.h"
#include "Stride.h"

namespace cupilot {

/// What the rules look at before they rewrite.
struct Analysis {
  Effects Fx;
  Values Vals;
  IndexUses Uses;
  Bounds Checks;
  Analysis(KernelView &V, const RewriteState &S, unsigned Mask)
      : Fx(V), Vals(V, S), Uses(Vals, Mask), Checks(Vals, Uses) {}
};

/// Lets the plan launch \p Total threads or some more in dimension \p Dim
/// instead of the present ones; \p Slack bounds how many more. The guard gets
/// what must hold: that threads beyond do nothing, or, where that is not known,
/// that \p Exact is zero. It also gets the block size that the text assumes.
void allowMoreThreads(RewriteState &S, Analysis &A, unsigned Dim,
                      const Expr &Exact, int64_t Slack);

/// The first argument of __launch_bounds__; 0 without.
int64_t launchBound(const KernelView &V);
/// Adds `__launch_bounds__(Most, Blocks)` or changes the one that is there;
/// \p Blocks 0 keeps its second argument. A finding says why it cannot.
llvm::Error writeLaunchBounds(KernelView &V, int64_t Most, int64_t Blocks,
                              std::vector<Edit> &Edits);

// Each is a finding that says why not.
/// May one thread do the work of several?
llvm::Error checkMergedThreads(KernelView &V, Analysis &A);
/// May the kernel's work be done again from its parameters? Not if it returns,
/// or changes one.
llvm::Error checkRepeatedWork(KernelView &V, Analysis &A);

} // namespace cupilot

#endif // CUPILOT_LIB_FRONTEND_RULES_LAUNCHRULES_H
