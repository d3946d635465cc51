//===- GraphKernel.cpp - Keeps a kernel's launch in a graph -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphRun.h"
#include <algorithm>
#include <cstring>

namespace cupilot::capture {

/// Variables beyond this are not put back, so kernels with them do not run.
static constexpr uint64_t MostVariables = 64ull << 20;

Obstacle Recorder::GraphRun::saveVariables(const std::vector<Range> &Found) {
  for (const Range &At : Found) {
    if (std::ranges::any_of(Variables,
                            [&](auto &Known) { return Known.first == At; }))
      continue;
    if (At.Size > MostVariables)
      return "its graph reaches large variables";
    std::string Now(At.Size, '\0');
    if (Obstacle Why = good(
            R.Cuda.cuMemcpyDtoH_v2(Now.data(), At.Base, At.Size), "a variable"))
      return Why;
    Variables.push_back({At, std::move(Now)});
  }
  return std::nullopt;
}

Obstacle Recorder::GraphRun::kernel(CUgraphNode Node) {
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
    if (Obstacle Why = copyOf(Found, To))
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
  if (Obstacle Why = saveVariables(Globals))
    return Why;
  for (const Pointer &P : L.Pointers) {
    CUdeviceptr Word = Here[P.Buffer].Base + P.At;
    std::memcpy(Args[P.Param].data() + P.Offset, &Word, 8);
  }
  std::vector<std::string> Before(L.Buffers.size());
  Obstacle Why;
  if (Wanted) {
    CUdevice Device = 0;
    if (R.Cuda.cuCtxGetDevice(&Device) == CUDA_SUCCESS)
      L.Device = static_cast<unsigned>(Device);
    R.makeRoom(Index, Bytes);
    for (size_t I = 0; I < Here.size() && !Why; ++I)
      Why = R.snapshot(Here[I], L.Buffers[I].Digest, &Before[I]);
    for (size_t I = 0; I < Globals.size() && !Why; ++I)
      Why = R.snapshot(Globals[I], L.Globals[I].Value.Digest);
  }
  std::vector<void *> Params;
  Params.reserve(Args.size());
  for (std::string &Arg : Args)
    Params.push_back(Arg.data());
  LaunchConfig Config(L.Dims, Own);
  if (!Why)
    Why = good(R.Cuda.cuLaunchKernelEx(&Config.Values,
                                       static_cast<CUfunction>(Call.Function),
                                       Params.data(), nullptr),
               "a kernel of its graph on copies");
  if (!Why)
    Why = R.waitFor(Own);
  if (Wanted) {
    for (size_t I = 0; I < Here.size() && !Why; ++I)
      Why = R.keepAfter(Here[I], Before[I], L.Buffers[I]);
    for (size_t I = 0; I < Globals.size() && !Why; ++I)
      Why = R.snapshot(Globals[I], L.Globals[I].Value.After);
  }
  if (!Wanted || Why) {
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
  return std::nullopt;
}

} // namespace cupilot::capture
