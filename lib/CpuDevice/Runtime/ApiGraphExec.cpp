//===- ApiGraphExec.cpp - Capturing, instantiating and launching graphs -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Api.h"
#include "Graph.h"
#include <map>

using namespace cupilot;

// Capture. What is queued meanwhile is not done.
CUPILOT_API cudaError_t cudaStreamBeginCapture(cudaStream_t Stream,
                                               cudaStreamCaptureMode) {
  CUstream_st *S = streamOf(Stream);
  if (!S)
    return checked(cudaErrorInvalidResourceHandle);
  if (!Stream || Stream == cudaStreamLegacy) // It cannot be captured.
    return checked(cudaErrorStreamCaptureUnsupported);
  if (S->Graph)
    return checked(cudaErrorIllegalState);
  S->Graph = new CUgraph_st();
  S->Origin = S;
  S->Lost = false;
  S->Last.clear();
  return checked();
}
CUPILOT_PTSZ(cudaStreamBeginCapture)
CUPILOT_API cudaError_t cudaStreamEndCapture(cudaStream_t Stream,
                                             cudaGraph_t *Graph) {
  CUstream_st *S = streamOf(Stream);
  if (!S || !Graph)
    return checked(S ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
  *Graph = nullptr;
  if (!S->Graph)
    return checked(cudaErrorIllegalState);
  if (S->Origin != S)
    return checked(cudaErrorStreamCaptureUnmatched);
  cudaError_t E =
      S->Lost ? cudaErrorStreamCaptureInvalidated : endCapture(S->Graph);
  if (E == cudaSuccess)
    *Graph = S->Graph;
  else
    delete S->Graph;
  forgetCapture(S->Graph);
  return checked(E);
}
CUPILOT_PTSZ(cudaStreamEndCapture)
CUPILOT_API cudaError_t cudaStreamIsCapturing(cudaStream_t Stream,
                                              cudaStreamCaptureStatus *Status) {
  CUstream_st *S = streamOf(Stream);
  if (!S || !Status)
    return checked(S ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
  *Status = !S->Graph         ? cudaStreamCaptureStatusNone
            : S->Origin->Lost ? cudaStreamCaptureStatusInvalidated
                              : cudaStreamCaptureStatusActive;
  return checked();
}
CUPILOT_PTSZ(cudaStreamIsCapturing)
static cudaError_t captureInfo(cudaStream_t Stream,
                               cudaStreamCaptureStatus *Status,
                               unsigned long long *Id, cudaGraph_t *Graph,
                               const cudaGraphNode_t **Nodes, size_t *Count) {
  if (cudaError_t E = cudaStreamIsCapturing(Stream, Status))
    return E;
  CUstream_st *S = streamOf(Stream);
  if (!S->Graph)
    return cudaSuccess;
  if (Id)
    *Id = S->Origin->Id;
  if (Graph)
    *Graph = S->Graph;
  if (Nodes)
    *Nodes = S->Last.data();
  if (Count)
    *Count = S->Last.size();
  return cudaSuccess;
}
#if CUDART_VERSION >= 13000
CUPILOT_API cudaError_t cudaStreamGetCaptureInfo(
    cudaStream_t Stream, cudaStreamCaptureStatus *Status,
    unsigned long long *Id, cudaGraph_t *Graph, const cudaGraphNode_t **Nodes,
    const cudaGraphEdgeData **Edges, size_t *Count) {
  if (Edges)
    *Edges = nullptr;
  return captureInfo(Stream, Status, Id, Graph, Nodes, Count);
}
CUPILOT_PTSZ(cudaStreamGetCaptureInfo)
#else
#undef cudaStreamGetCaptureInfo_v2
CUPILOT_API cudaError_t cudaStreamGetCaptureInfo_v2(
    cudaStream_t Stream, cudaStreamCaptureStatus *Status,
    unsigned long long *Id, cudaGraph_t *Graph, const cudaGraphNode_t **Nodes,
    size_t *Count) {
  return captureInfo(Stream, Status, Id, Graph, Nodes, Count);
}
#endif
CUPILOT_API cudaError_t
cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *Mode) {
  static thread_local cudaStreamCaptureMode Current =
      cudaStreamCaptureModeGlobal;
  if (!Mode)
    return checked(cudaErrorInvalidValue);
  std::swap(*Mode, Current);
  return checked();
}
CUPILOT_REFUSE(cudaStreamBeginCaptureToGraph)
CUPILOT_REFUSE(cudaStreamUpdateCaptureDependencies)

// Executable graphs.
static cudaError_t instantiate(cudaGraphExec_t *Result, cudaGraph_t Graph,
                               unsigned long long Flags) {
  if (!Result || !Graph)
    return cudaErrorInvalidValue;
  if (!isAcyclic(*Graph))
    return cudaErrorInvalidValue;
  *Result = new CUgraphExec_st{copyGraph(*Graph), Flags};
  return cudaSuccess;
}
#if CUDART_VERSION >= 12000
CUPILOT_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t *Result,
                                             cudaGraph_t Graph,
                                             unsigned long long Flags) {
  return checked(instantiate(Result, Graph, Flags));
}
CUPILOT_API cudaError_t cudaGraphInstantiateWithParams(
    cudaGraphExec_t *Result, cudaGraph_t Graph, cudaGraphInstantiateParams *P) {
  if (!P)
    return checked(cudaErrorInvalidValue);
  cudaError_t E = instantiate(Result, Graph, P->flags);
  P->errNode_out = nullptr;
  P->result_out = E == cudaSuccess ? cudaGraphInstantiateSuccess
                                   : cudaGraphInstantiateError;
  return checked(E);
}
CUPILOT_PTSZ(cudaGraphInstantiateWithParams)
CUPILOT_API cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t Exec,
                                              unsigned long long *Flags) {
  if (!Exec || !Flags)
    return checked(cudaErrorInvalidValue);
  *Flags = Exec->Flags;
  return checked();
}
#else
CUPILOT_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t *Result,
                                             cudaGraph_t Graph,
                                             cudaGraphNode_t *ErrorNode,
                                             char *Log, size_t Size) {
  if (ErrorNode)
    *ErrorNode = nullptr;
  if (Log && Size > 0)
    *Log = 0;
  return checked(instantiate(Result, Graph, 0));
}
#endif
CUPILOT_API cudaError_t cudaGraphInstantiateWithFlags(
    cudaGraphExec_t *Result, cudaGraph_t Graph, unsigned long long Flags) {
  return checked(instantiate(Result, Graph, Flags));
}
CUPILOT_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t Exec) {
  if (!Exec)
    return checked(cudaErrorInvalidValue);
  delete Exec;
  return checked();
}
CUPILOT_API cudaError_t cudaGraphUpload(cudaGraphExec_t Exec,
                                        cudaStream_t Stream) {
  return checked(!Exec              ? cudaErrorInvalidValue
                 : streamOf(Stream) ? cudaSuccess
                                    : cudaErrorInvalidResourceHandle);
}
CUPILOT_PTSZ(cudaGraphUpload)
CUPILOT_API cudaError_t cudaGraphLaunch(cudaGraphExec_t Exec,
                                        cudaStream_t Stream) {
  if (!Exec || !streamOf(Stream))
    return checked(Exec ? cudaErrorInvalidResourceHandle
                        : cudaErrorInvalidValue);
  if (isCapturing(Stream)) // It becomes a child of the graph being captured.
    return checked(
        submit(Stream, ChildWork{copyGraph(*Exec->Graph).release()}));
  if (cudaError_t E = checked())
    return E;
  return checked(runGraph(*Exec->Graph));
}
CUPILOT_PTSZ(cudaGraphLaunch)

