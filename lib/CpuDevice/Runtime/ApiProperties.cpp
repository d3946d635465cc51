//===- ApiProperties.cpp - What the device says of itself -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An H200, as the cost model has it, without what the cpu device cannot do.
// Programs divide by these numbers: one that is left out is zero.
//
//===----------------------------------------------------------------------===//

#include "Api.h"
#include "cupilot/Model/GpuDescription.h"
#include "cupilot/Portable/LaunchLimits.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <cstring>
#include <optional>

using namespace cupilot;

/// What the description of a GPU does not have: CUDA C++ Programming Guide,
/// "Compute Capabilities"; clocks and bus as an H200's run time tells them.
/// There are no textures here.
static constexpr struct {
  cudaDeviceAttr Attribute;
  int Value;
} Attributes[] = {
    {cudaDevAttrMaxThreadsPerBlock, MaxBlockThreads},
    {cudaDevAttrMaxBlockDimX, MaxBlock[0]},
    {cudaDevAttrMaxBlockDimY, MaxBlock[1]},
    {cudaDevAttrMaxBlockDimZ, MaxBlock[2]},
    {cudaDevAttrMaxGridDimX, MaxGrid[0]},
    {cudaDevAttrMaxGridDimY, MaxGrid[1]},
    {cudaDevAttrMaxGridDimZ, MaxGrid[2]},
    {cudaDevAttrWarpSize, 32},
    {cudaDevAttrMaxSharedMemoryPerBlock, UnrequestedShared},
    {cudaDevAttrReservedSharedMemoryPerBlock, 1024},
    {cudaDevAttrTotalConstantMemory, 64 * 1024},
    {cudaDevAttrMemoryClockRate, 3201000},
    {cudaDevAttrGlobalMemoryBusWidth, 6016},
    {cudaDevAttrMaxPitch, 2147483647},
    {cudaDevAttrUnifiedAddressing, 1},
    {cudaDevAttrManagedMemory, 1},
    {cudaDevAttrConcurrentManagedAccess, 1},
    {cudaDevAttrCanMapHostMemory, 1},
    {cudaDevAttrHostRegisterSupported, 1},
    {cudaDevAttrConcurrentKernels, 1},
    {cudaDevAttrGpuOverlap, 1},
    {cudaDevAttrAsyncEngineCount, 3},
    {cudaDevAttrStreamPrioritiesSupported, 1},
    {cudaDevAttrCooperativeLaunch, 1},
#if CUDART_VERSION >= 11080
    {cudaDevAttrClusterLaunch, 1},
#endif
    {cudaDevAttrMemoryPoolsSupported, 1},
    {cudaDevAttrPageableMemoryAccess, 0},
    {cudaDevAttrComputePreemptionSupported, 1},
    {cudaDevAttrCanUseHostPointerForRegisteredMem, 1},
    {cudaDevAttrGlobalL1CacheSupported, 1},
    {cudaDevAttrLocalL1CacheSupported, 1},
    {cudaDevAttrSingleToDoublePrecisionPerfRatio, 2},
    {cudaDevAttrHostNativeAtomicSupported, 0},
    {cudaDevAttrTextureAlignment, 512},
    {cudaDevAttrTexturePitchAlignment, 32},
    {cudaDevAttrSurfaceAlignment, 512},
    {cudaDevAttrEccEnabled, 1},
    {cudaDevAttrMaxPersistingL2CacheSize, 39321600},
    {cudaDevAttrMaxAccessPolicyWindowSize, 134217728},
};

/// What the GPU's description says.
static std::optional<int> described(cudaDeviceAttr Attribute) {
  const GpuDescription &G = defaultGpu();
  switch (Attribute) {
  case cudaDevAttrComputeCapabilityMajor:
    return int(G.capability() / 10);
  case cudaDevAttrComputeCapabilityMinor:
    return int(G.capability() % 10);
  case cudaDevAttrMultiProcessorCount:
    return int(G.Multiprocessors);
  case cudaDevAttrMaxThreadsPerMultiProcessor:
    return int(G.MaxThreadsPerSM);
  case cudaDevAttrMaxBlocksPerMultiprocessor:
    return int(G.MaxBlocksPerSM);
  case cudaDevAttrMaxRegistersPerBlock:
  case cudaDevAttrMaxRegistersPerMultiprocessor:
    return int(G.RegistersPerSM);
  case cudaDevAttrMaxSharedMemoryPerBlockOptin:
    return int(G.SharedPerBlock);
  case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
    return int(G.SharedPerSM);
  case cudaDevAttrL2CacheSize:
    return int(G.L2Bytes);
  case cudaDevAttrClockRate:
    return int(std::lround(G.ClockGHz * 1e6));
  default:
    return std::nullopt;
  }
}

