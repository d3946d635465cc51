//===- Graph.h - Task graphs and their capture -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_RUNTIME_GRAPH_H
#define CUPILOT_LIB_CPUDEVICE_RUNTIME_GRAPH_H

#include "Work.h"
#include <memory>

struct CUgraphNode_st {
  cudaGraphNodeType Type = cudaGraphNodeTypeEmpty;
  cupilot::Work Job;
  std::vector<CUgraphNode_st *> Dependencies;
  CUgraph_st *Owner = nullptr;
  bool Enabled = true;
  std::vector<void *> Pointers; ///< What cudaGraphKernelNodeGetParams gave.
  /// In a copy of a graph (clone or executable): the node it was made from.
  const CUgraphNode_st *Origin = nullptr;
};

struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> Nodes; ///< As they were added.
  ~CUgraph_st();
};

struct CUgraphExec_st {
  std::unique_ptr<CUgraph_st> Graph; ///< Its own copy.
  unsigned long long Flags = 0;
};

struct CUstream_st {
  unsigned Flags = 0;
  int Priority = 0;
  unsigned long long Id = 0;
  // While captured: the graph, the stream that began, and the nodes that the
  // next one comes after.
  cudaGraph_t Graph = nullptr;
  CUstream_st *Origin = nullptr;
  std::vector<cudaGraphNode_t> Last;
  bool Lost = false; ///< A forbidden call ended the capture.
};

namespace cupilot {

/// Adds \p W to the graph that \p Stream is captured to, and tells so.
cudaError_t captureWork(cudaStream_t Stream, Work &W, bool &Captured);
/// Adds a node; its dependencies must be of the same graph.
cudaError_t addNode(cudaGraph_t Graph, const cudaGraphNode_t *Dependencies,
                    size_t Count, cudaGraphNodeType Type, Work Job,
                    cudaGraphNode_t *Result);
/// A copy with the same order of nodes; its nodes name their origins.
std::unique_ptr<CUgraph_st> copyGraph(const CUgraph_st &Graph);
/// Does all nodes, each after those that it depends on.
cudaError_t runGraph(CUgraph_st &Graph);
/// The streams whose work goes to \p Graph.
std::vector<CUstream_st *> capturingStreams(cudaGraph_t Graph);
bool isAcyclic(const CUgraph_st &Graph);
/// Whether all work of \p Graph's capture comes before the end of the stream
/// that began: else cudaErrorStreamCaptureUnjoined.
cudaError_t endCapture(cudaGraph_t Graph);
/// All streams leave the capture to \p Graph.
void forgetCapture(cudaGraph_t Graph);
/// The stream behind a handle; null for an unknown one. Handle 0 and the two
/// special ones are the streams that always exist.
CUstream_st *streamOf(cudaStream_t Handle);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_RUNTIME_GRAPH_H
