//===- ApiGraphs.cpp - Building task graphs -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Api.h"
#include "Graph.h"
#include <set>

using namespace cupilot;

/// Since CUDA 13, edges carry data, which only programmatic launches need.
#if CUDART_VERSION >= 13000
#define CUPILOT_EDGES(TYPE) , TYPE
#else
#define CUPILOT_EDGES(TYPE)
#endif

static cudaError_t kernelJob(const cudaKernelNodeParams *P, KernelWork &Job) {
  if (!P || !P->func || P->extra)
    return cudaErrorInvalidValue;
  LaunchShape Shape;
  Shape.Grid = {P->gridDim.x, P->gridDim.y, P->gridDim.z};
  Shape.Block = {P->blockDim.x, P->blockDim.y, P->blockDim.z};
  Shape.Shared = P->sharedMemBytes;
  Shape.Cluster = {0, 0, 0}; // The kernel's own.
  return makeKernelWork(P->func, Shape, P->kernelParams, Job);
}

CUPILOT_API cudaError_t cudaGraphCreate(cudaGraph_t *Graph, unsigned Flags) {
  if (!Graph || Flags != 0)
    return checked(cudaErrorInvalidValue);
  *Graph = new CUgraph_st();
  return checked();
}
CUPILOT_API cudaError_t cudaGraphDestroy(cudaGraph_t Graph) {
  if (!Graph)
    return checked(cudaErrorInvalidValue);
  delete Graph;
  return checked();
}
CUPILOT_API cudaError_t cudaGraphClone(cudaGraph_t *Clone, cudaGraph_t Graph) {
  if (!Clone || !Graph)
    return checked(cudaErrorInvalidValue);
  *Clone = copyGraph(*Graph).release();
  return checked();
}

