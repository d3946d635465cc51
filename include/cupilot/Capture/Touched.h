//===- Touched.h - Which part of memory a launch touches --------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs that put everything into a few allocations: what a launch reaches by
// a pointer becomes a buffer of its own.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_CAPTURE_TOUCHED_H
#define CUPILOT_CAPTURE_TOUCHED_H

#include "cupilot/Capture/Pointers.h"

namespace cupilot::capture {

/// Bytes that one bit stands for.
constexpr uint64_t Granule = 64;

/// Of one allocation: bit I of the words stands for the bytes from
/// I * Granule on.
using TouchedBits = std::vector<uint32_t>;

/// Of one allocation.
struct Touched {
  TouchedBits Reads, Writes;
};

/// A buffer that is a part of an allocation.
struct Part {
  Range All;                 ///< With what lies between; begins at 256 bytes.
  std::vector<Range> Within; ///< What was touched of it, ascending, apart.
  std::vector<Range> Fresh;  ///< What of it was written alone.
  /// Accesses below this address are those of another part.
  uint64_t Least = 0;
  /// Bytes of Within.
  uint64_t touched() const;
};

struct TouchedParts {
  std::vector<Part> Parts;
  std::vector<Pointer> Pointers; ///< Into Parts, in the order of the old ones.
};

/// What the marks in \p Bits stand for, as offsets: ascending, apart.
std::vector<Range> markedRanges(const TouchedBits &Bits);

/// Gives each pointer the touched bytes from its address to that of the next
/// pointer into the same allocation; the first one those before it, too. With
/// \p Together, all pointers into an allocation share one buffer: a launch may
/// reach beyond the next pointer.
TouchedParts splitTouched(const std::vector<Range> &Allocations,
                          const std::vector<Touched> &Marks,
                          const std::vector<Pointer> &Pointers, bool Together);

/// Sets to zero what of \p Bytes, the contents of P.All, was not touched.
void keepTouched(const Part &P, char *Bytes);
/// Sets to zero what of them is only written.
void clearFresh(const Part &P, char *Bytes);
/// Takes what of P.Fresh differs between \p With and \p Without, contents after
/// a launch that began with it and with zeros, from P.Fresh: not every byte of
/// it is written. True where there was some.
bool keepUnwritten(Part &P, std::string_view With, std::string_view Without);

} // namespace cupilot::capture

#endif // CUPILOT_CAPTURE_TOUCHED_H
