//===- RewriteState.cpp - A kernel under rewriting ------------------------===//
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
#include <numeric>
#include <tuple>

namespace cupilot {

static bool isConstant(const Expr &E) { return E.K == Expr::Kind::Constant; }
static bool isConstant(const Expr &E, int64_t Value) {
  return isConstant(E) && E.Value == Value;
}

Expr operator+(Expr L, Expr R) {
  if (isConstant(L))
    std::swap(L, R);
  if (isConstant(R, 0))
    return L;
  if (isConstant(R)) {
    Expr &Known = L.K == Expr::Kind::Add ? L.Operands[1] : L;
    int64_t Sum = 0;
    if (isConstant(Known) && !llvm::AddOverflow(Known.Value, R.Value, Sum)) {
      if (L.K == Expr::Kind::Add && Sum == 0)
        return L.Operands[0];
      Known.Value = Sum;
      return L;
    }
  }
  return Expr::binary(Expr::Kind::Add, std::move(L), std::move(R));
}

Expr operator-(Expr L, Expr R) {
  // Constants of sums change sign one by one, so that they can be folded.
  if (R.K == Expr::Kind::Add && isConstant(R.Operands[1]) &&
      R.Operands[1].Value != INT64_MIN)
    return std::move(L) + Expr::constant(-R.Operands[1].Value) - R.Operands[0];
  return std::move(L) + std::move(R) * Expr::constant(-1);
}

Expr operator*(Expr L, Expr R) {
  if (isConstant(L))
    std::swap(L, R);
  if (isConstant(R, 1))
    return L;
  if (isConstant(R, 0))
    return R;
  if (isConstant(R)) {
    Expr &Known = L.K == Expr::Kind::Mul ? L.Operands[1] : L;
    int64_t Product = 0;
    if (isConstant(Known) &&
        !llvm::MulOverflow(Known.Value, R.Value, Product)) {
      if (L.K == Expr::Kind::Mul && Product == 1)
        return L.Operands[0];
      Known.Value = Product;
      return L;
    }
  }
  return Expr::binary(Expr::Kind::Mul, std::move(L), std::move(R));
}

/// \p R is positive.
static Expr divided(Expr::Kind K, Expr L, int64_t R) {
  if (R == 1)
    return K == Expr::Kind::Mod ? Expr::constant(0) : L;
  Expr E = Expr::binary(K, std::move(L), Expr::constant(R));
  if (isConstant(E.Operands[0]))
    if (std::optional<int64_t> Value = evaluate(E, {}))
      return Expr::constant(*Value);
  return E;
}

Expr mod(Expr L, int64_t R) {
  return divided(Expr::Kind::Mod, std::move(L), R);
}
Expr floorDiv(Expr L, int64_t R) {
  return divided(Expr::Kind::FloorDiv, std::move(L), R);
}
Expr ceilDiv(Expr L, int64_t R) {
  return divided(Expr::Kind::CeilDiv, std::move(L), R);
}

template <typename T> static void addNew(std::vector<T> &List, T New) {
  if (!llvm::is_contained(List, New))
    List.push_back(std::move(New));
}

void RewriteState::require(Constraint C) {
  // What always holds need not be said; what never holds must.
  if (isConstant(C.E) && (C.IsEq ? C.E.Value == 0 : C.E.Value >= 0))
    return;
  addNew(When.Constraints, std::move(C));
}
void RewriteState::require(Disjoint D) {
  if (!llvm::is_contained(When.Disjoints,
                          Disjoint{D.B, D.A, D.ExtentB, D.ExtentA}))
    addNew(When.Disjoints, std::move(D));
}

void RewriteState::require(Alignment A) {
  for (Alignment &Old : When.Alignments)
    if (Old.Pointer == A.Pointer) {
      Old.Bytes = std::max(Old.Bytes, A.Bytes);
      return;
    }
  When.Alignments.push_back(A);
}

bool applyEdits(std::string &Text, std::vector<Edit> Edits) {
  auto IsInsertion = [](const Edit &E) { return E.Begin == E.End; };
  std::vector<unsigned> Order(Edits.size());
  std::iota(Order.begin(), Order.end(), 0);
  llvm::sort(Order, [&](unsigned A, unsigned B) {
    return std::tuple(Edits[A].Begin, !IsInsertion(Edits[A]), A) <
           std::tuple(Edits[B].Begin, !IsInsertion(Edits[B]), B);
  });
  std::string Result;
  unsigned Done = 0;
  const Edit *Last = nullptr;
  for (unsigned Index : Order) {
    const Edit &E = Edits[Index];
    // A macro's argument that is used twice is one piece of text.
    if (Last && !IsInsertion(E) && Last->Begin == E.Begin &&
        Last->End == E.End && Last->New == E.New)
      continue;
    if (E.Begin < Done || E.End < E.Begin || E.End > Text.size())
      return false;
    Result += Text.substr(Done, E.Begin - Done) + E.New;
    Done = E.End;
    Last = &E;
  }
  Text = Result + Text.substr(Done);
  return true;
}

llvm::Error refuse(const Gene &G, const llvm::Twine &Reason) {
  return findingError(llvm::Twine(G.Strategy) + ": " + Reason);
}

llvm::Error refuse(const Gene &G, llvm::Error Reason) {
  return Reason ? refuse(G, llvm::toString(std::move(Reason)))
                : std::move(Reason);
}

int64_t valueOf(const Gene &G, llvm::StringRef Param) {
  for (const GeneParam &P : G.Params)
    if (P.Name == Param)
      return P.Value;
  return 0;
}

} // namespace cupilot
