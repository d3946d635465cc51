//===- DeviceAllocations.cpp - The memory of the one device -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "cupilot/Roofline/CostModel.h"
#include "llvm/Support/Error.h"
#include <cstdlib>
#include <cstring>
#include <unistd.h>

using namespace cupilot;

/// Alignment of cudaMalloc on an H200. The CUDA C++ Programming Guide promises
/// 256 ("Device Memory Accesses").
static constexpr size_t MallocAlignment = 512;
/// Room after an allocation, so that an access past its end never falls into a
/// neighbour.
static constexpr size_t Gap = 4096;

/// Memory that this machine has, in bytes: no allocation can be larger.
static size_t machineMemory() {
  return static_cast<size_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

cudaError_t Device::allocate(void **Pointer, size_t Size, MemoryKind Kind,
                             unsigned Flags) {
  if (!Pointer)
    return cudaErrorInvalidValue;
  *Pointer = nullptr;
  if (Size == 0)
    return cudaSuccess;
  std::lock_guard Lock(Mutex);
  void *Base = nullptr;
  if (Size > machineMemory() - std::min(Used, machineMemory()) ||
      ::posix_memalign(&Base, MallocAlignment, Size + Gap) != 0)
    return cudaErrorMemoryAllocation;
  // Device memory is not cleared; a NaN pattern shows who thinks it is.
  std::memset(Base, Kind == MemoryKind::Device ? 0xff : 0, Size);
  Allocations[static_cast<char *>(Base)] = {Size, Kind, Flags};
  Sizes[static_cast<char *>(Base)] = Size;
  Used += Size;
  Memory->addBuffer(Base, Size);
  if (Kind == MemoryKind::Device)
    Memory->setWritten(Base, Size, false);
  *Pointer = Base;
  return cudaSuccess;
}

cudaError_t Device::release(void *Pointer, bool OfHost) {
  if (!Pointer)
    return cudaSuccess;
  std::lock_guard Lock(Mutex);
  auto It = Allocations.find(static_cast<char *>(Pointer));
  if (It == Allocations.end() || It->second.Kind == MemoryKind::Registered ||
      (It->second.Kind == MemoryKind::Host) != OfHost)
    return cudaErrorInvalidValue;
  if (It->second.Flags & OwnedByGraph)
    return cudaSuccess;
  Memory->freeBuffer(Pointer);
  Used -= It->second.Size;
  Allocations.erase(It);
  Sizes.erase(static_cast<char *>(Pointer));
  return cudaSuccess;
}

cudaError_t Device::registerHost(void *Pointer, size_t Size, unsigned Flags) {
  if (!Pointer || Size == 0)
    return cudaErrorInvalidValue;
  std::lock_guard Lock(Mutex);
  if (find(Pointer).first ||
      find(static_cast<char *>(Pointer) + Size - 1).first)
    return cudaErrorHostMemoryAlreadyRegistered;
  Allocations[static_cast<char *>(Pointer)] = {Size, MemoryKind::Registered,
                                               Flags};
  Sizes[static_cast<char *>(Pointer)] = Size;
  Memory->addBuffer(Pointer, Size);
  return cudaSuccess;
}

cudaError_t Device::unregisterHost(void *Pointer) {
  std::lock_guard Lock(Mutex);
  auto It = Allocations.find(static_cast<char *>(Pointer));
  if (It == Allocations.end() || It->second.Kind != MemoryKind::Registered)
    return cudaErrorHostMemoryNotRegistered;
  Memory->removeBuffer(Pointer);
  Allocations.erase(It);
  Sizes.erase(static_cast<char *>(Pointer));
  return cudaSuccess;
}

std::pair<char *, Allocation> Device::find(const void *Pointer) {
  std::lock_guard Lock(Mutex);
  char *Address = const_cast<char *>(static_cast<const char *>(Pointer));
  auto It = Allocations.upper_bound(Address);
  if (It == Allocations.begin())
    return {nullptr, {}};
  --It;
  if (static_cast<size_t>(Address - It->first) >= It->second.Size)
    return {nullptr, {}};
  return *It;
}

bool Device::holds(const void *Pointer, size_t Size, bool MustBeKnown) {
  auto Buffer = Memory->find(Pointer);
  if (!Buffer)
    return !MustBeKnown;
  size_t Offset = static_cast<size_t>(static_cast<const char *>(Pointer) -
                                      static_cast<const char *>(Buffer->Base));
  return Size <= Buffer->Size - Offset;
}

void Device::setLimits(size_t HeapBytes, size_t PrintBytes, size_t StackBytes) {
  std::lock_guard Lock(Mutex);
  Memory->Limits.HeapBytes = HeapBytes;
  Memory->Limits.PrintBytes = PrintBytes;
  // No GPU gives a thread more than this.
  Memory->Limits.StackBytes = std::min<size_t>(StackBytes, 512 << 10);
}

void Device::memoryInfo(size_t *Free, size_t *Total) {
  std::lock_guard Lock(Mutex);
  if (Total)
    *Total = DeviceBytes;
  if (Free)
    *Free = std::min(machineMemory(), DeviceBytes) -
            std::min(Used, std::min(machineMemory(), DeviceBytes));
}

void Device::reset() {
  std::lock_guard Lock(Mutex);
  flushOutput();
  for (auto &M : Modules)
    unload(*M);
  for (auto &[Base, Block] : Allocations) {
    if (Block.Kind == MemoryKind::Registered)
      Memory->removeBuffer(Base);
    else
      Memory->freeBuffer(Base);
  }
  Allocations.clear();
  Sizes.clear();
  Used = 0;
  // The process gets no new context after a fault (seen on an H200).
  if (Sticky != cudaSuccess)
    Sticky = cudaErrorDevicesUnavailable;
}

void Device::copy(void *To, const void *From, size_t Size) {
  std::lock_guard Lock(Mutex);
  std::memmove(To, From, Size);
  Memory->copyWritten(To, From, Size);
}

void Device::fill(void *To, unsigned Value, unsigned ElementSize,
                  size_t Count) {
  std::lock_guard Lock(Mutex);
  Memory->setWritten(To, Count * ElementSize);
  if (ElementSize == 1) {
    std::memset(To, static_cast<int>(Value), Count);
    return;
  }
  for (size_t I = 0; I < Count; ++I)
    std::memcpy(static_cast<char *>(To) + I * ElementSize, &Value, ElementSize);
}
