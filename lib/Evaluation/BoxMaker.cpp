//===- BoxMaker.cpp - One box of a domain ---------------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BoxMaker.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include <cstring>

using namespace llvm;

namespace cupilot {

static uint64_t rawOf(const TriedLaunch &L, unsigned Param, unsigned Offset,
                      unsigned Bytes) {
  uint64_t Value = 0;
  if (Param < L.Args.size() && Offset + Bytes <= L.Args[Param].size())
    std::memcpy(&Value, L.Args[Param].data() + Offset, Bytes);
  return Value;
}

uint64_t addressOf(const TriedLaunch &L, const PointerRef &P) {
  return rawOf(L, P.Param, P.Offset, 8);
}

int64_t keyOf(const TriedLaunch &L, const FloatRef &F) {
  return floatKey(rawOf(L, F.Param, F.Offset, F.bits() / 8), F.bits());
}

uint64_t alignedBy(const TriedLaunch &L) {
  constexpr uint64_t Allocation = 256;
  return L.Misaligned ? L.Misaligned & -L.Misaligned : Allocation;
}

int64_t restOf(int64_t Value, int64_t Modulus) {
  int64_t Rest = Value % Modulus;
  return Rest < 0 ? Rest + Modulus : Rest;
}

bool isVariable(const Expr &E) {
  return E.K == Expr::Kind::Dim || E.K == Expr::Kind::Symbol;
}

static void collectVariables(const Expr &E, SmallVectorImpl<Expr> &To) {
  if (isVariable(E) && !is_contained(To, E))
    To.push_back(E);
  for (const Expr &Operand : E.Operands)
    collectVariables(Operand, To);
}

static bool mentions(const Expr &E, const Expr &Variable) {
  return E == Variable || any_of(E.Operands, [&](const Expr &Operand) {
           return mentions(Operand, Variable);
         });
}

/// Random 64-bit values passed: nothing hangs on which it is.
static bool isFreeData(const DomainFrame &F, unsigned Scalar,
                       ArrayRef<const TriedLaunch *> Launches) {
  constexpr size_t Enough = 4;
  if (!F.Facts.Scalars[Scalar].isData())
    return false;
  std::set<int64_t> Values;
  for (const TriedLaunch *L : Launches)
    if (!L->Wrong)
      Values.insert(L->B.Symbols[Scalar]);
  return Values.size() >= Enough;
}

void BoxMaker::chooseCoordinates() {
  auto Add = [&](Expr E) {
    if (!is_contained(Coordinates, E))
      Coordinates.push_back(std::move(E));
  };
  for (unsigned I = 0; I < F.K->Scalars.size(); ++I)
    if (!is_contained(F.Flags, I) && F.Facts.Scalars[I].Used &&
        !isFreeData(F, I, Launches))
      Add(Expr::symbol(I));
  for (unsigned D = 0; D < NumLaunchDims; ++D)
    if (D != SharedBytes || F.Facts.Dims[D].Used)
      Add(Expr::dim(D));
  auto AddProduct = [&](const Expr &E) {
    SmallVector<Expr> Variables;
    collectVariables(E, Variables);
    if (Variables.size() > 1)
      Add(E);
  };
  for (const Expr &E : F.Facts.Products)
    AddProduct(E);
  for (const std::optional<Extents> &T : F.Touched)
    if (T)
      AddProduct(T->End);
  for (const Expr &E : F.Surplus)
    Add(E);
  Listed.assign(Coordinates.size(), false);
}

bool BoxMaker::place(const TriedLaunch &L, Point &To) const {
  To.L = &L;
  To.At.clear();
  for (const Expr &E : Coordinates) {
    std::optional<int64_t> V = evaluate(E, L.B);
    if (!V)
      return false;
    To.At.push_back(*V);
  }
  return true;
}

void BoxMaker::placeAll() {
  for (const TriedLaunch *L : Launches) {
    Point P;
    // Where a product leaves 64 bits, the launch lies outside of any box.
    if (place(*L, P))
      (L->Wrong ? Wrong : Right).push_back(std::move(P));
  }
}

/// A product that is another one times a constant says nothing new.
void BoxMaker::dropProportional() {
  auto Times = [&](size_t I, size_t K, auto Holds) {
    auto All = [&](const std::vector<Point> &Points) {
      return all_of(Points,
                    [&](const Point &P) { return Holds(P.At[I], P.At[K]); });
    };
    return All(Right) && All(Wrong);
  };
  for (size_t K = Coordinates.size(); K-- > 0;) {
    if (isVariable(Coordinates[K]))
      continue;
    int64_t Unit = Right.front().At[K];
    bool Known = false;
    for (size_t I = 0; I < K && !Known && Unit != 0; ++I) {
      int64_t Own = Right.front().At[I];
      Known = !isVariable(Coordinates[I]) && Own != 0 && Unit % Own == 0 &&
              Times(I, K, [Factor = Unit / Own](int64_t A, int64_t B) {
                int64_t Product;
                return !MulOverflow(A, Factor, Product) && Product == B;
              });
    }
    if (!Known)
      continue;
    Coordinates.erase(Coordinates.begin() + K);
    for (std::vector<Point> *Points : {&Right, &Wrong})
      for (Point &P : *Points)
        P.At.erase(P.At.begin() + K);
  }
  Listed.assign(Coordinates.size(), false);
  CutBelow.assign(Coordinates.size(), false);
  for (const Expr &E : Coordinates)
    Idle.push_back(is_contained(F.Surplus, E));
}

void BoxMaker::findHull() {
  Hull.assign(Coordinates.size(), {});
  for (size_t I = 0; I < Coordinates.size(); ++I) {
    Hull[I] = {Right.front().At[I], Right.front().At[I]};
    for (const Point &P : Right)
      Hull[I] = {std::min(Hull[I].Least, P.At[I]),
                 std::max(Hull[I].Most, P.At[I])};
  }
}

/// The rests of coordinate \p I on which it was right. Where a size is 0 or
/// less, there is mostly nothing to do, and where there is more memory than a
/// launch needs, reads beyond it are right: that stands for no other size.
std::set<int64_t> BoxMaker::restsOf(size_t I, int64_t Modulus) const {
  std::set<int64_t> Rests;
  for (const Point &P : Right) {
    const int64_t Rest = restOf(P.At[I], Modulus);
    if ((P.At[I] > 0 && !P.L->Roomy) || P.IsAnchor ||
        (Rest ? Rest : Modulus) > Hull[I].Most)
      Rests.insert(Rest);
  }
  return Rests;
}

/// A product may be as small as its factors allow, unless a wrong launch was
/// cut out there.
bool BoxMaker::hasLeast(size_t I) const {
  return isVariable(Coordinates[I]) || CutBelow[I];
}

/// Whether the range of coordinate \p I, or its rests, leave \p P out.
bool BoxMaker::leavesOut(const Point &P, size_t I) const {
  for (auto [Of, M] : ListedRests)
    if (Of == I && !restsOf(I, M).count(restOf(P.At[I], M)))
      return true;
  if (Idle[I])
    return false;
  if (P.At[I] > Hull[I].Most || (P.At[I] < Hull[I].Least && hasLeast(I)))
    return true;
  return Listed[I] &&
         none_of(Right, [&](const Point &R) { return R.At[I] == P.At[I]; });
}

bool BoxMaker::inside(const Point &P) const {
  return none_of(seq(Hull.size()), [&](size_t I) { return leavesOut(P, I); });
}

bool BoxMaker::isOfAnchor(const FloatRef &Number, int64_t Key) const {
  return any_of(Right, [&](const Point &P) {
    return P.IsAnchor && keyOf(*P.L, Number) == Key;
  });
}

bool BoxMaker::hasOtherNumbers(const Point &W) const {
  return any_of(F.Facts.Floats, [&](const auto &Each) {
    return !isOfAnchor(Each.first, keyOf(*W.L, Each.first));
  });
}

/// Where numbers are not those of recorded launches, they are what is wrong,
/// and so is an alignment. Nothing else is taken out for such a launch. But
/// where the same sizes are wrong with the recorded numbers, too, those say
/// nothing.
bool BoxMaker::excludeNumbers(const Point &W) {
  if (!W.L->Misaligned && any_of(Wrong, [&](const Point &Same) {
        return Same.At == W.At && !Same.L->Misaligned && !hasOtherNumbers(Same);
      }))
    return false;
  if (W.L->Misaligned && none_of(Right, [&](const Point &P) {
        return P.IsAnchor && P.L->Misaligned == W.L->Misaligned;
      })) {
    WrongShift = std::max(WrongShift, alignedBy(*W.L));
    return true;
  }
  NumberKeys Other;
  for (auto [I, Each] : enumerate(F.Facts.Floats)) {
    int64_t Key = keyOf(*W.L, Each.first);
    if (!isOfAnchor(Each.first, Key))
      Other[I].insert(Key);
  }
  for (const auto &[I, Keys] : Other) {
    WrongNumbers[I].insert(Keys.begin(), Keys.end());
    if (Other.size() > 1)
      WrongTogether[I].insert(Keys.begin(), Keys.end());
  }
  return !Other.empty();
}

/// The sizes of a block and its shared memory are chosen by few: where values
/// between right ones are wrong (no powers of two, say), the right ones are
/// listed.
bool BoxMaker::listValues(const Point &W) {
  for (size_t I = 0; I < Coordinates.size(); ++I) {
    const Expr &E = Coordinates[I];
    bool IsBlock = E.K == Expr::Kind::Dim && E.Value >= BlockX;
    if (!IsBlock || Listed[I] || !(Hull[I].Least < W.At[I]) ||
        !(W.At[I] < Hull[I].Most) || Anchor[I].contains(W.At[I]) ||
        any_of(Right, [&](const Point &R) { return R.At[I] == W.At[I]; }))
      continue;
    Listed[I] = true;
    return true;
  }
  return false;
}

/// A rest of \p W that recorded launches do not have, and by which at most
/// \p Least right launches are lost: the coordinate and the modulus.
std::optional<std::pair<size_t, int64_t>>
BoxMaker::restToCut(const Point &W, size_t Least) const {
  std::optional<std::pair<size_t, int64_t>> BestRest;
  for (const ModulusFact &Fact : F.Facts.Moduli) {
    auto Found = find(Coordinates, Fact.E);
    if (Fact.Modulus < 2 || Found == Coordinates.end())
      continue;
    size_t I = Found - Coordinates.begin();
    auto IsLike = [&](const Point &P) {
      return restOf(P.At[I], Fact.Modulus) == restOf(W.At[I], Fact.Modulus);
    };
    std::set<int64_t> Rests;
    for (const Point &P : Right)
      if (!IsLike(P))
        Rests.insert(restOf(P.At[I], Fact.Modulus));
    size_t Lost = count_if(Right, IsLike);
    if (Lost <= Least && Rests.size() <= MostRests &&
        none_of(Right,
                [&](const Point &P) { return P.IsAnchor && IsLike(P); })) {
      Least = Lost;
      BestRest = {I, Fact.Modulus};
    }
  }
  return BestRest;
}

/// Whether a cut of \p W loses \p P that ends coordinate \p I, which for
/// \p W is not that of recorded launches.
static bool isLost(const Point &P, const Point &W, size_t I,
                   ArrayRef<Interval> Anchor) {
  return W.At[I] > Anchor[I].Most ? P.At[I] >= W.At[I] : P.At[I] <= W.At[I];
}

/// A lower bound of a product lets in what is as small as \p W in one factor,
/// and larger in another. That the larger one makes it right must have been
/// seen: in a launch that has no less than \p W of all that is not in the
/// product, nor follows it. A launch with a single block may be right for that
/// alone.
bool BoxMaker::isSeenToExcuse(const Point &W, size_t I) const {
  const Expr &E = Coordinates[I];
  if (isVariable(E) || is_contained(F.Surplus, E) || W.At[I] > Anchor[I].Most)
    return true;
  SmallVector<size_t, 4> Factors, Others;
  for (size_t K = 0; K < Coordinates.size(); ++K)
    if (isVariable(Coordinates[K]))
      (mentions(E, Coordinates[K]) ? Factors : Others).push_back(K);
  erase_if(Others, [&](size_t K) {
    return any_of(F.Surplus, [&](const Expr &Follows) {
      return mentions(Follows, Coordinates[K]) &&
             any_of(Factors, [&](size_t Factor) {
               return mentions(Follows, Coordinates[Factor]);
             });
    });
  });
  erase_if(Factors, [&](size_t K) { return Anchor[K].contains(W.At[K]); });
  if (Factors.empty())
    return true; // None of them alone is to blame.
  return any_of(Right, [&](const Point &P) {
    return !isLost(P, W, I, Anchor) &&
           any_of(Factors, [&](size_t K) { return isLost(P, W, K, Anchor); }) &&
           all_of(Others, [&](size_t K) { return P.At[K] >= W.At[K]; });
  });
}

static bool isBlockDim(const Expr &E) {
  return E.K == Expr::Kind::Dim && E.Value >= BlockX && E.Value <= BlockZ;
}

/// Blocks of a shape that no recorded launch has are what is wrong with \p W
/// where a recorded shape is right with the same arguments and no fewer blocks.
/// That side of them is taken out by which fewest launches are lost.
bool BoxMaker::excludeBlock(const Point &W) {
  auto IsRecorded = [&](size_t I, const Point &P) {
    return Anchor[I].contains(P.At[I]);
  };
  std::optional<size_t> Best;
  size_t Least = SIZE_MAX;
  for (size_t I = 0; I < Coordinates.size(); ++I) {
    if (!isBlockDim(Coordinates[I]) || IsRecorded(I, W))
      continue;
    size_t Lost =
        count_if(Right, [&](const Point &P) { return P.At[I] == W.At[I]; });
    if (Lost > 0 && Lost < Least) {
      Least = Lost;
      Best = I;
    }
  }
  if (!Best || none_of(Right, [&](const Point &P) {
        return P.L->B.Symbols == W.L->B.Symbols &&
               all_of(seq<unsigned>(GridX, GridX + 3),
                      [&](unsigned D) {
                        return P.L->B.Dims[D] >= W.L->B.Dims[D];
                      }) &&
               all_of(seq(Coordinates.size()), [&](size_t I) {
                 return !isBlockDim(Coordinates[I]) || IsRecorded(I, P);
               });
      }))
    return false;
  Listed[*Best] = true;
  erase_if(Right, [&](const Point &P) { return P.At[*Best] == W.At[*Best]; });
  findHull();
  return true;
}

/// Takes \p W out, along the coordinate or by the rest that loses least.
bool BoxMaker::cut(const Point &W) {
  size_t Best = SIZE_MAX, Least = SIZE_MAX;
  std::optional<std::pair<size_t, int64_t>> BestRest;
  auto Choose = [&](auto Among) {
    for (size_t I = 0; I < Coordinates.size(); ++I) {
      if (Anchor[I].contains(W.At[I]) || !Among(I) || !isSeenToExcuse(W, I))
        continue;
      size_t Lost = count_if(
          Right, [&](const Point &P) { return isLost(P, W, I, Anchor); });
      if (Lost < Least) {
        Least = Lost;
        Best = I;
      }
    }
  };
  // Too many blocks are what is wrong where there are too many for the sizes,
  // whatever else would take them out, too.
  Choose([&](size_t I) {
    const Expr &E = Coordinates[I];
    return any_of(W.L->Crowded, [&](unsigned Dim) {
      return E == Expr::dim(GridX + Dim) ||
             (is_contained(F.Surplus, E) &&
              mentions(E, Expr::dim(GridX + Dim)));
    });
  });
  if (Best == SIZE_MAX) {
    Choose([](size_t) { return true; });
    BestRest = restToCut(W, Least);
  }
  if (BestRest) {
    auto [I, M] = *BestRest;
    ListedRests.insert(*BestRest);
    erase_if(Right, [&, I = I, M = M](const Point &P) {
      return restOf(P.At[I], M) == restOf(W.At[I], M);
    });
  } else if (Best != SIZE_MAX) {
    Idle[Best] = false;
    if (W.At[Best] < Anchor[Best].Least)
      CutBelow[Best] = true;
    erase_if(Right, [&](const Point &P) { return isLost(P, W, Best, Anchor); });
  } else {
    return false;
  }
  findHull();
  return true;
}

std::optional<DomainBox> BoxMaker::make() {
  chooseCoordinates();
  placeAll();
  if (Right.empty())
    return std::nullopt;
  dropProportional();
  findHull();
  // Recorded launches stay inside, as far as they were right; where there is
  // none, the first one does.
  bool AnyRecorded =
      any_of(Right, [](const Point &P) { return P.L->Recorded; });
  // A combination that is wrong as it was first tried is right by chance only.
  if (!AnyRecorded && Launches.front()->Wrong) {
    const TriedLaunch &L = *Launches.front();
    Ends.push_back({L.Case, *L.Wrong, L.Evidence});
    return std::nullopt;
  }
  bool First = true;
  for (Point &P : Right) {
    if (AnyRecorded ? !P.L->Recorded : !First)
      continue;
    P.IsAnchor = true;
    if (First) {
      for (int64_t V : P.At)
        Anchor.push_back({V, V});
    }
    First = false;
    for (size_t I = 0; I < Anchor.size(); ++I)
      Anchor[I] = {std::min(Anchor[I].Least, P.At[I]),
                   std::max(Anchor[I].Most, P.At[I])};
  }
  for (auto &[I, Keys] : WrongNumbers)
    for (auto At = Keys.begin(); At != Keys.end();)
      At = isOfAnchor(F.Facts.Floats[I].first, *At) ? Keys.erase(At)
                                                    : std::next(At);
  std::vector<const Point *> WrongSizes;
  for (const Point &W : Wrong)
    if (!excludeNumbers(W))
      WrongSizes.push_back(&W);
  // What is seen to be wrong with a launch comes before what may be.
  for (const Point *W : WrongSizes)
    if (inside(*W))
      excludeBlock(*W);
  for (const Point *W : WrongSizes)
    while (inside(*W))
      if (!listValues(*W) && !excludeBlock(*W) && !cut(*W))
        return std::nullopt; // It looks like a recorded launch.
  nameEnds();
  DomainBox Box;
  addRanges(Box);
  addResidues(Box);
  addFloats(Box);
  addPointers(Box);
  return Box;
}

/// For each end of the hull a launch beyond it that was wrong: of those that
/// are beyond in least else the nearest. Where no size by itself leaves it out,
/// the product or the list does that it does.
void BoxMaker::nameEnds() {
  struct Beyond {
    size_t Coordinates = 0;
    uint64_t Distance = 0;
    const Point *W = nullptr;
    auto key() const { return std::pair(Coordinates, Distance); }
  };
  std::map<std::pair<size_t, bool>, Beyond> Nearest;
  for (const Point &W : Wrong) {
    Beyond B{0, 0, &W};
    size_t At = 0;
    // Scalars stand before the grid, which follows them.
    for (size_t I = Hull.size(); I-- > 0;)
      if (isVariable(Coordinates[I]) && !Hull[I].contains(W.At[I])) {
        ++B.Coordinates;
        At = I;
      }
    for (size_t I = 0; I < Hull.size() && !B.Coordinates; ++I)
      if (leavesOut(W, I)) {
        B.Coordinates = 1;
        At = I;
      }
    if (!B.Coordinates)
      continue;
    bool Above = W.At[At] > Hull[At].Most;
    if (!Hull[At].contains(W.At[At]))
      B.Distance = Above ? uint64_t(W.At[At]) - uint64_t(Hull[At].Most)
                         : uint64_t(Hull[At].Least) - uint64_t(W.At[At]);
    Beyond &Best = Nearest[{At, Above}];
    if (!Best.W || B.key() < Best.key())
      Best = B;
  }
  for (const auto &[End, Best] : Nearest)
    Ends.push_back({Best.W->L->Case, *Best.W->L->Wrong, Best.W->L->Evidence});
}

} // namespace cupilot
