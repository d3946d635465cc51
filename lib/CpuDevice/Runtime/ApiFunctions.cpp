//===- ApiFunctions.cpp - Launches, function attributes, occupancy -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Api.h"
#include "Work.h"
#include "cupilot/Portable/LaunchLimits.h"
#include "cupilot/Roofline/CostModel.h"
#include "llvm/Support/Error.h"
#include <cstring>

using namespace cupilot;

/// Captured, or done at once without a copy of the arguments.
static cudaError_t launchOn(cudaStream_t Stream, const void *Function,
                            const LaunchShape &Shape, void **Args) {
  if (!isCapturing(Stream))
    return Device::get().launch(Function, Shape, Args);
  KernelWork K;
  if (cudaError_t E = makeKernelWork(Function, Shape, Args, K))
    return E;
  return submit(Stream, std::move(K));
}

static LaunchShape shape(dim3 Grid, dim3 Block, size_t Shared) {
  LaunchShape S;
  S.Grid = {Grid.x, Grid.y, Grid.z};
  S.Block = {Block.x, Block.y, Block.z};
  S.Shared = Shared;
  S.Cluster = {0, 0, 0}; // The kernel's own.
  return S;
}

CUPILOT_API cudaError_t cudaLaunchKernel(const void *Function, dim3 Grid,
                                         dim3 Block, void **Args, size_t Shared,
                                         cudaStream_t Stream) {
  return checked(launchOn(Stream, Function, shape(Grid, Block, Shared), Args));
}
CUPILOT_PTSZ(cudaLaunchKernel)
CUPILOT_API cudaError_t cudaLaunchCooperativeKernel(const void *Function,
                                                    dim3 Grid, dim3 Block,
                                                    void **Args, size_t Shared,
                                                    cudaStream_t Stream) {
  LaunchShape S = shape(Grid, Block, Shared);
  S.Cooperative = true;
  return checked(launchOn(Stream, Function, S, Args));
}
CUPILOT_PTSZ(cudaLaunchCooperativeKernel)
#if CUDART_VERSION >= 11080
CUPILOT_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *Config,
                                            const void *Function, void **Args) {
  if (!Config || (Config->numAttrs > 0 && !Config->attrs))
    return checked(cudaErrorInvalidValue);
  LaunchShape S =
      shape(Config->gridDim, Config->blockDim, Config->dynamicSmemBytes);
  for (unsigned I = 0; I < Config->numAttrs; ++I) {
    const cudaLaunchAttribute &A = Config->attrs[I];
    if (A.id == cudaLaunchAttributeClusterDimension)
      S.Cluster = {A.val.clusterDim.x, A.val.clusterDim.y, A.val.clusterDim.z};
    else if (A.id == cudaLaunchAttributeCooperative)
      S.Cooperative = A.val.cooperative != 0;
    // The others order streams or are hints: kernels run one after another.
  }
  return checked(launchOn(Config->stream, Function, S, Args));
}
CUPILOT_PTSZ(cudaLaunchKernelExC)
#endif

// Attributes.
CUPILOT_API cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *Attributes,
                                              const void *Function) {
  if (!Attributes)
    return checked(cudaErrorInvalidValue);
  RegisteredFunction *F;
  KernelFacts Facts;
  if (cudaError_t E = Device::get().function(Function, &F, &Facts))
    return checked(E);
  std::memset(Attributes, 0, sizeof(*Attributes));
  Attributes->sharedSizeBytes = Facts.StaticShared;
  Attributes->constSizeBytes = Facts.Constant;
  Attributes->localSizeBytes = Facts.Local;
  Attributes->maxThreadsPerBlock = static_cast<int>(Facts.MaxThreads);
  // Registers are given by ptxas, which does not take part here; what every
  // kernel may have.
  Attributes->numRegs = 32;
  Attributes->binaryVersion = Attributes->ptxVersion =
      static_cast<int>(F->Module->Loaded.Module->arch());
  Attributes->maxDynamicSharedSizeBytes = static_cast<int>(
      std::max<uint64_t>(F->MaxDynamicShared, Facts.StaticShared) -
      (F->MaxDynamicShared > UnrequestedShared ? 0 : Facts.StaticShared));
  Attributes->preferredShmemCarveout = F->Carveout;
#if CUDART_VERSION >= 12000
  Attributes->clusterDimMustBeSet = 0;
  Attributes->requiredClusterWidth = static_cast<int>(Facts.Cluster[0]);
  Attributes->requiredClusterHeight = static_cast<int>(Facts.Cluster[1]);
  Attributes->requiredClusterDepth = static_cast<int>(Facts.Cluster[2]);
#endif
  return checked();
}
CUPILOT_API cudaError_t cudaFuncSetAttribute(const void *Function,
                                             cudaFuncAttribute Attribute,
                                             int Value) {
  RegisteredFunction *F;
  KernelFacts Facts;
  if (cudaError_t E = Device::get().function(Function, &F, &Facts))
    return checked(E);
  switch (static_cast<int>(Attribute)) {
  case cudaFuncAttributeMaxDynamicSharedMemorySize:
    if (Value < 0 || static_cast<uint64_t>(Value) + Facts.StaticShared >
                         defaultGpu().SharedPerBlock)
      return checked(cudaErrorInvalidValue);
    F->MaxDynamicShared = static_cast<uint64_t>(Value);
    break;
  case cudaFuncAttributePreferredSharedMemoryCarveout:
    if (Value < -1 || Value > 100)
      return checked(cudaErrorInvalidValue);
    F->Carveout = Value;
    break;
#if CUDART_VERSION >= 11080
  case cudaFuncAttributeNonPortableClusterSizeAllowed:
    F->LargeClusters = Value != 0;
    break;
  case cudaFuncAttributeClusterSchedulingPolicyPreference:
    break;
#endif
  default:
    return checked(cudaErrorInvalidValue);
  }
  return checked();
}
static cudaError_t hint(const void *Function) {
  RegisteredFunction *F;
  return checked(Device::get().function(Function, &F));
}
CUPILOT_API cudaError_t cudaFuncSetCacheConfig(const void *Function,
                                               cudaFuncCache) {
  return hint(Function);
}
CUPILOT_API cudaError_t cudaFuncSetSharedMemConfig(const void *Function,
                                                   cudaSharedMemConfig) {
  return hint(Function);
}

