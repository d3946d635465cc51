//===- DeviceHeap.cpp - malloc of device code -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/CpuDevice/CpuDevice.h"
#include "llvm/ADT/DenseMap.h"
#include <cstdlib>
#include <mutex>

using namespace llvm;

namespace cupilot {

struct DeviceHeap::State {
  std::mutex Mutex;
  DenseMap<void *, uint64_t> Sizes;
  uint64_t Used = 0;
};

/// What an allocation takes beside its bytes, so that a flood of small ones
/// ends too.
static constexpr uint64_t Header = 16;

DeviceHeap::DeviceHeap() : S(std::make_unique<State>()) {}

DeviceHeap::~DeviceHeap() {
  for (auto [Pointer, Size] : S->Sizes)
    std::free(Pointer);
}

void *DeviceHeap::allocate(uint64_t Size, uint64_t Limit) {
  std::lock_guard Lock(S->Mutex);
  if (Size == 0 || Size > Limit || Limit - Size < S->Used + Header)
    return nullptr;
  void *Pointer = std::malloc(Size);
  if (!Pointer)
    return nullptr;
  S->Sizes[Pointer] = Size;
  S->Used += Size + Header;
  return Pointer;
}

bool DeviceHeap::release(void *Pointer) {
  std::lock_guard Lock(S->Mutex);
  auto It = S->Sizes.find(Pointer);
  if (It == S->Sizes.end())
    return false;
  S->Used -= It->second + Header;
  S->Sizes.erase(It);
  return true;
}

} // namespace cupilot
