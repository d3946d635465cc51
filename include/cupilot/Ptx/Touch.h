//===- Touch.h - Kernels that mark what they touch --------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A second copy of a kernel that sets a bit for each 64 bytes of global memory
// that it reads or writes. Whoever runs it lays a table into its module: the
// ranges that it may touch, each with two bitmaps. A thread that would touch
// other global memory ends instead, so that the copy can neither change nor
// miss what it was not given.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_PTX_TOUCH_H
#define CUPILOT_PTX_TOUCH_H

#include "cupilot/Ptx/Module.h"

namespace cupilot::ptx {

/// Bytes that one bit stands for.
constexpr uint64_t TouchGranule = 64;
/// Ranges in the table at most.
constexpr unsigned MostTouchRanges = 254;
/// The module's variable that holds the table: a TouchHeader, then a TouchRange
/// for each range.
constexpr const char *TouchTableName = "cupilot_touch_table";
/// What the kernel is called in the copy, so that nobody takes it for the
/// program's.
constexpr const char *TouchKernelName = "cupilot_touch_kernel";

struct TouchHeader {
  uint64_t Stop = 0;  ///< Not 0: threads end at their next access.
  uint64_t Count = 0; ///< Of ranges.
  /// An address in no range that would have been read; one that would have
  /// been written. 0: there was none.
  uint64_t ForeignRead = 0, ForeignWrite = 0;
};
struct TouchRange {
  uint64_t Begin = 0, End = 0; ///< Device addresses.
  /// Device addresses of the bitmaps. Bit 0 stands for the granule of Begin,
  /// that is from Begin rounded down; 0: nothing is marked.
  uint64_t Reads = 0, Writes = 0;
};

struct MarkedKernel {
  std::string Text; ///< A module.
  /// Its variables in global and constant memory, all visible. Their contents
  /// are those that the program's had when it started.
  std::vector<std::string> Variables;
};

/// The copy of \p Kernel with all that it calls. Nothing, with the reason in
/// \p Why, for one that touches memory in a way that is not marked (textures,
/// tensor maps, matrices loaded from global memory), prints, allocates, or uses
/// functions or variables of other units.
std::optional<MarkedKernel>
markAccesses(const Module &M, std::string_view Kernel, std::string &Why);

} // namespace cupilot::ptx

#endif // CUPILOT_PTX_TOUCH_H
