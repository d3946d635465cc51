//===- Graph.cpp - Task graphs and their capture -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Graph.h"
#include <map>
#include <set>

using namespace cupilot;

CUgraph_st::~CUgraph_st() {
  for (auto &Node : Nodes)
    if (auto *Child = std::get_if<ChildWork>(&Node->Job))
      delete Child->Graph;
}

cudaError_t cupilot::addNode(cudaGraph_t Graph,
                             const cudaGraphNode_t *Dependencies, size_t Count,
                             cudaGraphNodeType Type, Work Job,
                             cudaGraphNode_t *Result) {
  if (!Graph || !Result || (Count > 0 && !Dependencies))
    return cudaErrorInvalidValue;
  auto Node = std::make_unique<CUgraphNode_st>();
  for (size_t I = 0; I < Count; ++I) {
    if (!Dependencies[I] || Dependencies[I]->Owner != Graph)
      return cudaErrorInvalidValue;
    Node->Dependencies.push_back(Dependencies[I]);
  }
  Node->Type = Type;
  Node->Job = std::move(Job);
  Node->Owner = Graph;
  *Result = Node.get();
  Graph->Nodes.push_back(std::move(Node));
  return cudaSuccess;
}

std::unique_ptr<CUgraph_st> cupilot::copyGraph(const CUgraph_st &Graph) {
  auto Copy = std::make_unique<CUgraph_st>();
  std::map<const CUgraphNode_st *, CUgraphNode_st *> Twins;
  for (const auto &Node : Graph.Nodes) {
    Copy->Nodes.push_back(std::make_unique<CUgraphNode_st>(*Node));
    CUgraphNode_st &Twin = *Copy->Nodes.back();
    Twin.Owner = Copy.get();
    Twin.Origin = Node.get();
    if (auto *Child = std::get_if<ChildWork>(&Twin.Job))
      Child->Graph = copyGraph(*Child->Graph).release();
    Twins[Node.get()] = &Twin;
  }
  for (auto &Node : Copy->Nodes)
    for (CUgraphNode_st *&Dependency : Node->Dependencies)
      Dependency = Twins[Dependency];
  return Copy;
}

/// The nodes, each after those that it depends on; fewer when there is a
/// cycle. Dependencies may have been added after the nodes.
static std::vector<CUgraphNode_st *> inOrder(const CUgraph_st &Graph) {
  std::vector<CUgraphNode_st *> Order;
  std::set<const CUgraphNode_st *> Done;
  for (size_t Before = 0;; Before = Order.size()) {
    for (auto &Node : Graph.Nodes) {
      bool Ready = !Done.count(Node.get());
      for (CUgraphNode_st *Dependency : Node->Dependencies)
        Ready = Ready && Done.count(Dependency) > 0;
      if (Ready) {
        Done.insert(Node.get());
        Order.push_back(Node.get());
      }
    }
    if (Order.size() == Before)
      return Order;
  }
}

bool cupilot::isAcyclic(const CUgraph_st &Graph) {
  return inOrder(Graph).size() == Graph.Nodes.size();
}

cudaError_t cupilot::runGraph(CUgraph_st &Graph) {
  for (CUgraphNode_st *Node : inOrder(Graph))
    if (Node->Enabled)
      if (cudaError_t E = execute(Node->Job))
        return E;
  return cudaSuccess;
}

//===----------------------------------------------------------------------===//
// Capture
//===----------------------------------------------------------------------===//

bool cupilot::isCapturing(cudaStream_t Stream) {
  CUstream_st *S = streamOf(Stream);
  return S && S->Graph;
}

cudaError_t cupilot::refuseCapture(cudaStream_t Stream) {
  CUstream_st *S = streamOf(Stream);
  if (!S)
    return cudaErrorInvalidResourceHandle;
  if (!S->Graph)
    return cudaSuccess;
  S->Origin->Lost = true;
  return cudaErrorStreamCaptureUnsupported;
}

static cudaGraphNodeType typeOf(const Work &W) {
  static constexpr cudaGraphNodeType Types[] = {
      cudaGraphNodeTypeEmpty,  cudaGraphNodeTypeKernel,
      cudaGraphNodeTypeMemcpy, cudaGraphNodeTypeMemset,
      cudaGraphNodeTypeHost,   cudaGraphNodeTypeEventRecord,
      cudaGraphNodeTypeGraph,  cudaGraphNodeTypeMemAlloc,
      cudaGraphNodeTypeMemFree};
  if (const auto *E = std::get_if<EventWork>(&W); E && !E->Record)
    return cudaGraphNodeTypeWaitEvent;
  return Types[W.index()];
}

cudaError_t cupilot::captureWork(cudaStream_t Stream, Work &W, bool &Captured) {
  CUstream_st *S = streamOf(Stream);
  if (!S)
    return cudaErrorInvalidResourceHandle;
  auto *E = std::get_if<EventWork>(&W);
  if (!S->Graph) {
    // An event of a captured stream makes the one that waits for it join.
    if (!E || E->Record || !E->Event->Graph)
      return cudaSuccess;
    S->Graph = E->Event->Graph;
    S->Origin = E->Event->Stream;
    S->Last = E->Event->Nodes;
    Captured = true;
    return cudaSuccess;
  }
  Captured = true;
  if (S->Origin->Lost)
    return cudaErrorStreamCaptureInvalidated;
  if (E && E->Record) {
    E->Event->Graph = S->Graph;
    E->Event->Stream = S->Origin;
    E->Event->Nodes = S->Last;
    return cudaSuccess;
  }
  if (E) {
    if (E->Event->Graph != S->Graph)
      return E->Event->Graph ? cudaErrorStreamCaptureMerge
                             : cudaErrorStreamCaptureIsolation;
    S->Last.insert(S->Last.end(), E->Event->Nodes.begin(),
                   E->Event->Nodes.end());
    return cudaSuccess;
  }
  cudaGraphNode_t Node;
  cudaGraphNodeType Type = typeOf(W);
  if (cudaError_t Error = addNode(S->Graph, S->Last.data(), S->Last.size(),
                                  Type, std::move(W), &Node))
    return Error;
  S->Last = {Node};
  return cudaSuccess;
}

cudaError_t cupilot::endCapture(cudaGraph_t Graph) {
  // Every last node of a stream that joined must be reached from the end of the
  // one that began.
  std::set<CUgraphNode_st *> Reached;
  std::vector<CUgraphNode_st *> Work;
  std::vector<CUstream_st *> Joined = capturingStreams(Graph);
  for (CUstream_st *S : Joined)
    if (S->Origin == S)
      Work = S->Last;
  while (!Work.empty()) {
    CUgraphNode_st *Node = Work.back();
    Work.pop_back();
    if (Reached.insert(Node).second)
      Work.insert(Work.end(), Node->Dependencies.begin(),
                  Node->Dependencies.end());
  }
  for (CUstream_st *S : Joined)
    for (CUgraphNode_st *Node : S->Last)
      if (!Reached.count(Node))
        return cudaErrorStreamCaptureUnjoined;
  return cudaSuccess;
}

void cupilot::forgetCapture(cudaGraph_t Graph) {
  for (CUstream_st *S : capturingStreams(Graph)) {
    S->Graph = nullptr;
    S->Origin = nullptr;
    S->Last.clear();
  }
}
