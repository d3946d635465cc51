//===- ApiDevice.cpp - The device as a whole -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Api.h"
#include <cstdio>
#include <cstring>
#include <map>

using namespace cupilot;

CUPILOT_API cudaError_t cudaDeviceSynchronize() { return synchronized(); }
CUPILOT_API cudaError_t cudaDeviceReset() {
  Device::get().reset();
  return cudaSuccess;
}
CUPILOT_API cudaError_t cudaGetDeviceCount(int *Count) {
  if (!Count)
    return checked(cudaErrorInvalidValue);
  *Count = 1;
  return cudaSuccess; // Also after a fault.
}
CUPILOT_API cudaError_t cudaGetDevice(int *Id) {
  if (!Id)
    return checked(cudaErrorInvalidValue);
  *Id = 0;
  return checked();
}
CUPILOT_API cudaError_t cudaSetDevice(int Id) {
  return checked(Id == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}
#if CUDART_VERSION >= 12000
CUPILOT_API cudaError_t cudaInitDevice(int Id, unsigned, unsigned) {
  return cudaSetDevice(Id);
}
#endif
CUPILOT_API cudaError_t cudaSetValidDevices(int *Ids, int Count) {
  if (Count < 0 || (Count > 0 && !Ids))
    return checked(cudaErrorInvalidValue);
  for (int I = 0; I < Count; ++I)
    if (Ids[I] != 0)
      return checked(cudaErrorInvalidDevice);
  return checked();
}
CUPILOT_API cudaError_t cudaChooseDevice(int *Id, const cudaDeviceProp *) {
  return cudaGetDevice(Id);
}
static unsigned DeviceFlags = cudaDeviceScheduleAuto;
CUPILOT_API cudaError_t cudaSetDeviceFlags(unsigned Flags) {
  if (Flags & ~static_cast<unsigned>(cudaDeviceMask))
    return checked(cudaErrorInvalidValue);
  DeviceFlags = Flags;
  return checked();
}
CUPILOT_API cudaError_t cudaGetDeviceFlags(unsigned *Flags) {
  if (!Flags)
    return checked(cudaErrorInvalidValue);
  *Flags = DeviceFlags | cudaDeviceMapHost;
  return checked();
}
CUPILOT_API cudaError_t cudaDeviceGetPCIBusId(char *Text, int Length, int Id) {
  if (Id != 0 || !Text || Length < 13)
    return checked(Id != 0 ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
  std::snprintf(Text, static_cast<size_t>(Length), "0000:00:00.0");
  return checked();
}
CUPILOT_API cudaError_t cudaDeviceGetByPCIBusId(int *Id, const char *Text) {
  if (!Id || !Text)
    return checked(cudaErrorInvalidValue);
  *Id = 0;
  return checked(std::strcmp(Text, "0000:00:00.0") == 0
                     ? cudaSuccess
                     : cudaErrorInvalidDevice);
}

/// The defaults of an H200 (CUDA Runtime API, cudaDeviceSetLimit). Those of the
/// heap, of printf and of a thread's stack are obeyed, the others remembered.
static std::map<cudaLimit, size_t> &limits() {
  static std::map<cudaLimit, size_t> &Values = *new std::map<cudaLimit, size_t>{
      {cudaLimitStackSize, 1024},
      {cudaLimitPrintfFifoSize, 8650752},
      {cudaLimitMallocHeapSize, 8 << 20},
      {cudaLimitDevRuntimePendingLaunchCount, 2048},
      {cudaLimitMaxL2FetchGranularity, 64},
      {cudaLimitPersistingL2CacheSize, 11796480}};
  return Values;
}
static cudaError_t noLimit(cudaLimit Limit) {
  return Limit == cudaLimitDevRuntimeSyncDepth ? cudaErrorUnsupportedLimit
                                               : cudaErrorInvalidValue;
}
CUPILOT_API cudaError_t cudaDeviceGetLimit(size_t *Value, cudaLimit Limit) {
  auto It = limits().find(Limit);
  if (!Value || It == limits().end())
    return checked(Value ? noLimit(Limit) : cudaErrorInvalidValue);
  *Value = It->second;
  return checked();
}
CUPILOT_API cudaError_t cudaDeviceSetLimit(cudaLimit Limit, size_t Value) {
  auto It = limits().find(Limit);
  if (It == limits().end())
    return checked(noLimit(Limit));
  It->second = Value;
  Device::get().setLimits(limits()[cudaLimitMallocHeapSize],
                          limits()[cudaLimitPrintfFifoSize],
                          limits()[cudaLimitStackSize]);
  return checked();
}
static cudaFuncCache CacheConfig = cudaFuncCachePreferNone;
CUPILOT_API cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache Config) {
  CacheConfig = Config;
  return checked();
}
CUPILOT_API cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache *Config) {
  *Config = CacheConfig;
  return checked();
}
CUPILOT_API cudaError_t
cudaDeviceGetSharedMemConfig(cudaSharedMemConfig *Config) {
  *Config = cudaSharedMemBankSizeFourByte;
  return checked();
}
CUPILOT_IGNORE(cudaDeviceSetSharedMemConfig)

