//===- RewriteState.h - A kernel under rewriting -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_FRONTEND_RULES_REWRITESTATE_H
#define CUPILOT_LIB_FRONTEND_RULES_REWRITESTATE_H

#include "cupilot/Frontend/Rules.h"
#include <array>

namespace cupilot {

// Arithmetic that keeps expressions short: constants are folded (unless that
// overflows) and stand at the right; zeros and ones disappear.
Expr operator+(Expr L, Expr R);
Expr operator-(Expr L, Expr R);
Expr operator*(Expr L, Expr R);
Expr mod(Expr L, int64_t R);
Expr floorDiv(Expr L, int64_t R);
Expr ceilDiv(Expr L, int64_t R);

/// What is rewritten, gene by gene: the text, how it is launched, and what must
/// hold for both.
struct RewriteState {
  const Kernel &K;
  std::vector<std::string> Flags; ///< That the text compiles with.
  std::string Text;
  LaunchPlan Plan;
  Guard When;
  /// In this dimension, threads beyond the original's do nothing, and the guard
  /// says what that needs.
  std::array<bool, 3> MoreThreadsHarmless;

  Launch &launch() { return Plan.Launches.front(); }
  const Launch &launch() const { return Plan.Launches.front(); }
  /// Threads of the dimension that the plan launches in all.
  Expr threads(unsigned Dim) const {
    return launch().Grid[Dim] * launch().Block[Dim];
  }

  // Each adds to the guard what it does not say yet.
  void require(Constraint C);
  void require(Disjoint D);
  void require(Alignment A);
  void requireZero(Expr E) { require(Constraint{std::move(E), true}); }
  void requireAtLeast(Expr Large, Expr Small) {
    require(Constraint{std::move(Large) - std::move(Small), false});
  }
};

/// A piece of the text and what replaces it.
struct Edit {
  unsigned Begin, End;
  std::string New;
};

/// Applies edits. Insertions at one place come in the order given, before what
/// replaces the text there; a replacement that is there twice counts once. Says
/// false, with \p Text unchanged, when edits overlap.
[[nodiscard]] bool applyEdits(std::string &Text, std::vector<Edit> Edits);

/// "STRATEGY: reason" as a finding.
llvm::Error refuse(const Gene &G, const llvm::Twine &Reason);
/// The same of a finding; a success stays one.
llvm::Error refuse(const Gene &G, llvm::Error Reason);
/// The parameter's value; 0 when the gene does not give it.
int64_t valueOf(const Gene &G, llvm::StringRef Param);

// How strategies shape the blocks of a launch (shapedBy).
ShapedLaunch shapeBlocks(const Gene &G, const LaunchShape &Of);
ShapedLaunch shapeBounds(const Gene &G, const LaunchShape &Of);
ShapedLaunch shapeRows(const Gene &G, const LaunchShape &Of);

// One function per strategy.
llvm::Error applyBlockShape(RewriteState &S, const Gene &G);
llvm::Error applyBlockSize(RewriteState &S, const Gene &G);
llvm::Error applyCoarsening(RewriteState &S, const Gene &G);
llvm::Error applyFastIntrinsics(RewriteState &S, const Gene &G);
llvm::Error applyHaloTiling(RewriteState &S, const Gene &G);
llvm::Error applyLaunchBounds(RewriteState &S, const Gene &G);
llvm::Error applyMoreThreads(RewriteState &S, const Gene &G);
llvm::Error applyReadOnly(RewriteState &S, const Gene &G);
llvm::Error applyRestrict(RewriteState &S, const Gene &G);
llvm::Error applyRowsPerBlock(RewriteState &S, const Gene &G);
llvm::Error applySharedTiling(RewriteState &S, const Gene &G);
llvm::Error applyUnroll(RewriteState &S, const Gene &G);
llvm::Error applyVectorized(RewriteState &S, const Gene &G);
llvm::Error applyWarpReduction(RewriteState &S, const Gene &G);

} // namespace cupilot

#endif // CUPILOT_LIB_FRONTEND_RULES_REWRITESTATE_H
