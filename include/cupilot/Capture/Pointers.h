//===- Pointers.h - Finding pointers in the arguments of launches -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_CAPTURE_POINTERS_H
#define CUPILOT_CAPTURE_POINTERS_H

#include "cupilot/Capture/Record.h"
#include <functional>

namespace cupilot::capture {

/// Memory that the program allocated.
struct Range {
  uint64_t Base = 0;
  uint64_t Size = 0;
  bool operator==(const Range &) const = default;
};

/// Finds the live allocation that holds an address.
using RangeFinder = std::function<bool(uint64_t Address, Range &Found)>;

/// Where a parameter lies among the others, in bytes.
struct Parameter {
  size_t Offset = 0;
  size_t Size = 0;
};

struct MatchedPointers {
  std::vector<Pointer> Pointers;
  std::vector<Range> Ranges; ///< Pointer::Buffer is an index into it.
  /// Words that could be addresses of the host's memory alone: parameter,
  /// offset.
  std::vector<std::pair<unsigned, unsigned>> HostWords;
  bool InStructs = false; ///< A pointer is part of a larger parameter.
};

/// Matches the aligned 8-byte words of \p Args against live allocations and
/// sets those that lie in one to zero. A word just past a range that another
/// word lies in belongs to that range unless another one begins there.
MatchedPointers matchPointers(const std::vector<Parameter> &Layout,
                              std::vector<std::string> &Args,
                              const RangeFinder &Find,
                              const std::function<bool(uint64_t)> &IsHost);

/// How many aligned words of \p Bytes are addresses in live allocations; stops
/// to look after \p Tries words that could be some.
size_t countPointers(std::string_view Bytes, const std::vector<Range> &Known,
                     const RangeFinder &Find, size_t Tries = 4096);

} // namespace cupilot::capture

#endif // CUPILOT_CAPTURE_POINTERS_H
