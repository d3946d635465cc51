//===- TouchedBounds.cpp - The memory behind pointers, from above ---------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Not all that a kernel touches follows a polynomial of its sizes: a shift, an
// index in memory, a stride below zero. What it touched in the launches of a
// box is known, though. The bound K * product + C, with the product of sizes
// and the K and C that come nearest to the recorded launches, holds on all of
// them, and grows with the sizes as the launches between them do.
//
//===----------------------------------------------------------------------===//

#include "DeriveDomain.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace llvm;

namespace cupilot {

namespace {

/// What was touched at most in one launch.
struct Need {
  const Bindings *B = nullptr;
  int64_t Most = 0;
  bool IsAnchor = false;
};

/// Factor * product / Divisor, rounded up, and Rest.
struct Bound {
  SmallVector<Expr, 3> Factors;
  int64_t Factor = 0, Divisor = 1, Rest = 0;
  int64_t AtAnchors = std::numeric_limits<int64_t>::max(); ///< Their sum.
  Expr expr() const;
};

/// Finds the bound that is the least one at the anchors.
class BoundFinder {
public:
  explicit BoundFinder(ArrayRef<Need> Needs) : Needs(Needs) {}
  Expr find(ArrayRef<Expr> Variables);

private:
  void tryProduct(ArrayRef<Expr> Factors);
  std::optional<Bound> with(ArrayRef<int64_t> Products, int64_t Factor,
                            int64_t Divisor) const;