// Versions.
CUPILOT_API cudaError_t cudaRuntimeGetVersion(int *Version) {
  *Version = CUDART_VERSION;
  return checked();
}
CUPILOT_API cudaError_t cudaDriverGetVersion(int *Version) {
  *Version = CUDART_VERSION;
  return checked();
}

// Other devices: there is none.
CUPILOT_API cudaError_t cudaDeviceCanAccessPeer(int *Can, int Id, int Peer) {
  if (!Can)
    return checked(cudaErrorInvalidValue);
  *Can = 0;
  return checked(Id == 0 && Peer == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}
CUPILOT_API cudaError_t cudaDeviceEnablePeerAccess(int Id, unsigned) {
  return checked(Id == 0 ? cudaErrorPeerAccessUnsupported
                         : cudaErrorInvalidDevice);
}
CUPILOT_SYMBOL(cudaDeviceDisablePeerAccess, checked(cudaErrorInvalidDevice))
CUPILOT_SYMBOL(cudaDeviceGetP2PAttribute, checked(cudaErrorInvalidDevice))

// Before CUDA 13.
CUPILOT_SYMBOL(cudaThreadSynchronize, synchronized())
CUPILOT_SYMBOL(cudaThreadExit, cudaDeviceReset())

#if CUDART_VERSION >= 12000
static cudaError_t driverEntry(const char *Symbol, void **Function,
                               unsigned Version,
                               cudaDriverEntryPointQueryResult *Result) {
  if (!Symbol || !Function)
    return checked(cudaErrorInvalidValue);
  *Function = driverFunction(Symbol, Version);
  if (Result)
    *Result = *Function ? cudaDriverEntryPointSuccess
                        : cudaDriverEntryPointSymbolNotFound;
  return *Function || Result ? checked() : checked(cudaErrorSymbolNotFound);
}
#endif
#if CUDART_VERSION >= 12050
CUPILOT_API cudaError_t cudaGetDriverEntryPointByVersion(
    const char *Symbol, void **Function, unsigned Version, unsigned long long,
    cudaDriverEntryPointQueryResult *Result) {
  return driverEntry(Symbol, Function, Version, Result);
}
CUPILOT_PTSZ(cudaGetDriverEntryPointByVersion)
#endif
#if CUDART_VERSION >= 12000 && CUDART_VERSION < 13000
CUPILOT_API cudaError_t
cudaGetDriverEntryPoint(const char *Symbol, void **Function, unsigned long long,
                        cudaDriverEntryPointQueryResult *Result) {
  return driverEntry(Symbol, Function, CUDART_VERSION, Result);
}
CUPILOT_PTSZ(cudaGetDriverEntryPoint)
#elif CUDART_VERSION < 12000
CUPILOT_API cudaError_t cudaGetDriverEntryPoint(const char *Symbol,
                                                void **Function,
                                                unsigned long long) {
  if (!Symbol || !Function)
    return checked(cudaErrorInvalidValue);
  *Function = driverFunction(Symbol, CUDART_VERSION);
  return checked(*Function ? cudaSuccess : cudaErrorSymbolNotFound);
}
CUPILOT_PTSZ(cudaGetDriverEntryPoint)
#endif
CUPILOT_REFUSE(cudaGetExportTable)
CUPILOT_REFUSE(cudaLibraryLoadData)
CUPILOT_REFUSE(cudaLibraryLoadFromFile)
CUPILOT_REFUSE(cudaGraphicsGLRegisterBuffer)