// Nodes.
CUPILOT_API cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *Node,
                                               cudaGraph_t Graph,
                                               const cudaGraphNode_t *Before,
                                               size_t Count,
                                               const cudaKernelNodeParams *P) {
  KernelWork Job;
  if (cudaError_t E = kernelJob(P, Job))
    return checked(E);
  return checked(addNode(Graph, Before, Count, cudaGraphNodeTypeKernel,
                         std::move(Job), Node));
}
CUPILOT_API cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *Node,
                                               cudaGraph_t Graph,
                                               const cudaGraphNode_t *Before,
                                               size_t Count,
                                               const cudaMemcpy3DParms *P) {
  CopyWork Job;
  if (cudaError_t E = P ? makeCopy(*P, Job) : cudaErrorInvalidValue)
    return checked(E);
  return checked(
      addNode(Graph, Before, Count, cudaGraphNodeTypeMemcpy, Job, Node));
}
CUPILOT_API cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *Node,
                                                 cudaGraph_t Graph,
                                                 const cudaGraphNode_t *Before,
                                                 size_t Count, void *To,
                                                 const void *From, size_t Size,
                                                 cudaMemcpyKind Kind) {
  return checked(addNode(Graph, Before, Count, cudaGraphNodeTypeMemcpy,
                         linearCopy(To, From, Size, Kind), Node));
}
CUPILOT_API cudaError_t cudaGraphAddMemcpyNodeToSymbol(
    cudaGraphNode_t *Node, cudaGraph_t Graph, const cudaGraphNode_t *Before,
    size_t Count, const void *Symbol, const void *From, size_t Size,
    size_t Offset, cudaMemcpyKind Kind) {
  void *To = nullptr;
  if (cudaError_t E = Device::get().variable(Symbol, &To, nullptr))
    return checked(E);
  return cudaGraphAddMemcpyNode1D(Node, Graph, Before, Count,
                                  static_cast<char *>(To) + Offset, From, Size,
                                  Kind);
}
CUPILOT_API cudaError_t cudaGraphAddMemcpyNodeFromSymbol(
    cudaGraphNode_t *Node, cudaGraph_t Graph, const cudaGraphNode_t *Before,
    size_t Count, void *To, const void *Symbol, size_t Size, size_t Offset,
    cudaMemcpyKind Kind) {
  void *From = nullptr;
  if (cudaError_t E = Device::get().variable(Symbol, &From, nullptr))
    return checked(E);
  return cudaGraphAddMemcpyNode1D(Node, Graph, Before, Count, To,
                                  static_cast<char *>(From) + Offset, Size,
                                  Kind);
}
CUPILOT_API cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *Node,
                                               cudaGraph_t Graph,
                                               const cudaGraphNode_t *Before,
                                               size_t Count,
                                               const cudaMemsetParams *P) {
  FillWork Job;
  if (cudaError_t E = P ? makeFill(*P, Job) : cudaErrorInvalidValue)
    return checked(E);
  return checked(
      addNode(Graph, Before, Count, cudaGraphNodeTypeMemset, Job, Node));
}
CUPILOT_API cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *Node,
                                             cudaGraph_t Graph,
                                             const cudaGraphNode_t *Before,
                                             size_t Count,
                                             const cudaHostNodeParams *P) {
  if (!P || !P->fn)
    return checked(cudaErrorInvalidValue);
  return checked(addNode(Graph, Before, Count, cudaGraphNodeTypeHost,
                         HostWork{P->fn, P->userData}, Node));
}
CUPILOT_API cudaError_t cudaGraphAddChildGraphNode(
    cudaGraphNode_t *Node, cudaGraph_t Graph, const cudaGraphNode_t *Before,
    size_t Count, cudaGraph_t Child) {
  if (!Child)
    return checked(cudaErrorInvalidValue);
  auto Copy = copyGraph(*Child);
  cudaError_t E = addNode(Graph, Before, Count, cudaGraphNodeTypeGraph,
                          ChildWork{Copy.get()}, Node);
  if (E == cudaSuccess)
    Copy.release(); // The node's now.
  return checked(E);
}
CUPILOT_API cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *Node,
                                              cudaGraph_t Graph,
                                              const cudaGraphNode_t *Before,
                                              size_t Count) {
  return checked(addNode(Graph, Before, Count, cudaGraphNodeTypeEmpty,
                         std::monostate(), Node));
}
CUPILOT_API cudaError_t cudaGraphAddEventRecordNode(
    cudaGraphNode_t *Node, cudaGraph_t Graph, const cudaGraphNode_t *Before,
    size_t Count, cudaEvent_t Event) {
  return checked(addNode(Graph, Before, Count, cudaGraphNodeTypeEventRecord,
                         EventWork{Event, /*Record=*/true}, Node));
}
CUPILOT_API cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *Node,
                                                  cudaGraph_t Graph,
                                                  const cudaGraphNode_t *Before,
                                                  size_t Count,
                                                  cudaEvent_t Event) {
  return checked(addNode(Graph, Before, Count, cudaGraphNodeTypeWaitEvent,
                         EventWork{Event, /*Record=*/false}, Node));
}
#if CUDART_VERSION >= 11040
CUPILOT_API cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *Node,
                                                 cudaGraph_t Graph,
                                                 const cudaGraphNode_t *Before,
                                                 size_t Count,
                                                 cudaMemAllocNodeParams *P) {
  if (!P)
    return checked(cudaErrorInvalidValue);
  if (cudaError_t E = Device::get().allocate(&P->dptr, P->bytesize,
                                             MemoryKind::Device, OwnedByGraph))
    return checked(E);
  return checked(addNode(Graph, Before, Count, cudaGraphNodeTypeMemAlloc,
                         AllocWork{P->dptr, P->bytesize}, Node));
}
CUPILOT_API cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *Node,
                                                cudaGraph_t Graph,
                                                const cudaGraphNode_t *Before,
                                                size_t Count, void *Pointer) {
  return checked(addNode(Graph, Before, Count, cudaGraphNodeTypeMemFree,
                         FreeWork{Pointer}, Node));
}
#endif

