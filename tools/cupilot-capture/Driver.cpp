//===- Driver.cpp - The CUDA driver, found at run time -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include <dlfcn.h>

namespace cupilot::capture {

Obstacle Driver::load() {
  void *Library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!Library) {
    const char *Why = dlerror();
    return Why ? Why : "libcuda.so.1 cannot be loaded";
  }
#define F(NAME, TYPE)                                                          \
  NAME = reinterpret_cast<NAME##Type *>(dlsym(Library, #NAME));
  CUPILOT_DRIVER_FUNCTIONS(F)
#undef F
  if (!cuInit || !cuGetErrorName || !cuMemGetAddressRange_v2 ||
      !cuDeviceGetAttribute)
    return "libcuda.so.1 is no CUDA driver";
  return {};
}

std::string Driver::errorName(CUresult Code) const {
  const char *Name = nullptr;
  if (cuGetErrorName && cuGetErrorName(Code, &Name) == CUDA_SUCCESS && Name)
    return Name;
  return "error " + std::to_string(Code);
}

} // namespace cupilot::capture
