//===- DeriveDomain.cpp - Boxes around the launches that were tried -------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeriveDomain.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>
#include <limits>
#include <map>
#include <set>

using namespace llvm;

namespace cupilot {

static uint64_t rawOf(const TriedLaunch &L, unsigned Param, unsigned Offset,
                      unsigned Bytes) {
  uint64_t Value = 0;
  if (Param < L.Args.size() && Offset + Bytes <= L.Args[Param].size())
    std::memcpy(&Value, L.Args[Param].data() + Offset, Bytes);
  return Value;
}

static uint64_t addressOf(const TriedLaunch &L, const PointerRef &P) {
  return rawOf(L, P.Param, P.Offset, 8);
}

static int64_t keyOf(const TriedLaunch &L, const FloatRef &F) {
  return floatKey(rawOf(L, F.Param, F.Offset, F.bits() / 8), F.bits());
}

namespace {

/// What launches of a box have in common.
struct Combination {
  std::vector<bool> Null;     ///< Beside Kernel::Pointers.
  std::vector<bool> Equal;    ///< Beside DomainFrame::Pairs.
  std::vector<int64_t> Flags; ///< Beside DomainFrame::Flags.
  auto operator<=>(const Combination &) const = default;
};

/// A launch in the space of a box: its values in each coordinate.
struct Point {
  const TriedLaunch *L = nullptr;
  std::vector<int64_t> At = {};
  bool IsAnchor = false; ///< It stays inside of the box.
};

/// Derives the box of one combination.
class BoxMaker {
public:
  BoxMaker(const DomainFrame &F, const Combination &C,
           std::vector<const TriedLaunch *> Launches,
           std::vector<DomainEnd> &Ends)
      : F(F), C(C), Launches(std::move(Launches)), Ends(Ends) {}
  std::optional<DomainBox> make();

private:
  void chooseCoordinates();
  bool place(const TriedLaunch &L, Point &To) const;
  void placeAll();
  void dropProportional();
  bool inside(const Point &P) const;
  bool excludeNumbers(const Point &Wrong);
  bool cut(const Point &Wrong);
  bool listValues(const Point &Wrong);
  void findHull();
  void nameEnds();
  void addRanges(DomainBox &Box) const;
  void addResidues(DomainBox &Box) const;
  void addFloats(DomainBox &Box) const;
  void addPointers(DomainBox &Box) const;

