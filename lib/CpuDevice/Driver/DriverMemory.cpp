//===- DriverMemory.cpp - Memory, copies and fills of the driver API -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "Runtime/Work.h"
#include <cstring>

using namespace cupilot;

// Allocation.
static CUresult allocated(CUdeviceptr *Result, cudaError_t E, void *Memory) {
  *Result = reinterpret_cast<CUdeviceptr>(Memory);
  return asDriver(E);
}
CUPILOT_DRIVER cuMemGetInfo(size_t *Free, size_t *Total) {
  return asDriver(cudaMemGetInfo(Free, Total));
}
CUPILOT_DRIVER cuMemAlloc(CUdeviceptr *Result, size_t Size) {
  void *Memory = nullptr;
  if (!Result || Size == 0)
    return CUDA_ERROR_INVALID_VALUE;
  cudaError_t E = cudaMalloc(&Memory, Size);
  return allocated(Result, E, Memory);
}
CUPILOT_DRIVER cuMemAllocManaged(CUdeviceptr *Result, size_t Size,
                                 unsigned Flags) {
  void *Memory = nullptr;
  if (!Result || Size == 0)
    return CUDA_ERROR_INVALID_VALUE;
  cudaError_t E = cudaMallocManaged(&Memory, Size, Flags);
  return allocated(Result, E, Memory);
}
CUPILOT_DRIVER cuMemAllocPitch(CUdeviceptr *Result, size_t *Pitch, size_t Width,
                               size_t Height, unsigned) {
  void *Memory = nullptr;
  if (!Result)
    return CUDA_ERROR_INVALID_VALUE;
  cudaError_t E = cudaMallocPitch(&Memory, Pitch, Width, Height);
  return allocated(Result, E, Memory);
}
CUPILOT_DRIVER cuMemAllocAsync(CUdeviceptr *Result, size_t Size,
                               CUstream Stream) {
  void *Memory = nullptr;
  if (!Result)
    return CUDA_ERROR_INVALID_VALUE;
  cudaError_t E = cudaMallocAsync(&Memory, Size, Stream);
  return allocated(Result, E, Memory);
}
CUPILOT_DRIVER_ALIAS(cuMemAllocAsync, cuMemAllocAsync_ptsz)
CUPILOT_DRIVER cuMemFreeAsync(CUdeviceptr Address, CUstream Stream) {
  return asDriver(cudaFreeAsync(pointer(Address), Stream));
}
CUPILOT_DRIVER_ALIAS(cuMemFreeAsync, cuMemFreeAsync_ptsz)
CUPILOT_DRIVER cuMemPoolGetAttribute(CUmemoryPool Pool,
                                     CUmemPool_attribute Attribute,
                                     void *Value) {
  return asDriver(cudaMemPoolGetAttribute(
      Pool, static_cast<cudaMemPoolAttr>(Attribute), Value));
}
CUPILOT_DRIVER cuMemPoolSetAttribute(CUmemoryPool Pool,
                                     CUmemPool_attribute Attribute,
                                     void *Value) {
  return asDriver(cudaMemPoolSetAttribute(
      Pool, static_cast<cudaMemPoolAttr>(Attribute), Value));
}
CUPILOT_DRIVER cuMemFree(CUdeviceptr Address) {
  return asDriver(cudaFree(pointer(Address)));
}
CUPILOT_DRIVER cuMemAllocHost(void **Result, size_t Size) {
  return asDriver(cudaMallocHost(Result, Size));
}
CUPILOT_DRIVER cuMemHostAlloc(void **Result, size_t Size, unsigned Flags) {
  return asDriver(cudaHostAlloc(Result, Size, Flags));
}
CUPILOT_DRIVER cuMemFreeHost(void *Memory) {
  return asDriver(cudaFreeHost(Memory));
}
CUPILOT_DRIVER cuMemHostRegister(void *Memory, size_t Size, unsigned Flags) {
  return asDriver(cudaHostRegister(Memory, Size, Flags));
}
CUPILOT_DRIVER cuMemHostUnregister(void *Memory) {
  return asDriver(cudaHostUnregister(Memory));
}
CUPILOT_DRIVER cuMemHostGetDevicePointer(CUdeviceptr *Result, void *Host,
                                         unsigned Flags) {
  void *Memory = nullptr;
  if (!Result)
    return CUDA_ERROR_INVALID_VALUE;
  cudaError_t E = cudaHostGetDevicePointer(&Memory, Host, Flags);
  return allocated(Result, E, Memory);
}
CUPILOT_DRIVER cuMemHostGetFlags(unsigned *Flags, void *Host) {
  return asDriver(cudaHostGetFlags(Flags, Host));
}
CUPILOT_DRIVER cuMemGetAddressRange(CUdeviceptr *Base, size_t *Size,
                                    CUdeviceptr Address) {
  auto [Start, Block] = Device::get().find(pointer(Address));
  if (!Start)
    return CUDA_ERROR_NOT_FOUND;
  if (Base)
    *Base = reinterpret_cast<CUdeviceptr>(Start);
  if (Size)
    *Size = Block.Size;
  return CUDA_SUCCESS;
}
CUPILOT_DRIVER_SYMBOL(cuMemPrefetchAsync, CUDA_SUCCESS)
CUPILOT_DRIVER_SYMBOL(cuMemPrefetchAsync_ptsz, CUDA_SUCCESS)
CUPILOT_DRIVER_SYMBOL(cuMemPrefetchAsync_v2, CUDA_SUCCESS)
CUPILOT_DRIVER_SYMBOL(cuMemPrefetchAsync_v2_ptsz, CUDA_SUCCESS)
CUPILOT_DRIVER_SYMBOL(cuMemAdvise, CUDA_SUCCESS)
CUPILOT_DRIVER_SYMBOL(cuMemAdvise_v2, CUDA_SUCCESS)
CUPILOT_DRIVER_SYMBOL(cuStreamAttachMemAsync, CUDA_SUCCESS)

