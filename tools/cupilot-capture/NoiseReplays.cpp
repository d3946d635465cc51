//===- NoiseReplays.cpp - Replays with noise -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "Noise.h"
#include "NoiseKernels.h"
#include "cupilot/Portable/Digest.h"
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <sys/prctl.h>

using nlohmann::json;

namespace cupilot::capture {

/// What takes the place of contents: nothing, and what is no number as a float
/// and far away as an index.
static constexpr unsigned Fills[] = {0, 0x7fc5a3d1};

namespace {
class Replays {
public:
  Replays(const NoiseRequest &R) : R(R), L(R.What) {}
  /// Copies everything and replays the launch twice as it is.
  Obstacle start();
  json answer(const json &Question);

private:
  /// Of one allocation.
  struct Memory {
    uint64_t Size = 0, Room = 0;
    CUdeviceptr Before = 0;                       ///< The program's own.
    CUdeviceptr Now = 0, First = 0, Expected = 0; ///< Copies.
  };
  Obstacle good(CUresult Result, const char *What) const {
    if (Result == CUDA_SUCCESS)
      return std::nullopt;
    return std::string(What) + ": " + Cuda.errorName(Result);
  }
  Obstacle load();
  Obstacle open(Memory &M, const std::string &Handle);
  Obstacle begin(const Ranges &Kept, unsigned Fill);
  Obstacle run(const std::vector<std::pair<CUdeviceptr, uint64_t>> &Pointers);
  Obstacle runHere();
  Obstacle call(CUfunction F, std::vector<void *> Args);
  Obstacle spread(const Memory &M);
  Obstacle expect(const Memory &M);
  Obstacle compare(CUdeviceptr First, CUdeviceptr Now, CUdeviceptr Expected,
                   uint64_t Bytes);
  Obstacle counts(uint64_t (&Values)[2]);
  Obstacle changed(const Memory &M, CUdeviceptr Before, unsigned Fill,
                   TouchedBits &Map);
  Obstacle replay(const json &Question, json &Answer);
  Obstacle written(const json &Question, json &Answer);
  Obstacle apart(const json &Question, json &Answer);

