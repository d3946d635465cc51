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

#include "Recorder.h"
#include <algorithm>
#include <cstring>
#include <set>

namespace cupilot::capture {

/// Variables beyond this are not put back, so kernels with them do not run.
static constexpr uint64_t MostVariables = 64ull << 20;

class Recorder::GraphRun {
public:
  GraphRun(Recorder &R, CUstream Own) : R(R), Own(Own) {}
  ~GraphRun();
  GraphRun(const GraphRun &) = delete;
  /// Whether a kernel's node has a class that is to be kept.
  bool wanted(CUgraph Graph);
  /// Runs the nodes in an order that the edges allow; empty, or why it ended.
  std::string run(CUgraph Graph);
  /// The classes that nothing could be kept of, because it ended.
  const std::set<uint32_t> &missed() const { return Missed; }

private:
  bool nodesOf(CUgraph Graph, std::vector<CUgraphNode> &Nodes) const;
  std::string step(CUgraphNode Node);
  std::string kernel(CUgraphNode Node);
  std::string set(CUgraphNode Node);
  std::string copy(CUgraphNode Node);
  /// The copy of what lies at \p Address, made where there is none yet.
  std::string copyOf(uint64_t Address, CUdeviceptr &To);
  std::string copyOf(const Range &Found, CUdeviceptr &To);
  std::string saveVariables(const std::vector<Range> &Variables);
  std::string good(CUresult Result, const char *What) const {
    return Result == CUDA_SUCCESS
               ? ""
               : std::string(What) + ": " + R.Cuda.errorName(Result);
  }

