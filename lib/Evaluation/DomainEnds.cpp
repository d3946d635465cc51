//===- DomainEnds.cpp - Whether a box is right at its ends ----------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DomainEnds.h"
#include "BoxMaker.h"
#include "cupilot/Portable/Random.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <set>

using namespace llvm;

namespace cupilot {

namespace {
/// Values of an argument that were right, from an end of a box on.
template <typename T> struct WaysToBase {
  std::vector<T> FromLeast, FromMost;
};

/// Width and height of the blocks of a launch.
std::pair<uint64_t, uint64_t> blocksOf(const Bindings &B) {
  return {B.Dims[BlockX], B.Dims[BlockY]};
}

class EndRuns {
public:
  EndRuns(const DomainFrame &F, VariantRuns &V, DomainCases &Cases,
          const Domain &D, DomainCases::Admission Admits, GateVerdict &Verdict)
      : F(F), K(*F.K), V(V), Cases(Cases), D(D), Admits(Admits),
        Verdict(Verdict) {}
  Error atCorner(const DomainBox &Box);
  Error tight(const DomainBox &Box);
  Error crowded(const DomainBox &Box);
  Error allPairs(const DomainBox &Box);
  Error pairsAtEnds(const DomainBox &Box);
  Error limits(const DomainBox &Box);
  Error numbers(const DomainBox &Box);
  Error otherBlocks(const DomainBox &Box);
  Error sideBySide(const DomainBox &Box, uint64_t Width, uint64_t Height);
  Error withListedBlocks(const DomainBox &Box, uint64_t Width, uint64_t Height);
  Error withRestsOfWrong(const DomainBox &Box);
  Error besideWrongRests(const DomainBox &Box);
  Error elsewhere();
  Error withOtherContent(const DomainBox &Box);
  /// The box that the base lies in.
  const DomainBox *ownBox() const;
  bool anyWrong() const { return AnyWrong; }

private:
  std::vector<std::vector<int64_t>> lastBefore(const TriedLaunch &Wrong,
                                               const DomainBox &Box) const;
  Expected<bool> explore(const JudgedCase &J);
  Error blameBlocks(const TriedLaunch &Wrong);
  bool areBlamed(uint64_t Width, uint64_t Height) const {
    return is_contained(Blamed, std::pair(Width, Height));
  }
  Expected<bool> exploreNew(Expected<const JudgedCase *> J);
  Expected<bool> exploreSizes(const std::vector<int64_t> &Sizes,
                              const DomainBox &Box);
  template <typename T>
  Error goInwards(const WaysToBase<T> &A, const WaysToBase<T> &B,
                  function_ref<Expected<const JudgedCase *>(T, T)> Make);
  bool wasTried(const JudgedCase &J) const {
    return any_of(V.tried(),
                  [&](const TriedLaunch &L) { return L.Case == J.Case.Name; });
  }

