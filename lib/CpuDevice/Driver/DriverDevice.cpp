//===- DriverDevice.cpp - The device and its contexts -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include <cstring>
#include <set>

using namespace cupilot;

CUPILOT_DRIVER cuInit(unsigned Flags) {
  return Flags == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUPILOT_DRIVER cuDriverGetVersion(int *Version) {
  if (!Version)
    return CUDA_ERROR_INVALID_VALUE;
  *Version = CUDA_VERSION;
  return CUDA_SUCCESS;
}

// The device.
static CUresult isDevice(CUdevice Id, const void *Out) {
  return !Out      ? CUDA_ERROR_INVALID_VALUE
         : Id != 0 ? CUDA_ERROR_INVALID_DEVICE
                   : CUDA_SUCCESS;
}
CUPILOT_DRIVER cuDeviceGet(CUdevice *Result, int Ordinal) {
  if (CUresult E = isDevice(Ordinal, Result))
    return E;
  *Result = 0;
  return CUDA_SUCCESS;
}
CUPILOT_DRIVER cuDeviceGetCount(int *Count) {
  return asDriver(cudaGetDeviceCount(Count));
}
CUPILOT_DRIVER cuDeviceGetName(char *Name, int Length, CUdevice Id) {
  if (CUresult E = isDevice(Id, Name))
    return E;
  if (Length <= 0)
    return CUDA_ERROR_INVALID_VALUE;
  cudaDeviceProp Properties;
  cudaGetDeviceProperties(&Properties, 0);
  std::strncpy(Name, Properties.name, static_cast<size_t>(Length) - 1);
  Name[Length - 1] = 0;
  return CUDA_SUCCESS;
}
CUPILOT_DRIVER cuDeviceGetUuid(CUuuid *Id, CUdevice Device) {
  if (CUresult E = isDevice(Device, Id))
    return E;
  std::memset(Id, 0, sizeof(*Id)); // As the run time tells it.
  return CUDA_SUCCESS;
}
#if CUDA_VERSION >= 13000
CUPILOT_DRIVER_ALIAS(cuDeviceGetUuid, cuDeviceGetUuid)
#else
CUPILOT_DRIVER_ALIAS(cuDeviceGetUuid, cuDeviceGetUuid_v2)
#endif
CUPILOT_DRIVER cuDeviceTotalMem(size_t *Bytes, CUdevice Id) {
  if (CUresult E = isDevice(Id, Bytes))
    return E;
  *Bytes = DeviceBytes;
  return CUDA_SUCCESS;
}
CUPILOT_DRIVER cuDeviceGetAttribute(int *Value, CUdevice_attribute Attribute,
                                    CUdevice Id) {
  // The numbers are the run time's.
  return asDriver(cudaDeviceGetAttribute(
      Value, static_cast<cudaDeviceAttr>(Attribute), Id));
}
CUPILOT_DRIVER cuDeviceComputeCapability(int *Major, int *Minor, CUdevice Id) {
  if (CUresult E = isDevice(Id, Major && Minor ? Major : nullptr))
    return E;
  cudaDeviceGetAttribute(Major, cudaDevAttrComputeCapabilityMajor, 0);
  cudaDeviceGetAttribute(Minor, cudaDevAttrComputeCapabilityMinor, 0);
  return CUDA_SUCCESS;
}
CUPILOT_DRIVER cuDeviceGetPCIBusId(char *Text, int Length, CUdevice Id) {
  return asDriver(cudaDeviceGetPCIBusId(Text, Length, Id));
}
CUPILOT_DRIVER cuDeviceGetByPCIBusId(CUdevice *Id, const char *Text) {
  return asDriver(cudaDeviceGetByPCIBusId(Id, Text));
}
CUPILOT_DRIVER cuDeviceCanAccessPeer(int *Can, CUdevice Id, CUdevice Peer) {
  return asDriver(cudaDeviceCanAccessPeer(Can, Id, Peer));
}
CUPILOT_DRIVER cuDeviceGetDefaultMemPool(CUmemoryPool *Pool, CUdevice Id) {
  return asDriver(cudaDeviceGetDefaultMemPool(Pool, Id));
}
CUPILOT_DRIVER cuDeviceGetMemPool(CUmemoryPool *Pool, CUdevice Id) {
  return asDriver(cudaDeviceGetMemPool(Pool, Id));
}

// Contexts: names for the one that there is. Work needs none to be current.
struct CUctx_st {
  unsigned Flags = 0;
};
namespace {
struct Contexts {
  std::mutex Mutex;
  std::set<CUcontext> Made;
  CUctx_st Primary;
  int PrimaryUsers = 0;
  static Contexts &get() {
    static Contexts &Only = *new Contexts();
    return Only;
  }
  bool knows(CUcontext C) {
    std::lock_guard Lock(Mutex);
    return C == &Primary || Made.count(C);
  }
};
} // namespace
static thread_local std::vector<CUcontext> Stack;

static CUresult makeContext(CUcontext *Result, unsigned Flags, CUdevice Id) {
  if (CUresult E = isDevice(Id, Result))
    return E;
  Contexts &All = Contexts::get();
  std::lock_guard Lock(All.Mutex);
  *Result = new CUctx_st{Flags};
  All.Made.insert(*Result);
  Stack.push_back(*Result);
  return CUDA_SUCCESS;
}
#undef cuCtxCreate
#undef cuCtxCreate_v2
CUPILOT_DRIVER cuCtxCreate_v2(CUcontext *Result, unsigned Flags, CUdevice Id) {
  return makeContext(Result, Flags, Id);
}
#if CUDA_VERSION >= 12050
CUPILOT_DRIVER cuCtxCreate_v4(CUcontext *Result, CUctxCreateParams *,
                              unsigned Flags, CUdevice Id) {
  return makeContext(Result, Flags, Id);
}
#endif
CUPILOT_DRIVER cuCtxDestroy(CUcontext Context) {
  Contexts &All = Contexts::get();
  std::lock_guard Lock(All.Mutex);
  if (All.Made.erase(Context) == 0)
    return CUDA_ERROR_INVALID_CONTEXT;
  std::erase(Stack, Context);
  delete Context;
  return CUDA_SUCCESS;
}
CUPILOT_DRIVER cuCtxPushCurrent(CUcontext Context) {
  if (!Contexts::get().knows(Context))
    return CUDA_ERROR_INVALID_CONTEXT;
  Stack.push_back(Context);
  return CUDA_SUCCESS;
}
CUPILOT_DRIVER cuCtxPopCurrent(CUcontext *Context) {
  if (Stack.empty())
    return CUDA_ERROR_INVALID_CONTEXT;
  if (Context)
    *Context = Stack.back();
  Stack.pop_back();
  return CUDA_SUCCESS;
}
CUPILOT_DRIVER cuCtxSetCurrent(CUcontext Context) {
  if (Context && !Contexts::get().knows(Context))
    return CUDA_ERROR_INVALID_CONTEXT;
  if (!Stack.empty())
    Stack.pop_back();
  if (Context)
    Stack.push_back(Context);
  return CUDA_SUCCESS;
}
CUPILOT_DRIVER cuCtxGetCurrent(CUcontext *Context) {
  if (!Context)
    return CUDA_ERROR_INVALID_VALUE;
  *Context = Stack.empty() ? nullptr : Stack.back();
  return CUDA_SUCCESS;
}
CUPILOT_DRIVER cuCtxGetDevice(CUdevice *Id) {
  return Stack.empty() ? CUDA_ERROR_INVALID_CONTEXT : cuDeviceGet(Id, 0);
}
CUPILOT_DRIVER cuCtxGetFlags(unsigned *Flags) {
  if (!Flags || Stack.empty())
    return Flags ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_VALUE;
  *Flags = Stack.back()->Flags;
  return CUDA_SUCCESS;
}
CUPILOT_DRIVER cuCtxGetApiVersion(CUcontext, unsigned *Version) {
  if (!Version)
    return CUDA_ERROR_INVALID_VALUE;
  *Version = CUDA_VERSION;
  return CUDA_SUCCESS;
}
CUPILOT_DRIVER_SYMBOL(cuCtxSynchronize, asDriver(synchronized()))
CUPILOT_DRIVER cuCtxGetLimit(size_t *Value, CUlimit Limit) {
  return asDriver(cudaDeviceGetLimit(Value, static_cast<cudaLimit>(Limit)));
}
CUPILOT_DRIVER cuCtxSetLimit(CUlimit Limit, size_t Value) {
  return asDriver(cudaDeviceSetLimit(static_cast<cudaLimit>(Limit), Value));
}
CUPILOT_DRIVER cuCtxGetStreamPriorityRange(int *Least, int *Greatest) {
  return asDriver(cudaDeviceGetStreamPriorityRange(Least, Greatest));
}
CUPILOT_DRIVER_SYMBOL(cuCtxSetCacheConfig, CUDA_SUCCESS)
CUPILOT_DRIVER_SYMBOL(cuCtxSetSharedMemConfig, CUDA_SUCCESS)
CUPILOT_DRIVER_SYMBOL(cuCtxResetPersistingL2Cache, CUDA_SUCCESS)

CUPILOT_DRIVER cuDevicePrimaryCtxRetain(CUcontext *Context, CUdevice Id) {
  if (CUresult E = isDevice(Id, Context))
    return E;
  Contexts &All = Contexts::get();
  std::lock_guard Lock(All.Mutex);
  ++All.PrimaryUsers;
  *Context = &All.Primary;
  return CUDA_SUCCESS;
}
CUPILOT_DRIVER cuDevicePrimaryCtxRelease(CUdevice Id) {
  Contexts &All = Contexts::get();
  std::lock_guard Lock(All.Mutex);
  if (Id != 0)
    return CUDA_ERROR_INVALID_DEVICE;
  if (All.PrimaryUsers == 0)
    return CUDA_ERROR_INVALID_CONTEXT;
  --All.PrimaryUsers;
  return CUDA_SUCCESS;
}
CUPILOT_DRIVER cuDevicePrimaryCtxSetFlags(CUdevice Id, unsigned Flags) {
  Contexts &All = Contexts::get();
  std::lock_guard Lock(All.Mutex);
  All.Primary.Flags = Flags;
  return Id == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
CUPILOT_DRIVER cuDevicePrimaryCtxGetState(CUdevice Id, unsigned *Flags,
                                          int *Active) {
  if (CUresult E = isDevice(Id, Flags && Active ? Flags : nullptr))
    return E;
  Contexts &All = Contexts::get();
  std::lock_guard Lock(All.Mutex);
  *Flags = All.Primary.Flags;
  *Active = All.PrimaryUsers > 0;
  return CUDA_SUCCESS;
}
CUPILOT_DRIVER cuDevicePrimaryCtxReset(CUdevice Id) {
  return Id == 0 ? asDriver(cudaDeviceReset()) : CUDA_ERROR_INVALID_DEVICE;
}
CUPILOT_DRIVER_SYMBOL(cuProfilerStart, CUDA_SUCCESS)
CUPILOT_DRIVER_SYMBOL(cuProfilerStop, CUDA_SUCCESS)
