//===- LaunchLimits.h - What CUDA allows of a launch -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CUDA C++ Programming Guide, "Technical Specifications per Compute
// Capability": the limits that all supported GPUs share.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_PORTABLE_LAUNCHLIMITS_H
#define CUPILOT_PORTABLE_LAUNCHLIMITS_H

#include <cstdint>

namespace cupilot {

/// By axis: blocks of a grid, threads of a block.
inline constexpr int64_t MaxGrid[3] = {2147483647, 65535, 65535};
inline constexpr int64_t MaxBlock[3] = {1024, 1024, 64};
/// Threads of a block.
inline constexpr int64_t MaxBlockThreads = 1024;
/// Blocks of a cluster that every GPU with clusters can hold.
inline constexpr int64_t MostClusterBlocks = 8;
/// Blocks of a cluster for which a kernel must ask.
inline constexpr int64_t MostLargeClusterBlocks = 16;
/// Bytes of shared memory of a block without a request for more.
inline constexpr uint64_t UnrequestedShared = 48 * 1024;

/// A negative size is none.
inline constexpr bool isGridSize(unsigned Axis, uint64_t Blocks) {
  return Blocks >= 1 && Blocks <= uint64_t(MaxGrid[Axis]);
}
inline constexpr bool isBlockSize(unsigned Axis, uint64_t Threads) {
  return Threads >= 1 && Threads <= uint64_t(MaxBlock[Axis]);
}

} // namespace cupilot

#endif // CUPILOT_PORTABLE_LAUNCHLIMITS_H
