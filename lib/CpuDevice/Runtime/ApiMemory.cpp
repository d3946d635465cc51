//===- ApiMemory.cpp - Allocation and unified addressing -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Api.h"
#include "Work.h"
#include <cstring>

using namespace cupilot;

CUPILOT_API cudaError_t cudaMalloc(void **Pointer, size_t Size) {
  if (cudaError_t E = checked())
    return E;
  return checked(Device::get().allocate(Pointer, Size, MemoryKind::Device));
}
CUPILOT_API cudaError_t cudaMallocManaged(void **Pointer, size_t Size,
                                          unsigned Flags) {
  if (cudaError_t E = checked())
    return E;
  if (Flags != cudaMemAttachGlobal && Flags != cudaMemAttachHost)
    return checked(cudaErrorInvalidValue);
  return checked(Device::get().allocate(Pointer, Size, MemoryKind::Managed));
}
CUPILOT_API cudaError_t cudaHostAlloc(void **Pointer, size_t Size,
                                      unsigned Flags) {
  if (cudaError_t E = checked())
    return E;
  if (Flags > (cudaHostAllocPortable | cudaHostAllocMapped |
               cudaHostAllocWriteCombined))
    return checked(cudaErrorInvalidValue);
  return checked(
      Device::get().allocate(Pointer, Size, MemoryKind::Host, Flags));
}
CUPILOT_API cudaError_t cudaMallocHost(void **Pointer, size_t Size) {
  return cudaHostAlloc(Pointer, Size, cudaHostAllocDefault);
}
CUPILOT_API cudaError_t cudaMallocPitch(void **Pointer, size_t *Pitch,
                                        size_t Width, size_t Height) {
  if (!Pitch)
    return checked(cudaErrorInvalidValue);
  *Pitch = (Width + 511) / 512 * 512; // As an H200 does.
  return cudaMalloc(Pointer, *Pitch * Height);
}
CUPILOT_API cudaError_t cudaMalloc3D(cudaPitchedPtr *Result,
                                     cudaExtent Extent) {
  if (!Result)
    return checked(cudaErrorInvalidValue);
  *Result = {nullptr, 0, Extent.width, Extent.height};
  return cudaMallocPitch(&Result->ptr, &Result->pitch, Extent.width,
                         Extent.height * Extent.depth);
}
CUPILOT_API cudaError_t cudaFree(void *Pointer) {
  Device::get().flushOutput(); // It synchronises.
  if (cudaError_t E = checked())
    return E;
  return checked(Device::get().release(Pointer, /*OfHost=*/false));
}
CUPILOT_API cudaError_t cudaFreeHost(void *Pointer) {
  if (cudaError_t E = checked())
    return E;
  return checked(Device::get().release(Pointer, /*OfHost=*/true));
}

// Mapped memory.
CUPILOT_API cudaError_t cudaHostGetDevicePointer(void **Pointer, void *Host,
                                                 unsigned Flags) {
  if (!Pointer || Flags != 0)
    return checked(cudaErrorInvalidValue);
  Allocation Block = Device::get().find(Host).second;
  if (Block.Size == 0 || Block.Kind == MemoryKind::Device)
    return checked(cudaErrorInvalidValue);
  *Pointer = Host;
  return checked();
}
CUPILOT_API cudaError_t cudaHostGetFlags(unsigned *Flags, void *Host) {
  Allocation Block = Device::get().find(Host).second;
  if (!Flags || Block.Size == 0 || Block.Kind == MemoryKind::Device)
    return checked(cudaErrorInvalidValue);
  // With unified addressing all pinned memory is mapped.
  *Flags = Block.Flags | cudaHostAllocMapped;
  return checked();
}
CUPILOT_API cudaError_t cudaHostRegister(void *Pointer, size_t Size,
                                         unsigned Flags) {
  return checked(Device::get().registerHost(Pointer, Size, Flags));
}
CUPILOT_API cudaError_t cudaHostUnregister(void *Pointer) {
  return checked(Device::get().unregisterHost(Pointer));
}

