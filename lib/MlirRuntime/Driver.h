//===- Driver.h - The CUDA driver behind MLIR programs -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions that MLIR's translation of gpu operations calls have no result
// for errors. Upstream's library prints them and goes on; here an error ends
// the program, with status 3: what came after it would be wrong.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_MLIRRUNTIME_DRIVER_H
#define CUPILOT_LIB_MLIRRUNTIME_DRIVER_H

#include <cstdint>
#include <cuda.h>
#include <string>

/// A function that MLIR programs call. The names are upstream's.
#define CUPILOT_MGPU extern "C" __attribute__((visibility("default")))

namespace cupilot::mgpu {

// By the names that the driver exports.
#define CUPILOT_MGPU_DRIVER(F)                                                 \
  F(cuInit)                                                                    \
  F(cuGetErrorName)                                                            \
  F(cuGetErrorString)                                                          \
  F(cuDeviceGet)                                                               \
  F(cuDeviceGetCount)                                                          \
  F(cuDeviceGetAttribute)                                                      \
  F(cuDevicePrimaryCtxRetain)                                                  \
  F(cuCtxPushCurrent_v2)                                                       \
  F(cuCtxPopCurrent_v2)                                                        \
  F(cuModuleLoadDataEx)                                                        \
  F(cuModuleUnload)                                                            \
  F(cuModuleGetFunction)                                                       \
  F(cuFuncSetAttribute)                                                        \
  F(cuLaunchKernel)                                                            \
  F(cuMemAlloc_v2)                                                             \
  F(cuMemAllocManaged)                                                         \
  F(cuMemFree_v2)                                                              \
  F(cuMemcpyAsync)                                                             \
  F(cuMemcpyHtoD_v2)                                                           \
  F(cuMemsetD16Async)                                                          \
  F(cuMemsetD32Async)                                                          \
  F(cuMemHostRegister_v2)                                                      \
  F(cuMemHostUnregister)                                                       \
  F(cuStreamCreate)                                                            \
  F(cuStreamDestroy_v2)                                                        \
  F(cuStreamSynchronize)                                                       \
  F(cuStreamWaitEvent)                                                         \
  F(cuEventCreate)                                                             \
  F(cuEventDestroy_v2)                                                         \
  F(cuEventRecord)                                                             \
  F(cuEventSynchronize)
// These may lack in older drivers, and are null then.
#define CUPILOT_MGPU_SINCE_11_8(F)                                             \
  F(cuLaunchKernelEx)                                                          \
  F(cuMemAllocAsync)                                                           \
  F(cuMemFreeAsync)                                                            \
  F(cuDeviceGetDefaultMemPool)                                                 \
  F(cuMemPoolGetAttribute)                                                     \
  F(cuMemPoolSetAttribute)
#if CUDA_VERSION >= 12000
#define CUPILOT_MGPU_NEWER_DRIVER(F)                                           \
  CUPILOT_MGPU_SINCE_11_8(F)                                                   \
  F(cuTensorMapEncodeTiled)
#else
#define CUPILOT_MGPU_NEWER_DRIVER(F) CUPILOT_MGPU_SINCE_11_8(F)
#endif

/// The driver's functions.
struct DriverTable {
#define F(NAME) decltype(&::NAME) NAME = nullptr;
  CUPILOT_MGPU_DRIVER(F)
  CUPILOT_MGPU_NEWER_DRIVER(F)
#undef F
};

/// The driver: libcuda.so.1 if that has a GPU (or is the cpu device's, put on
/// the loader's path), else the cpu device's that lies beside this library.
/// Ends the program where there is neither.
const DriverTable &driver();

/// What the driver calls \p Code, with its text.
std::string describe(CUresult Code);

/// Prints \p Problem and \p WayOut, and ends the program.
[[noreturn]] void fail(const std::string &Problem,
                       const std::string &WayOut = "");
/// The same for an error of the driver in what \p What says.
[[noreturn]] void fail(CUresult Code, const std::string &What,
                       const std::string &WayOut = "");

/// The device of this thread's later calls; 0 at first.
void setDefaultDevice(int Device);
int defaultDevice();

/// The name under which this thread last asked for \p Function, in quotes:
/// programs ask before each launch. Drivers tell no names after a fault.
std::string nameOf(CUfunction Function);

/// Makes the default device's primary context current as long as it lives.
class ActiveContext {
public:
  ActiveContext();
  ~ActiveContext();
  ActiveContext(const ActiveContext &) = delete;
  ActiveContext &operator=(const ActiveContext &) = delete;
};

} // namespace cupilot::mgpu

#endif // CUPILOT_LIB_MLIRRUNTIME_DRIVER_H