  ArrayRef<Need> Needs;
  Bound Best;
};

} // namespace

Expr Bound::expr() const {
  using Kind = Expr::Kind;
  if (Factors.empty() || Factor == 0)
    return Expr::constant(Rest);
  Expr E = Factors.front();
  for (const Expr &Each : drop_begin(Factors))
    E = Expr::binary(Kind::Mul, std::move(E), Each);
  if (Factor != 1)
    E = Expr::binary(Kind::Mul, std::move(E), Expr::constant(Factor));
  if (Divisor != 1)
    E = Expr::binary(Kind::CeilDiv, std::move(E), Expr::constant(Divisor));
  if (Rest != 0)
    E = Expr::binary(Kind::Add, std::move(E), Expr::constant(Rest));
  return E;
}

/// Nothing where it leaves 64 bits.
std::optional<Bound> BoundFinder::with(ArrayRef<int64_t> Products,
                                       int64_t Factor, int64_t Divisor) const {
  Bound B;
  B.Factor = Factor;
  B.Divisor = Divisor;
  B.AtAnchors = 0;
  int64_t Anchors = 0;
  for (auto [N, P] : zip_equal(Needs, Products)) {
    int64_t Grown, Less;
    if (MulOverflow(P, Factor, Grown))
      return std::nullopt;
    Grown = divideCeilSigned(Grown, Divisor);
    if (SubOverflow(N.Most, Grown, Less))
      return std::nullopt;
    B.Rest = std::max(B.Rest, Less);
    if (N.IsAnchor &&
        (AddOverflow(B.AtAnchors, Grown, B.AtAnchors) || ++Anchors == 0))
      return std::nullopt;
  }
  int64_t Rests;
  if (MulOverflow(B.Rest, Anchors, Rests) ||
      AddOverflow(B.AtAnchors, Rests, B.AtAnchors))
    return std::nullopt;
  return B;
}

/// The sum at the anchors is convex in the factor: its least is found by
/// halving.
void BoundFinder::tryProduct(ArrayRef<Expr> Factors) {
  std::vector<int64_t> Products;
  int64_t Largest = 0;
  for (const Need &N : Needs) {
    int64_t Product = 1;
    for (const Expr &E : Factors) {
      std::optional<int64_t> V = evaluate(E, *N.B);
      if (!V || MulOverflow(Product, *V, Product))
        return;
    }
    Products.push_back(Product);
    Largest = std::max(Largest, N.Most);
  }
  // Bytes for each, or for many together.
  for (int64_t Divisor : {1, 256}) {
    auto SumAt = [&](int64_t Factor) {
      std::optional<Bound> B = with(Products, Factor, Divisor);
      return B ? B->AtAnchors : std::numeric_limits<int64_t>::max();
    };
    int64_t Low = 0, High = 1;
    while (High <= Largest && SumAt(2 * High) < SumAt(High))
      High *= 2;
    High *= 2;
    while (Low < High) {
      int64_t Mid = Low + (High - Low) / 2;
      if (SumAt(Mid) <= SumAt(Mid + 1))
        High = Mid;
      else
        Low = Mid + 1;
    }
    std::optional<Bound> B = with(Products, Low, Divisor);
    // Between the launches that are known, a simple one is the safer guess.
    const bool IsAsSimple = Factors.size() == Best.Factors.size();
    if (!B || B->AtAnchors >= Best.AtAnchors / (IsAsSimple ? 1 : 2))
      continue;
    Best = std::move(*B);
    Best.Factors.assign(Factors.begin(), Factors.end());
  }
}

Expr BoundFinder::find(ArrayRef<Expr> Variables) {
  tryProduct({});
  for (size_t A = 0; A < Variables.size(); ++A)
    tryProduct({Variables[A]});
  for (size_t A = 0; A < Variables.size(); ++A)
    for (size_t B = A; B < Variables.size(); ++B)
      tryProduct({Variables[A], Variables[B]});
  for (size_t A = 0; A < Variables.size(); ++A)
    for (size_t B = A; B < Variables.size(); ++B)
      for (size_t C = B; C < Variables.size(); ++C)
        tryProduct({Variables[A], Variables[B], Variables[C]});
  return Best.expr();
}

/// Those of \p Variables that differ among launches.
static std::vector<Expr> varying(ArrayRef<Expr> Variables,
                                 ArrayRef<Need> Needs) {
  std::vector<Expr> Found;
  for (const Expr &E : Variables)
    if (any_of(Needs, [&](const Need &N) {
          return evaluate(E, *N.B) != evaluate(E, *Needs.front().B);
        }))
      Found.push_back(E);
  return Found;
}

static Expr boundOf(std::vector<Need> Needs, ArrayRef<Expr> Variables) {
  // Where nothing was recorded, the first one leads, as in the box.
  if (none_of(Needs, [](const Need &N) { return N.IsAnchor; }))
    Needs.front().IsAnchor = true;
  return BoundFinder(Needs).find(varying(Variables, Needs));
}

Extents touchedIn(const DomainFrame &F, unsigned P, ArrayRef<KnownTouch> Known,
                  ArrayRef<Expr> Variables) {
  const std::optional<Extents> &Fit = F.Touched[P];
  Extents Found = Fit.value_or(Extents());
  std::vector<Need> Below, Behind;
  bool BeginHolds = Fit.has_value(), EndHolds = BeginHolds;
  for (const KnownTouch &Each : Known) {
    if (P >= Each.L->Touched.size() || !Each.L->Touched[P])
      continue;
    const Interval Own = *Each.L->Touched[P];
    Below.push_back(
        {&Each.L->B, std::max<int64_t>(-Own.Least, 0), Each.IsAnchor});
    Behind.push_back(
        {&Each.L->B, std::max<int64_t>(Own.Most, 0), Each.IsAnchor});
    std::optional<int64_t> Begin = evaluate(Found.Begin, Each.L->B),
                           End = evaluate(Found.End, Each.L->B);
    BeginHolds &= Begin && *Begin <= Own.Least;
    EndHolds &= End && *End >= Own.Most;
  }
  if (Behind.empty())
    return Found;
  if (!EndHolds)
    Found.End = boundOf(std::move(Behind), Variables);
  if (!BeginHolds) {
    Expr Most = boundOf(std::move(Below), Variables);
    Found.Begin = Most.K == Expr::Kind::Constant
                      ? Expr::constant(-Most.Value)
                      : Expr::binary(Expr::Kind::Mul, std::move(Most),
                                     Expr::constant(-1));
  }
  return Found;
}

} // namespace cupilot
