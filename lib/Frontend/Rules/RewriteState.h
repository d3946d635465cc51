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

namespace cupilot {

// Expressions, folded where that is easy.
Expr operator+(const Expr &L, const Expr &R);
Expr operator-(const Expr &L, const Expr &R);
Expr operator*(const Expr &L, const Expr &R);
Expr ceilDiv(const Expr &L, int64_t R);
Expr floorDiv(const Expr &L, int64_t R);
Expr mod(const Expr &L, int64_t R);

/// What is rewritten, gene by gene: the text, and what must hold for it.
struct RewriteState {
  const Kernel &K;
  std::vector<std::string> Flags; ///< For the slice: variantFlags().
  std::string Text;
  LaunchPlan Plan;
  Guard When;
  /// In x, y, z: threads beyond those that the plan asks for do nothing, though
  /// the text no longer shows it.
  std::array<bool, 3> MoreThreadsHarmless{};

  Launch &launch() { return Plan.Launches.front(); }
  const Launch &launch() const { return Plan.Launches.front(); }
  /// Threads of a dimension that the plan launches now.
  Expr threads(unsigned Dim) const {
    return launch().Grid[Dim] * launch().Block[Dim];
  }
  /// Adds constraints to the guard; what always holds is left out.
  void require(Constraint C);
  void requireZero(Expr E) { require({std::move(E), true}); }
  void requireAtLeast(const Expr &L, const Expr &R) { require({L - R, false}); }
  void require(Alignment A);
  void require(Disjoint D);
};

/// A piece of the text and what replaces it.
struct Edit {
  unsigned Begin, End;
  std::string New;
  bool operator==(const Edit &) const = default;
};

/// Applies edits that do not overlap; equal ones count once. Insertions at one
/// place keep their order. False, with \p Text unchanged, when some overlap.
bool applyEdits(std::string &Text, std::vector<Edit> Edits);

/// "STRATEGY: reason" as a finding.
llvm::Error refuse(const Gene &G, const llvm::Twine &Reason);
/// The value of a parameter; \p Default when the gene does not have it.
int64_t valueOf(const Gene &G, llvm::StringRef Param, int64_t Default = 0);

// One function per strategy.
llvm::Error applyBlockSize(RewriteState &S, const Gene &G);
llvm::Error applyCoarsening(RewriteState &S, const Gene &G);
llvm::Error applyVectorized(RewriteState &S, const Gene &G);
llvm::Error applyUnroll(RewriteState &S, const Gene &G);
llvm::Error applyReadOnly(RewriteState &S, const Gene &G);
llvm::Error applyLaunchBounds(RewriteState &S, const Gene &G);
llvm::Error applyFastIntrinsics(RewriteState &S, const Gene &G);
llvm::Error applySharedTiling(RewriteState &S, const Gene &G);
llvm::Error applyPrivatizedAtomics(RewriteState &S, const Gene &G);

} // namespace cupilot

#endif // CUPILOT_LIB_FRONTEND_RULES_REWRITESTATE_H
