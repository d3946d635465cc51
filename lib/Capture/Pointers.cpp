//===- Pointers.cpp - Finding pointers in the arguments of launches -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Capture/Pointers.h"
#include <algorithm>
#include <cstring>

namespace cupilot::capture {

static uint64_t wordAt(const char *At) {
  uint64_t Word;
  std::memcpy(&Word, At, sizeof(Word));
  return Word;
}

/// No allocation lies below 64 KiB or above the 57 bits of an address.
static bool canBeAddress(uint64_t Word) {
  return Word >= 0x10000 && Word < (1ull << 57);
}

MatchedPointers matchPointers(const std::vector<Parameter> &Layout,
                              std::vector<std::string> &Args,
                              const RangeFinder &Find,
                              const std::function<bool(uint64_t)> &IsHost) {
  MatchedPointers Result;
  struct Word {
    unsigned Param, Offset;
    uint64_t Value;
  };
  std::vector<Word> Ends;
  auto Add = [&](const Word &W, const Range &R) {
    auto It = std::ranges::find(Result.Ranges, R);
    unsigned Index = static_cast<unsigned>(It - Result.Ranges.begin());
    if (It == Result.Ranges.end())
      Result.Ranges.push_back(R);
    Result.Pointers.push_back({W.Param, W.Offset, Index, W.Value - R.Base});
    Result.InStructs |= Args[W.Param].size() > 8;
    std::memset(Args[W.Param].data() + W.Offset, 0, 8);
  };
  for (unsigned Param = 0; Param < Args.size(); ++Param) {
    if (Layout[Param].Offset % 8)
      continue;
    for (unsigned Offset = 0; Offset + 8 <= Args[Param].size(); Offset += 8) {
      Word W{Param, Offset, wordAt(Args[Param].data() + Offset)};
      if (!canBeAddress(W.Value))
        continue;
      Range R;
      if (Find(W.Value, R))
        Add(W, R);
      else
        Ends.push_back(W);
    }
  }
  for (const Word &W : Ends) {
    auto It = std::ranges::find_if(Result.Ranges, [&](const Range &R) {
      return R.Base + R.Size == W.Value;
    });
    if (It != Result.Ranges.end())
      Add(W, Range(*It));
    else if (IsHost(W.Value))
      Result.HostWords.push_back({W.Param, W.Offset});
  }
  std::sort(Result.Pointers.begin(), Result.Pointers.end(),
            [](const Pointer &A, const Pointer &B) {
              return std::pair(A.Param, A.Offset) <
                     std::pair(B.Param, B.Offset);
            });
  return Result;
}

size_t countPointers(std::string_view Bytes, const std::vector<Range> &Known,
                     const RangeFinder &Find, size_t Tries) {
  if (Known.empty())
    return 0;
  // Device addresses lie together: what is more than 1 TiB away is none.
  constexpr uint64_t Near = 1ull << 40;
  uint64_t Low = Known.front().Base, High = Low;
  for (const Range &R : Known) {
    Low = std::min(Low, R.Base);
    High = std::max(High, R.Base + R.Size);
  }
  Low = Low > Near ? Low - Near : 0x10000;
  High += Near;
  size_t Count = 0;
  uint64_t Last = 0;
  for (size_t At = 0; At + 8 <= Bytes.size() && Tries; At += 8) {
    uint64_t Word = wordAt(Bytes.data() + At);
    if (Word < Low || Word > High || Word == Last)
      continue;
    Last = Word;
    --Tries;
    Range R;
    Count += Find(Word, R);
  }
  return Count;
}

} // namespace cupilot::capture
