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
#include <map>

using namespace llvm;

namespace cupilot {

namespace {

/// What was touched at most in launches that agree in all variables.
struct Need {
  std::vector<int64_t> At; ///< The variables.
  int64_t Most = 0;
  bool IsAnchor = false;
};

/// Factor * product / Divisor, rounded up, and Rest.
struct Bound {
  SmallVector<unsigned, 3> Product; ///< Of which variables.
  int64_t Factor = 0, Divisor = 1, Rest = 0;
  int64_t AtAnchors = std::numeric_limits<int64_t>::max(); ///< Their sum.
};

/// Finds the bound that is the least one at the anchors.
class BoundFinder {
public:
  BoundFinder(ArrayRef<Expr> Variables, ArrayRef<Need> Needs)
      : Variables(Variables), Needs(Needs) {}
  Expr find();

private:
  struct Point {
    int64_t Product, Most;
    bool IsAnchor;
  };
  void tryProduct(ArrayRef<unsigned> Product);
  static std::optional<Bound> with(ArrayRef<Point> Points, int64_t Factor,
                                   int64_t Divisor);
  static std::vector<Point> upperHull(std::vector<Point> Points);
  Expr best() const;

  ArrayRef<Expr> Variables;
  ArrayRef<Need> Needs;
  Bound Best;
};

} // namespace

Expr BoundFinder::best() const {
  using Kind = Expr::Kind;
  if (Best.Product.empty() || Best.Factor == 0)
    return Expr::constant(Best.Rest);
  Expr E = Variables[Best.Product.front()];
  for (unsigned Each : drop_begin(Best.Product))
    E = Expr::binary(Kind::Mul, std::move(E), Variables[Each]);
  if (Best.Factor != 1)
    E = Expr::binary(Kind::Mul, std::move(E), Expr::constant(Best.Factor));
  if (Best.Divisor != 1)
    E = Expr::binary(Kind::CeilDiv, std::move(E), Expr::constant(Best.Divisor));
  if (Best.Rest != 0)
    E = Expr::binary(Kind::Add, std::move(E), Expr::constant(Best.Rest));
  return E;
}

/// Nothing where it leaves 64 bits.
std::optional<Bound> BoundFinder::with(ArrayRef<Point> Points, int64_t Factor,
                                       int64_t Divisor) {
  Bound B;
  B.Factor = Factor;
  B.Divisor = Divisor;
  B.AtAnchors = 0;
  int64_t Anchors = 0;
  for (const Point &P : Points) {
    int64_t Grown, Less;
    if (MulOverflow(P.Product, Factor, Grown))
      return std::nullopt;
    Grown = divideCeilSigned(Grown, Divisor);
    if (SubOverflow(P.Most, Grown, Less))
      return std::nullopt;
    B.Rest = std::max(B.Rest, Less);
    if (!P.IsAnchor)
      continue;
    ++Anchors;
    if (AddOverflow(B.AtAnchors, Grown, B.AtAnchors))
      return std::nullopt;
  }
  int64_t Rests;
  if (MulOverflow(B.Rest, Anchors, Rests) ||
      AddOverflow(B.AtAnchors, Rests, B.AtAnchors))
    return std::nullopt;
  return B;
}

/// The points that decide of a bound: those above all lines between others, and
/// anchors.
std::vector<BoundFinder::Point>
BoundFinder::upperHull(std::vector<Point> Points) {
  llvm::sort(Points, [](const Point &A, const Point &B) {
    return std::pair(A.Product, A.Most) < std::pair(B.Product, B.Most);
  });
  std::vector<Point> Hull, Anchors;
  for (const Point &P : Points) {
    if (P.IsAnchor)
      Anchors.push_back(P);
    auto IsBelow = [&](const Point &A, const Point &B) {
      return double(B.Most - A.Most) *
                 (double(P.Product) - double(A.Product)) <=
             double(P.Most - A.Most) * (double(B.Product) - double(A.Product));
    };
    while (!Hull.empty() &&
           (Hull.back().Product == P.Product ||
            (Hull.size() > 1 && IsBelow(Hull[Hull.size() - 2], Hull.back()))))
      Hull.pop_back();
    Hull.push_back({P.Product, P.Most, false});
  }
  append_range(Hull, Anchors);
  return Hull;
}

/// The sum at the anchors is convex in the factor: its least is found by
/// halving.
void BoundFinder::tryProduct(ArrayRef<unsigned> Product) {
  std::vector<Point> All;
  int64_t Largest = 0;
  for (const Need &N : Needs) {
    Point P{1, N.Most, N.IsAnchor};
    for (unsigned Each : Product)
      if (MulOverflow(P.Product, N.At[Each], P.Product))
        return;
    All.push_back(P);
    Largest = std::max(Largest, N.Most);
  }
  const std::vector<Point> Few = upperHull(All);
  // Bytes for each, or for many together.
  for (int64_t Divisor : {1, 256}) {
    auto SumAt = [&](int64_t Factor) {
      std::optional<Bound> B = with(Few, Factor, Divisor);
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
    std::optional<Bound> B = with(All, Low, Divisor);
    // Between the launches that are known, a simple one is the safer guess.
    const bool IsAsSimple = Product.size() == Best.Product.size();
    if (!B || B->AtAnchors >= Best.AtAnchors / (IsAsSimple ? 1 : 2))
      continue;
    Best = std::move(*B);
    Best.Product.assign(Product.begin(), Product.end());
  }
}

Expr BoundFinder::find() {
  int64_t AtAnchors = 0;
  for (const Need &N : Needs)
    if (N.IsAnchor)
      AtAnchors += N.Most;
  // No bound is below what is touched there: others would gain too little.
  auto IsNear = [&] { return Best.AtAnchors / 2 <= AtAnchors; };
  const auto Count = static_cast<unsigned>(Variables.size());
  tryProduct({});
  for (unsigned A = 0; A < Count && !IsNear(); ++A)
    tryProduct({A});
  if (!IsNear())
    for (unsigned A = 0; A < Count; ++A)
      for (unsigned B = A; B < Count; ++B)
        tryProduct({A, B});
  if (!IsNear())
    for (unsigned A = 0; A < Count; ++A)
      for (unsigned B = A; B < Count; ++B)
        for (unsigned C = B; C < Count; ++C)
          tryProduct({A, B, C});
  return best();
}

/// What was touched in one launch at most.
using NeedAt = std::pair<const KnownTouch *, int64_t>;

static Expr boundOf(ArrayRef<NeedAt> Touched, ArrayRef<Expr> Variables) {
  // Those that differ among launches.
  std::vector<Expr> Varying;
  for (const Expr &E : Variables)
    if (any_of(Touched, [&, First = evaluate(E, Touched.front().first->L->B)](
                            const NeedAt &N) {
          return evaluate(E, N.first->L->B) != First;
        }))
      Varying.push_back(E);
  std::vector<Need> Needs;
  std::map<std::vector<int64_t>, size_t> Places;
  bool AnyAnchor = false;
  for (const auto &[K, Most] : Touched) {
    std::vector<int64_t> At;
    for (const Expr &E : Varying)
      At.push_back(evaluate(E, K->L->B).value_or(0));
    auto [Place, IsNew] = Places.insert({At, Needs.size()});
    if (IsNew)
      Needs.push_back({std::move(At), 0, false});
    Need &N = Needs[Place->second];
    N.Most = std::max(N.Most, Most);
    N.IsAnchor |= K->IsAnchor;
    AnyAnchor |= K->IsAnchor;
  }
  // Where nothing was recorded, the first one leads, as in the box.
  Needs.front().IsAnchor |= !AnyAnchor;
  return BoundFinder(Varying, Needs).find();
}

Extents touchedIn(const DomainFrame &F, unsigned P, ArrayRef<KnownTouch> Known,
                  ArrayRef<Expr> Variables) {
  const std::optional<Extents> &Fit = F.Touched[P];
  Extents Found = Fit.value_or(Extents());
  std::vector<NeedAt> Below, Behind;
  bool BeginHolds = Fit.has_value(), EndHolds = BeginHolds;
  for (const KnownTouch &Each : Known) {
    if (P >= Each.L->Touched.size() || !Each.L->Touched[P])
      continue;
    const Interval Own = *Each.L->Touched[P];
    Below.push_back({&Each, std::max<int64_t>(-Own.Least, 0)});
    Behind.push_back({&Each, std::max<int64_t>(Own.Most, 0)});
    std::optional<int64_t> Begin = evaluate(Found.Begin, Each.L->B),
                           End = evaluate(Found.End, Each.L->B);
    BeginHolds &= Begin && *Begin <= Own.Least;
    EndHolds &= End && *End >= Own.Most;
  }
  if (Behind.empty())
    return Found;
  if (!EndHolds)
    Found.End = boundOf(Behind, Variables);
  if (!BeginHolds) {
    Expr Most = boundOf(Below, Variables);
    Found.Begin = Most.K == Expr::Kind::Constant
                      ? Expr::constant(-Most.Value)
                      : Expr::binary(Expr::Kind::Mul, std::move(Most),
                                     Expr::constant(-1));
  }
  return Found;
}

} // namespace cupilot
