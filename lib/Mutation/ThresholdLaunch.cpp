//===- ThresholdLaunch.cpp - Launches at constants of the code -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Code that runs for one size alone is wrong there alone, and a domain leaves
// out that size, or all beyond it. No random size meets it.
//
//===----------------------------------------------------------------------===//

#include "SideBySide.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

using namespace llvm;

namespace cupilot {

namespace {
/// A size, or the width of a block, and its number.
struct Chosen {
  std::optional<unsigned> Size;
  int64_t Value = 0;
  bool operator==(const Chosen &) const = default;
};
} // namespace

/// What to try, each once: constants and their neighbours, those next to the
/// ends of ranges, and blocks whose last warp is short.
static std::vector<Chosen> choicesOf(const Kernel &K, const Domain &Where,
                                     ArrayRef<RangeClause> Constants,
                                     uint64_t Block) {
  std::vector<Chosen> Choices;
  auto Add = [&](const Expr &E, int64_t Value) {
    if (E.K != Expr::Kind::Symbol || size_t(E.Value) >= K.Scalars.size() ||
        Value < 0)
      return;
    if (Chosen C{unsigned(E.Value), Value}; !is_contained(Choices, C))
      Choices.push_back(C);
  };
  for (const RangeClause &C : Constants)
    for (const Interval &In : C.In)
      Add(C.E, In.Least);
  for (int64_t Less : {31, 1, 16})
    if (int64_t(Block) > Less)
      Choices.push_back({std::nullopt, int64_t(Block) - Less});
  for (const RangeClause &C : Constants)
    for (const Interval &In : C.In)
      for (int64_t Next : {1, -1})
        Add(C.E, In.Least + Next);
  for (const DomainBox &Box : Where.Boxes)
    for (const RangeClause &C : Box.Ranges)
      for (const Interval &In : C.In)
        if (In.Most < INT32_MAX)
          Add(C.E, In.Most + 1);
  return Choices;
}

Expected<std::optional<RandomLaunch>>
LaunchSource::atConstant(const Domain &Where, ArrayRef<RangeClause> Constants) {
  constexpr uint64_t Rounds = 4; // Each with other numbers.
  const std::vector<Chosen> Choices =
      choicesOf(K, Where, Constants, Around[0].Shape.Block[0]);
  // A side of the grid may follow the size, or only seem to.
  constexpr uint64_t Ways = 2;
  const uint64_t Combinations = Ways * Choices.size() * Around.size();
  while (Turn < Rounds * Combinations) {
    const bool Follows = Turn % Ways == 0;
    const uint64_t N = Turn++ % Combinations / Ways;
    const Workload &Recorded = Around[N % Around.size()];
    const Chosen &C = Choices[N / Around.size()];
    Expected<Bindings> Was =
        bindLaunch(Recorded.Shape, K.Scalars, Recorded.Args);
    if (!Was)
      return Was.takeError();
    Workload W = Recorded;
    if (C.Size) {
      const ScalarRef &S = K.Scalars[*C.Size];
      std::memcpy(W.Args[S.Param].data() + S.Offset, &C.Value, S.Bits / 8);
    } else {
      W.Shape.Block[0] = uint64_t(C.Value);
    }
    if (Follows && !follow(*Was, true, W))
      continue;
    Expected<std::optional<RandomLaunch>> L = filled(Recorded, *Was, Where, W);
    if (!L || *L)
      return L;
  }
  return std::nullopt;
}

} // namespace cupilot
