//===- RewriteState.cpp - A kernel under rewriting -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RewriteState.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace cupilot {

static bool isConstant(const Expr &E, int64_t Value) {
  return E.K == Expr::Kind::Constant && E.Value == Value;
}

Expr operator+(const Expr &L, const Expr &R) {
  int64_t Sum = 0;
  if (L.K == Expr::Kind::Constant && R.K == Expr::Kind::Constant &&
      !llvm::AddOverflow(L.Value, R.Value, Sum))
    return Expr::constant(Sum);
  if (isConstant(L, 0))
    return R;
  if (isConstant(R, 0))
    return L;
  // (x + 1) + 2
  if (R.K == Expr::Kind::Constant && L.K == Expr::Kind::Add &&
      L.Operands[1].K == Expr::Kind::Constant)
    return L.Operands[0] + (L.Operands[1] + R);
  return Expr::binary(Expr::Kind::Add, L, R);
}

Expr operator*(const Expr &L, const Expr &R) {
  int64_t Product = 0;
  if (L.K == Expr::Kind::Constant && R.K == Expr::Kind::Constant &&
      !llvm::MulOverflow(L.Value, R.Value, Product))
    return Expr::constant(Product);
  if (isConstant(L, 0) || isConstant(R, 0))
    return Expr::constant(0);
  if (isConstant(L, 1))
    return R;
  if (isConstant(R, 1))
    return L;
  if (L.K == Expr::Kind::Constant)
    return Expr::binary(Expr::Kind::Mul, R, L);
  return Expr::binary(Expr::Kind::Mul, L, R);
}

Expr operator-(const Expr &L, const Expr &R) {
  if (L == R)
    return Expr::constant(0);
  return L + R * Expr::constant(-1);
}

Expr ceilDiv(const Expr &L, int64_t R) {
  return R == 1 ? L
                : Expr::binary(Expr::Kind::CeilDiv, L, Expr::constant(R));
}

Expr floorDiv(const Expr &L, int64_t R) {
  return R == 1 ? L
                : Expr::binary(Expr::Kind::FloorDiv, L, Expr::constant(R));
}

Expr mod(const Expr &L, int64_t R) {
  return R == 1 ? Expr::constant(0)
                : Expr::binary(Expr::Kind::Mod, L, Expr::constant(R));
}

void RewriteState::require(Constraint C) {
  if (C.E.K == Expr::Kind::Constant &&
      (C.IsEq ? C.E.Value == 0 : C.E.Value >= 0))
    return;
  if (!llvm::is_contained(When.Constraints, C))
    When.Constraints.push_back(std::move(C));
}

void RewriteState::require(Alignment A) {
  for (Alignment &Old : When.Alignments)
    if (Old.Pointer == A.Pointer) {
      Old.Bytes = std::max(Old.Bytes, A.Bytes);
      return;
    }
  When.Alignments.push_back(A);
}

void RewriteState::require(Disjoint D) {
  if (!llvm::is_contained(When.Disjoints, D))
    When.Disjoints.push_back(std::move(D));
}

bool applyEdits(std::string &Text, std::vector<Edit> Edits) {
  llvm::stable_sort(Edits, [](const Edit &A, const Edit &B) {
    return std::pair(A.Begin, A.End) < std::pair(B.Begin, B.End);
  });
  std::string Result;
  unsigned Done = 0;
  for (size_t I = 0; I < Edits.size(); ++I) {
    const Edit &E = Edits[I];
    if (I > 0 && E == Edits[I - 1] && E.Begin != E.End)
      continue;
    if (E.Begin < Done || E.End > Text.size())
      return false;
    Result.append(Text, Done, E.Begin - Done);
    Result += E.New;
    Done = E.End;
  }
  Result.append(Text, Done);
  Text = std::move(Result);
  return true;
}

llvm::Error refuse(const Gene &G, const llvm::Twine &Reason) {
  return findingError(llvm::Twine(G.Strategy) + ": " + Reason);
}

int64_t valueOf(const Gene &G, llvm::StringRef Param, int64_t Default) {
  for (const GeneParam &P : G.Params)
    if (P.Name == Param)
      return P.Value;
  return Default;
}

} // namespace cupilot
