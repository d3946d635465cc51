//===- ApiOneDevice.cpp - Hints, peers, callbacks, 3D memory -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of the run time that has little to do where there is one device
// whose streams run at once: hints change nothing, callbacks are called where
// they are queued, and no peer exists.
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include <cstdio>

using namespace cupilot;

#define CUPILOT_API __attribute__((visibility("default")))

/// Calls after a fault of device code report it, as on a GPU.
static cudaError_t checked(cudaError_t Error = cudaSuccess) {
  Device &D = Device::get();
  return D.fail(D.Sticky != cudaSuccess ? D.Sticky : Error);
}

extern "C" {

// Unified memory.
#if CUDART_VERSION >= 13000
CUPILOT_API cudaError_t cudaMemPrefetchAsync(const void *, size_t,
                                             cudaMemLocation, unsigned,
                                             cudaStream_t) {
  return checked();
}
CUPILOT_API cudaError_t cudaMemAdvise(const void *, size_t, cudaMemoryAdvise,
                                      cudaMemLocation) {
  return checked();
}
#else
CUPILOT_API cudaError_t cudaMemPrefetchAsync(const void *, size_t, int,
                                             cudaStream_t) {
  return checked();
}
CUPILOT_API cudaError_t cudaMemAdvise(const void *, size_t, cudaMemoryAdvise,
                                      int) {
  return checked();
}
CUPILOT_API cudaError_t cudaThreadSynchronize() { return checked(); }
CUPILOT_API cudaError_t cudaThreadExit() { return checked(); }
#endif
CUPILOT_API cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void *, size_t,
                                                 unsigned) {
  return checked();
}

// Callbacks.
CUPILOT_API cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t Function,
                                           void *Data) {
  if (!Function)
    return checked(cudaErrorInvalidValue);
  if (cudaError_t E = checked())
    return E;
  Function(Data);
  return checked();
}
CUPILOT_API cudaError_t cudaStreamAddCallback(cudaStream_t Stream,
                                              cudaStreamCallback_t Function,
                                              void *Data, unsigned) {
  if (!Function)
    return checked(cudaErrorInvalidValue);
  // Other than a host function, it is told of errors and called nevertheless.
  Function(Stream, checked(), Data);
  return checked();
}
CUPILOT_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t Event,
                                                 cudaStream_t Stream,
                                                 unsigned) {
  return cudaEventRecord(Event, Stream);
}
CUPILOT_API cudaError_t cudaStreamGetFlags(cudaStream_t, unsigned *Flags) {
  *Flags = cudaStreamDefault;
  return checked();
}
CUPILOT_API cudaError_t cudaStreamGetPriority(cudaStream_t, int *Priority) {
  *Priority = 0;
  return checked();
}
CUPILOT_API cudaError_t cudaDeviceGetStreamPriorityRange(int *Least,
                                                         int *Greatest) {
  if (Least)
    *Least = 0;
  if (Greatest)
    *Greatest = 0;
  return checked();
}

// Other devices.
CUPILOT_API cudaError_t cudaDeviceCanAccessPeer(int *Can, int, int) {
  *Can = 0;
  return checked();
}
CUPILOT_API cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) {
  return checked(cudaErrorInvalidDevice);
}
CUPILOT_API cudaError_t cudaDeviceDisablePeerAccess(int) {
  return checked(cudaErrorInvalidDevice);
}
CUPILOT_API cudaError_t cudaMemcpyPeer(void *To, int ToDevice, const void *From,
                                       int FromDevice, size_t Size) {
  if (ToDevice != 0 || FromDevice != 0)
    return checked(cudaErrorInvalidDevice);
  return cudaMemcpy(To, From, Size, cudaMemcpyDeviceToDevice);
}
CUPILOT_API cudaError_t cudaMemcpyPeerAsync(void *To, int ToDevice,
                                            const void *From, int FromDevice,
                                            size_t Size, cudaStream_t) {
  return cudaMemcpyPeer(To, ToDevice, From, FromDevice, Size);
}

