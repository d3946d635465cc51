//===- Infer.cpp - What a launch reads, by replays with noise -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Capture/Infer.h"
#include <algorithm>

namespace cupilot::capture {

namespace {
/// What may be read by one pointer: [Begin, End) of an allocation, of which an
/// end is cut off as long as nothing changes.
struct Candidate {
  size_t Allocation = 0;
  uint64_t Begin = 0, End = 0;
  bool Below = false; ///< Before the first pointer: its beginning is cut off.
};

class Search {
public:
  Search(size_t Allocations, const Trial &Same)
      : Allocations(Allocations), Same(Same) {}
  std::vector<Candidate> All;

  std::optional<bool> holds() { return Same(ranges()); }
  /// Leaves the fewest pages of candidate \p Index; false: no time is left.
  bool shrink(size_t Index);
  Ranges ranges() const;

private:
  size_t Allocations;
  const Trial &Same;
};
} // namespace

bool Search::shrink(size_t Index) {
  const Candidate Whole = All[Index];
  if (Whole.Begin >= Whole.End)
    return true;
  const uint64_t First = Whole.Begin / InferredPage,
                 Last = (Whole.End - 1) / InferredPage + 1;
  // With as many pages.
  auto Take = [&](uint64_t Pages) {
    Candidate &C = All[Index] = Whole;
    if (Pages == 0)
      C.End = C.Begin;
    else if (Whole.Below)
      C.Begin = std::max(Whole.Begin, (Last - Pages) * InferredPage);
    else
      C.End = std::min(Whole.End, (First + Pages) * InferredPage);
  };
  uint64_t Few = 0, Enough = Last - First;
  Take(0);
  std::optional<bool> None = holds();
  if (None && *None)
    return true;
  while (None && Enough - Few > 1) {
    uint64_t Middle = Few + (Enough - Few) / 2;
    Take(Middle);
    None = holds();
    if (None)
      (*None ? Enough : Few) = Middle;
  }
  Take(Enough);
  return None.has_value();
}

Ranges Search::ranges() const {
  Ranges Result(Allocations);
  for (const Candidate &C : All)
    if (C.Begin < C.End)
      Result[C.Allocation].push_back({C.Begin, C.End - C.Begin});
  for (std::vector<Range> &Each : Result)
    std::ranges::sort(Each, {}, &Range::Base);
  return Result;
}

std::optional<Ranges> inferReads(const std::vector<Range> &Allocations,
                                 const std::vector<Pointer> &Pointers,
                                 const Trial &Same) {
  Search S(Allocations.size(), Same);
  std::vector<Candidate> Below;
  for (size_t I = 0; I < Allocations.size(); ++I) {
    std::vector<uint64_t> Offsets;
    for (const Pointer &P : Pointers)
      if (P.Buffer == I)
        Offsets.push_back(P.At);
    std::ranges::sort(Offsets);
    Offsets.erase(std::ranges::unique(Offsets).begin(), Offsets.end());
    for (size_t J = 0; J < Offsets.size(); ++J)
      S.All.push_back(
          {I, Offsets[J],
           J + 1 < Offsets.size() ? Offsets[J + 1] : Allocations[I].Size,
           false});
    if (!Offsets.empty() && Offsets.front())
      Below.push_back({I, 0, Offsets.front(), true});
  }
  std::optional<bool> Enough = S.holds();
  if (!Enough || !*Enough) {
    S.All.insert(S.All.end(), Below.begin(), Below.end());
    Enough = S.holds();
    if (!Enough || !*Enough)
      return std::nullopt;
  }
  for (size_t I = 0; I < S.All.size(); ++I)
    if (!S.shrink(I))
      break;
  return S.ranges();
}

void markRanges(const std::vector<Range> &R, uint64_t Size, TouchedBits &Bits) {
  Bits.resize(std::max<size_t>(Bits.size(), Size / Granule / 32 + 2));
  for (const Range &Each : R)
    for (uint64_t I = Each.Base / Granule;
         I * Granule < std::min(Each.Base + Each.Size, Size); ++I)
      Bits[I / 32] |= 1u << (I % 32);
}

} // namespace cupilot::capture
