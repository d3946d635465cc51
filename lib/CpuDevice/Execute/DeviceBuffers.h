//===- DeviceBuffers.h - Memory that device code may touch -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_EXECUTE_DEVICEBUFFERS_H
#define CUPILOT_LIB_CPUDEVICE_EXECUTE_DEVICEBUFFERS_H

#include "Abi/ShadowWords.h"
#include "cupilot/CpuDevice/CpuDevice.h"
#include <deque>
#include <map>
#include <shared_mutex>

namespace cupilot {

/// Buffers by address, with their shadow where checks asked for it. Launches
/// look up from several threads.
class DeviceBuffers : public DeviceMemory {
public:
  ~DeviceBuffers() override;
  void addBuffer(void *Base, uint64_t Size, bool ReadOnly) override;
  void removeBuffer(void *Base) override;
  void freeBuffer(void *Base) override;
  void setWritten(const void *Start, uint64_t Size, bool Written) override;
  void copyWritten(void *To, const void *From, uint64_t Size) override;
  std::optional<BufferCoverage> coverage(const void *Base) const override;
  void resetCoverage() override;
  std::vector<DeviceHeapBlock> deviceHeap() const override;
  DeviceHeapUse heapUse() const override;
  uint64_t checkMemory() const override;
  std::optional<DeviceBuffer> find(const void *Address) const override;
  std::optional<DeviceBuffer> nearest(const void *Address) const override;

  /// The buffer at \p Address and what to add to four times an address (its two
  /// lowest bits cleared) to get its granule; made when it is not there yet.
  struct Shadowed {
    DeviceBuffer Buffer;
    uint64_t Offset = 0; ///< 0: there was no memory for it.
  };
  std::optional<Shadowed> findShadowed(const void *Address);
  /// The removed buffer in which \p Address lies, while no other does.
  std::optional<DeviceBuffer> findFreed(const void *Address) const;

  // What Heap does, for deviceHeap() and the checks.
  void heapAllocated(DeviceHeapBlock Block);
  void heapFreed(void *Base);
  void heapRefused(uint64_t Size, llvm::StringRef Location);

  /// Launches that use shadows hold them; what was removed stays until the last
  /// has ended.
  void beginLaunch();
  void endLaunch();
  /// Takes \p Count segments for a launch and returns the first, or 0 when
  /// there are not so many. Segment 0 is nobody's.
  uint64_t takeSegments(uint64_t Count);
  /// Gives back the end of what was taken last: all from \p First.
  void returnSegments(uint64_t First, uint64_t End);

private:
  struct Entry {
    uint64_t Size = 0;
    bool ReadOnly = false;
    /// Before there is a shadow: bytes that hold nothing; empty: none.
    llvm::BitVector Unwritten;
    Granule *Shadow = nullptr;
    uint64_t Granules = 0;
  };
  using Map = std::map<uintptr_t, Entry>;
  Map::const_iterator at(uintptr_t Address) const;
  static uint64_t firstGranule(uintptr_t Base) { return Base / GranuleBytes; }
  void remove(Map::iterator It);
  bool makeShadow(uintptr_t Base, Entry &E);
  void mark(uintptr_t Base, Entry &E, uint64_t From, uint64_t Size,
            bool Written);
  static bool isUnwritten(uintptr_t Base, const Entry &E, uint64_t Byte);
  void forgetRaces();

  mutable std::shared_mutex Mutex;
  Map Buffers;
  std::map<uintptr_t, uint64_t> Freed; ///< Base to size.
  std::deque<uintptr_t> FreedOrder;
  std::deque<std::pair<void *, uint64_t>> Quarantine;
  uint64_t QuarantineBytes = 0, ShadowBytes = 0;
  std::map<uintptr_t, DeviceHeapBlock> HeapBlocks;
  /// Bytes that a thread holds now, and at its peak; by block and thread.
  struct ThreadHeap {
    uint64_t Now = 0, Peak = 0;
  };
  using ThreadName = std::array<uint64_t, 6>;
  static ThreadName nameOf(const DeviceHeapBlock &B);
  std::map<ThreadName, ThreadHeap> ThreadHeaps;
  DeviceHeapUse HeapUse;
  uint64_t LargestBlock = 0;
  std::vector<std::pair<Granule *, uint64_t>> Retired;
  unsigned Launches = 0;
  uint64_t NextSegment = 1;
};

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_EXECUTE_DEVICEBUFFERS_H