CUPILOT_API cudaError_t cudaDeviceGetAttribute(int *Value,
                                               cudaDeviceAttr Attribute,
                                               int Id) {
  if (!Value || Id != 0)
    return checked(Value ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
  *Value = described(Attribute).value_or(0);
  for (const auto &A : Attributes)
    if (A.Attribute == Attribute)
      *Value = A.Value;
  return checked();
}

CUPILOT_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp *Properties,
                                                int Id) {
  if (!Properties || Id != 0)
    return checked(Properties ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
  auto Get = [](cudaDeviceAttr Attribute) {
    int Value = 0;
    cudaDeviceGetAttribute(&Value, Attribute, 0);
    return Value;
  };
  auto Bytes = [&](cudaDeviceAttr Attribute) {
    return static_cast<size_t>(Get(Attribute));
  };
  cudaDeviceProp &P = *Properties;
  std::memset(&P, 0, sizeof(P));
  std::strcpy(P.name, "cuPilot cpu device (describes an H200)");
  P.major = Get(cudaDevAttrComputeCapabilityMajor);
  P.minor = Get(cudaDevAttrComputeCapabilityMinor);
  P.totalGlobalMem = DeviceBytes;
  P.multiProcessorCount = Get(cudaDevAttrMultiProcessorCount);
  P.warpSize = Get(cudaDevAttrWarpSize);
  P.maxThreadsPerBlock = Get(cudaDevAttrMaxThreadsPerBlock);
  P.maxThreadsPerMultiProcessor = Get(cudaDevAttrMaxThreadsPerMultiProcessor);
  P.maxBlocksPerMultiProcessor = Get(cudaDevAttrMaxBlocksPerMultiprocessor);
  P.sharedMemPerBlock = Bytes(cudaDevAttrMaxSharedMemoryPerBlock);
  P.sharedMemPerBlockOptin = Bytes(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  P.sharedMemPerMultiprocessor =
      Bytes(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  P.reservedSharedMemPerBlock = Bytes(cudaDevAttrReservedSharedMemoryPerBlock);
  P.regsPerBlock = Get(cudaDevAttrMaxRegistersPerBlock);
  P.regsPerMultiprocessor = Get(cudaDevAttrMaxRegistersPerMultiprocessor);
  P.totalConstMem = Bytes(cudaDevAttrTotalConstantMemory);
  P.memPitch = Bytes(cudaDevAttrMaxPitch);
  P.l2CacheSize = Get(cudaDevAttrL2CacheSize);
  P.memoryBusWidth = Get(cudaDevAttrGlobalMemoryBusWidth);
  P.unifiedAddressing = Get(cudaDevAttrUnifiedAddressing);
  P.managedMemory = Get(cudaDevAttrManagedMemory);
  P.concurrentManagedAccess = Get(cudaDevAttrConcurrentManagedAccess);
  P.canMapHostMemory = Get(cudaDevAttrCanMapHostMemory);
  P.concurrentKernels = Get(cudaDevAttrConcurrentKernels);
  P.asyncEngineCount = Get(cudaDevAttrAsyncEngineCount);
  P.cooperativeLaunch = Get(cudaDevAttrCooperativeLaunch);
#if CUDART_VERSION >= 12000
  P.clusterLaunch = Get(cudaDevAttrClusterLaunch);
#endif
  P.computePreemptionSupported = Get(cudaDevAttrComputePreemptionSupported);
  P.canUseHostPointerForRegisteredMem =
      Get(cudaDevAttrCanUseHostPointerForRegisteredMem);
  P.globalL1CacheSupported = Get(cudaDevAttrGlobalL1CacheSupported);
  P.localL1CacheSupported = Get(cudaDevAttrLocalL1CacheSupported);
#if CUDART_VERSION >= 12000
  P.hostRegisterSupported = Get(cudaDevAttrHostRegisterSupported);
  P.memoryPoolsSupported = Get(cudaDevAttrMemoryPoolsSupported);
#endif
  P.textureAlignment = Bytes(cudaDevAttrTextureAlignment);
  P.texturePitchAlignment = Bytes(cudaDevAttrTexturePitchAlignment);
  P.surfaceAlignment = Bytes(cudaDevAttrSurfaceAlignment);
  P.ECCEnabled = Get(cudaDevAttrEccEnabled);
  P.persistingL2CacheMaxSize = Get(cudaDevAttrMaxPersistingL2CacheSize);
  P.accessPolicyMaxWindowSize = Get(cudaDevAttrMaxAccessPolicyWindowSize);
  P.streamPrioritiesSupported = Get(cudaDevAttrStreamPrioritiesSupported);
#if CUDART_VERSION < 13000
  P.deviceOverlap = 1;
  P.cooperativeMultiDeviceLaunch = 0;
  P.singleToDoublePrecisionPerfRatio =
      Get(cudaDevAttrSingleToDoublePrecisionPerfRatio);
  P.clockRate = Get(cudaDevAttrClockRate);
  P.memoryClockRate = Get(cudaDevAttrMemoryClockRate);
#endif
  llvm::copy(MaxBlock, P.maxThreadsDim);
  llvm::copy(MaxGrid, P.maxGridSize);
  return checked();
}
