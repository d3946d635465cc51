//===- NarrowerDomain.cpp - A domain beside the original's own ------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evaluation/NarrowerDomain.h"
#include "FindDomain.h"
#include "llvm/ADT/Sequence.h"

using namespace llvm;

namespace cupilot {

/// Whether a build would run the variant there, its domain aside.
static Expected<bool> isLaunched(const GateVerdict &V, const LaunchPlan &Plan,
                                 const Guard &When, const TriedLaunch &L) {
  if (any_of(V.Cases, [&](const GateRecord &R) {
        return R.KeptOut && R.Case == L.Case;
      }))
    return false;
  if (any_of(Plan.Launches,
             [&](const Launch &Each) { return !planShape(Each, L.B); }) ||
      any_of(Plan.Scratch,
             [&](const Expr &Size) { return !scratchBytes(Size, L.B); }))
    return false;
  return admits(When, L.B, L.Args);
}

Expected<std::optional<OriginalDomain>> originalDomain(const GateVerdict &Own,
                                                       const GateVerdict &V,
                                                       const LaunchPlan &Plan,
                                                       const Guard &When) {
  if (!Own.Basis || !Own.Where || !V.Basis || !V.Where)
    return std::nullopt;
  std::vector<TriedLaunch> Launched;
  for (const TriedLaunch &L : Own.Basis->Tried) {
    Expected<bool> Is = isLaunched(V, Plan, When, L);
    if (!Is)
      return Is.takeError();
    if (*Is)
      Launched.push_back(L);
  }
  std::vector<DomainEnd> Ends;
  OriginalDomain Result;
  Result.Where = deriveDomain(V.Basis->Frame, Launched, Ends);
  for (const TriedLaunch &L : Launched) {
    if (L.Wrong || !contains(*Own.Where, L.B, L.Args) ||
        !contains(Result.Where, L.B, L.Args))
      continue;
    if (std::optional<ClauseRef> Left = clauseOutside(*V.Where, L.B, L.Args))
      Result.Lost.push_back({L.Case, L.B, *Left});
  }
  return Result;
}

/// Whether \p Value lies outside of \p C, on the side of \p Beyond.
static bool isOnSide(const RangeClause &C, int64_t Value, int64_t Beyond) {
  auto Side = [&](int64_t V) {
    return C.In.empty() || V > C.In.back().Most ? 1
           : V < C.In.front().Least             ? -1
                                                : 0;
  };
  return Side(Value) == Side(Beyond);
}

static const RangeClause *rangeOf(const DomainBox &Box, const ClauseRef &C) {
  return C.Clause < Box.Ranges.size() ? &Box.Ranges[C.Clause] : nullptr;
}

/// Of \p Launches, on which the variant was wrong or did not run, the one
/// nearest to the domain that \p C keeps out, on the side of \p Beyond.
static const TriedLaunch *nearestBeyond(ArrayRef<TriedLaunch> Launches,
                                        const DomainBox &Box,
                                        const ClauseRef &C,
                                        std::optional<int64_t> Beyond) {
  const RangeClause *Range = rangeOf(Box, C);
  const TriedLaunch *Nearest = nullptr;
  std::pair<size_t, uint64_t> Least(SIZE_MAX, 0);
  for (const TriedLaunch &L : Launches) {
    if (!L.Wrong || holds(Box, C.Clause, L.B, L.Args))
      continue;
    uint64_t Far = 0;
    if (Range && Beyond) {
      const std::optional<int64_t> Is = evaluate(Range->E, L.B);
      if (!Is || !isOnSide(*Range, *Is, *Beyond))
        continue;
      Far = *Is > *Beyond ? uint64_t(*Is) - uint64_t(*Beyond)
                          : uint64_t(*Beyond) - uint64_t(*Is);
    }
    const size_t Failing = count_if(
        seq(Box.size()), [&](size_t I) { return !holds(Box, I, L.B, L.Args); });
    if (std::pair(Failing, Far) < Least) {
      Least = {Failing, Far};
      Nearest = &L;
    }
  }
  return Nearest;
}

std::optional<DomainEnd> endNamedFor(const GateVerdict &V, const ClauseRef &C,
                                     std::optional<int64_t> Beyond) {
  if (!V.Basis || !V.Where)
    return std::nullopt;
  const DomainBox &Box = V.Where->Boxes[C.Box];
  auto EndOf = [](const TriedLaunch &L, bool NotRun) {
    return DomainEnd{L.Case, *L.Wrong, L.Evidence, NotRun};
  };
  if (const TriedLaunch *L = nearestBeyond(V.Basis->Tried, Box, C, Beyond))
    return EndOf(*L, /*NotRun=*/false);
  if (const RangeClause *Range = rangeOf(Box, C))
    for (const NarrowingFact &N : V.Basis->Narrowings)
      if (fits(N) == *Range)
        return DomainEnd{"", GateReason::Untested,
                         N.What + " at " + N.Location};
  if (const TriedLaunch *L = nearestBeyond(V.Basis->TooDear, Box, C, Beyond))
    return EndOf(*L, /*NotRun=*/true);
  return std::nullopt;
}

} // namespace cupilot