// Unified addressing.
CUPILOT_API cudaError_t cudaMemGetInfo(size_t *Free, size_t *Total) {
  Device::get().memoryInfo(Free, Total);
  return checked();
}
CUPILOT_API cudaError_t cudaPointerGetAttributes(
    cudaPointerAttributes *Attributes, const void *Pointer) {
  if (!Attributes)
    return checked(cudaErrorInvalidValue);
  std::memset(Attributes, 0, sizeof(*Attributes));
  auto [Base, Block] = Device::get().find(Pointer);
  void *Address = const_cast<void *>(Pointer);
  if (!Base && !Device::get().holds(Pointer, 1, /*MustBeKnown=*/true)) {
    Attributes->type = cudaMemoryTypeUnregistered;
    Attributes->device = -2; // cudaInvalidDeviceId
    Attributes->hostPointer = Address;
    return checked();
  }
  // What is known but not allocated is a device variable.
  MemoryKind Kind = Base ? Block.Kind : MemoryKind::Device;
  Attributes->type = Kind == MemoryKind::Device    ? cudaMemoryTypeDevice
                     : Kind == MemoryKind::Managed ? cudaMemoryTypeManaged
                                                   : cudaMemoryTypeHost;
  Attributes->devicePointer = Address;
  Attributes->hostPointer = Kind == MemoryKind::Device ? nullptr : Address;
  return checked();
}
CUPILOT_IGNORE(cudaMemPrefetchAsync)
CUPILOT_IGNORE(cudaMemPrefetchAsync_ptsz)
CUPILOT_IGNORE(cudaMemPrefetchAsync_v2)
CUPILOT_IGNORE(cudaMemPrefetchAsync_v2_ptsz)
CUPILOT_IGNORE(cudaMemAdvise)
CUPILOT_IGNORE(cudaMemAdvise_v2)
CUPILOT_IGNORE(cudaStreamAttachMemAsync)
CUPILOT_IGNORE(cudaStreamAttachMemAsync_ptsz)
CUPILOT_IGNORE(cudaCtxResetPersistingL2Cache)

// Memory in the order of a stream.
CUPILOT_API cudaError_t cudaMallocAsync(void **Pointer, size_t Size,
                                        cudaStream_t Stream) {
  if (!isCapturing(Stream))
    return cudaMalloc(Pointer, Size);
  if (cudaError_t E = Device::get().allocate(Pointer, Size, MemoryKind::Device,
                                             OwnedByGraph))
    return checked(E);
  return checked(submit(Stream, AllocWork{*Pointer, Size}));
}
CUPILOT_PTSZ(cudaMallocAsync)
CUPILOT_API cudaError_t cudaFreeAsync(void *Pointer, cudaStream_t Stream) {
  if (isCapturing(Stream)) // The memory stays for the graph's next launch.
    return checked(submit(Stream, FreeWork{Pointer}));
  if (cudaError_t E = checked())
    return E;
  return checked(Device::get().release(Pointer, /*OfHost=*/false));
}
CUPILOT_PTSZ(cudaFreeAsync)

/// A pool's thresholds change no result; what was set is told back.
struct CUmemPoolHandle_st {
  unsigned long long Values[16] = {};
};
static CUmemPoolHandle_st DefaultPool = {
    {0, 1, 1, 1}}; // Reuse is allowed, the release threshold is 0.
static cudaMemPool_t CurrentPool = &DefaultPool;

