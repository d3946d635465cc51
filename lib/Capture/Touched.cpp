//===- Touched.cpp - Which part of memory a launch touches ------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Capture/Touched.h"
#include <algorithm>
#include <bit>
#include <cstring>

namespace cupilot::capture {

/// What cudaMalloc aligns to, so that a buffer by itself is aligned as it was.
static constexpr uint64_t Alignment = 256;

uint64_t Part::touched() const {
  uint64_t Bytes = 0;
  for (const Range &R : Within)
    Bytes += R.Size;
  return Bytes;
}

/// Calls \p Use(first, end) for each run of marks among [Begin, End).
template <typename Callback>
static void eachRun(const TouchedBits &Bits, uint64_t Begin, uint64_t End,
                    Callback Use) {
  End = std::min<uint64_t>(End, Bits.size() * 32);
  for (uint64_t I = Begin; I < End;) {
    uint32_t Rest = Bits[I / 32] >> (I % 32);
    if (!Rest) {
      I = (I / 32 + 1) * 32;
      continue;
    }
    I += static_cast<unsigned>(std::countr_zero(Rest));
    uint64_t First = I;
    while (I < End && Bits[I / 32] >> (I % 32) & 1)
      I += static_cast<unsigned>(std::countr_one(Bits[I / 32] >> (I % 32)));
    I = std::min(I, End);
    if (First < End)
      Use(First, I);
  }
}

std::vector<Range> markedRanges(const TouchedBits &Bits) {
  std::vector<Range> Found;
  eachRun(Bits, 0, Bits.size() * 32, [&](uint64_t First, uint64_t End) {
    Found.push_back({First * Granule, (End - First) * Granule});
  });
  return Found;
}

/// The touched ranges of [From, To), offsets into an allocation of \p Size.
static std::vector<Range> touchedIn(const TouchedBits &Bits, uint64_t From,
                                    uint64_t To, uint64_t Size) {
  std::vector<Range> Found;
  if (From >= To)
    return Found;
  eachRun(Bits, From / Granule, (To - 1) / Granule + 1,
          [&](uint64_t Begin, uint64_t End) {
            uint64_t First = std::max(Begin * Granule, From),
                     Last = std::min(End * Granule, To);
            if (First < Last)
              Found.push_back({First, Last - First});
          });
  // What shares its first 64 bytes with the next pointer's begin is taken for
  // that pointer's, unless what lies before it is touched as well.
  if (!Found.empty() && To < Size &&
      Found.back().Base == To / Granule * Granule)
    Found.pop_back();
  return Found;
}

/// The buffer of pointers of which the least is at \p Least and the last at
/// \p Last, that may touch [From, To). Offsets into \p A.
static Part partOf(const Range &A, const Touched &Marks, uint64_t Least,
                   uint64_t Last, uint64_t From, uint64_t To) {
  Part P;
  TouchedBits All = Marks.Reads, Fresh = Marks.Writes;
  for (size_t I = 0; I < All.size(); ++I) {
    All[I] |= Marks.Writes[I];
    Fresh[I] &= ~Marks.Reads[I];
  }
  P.Within = touchedIn(All, From, To, A.Size);
  P.Fresh = touchedIn(Fresh, From, To, A.Size);
  uint64_t Begin = Least, End = Last;
  if (!P.Within.empty()) {
    Begin = std::min(Begin, P.Within.front().Base);
    End = std::max(End, P.Within.back().Base + P.Within.back().Size);
  }
  uint64_t Address = (A.Base + Begin) / Alignment * Alignment;
  Begin = Address < A.Base ? 0 : Address - A.Base;
  // One that nothing is touched by still points to something.
  End = std::min(std::max(End, Last + 1), A.Size);
  End = std::max(End, std::min(Begin + Granule, A.Size));
  P.All = {A.Base + Begin, End - Begin};
  P.Least = A.Base + From;
  for (std::vector<Range> *Each : {&P.Within, &P.Fresh})
    for (Range &R : *Each)
      R.Base += A.Base;
  return P;
}

TouchedParts splitTouched(const std::vector<Range> &Allocations,
                          const std::vector<Touched> &Marks,
                          const std::vector<Pointer> &Pointers, bool Together) {
  TouchedParts Made;
  Made.Pointers = Pointers;
  for (unsigned I = 0; I < Allocations.size(); ++I) {
    const Range &A = Allocations[I];
    std::vector<uint64_t> Offsets;
    for (const Pointer &P : Pointers)
      if (P.Buffer == I)
        Offsets.push_back(P.At);
    if (Offsets.empty())
      continue;
    std::ranges::sort(Offsets);
    Offsets.erase(std::ranges::unique(Offsets).begin(), Offsets.end());
    if (Together) {
      Made.Parts.push_back(
          partOf(A, Marks[I], Offsets.front(), Offsets.back(), 0, A.Size));
    } else {
      for (size_t J = 0; J < Offsets.size(); ++J)
        Made.Parts.push_back(
            partOf(A, Marks[I], Offsets[J], Offsets[J], J ? Offsets[J] : 0,
                   J + 1 < Offsets.size() ? Offsets[J + 1] : A.Size));
    }
    size_t First = Made.Parts.size() - (Together ? 1 : Offsets.size());
    for (size_t J = 0; J < Pointers.size(); ++J) {
      const Pointer &P = Pointers[J];
      if (P.Buffer != I)
        continue;
      size_t Number = First;
      if (!Together)
        Number += static_cast<size_t>(std::ranges::lower_bound(Offsets, P.At) -
                                      Offsets.begin());
      Made.Pointers[J].Buffer = static_cast<unsigned>(Number);
      Made.Pointers[J].At = A.Base + P.At - Made.Parts[Number].All.Base;
    }
  }
  return Made;
}

void keepTouched(const Part &P, char *Bytes) {
  uint64_t At = 0;
  for (const Range &R : P.Within) {
    uint64_t Begin = R.Base - P.All.Base;
    std::memset(Bytes + At, 0, Begin - At);
    At = Begin + R.Size;
  }
  std::memset(Bytes + At, 0, P.All.Size - At);
}

void clearFresh(const Part &P, char *Bytes) {
  for (const Range &R : P.Fresh)
    std::memset(Bytes + (R.Base - P.All.Base), 0, R.Size);
}

bool keepUnwritten(Part &P, std::string_view With, std::string_view Without) {
  std::vector<Range> Left;
  bool Some = false;
  for (const Range &R : P.Fresh) {
    for (uint64_t At = R.Base, End; At < R.Base + R.Size; At = End) {
      End = std::min((At / Granule + 1) * Granule, R.Base + R.Size);
      uint64_t Offset = At - P.All.Base;
      if (With.substr(Offset, End - At) != Without.substr(Offset, End - At))
        Some = true;
      else if (!Left.empty() && Left.back().Base + Left.back().Size == At)
        Left.back().Size += End - At;
      else
        Left.push_back({At, End - At});
    }
  }
  P.Fresh = std::move(Left);
  return Some;
}

} // namespace cupilot::capture
