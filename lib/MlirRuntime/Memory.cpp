//===- Memory.cpp - Memory of MLIR programs -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "MemRef.h"
#include <iterator>
#include <map>
#include <mutex>
#include <set>

using namespace cupilot::mgpu;

static CUdeviceptr address(const void *Memory) {
  return reinterpret_cast<CUdeviceptr>(Memory);
}

// Memory of a stream comes from the device's pool, in the order of the stream:
// to free it waits for nothing, and the next allocation finds it.
static std::mutex PooledLock;
static std::set<void *> Pooled;

/// Has the pool of \p Device keep 64 MiB when the program waits for the device,
/// where the program has not said what it is to keep. With nothing, which is
/// the default, each allocation after that maps memory anew.
static void keepPooled(int Device) {
  const DriverTable &D = driver();
  CUdevice Handle = 0;
  CUmemoryPool Pool = nullptr;
  cuuint64_t Bytes = 0;
  if (!D.cuDeviceGetDefaultMemPool || !D.cuMemPoolGetAttribute ||
      !D.cuMemPoolSetAttribute || D.cuDeviceGet(&Handle, Device) ||
      D.cuDeviceGetDefaultMemPool(&Pool, Handle) ||
      D.cuMemPoolGetAttribute(Pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
                              &Bytes) ||
      Bytes)
    return;
  Bytes = cuuint64_t(64) << 20;
  D.cuMemPoolSetAttribute(Pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &Bytes);
}

/// Memory in the order of \p Stream; null where the device has no pool, or not
/// so much in it.
static void *allocatePooled(uint64_t Size, CUstream Stream) {
  const DriverTable &D = driver();
  if (!Stream || !D.cuMemAllocAsync || !D.cuMemFreeAsync)
    return nullptr;
  static std::set<int> Kept;
  const int Device = defaultDevice();
  std::lock_guard<std::mutex> Guard(PooledLock);
  if (Kept.insert(Device).second)
    keepPooled(Device);
  CUdeviceptr Address = 0;
  if (D.cuMemAllocAsync(&Address, Size, Stream) != CUDA_SUCCESS)
    return nullptr;
  void *Memory = reinterpret_cast<void *>(Address);
  Pooled.insert(Memory);
  return Memory;
}

CUPILOT_MGPU void *mgpuMemAlloc(uint64_t Size, CUstream Stream,
                                bool HostShared) {
  if (Size == 0) // The driver refuses it.
    return nullptr;
  ActiveContext Active;
  if (!HostShared)
    if (void *Memory = allocatePooled(Size, Stream))
      return Memory;
  CUdeviceptr Memory = 0;
  CUresult E = HostShared ? driver().cuMemAllocManaged(&Memory, Size,
                                                       CU_MEM_ATTACH_GLOBAL)
                          : driver().cuMemAlloc_v2(&Memory, Size);
  if (E != CUDA_SUCCESS)
    fail(E, "mgpuMemAlloc: " + std::to_string(Size) + " bytes");
  return reinterpret_cast<void *>(Memory);
}

CUPILOT_MGPU void mgpuMemFree(void *Memory, CUstream Stream) {
  if (!Memory)
    return;
  ActiveContext Active;
  bool IsPooled = false;
  {
    std::lock_guard<std::mutex> Guard(PooledLock);
    IsPooled = Pooled.erase(Memory) != 0;
  }
  if (IsPooled) {
    if (CUresult E = driver().cuMemFreeAsync(address(Memory), Stream))
      fail(E, "mgpuMemFree");
    return;
  }
  // Freeing is not in the stream's order.
  if (Stream)
    if (CUresult E = driver().cuStreamSynchronize(Stream))
      fail(E, "mgpuMemFree: the work before it");
  if (CUresult E = driver().cuMemFree_v2(address(Memory)))
    fail(E, "mgpuMemFree");
}

CUPILOT_MGPU void mgpuMemcpy(void *To, void *From, size_t Size,
                             CUstream Stream) {
  if (Size == 0)
    return;
  ActiveContext Active;
  if (CUresult E =
          driver().cuMemcpyAsync(address(To), address(From), Size, Stream))
    fail(E, "mgpuMemcpy: " + std::to_string(Size) + " bytes");
}