  const NoiseRequest &R;
  const Launch &L;
  Driver Cuda;
  CUmodule Program = nullptr, Own = nullptr;
  CUfunction Kernel = nullptr, Changed = nullptr, Spread = nullptr,
             Expect = nullptr, Compare = nullptr;
  std::vector<Memory> All;
  std::vector<std::pair<CUdeviceptr, std::string>> Variables;
  CUdeviceptr Counts = 0, Map = 0;
};
} // namespace

/// Of a copy: kernels look at pieces.
static uint64_t roomFor(uint64_t Size) { return (Size + 511) / 256 * 256; }

Obstacle Replays::open(Memory &M, const std::string &Hex) {
  std::string Bytes;
  CUipcMemHandle Handle;
  if (!appendBytesOf(Hex, Bytes) || Bytes.size() != sizeof(Handle))
    return "the request cannot be read";
  std::memcpy(&Handle, Bytes.data(), sizeof(Handle));
  if (Obstacle Why =
          good(Cuda.cuIpcOpenMemHandle_v2(&M.Before, Handle,
                                          CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
               "another process cannot read its memory"))
    return Why;
  M.Room = roomFor(M.Size);
  for (CUdeviceptr *At : {&M.Now, &M.First, &M.Expected}) {
    if (Cuda.cuMemAlloc_v2(At, M.Room) != CUDA_SUCCESS)
      return "the GPU has no room for three copies of " +
             std::to_string(M.Size) + " bytes";
    if (Obstacle Why = good(Cuda.cuMemsetD32Async(*At, 0, M.Room / 4, nullptr),
                            "clearing"))
      return Why;
  }
  return std::nullopt;
}

Obstacle Replays::load() {
  CUdevice Device;
  CUcontext Context;
  if (!Cuda.cuIpcOpenMemHandle_v2 || !Cuda.cuMemsetD32Async)
    return "the driver has no functions for that";
  if (Obstacle Why = good(Cuda.cuInit(0), "cuInit"))
    return Why;
  if (Obstacle Why = good(Cuda.cuDeviceGet(&Device, static_cast<int>(L.Device)),
                          "cuDeviceGet"))
    return Why;
  if (Obstacle Why =
          good(Cuda.cuDevicePrimaryCtxRetain(&Context, Device), "its context"))
    return Why;
  if (Obstacle Why = good(Cuda.cuCtxSetCurrent(Context), "its context"))
    return Why;
  std::string Image;
  if (auto F = readContent(R.Folder, L.Module, L.ModuleSize, Image))
    return F->what();
  if (Obstacle Why = good(Cuda.cuModuleLoadData(&Program, Image.data()),
                          "loading its GPU binary"))
    return Why;
  if (Obstacle Why =
          good(Cuda.cuModuleGetFunction(&Kernel, Program, L.Kernel.c_str()),
               "finding the kernel"))
    return Why;
  if (L.Dims.Shared > 0)
    (void)Cuda.cuFuncSetAttribute(
        Kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
        static_cast<int>(L.Dims.Shared));
  if (Obstacle Why =
          good(Cuda.cuModuleLoadData(&Own, NoiseKernels), "comparing"))
    return Why;
  for (auto [F, Name] : {std::pair(&Changed, "cupilot_changed"),
                         {&Spread, "cupilot_spread"},
                         {&Expect, "cupilot_expected"},
                         {&Compare, "cupilot_compare"}})
    if (Obstacle Why =
            good(Cuda.cuModuleGetFunction(F, Own, Name), "comparing"))
      return Why;
  for (const Global &G : L.Globals) {
    CUdeviceptr At = 0;
    size_t Size = 0;
    std::string Bytes;
    if (Cuda.cuModuleGetGlobal_v2(&At, &Size, Program, G.Symbol.c_str()) !=
            CUDA_SUCCESS ||
        Size != G.Value.Size)
      return "the variable " + G.Symbol + " is another one";
    if (auto F = readContent(R.Folder, G.Value.Digest, G.Value.Size, Bytes))
      return F->what();
    Variables.push_back({At, std::move(Bytes)});
  }
  return std::nullopt;
}

Obstacle Replays::start() {
  if (Obstacle Why = Cuda.load())
    return Why;
  if (Obstacle Why = load())
    return Why;
  uint64_t Most = 0;
  for (size_t I = 0; I < L.Buffers.size(); ++I) {
    Memory &M = All.emplace_back();
    M.Size = L.Buffers[I].Size;
    if (Obstacle Why = open(M, R.Handles[I]))
      return Why;
    Most = std::max(Most, M.Size);
  }
  if (Obstacle Why = good(Cuda.cuMemAlloc_v2(&Counts, 16), "allocating"))
    return Why;
  if (Obstacle Why =
          good(Cuda.cuMemAlloc_v2(&Map, (Most / Granule / 32 + 2) * 4),
               "allocating"))
    return Why;
  Ranges Whole;
  for (const Memory &M : All)
    Whole.push_back({{0, M.Size}});
  for (CUdeviceptr Memory::*To : {&Memory::First, &Memory::Expected}) {
    if (Obstacle Why = begin(Whole, 0))
      return Why;
    if (Obstacle Why = runHere())
      return Why;
    for (const Memory &M : All)
      if (Obstacle Why = good(Cuda.cuMemcpyAsync(M.*To, M.Now, M.Size, nullptr),
                              "copying"))
        return Why;
  }
  uint64_t Found[2] = {0, 0};
  if (Obstacle Why =
          good(Cuda.cuMemsetD8Async(Counts, 0, 16, nullptr), "comparing"))
    return Why;
  // In place of a count, before there are some: what two replays differ by.
  for (const Memory &M : All)
    if (Obstacle Why = spread(M))
      return Why;
  for (const Memory &M : All)
    if (Obstacle Why = expect(M))
      return Why;
  if (Obstacle Why =
          good(Cuda.cuMemsetD8Async(Counts, 0, 16, nullptr), "comparing"))
    return Why;
  for (const Memory &M : All) {
    if (Obstacle Why = compare(M.First, M.First, M.Expected, M.Size))
      return Why;
  }
  if (Obstacle Why = counts(Found))
    return Why;
  if (!Found[1])
    return "it changes nothing";
  return std::nullopt;
}

/// Copies \p Kept of the program's memory, and fills the rest.
Obstacle Replays::begin(const Ranges &Kept, unsigned Fill) {
  for (size_t I = 0; I < All.size(); ++I) {
    const Memory &M = All[I];
    if (Obstacle Why =
            good(Cuda.cuMemsetD32Async(M.Now, Fills[Fill], M.Room / 4, nullptr),
                 "filling"))
      return Why;
    for (const Range &Each : Kept[I])
      if (Each.Base > M.Size || Each.Size > M.Size - Each.Base)
        return "a range lies outside";
      else if (Obstacle Why = good(Cuda.cuMemcpyAsync(M.Now + Each.Base,
                                                      M.Before + Each.Base,
                                                      Each.Size, nullptr),
                                   "copying"))
        return Why;
  }
  return std::nullopt;
}

/// Launches the kernel with \p Pointers in the place of its own.
Obstacle
Replays::run(const std::vector<std::pair<CUdeviceptr, uint64_t>> &Pointers) {
  for (const auto &[At, Bytes] : Variables)
    if (Obstacle Why =
            good(Cuda.cuMemcpyHtoD_v2(At, Bytes.data(), Bytes.size()),
                 "setting a variable"))
      return Why;
  std::vector<std::string> Args = L.Args;
  for (size_t I = 0; I < L.Pointers.size(); ++I) {
    const Pointer &P = L.Pointers[I];
    CUdeviceptr Word = Pointers[I].first + Pointers[I].second;
    std::memcpy(Args[P.Param].data() + P.Offset, &Word, 8);
  }
  std::vector<void *> Params;
  Params.reserve(Args.size());
  for (std::string &Arg : Args)
    Params.push_back(Arg.data());
  LaunchConfig Config(L.Dims);
  if (Obstacle Why = good(
          Cuda.cuLaunchKernelEx(&Config.Values, Kernel, Params.data(), nullptr),
          "launching"))
    return Why;
  return good(Cuda.cuCtxSynchronize(), "running");
}

Obstacle Replays::runHere() {
  std::vector<std::pair<CUdeviceptr, uint64_t>> Pointers;
  Pointers.reserve(L.Pointers.size());
  for (const Pointer &P : L.Pointers)
    Pointers.push_back({All[P.Buffer].Now, P.At});
  return run(Pointers);
}

Obstacle Replays::call(CUfunction F, std::vector<void *> Args) {
  Shape Dims;
  Dims.Grid[0] = 2048;
  Dims.Block[0] = 256;
  LaunchConfig Config(Dims);
  return good(Cuda.cuLaunchKernelEx(&Config.Values, F, Args.data(), nullptr),
              "comparing");
}

Obstacle Replays::expect(const Memory &M) {
  CUdeviceptr Before = M.Before, First = M.First, Second = M.Expected;
  uint64_t Words = M.Size / 4;
  return call(Expect, {&Before, &First, &Second, &Words, &Counts});
}

Obstacle Replays::spread(const Memory &M) {
  CUdeviceptr First = M.First, Second = M.Expected;
  uint64_t Words = M.Size / 4;
  return call(Spread, {&First, &Second, &Words, &Counts});
}

Obstacle Replays::compare(CUdeviceptr First, CUdeviceptr Now,
                          CUdeviceptr Expected, uint64_t Bytes) {
  uint64_t Words = Bytes / 4;
  return call(Compare, {&First, &Now, &Expected, &Words, &Counts});
}

Obstacle Replays::counts(uint64_t (&Values)[2]) {
  if (Obstacle Why = good(Cuda.cuCtxSynchronize(), "comparing"))
    return Why;
  return good(Cuda.cuMemcpyDtoH_v2(Values, Counts, 16), "comparing");
}

/// Adds what of M.Now differs from \p Before, or from what fills.
Obstacle Replays::changed(const Memory &M, CUdeviceptr Before, unsigned Fill,
                          TouchedBits &Bits) {
  const uint64_t Bytes = (M.Size / Granule / 32 + 2) * 4;
  CUdeviceptr Now = Before ? M.First : M.Now;
  // What is left of 16 bytes lies in the room of a copy, but not of others.
  uint64_t Pieces = Before ? M.Size / 16 : (M.Size + 15) / 16;
  unsigned Value = Fills[Fill];
  if (Obstacle Why =
          good(Cuda.cuMemsetD8Async(Map, 0, Bytes, nullptr), "comparing"))
    return Why;
  if (Obstacle Why = call(Changed, {&Now, &Before, &Value, &Pieces, &Map}))
    return Why;
  if (Obstacle Why = good(Cuda.cuCtxSynchronize(), "comparing"))
    return Why;
  TouchedBits Found(Bytes / 4);
  if (Obstacle Why =
          good(Cuda.cuMemcpyDtoH_v2(Found.data(), Map, Bytes), "comparing"))
    return Why;
  Bits.resize(Found.size());
  for (size_t I = 0; I < Bits.size(); ++I)
    Bits[I] |= Found[I];
  return std::nullopt;
}

/// Whether the launch makes the same of what is kept.
Obstacle Replays::replay(const json &Question, json &Answer) {
  std::optional<Ranges> Kept = rangesOf(Question.at("kept"));
  const unsigned Fill = Question.at("fill");
  if (!Kept || Kept->size() != All.size() || Fill >= std::size(Fills))
    return "the question cannot be read";
  if (Obstacle Why = begin(*Kept, Fill))
    return Why;
  if (Obstacle Why = runHere())
    return Why;
  uint64_t Found[2] = {0, 0};
  if (Obstacle Why =
          good(Cuda.cuMemsetD8Async(Counts, 0, 16, nullptr), "comparing"))
    return Why;
  for (const Memory &M : All)
    if (Obstacle Why = compare(M.First, M.Now, M.Expected, M.Size))
      return Why;
  if (Obstacle Why = counts(Found))
    return Why;
  Answer = {{"same", !Found[0]}};
  return std::nullopt;
}

/// What it writes: what it changes, and what outside of what is kept does not
/// hold what fills it any more.
Obstacle Replays::written(const json &Question, json &Answer) {
  std::optional<Ranges> Kept = rangesOf(Question.at("kept"));
  if (!Kept || Kept->size() != All.size())
    return "the question cannot be read";
  std::vector<TouchedBits> Bits(All.size());
  for (unsigned Fill = 0; Fill < std::size(Fills); ++Fill) {
    if (Obstacle Why = begin(*Kept, Fill))
      return Why;
    if (Obstacle Why = runHere())
      return Why;
    for (size_t I = 0; I < All.size(); ++I)
      if (Obstacle Why = changed(All[I], 0, Fill, Bits[I]))
        return Why;
  }
  for (size_t I = 0; I < All.size(); ++I) {
    for (const Range &Each : (*Kept)[I])
      for (uint64_t J = Each.Base / Granule;
           J * Granule < Each.Base + Each.Size; ++J)
        Bits[I][J / 32] &= ~(1u << (J % 32));
    if (Obstacle Why = changed(All[I], All[I].Before, 0, Bits[I]))
      return Why;
  }
  Ranges Found;
  for (size_t I = 0; I < All.size(); ++I) {
    Found.emplace_back();
    std::vector<Range> &To = Found.back();
    for (Range Each : markedRanges(Bits[I])) {
      Each.Size = std::min(Each.Size, All[I].Size - Each.Base);
      // Not a list of millions: what lies between is kept as it is.
      if (!To.empty() &&
          Each.Base - (To.back().Base + To.back().Size) < InferredPage)
        To.back().Size = Each.Base + Each.Size - To.back().Base;
      else
        To.push_back(Each);
    }
  }
  Answer = {{"written", toJson(Found)}};
  return std::nullopt;
}

/// Whether it makes the same on buffers of their own.
Obstacle Replays::apart(const json &Question, json &Answer) {
  struct Own {
    const Memory *From = nullptr;
    uint64_t Begin = 0, Size = 0;
    CUdeviceptr At = 0;
  };
  std::vector<Own> Parts;
  std::vector<std::pair<CUdeviceptr, uint64_t>> Pointers;
  Obstacle Why;
  for (const json &Part : Question.at("parts")) {
    Own &O = Parts.emplace_back();
    O.From = &All.at(Part.at("allocation").get<size_t>());
    O.Begin = Part.at("from");
    O.Size = Part.at("size");
    if (O.Begin > O.From->Size || O.Size > O.From->Size - O.Begin)
      return "a part lies outside";
    Why = Cuda.cuMemAlloc_v2(&O.At, roomFor(O.Size)) == CUDA_SUCCESS
              ? good(Cuda.cuMemsetD8Async(O.At, 0, roomFor(O.Size), nullptr),
                     "clearing")
              : Obstacle("the GPU has no room for its parts");
    for (const json &Each : Part.at("within"))
      if (uint64_t Base = Each.at(0); !Why)
        Why = good(Cuda.cuMemcpyAsync(O.At + Base,
                                      O.From->Before + O.Begin + Base,
                                      Each.at(1).get<uint64_t>(), nullptr),
                   "copying");
  }
  for (const json &P : Question.at("pointers"))
    Pointers.push_back({Parts.at(P.at(0).get<size_t>()).At, P.at(1)});
  uint64_t Found[2] = {0, 0};
  if (!Why)
    Why = run(Pointers);
  if (!Why)
    Why = good(Cuda.cuMemsetD8Async(Counts, 0, 16, nullptr), "comparing");
  for (const Own &O : Parts)
    if (!Why)
      Why = compare(O.From->First + O.Begin, O.At, O.From->Expected + O.Begin,
                    O.Size);
  if (!Why)
    Why = counts(Found);
  for (const Own &O : Parts)
    (void)Cuda.cuMemFree_v2(O.At);
  Answer = {{"same", !Found[0]}};
  return Why;
}

json Replays::answer(const json &Question) {
  json Answer;
  Obstacle Why;
  try {
    const std::string What = Question.at("do");
    Why = What == "replay"    ? replay(Question, Answer)
          : What == "written" ? written(Question, Answer)
                              : apart(Question, Answer);
  } catch (const std::exception &Error) {
    Why = Error.what();
  }
  if (Why)
    return {{"fault", *Why}};
  return Answer;
}

int replayWithNoise(const std::string &Path) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::optional<NoiseRequest> R = readRequest(Path);
  if (!R)
    return 2;
  Replays Now(*R);
  Obstacle Why = Now.start();
  std::printf(
      "%s\n",
      (Why ? json{{"why", *Why}} : json{{"ready", true}}).dump().c_str());
  std::fflush(stdout);
  for (std::string Line; !Why && std::getline(std::cin, Line);) {
    json Answer = Now.answer(json::parse(Line, nullptr, false));
    std::printf("%s\n", Answer.dump().c_str());
    std::fflush(stdout);
    if (Answer.contains("fault"))
      break; // The context may be of no use any more.
  }
  return 0;
}

} // namespace cupilot::capture
