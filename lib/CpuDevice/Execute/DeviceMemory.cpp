//===- DeviceMemory.cpp - Memory that device code may touch -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceBuffers.h"
#include <mutex>

using namespace llvm;

namespace cupilot {

/// Freed memory that is kept from reuse, in bytes, and how many freed buffers
/// are remembered.
static constexpr uint64_t QuarantineLimit = 64u << 20;
static constexpr size_t FreedLimit = 1u << 16;

DeviceMemory::~DeviceMemory() = default;

std::unique_ptr<DeviceMemory> DeviceMemory::create() {
  return std::make_unique<DeviceBuffers>();
}

DeviceBuffers::~DeviceBuffers() {
  for (auto &[Base, E] : Buffers)
    std::free(E.Shadow);
  for (auto [Shadow, Bytes] : Retired)
    std::free(Shadow);
  for (auto [Base, Size] : Quarantine)
    std::free(Base);
}

DeviceBuffers::Map::const_iterator DeviceBuffers::at(uintptr_t Address) const {
  auto It = Buffers.upper_bound(Address);
  if (It == Buffers.begin())
    return Buffers.end();
  --It;
  return Address - It->first < It->second.Size ? It : Buffers.end();
}

void DeviceBuffers::addBuffer(void *Pointer, uint64_t Size, bool ReadOnly) {
  std::unique_lock Lock(Mutex);
  auto Base = reinterpret_cast<uintptr_t>(Pointer);
  if (auto It = Buffers.find(Base); It != Buffers.end()) {
    if (It->second.Size == Size) {
      It->second.ReadOnly = ReadOnly;
      return;
    }
    remove(It);
  }
  Buffers[Base] = {Size, ReadOnly, {}, nullptr, 0};
  // What was freed in this place is no longer there to be misused.
  auto Old = Freed.lower_bound(Base);
  if (Old != Freed.begin() &&
      std::prev(Old)->first + std::prev(Old)->second > Base)
    --Old;
  while (Old != Freed.end() && Old->first < Base + Size)
    Old = Freed.erase(Old);
}

void DeviceBuffers::remove(Map::iterator It) {
  Entry &E = It->second;
  if (E.Shadow) {
    if (Launches == 0) {
      ShadowBytes -= E.Granules * sizeof(Granule);
      std::free(E.Shadow);
    } else {
      Retired.push_back({E.Shadow, E.Granules * sizeof(Granule)});
    }
  }
  if (E.Size > 0) {
    Freed[It->first] = E.Size;
    FreedOrder.push_back(It->first);
    if (FreedOrder.size() > FreedLimit) {
      Freed.erase(FreedOrder.front());
      FreedOrder.pop_front();
    }
  }
  Buffers.erase(It);
}

void DeviceBuffers::removeBuffer(void *Base) {
  std::unique_lock Lock(Mutex);
  auto It = Buffers.find(reinterpret_cast<uintptr_t>(Base));
  if (It != Buffers.end())
    remove(It);
}

void DeviceBuffers::freeBuffer(void *Base) {
  if (!Base)
    return;
  std::unique_lock Lock(Mutex);
  uint64_t Size = 0;
  if (auto It = Buffers.find(reinterpret_cast<uintptr_t>(Base));
      It != Buffers.end()) {
    Size = It->second.Size;
    remove(It);
  }
  Quarantine.push_back({Base, Size});
  QuarantineBytes += Size;
  while (QuarantineBytes > QuarantineLimit) {
    auto [Oldest, Bytes] = Quarantine.front();
    Quarantine.pop_front();
    QuarantineBytes -= Bytes;
    std::free(Oldest);
  }
}

std::optional<DeviceBuffer> DeviceBuffers::find(const void *Address) const {
  std::shared_lock Lock(Mutex);
  auto It = at(reinterpret_cast<uintptr_t>(Address));
  if (It == Buffers.end())
    return std::nullopt;
  return DeviceBuffer{reinterpret_cast<void *>(It->first), It->second.Size,
                      It->second.ReadOnly};
}

std::optional<DeviceBuffer>
DeviceBuffers::findFreed(const void *Address) const {
  std::shared_lock Lock(Mutex);
  auto Value = reinterpret_cast<uintptr_t>(Address);
  auto It = Freed.upper_bound(Value);
  if (It == Freed.begin())
    return std::nullopt;
  --It;
  if (Value - It->first >= It->second)
    return std::nullopt;
  return DeviceBuffer{reinterpret_cast<void *>(It->first), It->second, false};
}

std::optional<DeviceBuffer> DeviceBuffers::nearest(const void *Address) const {
  std::shared_lock Lock(Mutex);
  if (Buffers.empty())
    return std::nullopt;
  auto Value = reinterpret_cast<uintptr_t>(Address);
  auto It = Buffers.upper_bound(Value);
  if (It == Buffers.end()) {
    --It;
  } else if (It != Buffers.begin()) {
    auto Below = std::prev(It);
    uint64_t End = Below->first + Below->second.Size;
    if (Value < End || Value - End <= It->first - Value)
      It = Below;
  }
  return DeviceBuffer{reinterpret_cast<void *>(It->first), It->second.Size,
                      It->second.ReadOnly};
}

/// What the heap itself keeps for a block, about.
static constexpr uint64_t HeapHeader = 16;

DeviceBuffers::ThreadName DeviceBuffers::nameOf(const DeviceHeapBlock &B) {
  return {B.Block[0],  B.Block[1],  B.Block[2],
          B.Thread[0], B.Thread[1], B.Thread[2]};
}

void DeviceBuffers::heapAllocated(DeviceHeapBlock Block) {
  addBuffer(Block.Base, Block.Size, false);
  setWritten(Block.Base, Block.Size, false);
  std::unique_lock Lock(Mutex);
  ThreadHeap &Own = ThreadHeaps[nameOf(Block)];
  Own.Now += Block.Size + HeapHeader;
  if (Own.Now > Own.Peak) {
    HeapUse.AtOnce += Own.Now - Own.Peak;
    Own.Peak = Own.Now;
  }
  if (!HeapUse.Refused && Block.Size > LargestBlock) {
    LargestBlock = Block.Size;
    HeapUse.Location = Block.Location.empty() ? Block.Kernel : Block.Location;
  }
  HeapBlocks[reinterpret_cast<uintptr_t>(Block.Base)] = std::move(Block);
}

void DeviceBuffers::heapFreed(void *Base) {
  {
    std::unique_lock Lock(Mutex);
    auto It = HeapBlocks.find(reinterpret_cast<uintptr_t>(Base));
    if (It != HeapBlocks.end()) {
      // Whoever frees it, it was held by who asked for it.
      ThreadHeaps[nameOf(It->second)].Now -= It->second.Size + HeapHeader;
      HeapBlocks.erase(It);
    }
  }
  freeBuffer(Base);
}

void DeviceBuffers::heapRefused(uint64_t Size, StringRef Location) {
  std::unique_lock Lock(Mutex);
  if (HeapUse.Refused++ > 0)
    return;
  HeapUse.RefusedBytes = Size;
  HeapUse.Location = Location.str();
}

DeviceHeapUse DeviceBuffers::heapUse() const {
  std::shared_lock Lock(Mutex);
  return HeapUse;
}

std::vector<DeviceHeapBlock> DeviceBuffers::deviceHeap() const {
  std::shared_lock Lock(Mutex);
  std::vector<DeviceHeapBlock> Blocks;
  Blocks.reserve(HeapBlocks.size());
  for (const auto &[Base, Block] : HeapBlocks)
    Blocks.push_back(Block);
  return Blocks;
}

} // namespace cupilot
