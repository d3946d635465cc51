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
// passes it: one of its sizes is large, and the rest small and odd. Multiples
// of a power of two stay exact for longer than 2^24, so that sizes, blocks and
// goals are odd more often than not. The largest indices are those of the last
// blocks, which are all that runs.
//
//===----------------------------------------------------------------------===//

#include "SideBySide.h"
#include "cupilot/Portable/LaunchLimits.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

using namespace llvm;

namespace cupilot {

/// How threads of a block lie.
enum class BlockWay { AsItWas, Odd, AlongX, AlongY, Single };
static constexpr BlockWay BlockWays[] = {BlockWay::Odd, BlockWay::AsItWas,
                                         BlockWay::AlongX, BlockWay::AlongY,
                                         BlockWay::Single};

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

Expected<std::optional<RandomLaunch>>
LaunchSource::unfit(const Domain &Where, ArrayRef<RangeClause> Narrowed) {
  Far = true;
  const Workload &Recorded = Around[0];
  Expected<Bindings> Was = bindLaunch(Recorded.Shape, K.Scalars, Recorded.Args);
  if (!Was)
    return Was.takeError();
  std::vector<Raised> Ways;
  for (unsigned I = 0; I < K.Scalars.size(); ++I)
    if (Was->Symbols[I] > 1)
      Ways.push_back({I, std::nullopt});
  for (unsigned Axis = 0; Axis < 3; ++Axis)
    Ways.push_back({std::nullopt, Axis});
  for (unsigned I = 0; I < K.Scalars.size(); ++I)
    if (Was->Symbols[I] > 1)
      Ways.push_back({I, 0});
  Ways.push_back({std::nullopt, std::nullopt, true});
  Ways.push_back({std::nullopt, std::nullopt, true, false});
  for (unsigned Axis = 0; Axis < 3; ++Axis) // Or as large as a side.
    Ways.push_back({std::nullopt, Axis, true});
  // Others small, others as they were.
  constexpr uint64_t Others = 3;
  const uint64_t All =
      Narrowed.size() * Ways.size() * std::size(BlockWays) * Others;
  constexpr uint64_t Stride = 7919; // A prime: few ways show all kinds.
  for (; Turn < All;) {
    uint64_t N = Turn++ * Stride % All;
    auto Next = [&N](uint64_t Count) {
      const uint64_t Chosen = N % Count;
      N /= Count;
      return Chosen;
    };
    const RangeClause &C = Narrowed[Next(Narrowed.size())];
    const Raised &What = Ways[Next(Ways.size())];
    const BlockWay How = BlockWays[Next(std::size(BlockWays))];
    const uint64_t Other = Next(Others);
    Workload W = Recorded;
    lay(How, W.Shape);
    for (auto [I, Old] : enumerate(Was->Symbols)) {
      constexpr int64_t Small[] = {1, 3, 5, 7};
      if (Old <= 1 || Other == 2 || What.All || What.Size == unsigned(I))
        continue;
      int64_t New = Other == 0 ? 1 : Small[below(std::size(Small))];
      std::memcpy(W.Args[K.Scalars[I].Param].data() + K.Scalars[I].Offset, &New,
                  K.Scalars[I].Bits / 8);
    }
    if (!follow(*Was, true, W) || C.In.empty())
      continue;
    const int64_t Most = C.In.back().Most;
    if (Most > int64_t(1) << 31)
      continue;
    const int64_t Goal = Most + 2 + int64_t(below(uint64_t(Most) / 8 + 1));
    bool Legal = raise(*Was, What, C.E, Goal, W);
    for (unsigned D = 0; D < 3; ++D)
      Legal &=
          isGridSize(D, W.Shape.Grid[D]) && isBlockSize(D, W.Shape.Block[D]);
    if (!Legal)
      continue;
    Expected<std::optional<RandomLaunch>> L = filled(Recorded, *Was, Where, W);
    if (!L || *L)
      return L;
  }
  return std::nullopt;
}

} // namespace cupilot
