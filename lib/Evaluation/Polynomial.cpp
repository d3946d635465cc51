//===- Polynomial.cpp - Expressions in normal form -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Polynomial.h"
#include "cupilot/Portable/LaunchLimits.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>

using namespace llvm;

namespace cupilot {

/// Beyond these a sum tells nobody anything.
static constexpr size_t MostTerms = 48, MostFactors = 8;

bool Polynomial::Less::operator()(const Expr &A, const Expr &B) const {
  if (A.K != B.K)
    return A.K < B.K;
  if (A.Value != B.Value)
    return A.Value < B.Value;
  return (*this)(A.Operands, B.Operands);
}

bool Polynomial::Less::operator()(const std::vector<Expr> &A,
                                  const std::vector<Expr> &B) const {
  return std::lexicographical_compare(A.begin(), A.end(), B.begin(), B.end(),
                                      *this);
}

Polynomial Polynomial::constant(int64_t Value) {
  Polynomial P;
  if (Value)
    P.Sum[{}] = Value;
  return P;
}

bool Polynomial::add(const std::vector<Expr> &Factors, int64_t Times) {
  if (!Times)
    return true;
  int64_t &At = Sum[Factors];
  if (AddOverflow(At, Times, At) || Sum.size() > MostTerms ||
      Factors.size() > MostFactors)
    return false;
  if (!At)
    Sum.erase(Factors);
  return true;
}

std::optional<Polynomial> Polynomial::of(const Expr &E) {
  switch (E.K) {
  case Expr::Kind::Constant:
    return constant(E.Value);
  case Expr::Kind::Dim:
  case Expr::Kind::Symbol: {
    Polynomial P;
    P.Sum[{E}] = 1;
    return P;
  }
  default:
    break;
  }
  std::optional<Polynomial> L = of(E.Operands[0]), R = of(E.Operands[1]);
  if (!L || !R)
    return std::nullopt;
  if (E.K == Expr::Kind::Add)
    return L->plus(*R);
  if (E.K == Expr::Kind::Mul)
    return L->times(*R);
  return L->divided(E.K, *R);
}

std::optional<Polynomial> Polynomial::plus(const Polynomial &B,
                                           int64_t Times) const {
  Polynomial P = *this;
  for (const auto &[Factors, Value] : B.Sum) {
    int64_t Scaled = 0;
    if (MulOverflow(Value, Times, Scaled) || !P.add(Factors, Scaled))
      return std::nullopt;
  }
  return P;
}

std::optional<Polynomial> Polynomial::times(const Polynomial &B) const {
  Polynomial P;
  for (const auto &[Mine, Value] : Sum)
    for (const auto &[Other, Times] : B.Sum) {
      std::vector<Expr> Factors = Mine;
      Factors.insert(Factors.end(), Other.begin(), Other.end());
      std::sort(Factors.begin(), Factors.end(), Less());
      int64_t Product = 0;
      if (MulOverflow(Value, Times, Product) || !P.add(Factors, Product))
        return std::nullopt;
    }
  return P;
}

std::optional<Polynomial> Polynomial::divided(Expr::Kind How,
                                              const Polynomial &B) const {
  Expr Whole = Expr::binary(How, expr(), B.expr());
  std::optional<int64_t> L = asConstant(), R = B.asConstant();
  if (R && *R <= 0)
    return std::nullopt;
  if (L && R) {
    std::optional<int64_t> Value = evaluate(Whole, {});
    return Value ? std::optional(constant(*Value)) : std::nullopt;
  }
  if (R && *R == 1)
    return How == Expr::Kind::Mod ? constant(0) : *this;
  Polynomial P;
  P.Sum[{Whole}] = 1;
  return P;
}

std::optional<int64_t> Polynomial::asConstant() const {
  if (Sum.empty())
    return 0;
  if (Sum.size() > 1 || !Sum.begin()->first.empty())
    return std::nullopt;
  return Sum.begin()->second;
}

int64_t Polynomial::constantPart() const {
  auto At = Sum.find({});
  return At == Sum.end() ? 0 : At->second;
}

Expr Polynomial::expr() const {
  std::optional<Expr> Whole;
  auto Add = [&](Expr Term) {
    Whole = Whole ? Expr::binary(Expr::Kind::Add, std::move(*Whole),
                                 std::move(Term))
                  : std::move(Term);
  };
  for (const auto &[Factors, Value] : Sum) {
    if (Factors.empty())
      continue; // Last, as people write it.
    Expr Product = Factors.front();
    for (size_t I = 1; I < Factors.size(); ++I)
      Product = Expr::binary(Expr::Kind::Mul, std::move(Product), Factors[I]);
    if (Value != 1)
      Product = Expr::binary(Expr::Kind::Mul, std::move(Product),
                             Expr::constant(Value));
    Add(std::move(Product));
  }
  if (int64_t Rest = constantPart(); Rest || !Whole)
    Add(Expr::constant(Rest));
  return *Whole;
}

static double largestOf(const Expr &E, ArrayRef<ScalarRef> Scalars) {
  switch (E.K) {
  case Expr::Kind::Dim:
    return E.Value < BlockX        ? double(MaxGrid[E.Value])
           : E.Value < SharedBytes ? double(MaxBlock[E.Value - BlockX])
                                   : double(1 << 20);
  case Expr::Kind::Symbol: {
    if (static_cast<size_t>(E.Value) >= Scalars.size())
      return INFINITY;
    const ScalarRef &S = Scalars[E.Value];
    return std::ldexp(1.0, static_cast<int>(S.Bits - S.Signed)) - 1;
  }
  case Expr::Kind::Constant:
    return double(E.Value);
  case Expr::Kind::Mod:
  case Expr::Kind::FloorDiv:
  case Expr::Kind::CeilDiv: {
    std::optional<Polynomial> L = Polynomial::of(E.Operands[0]),
                              R = Polynomial::of(E.Operands[1]);
    double By = R && R->asConstant() ? double(*R->asConstant()) : 1;
    double Of = L ? L->largest(Scalars) : INFINITY;
    if (E.K == Expr::Kind::Mod)
      return R ? std::min(R->largest(Scalars) - 1, Of) : Of;
    return Of / By + (E.K == Expr::Kind::CeilDiv);
  }
  default:
    return INFINITY;
  }
}

double Polynomial::largest(ArrayRef<ScalarRef> Scalars) const {
  double Most = 0;
  for (const auto &[Factors, Value] : Sum) {
    if (Value < 0 && !Factors.empty())
      continue; // Its factors may be small.
    double Product = double(Value);
    for (const Expr &E : Factors)
      Product *= largestOf(E, Scalars);
    Most += Product;
  }
  return Most;
}

} // namespace cupilot