// Occupancy, as lib/Roofline computes it, without registers.
CUPILOT_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    int *Blocks, const void *Function, int Threads, size_t Shared) {
  if (!Blocks || Threads <= 0)
    return checked(cudaErrorInvalidValue);
  RegisteredFunction *F;
  KernelFacts Facts;
  if (cudaError_t E = Device::get().function(Function, &F, &Facts))
    return checked(E);
  KernelResources Resources;
  Resources.StaticShared = Facts.StaticShared;
  LaunchShape Shape;
  Shape.Block = {static_cast<uint64_t>(Threads), 1, 1};
  Shape.Shared = Shared;
  *Blocks =
      static_cast<unsigned>(Threads) > Facts.MaxThreads
          ? 0
          : static_cast<int>(residentBlocks(defaultGpu(), Resources, Shape));
  return checked();
}
CUPILOT_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *Blocks, const void *F, int Threads, size_t Shared, unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(Blocks, F, Threads,
                                                       Shared);
}
CUPILOT_API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(
    size_t *Size, const void *Function, int Blocks, int Threads) {
  if (!Size || Blocks <= 0 || Threads <= 0)
    return checked(cudaErrorInvalidValue);
  RegisteredFunction *F;
  KernelFacts Facts;
  if (cudaError_t E = Device::get().function(Function, &F, &Facts))
    return checked(E);
  // The multiprocessor's memory for all blocks, 1 KiB of each for the system.
  uint64_t Each = std::min<uint64_t>(defaultGpu().SharedPerSM / Blocks - 1024,
                                     defaultGpu().SharedPerBlock);
  *Size = Each > Facts.StaticShared ? Each - Facts.StaticShared : 0;
  return checked();
}
#if CUDART_VERSION >= 11080
CUPILOT_API cudaError_t cudaOccupancyMaxPotentialClusterSize(
    int *Size, const void *Function, const cudaLaunchConfig_t *Config) {
  if (!Size || !Config)
    return checked(cudaErrorInvalidValue);
  *Size = 8; // The portable size (CUDA C++ Programming Guide, "Clusters").
  return hint(Function);
}
CUPILOT_API cudaError_t cudaOccupancyMaxActiveClusters(
    int *Clusters, const void *Function, const cudaLaunchConfig_t *Config) {
  if (!Clusters || !Config)
    return checked(cudaErrorInvalidValue);
  unsigned Size = 1;
  for (unsigned I = 0; I < Config->numAttrs; ++I)
    if (Config->attrs[I].id == cudaLaunchAttributeClusterDimension) {
      auto Dim = Config->attrs[I].val.clusterDim;
      Size = std::max(1u, Dim.x * Dim.y * Dim.z);
    }
  int Blocks = 0;
  dim3 Block = Config->blockDim;
  if (cudaError_t E = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
          &Blocks, Function, static_cast<int>(Block.x * Block.y * Block.z),
          Config->dynamicSmemBytes))
    return E;
  *Clusters = static_cast<int>(static_cast<unsigned>(Blocks) *
                               defaultGpu().Multiprocessors / Size);
  return checked();
}
#endif
#if CUDART_VERSION >= 12030
CUPILOT_API cudaError_t cudaFuncGetName(const char **Name,
                                        const void *Function) {
  RegisteredFunction *F;
  if (!Name)
    return checked(cudaErrorInvalidValue);
  if (cudaError_t E = Device::get().function(Function, &F))
    return checked(E);
  *Name = F->Name.c_str();
  return checked();
}
#endif
