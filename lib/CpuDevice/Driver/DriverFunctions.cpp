//===- DriverFunctions.cpp - Launches and kernels of the driver API -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include <algorithm>
#include <cstring>

using namespace cupilot;

/// The arguments, one by one, of a launch that passes them packed (CUDA Driver
/// API, cuLaunchKernel: "extra").
static CUresult unpack(const void *Kernel, void **Extra,
                       std::vector<void *> &Args) {
  char *Buffer = nullptr;
  size_t Size = 0;
  for (; *Extra != CU_LAUNCH_PARAM_END; Extra += 2) {
    if (Extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
      Buffer = static_cast<char *>(Extra[1]);
    else if (Extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE)
      Size = *static_cast<size_t *>(Extra[1]);
    else
      return CUDA_ERROR_INVALID_VALUE;
  }
  RegisteredFunction *F;
  KernelFacts Facts;
  if (cudaError_t E = Device::get().function(Kernel, &F, &Facts))
    return asDriver(E);
  std::vector<uint64_t> Sizes;
  if (cudaError_t E = Device::get().paramSizes(Kernel, Sizes))
    return asDriver(E);
  if (Sizes.size() != Facts.ParamOffsets.size())
    return asDriver(unsupported("packed arguments of this kernel"));
  for (size_t I = 0; I < Sizes.size(); ++I) {
    if (!Buffer || Facts.ParamOffsets[I] + Sizes[I] > Size)
      return CUDA_ERROR_INVALID_VALUE;
    Args.push_back(Buffer + Facts.ParamOffsets[I]);
  }
  return CUDA_SUCCESS;
}

#if CUDA_VERSION >= 11080
static CUresult launch(const CUlaunchConfig &Config, CUfunction Function,
                       void **Args, void **Extra) {
  std::vector<void *> Unpacked;
  if (!Args && Extra) {
    if (CUresult E = unpack(kernelOf(Function), Extra, Unpacked))
      return E;
    Args = Unpacked.data();
  }
  static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute),
                "the run time's attributes are the driver's");
  cudaLaunchConfig_t C = {};
  C.gridDim = dim3(Config.gridDimX, Config.gridDimY, Config.gridDimZ);
  C.blockDim = dim3(Config.blockDimX, Config.blockDimY, Config.blockDimZ);
  C.dynamicSmemBytes = Config.sharedMemBytes;
  C.stream = Config.hStream;
  C.attrs = reinterpret_cast<cudaLaunchAttribute *>(Config.attrs);
  C.numAttrs = Config.numAttrs;
  return asDriver(cudaLaunchKernelExC(&C, kernelOf(Function), Args));
}
CUPILOT_DRIVER cuLaunchKernelEx(const CUlaunchConfig *Config,
                                CUfunction Function, void **Args,
                                void **Extra) {
  return Config ? launch(*Config, Function, Args, Extra)
                : CUDA_ERROR_INVALID_VALUE;
}
CUPILOT_DRIVER_ALIAS(cuLaunchKernelEx, cuLaunchKernelEx_ptsz)
CUPILOT_DRIVER cuLaunchKernel(CUfunction Function, unsigned GridX,
                              unsigned GridY, unsigned GridZ, unsigned BlockX,
                              unsigned BlockY, unsigned BlockZ, unsigned Shared,
                              CUstream Stream, void **Args, void **Extra) {
  CUlaunchConfig C = {};
  C.gridDimX = GridX;
  C.gridDimY = GridY;
  C.gridDimZ = GridZ;
  C.blockDimX = BlockX;
  C.blockDimY = BlockY;
  C.blockDimZ = BlockZ;
  C.sharedMemBytes = Shared;
  C.hStream = Stream;
  return launch(C, Function, Args, Extra);
}
CUPILOT_DRIVER_ALIAS(cuLaunchKernel, cuLaunchKernel_ptsz)
#endif
CUPILOT_DRIVER cuLaunchCooperativeKernel(CUfunction Function, unsigned GridX,
                                         unsigned GridY, unsigned GridZ,
                                         unsigned BlockX, unsigned BlockY,
                                         unsigned BlockZ, unsigned Shared,
                                         CUstream Stream, void **Args) {
  return asDriver(cudaLaunchCooperativeKernel(
      kernelOf(Function), dim3(GridX, GridY, GridZ),
      dim3(BlockX, BlockY, BlockZ), Args, Shared, Stream));
}
CUPILOT_DRIVER_ALIAS(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel_ptsz)