/// The executable's own node for a node of the graph it was made from.
static cudaGraphNode_t twin(cudaGraphExec_t Exec, cudaGraphNode_t Node) {
  if (Exec)
    for (auto &Own : Exec->Graph->Nodes)
      if (Own->Origin == Node)
        return Own.get();
  return nullptr;
}
CUPILOT_API cudaError_t cudaGraphExecKernelNodeSetParams(
    cudaGraphExec_t Exec, cudaGraphNode_t Node, const cudaKernelNodeParams *P) {
  return cudaGraphKernelNodeSetParams(twin(Exec, Node), P);
}
CUPILOT_API cudaError_t cudaGraphExecMemcpyNodeSetParams(
    cudaGraphExec_t Exec, cudaGraphNode_t Node, const cudaMemcpy3DParms *P) {
  return cudaGraphMemcpyNodeSetParams(twin(Exec, Node), P);
}
CUPILOT_API cudaError_t cudaGraphExecMemcpyNodeSetParams1D(
    cudaGraphExec_t Exec, cudaGraphNode_t Node, void *To, const void *From,
    size_t Size, cudaMemcpyKind Kind) {
  return cudaGraphMemcpyNodeSetParams1D(twin(Exec, Node), To, From, Size, Kind);
}
CUPILOT_API cudaError_t cudaGraphExecMemsetNodeSetParams(
    cudaGraphExec_t Exec, cudaGraphNode_t Node, const cudaMemsetParams *P) {
  return cudaGraphMemsetNodeSetParams(twin(Exec, Node), P);
}
CUPILOT_API cudaError_t cudaGraphExecHostNodeSetParams(
    cudaGraphExec_t Exec, cudaGraphNode_t Node, const cudaHostNodeParams *P) {
  return cudaGraphHostNodeSetParams(twin(Exec, Node), P);
}
CUPILOT_API cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t Exec,
                                                cudaGraphNode_t Node,
                                                unsigned Enabled) {
  cudaGraphNode_t Own = twin(Exec, Node);
  if (!Own)
    return checked(cudaErrorInvalidValue);
  Own->Enabled = Enabled != 0;
  return checked();
}
CUPILOT_API cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t Exec,
                                                cudaGraphNode_t Node,
                                                unsigned *Enabled) {
  cudaGraphNode_t Own = twin(Exec, Node);
  if (!Own || !Enabled)
    return checked(cudaErrorInvalidValue);
  *Enabled = Own->Enabled;
  return checked();
}