  Recorder &R;
  CUstream Own;
  std::vector<std::pair<Range, CUdeviceptr>> Copies;
  std::vector<std::pair<Range, std::string>> Variables; ///< As they were.
  std::set<uint32_t> Missed;
  uint64_t Bytes = 0;
  bool ToHost = false; ///< A node would have written to the host.
};

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

std::string Recorder::GraphRun::copyOf(uint64_t Address, CUdeviceptr &To) {
  Range Found;
  if (!R.findRange(Address, Found))
    return "a node reaches memory that the driver does not know";
  std::string Why = copyOf(Found, To);
  To += Address - Found.Base;
  return Why;
}

std::string Recorder::GraphRun::copyOf(const Range &Found, CUdeviceptr &To) {
  for (auto &[Known, Copy] : Copies)
    if (Known == Found) {
      To = Copy;
      return "";
    }
  Bytes += Found.Size;
  if (Bytes > R.Opts.MaxLaunchBytes)
    return "its graph reaches " + std::to_string(Bytes) +
           " bytes, more than --max-launch-bytes allows";
  if (std::string Why =
          good(R.Cuda.cuMemAlloc_v2(&To, Found.Size), "memory for copies");
      !Why.empty())
    return Why;
  Copies.push_back({Found, To});
  if (std::string Why =
          good(R.Cuda.cuMemcpyAsync(To, Found.Base, Found.Size, Own), "a copy");
      !Why.empty())
    return Why;
  // Who follows an address in the data would leave the copies.
  std::string Held(Found.Size, '\0');
  if (std::string Why = R.waitFor(Own); !Why.empty())
    return Why;
  if (std::string Why =
          good(R.Cuda.cuMemcpyDtoH_v2(Held.data(), To, Found.Size), "a copy");
      !Why.empty())
    return Why;
  if (countPointers(Held, {Found},
                    [&](uint64_t At, Range &F) { return R.findRange(At, F); }))
    return "its graph reaches memory that holds addresses of device memory";
  return "";
}

std::string Recorder::GraphRun::saveVariables(const std::vector<Range> &Found) {
  for (const Range &At : Found) {
    if (std::ranges::any_of(Variables,
                            [&](auto &Known) { return Known.first == At; }))
      continue;
    if (At.Size > MostVariables)
      return "its graph reaches large variables";
    std::string Now(At.Size, '\0');
    if (std::string Why = good(
            R.Cuda.cuMemcpyDtoH_v2(Now.data(), At.Base, At.Size), "a variable");
        !Why.empty())
      return Why;
    Variables.push_back({At, std::move(Now)});
  }
  return "";
}

std::string Recorder::GraphRun::kernel(CUgraphNode Node) {
  LaunchCall Call;
  if (!launchOfNode(R.Cuda, Node, Call))
    return "the driver does not tell what a node launches";
  Function F;
  uint32_t Index;
  std::vector<std::string> Args;
  bool Wanted;
  {
    std::lock_guard<std::mutex> Guard(R.TableLock);
    F = R.function(Call);
    Index = R.classify(R.function(Call), Call, true, Args);
    Wanted = R.Table.wantsInGraph(Index);
  }
  if (!R.readArguments(F, Call, Args))
    return "the driver does not tell the arguments of " + F.Name;
  Launch L;
  L.Kernel = F.Name;
  L.Dims = Call.Dims;
  L.InGraph = true;
  MatchedPointers M = matchPointers(
      F.Layout, Args,
      [&](uint64_t At, Range &To) { return R.findRange(At, To); },
      [](uint64_t At) { return isHostAddress(At); });
  if (!M.HostWords.empty())
    return F.Name + ", in the same graph, has what could be a pointer to the "
                    "host's memory";
  L.Args = Args;
  L.Pointers = M.Pointers;
  std::vector<Range> Here, Globals;
  for (const Range &Found : M.Ranges) {
    CUdeviceptr To = 0;
    if (std::string Why = copyOf(Found, To); !Why.empty())
      return Why;
    Here.push_back({To, Found.Size});
    L.Buffers.push_back({Found.Size, 256, {}, {}});
  }
  R.findGlobals(L, Globals, F, Call.Function);
  bool Prints = false;
  (void)R.Binaries.with(F.Name, [&](const CubinNames &, const std::string &I) {
    for (const char *Name : {"vprintf", "cudaLaunchDevice", "cudaGraphLaunch"})
      Prints |= I.find(Name) != std::string::npos;
  });
  if (Prints)
    return F.Name + ", in the same graph, may print or launch";
  if (std::string Why = saveVariables(Globals); !Why.empty())
    return Why;
  for (const Pointer &P : L.Pointers) {
    CUdeviceptr Word = Here[P.Buffer].Base + P.At;
    std::memcpy(Args[P.Param].data() + P.Offset, &Word, 8);
  }
  std::vector<std::string> Before(L.Buffers.size());
  std::string Why;
  if (Wanted) {
    CUdevice Device = 0;
    if (R.Cuda.cuCtxGetDevice(&Device) == CUDA_SUCCESS)
      L.Device = static_cast<unsigned>(Device);
    R.makeRoom(Index, Bytes);
    for (size_t I = 0; I < Here.size() && Why.empty(); ++I)
      Why = R.snapshot(Here[I], L.Buffers[I].Digest, &Before[I]);
    for (size_t I = 0; I < Globals.size() && Why.empty(); ++I)
      Why = R.snapshot(Globals[I], L.Globals[I].Value.Digest);
  }
  std::vector<void *> Params;
  for (std::string &Arg : Args)
    Params.push_back(Arg.data());
  CUlaunchConfig Config = {};
  auto U = [](uint64_t N) { return static_cast<unsigned>(N); };
  std::tie(Config.gridDimX, Config.gridDimY, Config.gridDimZ) =
      std::tuple(U(L.Dims.Grid[0]), U(L.Dims.Grid[1]), U(L.Dims.Grid[2]));
  std::tie(Config.blockDimX, Config.blockDimY, Config.blockDimZ) =
      std::tuple(U(L.Dims.Block[0]), U(L.Dims.Block[1]), U(L.Dims.Block[2]));
  Config.sharedMemBytes = U(L.Dims.Shared);
  Config.hStream = Own;
  CUlaunchAttribute Attributes[2] = {};
  Config.attrs = Attributes;
  if (L.Dims.Cluster != std::array<uint64_t, 3>{1, 1, 1}) {
    CUlaunchAttribute &A = Attributes[Config.numAttrs++];
    A.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    A.value.clusterDim = {U(L.Dims.Cluster[0]), U(L.Dims.Cluster[1]),
                          U(L.Dims.Cluster[2])};
  }
  if (L.Dims.Cooperative) {
    CUlaunchAttribute &A = Attributes[Config.numAttrs++];
    A.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    A.value.cooperative = 1;
  }
  if (Why.empty())
    Why = good(R.Cuda.cuLaunchKernelEx(&Config,
                                       static_cast<CUfunction>(Call.Function),
                                       Params.data(), nullptr),
               "a kernel of its graph on copies");
  if (Why.empty())
    Why = R.waitFor(Own);
  if (Wanted) {
    for (size_t I = 0; I < Here.size() && Why.empty(); ++I)
      Why = R.keepAfter(Here[I], Before[I], L.Buffers[I]);
    for (size_t I = 0; I < Globals.size() && Why.empty(); ++I)
      Why = R.snapshot(Globals[I], L.Globals[I].Value.After);
  }
  if (!Wanted || !Why.empty()) {
    R.drop(L);
    return Why;
  }
  if (M.InStructs)
    L.Remarks.push_back("pointers inside by-value structs: a replay confirms "
                        "them");
  L.Remarks.push_back("of a graph whose nodes ran on copies of its memory");
  L.Kept = true;
  uint64_t Size = 0;
  for (const Content &B : L.Buffers)
    Size += B.Size;
  std::lock_guard<std::mutex> Guard(R.TableLock);
  LaunchTable::Class &C = R.Table[Index];
  C.Kept = true;
  C.Bytes = Size;
  if (R.KeptLaunches.size() <= Index)
    R.KeptLaunches.resize(Index + 1);
  R.KeptLaunches[Index] = L;
  R.Log.launch(Index, L);
  Missed.erase(Index);
  return "";
}

std::string Recorder::GraphRun::set(CUgraphNode Node) {
  CUDA_MEMSET_NODE_PARAMS P = {};
  CUdeviceptr To = 0;
  if (!R.Cuda.cuGraphMemsetNodeGetParams ||
      R.Cuda.cuGraphMemsetNodeGetParams(Node, &P) != CUDA_SUCCESS)
    return "the driver does not tell what a node sets";
  if (std::string Why = copyOf(P.dst, To); !Why.empty())
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

std::string Recorder::GraphRun::copy(CUgraphNode Node) {
  CUDA_MEMCPY3D P = {};
  if (!R.Cuda.cuGraphMemcpyNodeGetParams ||
      R.Cuda.cuGraphMemcpyNodeGetParams(Node, &P) != CUDA_SUCCESS)
    return "the driver does not tell what a node copies";
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
    return "";
  }
  if (OnDevice(P.srcMemoryType, P.srcDevice)) {
    CUdeviceptr From = 0;
    if (std::string Why = copyOf(P.srcDevice, From); !Why.empty())
      return Why;
    P.srcDevice = From;
  } else if (ToHost) {
    return "its graph writes to the host and reads from it";
  }
  CUdeviceptr To = 0;
  if (std::string Why = copyOf(P.dstDevice, To); !Why.empty())
    return Why;
  P.dstDevice = To;
  return good(R.Cuda.cuMemcpy3DAsync_v2(&P, Own), "copying a copy");
}

std::string Recorder::GraphRun::step(CUgraphNode Node) {
  CUgraphNodeType Type;
  CUgraph Child = nullptr;
  if (R.Cuda.cuGraphNodeGetType(Node, &Type) != CUDA_SUCCESS)
    return "the driver does not tell what a node is";
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
    return "the driver does not tell what a node is";
  case CU_GRAPH_NODE_TYPE_EMPTY:
  case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    return "";
  case CU_GRAPH_NODE_TYPE_HOST:
    return "it comes after a function of the host in its graph";
  case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
  case CU_GRAPH_NODE_TYPE_MEM_FREE:
    return "its graph allocates memory";
  default:
    return "its graph waits for others, or decides by what it computes";
  }
}

std::string Recorder::GraphRun::run(CUgraph Graph) {
  std::vector<CUgraphNode> Nodes;
  if (!nodesOf(Graph, Nodes))
    return "the driver does not tell the order of its graph's nodes";
  for (CUgraphNode Node : Nodes) {
    if (Missed.empty())
      return "";
    if (std::string Why = step(Node); !Why.empty())
      return Why;
  }
  return "";
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
  std::string Why = Known.Changed
                        ? "its graph was changed before its first launch"
                        : waitFor(Stream);
  if (Why.empty())
    Why = Run.run(Known.Copy);
  if (Why.empty())
    return;
  std::lock_guard<std::mutex> Table2(TableLock);
  for (uint32_t Index : Run.missed())
    writeClass(Index, {"in a graph: " + Why});
}

} // namespace cupilot::capture
