//===- Infer.h - What a launch reads, by replays with noise -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel without PTX cannot be marked. But a launch that makes the same from
// noise does not read what the noise took the place of.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_CAPTURE_INFER_H
#define CUPILOT_CAPTURE_INFER_H

#include "cupilot/Capture/Touched.h"

namespace cupilot::capture {

/// What is found is exact to these bytes.
constexpr uint64_t InferredPage = 4096;

/// Of each allocation, ascending, apart; offsets.
using Ranges = std::vector<std::vector<Range>>;

/// Whether the launch makes the same where it begins with its contents in the
/// ranges alone, and with noise elsewhere. Nothing: there is no time for more.
using Trial = std::function<std::optional<bool>(const Ranges &)>;

/// What a launch reads, or more: of each pointer one range, which begins there
/// and ends at the next pointer into its allocation or before; of the first one
/// into an allocation another before it, if need be. Nothing where \p Same
/// fails for whole allocations.
std::optional<Ranges> inferReads(const std::vector<Range> &Allocations,
                                 const std::vector<Pointer> &Pointers,
                                 const Trial &Same);

/// Marks what \p R stands for in an allocation of \p Size.
void markRanges(const std::vector<Range> &R, uint64_t Size, TouchedBits &Bits);

} // namespace cupilot::capture

#endif // CUPILOT_CAPTURE_INFER_H