/// Whether two graphs have the same nodes with the same dependencies, in order.
static bool sameForm(const CUgraph_st &A, const CUgraph_st &B) {
  if (A.Nodes.size() != B.Nodes.size())
    return false;
  std::map<const CUgraphNode_st *, const CUgraphNode_st *> Twins;
  for (size_t I = 0; I < A.Nodes.size(); ++I)
    Twins[A.Nodes[I].get()] = B.Nodes[I].get();
  for (size_t I = 0; I < A.Nodes.size(); ++I) {
    const CUgraphNode_st &Left = *A.Nodes[I], &Right = *B.Nodes[I];
    if (Left.Type != Right.Type ||
        Left.Dependencies.size() != Right.Dependencies.size())
      return false;
    for (size_t D = 0; D < Left.Dependencies.size(); ++D)
      if (Twins[Left.Dependencies[D]] != Right.Dependencies[D])
        return false;
  }
  return true;
}
static cudaError_t update(cudaGraphExec_t Exec, cudaGraph_t Graph) {
  if (!Exec || !Graph)
    return cudaErrorInvalidValue;
  if (!sameForm(*Exec->Graph, *Graph))
    return cudaErrorGraphExecUpdateFailure;
  Exec->Graph = copyGraph(*Graph);
  return cudaSuccess;
}
#if CUDART_VERSION >= 12000
CUPILOT_API
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t Exec, cudaGraph_t Graph,
                                cudaGraphExecUpdateResultInfo *Result) {
  cudaError_t E = update(Exec, Graph);
  if (Result)
    *Result = {E == cudaSuccess ? cudaGraphExecUpdateSuccess
                                : cudaGraphExecUpdateErrorTopologyChanged,
               nullptr, nullptr};
  return checked(E);
}
#else
CUPILOT_API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t Exec,
                                            cudaGraph_t Graph,
                                            cudaGraphNode_t *Node,
                                            cudaGraphExecUpdateResult *Result) {
  cudaError_t E = update(Exec, Graph);
  if (Node)
    *Node = nullptr;
  if (Result)
    *Result = E == cudaSuccess ? cudaGraphExecUpdateSuccess
                               : cudaGraphExecUpdateErrorTopologyChanged;
  return checked(E);
}
#endif
CUPILOT_IGNORE(cudaDeviceGraphMemTrim)
CUPILOT_REFUSE(cudaDeviceGetGraphMemAttribute)
CUPILOT_REFUSE(cudaDeviceSetGraphMemAttribute)
