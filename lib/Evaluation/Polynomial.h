//===- Polynomial.h - Expressions in normal form -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_POLYNOMIAL_H
#define CUPILOT_LIB_EVALUATION_POLYNOMIAL_H

#include "cupilot/Model/LaunchPlan.h"
#include <map>

namespace cupilot {

/// A sum of products of launch dimensions, scalars, and divisions and
/// remainders of such. Equal sums are equal objects.
class Polynomial {
public:
  struct Less {
    bool operator()(const Expr &A, const Expr &B) const;
    bool operator()(const std::vector<Expr> &A,
                    const std::vector<Expr> &B) const;
  };
  /// By the factors of a product, in order; none for the constant.
  using Terms = std::map<std::vector<Expr>, int64_t, Less>;

  static Polynomial constant(int64_t Value);
  /// Nothing where a number overflows or the sum becomes too long.
  static std::optional<Polynomial> of(const Expr &E);

  std::optional<Polynomial> plus(const Polynomial &B, int64_t Times = 1) const;
  std::optional<Polynomial> times(const Polynomial &B) const;
  /// Of two polynomials by Mod, FloorDiv or CeilDiv.
  std::optional<Polynomial> divided(Expr::Kind How, const Polynomial &B) const;

  const Terms &terms() const { return Sum; }
  /// The number that it is, where it is one.
  std::optional<int64_t> asConstant() const;
  int64_t constantPart() const;
  Expr expr() const;
  /// The largest value within CUDA's limits of a launch and the types of \p
  /// Scalars; about, and never too small.
  double largest(llvm::ArrayRef<ScalarRef> Scalars) const;
  bool operator==(const Polynomial &) const = default;

private:
  bool add(const std::vector<Expr> &Factors, int64_t Times);
  Terms Sum;
};

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_POLYNOMIAL_H