/// What a pointer is, as CUDA Driver API, "Unified Addressing" has it.
static CUresult attribute(void *Out, CUpointer_attribute Which,
                          CUdeviceptr Address) {
  void *Pointer = pointer(Address);
  cudaPointerAttributes Is;
  if (cudaError_t E = cudaPointerGetAttributes(&Is, Pointer))
    return asDriver(E);
  bool Known = Is.type != cudaMemoryTypeUnregistered;
  auto [Base, Block] = Device::get().find(Pointer);
  auto Put = [&](auto Value) {
    std::memcpy(Out, &Value, sizeof(Value));
    return Known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  };
  switch (static_cast<int>(Which)) {
  case CU_POINTER_ATTRIBUTE_CONTEXT: {
    CUcontext Current = nullptr;
    cuCtxGetCurrent(&Current);
    return Put(Current);
  }
  case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    return Put(static_cast<unsigned>(Is.type == cudaMemoryTypeHost
                                         ? CU_MEMORYTYPE_HOST
                                         : CU_MEMORYTYPE_DEVICE));
  case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    return Put(Is.devicePointer);
  case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    return Put(Is.hostPointer);
  case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    return Put(static_cast<unsigned>(Is.type == cudaMemoryTypeManaged));
  case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    return Put(0);
  case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    return Put(Base);
  case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    return Put(Block.Size);
  case CU_POINTER_ATTRIBUTE_MAPPED:
    return Put(static_cast<unsigned>(Known));
  default:
    return asDriver(unsupported("this attribute of pointers"));
  }
}
CUPILOT_DRIVER cuPointerGetAttribute(void *Out, CUpointer_attribute Which,
                                     CUdeviceptr Address) {
  return Out ? attribute(Out, Which, Address) : CUDA_ERROR_INVALID_VALUE;
}
CUPILOT_DRIVER cuPointerGetAttributes(unsigned Count,
                                      CUpointer_attribute *Which, void **Out,
                                      CUdeviceptr Address) {
  if (!Which || !Out)
    return CUDA_ERROR_INVALID_VALUE;
  for (unsigned I = 0; I < Count; ++I)
    if (CUresult E = attribute(Out[I], Which[I], Address);
        E != CUDA_SUCCESS && E != CUDA_ERROR_INVALID_VALUE)
      return E;
  return CUDA_SUCCESS; // What is not known is told as null.
}