// The device.
CUPILOT_API cudaError_t cudaInitDevice(int Id, unsigned, unsigned) {
  return cudaSetDevice(Id);
}
CUPILOT_API cudaError_t cudaChooseDevice(int *Id, const cudaDeviceProp *) {
  *Id = 0;
  return checked();
}
CUPILOT_API cudaError_t cudaGetDeviceFlags(unsigned *Flags) {
  *Flags = cudaDeviceScheduleAuto;
  return checked();
}
CUPILOT_API cudaError_t cudaHostGetFlags(unsigned *Flags, void *) {
  *Flags = cudaHostAllocMapped;
  return checked();
}
CUPILOT_API cudaError_t cudaDeviceGetPCIBusId(char *Text, int Length, int Id) {
  if (Id != 0 || Length < 13)
    return checked(Id != 0 ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
  std::snprintf(Text, static_cast<size_t>(Length), "0000:00:00.0");
  return checked();
}
/// The defaults of the CUDA C++ Programming Guide.
CUPILOT_API cudaError_t cudaDeviceGetLimit(size_t *Value, cudaLimit Limit) {
  switch (Limit) {
  case cudaLimitStackSize:
    *Value = 1024;
    break;
  case cudaLimitPrintfFifoSize:
    *Value = 1 << 20;
    break;
  case cudaLimitMallocHeapSize:
    *Value = 8 << 20;
    break;
  default:
    *Value = 0;
  }
  return checked();
}
CUPILOT_API cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache *Config) {
  *Config = cudaFuncCachePreferNone;
  return checked();
}
/// Blocks that wait for one another need the scheduler of a GPU, as
/// cudaDevAttrCooperativeLaunch (0) says.
CUPILOT_API cudaError_t cudaLaunchCooperativeKernel(const void *, dim3, dim3,
                                                    void **, size_t,
                                                    cudaStream_t) {
  return checked(cudaErrorNotSupported);
}

// Two and three dimensions.
CUPILOT_API cudaError_t cudaMemset2DAsync(void *To, size_t Pitch, int Value,
                                          size_t Width, size_t Height,
                                          cudaStream_t) {
  return cudaMemset2D(To, Pitch, Value, Width, Height);
}
CUPILOT_API cudaError_t cudaMalloc3D(cudaPitchedPtr *Result,
                                     cudaExtent Extent) {
  *Result = {nullptr, 0, Extent.width, Extent.height};
  return cudaMallocPitch(&Result->ptr, &Result->pitch, Extent.width,
                         Extent.height * Extent.depth);
}
CUPILOT_API cudaError_t cudaMemset3D(cudaPitchedPtr To, int Value,
                                     cudaExtent Extent) {
  for (size_t Z = 0; Z < Extent.depth; ++Z)
    if (cudaError_t E =
            cudaMemset2D(static_cast<char *>(To.ptr) + Z * To.pitch * To.ysize,
                         To.pitch, Value, Extent.width, Extent.height))
      return E;
  return checked();
}
CUPILOT_API cudaError_t cudaMemset3DAsync(cudaPitchedPtr To, int Value,
                                          cudaExtent Extent, cudaStream_t) {
  return cudaMemset3D(To, Value, Extent);
}
CUPILOT_API cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *P) {
  if (!P || P->srcArray || P->dstArray) // There are no arrays here.
    return checked(cudaErrorInvalidValue);
  auto At = [](const cudaPitchedPtr &Base, const cudaPos &Pos, size_t Z) {
    return static_cast<char *>(Base.ptr) +
           ((Pos.z + Z) * Base.ysize + Pos.y) * Base.pitch + Pos.x;
  };
  for (size_t Z = 0; Z < P->extent.depth; ++Z)
    if (cudaError_t E =
            cudaMemcpy2D(At(P->dstPtr, P->dstPos, Z), P->dstPtr.pitch,
                         At(P->srcPtr, P->srcPos, Z), P->srcPtr.pitch,
                         P->extent.width, P->extent.height, P->kind))
      return E;
  return checked();
}
CUPILOT_API cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *P,
                                          cudaStream_t) {
  return cudaMemcpy3D(P);
}

CUPILOT_API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *Size,
                                                                  const void *,
                                                                  int Blocks,
                                                                  int) {
  // 228 KB for all blocks of a multiprocessor, 1 KB of each for the system.
  *Size =
      Blocks > 0 ? std::min<size_t>(228 * 1024 / Blocks, 228 * 1024) - 1024 : 0;
  return checked();
}

} // extern "C"
