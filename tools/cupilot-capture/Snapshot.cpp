//===- Snapshot.cpp - Keeps a launch with its data -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recorder.h"
#include "cupilot/Portable/Digest.h"
#include <algorithm>
#include <chrono>
#include <new>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

namespace cupilot::capture {

/// A launch that is being kept: between the callbacks before and after it.
struct Recorder::Pending {
  uint32_t Index;
  Launch What;
  CUstream Stream;
  std::vector<Range> Ranges, Globals;
  OwnBuffers Own;                     ///< Where parts of allocations are kept.
  std::vector<std::string> Before;    ///< Of the ranges; empty for large ones.
  uint64_t Held = 0;                  ///< Bytes in Before.
  std::unique_lock<std::mutex> Guard; ///< Of the store.
};

/// Contents held in memory between the two callbacks at most, in bytes. Larger
/// ones are neither searched for pointers nor compared byte by byte.
static constexpr uint64_t HeldLimit = 1ull << 29;

static thread_local std::shared_ptr<void> Current;

bool isHostAddress(uint64_t Address) {
  unsigned char Resident;
  uint64_t Page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  // Asks the kernel, and touches nothing.
  return Address < (1ull << 47) &&
         mincore(reinterpret_cast<void *>(Address & ~(Page - 1)), 1,
                 &Resident) == 0;
}

CUstream copyStream(const Driver &Cuda, unsigned Number) {
  static std::mutex Lock;
  static std::vector<std::pair<std::pair<CUcontext, unsigned>, CUstream>>
      Streams;
  CUcontext Context = nullptr;
  if (Cuda.cuCtxGetCurrent(&Context) != CUDA_SUCCESS || !Context)
    return nullptr;
  std::lock_guard<std::mutex> Guard(Lock);
  for (auto &[Known, Stream] : Streams)
    if (Known == std::pair(Context, Number))
      return Stream;
  CUstream Stream = nullptr;
  if (Cuda.cuStreamCreate(&Stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS)
    return nullptr;
  Streams.push_back({{Context, Number}, Stream});
  return Stream;
}

/// Waits until \p Stream has nothing to do.
Obstacle Recorder::waitFor(CUstream Stream) const {
  auto End =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(Opts.WaitMs);
  for (;;) {
    CUresult Result = Cuda.cuStreamQuery(Stream);
    if (Result == CUDA_SUCCESS)
      return {};
    if (Result != CUDA_ERROR_NOT_READY)
      return "its stream failed: " + Cuda.errorName(Result);
    if (std::chrono::steady_clock::now() > End)
      return "its stream did not become idle within " +
             std::to_string(Opts.WaitMs) + " ms (--wait-ms)";
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

Obstacle Recorder::read(const Range &R, std::unique_ptr<char[]> &Bytes) const {
  // Not a string: it would be filled with zeros first.
  Bytes.reset(new (std::nothrow) char[R.Size]);
  if (!Bytes)
    return "not enough host memory for a copy of " + std::to_string(R.Size) +
           " bytes";
  CUstream Stream = copyStream(Cuda);
  CUresult Result =
      Stream ? Cuda.cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(Bytes.get()),
                                  R.Base, R.Size, Stream)
             : CUDA_ERROR_INVALID_CONTEXT;
  if (Result == CUDA_SUCCESS)
    Result = Cuda.cuStreamSynchronize(Stream);
  if (Result != CUDA_SUCCESS)
    return "a buffer of " + std::to_string(R.Size) +
           " bytes could not be read: " + Cuda.errorName(Result);
  return {};
}

Obstacle Recorder::store(std::string_view Bytes, std::string &Digest) {
  if (auto F = Store.put(Bytes, Digest)) {
    Log.failure(F->what());
    return F->what();
  }
  if (Digest.empty())
    return "the limit of " + std::to_string(Store.limit()) +
           " bytes for all data is reached (--max-bytes)";
  return {};
}

/// Copies \p R to the host and keeps it.
Obstacle Recorder::snapshot(const Range &R, std::string &Digest,
                            std::string *Keep) {
  std::unique_ptr<char[]> Bytes;
  if (Obstacle Why = read(R, Bytes))
    return Why;
  std::string_view View(Bytes.get(), R.Size);
  Obstacle Why = store(View, Digest);
  if (!Why && Keep)
    *Keep = View;
  return Why;
}

void Recorder::drop(const Launch &L) {
  auto Drop = [&](const Content &C) {
    if (!C.Digest.empty())
      Store.drop(C.Digest);
    if (!C.After.empty() && C.HasAfter)
      Store.drop(C.After);
  };
  for (const Content &B : L.Buffers)
    Drop(B);
  for (const Global &G : L.Globals)
    Drop(G.Value);
  if (!L.Module.empty())
    Store.drop(L.Module);
}

void Recorder::giveUp(uint32_t Index) {
  drop(KeptLaunches[Index]);
  KeptLaunches[Index] = {};
  std::lock_guard<std::mutex> Guard(TableLock);
  Table[Index].Kept = false;
  writeClass(Index, {});
}

bool Recorder::makeRoom(uint32_t Index, uint64_t Bytes) {
  uint64_t Free = Store.limit() - std::min(Store.limit(), Store.stored());
  std::vector<uint32_t> Victims;
  {
    std::lock_guard<std::mutex> Guard(TableLock);
    Victims = Table.victims(Index, Bytes > Free ? Bytes - Free : 0);
  }
  for (uint32_t Victim : Victims)
    giveUp(Victim);
  return true;
}

bool Recorder::findModule(Launch &L, std::vector<std::string> &Variables) {
  return Binaries.with(L.Kernel,
                       [&](const CubinNames &Names, const std::string &Image) {
                         Variables = Names.Variables;
                         if (Image.empty())
                           return;
                         if (auto Failed = Store.put(Image, L.Module))
                           Log.failure(Failed->what());
                         else if (!L.Module.empty())
                           L.ModuleSize = Image.size();
                       });
}

void Recorder::findGlobals(Launch &L, std::vector<Range> &Found,
                           const Function &F, const void *Function) {
  void *Handle = const_cast<void *>(Function);
  CUlibrary Library = nullptr;
  CUmodule Module = nullptr;
  if (F.IsKernel && Cuda.cuKernelGetLibrary)
    (void)Cuda.cuKernelGetLibrary(&Library, static_cast<CUkernel>(Handle));
  else if (!F.IsKernel && Cuda.cuFuncGetModule)
    (void)Cuda.cuFuncGetModule(&Module, static_cast<CUfunction>(Handle));
  // Modules are loaded when something of them is needed. Now, or else the
  // launch itself would do it.
  CUfunction Loaded = nullptr;
  if (F.IsKernel && Cuda.cuKernelGetFunction)
    (void)Cuda.cuKernelGetFunction(&Loaded, static_cast<CUkernel>(Handle));
  std::vector<std::string> Names;
  (void)findModule(L, Names);
  for (const std::string &Name : Names) {
    CUdeviceptr At = 0;
    size_t Size = 0;
    CUresult Result = CUDA_ERROR_NOT_FOUND;
    if (Library && Cuda.cuLibraryGetGlobal)
      Result = Cuda.cuLibraryGetGlobal(&At, &Size, Library, Name.c_str());
    else if (Module)
      Result = Cuda.cuModuleGetGlobal_v2(&At, &Size, Module, Name.c_str());
    if (Result != CUDA_SUCCESS || !Size)
      continue; // Local to its file, or the compiler's own.
    L.Globals.push_back({Name, {Size, 256, {}, {}}});
    Found.push_back({At, Size});
  }
}

void Recorder::keepBefore(uint32_t Index, const Function &F,
                          const LaunchCall &Call,
                          std::vector<std::string> Args) {
  OwnCalls Own(Cuda);
  std::unique_lock<std::mutex> Guard(StoreLock, std::try_to_lock);
  if (!Guard)
    return; // Another thread keeps one now; a later launch will be kept.
  TimeBudget::Spending Counted(Budget);
  describeDevices(); // Now: the program may not come to its end.
  auto P = std::make_shared<Pending>();
  P->Index = Index;
  P->Stream = Call.Stream;
  Launch &L = P->What;
  L.Kernel = F.Name;
  L.Dims = Call.Dims;
  MatchedPointers M = matchPointers(
      F.Layout, Args,
      [&](uint64_t Address, Range &R) { return findRange(Address, R); },
      [](uint64_t Address) { return isHostAddress(Address); });
  L.Args = std::move(Args);
  L.Pointers = M.Pointers;
  P->Ranges = M.Ranges;
  uint64_t Bytes = 0;
  for (const Range &R : M.Ranges)
    Bytes += R.Size;
  CUdevice Device = 0;
  if (Cuda.cuCtxGetDevice(&Device) == CUDA_SUCCESS)
    L.Device = static_cast<unsigned>(Device);
  unsigned long long Stream = 0;
  if (Cuda.cuStreamGetId &&
      Cuda.cuStreamGetId(Call.Stream, &Stream) == CUDA_SUCCESS)
    L.Stream = Stream;
  Obstacle Why;
  // Nothing after this may be left half done: Never ends all further tries.
  auto Refuse = [&](const std::string &Text, bool Forever) {
    drop(L);
    std::lock_guard<std::mutex> Table2(TableLock);
    Table[Index].Never = Forever;
    writeClass(Index, {Text});
  };
  for (auto [Param, Offset] : M.HostWords)
    L.Obstacles.push_back("parameter " + std::to_string(Param) +
                          " contains, at " + std::to_string(Offset) +
                          ", a value that could be a pointer to host memory");
  if (M.InStructs)
    L.Remarks.push_back("pointers inside by-value structs: a replay confirms "
                        "them");
  Task Task(*this);
  Task.now("waiting for the work before a launch of", F.Name);
  if (Obstacle Busy = waitFor(Call.Stream))
    return Refuse(*Busy, false);
  findGlobals(L, P->Globals, F, Call.Function);
  // Looking takes seconds, and launches of one shape often touch as much.
  constexpr size_t Looks = 3;
  if (const auto &Known = TooLarge[L.Kernel];
      Bytes > Opts.WholeBytes &&
      std::ranges::count(Known, L.Dims) >= static_cast<long>(Looks))
    return Refuse("not looked at: " + std::to_string(Looks) +
                      " launches of its shape touch too much "
                      "(--max-launch-bytes)",
                  true);
  std::string Untold; // Why it is not known what the launch touches.
  if (Bytes > Opts.WholeBytes) {
    Task.now("finding out what is touched by a launch of", F.Name);
    if (Obstacle Unknown = touched(L, M.Ranges, P->Globals, P->Own)) {
      Untold = ", and what it touches of them is not known: " + *Unknown;
      P->Own = {};
    } else {
      uint64_t Touched = 0, Of = Bytes;
      P->Ranges.clear();
      for (const Part &Each : P->Own.Parts) {
        P->Ranges.push_back(Each.All);
        Touched += Each.touched();
      }
      Bytes = P->Own.bytes();
      L.Pointers = P->Own.Pointers;
      L.Remarks.push_back("holds the " + std::to_string(Touched) +
                          " bytes that the launch touches, of allocations of " +
                          std::to_string(Of));
    }
  }
  for (const Range &R : P->Ranges)
    L.Buffers.push_back({R.Size, 256, {}, {}});
  if (Bytes > Opts.MaxLaunchBytes) {
    std::string Text = "its buffers hold " + std::to_string(Bytes) +
                       " bytes, more than --max-launch-bytes allows" + Untold;
    TooLarge[L.Kernel].push_back(L.Dims);
    return Refuse(Text, true);
  }
  Task.now("copying the data of a launch of", F.Name);
  makeRoom(Index, Bytes);
  auto Copy = [&](const Range &R, Content &C, const std::string &What,
                  std::string *Known = nullptr) {
    std::string Text;
    bool Scan = P->Held + R.Size <= HeldLimit;
    if (Known)
      Why = store(*Known, C.Digest);
    else
      Why = snapshot(R, C.Digest, Scan ? &Text : nullptr);
    if (Known && !Why)
      Text = std::move(*Known);
    if (Why)
      return false;
    int Where = -1;
    if (Cuda.cuPointerGetAttribute &&
        Cuda.cuPointerGetAttribute(&Where, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                   R.Base) == CUDA_SUCCESS &&
        Where >= 0 && static_cast<unsigned>(Where) != L.Device)
      L.Obstacles.push_back(What + " lies on device " + std::to_string(Where));
    size_t Inside =
        countPointers(Text, M.Ranges, [&](uint64_t Address, Range &F) {
          return findRange(Address, F);
        });
    P->Held += Text.size();
    P->Before.push_back(std::move(Text));
    if (Inside)
      L.Obstacles.push_back(What + " holds " + std::to_string(Inside) +
                            " words that are addresses of device memory");
    return true;
  };
  for (size_t I = 0; I < L.Buffers.size(); ++I)
    if (!Copy(P->Ranges[I], L.Buffers[I], "buffer " + std::to_string(I),
              P->Own.Before.empty() ? nullptr : &P->Own.Before[I]))
      return Refuse(*Why, false);
  for (size_t I = 0; I < L.Globals.size(); ++I)
    if (!Copy(P->Globals[I], L.Globals[I].Value,
              "variable " + L.Globals[I].Symbol))
      return Refuse(*Why, false);
  P->Guard = std::move(Guard);
  Current = std::move(P);
}

/// What the launch made of a part. Only its digest is kept where it is what
/// was expected: another run gives it, too.
Obstacle Recorder::keepPartAfter(const Part &P, const std::string &Before,
                                 const std::string &Expected, Content &C) {
  std::unique_ptr<char[]> Bytes;
  if (Obstacle Why = read(P.All, Bytes))
    return Why;
  keepTouched(P, Bytes.get());
  std::string_view View(Bytes.get(), P.All.Size);
  C.After = digest(View);
  C.HasAfter = C.After != Expected && C.After != C.Digest;
  if (C.After != C.Digest)
    for (size_t I = 0; I < Before.size(); ++I)
      C.Changed += Before[I] != View[I];
  if (!C.HasAfter)
    return {};
  return store(View, C.After);
}

Obstacle Recorder::keepAfter(const Range &R, const std::string &Before,
                             Content &C) {
  std::string After;
  Obstacle Why = snapshot(R, C.After, Before.empty() ? nullptr : &After);
  if (!Why && !Before.empty() && C.After != C.Digest)
    for (size_t I = 0; I < Before.size(); ++I)
      C.Changed += Before[I] != After[I];
  return Why;
}

void Recorder::afterLaunch(bool Launched) {
  if (!Current)
    return;
  OwnCalls Own(Cuda);
  TimeBudget::Spending Counted(Budget);
  auto P = std::static_pointer_cast<Pending>(std::move(Current));
  Current = nullptr;
  Launch &L = P->What;
  Task Task(*this);
  Task.now("waiting for, and copying what was made by, a launch of", L.Kernel);
  Obstacle Why = Launched ? waitFor(P->Stream) : Obstacle("the launch failed");
  // A binary that only the launch itself made known: variables of it were not
  // read before the launch.
  std::vector<std::string> Variables;
  if (!Why && L.Module.empty() && !findModule(L, Variables))
    L.Remarks.push_back("the GPU binary of the kernel was not recorded, nor "
                        "the variables that it may use");
  else if (!Why && L.Globals.empty() && !Variables.empty())
    Why = "its GPU binary was loaded by the launch itself";
  for (size_t I = 0; I < L.Buffers.size() && !Why; ++I)
    Why = P->Own.Parts.empty()
              ? keepAfter(P->Ranges[I], P->Before[I], L.Buffers[I])
              : keepPartAfter(P->Own.Parts[I], P->Before[I],
                              P->Own.After.empty() ? "" : P->Own.After[I],
                              L.Buffers[I]);
  for (size_t I = 0; I < L.Globals.size() && !Why; ++I)
    Why = snapshot(P->Globals[I], L.Globals[I].Value.After);
  if (Why) {
    drop(L);
    std::lock_guard<std::mutex> Guard(TableLock);
    writeClass(P->Index, {*Why});
    return;
  }
  uint64_t Bytes = 0;
  for (const Content &B : L.Buffers)
    Bytes += B.Size;
  L.Kept = true;
  std::lock_guard<std::mutex> Guard(TableLock);
  LaunchTable::Class &C = Table[P->Index];
  C.Kept = true;
  C.Bytes = Bytes;
  if (C.Rest)
    L.Remarks.push_back("stands for launches with several arguments");
  if (KeptLaunches.size() <= P->Index)
    KeptLaunches.resize(P->Index + 1);
  KeptLaunches[P->Index] = L;
  Log.launch(P->Index, L);
}

} // namespace cupilot::capture