// Copies. Those that wait show what device printf wrote.
static CUresult copy(void *To, const void *From, size_t Size,
                     cudaMemcpyKind Kind) {
  return asDriver(cudaMemcpy(To, From, Size, Kind));
}
CUPILOT_DRIVER cuMemcpy(CUdeviceptr To, CUdeviceptr From, size_t Size) {
  return copy(pointer(To), pointer(From), Size, cudaMemcpyDefault);
}
CUPILOT_DRIVER_ALIAS(cuMemcpy, cuMemcpy_ptds)
CUPILOT_DRIVER cuMemcpyHtoD(CUdeviceptr To, const void *From, size_t Size) {
  return copy(pointer(To), From, Size, cudaMemcpyHostToDevice);
}
CUPILOT_DRIVER_ALIAS(cuMemcpyHtoD, cuMemcpyHtoD_v2_ptds)
CUPILOT_DRIVER cuMemcpyDtoH(void *To, CUdeviceptr From, size_t Size) {
  return copy(To, pointer(From), Size, cudaMemcpyDeviceToHost);
}
CUPILOT_DRIVER_ALIAS(cuMemcpyDtoH, cuMemcpyDtoH_v2_ptds)
CUPILOT_DRIVER cuMemcpyDtoD(CUdeviceptr To, CUdeviceptr From, size_t Size) {
  return copy(pointer(To), pointer(From), Size, cudaMemcpyDeviceToDevice);
}
CUPILOT_DRIVER_ALIAS(cuMemcpyDtoD, cuMemcpyDtoD_v2_ptds)
CUPILOT_DRIVER cuMemcpyAsync(CUdeviceptr To, CUdeviceptr From, size_t Size,
                             CUstream Stream) {
  return asDriver(cudaMemcpyAsync(pointer(To), pointer(From), Size,
                                  cudaMemcpyDefault, Stream));
}
CUPILOT_DRIVER_ALIAS(cuMemcpyAsync, cuMemcpyAsync_ptsz)
CUPILOT_DRIVER cuMemcpyHtoDAsync(CUdeviceptr To, const void *From, size_t Size,
                                 CUstream Stream) {
  return asDriver(
      cudaMemcpyAsync(pointer(To), From, Size, cudaMemcpyHostToDevice, Stream));
}
CUPILOT_DRIVER_ALIAS(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2_ptsz)
CUPILOT_DRIVER cuMemcpyDtoHAsync(void *To, CUdeviceptr From, size_t Size,
                                 CUstream Stream) {
  return asDriver(
      cudaMemcpyAsync(To, pointer(From), Size, cudaMemcpyDeviceToHost, Stream));
}
CUPILOT_DRIVER_ALIAS(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2_ptsz)
CUPILOT_DRIVER cuMemcpyDtoDAsync(CUdeviceptr To, CUdeviceptr From, size_t Size,
                                 CUstream Stream) {
  return asDriver(cudaMemcpyAsync(pointer(To), pointer(From), Size,
                                  cudaMemcpyDeviceToDevice, Stream));
}
CUPILOT_DRIVER_ALIAS(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2_ptsz)

/// One side of a copy of rows; null for arrays, which there are none of.
static char *side(CUmemorytype Type, const void *Host, CUdeviceptr Device,
                  size_t Offset) {
  if (Type == CU_MEMORYTYPE_ARRAY) {
    unsupported("CUDA arrays");
    return nullptr;
  }
  const void *Base = Type == CU_MEMORYTYPE_HOST ? Host : pointer(Device);
  return static_cast<char *>(const_cast<void *>(Base)) + Offset;
}
static CUresult copyRows(const CUDA_MEMCPY2D *P, CUstream Stream) {
  if (!P)
    return CUDA_ERROR_INVALID_VALUE;
  CopyWork C;
  C.Width = P->WidthInBytes;
  C.Height = P->Height;
  // No pitch is that of one row.
  C.ToPitch = P->dstPitch ? P->dstPitch : C.Width;
  C.FromPitch = P->srcPitch ? P->srcPitch : C.Width;
  C.To = side(P->dstMemoryType, P->dstHost, P->dstDevice,
              P->dstY * C.ToPitch + P->dstXInBytes);
  C.From = side(P->srcMemoryType, P->srcHost, P->srcDevice,
                P->srcY * C.FromPitch + P->srcXInBytes);
  if (!C.To || !C.From)
    return CUDA_ERROR_NOT_SUPPORTED;
  return asDriver(submit(Stream, C));
}
CUPILOT_DRIVER cuMemcpy2DAsync(const CUDA_MEMCPY2D *P, CUstream Stream) {
  return copyRows(P, Stream);
}
CUPILOT_DRIVER_ALIAS(cuMemcpy2DAsync, cuMemcpy2DAsync_v2_ptsz)
CUPILOT_DRIVER cuMemcpy2D(const CUDA_MEMCPY2D *P) {
  CUresult E = copyRows(P, nullptr);
  Device::get().flushOutput();
  return E;
}
CUPILOT_DRIVER_ALIAS(cuMemcpy2D, cuMemcpy2D_v2_ptds)
CUPILOT_DRIVER_ALIAS(cuMemcpy2D, cuMemcpy2DUnaligned_v2)
static CUresult copyPlanes(const CUDA_MEMCPY3D *P, CUstream Stream) {
  if (!P)
    return CUDA_ERROR_INVALID_VALUE;
  CopyWork C;
  C.Width = P->WidthInBytes;
  C.Height = P->Height;
  C.Depth = P->Depth;
  C.ToPitch = P->dstPitch ? P->dstPitch : C.Width;
  C.FromPitch = P->srcPitch ? P->srcPitch : C.Width;
  C.ToSlice = C.ToPitch * (P->dstHeight ? P->dstHeight : C.Height);
  C.FromSlice = C.FromPitch * (P->srcHeight ? P->srcHeight : C.Height);
  C.To = side(P->dstMemoryType, P->dstHost, P->dstDevice,
              P->dstZ * C.ToSlice + P->dstY * C.ToPitch + P->dstXInBytes);
  C.From = side(P->srcMemoryType, P->srcHost, P->srcDevice,
                P->srcZ * C.FromSlice + P->srcY * C.FromPitch + P->srcXInBytes);
  if (!C.To || !C.From)
    return CUDA_ERROR_NOT_SUPPORTED;
  return asDriver(submit(Stream, C));
}
CUPILOT_DRIVER cuMemcpy3DAsync(const CUDA_MEMCPY3D *P, CUstream Stream) {
  return copyPlanes(P, Stream);
}
CUPILOT_DRIVER_ALIAS(cuMemcpy3DAsync, cuMemcpy3DAsync_v2_ptsz)
CUPILOT_DRIVER cuMemcpy3D(const CUDA_MEMCPY3D *P) {
  CUresult E = copyPlanes(P, nullptr);
  Device::get().flushOutput();
  return E;
}
CUPILOT_DRIVER_ALIAS(cuMemcpy3D, cuMemcpy3D_v2_ptds)