  const DomainFrame &F;
  const Combination &C;
  std::vector<const TriedLaunch *> Launches;
  std::vector<DomainEnd> &Ends;
  std::vector<Expr> Coordinates;
  std::vector<bool> Listed; ///< Coordinates of which single values are known.
  /// Coordinates and moduli of which single rests are known.
  std::set<std::pair<size_t, int64_t>> ListedRests;
  /// By Facts.Floats: keys that are wrong.
  std::map<size_t, std::set<int64_t>> WrongNumbers;
  std::vector<Point> Right, Wrong;
  std::vector<Interval> Hull, Anchor; ///< Anchors stay inside.
  /// Addresses that are multiples of no more than this were wrong.
  uint64_t WrongShift = 0;
};

} // namespace

/// Rests that a clause lists.
static constexpr size_t MostRests = 64;

/// What all addresses of \p L are multiples of; 256 where they are as CUDA's
/// allocations.
static uint64_t alignedBy(const TriedLaunch &L) {
  constexpr uint64_t Allocation = 256;
  return L.Misaligned ? L.Misaligned & -L.Misaligned : Allocation;
}

static bool isVariable(const Expr &E) {
  return E.K == Expr::Kind::Dim || E.K == Expr::Kind::Symbol;
}

static void collectVariables(const Expr &E, SmallVectorImpl<Expr> &To) {
  if (isVariable(E) && !is_contained(To, E))
    To.push_back(E);
  for (const Expr &Operand : E.Operands)
    collectVariables(Operand, To);
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

static int64_t restOf(int64_t Value, int64_t Modulus) {
  int64_t Rest = Value % Modulus;
  return Rest < 0 ? Rest + Modulus : Rest;
}

bool BoxMaker::inside(const Point &P) const {
  for (auto [I, M] : ListedRests)
    if (none_of(Right, [&, I = I, M = M](const Point &R) {
          return restOf(R.At[I], M) == restOf(P.At[I], M);
        }))
      return false;
  for (size_t I = 0; I < Hull.size(); ++I) {
    if (!Hull[I].contains(P.At[I]))
      return false;
    if (Listed[I] &&
        none_of(Right, [&](const Point &R) { return R.At[I] == P.At[I]; }))
      return false;
  }
  return true;
}

/// Where numbers are not those of recorded launches, they are what is wrong,
/// and so is an alignment. Nothing else is taken out for such a launch.
bool BoxMaker::excludeNumbers(const Point &W) {
  if (W.L->Misaligned && none_of(Right, [&](const Point &P) {
        return P.IsAnchor && P.L->Misaligned == W.L->Misaligned;
      })) {
    WrongShift = std::max(WrongShift, alignedBy(*W.L));
    return true;
  }
  bool Any = false;
  for (auto [I, Each] : enumerate(F.Facts.Floats)) {
    const FloatRef &Number = Each.first;
    int64_t Key = keyOf(*W.L, Number);
    if (any_of(Right, [&](const Point &P) {
          return P.IsAnchor && keyOf(*P.L, Number) == Key;
        }))
      continue;
    WrongNumbers[I].insert(Key);
    Any = true;
  }
  return Any;
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

/// Takes \p W out, along the coordinate or by the rest that loses least.
bool BoxMaker::cut(const Point &W) {
  size_t Best = SIZE_MAX, Least = SIZE_MAX;
  std::optional<std::pair<size_t, int64_t>> BestRest;
  auto IsLost = [&](const Point &P, size_t I) {
    return W.At[I] > Anchor[I].Most ? P.At[I] >= W.At[I] : P.At[I] <= W.At[I];
  };
  for (size_t I = 0; I < Coordinates.size(); ++I) {
    if (Anchor[I].contains(W.At[I]))
      continue;
    size_t Lost = count_if(Right, [&](const Point &P) { return IsLost(P, I); });
    if (Lost < Least) {
      Least = Lost;
      Best = I;
    }
  }
  // By a rest that recorded launches do not have.
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
  if (BestRest) {
    auto [I, M] = *BestRest;
    ListedRests.insert(*BestRest);
    erase_if(Right, [&, I = I, M = M](const Point &P) {
      return restOf(P.At[I], M) == restOf(W.At[I], M);
    });
  } else if (Best != SIZE_MAX) {
    erase_if(Right, [&](const Point &P) { return IsLost(P, Best); });
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
  for (const Point &W : Wrong) {
    if (excludeNumbers(W))
      continue;
    while (inside(W))
      if (!listValues(W) && !cut(W))
        return std::nullopt; // It looks like a recorded launch.
  }
  nameEnds();
  DomainBox Box;
  addRanges(Box);
  addResidues(Box);
  addFloats(Box);
  addPointers(Box);
  return Box;
}

/// For each end of the hull a launch beyond it that was wrong: of those that
/// are beyond in least else the nearest.
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
    if (!B.Coordinates)
      continue;
    bool Above = W.At[At] > Hull[At].Most;
    B.Distance = Above ? uint64_t(W.At[At]) - uint64_t(Hull[At].Most)
                       : uint64_t(Hull[At].Least) - uint64_t(W.At[At]);
    Beyond &Best = Nearest[{At, Above}];
    if (!Best.W || B.key() < Best.key())
      Best = B;
  }
  for (const auto &[End, Best] : Nearest)
    Ends.push_back({Best.W->L->Case, *Best.W->L->Wrong, Best.W->L->Evidence});
}

void BoxMaker::addRanges(DomainBox &Box) const {
  for (auto [Index, Value] : zip_equal(F.Flags, C.Flags))
    Box.Ranges.push_back({Expr::symbol(Index), {{Value, Value}}});
  auto HullOf = [&](const Expr &E) -> std::optional<Interval> {
    auto At = find(Coordinates, E);
    if (At == Coordinates.end())
      return std::nullopt;
    return Hull[At - Coordinates.begin()];
  };
  for (size_t I = 0; I < Coordinates.size(); ++I) {
    RangeClause Clause{Coordinates[I], {}};
    if (Listed[I]) {
      std::set<int64_t> Values;
      for (const Point &P : Right)
        Values.insert(P.At[I]);
      for (int64_t V : Values)
        Clause.In.push_back({V, V});
    } else {
      Clause.In.push_back(Hull[I]);
    }
    // A product of two that has no more than its factors allow says nothing.
    const Expr &E = Coordinates[I];
    if (E.K == Expr::Kind::Mul && isVariable(E.Operands[0]) &&
        isVariable(E.Operands[1])) {
      std::optional<Interval> A = HullOf(E.Operands[0]),
                              B = HullOf(E.Operands[1]);
      if (A && B && A->Least >= 0 && B->Least >= 0) {
        int64_t Most;
        if (!MulOverflow(A->Most, B->Most, Most) && Most <= Hull[I].Most)
          continue;
      }
    }
    // Products are bounded above: what is smaller was tried in its factors.
    if (!isVariable(E) && !Listed[I])
      Clause.In.front().Least = std::numeric_limits<int64_t>::min();
    Box.Ranges.push_back(std::move(Clause));
  }
}

void BoxMaker::addResidues(DomainBox &Box) const {
  constexpr size_t EnoughClasses = 4;
  std::set<std::pair<size_t, int64_t>> Done;
  for (const ModulusFact &Fact : F.Facts.Moduli) {
    auto At = find(Coordinates, Fact.E);
    if (Fact.Modulus < 2 || At == Coordinates.end() || !isVariable(Fact.E))
      continue;
    size_t I = At - Coordinates.begin();
    if (!Done.insert({I, Fact.Modulus}).second || Listed[I] ||
        Hull[I].Least == Hull[I].Most)
      continue;
    std::set<int64_t> Rests;
    for (const Point &P : Right)
      Rests.insert(restOf(P.At[I], Fact.Modulus));
    bool IsListed = ListedRests.count({I, Fact.Modulus});
    size_t Wanted =
        std::min<size_t>(EnoughClasses, static_cast<size_t>(Fact.Modulus));
    // What is below the modulus has no rest of 0.
    bool HasZero = Rests.count(0) || Hull[I].Most < Fact.Modulus;
    if (!IsListed && HasZero && Rests.size() >= Wanted)
      continue;
    if (!IsListed && Rests.size() > MostRests)
      continue;
    Box.Residues.push_back(
        {Fact.E, Fact.Modulus, {Rests.begin(), Rests.end()}});
  }
}

/// The keys at which a number changes its class: zeros, infinities, and the
/// constants that either code compares it with.
static std::vector<int64_t> classEnds(const DomainFrame &F,
                                      const FloatRef &Number) {
  const unsigned Bits = Number.bits();
  uint64_t Infinity = 0;
  switch (Number.Type) {
  case FloatRef::Format::Half:
    Infinity = 0x7c00;
    break;
  case FloatRef::Format::BFloat:
    Infinity = 0x7f80;
    break;
  case FloatRef::Format::Float:
    Infinity = 0x7f800000;
    break;
  case FloatRef::Format::Double:
    Infinity = 0x7ff0000000000000;
    break;
  }
  auto High = static_cast<int64_t>(Infinity);
  std::vector<int64_t> Ends{-High - 1, -1, 0, High};
  for (const FloatThresholdFact &T : F.Facts.FloatThresholds) {
    if (!(T.Number == Number) || (Bits != 32 && Bits != 64))
      continue;
    uint64_t Raw = 0;
    if (Bits == 32) {
      float Value = static_cast<float>(T.Value);
      std::memcpy(&Raw, &Value, sizeof(Value));
    } else {
      std::memcpy(&Raw, &T.Value, sizeof(T.Value));
    }
    Ends.push_back(floatKey(Raw, Bits));
  }
  llvm::sort(Ends);
  Ends.erase(std::unique(Ends.begin(), Ends.end()), Ends.end());
  return Ends;
}

void BoxMaker::addFloats(DomainBox &Box) const {
  for (const auto &[Index, Each] : enumerate(F.Facts.Floats)) {
    const auto &[Number, Use] = Each;
    if (!Use.Used)
      continue;
    std::set<int64_t> Good, Bad;
    if (auto Known = WrongNumbers.find(Index); Known != WrongNumbers.end())
      Bad = Known->second;
    for (const TriedLaunch *L : Launches)
      if (int64_t Key = keyOf(*L, Number); !L->Wrong && !Bad.count(Key))
        Good.insert(Key);
    std::vector<int64_t> Ends = classEnds(F, Number);
    auto ClassOf = [&](int64_t Key) {
      auto At = std::lower_bound(Ends.begin(), Ends.end(), Key);
      bool IsEnd = At != Ends.end() && *At == Key;
      return 2 * (At - Ends.begin()) + (IsEnd ? 1 : 0);
    };
    FloatClause Clause{Number, {}};
    for (int64_t Key : Good) {
      std::vector<Interval> &In = Clause.In;
      // Within a class, what lies between two that are right is right, unless
      // one between them is not.
      bool Joins = !In.empty() && ClassOf(In.back().Most) == ClassOf(Key) &&
                   none_of(Bad, [&](int64_t B) {
                     return In.back().Most < B && B < Key;
                   });
      // Neighbours, as -0 and 0 are, make one interval, too.
      Joins |= !In.empty() && In.back().Most + 1 == Key;
      if (Joins)
        In.back().Most = Key;
      else
        In.push_back({Key, Key});
    }
    Box.Floats.push_back(std::move(Clause));
  }
}

void BoxMaker::addPointers(DomainBox &Box) const {
  ArrayRef<PointerRef> Pointers = F.K->Pointers;
  for (size_t I = 0; I < Pointers.size(); ++I)
    if (F.Facts.Pointers[I].Used)
      Box.Nulls.push_back({Pointers[I], C.Null[I]});
  auto IsRight = [&](const TriedLaunch *L) {
    return !L->Wrong && alignedBy(*L) > WrongShift;
  };
  for (size_t I = 0; I < Pointers.size(); ++I) {
    if (!F.Facts.Pointers[I].Used || C.Null[I])
      continue;
    // Every address of the cases is a multiple of what is asked for here.
    constexpr uint64_t WidestAccess = 16;
    uint64_t All = WidestAccess;
    for (const TriedLaunch *L : Launches)
      if (IsRight(L))
        while (All > 1 && addressOf(*L, Pointers[I]) % All)
          All /= 2;
    if (All > F.Natural[I])
      Box.Alignments.push_back({Pointers[I], static_cast<unsigned>(All)});
  }
  for (auto [I, Pair] : enumerate(F.Pairs)) {
    auto [A, B] = Pair;
    if (C.Null[A] || C.Null[B])
      continue;
    PairClause Clause{Pointers[A], Pointers[B], C.Equal[I], {}, {}};
    if (!Clause.Equal) {
      auto Known = [&](unsigned P) {
        if (F.Touched[P])
          return *F.Touched[P];
        return Extents{Expr::constant(F.MostTouched[P].Least),
                       Expr::constant(F.MostTouched[P].Most)};
      };
      Clause.OfA = Known(A);
      Clause.OfB = Known(B);
    }
    Box.Pairs.push_back(std::move(Clause));
  }
}

std::optional<Interval> rangeIn(const Expr &E, const DomainBox &Box) {
  if (E.K == Expr::Kind::Constant)
    return Interval{E.Value, E.Value};
  for (const RangeClause &C : Box.Ranges)
    if (C.E == E && !C.In.empty() &&
        C.In.front().Least != std::numeric_limits<int64_t>::min())
      return Interval{C.In.front().Least, C.In.back().Most};
  if (E.K != Expr::Kind::Add && E.K != Expr::Kind::Mul)
    return std::nullopt;
  std::optional<Interval> A = rangeIn(E.Operands[0], Box),
                          B = rangeIn(E.Operands[1], Box);
  if (!A || !B)
    return std::nullopt;
  std::optional<Interval> All;
  for (int64_t X : {A->Least, A->Most})
    for (int64_t Y : {B->Least, B->Most}) {
      int64_t V = 0;
      if (E.K == Expr::Kind::Add ? AddOverflow(X, Y, V) : MulOverflow(X, Y, V))
        return std::nullopt;
      All = All ? Interval{std::min(All->Least, V), std::max(All->Most, V)}
                : Interval{V, V};
    }
  return All;
}

static Combination combinationOf(const DomainFrame &F, const TriedLaunch &L) {
  Combination C;
  for (size_t I = 0; I < F.K->Pointers.size(); ++I)
    C.Null.push_back(F.Facts.Pointers[I].Used &&
                     addressOf(L, F.K->Pointers[I]) == 0);
  for (auto [A, B] : F.Pairs)
    C.Equal.push_back(addressOf(L, F.K->Pointers[A]) ==
                      addressOf(L, F.K->Pointers[B]));
  for (unsigned I : F.Flags)
    C.Flags.push_back(L.B.Symbols[I]);
  return C;
}

/// One box for those that differ in one flag alone: its values make a set.
static void joinFlags(const DomainFrame &F, std::vector<DomainBox> &Boxes) {
  for (size_t Flag = 0; Flag < F.Flags.size(); ++Flag)
    for (size_t I = 0; I < Boxes.size(); ++I)
      for (size_t K = I + 1; K < Boxes.size();) {
        DomainBox Other = Boxes[K];
        Other.Ranges[Flag].In = Boxes[I].Ranges[Flag].In;
        if (!(Other == Boxes[I])) {
          ++K;
          continue;
        }
        std::vector<Interval> &In = Boxes[I].Ranges[Flag].In;
        append_range(In, Boxes[K].Ranges[Flag].In);
        llvm::sort(In, [](const Interval &A, const Interval &B) {
          return A.Least < B.Least;
        });
        std::vector<Interval> Joined;
        for (const Interval &Each : In)
          if (!Joined.empty() && Joined.back().Most + 1 == Each.Least)
            Joined.back().Most = Each.Most;
          else
            Joined.push_back(Each);
        In = std::move(Joined);
        Boxes.erase(Boxes.begin() + K);
      }
}

Domain deriveDomain(const DomainFrame &F, ArrayRef<TriedLaunch> Tried,
                    std::vector<DomainEnd> &Ends) {
  constexpr size_t MostBoxes = 16;
  // In the order in which they were first tried: recorded ones lead.
  std::vector<Combination> Order;
  std::map<Combination, std::vector<const TriedLaunch *>> Groups;
  for (const TriedLaunch &L : Tried) {
    Combination C = combinationOf(F, L);
    std::vector<const TriedLaunch *> &Group = Groups[C];
    if (Group.empty())
      Order.push_back(C);
    Group.push_back(&L);
  }
  Domain D;
  for (const Combination &C : Order)
    if (std::optional<DomainBox> Box =
            BoxMaker(F, C, Groups.find(C)->second, Ends).make())
      D.Boxes.push_back(std::move(*Box));
  joinFlags(F, D.Boxes);
  if (D.Boxes.size() > MostBoxes)
    D.Boxes.resize(MostBoxes);
  return D;
}

} // namespace cupilot
