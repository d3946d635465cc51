//===- GraphData.cpp - Keeps launches that graphs make -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What memory holds in the middle of a graph, nobody outside of it sees. So,
// before a graph is launched for the first time, its nodes run one after the
// other on copies of the memory that they reach; the program's own is only
// read. What such a run could do beside that ends it, with the reason.
//
//===----------------------------------------------------------------------===//

#include "GraphRun.h"

namespace cupilot::capture {

Recorder::GraphRun::~GraphRun() {
  // A kernel that does not end holds its copies; freeing would wait for it.
  if (R.Cuda.cuStreamQuery(Own) != CUDA_SUCCESS)
    return;
  for (auto &[At, Then] : Variables) {
    std::string Now(At.Size, '\0');
    if (R.Cuda.cuMemcpyDtoH_v2(Now.data(), At.Base, At.Size) == CUDA_SUCCESS &&
        Now != Then)
      (void)R.Cuda.cuMemcpyHtoD_v2(At.Base, Then.data(), At.Size);
  }
  for (auto &[At, Copy] : Copies)
    (void)R.Cuda.cuMemFree_v2(Copy);
}

/// The nodes, each after those that it depends on.
bool Recorder::GraphRun::nodesOf(CUgraph Graph,
                                 std::vector<CUgraphNode> &Nodes) const {
  size_t Count = 0, Edges = 0;
  if (!R.Cuda.cuGraphGetNodes || !R.Cuda.cuGraphGetEdges_v2 ||
      R.Cuda.cuGraphGetNodes(Graph, nullptr, &Count) != CUDA_SUCCESS ||
      R.Cuda.cuGraphGetEdges_v2(Graph, nullptr, nullptr, nullptr, &Edges) !=
          CUDA_SUCCESS)
    return false;
  std::vector<CUgraphNode> All(Count), From(Edges), To(Edges);
  std::vector<CUgraphEdgeData> Data(Edges);
  if (R.Cuda.cuGraphGetNodes(Graph, All.data(), &Count) != CUDA_SUCCESS ||
      (Edges && R.Cuda.cuGraphGetEdges_v2(Graph, From.data(), To.data(),
                                          Data.data(), &Edges) != CUDA_SUCCESS))
    return false;
  std::unordered_map<CUgraphNode, size_t> Open;
  std::unordered_map<CUgraphNode, std::vector<CUgraphNode>> After;
  for (size_t I = 0; I < Edges; ++I) {
    ++Open[To[I]];
    After[From[I]].push_back(To[I]);
  }
  for (CUgraphNode Node : All)
    if (!Open.contains(Node))
      Nodes.push_back(Node);
  for (size_t I = 0; I < Nodes.size(); ++I)
    for (CUgraphNode Next : After[Nodes[I]])
      if (--Open[Next] == 0)
        Nodes.push_back(Next);
  return Nodes.size() == Count;
}

bool Recorder::GraphRun::wanted(CUgraph Graph) {
  std::vector<CUgraphNode> Nodes;
  if (!nodesOf(Graph, Nodes))
    return false;
  for (CUgraphNode Node : Nodes) {
    CUgraphNodeType Type;
    CUgraph Child = nullptr;
    if (R.Cuda.cuGraphNodeGetType(Node, &Type) != CUDA_SUCCESS)
      continue;
    if (LaunchCall Call;
        Type == CU_GRAPH_NODE_TYPE_KERNEL && launchOfNode(R.Cuda, Node, Call)) {
      std::lock_guard<std::mutex> Guard(R.TableLock);
      std::vector<std::string> Args;
      uint32_t Index = R.classify(R.function(Call), Call, true, Args);
      if (R.Table.wantsInGraph(Index))
        Missed.insert(Index);
    } else if (Type == CU_GRAPH_NODE_TYPE_GRAPH &&
               R.Cuda.cuGraphChildGraphNodeGetGraph(Node, &Child) ==
                   CUDA_SUCCESS) {
      wanted(Child);
    }
  }
  return !Missed.empty();
}

Obstacle Recorder::GraphRun::copyOf(uint64_t Address, CUdeviceptr &To) {
  Range Found;
  if (!R.findRange(Address, Found))
    return "a node reaches memory that the driver does not know";
  Obstacle Why = copyOf(Found, To);
  To += Address - Found.Base;
  return Why;
}

Obstacle Recorder::GraphRun::copyOf(const Range &Found, CUdeviceptr &To) {
  for (auto &[Known, Copy] : Copies)
    if (Known == Found) {
      To = Copy;
      return std::nullopt;
    }
  Bytes += Found.Size;
  if (Bytes > R.Opts.MaxLaunchBytes)
    return "its graph reaches " + std::to_string(Bytes) +
           " bytes, more than --max-launch-bytes allows";
  if (Obstacle Why =
          good(R.Cuda.cuMemAlloc_v2(&To, Found.Size), "memory for copies"))
    return Why;
  Copies.push_back({Found, To});
  if (Obstacle Why =
          good(R.Cuda.cuMemcpyAsync(To, Found.Base, Found.Size, Own), "a copy"))
    return Why;
  // Who follows an address in the data would leave the copies.
  std::string Held(Found.Size, '\0');
  if (Obstacle Why = R.waitFor(Own))
    return Why;
  if (Obstacle Why =
          good(R.Cuda.cuMemcpyDtoH_v2(Held.data(), To, Found.Size), "a copy"))
    return Why;
  if (countPointers(Held, {Found},
                    [&](uint64_t At, Range &F) { return R.findRange(At, F); }))
    return "its graph reaches memory that contains addresses of device memory";
  return std::nullopt;
}

Obstacle Recorder::GraphRun::set(CUgraphNode Node) {
  CUDA_MEMSET_NODE_PARAMS P = {};
  CUdeviceptr To = 0;
  if (!R.Cuda.cuGraphMemsetNodeGetParams ||
      R.Cuda.cuGraphMemsetNodeGetParams(Node, &P) != CUDA_SUCCESS)
    return "the driver does not report what a memset node sets";
  if (Obstacle Why = copyOf(P.dst, To))
    return Why;
  CUresult Result = CUDA_ERROR_NOT_SUPPORTED;
  if (P.elementSize == 1)
    Result = R.Cuda.cuMemsetD2D8Async(To, P.pitch, (unsigned char)P.value,
                                      P.width, P.height, Own);
  else if (P.elementSize == 2)
    Result = R.Cuda.cuMemsetD2D16Async(To, P.pitch, (unsigned short)P.value,
                                       P.width, P.height, Own);
  else if (P.elementSize == 4)
    Result =
        R.Cuda.cuMemsetD2D32Async(To, P.pitch, P.value, P.width, P.height, Own);
  return good(Result, "setting a copy");
}

Obstacle Recorder::GraphRun::copy(CUgraphNode Node) {
  CUDA_MEMCPY3D P = {};
  if (!R.Cuda.cuGraphMemcpyNodeGetParams ||
      R.Cuda.cuGraphMemcpyNodeGetParams(Node, &P) != CUDA_SUCCESS)
    return "the driver does not report what a memcpy node copies";
  if (P.srcMemoryType == CU_MEMORYTYPE_ARRAY ||
      P.dstMemoryType == CU_MEMORYTYPE_ARRAY)
    return "its graph copies arrays";
  Range Found;
  auto OnDevice = [&](CUmemorytype Type, CUdeviceptr At) {
    return Type == CU_MEMORYTYPE_DEVICE ||
           (Type == CU_MEMORYTYPE_UNIFIED && R.findRange(At, Found));
  };
  if (!OnDevice(P.dstMemoryType, P.dstDevice)) {
    ToHost = true; // The program's memory is not written.
    return std::nullopt;
  }
  if (OnDevice(P.srcMemoryType, P.srcDevice)) {
    CUdeviceptr From = 0;
    if (Obstacle Why = copyOf(P.srcDevice, From))
      return Why;
    P.srcDevice = From;
  } else if (ToHost) {
    return "its graph writes to the host and reads from it";
  }
  CUdeviceptr To = 0;
  if (Obstacle Why = copyOf(P.dstDevice, To))
    return Why;
  P.dstDevice = To;
  return good(R.Cuda.cuMemcpy3DAsync_v2(&P, Own), "copying a copy");
}

Obstacle Recorder::GraphRun::step(CUgraphNode Node) {
  CUgraphNodeType Type;
  CUgraph Child = nullptr;
  if (R.Cuda.cuGraphNodeGetType(Node, &Type) != CUDA_SUCCESS)
    return "the driver does not report the type of a node";
  switch (Type) {
  case CU_GRAPH_NODE_TYPE_KERNEL:
    return kernel(Node);
  case CU_GRAPH_NODE_TYPE_MEMSET:
    return set(Node);
  case CU_GRAPH_NODE_TYPE_MEMCPY:
    return copy(Node);
  case CU_GRAPH_NODE_TYPE_GRAPH:
    if (R.Cuda.cuGraphChildGraphNodeGetGraph(Node, &Child) == CUDA_SUCCESS)
      return run(Child);
    return "the driver does not report the type of a node";
  case CU_GRAPH_NODE_TYPE_EMPTY:
  case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    return std::nullopt;
  case CU_GRAPH_NODE_TYPE_HOST:
    return "it follows a host function in its graph";
  case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
  case CU_GRAPH_NODE_TYPE_MEM_FREE:
    return "its graph allocates memory";
  default:
    return "its graph has nodes that wait, or conditional nodes";
  }
}

Obstacle Recorder::GraphRun::run(CUgraph Graph) {
  std::vector<CUgraphNode> Nodes;
  if (!nodesOf(Graph, Nodes))
    return "the driver does not report the order of its graph's nodes";
  for (CUgraphNode Node : Nodes) {
    if (Missed.empty())
      return std::nullopt;
    if (Obstacle Why = step(Node))
      return Why;
  }
  return std::nullopt;
}

void Recorder::graphMade(CUgraphExec Exec, CUgraph Graph) {
  KnownGraph New;
  // The program may change or destroy its own at once.
  if (!Cuda.cuGraphClone || Cuda.cuGraphClone(&New.Copy, Graph) != CUDA_SUCCESS)
    New.Copy = nullptr;
  std::lock_guard<std::mutex> Guard(GraphLock);
  Graphs[Exec] = New;
}

void Recorder::graphChanged(CUgraphExec Exec) {
  std::lock_guard<std::mutex> Guard(GraphLock);
  if (auto It = Graphs.find(Exec); It != Graphs.end())
    It->second.Changed = true;
}

void Recorder::graphGone(CUgraphExec Exec) {
  std::lock_guard<std::mutex> Guard(GraphLock);
  auto It = Graphs.find(Exec);
  if (It == Graphs.end())
    return;
  if (It->second.Copy)
    (void)Cuda.cuGraphDestroy(It->second.Copy);
  Graphs.erase(It);
}

void Recorder::beforeGraph(CUgraphExec Exec, CUstream Stream) {
  KnownGraph Known;
  {
    std::lock_guard<std::mutex> Guard(GraphLock);
    auto It = Graphs.find(Exec);
    if (It == Graphs.end() || It->second.Tried || Captures > 0)
      return;
    It->second.Tried = true;
    Known = It->second;
  }
  OwnCalls Guard(Cuda);
  std::unique_lock<std::mutex> Storing(StoreLock, std::try_to_lock);
  CUstream Own = Storing ? copyStream(Cuda) : nullptr;
  if (!Own || !Known.Copy)
    return;
  describeDevices();
  GraphRun Run(*this, Own);
  if (!Run.wanted(Known.Copy))
    return;
  TimeBudget::Spending Counted(Budget);
  Obstacle Why = Known.Changed ? "its graph was changed before its first launch"
                               : Budget.refuses(/*First=*/true);
  if (!Why)
    Why = waitFor(Stream);
  if (!Why)
    Why = Run.run(Known.Copy);
  if (!Why)
    return;
  std::lock_guard<std::mutex> Table2(TableLock);
  for (uint32_t Index : Run.missed())
    writeClass(Index, {"in a graph: " + *Why});
}

} // namespace cupilot::capture
