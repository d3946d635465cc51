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

LaunchConfig::LaunchConfig(const Shape &Dims, CUstream Stream) {
  auto U = [](uint64_t N) { return static_cast<unsigned>(N); };
  auto [X, Y, Z] = Dims.Grid;
  auto [BlockX, BlockY, BlockZ] = Dims.Block;
  Values = {U(X),      U(Y),           U(Z),   U(BlockX),  U(BlockY),
            U(BlockZ), U(Dims.Shared), Stream, Attributes, 0};
  if (Dims.Cluster != std::array<uint64_t, 3>{1, 1, 1}) {
    CUlaunchAttribute &A = Attributes[Values.numAttrs++];
    A.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    A.value.clusterDim = {U(Dims.Cluster[0]), U(Dims.Cluster[1]),
                          U(Dims.Cluster[2])};
  }
  if (Dims.Cooperative) {
    CUlaunchAttribute &A = Attributes[Values.numAttrs++];
    A.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    A.value.cooperative = 1;
  }
}

} // namespace cupilot::capture
