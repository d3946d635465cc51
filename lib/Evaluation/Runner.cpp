//===- Runner.cpp - One launch in fresh memory -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runner.h"
#include "Placement.h"
#include "cupilot/CpuDevice/TensorMap.h"
#include "cupilot/Support/Error.h"
#include <cstring>
#include <numeric>

using namespace llvm;

namespace cupilot {

static constexpr uint64_t Band = 4096; // Bytes around each buffer.

static Expected<LoadedKernel> loadAs(StringRef Bitcode, RunMode Mode,
                                     StringRef Arch, const BornChecks &Checks,
                                     unsigned ProductBits, uint64_t Code) {
  CpuDeviceOptions Options;
  Options.ProductBits = ProductBits;
  Options.Arch = Arch.str();
  Options.Apart = Checks.Apart;
  Options.RoundAtRandom = Mode == RunMode::Shaken;
  Options.WidenFloats = Mode == RunMode::Wide || Mode == RunMode::Rounded ||
                        Mode == RunMode::Shaken;
  Options.Count = Options.AsCompiled = Mode == RunMode::Counting;
  Options.Reverse = Mode == RunMode::Reversed;
  // The reference's memory is no GPU's, and counts are of what was written.
  Options.CanonicalNans = Mode != RunMode::Wide && Mode != RunMode::Counting;
  Options.CountSteps = Mode == RunMode::Sampled;
  Options.SampleBlocks = Options.CountSteps ? Checks.SampleBlocks : 256;
  Options.MaxInstructions = Checks.ThreadSteps;
  if (Checks.Decisions) {
    Options.Decisions = true;
    Options.OnlyDecisions = *Checks.Decisions;
  }
  Options.MaxLaunchInstructions = Checks.LaunchSteps;
  // With several, what a wrong kernel does would depend on timing.
  Options.Threads = 1;
  Options.CheckDivergence = Mode == RunMode::Checked && Checks.Divergence;
  Options.Coverage = Mode == RunMode::Covered;
  if (Mode == RunMode::Checked) {
    Options.CheckRaces = Checks.Races;
    Options.CheckSameValueRaces = Checks.SameValueRaces;
    Options.CheckWritten = Checks.Written;
    Options.Coverage = true;
  }
  if (Mode == RunMode::Scheduled) {
    Options.ScheduleSeed = 0; // Each launch has its own.
    Options.CheckRaces = Checks.Races && Checks.ScheduledRaces;
    Options.CheckSameValueRaces = Checks.SameValueRaces;
    Options.CheckLostUpdates = Checks.LostUpdates;
    Options.CheckVolatileOrder = Checks.VolatileOrder;
    // Those that wait look again and again, until it is the others' turn.
    constexpr uint64_t Looks = 16;
    Options.MaxLaunchInstructions *= Looks;
  }
  LoadedKernel K;
  K.Salt = Code + static_cast<unsigned>(Mode);
  Expected<std::unique_ptr<CpuModule>> M = CpuModule::load(Bitcode, Options);
  if (!M)
    return M.takeError();
  K.Module = std::move(*M);
  for (const std::string &Name : K.Module->globals())
    // The coins' seed is no variable of the kernel.
    if (auto Global = K.Module->global(Name);
        Global && Name != RoundingSeedName) {
      auto *Begin = static_cast<const uint8_t *>(Global->first);
      K.Initial.push_back({Name, Bytes(Begin, Begin + Global->second)});
    }
  return K;
}

Error LoadedKernel::setRoundingSeed(uint64_t Seed) {
  auto Variable = Module->global(RoundingSeedName);
  if (!Variable || Variable->second != sizeof(Seed))
    return findingError("the module has no seed for rounding");
  std::memcpy(Variable->first, &Seed, sizeof(Seed));
  return Error::success();
}

Expected<LoadedKernel> loadKernel(StringRef Bitcode, RunMode Mode,
                                  StringRef Arch, const BornChecks &Checks,
                                  uint64_t Code) {
  return loadAs(Bitcode, Mode, Arch, Checks, 0, Code);
}

Expected<LoadedKernel> loadRounded(StringRef Bitcode, unsigned Bits,
                                   StringRef Arch) {
  return loadAs(Bitcode, RunMode::Rounded, Arch, {}, Bits, 0);
}

namespace {
/// The buffers of a case, then those of a plan, each between guard bands.
class CaseMemory {
public:
  CaseMemory(const GateCase &C, const PlannedRun &Run, uint8_t Fill, bool Mark,
             uint64_t Salt);
  bool bandsTouched() const;
  Bytes content(size_t I) const { return {Bases[I], Bases[I] + Sizes[I]}; }
  Expected<std::vector<Bytes>> arguments(const GateCase &C,
                                         const PlannedRun &Run) const;

private:
  std::unique_ptr<Placement> Places; // Outlives what is registered.

public:
  std::unique_ptr<DeviceMemory> Memory = DeviceMemory::create();
  std::vector<uint8_t *> Bases;

private:
  std::vector<uint64_t> Sizes;
};
} // namespace

uint64_t PlannedRun::scratchBytes() const {
  return std::accumulate(Scratch.begin(), Scratch.end(), uint64_t(0));
}

CaseMemory::CaseMemory(const GateCase &C, const PlannedRun &Run, uint8_t Fill,
                       bool Mark, uint64_t Salt) {
  for (const Bytes &Content : C.Buffers)
    Sizes.push_back(Content.size());
  append_range(Sizes, Run.Scratch);
  Places = Placement::create(Sizes, Band, C.Name, Salt);
  for (size_t I = 0; I < Sizes.size(); ++I) {
    uint64_t Size = Sizes[I];
    bool Own = I < C.Buffers.size();
    uint8_t *Base = Places->begin(I) + (Own ? C.Shift : 0);
    std::memset(Base - Band, Poison, Band);
    std::memset(Base + Size, Poison, Band);
    // What a plan allocates holds what others left there.
    bool Pure = !Own || (!C.PureOutput.empty() && C.PureOutput[I]);
    if (Pure)
      std::memset(Base, Fill, Size);
    else if (Size)
      std::memcpy(Base, C.Buffers[I].data(), Size);
    Memory->addBuffer(Base, Size);
    if (Pure && Mark)
      Memory->setWritten(Base, Size, false);
    Bases.push_back(Base);
  }
}

bool CaseMemory::bandsTouched() const {
  auto Clean = [](uint8_t B) { return B == Poison; };
  for (size_t I = 0; I < Bases.size(); ++I) {
    const uint8_t *Base = Bases[I], *End = Base + Sizes[I];
    if (!std::all_of(Base - Band, Base, Clean) ||
        !std::all_of(End, End + Band, Clean))
      return true;
  }
  return false;
}

Expected<std::vector<Bytes>>
CaseMemory::arguments(const GateCase &C, const PlannedRun &Run) const {
  std::vector<Bytes> Args = C.Args;
  for (const WorkloadPointer &P : C.Pointers) {
    uint8_t *Target = Bases[P.Buffer] + P.BufferOffset;
    std::memcpy(Args[P.Param].data() + P.Offset, &Target, 8);
  }
  size_t Own = Args.size();
  for (size_t I = C.Buffers.size(); I < Bases.size(); ++I) {
    auto *Begin = reinterpret_cast<const uint8_t *>(&Bases[I]);
    Args.emplace_back(Begin, Begin + sizeof(Bases[I]));
  }
  for (const ShapedTensorMap &Map : Run.TensorMaps) {
    alignas(64) TensorMap Encoded;
    const PointerRef &P = Map.Plan.Base;
    uint64_t Base = 0;
    if (P.Param >= Own || P.Offset + sizeof(Base) > Args[P.Param].size())
      return usageError("a tensor map names no argument");
    std::memcpy(&Base, Args[P.Param].data() + P.Offset, sizeof(Base));
    if (encodeTensorMap(Map, Base, Encoded))
      return usageError("a tensor map cannot be made for its buffer");
    auto *Begin = reinterpret_cast<const uint8_t *>(&Encoded);
    Args.emplace_back(Begin, Begin + sizeof(Encoded));
  }
  return Args;
}

int encodeTensorMap(const ShapedTensorMap &Map, uint64_t Base, TensorMap &To) {
  const TensorMapPlan &P = Map.Plan;
  std::vector<uint32_t> Steps;
  Steps.reserve(P.rank());
  for (unsigned I = 0; I < P.rank(); ++I)
    Steps.push_back(P.step(I));
  return encodeTiled(&To, P.Type, P.rank(), reinterpret_cast<void *>(Base),
                     Map.Values.Extents.data(), Map.Values.Strides.data(),
                     P.Box.data(), Steps.data(), /*Interleave=*/0, P.Swizzle,
                     P.Promotion, P.FillNan);
}

/// The bytes that variable \p Name starts with.
static const Bytes *startOf(StringRef Name, const GateCase &C,
                            ArrayRef<std::pair<std::string, Bytes>> Shared) {
  for (const auto &[Symbol, Content] : C.Globals)
    if (Symbol == Name)
      return &Content;
  for (const auto &[Symbol, Content] : Shared)
    if (Symbol == Name)
      return &Content;
  return nullptr; // The variant's own keep what they held.
}

Expected<RunResult> runCase(LoadedKernel &K, const PlannedRun &Run,
                            const GateCase &C, uint8_t Fill,
                            ArrayRef<std::pair<std::string, Bytes>> Shared) {
  CaseMemory M(C, Run, Fill, /*Mark=*/true, K.Salt);
  for (const std::string &Name : K.Module->globals())
    if (auto Global = K.Module->global(Name)) {
      M.Memory->addBuffer(Global->first, Global->second);
      if (const Bytes *Content = startOf(Name, C, Shared);
          Content && Content->size() == Global->second)
        std::memcpy(Global->first, Content->data(), Content->size());
    }
  Expected<std::vector<Bytes>> Args = M.arguments(C, Run);
  if (!Args)
    return Args.takeError();
  std::vector<const void *> Pointers;
  Pointers.reserve(Args->size());
  for (const Bytes &Arg : *Args)
    Pointers.push_back(Arg.data());
  RunResult Result;
  Result.Scratch = Run.scratchBytes();
  double Together = 0; // The share of the blocks that the GPU holds at a time.
  for (const ShapedLaunch &L : Run.Launches) {
    Expected<LaunchResult> Launched =
        K.Module->launch(L.Symbol, L.Shape, Pointers, *M.Memory);
    if (!Launched)
      return Launched.takeError();
    Result.Counts += Launched->Counts;
    Result.Steps += Launched->Steps;
    Result.Switches += Launched->Switches;
    Result.LaunchCounts.push_back(Launched->Counts);
    double Blocks = double(L.Shape.Grid[0]) * double(L.Shape.Grid[1]) *
                    double(L.Shape.Grid[2]);
    if (Expected<uint64_t> Held = K.Module->residentBlocks(L.Symbol, L.Shape))
      Together = std::max(Together, std::min(1.0, double(*Held) / Blocks));
    else
      consumeError(Held.takeError());
    Result.Fault = Launched->Fault;
    Result.Printed += Launched->Printed;
    if (Result.Fault)
      break;
  }
  Result.BandsTouched = M.bandsTouched();
  for (size_t I = 0; I < C.Buffers.size(); ++I) {
    Result.Buffers.push_back(M.content(I));
    if (auto Coverage = M.Memory->coverage(M.Bases[I]))
      Result.Coverage.push_back(std::move(*Coverage));
  }
  for (const std::string &Name : K.Module->globals())
    if (auto Global = K.Module->global(Name)) {
      auto *Begin = static_cast<const uint8_t *>(Global->first);
      Result.Globals.push_back({Name, Bytes(Begin, Begin + Global->second)});
    }
  Result.Heap = M.Memory->heapUse();
  Result.Heap.AtOnce =
      static_cast<uint64_t>(double(Result.Heap.AtOnce) * Together);
  for (const DeviceHeapBlock &B : M.Memory->deviceHeap()) {
    if (Result.HeapOrigin.empty())
      Result.HeapOrigin = B.Location.empty() ? B.Kernel : B.Location;
    Result.HeapLeft += B.Size;
  }
  return Result;
}

} // namespace cupilot
