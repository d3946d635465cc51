//===- Graphs.cpp - Launches that graphs make -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recorder.h"

namespace cupilot::capture {

bool launchOfNode(const Driver &Cuda, CUgraphNode Node, LaunchCall &Call) {
  CUDA_KERNEL_NODE_PARAMS Params = {};
  if (!Cuda.cuGraphKernelNodeGetParams_v2 ||
      Cuda.cuGraphKernelNodeGetParams_v2(Node, &Params) != CUDA_SUCCESS)
    return false;
  Call.Function = Params.func ? static_cast<void *>(Params.func)
                              : static_cast<void *>(Params.kern);
  Call.Dims.Grid = {Params.gridDimX, Params.gridDimY, Params.gridDimZ};
  Call.Dims.Block = {Params.blockDimX, Params.blockDimY, Params.blockDimZ};
  Call.Dims.Shared = Params.sharedMemBytes;
  Call.Params = Params.kernelParams;
  Call.Extra = Params.extra;
  CUlaunchAttributeValue Value = {};
  auto Attribute = [&](CUlaunchAttributeID Id) {
    return Cuda.cuGraphKernelNodeGetAttribute &&
           Cuda.cuGraphKernelNodeGetAttribute(Node, Id, &Value) == CUDA_SUCCESS;
  };
  if (Attribute(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) && Value.clusterDim.x)
    Call.Dims.Cluster = {Value.clusterDim.x, Value.clusterDim.y,
                         Value.clusterDim.z};
  if (Attribute(CU_LAUNCH_ATTRIBUTE_COOPERATIVE))
    Call.Dims.Cooperative = Value.cooperative != 0;
  return Call.Function != nullptr;
}

void walkGraph(Recorder &R, CUgraph Graph) {
  size_t Count = 0;
  if (!R.Cuda.cuGraphGetNodes || !R.Cuda.cuGraphNodeGetType ||
      R.Cuda.cuGraphGetNodes(Graph, nullptr, &Count) != CUDA_SUCCESS)
    return;
  std::vector<CUgraphNode> Nodes(Count);
  if (R.Cuda.cuGraphGetNodes(Graph, Nodes.data(), &Count) != CUDA_SUCCESS)
    return;
  for (CUgraphNode Node : Nodes) {
    CUgraphNodeType Type;
    if (R.Cuda.cuGraphNodeGetType(Node, &Type) != CUDA_SUCCESS)
      continue;
    CUgraph Child = nullptr;
    if (LaunchCall Call; Type == CU_GRAPH_NODE_TYPE_KERNEL) {
      if (launchOfNode(R.Cuda, Node, Call))
        R.inGraph(Call);
    } else if (Type == CU_GRAPH_NODE_TYPE_GRAPH &&
               R.Cuda.cuGraphChildGraphNodeGetGraph &&
               R.Cuda.cuGraphChildGraphNodeGetGraph(Node, &Child) ==
                   CUDA_SUCCESS)
      walkGraph(R, Child);
  }
}

} // namespace cupilot::capture