  const DomainFrame &F;
  const Kernel &K;
  VariantRuns &V;
  DomainCases &Cases;
  const Domain &D;
  DomainCases::Admission Admits;
  GateVerdict &Verdict;
  bool AnyWrong = false;
  /// Shapes of blocks that were wrong where the base's was right.
  std::vector<std::pair<uint64_t, uint64_t>> Blamed;
};
} // namespace

const DomainBox *EndRuns::ownBox() const {
  const TriedLaunch Base = triedLaunch(K, Cases.base().Case);
  auto Box = find_if(D.Boxes, [&](const DomainBox &Each) {
    return contains(Domain{{Each}}, Base.B, Base.Args);
  });
  return Box == D.Boxes.end() ? nullptr : &*Box;
}

/// Blocks of another shape may be what is wrong, or the sizes: blocks of the
/// base's shape tell, as many of them with the same sizes.
Error EndRuns::blameBlocks(const TriedLaunch &Wrong) {
  const DomainBox *Box = ownBox();
  const std::pair Blocks = blocksOf(Wrong.B);
  if (!Box || is_contained(Blamed, Blocks) ||
      Blocks == blocksOf(triedLaunch(K, Cases.base().Case).B))
    return Error::success();
  Expected<const JudgedCase *> J = Cases.withOwnBlocks(Wrong.B, *Box, Admits);
  if (!J)
    return J.takeError();
  if (!*J)
    return Error::success();
  if (!wasTried(**J))
    if (Expected<bool> Right = V.explore(**J, Verdict); !Right)
      return Right.takeError();
  if (any_of(V.tried(), [&](const TriedLaunch &L) {
        return L.Case == (*J)->Case.Name && !L.Wrong;
      }))
    Blamed.push_back(Blocks);
  return Error::success();
}

/// Whether it was right.
Expected<bool> EndRuns::explore(const JudgedCase &J) {
  Expected<bool> Right = V.explore(J, Verdict);
  if (!Right || *Right)
    return Right;
  AnyWrong = true;
  if (Error E = blameBlocks(triedLaunch(K, J.Case)))
    return std::move(E);
  return false;
}

/// The same of a launch that may not exist, or have been tried: then nothing
/// wrong is new.
Expected<bool> EndRuns::exploreNew(Expected<const JudgedCase *> J) {
  if (!J)
    return J.takeError();
  if (!*J || wasTried(**J))
    return true;
  return explore(**J);
}

/// Whether there is a launch of \p Sizes in \p Box; then it was tried.
Expected<bool> EndRuns::exploreSizes(const std::vector<int64_t> &Sizes,
                                     const DomainBox &Box) {
  Expected<const JudgedCase *> J = Cases.sized(Sizes, Box, Admits);
  if (!J)
    return J.takeError();
  if (!*J)
    return false;
  if (Expected<bool> Right = exploreNew(*J); !Right)
    return Right.takeError();
  return true;
}

/// The sizes \p All together, and each of them alone beside those of \p At.
static std::vector<std::vector<int64_t>>
togetherAndAlone(const std::vector<int64_t> &All,
                 const std::vector<int64_t> &At) {
  std::vector<std::vector<int64_t>> Sizes = {All};
  for (size_t I = 0; I < At.size(); ++I) {
    std::vector<int64_t> One = At;
    One[I] = All[I];
    if (!is_contained(Sizes, One))
      Sizes.push_back(std::move(One));
  }
  return Sizes;
}

/// The largest sizes are tried together, which nothing else may have done.
Error EndRuns::atCorner(const DomainBox &Box) {
  Expected<const JudgedCase *> Corner = Cases.corner(Box, Admits);
  if (!Corner || !*Corner)
    return Corner.takeError();
  Expected<const JudgedCase *> Narrow = Cases.narrowCorner(**Corner, Admits);
  if (!Narrow)
    return Narrow.takeError();
  for (const JudgedCase *J : {*Corner, *Narrow}) {
    if (!J)
      continue;
    const TriedLaunch At = triedLaunch(K, J->Case);
    if ((J == *Narrow && !contains(D, At.B, At.Args)) ||
        any_of(V.tried(), [&](const TriedLaunch &L) {
          return L.B.Symbols == At.B.Symbols && L.B.Dims == At.B.Dims;
        }))
      continue;
    if (Expected<bool> Right = explore(*J); !Right)
      return Right.takeError();
  }
  return Error::success();
}

/// The largest sizes may have been right because they had more shared memory
/// than programs give.
Error EndRuns::tight(const DomainBox &Box) {
  const std::vector<int64_t> At = Cases.model().baseValues();
  std::vector<int64_t> Most = At;
  for (auto [Max, Var] : zip_equal(Most, Cases.model().vars()))
    if (std::optional<Interval> In = rangeIn(Var.expr(), Box))
      Max = std::max(Max, In->Most);
  for (const std::vector<int64_t> &Each : togetherAndAlone(Most, At))
    if (Expected<bool> Right = exploreNew(Cases.tight(Each, Box, Admits));
        !Right)
      return Right.takeError();
  return Error::success();
}

/// As many blocks as the box allows, for its least sizes: what blocks beyond
/// these do reaches farthest where the buffers are smallest.
Error EndRuns::crowded(const DomainBox &Box) {
  const LaunchModel &Model = Cases.model();
  SmallVector<unsigned, 3> Dims;
  for (const GridRule &R : Model.rules())
    Dims.push_back(R.Dim);
  for (const LaunchVar &Var : Model.vars())
    if (Var.IsGrid)
      Dims.push_back(Var.Index);
  SmallVector<ArrayRef<unsigned>, 4> Crowds;
  for (size_t I = 0; I < Dims.size(); ++I)
    Crowds.push_back(ArrayRef(Dims).slice(I, 1));
  if (Dims.size() > 1)
    Crowds.push_back(Dims);
  const std::vector<int64_t> At = Model.baseValues();
  std::vector<int64_t> Least = At;
  for (const TriedLaunch &L : V.tried()) {
    if (L.Wrong || !contains(Domain{{Box}}, L.B, L.Args))
      continue;
    for (auto [Min, Var] : zip_equal(Least, Model.vars()))
      if (std::optional<int64_t> Is = evaluate(Var.expr(), L.B))
        Min = std::min(Min, *Is);
  }
  const std::vector<std::vector<int64_t>> Sizes = togetherAndAlone(Least, At);
  // Or as wide ones.
  const std::optional<Interval> Wide = rangeIn(Expr::dim(BlockX), Box);
  const uint64_t Threads = Wide ? static_cast<uint64_t>(Wide->Most) : 0;
  for (const std::vector<int64_t> &Each : Sizes)
    if (Expected<bool> Right =
            exploreNew(Cases.sized(Each, Box, Admits, Threads));
        !Right)
      return Right.takeError();
  for (const std::vector<int64_t> &Each : Sizes)
    for (ArrayRef<unsigned> Crowd : Crowds)
      if (Expected<bool> Right =
              exploreNew(Cases.crowded(Each, Crowd, Box, Admits));
          !Right)
        return Right.takeError();
  return Error::success();
}

/// A box has each size by itself, mostly. So any two are tried together, both
/// smaller or larger than in the base: in few launches, each of which says of
/// all sizes which way they go.
Error EndRuns::allPairs(const DomainBox &Box) {
  const std::vector<int64_t> At = Cases.model().baseValues();
  std::vector<int64_t> Less = At, More = At, Step(At.size(), 1);
  for (auto [I, Var] : enumerate(Cases.model().vars())) {
    const std::optional<Interval> In = rangeIn(Var.expr(), Box);
    if (!In || At[I] < 1)
      continue;
    int64_t Half = 0; // As even as wide accesses may want it.
    for (int64_t Widest : {16, 4, 1})
      if (!Half) {
        Step[I] = std::min(At[I] & -At[I], Widest);
        Half = At[I] / 2 / Step[I] * Step[I];
      }
    if (Half && In->contains(Half))
      Less[I] = Half;
    More[I] = std::clamp(2 * At[I], At[I], std::max(At[I], In->Most));
  }
  std::vector<std::vector<int64_t>> Sizes = {Less, More};
  for (size_t Bit = 1; Bit < At.size(); Bit *= 2)
    for (bool Set : {true, false}) {
      std::vector<int64_t> V = Less;
      for (size_t I = 0; I < V.size(); ++I)
        if (bool(I & Bit) == Set)
          V[I] = More[I];
      Sizes.push_back(std::move(V));
    }
  auto IsRight = [&](ArrayRef<int64_t> V) {
    return exploreNew(Cases.sized(V, Box, Admits));
  };
  for (const std::vector<int64_t> &Each : Sizes) {
    Expected<const JudgedCase *> All = Cases.sized(Each, Box, Admits);
    const bool Inside = All && *All;
    Expected<bool> Right = exploreNew(std::move(All));
    if (!Right)
      return Right.takeError();
    if (*Right && Inside)
      continue;
    // Which two make it wrong shows by themselves. And where a third one keeps
    // it out of the box, two may be in there.
    for (size_t I = 0; I < At.size(); ++I)
      for (size_t K = I + 1; K < At.size(); ++K) {
        std::vector<int64_t> Two = At;
        Two[I] = Each[I];
        Two[K] = Each[K];
        if (Two[I] == At[I] || Two[K] == At[K])
          continue;
        Expected<bool> Alone = IsRight(Two);
        if (!Alone)
          return Alone.takeError();
        if (*Alone)
          continue;
        // How near to those of the base.
        for (size_t Near : {I, K})
          for (int64_t Sign : {-1, 1}) {
            std::vector<int64_t> Next = Two;
            Next[Near] = At[Near] + Sign * Step[Near];
            if (Expected<bool> Right = IsRight(Next); !Right)
              return Right.takeError();
          }
      }
  }
  return Error::success();
}

/// Where the box has an end for a product alone, its two largest sizes may be
/// from different launches: each pair of them is tried that no right launch
/// had, as near to both ends as the box lets it.
Error EndRuns::pairsAtEnds(const DomainBox &Box) {
  constexpr size_t MostPairs = 10;
  constexpr int64_t LeastShare = 8;
  const LaunchModel &Model = Cases.model();
  const std::vector<int64_t> At = Model.baseValues();
  std::vector<int64_t> Most = At;
  for (auto [Max, Var] : zip_equal(Most, Model.vars()))
    if (std::optional<Interval> In = rangeIn(Var.expr(), Box))
      Max = std::max(Max, In->Most);
  auto HadBoth = [&](size_t I, size_t K) {
    return any_of(V.tried(), [&](const TriedLaunch &L) {
      std::optional<int64_t> A = evaluate(Model.vars()[I].expr(), L.B),
                             B = evaluate(Model.vars()[K].expr(), L.B);
      return !L.Wrong && A && B && *A > Most[I] / 2 && *B > Most[K] / 2;
    });
  };
  size_t Pairs = 0;
  for (size_t I = 0; I < At.size(); ++I)
    for (size_t K = I + 1; K < At.size(); ++K) {
      if (Most[I] <= At[I] || Most[K] <= At[K] || HadBoth(I, K) ||
          ++Pairs > MostPairs)
        continue;
      for (int64_t Share = 1; Share <= LeastShare; Share *= 2) {
        std::vector<int64_t> Two = At;
        for (size_t Each : {I, K})
          Two[Each] =
              std::max(At[Each], evenLike(Most[Each] / Share, At[Each]));
        if (Two[I] == At[I] || Two[K] == At[K])
          break;
        Expected<bool> Any = exploreSizes(Two, Box);
        if (!Any)
          return Any.takeError();
        if (*Any)
          break;
      }
    }
  return Error::success();
}

/// From an end of a box to what the base has, which is the last of each.
template <typename T>
static WaysToBase<T> waysTo(const T &Base, const std::set<T> &Right) {
  const auto At = Right.find(Base);
  WaysToBase<T> Ways;
  Ways.FromLeast.assign(Right.begin(), std::next(At));
  Ways.FromMost.assign(Right.rbegin(), std::make_reverse_iterator(At));
  return Ways;
}

/// Two arguments at their ends, together. Where that is wrong, so may be what
/// lies between there and the base, and the last one before it is right.
template <typename T>
Error EndRuns::goInwards(
    const WaysToBase<T> &A, const WaysToBase<T> &B,
    function_ref<Expected<const JudgedCase *>(T, T)> Make) {
  for (ArrayRef<T> OfA : {ArrayRef(A.FromMost), ArrayRef(A.FromLeast)})
    for (ArrayRef<T> OfB : {ArrayRef(B.FromMost), ArrayRef(B.FromLeast)})
      for (ArrayRef<T> First = OfA, Second = OfB;
           First.size() > 1 && Second.size() > 1;
           First = First.drop_front(), Second = Second.drop_front()) {
        Expected<bool> Right = exploreNew(Make(First.front(), Second.front()));
        if (!Right)
          return Right.takeError();
        if (*Right)
          break;
      }
  return Error::success();
}

/// Limits that decide together, an upper and a lower one, say, have their ends
/// by themselves: each pair is tried at both.
Error EndRuns::limits(const DomainBox &Box) {
  constexpr size_t MostPairs = 12;
  const LaunchModel &Model = Cases.model();
  const std::vector<int64_t> At = Model.baseValues();
  std::vector<WaysToBase<int64_t>> Ways;
  for (auto [I, Var] : enumerate(Model.vars())) {
    std::set<int64_t> Right = {At[I]};
    for (const TriedLaunch &L : V.tried())
      if (!L.Wrong && contains(Domain{{Box}}, L.B, L.Args))
        if (std::optional<int64_t> Is = evaluate(Var.expr(), L.B))
          Right.insert(*Is);
    Ways.push_back(waysTo(At[I], Right));
  }
  auto Decides = [&](size_t I) {
    const LaunchVar &Var = Model.vars()[I];
    return !Var.IsGrid && F.Facts.Scalars[Var.Index].Decides;
  };
  auto IsLimit = [&](size_t I) {
    return Decides(I) && !F.Facts.Scalars[Model.vars()[I].Index].Addresses;
  };
  size_t Pairs = 0;
  for (size_t I = 0; I < At.size(); ++I)
    for (size_t K = I + 1; K < At.size(); ++K) {
      if (!Decides(I) || !Decides(K) || (!IsLimit(I) && !IsLimit(K)) ||
          ++Pairs > MostPairs)
        continue;
      if (Error E = goInwards<int64_t>(Ways[I], Ways[K],
                                       [&](int64_t First, int64_t Second) {
                                         std::vector<int64_t> Two = At;
                                         Two[I] = First;
                                         Two[K] = Second;
                                         return Cases.sized(Two, Box, Admits);
                                       }))
        return E;
    }
  return Error::success();
}

/// The same of floating arguments, as far as they are finite.
Error EndRuns::numbers(const DomainBox &Box) {
  constexpr size_t MostPairs = 6;
  const TriedLaunch Base = triedLaunch(K, Cases.base().Case);
  std::vector<std::pair<FloatRef, WaysToBase<double>>> Numbers;
  for (const auto &[Number, Use] : F.Facts.Floats) {
    const double At = readFloat(Base.Args, Number);
    if (!Use.Used || !std::isfinite(At))
      continue;
    std::set<double> Right = {At};
    for (const TriedLaunch &L : V.tried())
      if (!L.Wrong && contains(Domain{{Box}}, L.B, L.Args))
        if (double Is = readFloat(L.Args, Number); std::isfinite(Is))
          Right.insert(Is);
    Numbers.emplace_back(Number, waysTo(At, Right));
  }
  size_t Pairs = 0;
  for (size_t I = 0; I < Numbers.size(); ++I)
    for (size_t K = I + 1; K < Numbers.size() && ++Pairs <= MostPairs; ++K)
      if (Error E = goInwards<double>(
              Numbers[I].second, Numbers[K].second,
              [&, I = I, K = K](double First, double Second) {
                return Cases.numbered(
                    {{Numbers[I].first, First}, {Numbers[K].first, Second}},
                    Box, Admits);
              }))
        return E;
  return Error::success();
}

/// Where a side of the grid follows no size, it may have one block in all
/// launches with blocks of \p Width and \p Height: two of them stand side by
/// side there, and have something to do, along one size after the other.
Error EndRuns::sideBySide(const DomainBox &Box, uint64_t Width,
                          uint64_t Height) {
  ArrayRef<LaunchVar> Vars = Cases.model().vars();
  const std::vector<int64_t> At = Cases.model().baseValues();
  const std::array<uint64_t, 2> Shape = {Width, Height};
  for (auto [D, New] : enumerate(Shape)) {
    const auto *Side = find_if(Vars, [D = D](const LaunchVar &Var) {
      return Var.IsGrid && Var.Index == D;
    });
    if (Side == Vars.end())
      continue;
    std::vector<int64_t> Two = At;
    int64_t &Blocks = Two[Side - Vars.begin()];
    Blocks = std::max<int64_t>(Blocks, 2);
    const auto Busy = static_cast<uint64_t>(Blocks) * New;
    for (auto [I, Var] : enumerate(Vars)) {
      const std::optional<Interval> In = rangeIn(Var.expr(), Box);
      if (Var.IsGrid || !F.Facts.Scalars[Var.Index].Decides || At[I] < 1 || !In)
        continue;
      if (areBlamed(Width, Height))
        return Error::success(); // No box will have such blocks.
      std::vector<int64_t> Sizes = Two;
      Sizes[I] = std::min(
          static_cast<int64_t>(alignTo(Busy, static_cast<uint64_t>(At[I]))),
          evenLike(In->Most, At[I]));
      if (Sizes[I] <= At[I])
        continue;
      if (Expected<bool> Right =
              exploreNew(Cases.sized(Sizes, Box, Admits, Width,
                                     /*SameThreads=*/false, Height));
          !Right)
        return Right.takeError();
    }
  }
  return Error::success();
}

/// Whether a box has single values of \p E, between which others are wrong.
static bool isListed(const DomainBox &Box, const Expr &E) {
  return any_of(Box.Ranges, [&](const RangeClause &R) {
    return R.E == E && R.In.size() > 1;
  });
}

/// Where some blocks are wrong, those between them may have been right for what
/// was in the buffers: in a maximum, only the largest number shows who is left
/// out.
Error EndRuns::withListedBlocks(const DomainBox &Box, uint64_t Width,
                                uint64_t Height) {
  // One number in each row far above the others, far below; and some.
  constexpr unsigned Contents[] = {3, 7, 1};
  if (!isListed(Box, Expr::dim(BlockX)) && !isListed(Box, Expr::dim(BlockY)))
    return Error::success();
  for (unsigned Round : Contents) {
    if (areBlamed(Width, Height))
      break; // No box will have such blocks.
    if (Expected<bool> Right = exploreNew(
            Cases.sized(Cases.model().baseValues(), Box, Admits, Width,
                        /*SameThreads=*/false, Height, Round));
        !Right)
      return Right.takeError();
  }
  return Error::success();
}

/// What is wrong with a size may be its rest, as of a last tile that is not
/// full, though no code says which modulus that is: then sizes in the box with
/// the same rest are wrong, too.
Error EndRuns::withRestsOfWrong(const DomainBox &Box) {
  constexpr size_t MostRuns = 16;
  constexpr int64_t Moduli[] = {64, 32, 16, 8};
  const LaunchModel &Model = Cases.model();
  const std::vector<int64_t> At = Model.baseValues();
  // By which of the sizes, and what that becomes.
  std::vector<std::pair<size_t, int64_t>> Sizes;
  for (const TriedLaunch &L : V.tried()) {
    // Results may be right by chance; what touches memory is not.
    if (!L.Wrong || *L.Wrong == GateReason::Mismatch || L.Misaligned ||
        !L.Crowded.empty())
      continue;
    for (auto [I, Var] : enumerate(Model.vars())) {
      const std::optional<Interval> In = rangeIn(Var.expr(), Box);
      const std::optional<int64_t> Is = evaluate(Var.expr(), L.B);
      if (Var.IsGrid || !In || !Is || *Is < 1 || In->contains(*Is))
        continue;
      for (int64_t Modulus : Moduli) {
        // The nearest one to the end.
        const int64_t Least = std::max<int64_t>(In->Least, 1);
        const std::pair<size_t, int64_t> Size = {
            I, *Is > In->Most ? In->Most - restOf(In->Most - *Is, Modulus)
                              : Least + restOf(*Is - Least, Modulus)};
        if (Size.second >= Least && Size.second <= In->Most &&
            Size.second != At[I] && !is_contained(Sizes, Size) &&
            Sizes.size() < MostRuns)
          Sizes.push_back(Size);
      }
    }
  }
  for (auto [Which, Size] : Sizes)
    for (int64_t Share : {1, 4, 16}) {
      // A product may keep it out of the box beside large sizes.
      std::vector<int64_t> All = At;
      for (int64_t &Each : All)
        if (Each > 1)
          Each = std::max(evenLike(Each / Share, Each),
                          std::min<int64_t>(Each & -Each, 16));
      All[Which] = Size;
      Expected<bool> Any = exploreSizes(All, Box);
      if (!Any)
        return Any.takeError();
      if (*Any)
        break;
    }
  return Error::success();
}

/// A rest that keeps a wrong launch out of the box may not be what is wrong
/// with it: the nearest sizes with other rests, beside the same others, tell.
Error EndRuns::besideWrongRests(const DomainBox &Box) {
  constexpr size_t MostRuns = 24;
  constexpr unsigned Beside = 2, Farthest = 16;
  const LaunchModel &Model = Cases.model();
  const std::vector<int64_t> At = Model.baseValues();
  DomainBox Ends;
  Ends.Ranges = Box.Ranges;
  std::vector<std::vector<int64_t>> Wrong;
  for (const TriedLaunch &L : V.tried()) {
    if (!L.Wrong || L.Misaligned || !L.Crowded.empty() ||
        !contains(Domain{{Ends}}, L.B, L.Args))
      continue;
    std::vector<int64_t> Sizes = Model.valuesAt(L.B);
    if (!is_contained(Wrong, Sizes))
      Wrong.push_back(std::move(Sizes));
  }
  size_t Runs = 0;
  for (const std::vector<int64_t> &Sizes : Wrong)
    for (auto [I, Var] : enumerate(Model.vars())) {
      const Expr E = Var.expr();
      auto IsOut = [&](int64_t Size) {
        return any_of(Box.Residues, [&](const ResidueClause &R) {
          return R.E == E && !is_contained(R.In, restOf(Size, R.Modulus));
        });
      };
      if (!IsOut(Sizes[I]))
        continue;
      // As even as wide accesses may want it.
      const int64_t Step = std::clamp<int64_t>(At[I] & -At[I], 1, 16);
      for (int64_t Sign : {-1, 1}) {
        unsigned Found = 0;
        for (unsigned Steps = 1;
             Steps <= Farthest && Found < Beside && Runs < MostRuns; ++Steps) {
          std::vector<int64_t> Next = Sizes;
          Next[I] = (Sizes[I] + Sign * int64_t(Steps) * Step) / Step * Step;
          if (Next[I] < 1 || Next[I] == Sizes[I] || IsOut(Next[I]))
            continue;
          Expected<bool> Any = exploreSizes(Next, Box);
          if (!Any)
            return Any.takeError();
          Found += *Any;
          Runs += *Any;
        }
      }
    }
  return Error::success();
}

/// Blocks of other widths were tried with the sizes of the base. Which elements
/// of a block lie at the end depends on both.
Error EndRuns::otherBlocks(const DomainBox &Box) {
  constexpr size_t MostWidths = 12, MostHeights = 4;
  const TriedLaunch Base = triedLaunch(K, Cases.base().Case);
  // Of another width, and as high as in the base; of another height.
  SmallVector<std::pair<uint64_t, uint64_t>, 16> Shapes;
  size_t Widths = 0, Heights = 0;
  for (const TriedLaunch &L : V.tried()) {
    const bool IsHigh = L.B.Dims[BlockY] != Base.B.Dims[BlockY];
    const std::pair Shape = blocksOf(L.B);
    if (L.Wrong || (!IsHigh && L.B.Dims[BlockX] == Base.B.Dims[BlockX]) ||
        is_contained(Shapes, Shape) || !contains(Domain{{Box}}, L.B, L.Args))
      continue;
    if (IsHigh ? Heights++ < MostHeights : Widths++ < MostWidths)
      Shapes.push_back(Shape);
  }
  const std::vector<int64_t> At = Cases.model().baseValues();
  for (auto [Width, Height] : Shapes) {
    for (unsigned Round = 0; Round < 8; ++Round) {
      const bool IsHigh = Height != static_cast<uint64_t>(Base.B.Dims[BlockY]);
      if (IsHigh && Round >= 2 && Round < 6)
        continue;
      std::vector<int64_t> Sizes = At;
      // As many blocks as they need, or as many threads: so many blocks of
      // fewer threads need smaller sizes, unless all have something to do. And
      // what one such block does. All as even as the recorded ones.
      const bool AllBusy = Round >= 6;
      const bool SameThreads = Round % 2 || AllBusy,
                 OneBlock = Round == 4 || Round == 5;
      const auto Wide = static_cast<uint64_t>(Base.B.Dims[BlockX]);
      uint64_t State = Width * 4 + Round;
      for (int64_t &Each : Sizes) {
        if (Each < 2)
          continue;
        const int64_t Step = std::min<int64_t>(Each & -Each, 16);
        int64_t Low = Each / 2, High = Each;
        if (AllBusy) {
          // Two of them, at least.
          const auto Times = static_cast<int64_t>(divideCeil(
              2 * Width, Wide * static_cast<uint64_t>(Base.B.Dims[GridX])));
          Low = High = Round % 2 ? Times * Each + Step : Times * Each;
        } else if (OneBlock) {
          High = int64_t(double(Each) * double(Width) / double(Wide) /
                         double(Base.B.Dims[GridX]));
          Low = High / 4 * 3;
        } else if (SameThreads && Width < Wide) {
          High = int64_t(double(Each) * double(Width) / double(Wide));
          Low = High / 4 * 3;
        } else if (Round < 2) {
          Low = Each;
          High = 2 * Each;
        }
        Each = Low + int64_t(splitMix64(State) % uint64_t(High - Low + 1));
        Each = std::max(Each / Step * Step, Step);
      }
      Expected<const JudgedCase *> J =
          Cases.sized(Sizes, Box, Admits, Width, SameThreads, Height);
      // The original may not bear as much: half of what was added, then.
      for (unsigned Halved = 0; J && !*J && Halved < 2; ++Halved) {
        bool Any = false;
        for (auto [Each, Was] : zip_equal(Sizes, At))
          if (Each > Was) {
            Each = Was + evenLike((Each - Was) / 2, Was);
            Any = true;
          }
        if (!Any)
          break;
        J = Cases.sized(Sizes, Box, Admits, Width, SameThreads, Height);
      }
      if (Expected<bool> Right = exploreNew(std::move(J)); !Right)
        return Right.takeError();
      if (areBlamed(Width, Height))
        break; // No box will have such blocks.
    }
    if (Error E = sideBySide(Box, Width, Height))
      return E;
    if (Error E = withListedBlocks(Box, Width, Height))
      return E;
  }
  return Error::success();
}

/// Whether the numbers of \p L, but for floats, are those of a launch in
/// \p Box.
static bool hasNumbersOf(const TriedLaunch &L, const DomainBox &Box) {
  DomainBox Numbers;
  Numbers.Ranges = Box.Ranges;
  Numbers.Residues = Box.Residues;
  return contains(Domain{{Numbers}}, L.B, L.Args);
}

/// Sizes that were wrong, in boxes of other flags and pointers that hold them.
Error EndRuns::elsewhere() {
  constexpr size_t MostRuns = 12;
  size_t Runs = 0;
  std::vector<Bindings> Wrong;
  for (const TriedLaunch &L : V.tried())
    if (L.Wrong && !L.Misaligned && any_of(D.Boxes, [&](const DomainBox &Box) {
          return hasNumbersOf(L, Box);
        }))
      Wrong.push_back(L.B);
  for (const DomainBox &Box : D.Boxes)
    for (const Bindings &B : Wrong) {
      if (Runs == MostRuns)
        return Error::success();
      Expected<const JudgedCase *> J = Cases.like(B, Box, Admits);
      if (!J)
        return J.takeError();
      if (!*J || wasTried(**J))
        continue;
      const TriedLaunch At = triedLaunch(K, (*J)->Case);
      if (!contains(Domain{{Box}}, At.B, At.Args))
        continue;
      ++Runs;
      if (Expected<bool> Right = explore(**J); !Right)
        return Right.takeError();
    }
  return Error::success();
}

/// The sizes of \p Wrong as far as \p Box has them, all together and each alone
/// beside those of the base.
std::vector<std::vector<int64_t>>
EndRuns::lastBefore(const TriedLaunch &Wrong, const DomainBox &Box) const {
  const std::vector<int64_t> At = Cases.model().baseValues();
  std::vector<int64_t> All = At;
  for (auto [V, Var] : zip_equal(All, Cases.model().vars())) {
    const Expr E = Var.expr();
    std::optional<Interval> In = rangeIn(E, Box);
    std::optional<int64_t> Is = evaluate(E, Wrong.B);
    if (In && Is)
      V = std::clamp(*Is, In->Least, In->Most);
  }
  std::vector<std::vector<int64_t>> Sizes = togetherAndAlone(All, At);
  // What stands for the recorded launch gets other numbers anyway.
  llvm::erase(Sizes, At);
  return Sizes;
}

/// The last right launch before a wrong one may have been right by chance.
Error EndRuns::withOtherContent(const DomainBox &Box) {
  constexpr unsigned Rounds = 12;
  constexpr size_t MostSizes = 12;
  std::vector<std::vector<int64_t>> Sizes;
  for (const TriedLaunch &L : V.tried())
    if (L.Wrong && !L.Misaligned && Sizes.size() < MostSizes)
      for (std::vector<int64_t> &Each : lastBefore(L, Box))
        if (!is_contained(Sizes, Each))
          Sizes.push_back(std::move(Each));
  for (const std::vector<int64_t> &Each : Sizes)
    for (unsigned Round = 0; Round < Rounds; ++Round) {
      Expected<bool> Right =
          exploreNew(Cases.sized(Each, Box, Admits, /*Threads=*/0,
                                 /*SameThreads=*/false, /*Height=*/0, Round));
      if (!Right)
        return Right.takeError();
      if (!*Right)
        break;
    }
  return Error::success();
}

Expected<bool> wrongAtEnds(const DomainFrame &F, VariantRuns &V,
                           DomainCases &Cases, const Domain &D,
                           DomainCases::Admission Admits,
                           GateVerdict &Verdict) {
  EndRuns Runs(F, V, Cases, D, Admits, Verdict);
  if (Error E = Runs.elsewhere())
    return std::move(E);
  if (const DomainBox *Box = Runs.ownBox()) {
    if (Error E = Runs.atCorner(*Box))
      return std::move(E);
    if (Error E = Runs.tight(*Box))
      return std::move(E);
    if (Error E = Runs.allPairs(*Box))
      return std::move(E);
    if (Error E = Runs.pairsAtEnds(*Box))
      return std::move(E);
    if (Error E = Runs.withRestsOfWrong(*Box))
      return std::move(E);
    if (Error E = Runs.besideWrongRests(*Box))
      return std::move(E);
    if (Error E = Runs.limits(*Box))
      return std::move(E);
    if (Error E = Runs.numbers(*Box))
      return std::move(E);
    if (Error E = Runs.otherBlocks(*Box))
      return std::move(E);
    if (Error E = Runs.crowded(*Box))
      return std::move(E);
    if (Error E = Runs.withOtherContent(*Box))
      return std::move(E);
  }
  return Runs.anyWrong();
}

} // namespace cupilot
