//===- DriverApi.h - What is used of the CUDA driver -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Own declarations, so that the runner builds without a CUDA toolkit. Names,
// numbers and layouts are those of cuda.h, whose interface is stable (CUDA
// Driver API, "Versioning"); test/Runner/unit/DriverApiTest compares them with
// it where there is a toolkit.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_RUNNER_DRIVERAPI_H
#define CUPILOT_LIB_RUNNER_DRIVERAPI_H

#include <cstddef>
#include <cstdint>

namespace cupilot::runner {

using DeviceAddress = unsigned long long; ///< CUdeviceptr
using Handle = void *; ///< CUcontext, CUmodule, CUfunction, CUstream, CUevent

/// CUresult
enum class DriverStatus : int {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NotInitialized = 3,
  StubLibrary = 34,
  DeviceUnavailable = 46,
  NoDevice = 100,
  InvalidDevice = 101,
  InvalidImage = 200,
  NoBinary = 209,
  InvalidPtx = 218,
  NoJit = 221,
  UnsupportedPtx = 222,
  InvalidSource = 300,
  NotFound = 500,
  NotReady = 600,
  IllegalAddress = 700,
  OutOfResources = 701,
  LaunchTimeout = 702,
  Assert = 710,
  StackError = 714,
  IllegalInstruction = 715,
  MisalignedAddress = 716,
  InvalidAddressSpace = 717,
  InvalidPc = 718,
  LaunchFailed = 719,
  CooperativeTooLarge = 720,
  InvalidClusterSize = 912,
};

/// CUdevice_attribute
enum class DeviceAttribute : int {
  MaxThreadsPerBlock = 1,
  ClockRate = 13,
  Multiprocessors = 16,
  MemoryClockRate = 36,
  MemoryBusWidth = 37,
  L2Bytes = 38,
  ThreadsPerMultiprocessor = 39,
  MajorCapability = 75,
  MinorCapability = 76,
  SharedPerMultiprocessor = 81,
  RegistersPerMultiprocessor = 82,
  SharedPerBlockOptin = 97,
  BlocksPerMultiprocessor = 106,
};

/// CUfunction_attribute: CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES.
inline constexpr int MaxDynamicShared = 8;

/// CUlaunchAttribute, for the two attributes that plans have.
struct LaunchAttribute {
  static constexpr int Cooperative = 2, ClusterDimension = 4;
  int Id = 0;
  int Padding = 0;
  union {
    char Bytes[64];
    int Cooperates;
    struct {
      unsigned X, Y, Z;
    } Cluster;
  };
};

/// CUlaunchConfig
struct LaunchConfig {
  unsigned GridX, GridY, GridZ, BlockX, BlockY, BlockZ, Shared;
  Handle Stream;
  LaunchAttribute *Attributes;
  unsigned AttributeCount;
};

/// CUtensorMap
struct alignas(64) EncodedTensorMap {
  uint64_t Words[16];
};

// Member, the driver's name, parameters. Those of the second list may lack in
// older drivers.
#define CUPILOT_DRIVER_FUNCTIONS(F)                                            \
  F(Init, "cuInit", (unsigned))                                                \
  F(DriverVersion, "cuDriverGetVersion", (int *))                              \
  F(ErrorName, "cuGetErrorName", (DriverStatus, const char **))                \
  F(ErrorText, "cuGetErrorString", (DriverStatus, const char **))              \
  F(DeviceCount, "cuDeviceGetCount", (int *))                                  \
  F(DeviceGet, "cuDeviceGet", (int *, int))                                    \
  F(DeviceName, "cuDeviceGetName", (char *, int, int))                         \
  F(DeviceUuid, "cuDeviceGetUuid_v2", (void *, int))                           \
  F(DeviceGetAttribute, "cuDeviceGetAttribute", (int *, DeviceAttribute, int)) \
  F(ContextRetain, "cuDevicePrimaryCtxRetain", (Handle *, int))                \
  F(ContextSet, "cuCtxSetCurrent", (Handle))                                   \
  F(ContextSynchronize, "cuCtxSynchronize", ())                                \
  F(MemoryInfo, "cuMemGetInfo_v2", (size_t *, size_t *))                       \
  F(Allocate, "cuMemAlloc_v2", (DeviceAddress *, size_t))                      \
  F(Free, "cuMemFree_v2", (DeviceAddress))                                     \
  F(CopyIn, "cuMemcpyHtoD_v2", (DeviceAddress, const void *, size_t))          \
  F(CopyOut, "cuMemcpyDtoH_v2", (void *, DeviceAddress, size_t))               \
  F(CopyAsync, "cuMemcpyDtoDAsync_v2",                                         \
    (DeviceAddress, DeviceAddress, size_t, Handle))                            \
  F(Fill8, "cuMemsetD8Async", (DeviceAddress, unsigned char, size_t, Handle))  \
  F(Fill16, "cuMemsetD16Async",                                                \
    (DeviceAddress, unsigned short, size_t, Handle))                           \
  F(Fill32, "cuMemsetD32Async", (DeviceAddress, unsigned, size_t, Handle))     \
  F(ModuleLoad, "cuModuleLoadDataEx",                                          \
    (Handle *, const void *, unsigned, int *, void **))                        \
  F(ModuleUnload, "cuModuleUnload", (Handle))                                  \
  F(ModuleFunction, "cuModuleGetFunction", (Handle *, Handle, const char *))   \
  F(ModuleGlobal, "cuModuleGetGlobal_v2",                                      \
    (DeviceAddress *, size_t *, Handle, const char *))                         \
  F(FunctionSet, "cuFuncSetAttribute", (Handle, int, int))                     \
  F(Launch, "cuLaunchKernel",                                                  \
    (Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,       \
     unsigned, Handle, void **, void **))                                      \
  F(StreamCreate, "cuStreamCreate", (Handle *, unsigned))                      \
  F(StreamSynchronize, "cuStreamSynchronize", (Handle))                        \
  F(EventCreate, "cuEventCreate", (Handle *, unsigned))                        \
  F(EventRecord, "cuEventRecord", (Handle, Handle))                            \
  F(EventElapsed, "cuEventElapsedTime", (float *, Handle, Handle))
#define CUPILOT_DRIVER_NEWER_FUNCTIONS(F)                                      \
  F(LaunchExtended, "cuLaunchKernelEx",                                        \
    (const LaunchConfig *, Handle, void **, void **))                          \
  F(ParameterInfo, "cuFuncGetParamInfo", (Handle, size_t, size_t *, size_t *)) \
  F(EncodeTensorMap, "cuTensorMapEncodeTiled",                                 \
    (EncodedTensorMap *, int, unsigned, void *, const uint64_t *,              \
     const uint64_t *, const uint32_t *, const uint32_t *, int, int, int,      \
     int))

/// The driver's functions; those that lack are null.
struct DriverTable {
#define CUPILOT_MEMBER(Member, Name, Params)                                   \
  DriverStatus(*Member) Params = nullptr;
  CUPILOT_DRIVER_FUNCTIONS(CUPILOT_MEMBER)
  CUPILOT_DRIVER_NEWER_FUNCTIONS(CUPILOT_MEMBER)
#undef CUPILOT_MEMBER
};

} // namespace cupilot::runner

#endif // CUPILOT_LIB_RUNNER_DRIVERAPI_H