CUPILOT_MGPU void mgpuMemset32(void *Memory, uint32_t Value, size_t Count,
                               CUstream Stream) {
  if (Count == 0)
    return;
  ActiveContext Active;
  if (CUresult E =
          driver().cuMemsetD32Async(address(Memory), Value, Count, Stream))
    fail(E, "mgpuMemset32: " + std::to_string(Count) + " words");
}

CUPILOT_MGPU void mgpuMemset16(void *Memory, uint16_t Value, size_t Count,
                               CUstream Stream) {
  if (Count == 0)
    return;
  ActiveContext Active;
  if (CUresult E =
          driver().cuMemsetD16Async(address(Memory), Value, Count, Stream))
    fail(E, "mgpuMemset16: " + std::to_string(Count) + " half words");
}

// Memory of the host that kernels access under its own address. Memrefs may
// share it: what lies in a registered range is registered, and the range stays
// until all of them are unregistered.
namespace {
struct HostRange {
  char *Base;
  uint64_t Size;
  unsigned Uses;

  bool holds(const char *Start, uint64_t Bytes) const {
    return Start >= Base && Start + Bytes <= Base + Size;
  }
};
} // namespace

static std::mutex RangesLock;
static std::map<char *, HostRange> Ranges;

static HostRange *rangeOf(char *Start, uint64_t Bytes) {
  auto After = Ranges.upper_bound(Start);
  if (After == Ranges.begin())
    return nullptr;
  HostRange &Range = std::prev(After)->second;
  return Range.holds(Start, Bytes) ? &Range : nullptr;
}

CUPILOT_MGPU void mgpuMemHostRegister(void *Memory, uint64_t Size) {
  if (Size == 0)
    return;
  char *Start = static_cast<char *>(Memory);
  std::lock_guard<std::mutex> Guard(RangesLock);
  if (HostRange *Range = rangeOf(Start, Size)) {
    ++Range->Uses;
    return;
  }
  ActiveContext Active;
  if (CUresult E = driver().cuMemHostRegister_v2(
          Memory, Size,
          CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP))
    fail(E, "mgpuMemHostRegister: " + std::to_string(Size) + " bytes",
         E == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED
             ? "a part of them is registered: register the whole buffer, or "
               "unregister the part before"
             : "");
  Ranges[Start] = {Start, Size, 1};
}

CUPILOT_MGPU void mgpuMemHostUnregister(void *Memory) {
  char *Start = static_cast<char *>(Memory);
  std::lock_guard<std::mutex> Guard(RangesLock);
  HostRange *Range = rangeOf(Start, 1);
  if (!Range)
    fail("mgpuMemHostUnregister: the memory is not registered",
         "gpu.host_register must come before gpu.host_unregister");
  if (--Range->Uses)
    return;
  ActiveContext Active;
  if (CUresult E = driver().cuMemHostUnregister(Range->Base))
    fail(E, "mgpuMemHostUnregister");
  Ranges.erase(Range->Base);
}

/// The bytes from the first to the last element of a memref, whatever lies
/// between them.
static std::pair<char *, uint64_t> bytesOf(const MemRef &M, int64_t Rank,
                                           int64_t ElementSize) {
  int64_t First = 0, Last = 0;
  for (int64_t Dim = 0; Dim < Rank; ++Dim) {
    if (M.size(Dim) <= 0)
      return {nullptr, 0};
    int64_t Step = (M.size(Dim) - 1) * M.stride(Dim, Rank);
    (Step < 0 ? First : Last) += Step;
  }
  return {M.data(ElementSize) + First * ElementSize,
          static_cast<uint64_t>((Last - First + 1) * ElementSize)};
}

CUPILOT_MGPU void mgpuMemHostRegisterMemRef(int64_t Rank, MemRef *M,
                                            int64_t ElementSize) {
  auto [Start, Size] = bytesOf(*M, Rank, ElementSize);
  mgpuMemHostRegister(Start, Size);
}

CUPILOT_MGPU void mgpuMemHostUnregisterMemRef(int64_t Rank, MemRef *M,
                                              int64_t ElementSize) {
  auto [Start, Size] = bytesOf(*M, Rank, ElementSize);
  if (Size)
    mgpuMemHostUnregister(Start);
}
