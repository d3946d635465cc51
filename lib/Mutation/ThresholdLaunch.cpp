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

/// The sizes to try, each once: constants and their neighbours, and those next
/// to the ends of ranges.
static std::vector<std::pair<unsigned, int64_t>>
sizesAt(const Kernel &K, const Domain &Where, ArrayRef<RangeClause> Constants) {
  std::vector<std::pair<unsigned, int64_t>> Sizes;
  auto Add = [&](const Expr &E, int64_t Value) {
    if (E.K != Expr::Kind::Symbol || size_t(E.Value) >= K.Scalars.size() ||
        Value < 0)
      return;
    std::pair<unsigned, int64_t> Size(unsigned(E.Value), Value);
    if (!is_contained(Sizes, Size))
      Sizes.push_back(Size);
  };
  for (const RangeClause &C : Constants)
    for (const Interval &In : C.In)
      Add(C.E, In.Least);
  for (const RangeClause &C : Constants)
    for (const Interval &In : C.In)
      for (int64_t Next : {1, -1})
        Add(C.E, In.Least + Next);
  for (const DomainBox &Box : Where.Boxes)
    for (const RangeClause &C : Box.Ranges)
      for (const Interval &In : C.In)
        if (In.Most < INT32_MAX)
          Add(C.E, In.Most + 1);
  return Sizes;
}

Expected<std::optional<RandomLaunch>>
LaunchSource::atConstant(const Domain &Where, ArrayRef<RangeClause> Constants) {
  constexpr uint64_t Rounds = 4; // Each size with other numbers.
  const std::vector<std::pair<unsigned, int64_t>> Sizes =
      sizesAt(K, Where, Constants);
  const uint64_t Combinations = Sizes.size() * Around.size();
  while (Turn < Rounds * Combinations) {
    const uint64_t N = Turn++ % Combinations;
    const Workload &Recorded = Around[N % Around.size()];
    const auto &[Size, Value] = Sizes[N / Around.size()];
    Expected<Bindings> Was =
        bindLaunch(Recorded.Shape, K.Scalars, Recorded.Args);
    if (!Was)
      return Was.takeError();
    Workload W = Recorded;
    const ScalarRef &S = K.Scalars[Size];
    std::memcpy(W.Args[S.Param].data() + S.Offset, &Value, S.Bits / 8);
    if (!follow(*Was, true, W))
      continue;
    Expected<std::optional<RandomLaunch>> L = filled(Recorded, *Was, Where, W);
    if (!L || *L)
      return L;
  }
  return std::nullopt;
}

} // namespace cupilot