// What a kernel is.
CUPILOT_DRIVER cuFuncGetAttribute(int *Value, CUfunction_attribute Attribute,
                                  CUfunction Function) {
  if (!Value)
    return CUDA_ERROR_INVALID_VALUE;
  cudaFuncAttributes A;
  if (cudaError_t E = cudaFuncGetAttributes(&A, kernelOf(Function)))
    return asDriver(E);
  switch (static_cast<int>(Attribute)) {
  case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    *Value = A.maxThreadsPerBlock;
    break;
  case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
    *Value = static_cast<int>(A.sharedSizeBytes);
    break;
  case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    *Value = static_cast<int>(A.constSizeBytes);
    break;
  case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
    *Value = static_cast<int>(A.localSizeBytes);
    break;
  case CU_FUNC_ATTRIBUTE_NUM_REGS:
    *Value = A.numRegs;
    break;
  case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    *Value = A.ptxVersion;
    break;
  case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
    *Value = A.binaryVersion;
    break;
  case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    *Value = A.cacheModeCA;
    break;
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    *Value = A.maxDynamicSharedSizeBytes;
    break;
  case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    *Value = A.preferredShmemCarveout;
    break;
  default:
    return asDriver(unsupported("this attribute of kernels"));
  }
  return CUDA_SUCCESS;
}
CUPILOT_DRIVER cuFuncSetAttribute(CUfunction Function,
                                  CUfunction_attribute Attribute, int Value) {
  // The numbers are the run time's.
  return asDriver(cudaFuncSetAttribute(
      kernelOf(Function), static_cast<cudaFuncAttribute>(Attribute), Value));
}
CUPILOT_DRIVER_SYMBOL(cuFuncSetCacheConfig, CUDA_SUCCESS)
CUPILOT_DRIVER_SYMBOL(cuFuncSetSharedMemConfig, CUDA_SUCCESS)
CUPILOT_DRIVER cuFuncGetModule(CUmodule *Module, CUfunction Function) {
  RegisteredFunction *F;
  if (!Module)
    return CUDA_ERROR_INVALID_VALUE;
  if (cudaError_t E = Device::get().function(kernelOf(Function), &F))
    return asDriver(E);
  *Module = reinterpret_cast<CUmodule>(F->Module);
  return CUDA_SUCCESS;
}
#if CUDA_VERSION >= 12030
CUPILOT_DRIVER cuFuncGetName(const char **Name, CUfunction Function) {
  return asDriver(cudaFuncGetName(Name, kernelOf(Function)));
}
CUPILOT_DRIVER cuKernelGetName(const char **Name, CUkernel Kernel) {
  return asDriver(cudaFuncGetName(Name, Kernel));
}
#endif
#if CUDA_VERSION >= 12040
CUPILOT_DRIVER cuFuncGetParamInfo(CUfunction Function, size_t Index,
                                  size_t *Offset, size_t *Size) {
  RegisteredFunction *F;
  KernelFacts Facts;
  if (cudaError_t E = Device::get().function(kernelOf(Function), &F, &Facts))
    return asDriver(E);
  std::vector<uint64_t> Sizes;
  if (cudaError_t E = Device::get().paramSizes(kernelOf(Function), Sizes))
    return asDriver(E);
  if (!Offset || Index >= Sizes.size() || Index >= Facts.ParamOffsets.size())
    return CUDA_ERROR_INVALID_VALUE;
  *Offset = Facts.ParamOffsets[Index];
  if (Size)
    *Size = Sizes[Index];
  return CUDA_SUCCESS;
}
CUPILOT_DRIVER_SYMBOL(cuFuncLoad, CUDA_SUCCESS)
#endif

// Occupancy.
CUPILOT_DRIVER cuOccupancyMaxActiveBlocksPerMultiprocessor(int *Blocks,
                                                           CUfunction Function,
                                                           int Threads,
                                                           size_t Shared) {
  return asDriver(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      Blocks, kernelOf(Function), Threads, Shared));
}
CUPILOT_DRIVER cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *Blocks, CUfunction Function, int Threads, size_t Shared, unsigned) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(Blocks, Function, Threads,
                                                     Shared);
}
/// The block that keeps most threads resident; the largest of equals.
CUPILOT_DRIVER cuOccupancyMaxPotentialBlockSize(int *Grid, int *Block,
                                                CUfunction Function,
                                                CUoccupancyB2DSize SharedOf,
                                                size_t Shared, int Limit) {
  if (!Grid || !Block)
    return CUDA_ERROR_INVALID_VALUE;
  int Most = 0, Processors = 0;
  if (CUresult E = cuFuncGetAttribute(
          &Most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, Function))
    return E;
  cudaDeviceGetAttribute(&Processors, cudaDevAttrMultiProcessorCount, 0);
  if (Limit > 0)
    Most = std::min(Most, Limit);
  int Best = 0;
  for (int Threads = Most; Threads > 0; Threads = (Threads - 1) / 32 * 32) {
    int Blocks = 0;
    if (CUresult E = cuOccupancyMaxActiveBlocksPerMultiprocessor(
            &Blocks, Function, Threads, SharedOf ? SharedOf(Threads) : Shared))
      return E;
    if (Blocks * Threads > Best) {
      Best = Blocks * Threads;
      *Block = Threads;
      *Grid = Blocks * Processors;
    }
  }
  return Best ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUPILOT_DRIVER cuOccupancyMaxPotentialBlockSizeWithFlags(
    int *Grid, int *Block, CUfunction Function, CUoccupancyB2DSize SharedOf,
    size_t Shared, int Limit, unsigned) {
  return cuOccupancyMaxPotentialBlockSize(Grid, Block, Function, SharedOf,
                                          Shared, Limit);
}
CUPILOT_DRIVER cuOccupancyAvailableDynamicSMemPerBlock(size_t *Size,
                                                       CUfunction Function,
                                                       int Blocks,
                                                       int Threads) {
  return asDriver(cudaOccupancyAvailableDynamicSMemPerBlock(
      Size, kernelOf(Function), Blocks, Threads));
}
