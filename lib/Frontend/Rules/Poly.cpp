//===- Poly.cpp - Polynomials over launch, scalars and variables -*- C++ -*-==//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Poly.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace cupilot {

void Poly::add(const Monomial &M, int64_t Coefficient) {
  int64_t &Slot = Terms[M];
  if (llvm::AddOverflow(Slot, Coefficient, Slot))
    Valid = false;
  if (Slot == 0)
    Terms.erase(M);
}

Poly Poly::constant(int64_t Value) {
  Poly P;
  P.add({}, Value);
  return P;
}

Poly Poly::atom(Atom A) {
  Poly P;
  P.add({A}, 1);
  return P;
}

bool Poly::isConstant() const {
  return Valid &&
         (Terms.empty() || (Terms.size() == 1 && Terms.begin()->first.empty()));
}

int64_t Poly::constantPart() const {
  auto It = Terms.find({});
  return It == Terms.end() ? 0 : It->second;
}

bool Poly::uses(Atom::Kind K, unsigned Index) const {
  return llvm::any_of(Terms, [&](const auto &Term) {
    return llvm::any_of(Term.first, [&](const Atom &A) {
      return A.K == K && A.Index == Index;
    });
  });
}

bool Poly::mentionsNode(const void *Node) const {
  return llvm::any_of(Terms, [&](const auto &Term) {
    return llvm::any_of(Term.first,
                        [&](const Atom &A) { return A.Node == Node; });
  });
}

Poly operator+(const Poly &L, const Poly &R) {
  Poly Sum = L;
  Sum.Valid = L.Valid && R.Valid;
  for (const auto &[M, C] : R.Terms)
    Sum.add(M, C);
  return Sum;
}

Poly operator-(const Poly &L, const Poly &R) {
  return L + R * Poly::constant(-1);
}

Poly operator*(const Poly &L, const Poly &R) {
  Poly Product;
  Product.Valid = L.Valid && R.Valid;
  for (const auto &[LM, LC] : L.Terms)
    for (const auto &[RM, RC] : R.Terms) {
      Poly::Monomial M;
      std::merge(LM.begin(), LM.end(), RM.begin(), RM.end(),
                 std::back_inserter(M));
      int64_t C = 0;
      if (llvm::MulOverflow(LC, RC, C))
        Product.Valid = false;
      Product.add(M, C);
    }
  return Product;
}

std::optional<Expr> Poly::toExpr(const RewriteState &S) const {
  if (!Valid)
    return std::nullopt;
  Expr Sum = Expr::constant(0);
  std::optional<int64_t> Constant;
  for (const auto &[M, C] : Terms) {
    if (M.empty()) {
      Constant = C; // Reads best at the end.
      continue;
    }
    Expr Product = Expr::constant(1);
    for (const Atom &A : M) {
      Expr Factor;
      if (A.K == Atom::Kind::Symbol)
        Factor = Expr::symbol(A.Index);
      else if (A.K == Atom::Kind::BlockSize)
        Factor = S.launch().Block[A.Index];
      else if (A.K == Atom::Kind::GridSize)
        Factor = S.launch().Grid[A.Index];
      else if (A.K == Atom::Kind::Total)
        Factor = S.threads(A.Index);
      else
        return std::nullopt;
      Product = Product * Factor;
    }
    Sum = Sum + Product * Expr::constant(C);
  }
  return Constant ? Sum + Expr::constant(*Constant) : Sum;
}

} // namespace cupilot
