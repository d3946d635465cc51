//===- Counting.h - Traces of warps -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_EXECUTE_COUNTING_H
#define CUPILOT_LIB_CPUDEVICE_EXECUTE_COUNTING_H

#include "Abi/LoweredModule.h"
#include "cupilot/Model/ExecutionCounts.h"
#include "llvm/ADT/DenseMap.h"

namespace cupilot {

/// Gathers the accesses of one block and turns them into counts. The n-th time
/// that a thread runs an instruction belongs to the n-th time of the other
/// lanes: that is how a warp access is put together, in whatever order the
/// threads run.
class WarpTrace {
public:
  WarpTrace(const LoweredModule &Tables, const LoweredKernel &Kernel)
      : Tables(Tables), Kernel(Kernel) {}

  void beginBlock(unsigned Threads);
  void access(unsigned Thread, unsigned Site, uint64_t Address, uint64_t Size,
              AccessSpace Space);
  void barrier(unsigned Thread);
  /// The counters of \p Thread's basic blocks.
  uint64_t *blockCounts(unsigned Thread) {
    return &Blocks[uint64_t(Thread) * stride()];
  }
  void endBlock();

  ExecutionCounts Counts;
  enum SectorUse : uint8_t { Read = 1, Written = 2 };
  /// Touched in global memory, and how.
  llvm::DenseMap<uint64_t, uint8_t> Sectors;
  /// Atomics of threads on sectors of global memory.
  llvm::DenseMap<uint64_t, uint64_t> Atomics;

private:
  /// Counters of a thread: those of functions, then the kernel's.
  uint64_t stride() const { return Tables.FunctionBlocks + Kernel.NumBlocks; }
  /// One memory instruction executed by one warp, once.
  struct WarpAccess {
    AccessSpace Space = AccessSpace::Generic;
    uint32_t Lanes = 0;
    std::array<uint64_t, 32> Address;
    uint64_t Size = 0;
  };
  void settle(const WarpAccess &Access, const AccessSite &Site);

  const LoweredModule &Tables;
  const LoweredKernel &Kernel;
  unsigned Threads = 0;
  std::vector<uint64_t> Blocks;      ///< [thread][basic block].
  std::vector<uint32_t> Occurrences; ///< [thread][site].
  std::vector<std::vector<std::vector<WarpAccess>>>
      Accesses; ///< [warp][site][occurrence].
};

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_EXECUTE_COUNTING_H
