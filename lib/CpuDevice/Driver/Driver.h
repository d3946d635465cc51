//===- Driver.h - What the files of the driver API share --------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions of the CUDA Driver API with the names and meanings of its
// reference, made of the run time's: handles of streams, events and kernels are
// the same. What is missing here is a function that names itself and fails
// (Missing.cpp in the build folder, made from cuda.h).
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_DRIVER_DRIVER_H
#define CUPILOT_LIB_CPUDEVICE_DRIVER_DRIVER_H

#include "Runtime/Api.h"
#include <cuda.h>

#define CUPILOT_DRIVER                                                         \
  extern "C" __attribute__((visibility("default"))) CUresult CUDAAPI

/// Other names of a function: of per-thread default streams, which mean the
/// same here, and of versions that take the same arguments.
#define CUPILOT_DRIVER_ALIAS(NAME, ALIAS)                                      \
  CUPILOT_DRIVER cupilotAlias_##ALIAS() __asm__(#ALIAS)                        \
      __attribute__((alias(CUPILOT_TEXT(NAME))));
#define CUPILOT_TEXT(NAME) CUPILOT_TEXT2(NAME)
#define CUPILOT_TEXT2(NAME) #NAME

/// Defines the symbol NAME as a function that ignores its arguments: for hints.
#define CUPILOT_DRIVER_SYMBOL(NAME, RESULT)                                    \
  CUPILOT_DRIVER cupilotDriver_##NAME() __asm__(#NAME);                        \
  CUresult cupilotDriver_##NAME() { return RESULT; }

namespace cupilot {

/// The driver's code for an error of the run time: the same number, but for
/// those of the run time alone.
CUresult asDriver(cudaError_t Error);

inline void *pointer(CUdeviceptr Address) {
  return reinterpret_cast<void *>(Address);
}

/// The kernel behind a handle.
inline const void *kernelOf(CUfunction Function) { return Function; }

inline RegisteredModule *moduleOf(CUmodule Module) {
  return reinterpret_cast<RegisteredModule *>(Module);
}

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_DRIVER_DRIVER_H
