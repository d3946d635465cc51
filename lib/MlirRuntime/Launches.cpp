//===- Launches.cpp - Launches of MLIR programs -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include <array>
#include <limits>

using namespace cupilot::mgpu;

/// Blocks of more dynamic shared memory must ask for it.
static constexpr int32_t PlainShared = 48 << 10;
/// Larger clusters must ask for them, too.
static constexpr int64_t PlainCluster = 8;

using Dim = std::array<int64_t, 3>;

static std::string text(const Dim &D) {
  return "(" + std::to_string(D[0]) + ", " + std::to_string(D[1]) + ", " +
         std::to_string(D[2]) + ")";
}

namespace {
struct Launch {
  CUfunction Function;
  Dim Grid, Block;
  int32_t Shared;
  CUstream Stream;
  Dim Cluster = {1, 1, 1};

  int64_t clusterSize() const { return Cluster[0] * Cluster[1] * Cluster[2]; }
  std::string describe(const char *Caller) const;
  /// Asks for what \p Function must be allowed.
  void allow(CUfunction_attribute Attribute, int Value,
             const char *Caller) const;
  void run(void **Arguments, void **Extra, const char *Caller) const;
};
} // namespace

std::string Launch::describe(const char *Caller) const {
  std::string Text = std::string(Caller) + ": launch of " + nameOf(Function) +
                     " with grid " + text(Grid) + ", block " + text(Block);
  if (clusterSize() != 1)
    Text += ", cluster " + text(Cluster);
  return Text + ", " + std::to_string(Shared) + " bytes of shared memory";
}

void Launch::allow(CUfunction_attribute Attribute, int Value,
                   const char *Caller) const {
  if (CUresult E = driver().cuFuncSetAttribute(Function, Attribute, Value))
    fail(E, describe(Caller));
}

void Launch::run(void **Arguments, void **Extra, const char *Caller) const {
  const DriverTable &D = driver();
  for (const Dim *Dims : {&Grid, &Block, &Cluster})
    for (int64_t N : *Dims)
      if (N < 0 || N > std::numeric_limits<int32_t>::max())
        fail(describe(Caller) + ": a dimension is out of range");
  // A loop over nothing: CUDA has no empty launches.
  if (Grid[0] == 0 || Grid[1] == 0 || Grid[2] == 0)
    return;
  ActiveContext Active;
  if (Shared > PlainShared)
    allow(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, Shared, Caller);
  auto U = [](int64_t N) { return static_cast<unsigned>(N); };
  CUresult E;
  if (clusterSize() == 1) {
    E = D.cuLaunchKernel(Function, U(Grid[0]), U(Grid[1]), U(Grid[2]),
                         U(Block[0]), U(Block[1]), U(Block[2]), U(Shared),
                         Stream, Arguments, Extra);
  } else {
    if (!D.cuLaunchKernelEx)
      fail(describe(Caller) + ": the driver knows no clusters",
           "they need the driver of CUDA 11.8 or newer");
    if (clusterSize() > PlainCluster)
      allow(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1, Caller);
    CUlaunchAttribute Attribute = {};
    Attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    Attribute.value.clusterDim = {U(Cluster[0]), U(Cluster[1]), U(Cluster[2])};
    CUlaunchConfig Config = {};
    Config.gridDimX = U(Grid[0]);
    Config.gridDimY = U(Grid[1]);
    Config.gridDimZ = U(Grid[2]);
    Config.blockDimX = U(Block[0]);
    Config.blockDimY = U(Block[1]);
    Config.blockDimZ = U(Block[2]);
    Config.sharedMemBytes = U(Shared);
    Config.hStream = Stream;
    Config.attrs = &Attribute;
    Config.numAttrs = 1;
    E = D.cuLaunchKernelEx(&Config, Function, Arguments, Extra);
  }
  if (E != CUDA_SUCCESS)
    fail(E, describe(Caller));
}

CUPILOT_MGPU void mgpuLaunchKernel(CUfunction Function, intptr_t GridX,
                                   intptr_t GridY, intptr_t GridZ,
                                   intptr_t BlockX, intptr_t BlockY,
                                   intptr_t BlockZ, int32_t Shared,
                                   CUstream Stream, void **Arguments,
                                   void **Extra, size_t /*Count*/) {
  Launch{
      Function, {GridX, GridY, GridZ}, {BlockX, BlockY, BlockZ}, Shared, Stream}
      .run(Arguments, Extra, "mgpuLaunchKernel");
}

CUPILOT_MGPU void
mgpuLaunchClusterKernel(CUfunction Function, intptr_t ClusterX,
                        intptr_t ClusterY, intptr_t ClusterZ, intptr_t GridX,
                        intptr_t GridY, intptr_t GridZ, intptr_t BlockX,
                        intptr_t BlockY, intptr_t BlockZ, int32_t Shared,
                        CUstream Stream, void **Arguments, void **Extra) {
  Launch{
      Function, {GridX, GridY, GridZ},         {BlockX, BlockY, BlockZ}, Shared,
      Stream,   {ClusterX, ClusterY, ClusterZ}}
      .run(Arguments, Extra, "mgpuLaunchClusterKernel");
}
