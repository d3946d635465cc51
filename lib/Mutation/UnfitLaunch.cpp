//===- UnfitLaunch.cpp - Launches whose indices need more bits -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a variant squeezes into fewer bits is an expression of launch and
// arguments (docs/Gate.md, "What arguments are for"), and so is how a launch
// passes it: one or two of its sizes are large, the rest are as small as they
// can be, and threads lie along one axis, whose grid follows what is large. A
// figure is one such way. Sizes are odd, since multiples of a power of two stay
// exact for longer than 2^24; of what is made of multiples, and does not say
// so, goals are 4 and 32 times as high, too. The largest indices are those of
// the last blocks, which are all that runs.
//
//===----------------------------------------------------------------------===//

#include "SideBySide.h"
#include "cupilot/Portable/LaunchLimits.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <set>

using namespace llvm;

namespace cupilot {

/// How threads of a block lie.
enum class BlockWay { AsItWas, Odd, AlongX, AlongY, Single };
/// What the sizes are that are not large.
enum class OtherWay { One, Even, AsTheyWere };
/// What the sides of a grid are that follow nothing large.
enum class SideWay { One, AsTheyWere, Many };

/// How a launch becomes large: by a number that is raised.
struct LaunchSource::Figure {
  SmallVector<unsigned, 2> Large; ///< Sizes that are the number.
  std::optional<unsigned> Axis;   ///< Its grid follows; without sizes, it is
                                  ///< the number.
  BlockWay Block = BlockWay::AsItWas;
  OtherWay Others = OtherWay::One;
  SideWay Sides = SideWay::One;
  unsigned Turns = 1;              ///< Of each thread, where the grid follows.
  std::optional<unsigned> Crowded; ///< This side, for SideWay::Many.
};

static void lay(BlockWay How, LaunchShape &S) {
  constexpr uint64_t Wide = MaxBlockThreads - 1; // Odd.
  switch (How) {
  case BlockWay::AsItWas:
    return;
  case BlockWay::Odd:
    for (uint64_t &Dim : S.Block)
      Dim -= Dim > 1 && Dim % 2 == 0;
    return;
  case BlockWay::AlongX:
    S.Block = {Wide, 1, 1};
    return;
  case BlockWay::AlongY:
    S.Block = {1, Wide, 1};
    return;
  case BlockWay::Single: // It may have to do as much as there are threads.
    S.Block = {1, 1, 1};
    return;
  }
}

std::vector<LaunchSource::Figure> LaunchSource::figures(const Bindings &Was) {
  std::vector<Figure> All;
  std::vector<SmallVector<unsigned, 2>> Sizes;
  SmallVector<unsigned, 2> Each;
  for (unsigned I = 0; I < K.Scalars.size(); ++I)
    if (Was.Symbols[I] > 1) {
      Sizes.push_back({I});
      Each.push_back(I);
    }
  const size_t Singles = Sizes.size();
  for (size_t I = 0; I < Singles; ++I)
    for (size_t J = I + 1; J < Singles; ++J)
      Sizes.push_back({Each[I], Each[J]});
  if (Each.size() > 2)
    Sizes.push_back(Each);
  constexpr std::pair<unsigned, BlockWay> Lying[] = {{0, BlockWay::AlongX},
                                                     {1, BlockWay::AlongY}};
  auto Add = [&](Figure F) { All.push_back(std::move(F)); };
  // A thread for each element of a long row.
  for (OtherWay Others : {OtherWay::One, OtherWay::Even})
    for (SideWay Sides : {SideWay::One, SideWay::AsTheyWere})
      for (const auto &Large : ArrayRef(Sizes).take_front(Singles))
        for (auto [Axis, Block] : Lying)
          Add({Large, Axis, Block, Others, Sides, 1, std::nullopt});
  // Sides of the grid by themselves.
  for (OtherWay Others : {OtherWay::One, OtherWay::AsTheyWere, OtherWay::Even})
    for (unsigned Axis = 0; Axis < 3; ++Axis)
      for (BlockWay Block : {BlockWay::Odd, BlockWay::AlongX, BlockWay::AlongY})
        Add({{}, Axis, Block, Others, SideWay::One, 1, std::nullopt});
  // Few threads that do all, in long loops.
  for (OtherWay Others : {OtherWay::One, OtherWay::Even})
    for (const auto &Large : Sizes)
      for (BlockWay Block : {BlockWay::Single, BlockWay::AsItWas})
        for (SideWay Sides : {SideWay::One, SideWay::AsTheyWere})
          Add({Large, std::nullopt, Block, Others, Sides, 1, std::nullopt});
  // A size for each of many blocks.
  for (const auto &Large : ArrayRef(Sizes).take_front(Singles))
    for (unsigned Axis : {2u, 1u, 0u})
      for (BlockWay Block : {BlockWay::AsItWas, BlockWay::Single})
        Add({Large, std::nullopt, Block, OtherWay::One, SideWay::Many, 1,
             Axis});
  // Several turns of each thread, and blocks as they were recorded.
  for (unsigned Turns : {2, 4, 1})
    for (const auto &Large : ArrayRef(Sizes))
      for (auto [Axis, Block] : Lying)
        Add({Large, Axis, Turns == 1 ? BlockWay::AsItWas : Block, OtherWay::One,
             SideWay::AsTheyWere, Turns, std::nullopt});
  return All;
}

/// Makes \p W a launch of figure \p F whose number is \p Value.
void LaunchSource::shape(const Figure &F, int64_t Value, Workload &W) {
  for (unsigned I : F.Large) { // Even ones stay exact for longer.
    const ScalarRef &S = K.Scalars[I];
    writeScalar(S, std::min(Value | 1, mostOf(S, /*MostBits=*/62)), W);
  }
  if (!F.Axis)
    return;
  const int64_t Block = int64_t(W.Shape.Block[*F.Axis]) * F.Turns;
  W.Shape.Grid[*F.Axis] =
      uint64_t(F.Large.empty() ? Value : ((Value | 1) - 1) / Block + 1);
}

/// What \p F is for \p E to be at least \p Goal. Nothing where it cannot.
Expected<std::optional<int64_t>> LaunchSource::raised(const Figure &F,
                                                      const Expr &E,
                                                      int64_t Goal,
                                                      Workload &W) {
  auto Reaches = [&](int64_t Value) -> Expected<bool> {
    shape(F, Value, W);
    Expected<Bindings> Is = bindLaunch(W.Shape, K.Scalars, W.Args);
    if (!Is)
      return Is.takeError();
    std::optional<int64_t> Now = evaluate(E, *Is);
    return !Now || *Now >= Goal;
  };
  int64_t Low = 1, High = INT32_MAX;
  Expected<bool> Any = Reaches(High);
  if (!Any || !*Any)
    return Any ? Expected<std::optional<int64_t>>(std::nullopt)
               : Any.takeError();
  while (Low < High) {
    const int64_t Mid = Low + (High - Low) / 2;
    Expected<bool> Enough = Reaches(Mid);
    if (!Enough)
      return Enough.takeError();
    (*Enough ? High : Low) = *Enough ? Mid : Mid + 1;
  }
  shape(F, High, W);
  bool Legal = true;
  for (unsigned D = 0; D < 3; ++D)
    Legal &= isGridSize(D, W.Shape.Grid[D]) && isBlockSize(D, W.Shape.Block[D]);
  return Legal ? std::optional(High) : std::nullopt;
}

Error LaunchSource::planUnfit(const Workload &Recorded, const Bindings &Was,
                              ArrayRef<RangeClause> Narrowed) {
  constexpr int64_t Times[] = {1, 4, 32}, MostGoal = int64_t(1) << 30;
  const std::vector<Figure> Ways = figures(Was);
  std::set<std::tuple<size_t, std::array<uint64_t, 3>, int64_t>> Seen;
  for (int64_t Longer : Times)
    for (auto [N, F] : enumerate(Ways))
      for (const RangeClause &C : Narrowed) {
        if (C.In.empty() || C.In.back().Most > MostGoal / Longer ||
            C.In.back().Most < 1)
          continue;
        Workload W = Recorded;
        lay(F.Block, W.Shape);
        for (auto [I, Old] : enumerate(Was.Symbols)) {
          if (Old <= 1 || F.Others == OtherWay::AsTheyWere ||
              is_contained(F.Large, I))
            continue;
          const ScalarRef &S = K.Scalars[I];
          const int64_t New = F.Others == OtherWay::One ? 1 : 2;
          writeScalar(S, New, W);
        }
        for (unsigned D = 0; D < 3; ++D)
          if (F.Sides != SideWay::AsTheyWere)
            W.Shape.Grid[D] = 1;
        if (F.Sides == SideWay::AsTheyWere && !follow(Was, true, W))
          continue;
        if (F.Crowded) // Odd.
          W.Shape.Grid[*F.Crowded] = 4099;
        const int64_t Most = C.In.back().Most * Longer;
        Expected<std::optional<int64_t>> Value =
            raised(F, C.E, Most + 2 + Most / 16, W);
        if (!Value)
          return Value.takeError();
        if (!*Value)
          continue;
        // What differs by little shows the same.
        constexpr double Steps = 4;
        const auto Size = int64_t(std::log2(double(**Value)) * Steps);
        if (Seen.insert({N, W.Shape.Grid, Size}).second)
          Planned.push_back(std::move(W));
      }
  return Error::success();
}

Expected<std::optional<RandomLaunch>>
LaunchSource::unfit(const Domain &Where, ArrayRef<RangeClause> Narrowed) {
  Far = true;
  const Workload &Recorded = Around[0];
  Expected<Bindings> Was = bindLaunch(Recorded.Shape, K.Scalars, Recorded.Args);
  if (!Was)
    return Was.takeError();
  if (Turn == 0)
    if (Error E = planUnfit(Recorded, *Was, Narrowed))
      return std::move(E);
  while (Turn < Planned.size()) {
    Workload W = Planned[Turn++];
    Expected<std::optional<RandomLaunch>> L = filled(Recorded, *Was, Where, W);
    if (!L || *L)
      return L;
  }
  return std::nullopt;
}

} // namespace cupilot