CUPILOT_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *Pool,
                                                    int Id) {
  if (!Pool || Id != 0)
    return checked(Pool ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
  *Pool = &DefaultPool;
  return checked();
}
CUPILOT_API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *Pool, int Id) {
  if (!Pool || Id != 0)
    return checked(Pool ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
  *Pool = CurrentPool;
  return checked();
}
CUPILOT_API cudaError_t cudaDeviceSetMemPool(int Id, cudaMemPool_t Pool) {
  if (!Pool || Id != 0)
    return checked(Pool ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
  CurrentPool = Pool;
  return checked();
}
CUPILOT_API cudaError_t cudaMemPoolCreate(cudaMemPool_t *Pool,
                                          const cudaMemPoolProps *Properties) {
  if (!Pool || !Properties)
    return checked(cudaErrorInvalidValue);
  *Pool = new CUmemPoolHandle_st(DefaultPool);
  return checked();
}
CUPILOT_API cudaError_t cudaMemPoolDestroy(cudaMemPool_t Pool) {
  if (!Pool || Pool == &DefaultPool)
    return checked(cudaErrorInvalidValue);
  if (CurrentPool == Pool)
    CurrentPool = &DefaultPool;
  delete Pool;
  return checked();
}
CUPILOT_API cudaError_t cudaMallocFromPoolAsync(void **Pointer, size_t Size,
                                                cudaMemPool_t Pool,
                                                cudaStream_t Stream) {
  return Pool ? cudaMallocAsync(Pointer, Size, Stream)
              : checked(cudaErrorInvalidValue);
}
CUPILOT_PTSZ(cudaMallocFromPoolAsync)
/// The first three attributes are ints, the others 64 bits wide.
static bool isNarrow(cudaMemPoolAttr Attribute) {
  return Attribute < cudaMemPoolAttrReleaseThreshold;
}
CUPILOT_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t Pool,
                                                cudaMemPoolAttr Attribute,
                                                void *Value) {
  if (!Pool || !Value || Attribute < 1 || Attribute > 8)
    return checked(cudaErrorInvalidValue);
  Pool->Values[Attribute] = 0;
  std::memcpy(&Pool->Values[Attribute], Value, isNarrow(Attribute) ? 4 : 8);
  return checked();
}
CUPILOT_API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t Pool,
                                                cudaMemPoolAttr Attribute,
                                                void *Value) {
  if (!Pool || !Value || Attribute < 1 || Attribute > 8)
    return checked(cudaErrorInvalidValue);
  std::memcpy(Value, &Pool->Values[Attribute], isNarrow(Attribute) ? 4 : 8);
  return checked();
}
CUPILOT_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t Pool, size_t) {
  return checked(Pool ? cudaSuccess : cudaErrorInvalidValue);
}
CUPILOT_API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t Pool,
                                             const cudaMemAccessDesc *,
                                             size_t) {
  return checked(Pool ? cudaSuccess : cudaErrorInvalidValue);
}
CUPILOT_API cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags *Flags,
                                             cudaMemPool_t Pool,
                                             cudaMemLocation *) {
  if (!Flags || !Pool)
    return checked(cudaErrorInvalidValue);
  *Flags = cudaMemAccessFlagsProtReadWrite;
  return checked();
}
CUPILOT_REFUSE(cudaMemPoolExportToShareableHandle)
CUPILOT_REFUSE(cudaMemPoolImportFromShareableHandle)
CUPILOT_REFUSE(cudaMemPoolExportPointer)
CUPILOT_REFUSE(cudaMemPoolImportPointer)
CUPILOT_REFUSE(cudaMemRangeGetAttribute)
CUPILOT_REFUSE(cudaMemRangeGetAttributes)
// Memory of another process.
CUPILOT_REFUSE(cudaIpcGetMemHandle)
CUPILOT_REFUSE(cudaIpcOpenMemHandle)
CUPILOT_REFUSE(cudaIpcCloseMemHandle)
CUPILOT_REFUSE(cudaIpcGetEventHandle)
CUPILOT_REFUSE(cudaIpcOpenEventHandle)
CUPILOT_REFUSE(cudaImportExternalMemory)
CUPILOT_REFUSE(cudaImportExternalSemaphore)
