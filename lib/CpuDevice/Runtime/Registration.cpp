//===- Registration.cpp - What host code calls before main -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Api.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace cupilot;

namespace {
struct CallConfiguration {
  dim3 Grid, Block;
  size_t Shared;
  cudaStream_t Stream;
};
} // namespace

static thread_local std::vector<CallConfiguration> Configurations;

static RegisteredModule *moduleOf(void **Handle) {
  return reinterpret_cast<RegisteredModule *>(Handle);
}

CUPILOT_API void **__cudaRegisterFatBinary(void *Wrapper) {
  std::optional<DeviceImage> Image = imageAt(Wrapper);
  if (!Image) {
    std::fprintf(stderr,
                 "cupilot: error: the device code of '%s' has an unknown "
                 "format\ncupilot: note: build it with cupilot-cpucc, or with "
                 "nvcc -cudart shared\n",
                 fileOf(Wrapper).c_str());
    std::exit(2);
  }
  return reinterpret_cast<void **>(Device::get().addModule(std::move(*Image)));
}

CUPILOT_API void __cudaRegisterFatBinaryEnd(void **) {}
CUPILOT_API void __cudaUnregisterFatBinary(void **) {}
/// Called before the host's first access to a __managed__ variable.
CUPILOT_API char __cudaInitModule(void **Handle) {
  return Device::get().loadNow(moduleOf(Handle)) == cudaSuccess;
}

CUPILOT_API void __cudaRegisterFunction(void **Handle, const char *HostFunction,
                                        char *, const char *DeviceName, int,
                                        uint3 *, uint3 *, dim3 *, dim3 *,
                                        int *) {
  Device::get().addFunction(HostFunction, moduleOf(Handle), DeviceName);
}

CUPILOT_API void __cudaRegisterVar(void **Handle, char *HostVariable, char *,
                                   const char *DeviceName, int, size_t, int,
                                   int) {
  Device::get().addVariable(HostVariable, moduleOf(Handle), DeviceName);
}

CUPILOT_API void __cudaRegisterManagedVar(void **Handle, void **HostVariable,
                                          char *, const char *DeviceName, int,
                                          size_t, int, int) {
  Device::get().addManaged(HostVariable, moduleOf(Handle), DeviceName);
}

CUPILOT_API unsigned __cudaPushCallConfiguration(dim3 Grid, dim3 Block,
                                                 size_t Shared,
                                                 CUstream_st *Stream) {
  Configurations.push_back({Grid, Block, Shared, Stream});
  return 0;
}

CUPILOT_API cudaError_t __cudaPopCallConfiguration(dim3 *Grid, dim3 *Block,
                                                   size_t *Shared,
                                                   void *Stream) {
  if (Configurations.empty())
    return cudaErrorMissingConfiguration;
  CallConfiguration C = Configurations.back();
  Configurations.pop_back();
  *Grid = C.Grid;
  *Block = C.Block;
  *Shared = C.Shared;
  std::memcpy(Stream, &C.Stream, sizeof(C.Stream));
  return cudaSuccess;
}

#if CUDART_VERSION >= 12000
// Since CUDA 13, nvcc's stubs ask for a handle once; it is the function here.
CUPILOT_API cudaError_t __cudaGetKernel(cudaKernel_t *Kernel,
                                        const void *Function) {
  *Kernel = static_cast<cudaKernel_t>(const_cast<void *>(Function));
  return cudaSuccess;
}
CUPILOT_API cudaError_t __cudaLaunchKernel(cudaKernel_t Kernel, dim3 Grid,
                                           dim3 Block, void **Args,
                                           size_t Shared, cudaStream_t Stream) {
  return cudaLaunchKernel(Kernel, Grid, Block, Args, Shared, Stream);
}
CUPILOT_PTSZ(__cudaLaunchKernel)
CUPILOT_API cudaError_t cudaGetKernel(cudaKernel_t *Kernel,
                                      const void *Function) {
  RegisteredFunction *F;
  if (!Kernel)
    return checked(cudaErrorInvalidValue);
  if (cudaError_t E = Device::get().function(Function, &F))
    return checked(E);
  return __cudaGetKernel(Kernel, Function);
}
#endif

// References to textures and surfaces, of CUDA before 12: kernels that use them
// are refused by name.
CUPILOT_API void __cudaRegisterTexture() {}
CUPILOT_API void __cudaRegisterSurface() {}
