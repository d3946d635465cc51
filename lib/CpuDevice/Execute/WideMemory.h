//===- WideMemory.h - What floats in memory were before rounding -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_EXECUTE_WIDEMEMORY_H
#define CUPILOT_LIB_CPUDEVICE_EXECUTE_WIDEMEMORY_H

#include "Abi/ThreadContext.h"
#include "cupilot/CpuDevice/CpuDevice.h"
#include "llvm/ADT/DenseMap.h"
#include <array>
#include <mutex>
#include <shared_mutex>

namespace cupilot {

/// The float64 values of one launch's global memory: one slot for each two
/// bytes, in pages that cost nothing until they are touched. Memory itself
/// keeps its types; a slot counts only as long as it still rounds to what
/// memory holds, so that whatever else writes there need not know of it.
/// Thread-safe.
class WideMemory {
public:
  explicit WideMemory(DeviceMemory &Memory) : Memory(Memory) {}
  ~WideMemory();
  WideMemory(const WideMemory &) = delete;
  WideMemory &operator=(const WideMemory &) = delete;

  /// A run of memory and its slots.
  struct Range {
    uint64_t Base = 0, Size = 0; ///< Bytes.
    double *Slots = nullptr;
  };
  /// The buffer around \p Address; without slots when there is none.
  Range rangeOf(uint64_t Address);
  /// Held while an atomic operation changes memory and slot together.
  std::mutex Atomics;

private:
  DeviceMemory &Memory;
  std::shared_mutex Mutex;
  llvm::DenseMap<uint64_t, Range> Ranges;
};

/// One executor's view: the launch's slots, those of the block's shared memory
/// and those of its threads' local variables.
class WideBlock {
public:
  explicit WideBlock(WideMemory &Launch) : Launch(Launch) {}
  /// Where the block's shared memory lies now, \p Size bytes.
  void setShared(const char *Base, uint64_t Size);
  double load(uint64_t Address, double Narrow, FloatFormat Format);
  void store(uint64_t Address, double Value);
  /// Takes the slots along when bytes are copied.
  void copy(uint64_t To, uint64_t From, uint64_t Size);
  std::mutex &atomics() { return Launch.Atomics; }

private:
  double *find(uint64_t Address);

  WideMemory &Launch;
  std::array<WideMemory::Range, 4> Known;
  unsigned Oldest = 0;
  WideMemory::Range Shared;
  std::vector<double> SharedSlots;
  llvm::DenseMap<uint64_t, double> Local;
};

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_EXECUTE_WIDEMEMORY_H