// Parameters of nodes.
template <class Job> static Job *jobOf(cudaGraphNode_t Node) {
  return Node ? std::get_if<Job>(&Node->Job) : nullptr;
}
CUPILOT_API cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t Node,
                                                     cudaKernelNodeParams *P) {
  auto *K = jobOf<KernelWork>(Node);
  if (!K || !P)
    return checked(cudaErrorInvalidValue);
  const LaunchShape &S = K->Shape;
  auto Dim = [](const std::array<uint64_t, 3> &D) {
    return dim3(static_cast<unsigned>(D[0]), static_cast<unsigned>(D[1]),
                static_cast<unsigned>(D[2]));
  };
  // The pointers live as long as the node does.
  Node->Pointers = K->pointers();
  *P = {const_cast<void *>(K->Function), Dim(S.Grid),           Dim(S.Block),
        static_cast<unsigned>(S.Shared), Node->Pointers.data(), nullptr};
  return checked();
}
CUPILOT_API cudaError_t cudaGraphKernelNodeSetParams(
    cudaGraphNode_t Node, const cudaKernelNodeParams *P) {
  auto *K = jobOf<KernelWork>(Node);
  KernelWork New; // Its arguments may point into the old one.
  if (cudaError_t E = K ? kernelJob(P, New) : cudaErrorInvalidValue)
    return checked(E);
  *K = std::move(New);
  return checked();
}
CUPILOT_API cudaError_t
cudaGraphMemcpyNodeSetParams(cudaGraphNode_t Node, const cudaMemcpy3DParms *P) {
  auto *C = jobOf<CopyWork>(Node);
  return checked(C && P ? makeCopy(*P, *C) : cudaErrorInvalidValue);
}
CUPILOT_API cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t Node,
                                                       void *To,
                                                       const void *From,
                                                       size_t Size,
                                                       cudaMemcpyKind Kind) {
  auto *C = jobOf<CopyWork>(Node);
  if (!C)
    return checked(cudaErrorInvalidValue);
  *C = linearCopy(To, From, Size, Kind);
  return checked();
}
CUPILOT_API cudaError_t
cudaGraphMemsetNodeSetParams(cudaGraphNode_t Node, const cudaMemsetParams *P) {
  auto *F = jobOf<FillWork>(Node);
  return checked(F && P ? makeFill(*P, *F) : cudaErrorInvalidValue);
}
CUPILOT_API cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t Node,
                                                   cudaHostNodeParams *P) {
  auto *H = jobOf<HostWork>(Node);
  if (!H || !P)
    return checked(cudaErrorInvalidValue);
  P->fn = H->Function;
  P->userData = H->Data;
  return checked();
}
CUPILOT_API cudaError_t
cudaGraphHostNodeSetParams(cudaGraphNode_t Node, const cudaHostNodeParams *P) {
  auto *H = jobOf<HostWork>(Node);
  if (!H || !P || !P->fn)
    return checked(cudaErrorInvalidValue);
  *H = {P->fn, P->userData};
  return checked();
}
CUPILOT_API cudaError_t cudaGraphNodeGetType(cudaGraphNode_t Node,
                                             cudaGraphNodeType *Type) {
  if (!Node || !Type)
    return checked(cudaErrorInvalidValue);
  *Type = Node->Type;
  return checked();
}
CUPILOT_API cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t Node,
                                                        cudaGraph_t *Graph) {
  auto *C = jobOf<ChildWork>(Node);
  if (!C || !Graph)
    return checked(cudaErrorInvalidValue);
  *Graph = C->Graph;
  return checked();
}