// Fills.
static CUresult fill(CUdeviceptr To, size_t Pitch, unsigned Value,
                     unsigned Element, size_t Width, size_t Height,
                     CUstream Stream) {
  if (To % Element != 0 || Pitch % Element != 0)
    return CUDA_ERROR_INVALID_VALUE;
  FillWork F;
  F.To = static_cast<char *>(pointer(To));
  F.Pitch = Pitch;
  F.Value = Value;
  F.ElementSize = Element;
  F.Width = Width;
  F.Height = Height;
  return asDriver(submit(Stream, F));
}
#define CUPILOT_FILL(BITS, TYPE)                                               \
  CUPILOT_DRIVER cuMemsetD##BITS(CUdeviceptr To, TYPE Value, size_t Count) {   \
    return fill(To, Count * (BITS / 8), Value, BITS / 8, Count, 1, nullptr);   \
  }                                                                            \
  CUPILOT_DRIVER_ALIAS(cuMemsetD##BITS, cuMemsetD##BITS##_v2_ptds)             \
  CUPILOT_DRIVER cuMemsetD##BITS##Async(CUdeviceptr To, TYPE Value,            \
                                        size_t Count, CUstream Stream) {       \
    return fill(To, Count * (BITS / 8), Value, BITS / 8, Count, 1, Stream);    \
  }                                                                            \
  CUPILOT_DRIVER_ALIAS(cuMemsetD##BITS##Async, cuMemsetD##BITS##Async_ptsz)    \
  CUPILOT_DRIVER cuMemsetD2D##BITS(CUdeviceptr To, size_t Pitch, TYPE Value,   \
                                   size_t Width, size_t Height) {              \
    return fill(To, Pitch, Value, BITS / 8, Width, Height, nullptr);           \
  }                                                                            \
  CUPILOT_DRIVER_ALIAS(cuMemsetD2D##BITS, cuMemsetD2D##BITS##_v2_ptds)         \
  CUPILOT_DRIVER cuMemsetD2D##BITS##Async(CUdeviceptr To, size_t Pitch,        \
                                          TYPE Value, size_t Width,            \
                                          size_t Height, CUstream Stream) {    \
    return fill(To, Pitch, Value, BITS / 8, Width, Height, Stream);            \
  }                                                                            \
  CUPILOT_DRIVER_ALIAS(cuMemsetD2D##BITS##Async, cuMemsetD2D##BITS##Async_ptsz)
CUPILOT_FILL(8, unsigned char)
CUPILOT_FILL(16, unsigned short)
CUPILOT_FILL(32, unsigned)
