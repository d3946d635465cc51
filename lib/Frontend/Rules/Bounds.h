//===- Bounds.h - The checks before a kernel's work -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_FRONTEND_RULES_BOUNDS_H
#define CUPILOT_LIB_FRONTEND_RULES_BOUNDS_H

#include "IndexUses.h"

namespace cupilot {

/// The checks that a thread passes before it does anything that another thread
/// or the host could see:
///   declarations...; if (i >= n) return; work...      or
///   declarations...; if (i < n) { work... }           also nested, and with
/// several indices.
class Bounds {
public:
  /// `Index < Limit`, or `Index <= Limit` when Inclusive: otherwise the thread
  /// does nothing.
  struct Term {
    unsigned Dim;
    const clang::Expr *Comparison;
    const clang::Expr *Limit;
    bool Inclusive;
    bool Negated; ///< The text says `Index >= Limit`.
  };
  struct Check {
    const clang::IfStmt *If;
    bool Returns; ///< if (...) return; else the work is inside.
  };

  Bounds(Values &Vals, IndexUses &Uses);

  const std::vector<Check> &checks() const { return Checks; }
  const std::vector<Term> &terms() const { return Terms; }
  /// A condition of the checks that depends on thread or block indices of
  /// dimension \p Dim other than as a term does; null if there is none.
  const clang::Expr *otherCondition(unsigned Dim) const;
  /// Does \p Condition, of a check, hold more than terms that must all be true
  /// for the work to be done?
  bool hasPlainCondition(const clang::Expr *Condition) const;
  /// The statements after the checks.
  llvm::ArrayRef<const clang::Stmt *> work() const { return Work; }
  /// What is before, between and in the checks: declarations.
  llvm::ArrayRef<const clang::DeclStmt *> prologue() const { return Prologue; }

  /// One more than the largest index that does something, over launch and
  /// scalars, with what must hold so that it is right; nothing when there is no
  /// check or its limit is no such expression.
  std::optional<Expr> limit(unsigned Dim, std::vector<Constraint> &Needed);

private:
  void walk(llvm::ArrayRef<const clang::Stmt *> Statements);
  void addTerms(const clang::Expr *Condition, bool Negated);
  const clang::Expr *findOther(const clang::Expr *Condition,
                               unsigned Dim) const;
  Values &Vals;
  IndexUses &Uses;
  std::vector<Check> Checks;
  std::vector<Term> Terms;
  std::vector<const clang::Stmt *> Work;
  std::vector<const clang::DeclStmt *> Prologue;
};

/// \p E, or what a variable that keeps its value was set to:
/// `const bool inside = i < n; if (inside)`.
const clang::Expr *conditionOf(const Values &Vals, const clang::Expr *E);

/// True when evaluating \p S neither changes anything nor reads memory that
/// others could write or that could be missing.
bool isHarmless(const KernelView &V, const clang::Stmt *S);

/// Is \p Branch what \p If, an `if constexpr`, always does?
bool isTaken(const KernelView &V, const clang::IfStmt &If,
             const clang::Stmt *Branch);

/// Is \p S a part of \p Outer that is evaluated whenever \p Outer is, as far as
/// jumps do not leave it before?
bool isUnconditional(const KernelView &V, const clang::Stmt *Outer,
                     const clang::Stmt *S);

/// `return;`, alone or in braces.
bool isBareReturn(const clang::Stmt *S);

} // namespace cupilot

#endif // CUPILOT_LIB_FRONTEND_RULES_BOUNDS_H