// The graph's form. Without room for the answer, its length is told.
template <class T>
static cudaError_t answer(const std::vector<T> &All, T *Out, size_t *Count) {
  if (!Count)
    return checked(cudaErrorInvalidValue);
  if (Out)
    for (size_t I = 0; I < *Count; ++I)
      Out[I] = I < All.size() ? All[I] : nullptr;
  *Count = Out ? std::min(*Count, All.size()) : All.size();
  return checked();
}
CUPILOT_API cudaError_t cudaGraphGetNodes(cudaGraph_t Graph,
                                          cudaGraphNode_t *Nodes,
                                          size_t *Count) {
  std::vector<cudaGraphNode_t> All;
  All.reserve(Graph->Nodes.size());
  for (auto &Node : Graph->Nodes)
    All.push_back(Node.get());
  return answer(All, Nodes, Count);
}
CUPILOT_API cudaError_t cudaGraphGetRootNodes(cudaGraph_t Graph,
                                              cudaGraphNode_t *Nodes,
                                              size_t *Count) {
  std::vector<cudaGraphNode_t> All;
  for (auto &Node : Graph->Nodes)
    if (Node->Dependencies.empty())
      All.push_back(Node.get());
  return answer(All, Nodes, Count);
}
CUPILOT_API cudaError_t cudaGraphGetEdges(
    cudaGraph_t Graph, cudaGraphNode_t *From,
    cudaGraphNode_t *To CUPILOT_EDGES(cudaGraphEdgeData *), size_t *Count) {
  std::vector<cudaGraphNode_t> Froms, Tos;
  for (auto &Node : Graph->Nodes)
    for (cudaGraphNode_t Dependency : Node->Dependencies) {
      Froms.push_back(Dependency);
      Tos.push_back(Node.get());
    }
  size_t Room = Count ? *Count : 0;
  answer(Froms, From, Count ? &Room : nullptr);
  return answer(Tos, To, Count);
}
CUPILOT_API cudaError_t cudaGraphNodeGetDependencies(
    cudaGraphNode_t Node,
    cudaGraphNode_t *Nodes CUPILOT_EDGES(cudaGraphEdgeData *), size_t *Count) {
  return answer(Node->Dependencies, Nodes, Count);
}
CUPILOT_API cudaError_t cudaGraphNodeGetDependentNodes(
    cudaGraphNode_t Node,
    cudaGraphNode_t *Nodes CUPILOT_EDGES(cudaGraphEdgeData *), size_t *Count) {
  std::vector<cudaGraphNode_t> All;
  for (auto &Other : Node->Owner->Nodes)
    for (cudaGraphNode_t Dependency : Other->Dependencies)
      if (Dependency == Node)
        All.push_back(Other.get());
  return answer(All, Nodes, Count);
}
CUPILOT_API cudaError_t cudaGraphAddDependencies(
    cudaGraph_t Graph, const cudaGraphNode_t *From,
    const cudaGraphNode_t *To CUPILOT_EDGES(const cudaGraphEdgeData *),
    size_t Count) {
  for (size_t I = 0; I < Count; ++I) {
    if (From[I]->Owner != Graph || To[I]->Owner != Graph || From[I] == To[I])
      return checked(cudaErrorInvalidValue);
    To[I]->Dependencies.push_back(From[I]);
  }
  return checked();
}
CUPILOT_API cudaError_t cudaGraphRemoveDependencies(
    cudaGraph_t, const cudaGraphNode_t *From,
    const cudaGraphNode_t *To CUPILOT_EDGES(const cudaGraphEdgeData *),
    size_t Count) {
  for (size_t I = 0; I < Count; ++I)
    if (std::erase(To[I]->Dependencies, From[I]) == 0)
      return checked(cudaErrorInvalidValue);
  return checked();
}
CUPILOT_API cudaError_t cudaGraphDestroyNode(cudaGraphNode_t Node) {
  if (!Node)
    return checked(cudaErrorInvalidValue);
  cudaGraph_t Graph = Node->Owner;
  for (auto &Other : Graph->Nodes)
    std::erase(Other->Dependencies, Node);
  if (auto *Child = jobOf<ChildWork>(Node))
    delete Child->Graph;
  std::erase_if(Graph->Nodes, [&](auto &N) { return N.get() == Node; });
  return checked();
}
CUPILOT_API cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *Result,
                                                 cudaGraphNode_t Node,
                                                 cudaGraph_t Clone) {
  for (auto &Twin : Clone->Nodes)
    if (Twin->Origin == Node) {
      *Result = Twin.get();
      return checked();
    }
  return checked(cudaErrorInvalidValue);
}
CUPILOT_IGNORE(cudaGraphKernelNodeCopyAttributes)
CUPILOT_IGNORE(cudaGraphKernelNodeSetAttribute)
CUPILOT_REFUSE(cudaGraphKernelNodeGetAttribute)
CUPILOT_REFUSE(cudaGraphConditionalHandleCreate)
CUPILOT_REFUSE(cudaGraphAddNode)
CUPILOT_REFUSE(cudaGraphDebugDotPrint)
CUPILOT_REFUSE(cudaUserObjectCreate)
