//===- Values.h - What the integers of a kernel are -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_FRONTEND_RULES_VALUES_H
#define CUPILOT_LIB_FRONTEND_RULES_VALUES_H

#include "KernelView.h"
#include "Poly.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace cupilot {

/// Values of integer expressions of one kernel, symbolically.
class Values {
public:
  Values(KernelView &V, const RewriteState &S);

  /// True for parameters and local variables that keep their first value.
  bool isStable(const clang::VarDecl *D) const;
  /// The uses of \p D that are not plain reads.
  llvm::ArrayRef<const clang::DeclRefExpr *>
  writes(const clang::VarDecl *D) const;

  /// \p E, or what the local variable that keeps its value was set to.
  const clang::Expr *firstValue(const clang::Expr *E) const;

  /// \p E as a polynomial, seen through stable variables and casts. Exact as
  /// long as no dimension of the launch has more than 2^31 - 1 threads and
  /// signed arithmetic does not overflow.
  Poly form(const clang::Expr *E);

  /// Rewrites the thread and block indices of the dimensions in \p Mask to
  /// Global and Total; nothing when they do not occur in just these ways. A
  /// constant in the place of blockDim is taken for it and noted in \p Blocks
  /// (0: none yet); two different ones do not fit.
  static std::optional<Poly> toGlobal(const Poly &P, unsigned Mask,
                                      std::array<int64_t, 3> &Blocks);

  /// \p E over launch and scalars; adds to \p Needed what must hold so that the
  /// kernel's own arithmetic gives the same. Nothing when it is more than that.
  std::optional<Expr> overArguments(const clang::Expr *E,
                                    std::vector<Constraint> &Needed);

  KernelView &V;
  const RewriteState &S;

private:
  Poly compute(const clang::Expr *E);
  std::optional<unsigned> symbolOf(const clang::Expr *E) const;
  std::optional<Expr> argumentArithmetic(const clang::BinaryOperator *B,
                                         std::vector<Constraint> &Needed);
  llvm::DenseMap<const clang::Expr *, Poly> Forms;
  llvm::DenseMap<const clang::VarDecl *,
                 llvm::SmallVector<const clang::DeclRefExpr *, 2>>
      Written;
};

} // namespace cupilot

#endif // CUPILOT_LIB_FRONTEND_RULES_VALUES_H
