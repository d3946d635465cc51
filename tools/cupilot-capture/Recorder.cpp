//===- Recorder.cpp - Records the launches of this process -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recorder.h"
#include "cupilot/Capture/Report.h"
#include "cupilot/Ptx/Touch.h"
#include <algorithm>
#include <cstring>
#include <unistd.h>

namespace cupilot::capture {

static thread_local unsigned OwnDepth = 0;

OwnCalls::OwnCalls(const Driver &Cuda) : Cuda(Cuda) {
  ++OwnDepth;
  if (Cuda.cuThreadExchangeStreamCaptureMode)
    (void)Cuda.cuThreadExchangeStreamCaptureMode(&Mode);
}

OwnCalls::~OwnCalls() {
  if (Cuda.cuThreadExchangeStreamCaptureMode)
    (void)Cuda.cuThreadExchangeStreamCaptureMode(&Mode);
  --OwnDepth;
}

bool OwnCalls::active() { return OwnDepth != 0; }

void OwnCalls::always() { ++OwnDepth; }

Recorder::Recorder(std::string Folder, Options Opts)
    : Opts(std::move(Opts)), Folder(std::move(Folder)),
      Table({this->Opts.PerKernel, 64}, Counts),
      Store(this->Folder, this->Opts.MaxBytes), Budget(this->Opts.MaxSeconds),
      Ring(new std::atomic<uint64_t>[RingSize]()) {}

bool Recorder::open() {
  std::string Pid = std::to_string(getpid());
  if (auto F = Log.open(Folder + "/journal." + Pid)) {
    std::fprintf(stderr, "cupilot: error: capture: %s\n", F->what());
    return false;
  }
  if (auto F = Counts.create(Folder + "/counters." + Pid)) {
    Log.failure(F->what());
    return false;
  }
  return true;
}

void Recorder::capturing(bool Begins) {
  if (Begins)
    ++Captures;
  else if (--Captures < 0)
    Captures = 0;
}

void Recorder::forgetFunctions() {
  std::lock_guard<std::mutex> Guard(TableLock);
  Functions.clear();
}

Recorder::Function &Recorder::function(const LaunchCall &Call) {
  auto [It, New] = Functions.try_emplace(Call.Function);
  Function &F = It->second;
  if (!New && (F.Named || !Call.Name))
    return F;
  F.Named = Call.Name != nullptr;
  if (New)
    F.Library = launchingLibrary();
  OwnCalls Own(Cuda);
  const char *Name = Call.Name;
  auto *AsFunction = static_cast<CUfunction>(Call.Function);
  auto *AsKernel = static_cast<CUkernel>(Call.Function);
  if (!Name && Cuda.cuKernelGetName)
    if (Cuda.cuKernelGetName(&Name, AsKernel) != CUDA_SUCCESS)
      Name = nullptr;
  if (!Name && Cuda.cuFuncGetName)
    if (Cuda.cuFuncGetName(&Name, AsFunction) != CUDA_SUCCESS)
      Name = nullptr;
  F.Named |= Name != nullptr;
  F.Name = Name ? Name : "(unknown)";
  if (!F.Library.empty())
    Libraries[F.Name] = F.Library;
  // The handle says nothing of its kind; only one of the two functions takes
  // it, and both know the end of the list by an invalid value.
  auto Read = [&](auto Get, auto Handle) {
    if (!Get)
      return false;
    F.Layout.clear();
    for (size_t I = 0;; ++I) {
      Parameter P;
      CUresult Result = Get(Handle, I, &P.Offset, &P.Size);
      if (Result != CUDA_SUCCESS)
        return Result == CUDA_ERROR_INVALID_VALUE;
      F.Layout.push_back(P);
    }
  };
  F.IsKernel = Read(Cuda.cuKernelGetParamInfo, AsKernel);
  F.Known = F.IsKernel || Read(Cuda.cuFuncGetParamInfo, AsFunction);
  for (const Parameter &P : F.Layout)
    F.Size = std::max(F.Size, P.Offset + P.Size);
  return F;
}

bool Recorder::readArguments(const Function &F, const LaunchCall &Call,
                             std::vector<std::string> &Args) const {
  if (!F.Known)
    return false;
  Args.resize(F.Layout.size());
  const char *Piece = nullptr;
  size_t PieceSize = 0;
  for (void **Extra = Call.Params ? nullptr : Call.Extra;
       Extra && *Extra != CU_LAUNCH_PARAM_END; Extra += 2) {
    if (*Extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
      Piece = static_cast<const char *>(Extra[1]);
    else if (*Extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
      PieceSize = *static_cast<size_t *>(Extra[1]);
  }
  if (!F.Layout.empty() && !Call.Params && (!Piece || PieceSize < F.Size))
    return false;
  for (size_t I = 0; I < F.Layout.size(); ++I) {
    const void *From =
        Call.Params ? Call.Params[I] : Piece + F.Layout[I].Offset;
    if (!From)
      return false;
    Args[I].assign(static_cast<const char *>(From), F.Layout[I].Size);
  }
  return true;
}

uint64_t Recorder::keyOf(const Function &F,
                         std::vector<std::string> Args) const {
  // Which of the pointers are equal or null is part of the key; where they
  // point to is not.
  std::vector<uint64_t> Seen;
  for (auto [Param, Offset] : F.Words) {
    char *At = Args[Param].data() + Offset;
    uint64_t Word;
    std::memcpy(&Word, At, 8);
    uint64_t Number = 0;
    if (Word) {
      auto It = std::ranges::find(Seen, Word);
      Number = 1 + static_cast<uint64_t>(It - Seen.begin());
      if (It == Seen.end())
        Seen.push_back(Word);
    }
    std::memcpy(At, &Number, 8);
  }
  uint64_t Hash = Args.size();
  for (const std::string &Arg : Args)
    Hash = mixHash(Hash, Arg.data(), Arg.size());
  return Hash;
}

bool Recorder::findRange(uint64_t Address, Range &Found) const {
  CUdeviceptr Base = 0;
  size_t Size = 0;
  if (Cuda.cuMemGetAddressRange_v2(&Base, &Size, Address) != CUDA_SUCCESS ||
      !Size)
    return false;
  Found = {Base, Size};
  return true;
}

void Recorder::writeClass(uint32_t Index,
                          const std::vector<std::string> &Obstacles) {
  const LaunchTable::Class &C = Table[Index];
  Launch L;
  L.Kernel = C.Kernel.empty() ? "(others)" : C.Kernel;
  L.Dims = C.Dims;
  L.InGraph = C.InGraph;
  if (auto It = Libraries.find(C.Kernel); It != Libraries.end())
    L.Library = It->second;
  L.Obstacles = Obstacles;
  if (C.Rest)
    L.Remarks.push_back("stands for launches with several arguments");
  Log.launch(Index, L);
}

uint32_t Recorder::classify(Function &F, const LaunchCall &Call, bool InGraph,
                            std::vector<std::string> &Args) {
  constexpr size_t Enough = 96; // Beyond the classes that a kernel can have.
  bool Read = readArguments(F, Call, Args);
  uint64_t Key = Read ? keyOf(F, Args) : 0;
  LaunchTable::Found Found = Table.lookup(F.Name, Call.Dims, Key, InGraph);
  if (!Found.New)
    return Found.Index;
  if (Read && F.Misses++ < Enough) {
    OwnCalls Own(Cuda);
    std::vector<std::string> Matched = Args;
    MatchedPointers M = matchPointers(
        F.Layout, Matched,
        [&](uint64_t Address, Range &R) { return findRange(Address, R); },
        [](uint64_t) { return false; });
    for (const Pointer &P : M.Pointers)
      if (std::pair Word(P.Param, P.Offset);
          std::ranges::find(F.Words, Word) == F.Words.end())
        F.Words.push_back(Word);
    Key = keyOf(F, Args);
  }
  Found = Table.find(F.Name, Call.Dims, Key, InGraph);
  if (Found.New)
    writeClass(Found.Index,
               Read ? std::vector<std::string>()
                    : std::vector<std::string>{
                          "the driver does not report the sizes of the "
                          "parameters (CUDA 12.4 and later do)"});
  if (!Read)
    Table[Found.Index].Never = true;
  return Found.Index;
}

void Recorder::beforeLaunch(const LaunchCall &Call, uint32_t Correlation) {
  if (Captures > 0 && Cuda.cuStreamIsCapturing) {
    OwnCalls Own(Cuda);
    CUstreamCaptureStatus Status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (Cuda.cuStreamIsCapturing(Call.Stream, &Status) != CUDA_SUCCESS ||
        Status != CU_STREAM_CAPTURE_STATUS_NONE)
      return; // The graph will show it.
  }
  std::unique_lock<std::mutex> Guard(TableLock);
  Function &F = function(Call);
  thread_local std::vector<std::string> Args;
  uint32_t Index = classify(F, Call, false, Args);
  ++Counts[Index].Count;
  Ring[Correlation % RingSize] = uint64_t(Correlation) << 32 | (Index + 1);
  // While a stream is captured, other calls could end the capture.
  if (Captures == 0 && (F.Library.empty() || Opts.Libraries) &&
      Table.wants(Index)) {
    if (std::optional<std::string> Why =
            Budget.refuses(/*First=*/!Table.keptLike(Index))) {
      Table[Index].Never = true;
      writeClass(Index, {*Why});
      return;
    }
    Function Copy = F;
    Guard.unlock();
    keepBefore(Index, Copy, Call, Args);
  }
}

void Recorder::inGraph(const LaunchCall &Call) {
  std::lock_guard<std::mutex> Guard(TableLock);
  Function &F = function(Call);
  std::vector<std::string> Args;
  classify(F, Call, true, Args);
}

void Recorder::ownLaunch(uint32_t Correlation) {
  // Before a launch of the program, ours bears its number; the name tells them
  // apart.
  uint64_t Known = Ring[Correlation % RingSize];
  if (Known >> 32 == Correlation && static_cast<uint32_t>(Known))
    return;
  Ring[Correlation % RingSize] = uint64_t(Correlation) << 32 | OwnEntry;
}

void Recorder::finished(const char *Kernel, const Shape &Dims,
                        uint32_t Correlation, bool InGraph,
                        uint64_t Nanoseconds) {
  if (std::strcmp(Kernel, ptx::TouchKernelName) == 0)
    return;
  uint64_t Entry = Ring[Correlation % RingSize];
  // What we launch before a graph's launch bears the number of that launch.
  if (!InGraph && Entry >> 32 == Correlation &&
      static_cast<uint32_t>(Entry) == OwnEntry)
    return;
  uint32_t Index = static_cast<uint32_t>(Entry) - 1;
  if (InGraph || Entry >> 32 != Correlation || !static_cast<uint32_t>(Entry)) {
    std::lock_guard<std::mutex> Guard(TableLock);
    LaunchTable::Found Found = Table.findByShape(Kernel, Dims, InGraph);
    Index = Found.Index;
    if (Found.New)
      writeClass(Index, Opts.Timing || InGraph
                            ? std::vector<std::string>()
                            : std::vector<std::string>{
                                  "its launch was not seen: it was made by "
                                  "the device, or before recording began"});
    // One that was counted when it was launched is not counted again; a later
    // launch in its place says that it was.
    bool Seen = static_cast<uint32_t>(Entry) &&
                static_cast<int32_t>(static_cast<uint32_t>(Entry >> 32) -
                                     Correlation) > 0;
    if (InGraph || Opts.Timing ||
        (!Seen && Counts[Index].Count <= Counts[Index].Timed))
      ++Counts[Index].Count;
  }
  Counter &C = Counts[Index];
  ++C.Timed;
  C.Nanoseconds += Nanoseconds;
  uint64_t Largest = C.Largest;
  while (Nanoseconds > Largest &&
         !C.Largest.compare_exchange_weak(Largest, Nanoseconds)) {
  }
}

void Recorder::describeDevices() {
  if (DevicesKnown.exchange(true))
    return;
  int Count = 0;
  if (Cuda.cuDeviceGetCount(&Count) != CUDA_SUCCESS)
    return;
  for (int I = 0; I < Count; ++I) {
    CUdevice Device;
    char Name[256] = "";
    if (Cuda.cuDeviceGet(&Device, I) != CUDA_SUCCESS ||
        Cuda.cuDeviceGetName(Name, sizeof(Name) - 1, Device) != CUDA_SUCCESS)
      continue;
    auto Attribute = [&](CUdevice_attribute A) {
      int Value = 0;
      return Cuda.cuDeviceGetAttribute(&Value, A, Device) == CUDA_SUCCESS
                 ? Value
                 : 0;
    };
    DeviceFacts Facts;
    Facts.Name = Name;
    Facts.Arch =
        "sm_" +
        std::to_string(
            Attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)) +
        std::to_string(Attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
    // kHz and bits; memory moves data on both edges of its clock.
    Facts.Bandwidth = 2e3 * Attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) *
                      Attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH) /
                      8;
    Log.device(Facts);
  }
}

void Recorder::Task::now(const char *What, const std::string &Kernel) {
  R.setDoing(What + (" " + demangled(Kernel)));
}

void Recorder::setDoing(std::string What) {
  std::lock_guard<std::mutex> Guard(DoingLock);
  Doing = std::move(What);
}

void Recorder::showProgress() {
  auto Now = TimeBudget::Clock::now();
  if (!Opts.ProgressMs ||
      Now - Shown < std::chrono::milliseconds(Opts.ProgressMs))
    return;
  Shown = Now;
  std::string Text;
  {
    std::lock_guard<std::mutex> Guard(DoingLock);
    Text = Doing;
  }
  uint64_t Launches = 0, Kernels = 0, Kept = 0;
  {
    std::lock_guard<std::mutex> Guard(TableLock);
    for (uint32_t I = 0; I < Table.size(); ++I)
      Launches += Counts[I].Count;
    Kernels = Table.kernels();
    Kept = Table.kept();
  }
  auto Seconds =
      std::chrono::duration_cast<std::chrono::seconds>(Now - Begin).count();
  std::fputs(progressLine(static_cast<uint64_t>(Seconds), Kernels, Launches,
                          Kept, Text)
                 .c_str(),
             stderr);
}

void Recorder::checkLog() {
  if (!Log.failed())
    return;
  Counts.setFailed();
  Disabled = true;
}

void Recorder::finish() {
  if (Disabled)
    return;
  describeDevices();
  flushActivity(*this, true);
  checkLog();
  Counts.setEnded();
}

} // namespace cupilot::capture
