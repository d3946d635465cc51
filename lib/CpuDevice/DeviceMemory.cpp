//===- DeviceMemory.cpp - Memory that device code may touch -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/CpuDevice/CpuDevice.h"
#include <map>
#include <mutex>
#include <shared_mutex>

using namespace llvm;

namespace cupilot {

DeviceMemory::~DeviceMemory() = default;

namespace {
/// Buffers by address. Launches look up from several threads.
class BufferMap : public DeviceMemory {
public:
  void addBuffer(void *Base, uint64_t Size, bool ReadOnly) override {
    std::unique_lock Lock(Mutex);
    Buffers[reinterpret_cast<uintptr_t>(Base)] = {Size, ReadOnly};
  }
  void removeBuffer(void *Base) override {
    std::unique_lock Lock(Mutex);
    Buffers.erase(reinterpret_cast<uintptr_t>(Base));
  }
  void freeBuffer(void *Base) override {
    removeBuffer(Base);
    std::free(Base);
  }
  void setWritten(const void *, uint64_t, bool) override {}
  void copyWritten(void *, const void *, uint64_t) override {}
  std::optional<BufferCoverage> coverage(const void *) const override {
    return std::nullopt;
  }
  void resetCoverage() override {}
  std::vector<DeviceHeapBlock> deviceHeap() const override { return {}; }
  uint64_t checkMemory() const override { return 0; }
  std::optional<DeviceBuffer> find(const void *Address) const override {
    std::shared_lock Lock(Mutex);
    auto Value = reinterpret_cast<uintptr_t>(Address);
    auto It = Buffers.upper_bound(Value);
    if (It == Buffers.begin())
      return std::nullopt;
    --It;
    if (Value - It->first >= It->second.Size)
      return std::nullopt;
    return DeviceBuffer{reinterpret_cast<void *>(It->first), It->second.Size,
                        It->second.ReadOnly};
  }
  std::optional<DeviceBuffer> nearest(const void *Address) const override {
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

private:
  struct Entry {
    uint64_t Size;
    bool ReadOnly;
  };
  mutable std::shared_mutex Mutex;
  std::map<uintptr_t, Entry> Buffers;
};
} // namespace

std::unique_ptr<DeviceMemory> DeviceMemory::create() {
  return std::make_unique<BufferMap>();
}

} // namespace cupilot
