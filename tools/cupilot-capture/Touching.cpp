//===- Touching.cpp - What a launch touches of its allocations --*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Frameworks put everything into a few allocations. A launch's kernel runs once
// more before it, as code that marks what it touches, on copies of the
// allocations on the card. It reaches no other memory, so that it can neither
// change nor end the program. Then it runs on buffers of their own for each
// pointer: what reaches beyond one of them shows pointers that belong together.
//
// Where the card has no room for a copy, the first run is on the program's own
// allocation. What it writes, the launch itself is about to write: nobody else
// may use that now. It gets its old content back from a copy in the host's
// memory.
//
//===----------------------------------------------------------------------===//

#include "Recorder.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Ptx/Touch.h"
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <link.h>
#include <sys/mman.h>
#include <thread>
#include <unwind.h>

namespace cupilot::capture {

static_assert(Granule == ptx::TouchGranule);

/// Files of libraries that launch kernels of their own, up to ".so".
static constexpr std::string_view LibraryNames[] = {
    "libc10_cuda",   "libcublas",       "libcublasLt", "libcudnn",
    "libcufft",      "libcurand",       "libcusolver", "libcusolverMg",
    "libcusparse",   "libcusparseLt",   "libcutensor", "libcuvs",
    "libnccl",       "libnvinfer",      "libnvjpeg",   "libtorch",
    "libtorch_cuda", "libtorch_python", "libcudss",    "libnvrtc",
    "libcufile",     "libcudf",         "libraft",     "libtorch_cpu",
    "libcudadevrt"};

/// The driver, its run time and tools, which stand between a launch and who
/// makes it.
static constexpr std::string_view Between[] = {
    "libcuda", "libcudart", "libcupti", "libcupilot-capture"};

/// "libcublas" of "/usr/lib/libcublas.so.13"; "libcudnn_ops" counts as
/// "libcudnn", and "libnppig" as itself.
static std::string_view stemOf(std::string_view Path) {
  std::string_view Name = Path.substr(Path.rfind('/') + 1);
  return Name.substr(0, Name.find(".so"));
}

static bool isLibrary(std::string_view Stem) {
  return std::ranges::find(LibraryNames, Stem) != std::end(LibraryNames) ||
         Stem.starts_with("libcudnn_") || Stem.starts_with("libnpp") ||
         Stem.starts_with("libtorch_cuda_") || Stem.starts_with("libnvinfer_");
}

std::string launchingLibrary() {
  std::string Found;
  _Unwind_Backtrace(
      [](_Unwind_Context *At, void *Data) {
        Dl_info Info;
        auto Address = static_cast<uintptr_t>(_Unwind_GetIP(At));
        if (!Address || !dladdr(reinterpret_cast<void *>(Address), &Info) ||
            !Info.dli_fname)
          return _URC_END_OF_STACK;
        std::string_view Stem = stemOf(Info.dli_fname);
        if (std::ranges::find(Between, Stem) != std::end(Between))
          return _URC_NO_REASON;
        if (isLibrary(Stem)) {
          std::string_view Path = Info.dli_fname;
          *static_cast<std::string *>(Data) =
              std::string(Path.substr(Path.rfind('/') + 1));
        }
        return _URC_END_OF_STACK;
      },
      &Found);
  return Found;
}

/// Executables and libraries of this process that may hold PTX of its own
/// kernels.
static std::vector<std::string> loadedFiles() {
  std::vector<std::string> Files;
  dl_iterate_phdr(
      [](dl_phdr_info *Info, size_t, void *Data) {
        std::string Path = Info->dlpi_name ? Info->dlpi_name : "";
        auto &Files = *static_cast<std::vector<std::string> *>(Data);
        // The first one is the program, which has no name.
        if (Path.empty() && Files.empty())
          Path = "/proc/self/exe";
        std::string_view Stem = stemOf(Path);
        if (Path.starts_with("/") && !isLibrary(Stem) &&
            std::ranges::find(Between, Stem) == std::end(Between))
          Files.push_back(std::move(Path));
        return 0;
      },
      &Files);
  return Files;
}

Obstacle Recorder::makeMarked(const std::string &Kernel, Marked &Made) {
  CUdevice Device = 0;
  int Major = 0, Minor = 0;
  if (!Cuda.cuModuleLoadData || !Cuda.cuMemsetD8Async || !Cuda.cuMemAlloc_v2 ||
      Cuda.cuCtxGetDevice(&Device) != CUDA_SUCCESS ||
      Cuda.cuDeviceGetAttribute(&Major,
                                CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                                Device) != CUDA_SUCCESS ||
      Cuda.cuDeviceGetAttribute(&Minor,
                                CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                                Device) != CUDA_SUCCESS)
    return "the driver has no functions for that";
  for (const std::string &Path : loadedFiles())
    Ptx.add(Path);
  std::string Why;
  std::optional<std::string> Text =
      Ptx.find(Kernel, static_cast<unsigned>(Major * 10 + Minor), Why);
  if (!Text)
    return Why + " (-gencode arch=compute_" +
           std::to_string(Major * 10 + Minor) + ",code=compute_" +
           std::to_string(Major * 10 + Minor) + " adds it)";
  ptx::Diagnostic D;
  std::optional<ptx::Module> M = ptx::readModule(std::move(*Text), D);
  if (!M)
    return "its PTX cannot be read: " + D.str();
  std::optional<ptx::MarkedKernel> Copy = ptx::markAccesses(*M, Kernel, Why);
  if (!Copy)
    return Why;
  CUresult Result = Cuda.cuModuleLoadData(&Made.Module, Copy->Text.c_str());
  if (Result == CUDA_SUCCESS)
    Result = Cuda.cuModuleGetFunction(&Made.Kernel, Made.Module,
                                      ptx::TouchKernelName);
  if (Result != CUDA_SUCCESS)
    return "the driver does not compile its marked copy: " +
           Cuda.errorName(Result);
  Made.Variables = std::move(Copy->Variables);
  return std::nullopt;
}

const Recorder::Marked &Recorder::markedKernel(const std::string &Kernel) {
  CUcontext Context = nullptr;
  (void)Cuda.cuCtxGetCurrent(&Context);
  auto [It, New] = MarkedKernels.try_emplace({Context, Kernel});
  if (New)
    if (Obstacle Why = makeMarked(Kernel, It->second))
      It->second.Why = *Why;
  return It->second;
}

/// One run of marked code. Its memory on the card lives as long as it.
class Recorder::MarkedRun {
public:
  MarkedRun(Recorder &R, const Marked &K)
      : R(R), K(K), Stream(copyStream(R.Cuda, 1)) {}
  ~MarkedRun() {
    restore();
    for (CUdeviceptr At : Owned)
      (void)R.Cuda.cuMemFree_v2(At);
  }
  MarkedRun(const MarkedRun &) = delete;

  /// A copy of \p From, of the card or the host, of which the first \p Skip
  /// bytes may not be touched. Marks are made where \p Marks; then it may be
  /// \p From itself, which is as it was when this is destroyed.
  Obstacle add(const Range &From, uint64_t Skip, bool Marks);
  /// Copies the program's variables into those of the marked module.
  Obstacle variables(const Launch &L, const std::vector<Range> &At);
  /// Runs it with the pointers into the copies, by their numbers.
  Obstacle run(const Launch &L, const std::vector<Pointer> &Pointers);
  /// What was touched of the copy \p Number.
  Obstacle marks(size_t Number, Touched &Marks);
  /// Where the copies lie.
  std::vector<uint64_t> places() const {
    std::vector<uint64_t> At;
    At.reserve(Copies.size());
    for (const Copy &C : Copies)
      At.push_back(C.At);
    return At;
  }
  /// What copy \p Number was made of, from \p At on, if it is the original.
  const char *saved(size_t Number, uint64_t At) const {
    const Copy &C = Copies[Number];
    return C.Saved ? C.Saved.get() + (At - C.From.Base) : nullptr;
  }
  /// Bytes of originals that it runs on.
  uint64_t savedBytes() const {
    uint64_t Bytes = 0;
    for (const Copy &C : Copies)
      Bytes += C.Saved ? C.From.Size : 0;
    return Bytes;
  }
  /// A thread wanted to touch other memory.
  bool reachedFurther() const { return Head.ForeignRead || Head.ForeignWrite; }

private:
  struct Copy {
    Range From;
    CUdeviceptr At = 0;
    uint64_t Bitmap = 0; ///< Bytes of each.
    std::unique_ptr<char, decltype(&std::free)> Saved{nullptr, &std::free};
    ///< What From held, where it is At.
  };
  Obstacle good(CUresult Result, const char *What) const {
    if (Result == CUDA_SUCCESS)
      return std::nullopt;
    return std::string(What) + ": " + R.Cuda.errorName(Result);
  }
  Obstacle allocate(uint64_t Size, CUdeviceptr &At);
  Obstacle save(Copy &C) const;
  Obstacle readMap(uint64_t At, uint64_t Size, TouchedBits &Bits) const;
  void restore();
  Obstacle wait(CUdeviceptr Table);

  Recorder &R;
  const Marked &K;
  CUstream Stream;
  std::vector<CUdeviceptr> Owned;
  std::vector<Copy> Copies;
  std::vector<ptx::TouchRange> Table;
  ptx::TouchHeader Head;
};

Obstacle Recorder::MarkedRun::allocate(uint64_t Size, CUdeviceptr &At) {
  size_t Free = 0, Total = 0;
  // The program may want to allocate more before this is given back.
  if (R.Cuda.cuMemGetInfo_v2 &&
      R.Cuda.cuMemGetInfo_v2(&Free, &Total) == CUDA_SUCCESS &&
      Size > Free - std::min<size_t>(Free, Total / 64))
    return "the GPU has no room for a copy of " + std::to_string(Size) +
           " bytes";
  if (R.Cuda.cuMemAlloc_v2(&At, Size) != CUDA_SUCCESS)
    return "the GPU has no room for a copy of " + std::to_string(Size) +
           " bytes";
  Owned.push_back(At);
  return std::nullopt;
}

Obstacle Recorder::MarkedRun::add(const Range &From, uint64_t Skip,
                                  bool Marks) {
  if (Table.size() == ptx::MostTouchRanges)
    return "it has too many buffers";
  Copy C;
  C.From = From;
  Obstacle NoRoom = allocate(From.Size, C.At);
  if (NoRoom && !Marks)
    return NoRoom;
  if (NoRoom) {
    C.At = From.Base;
  } else if (Obstacle Why =
                 good(R.Cuda.cuMemcpyAsync(C.At, From.Base, From.Size, Stream),
                      "copying")) {
    return Why;
  }
  ptx::TouchRange Entry{C.At + Skip, C.At + From.Size, 0, 0};
  if (Marks) {
    C.Bitmap = (From.Size / Granule / 32 + 2) * 4;
    CUdeviceptr Maps = 0;
    if (Obstacle Why = allocate(2 * C.Bitmap, Maps))
      return NoRoom ? NoRoom : Why;
    if (Obstacle Why = good(
            R.Cuda.cuMemsetD8Async(Maps, 0, 2 * C.Bitmap, Stream), "clearing"))
      return Why;
    Entry.Reads = Maps;
    Entry.Writes = Maps + C.Bitmap;
  }
  if (NoRoom)
    if (Obstacle Why = save(C))
      return *NoRoom + ", and " + *Why;
  Table.push_back(Entry);
  Copies.push_back(std::move(C));
  return std::nullopt;
}

/// What this process may take of the host's memory.
static uint64_t freeHostMemory() {
  auto Number = [](const char *Path, const std::string &Name) {
    std::ifstream In(Path);
    std::string Word;
    uint64_t Value = 0;
    while (!Name.empty() && In >> Word && Word != Name) {
    }
    return In >> Value ? std::optional(Value) : std::nullopt;
  };
  uint64_t Free = Number("/proc/meminfo", "MemAvailable:").value_or(0) * 1024;
  // "max" is no number: there is no limit.
  if (auto Most = Number("/sys/fs/cgroup/memory.max", ""))
    if (auto Used = Number("/sys/fs/cgroup/memory.current", ""))
      Free = std::min(Free, *Most - std::min(*Most, *Used));
  return Free;
}

/// Copies the content of \p C to the host.
Obstacle Recorder::MarkedRun::save(Copy &C) const {
  // The program needs some, too.
  if (C.From.Size > freeHostMemory() / 2)
    return "the host has none either";
  // Gigabytes by pages of 4 KiB take longer than what is copied into them.
  constexpr size_t Huge = 2 << 20;
  const size_t Room = (C.From.Size + Huge - 1) / Huge * Huge;
  C.Saved.reset(static_cast<char *>(std::aligned_alloc(Huge, Room)));
  if (!C.Saved)
    return "the host has none either";
  (void)madvise(C.Saved.get(), Room, MADV_HUGEPAGE);
  if (Obstacle Why = good(
          R.Cuda.cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(C.Saved.get()),
                               C.From.Base, C.From.Size, Stream),
          "saving the program's memory"))
    return Why;
  return good(R.Cuda.cuStreamSynchronize(Stream),
              "saving the program's memory");
}

/// Gives originals back what they held, as far as the run may have written it.
void Recorder::MarkedRun::restore() {
  for (size_t I = 0; I < Copies.size(); ++I) {
    const Copy &C = Copies[I];
    if (!C.Saved)
      continue;
    TouchedBits Writes;
    Obstacle Why = good(R.Cuda.cuStreamSynchronize(Stream), "its marked copy");
    if (!Why)
      Why = readMap(Table[I].Writes, C.Bitmap, Writes);
    // Marks count from the 64 bytes on that the range begins in.
    const uint64_t First = Table[I].Begin / Granule * Granule;
    for (const Range &Each : markedRanges(Writes)) {
      if (Why)
        break;
      uint64_t Begin = std::max(First + Each.Base, C.From.Base),
               End = std::min(First + Each.Base + Each.Size,
                              C.From.Base + C.From.Size);
      if (Begin < End)
        Why = good(
            R.Cuda.cuMemcpyAsync(Begin,
                                 reinterpret_cast<CUdeviceptr>(C.Saved.get()) +
                                     (Begin - C.From.Base),
                                 End - Begin, Stream),
            "writing back");
    }
    if (!Why)
      Why = good(R.Cuda.cuStreamSynchronize(Stream), "writing back");
    if (Why)
      R.Log.failure("the program's memory could not be restored: " + *Why);
  }
}

Obstacle Recorder::MarkedRun::readMap(uint64_t At, uint64_t Size,
                                      TouchedBits &Bits) const {
  Bits.resize(Size / 4);
  if (Obstacle Why =
          good(R.Cuda.cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(Bits.data()),
                                    At, Size, Stream),
               "reading the marks"))
    return Why;
  return good(R.Cuda.cuStreamSynchronize(Stream), "reading the marks");
}

Obstacle Recorder::MarkedRun::variables(const Launch &L,
                                        const std::vector<Range> &At) {
  for (const std::string &Name : K.Variables) {
    CUdeviceptr Own = 0;
    size_t Size = 0;
    if (R.Cuda.cuModuleGetGlobal_v2(&Own, &Size, K.Module, Name.c_str()) !=
            CUDA_SUCCESS ||
        !Size)
      continue; // A constant that is never addressed.
    auto It = std::ranges::find(L.Globals, Name, &Global::Symbol);
    if (It != L.Globals.end() && It->Value.Size == Size)
      if (Obstacle Why = good(
              R.Cuda.cuMemcpyAsync(
                  Own, At[static_cast<size_t>(It - L.Globals.begin())].Base,
                  Size, Stream),
              "copying a variable"))
        return Why;
    if (Table.size() == ptx::MostTouchRanges)
      return "it has too many variables";
    Table.push_back({Own, Own + Size, 0, 0});
  }
  return std::nullopt;
}

/// Waits for the marked code, and stops it when it takes too long: each of its
/// accesses looks whether it may go on.
Obstacle Recorder::MarkedRun::wait(CUdeviceptr At) {
  if (!R.waitFor(Stream))
    return std::nullopt;
  uint64_t Stop = 1;
  CUstream Other = copyStream(R.Cuda);
  (void)R.Cuda.cuMemcpyAsync(At, reinterpret_cast<CUdeviceptr>(&Stop),
                             sizeof(Stop), Other);
  (void)R.Cuda.cuStreamSynchronize(Other);
  if (Obstacle Why = R.waitFor(Stream))
    return "its marked copy failed: " + *Why;
  return "its marked copy takes more than " + std::to_string(R.Opts.WaitMs) +
         " ms (--wait-ms)";
}

Obstacle Recorder::MarkedRun::run(const Launch &L,
                                  const std::vector<Pointer> &Pointers) {
  std::vector<std::string> Args = L.Args;
  for (const Pointer &P : Pointers) {
    CUdeviceptr Word = Copies[P.Buffer].At + P.At;
    std::memcpy(Args[P.Param].data() + P.Offset, &Word, 8);
  }
  std::vector<void *> Params;
  Params.reserve(Args.size());
  for (std::string &Arg : Args)
    Params.push_back(Arg.data());
  CUdeviceptr At = 0;
  size_t Size = 0;
  if (Obstacle Why = good(R.Cuda.cuModuleGetGlobal_v2(&At, &Size, K.Module,
                                                      ptx::TouchTableName),
                          "finding the table"))
    return Why;
  std::string Bytes(sizeof(Head) + Table.size() * sizeof(Table[0]), '\0');
  Head = {};
  Head.Count = Table.size();
  std::memcpy(Bytes.data(), &Head, sizeof(Head));
  std::memcpy(Bytes.data() + sizeof(Head), Table.data(),
              Table.size() * sizeof(Table[0]));
  if (Obstacle Why = good(
          R.Cuda.cuMemcpyAsync(At, reinterpret_cast<CUdeviceptr>(Bytes.data()),
                               Bytes.size(), Stream),
          "writing the table"))
    return Why;
  if (L.Dims.Shared > 0 && R.Cuda.cuFuncSetAttribute)
    (void)R.Cuda.cuFuncSetAttribute(
        K.Kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
        static_cast<int>(L.Dims.Shared));
  LaunchConfig Config(L.Dims, Stream);
  if (Obstacle Why = good(R.Cuda.cuLaunchKernelEx(&Config.Values, K.Kernel,
                                                  Params.data(), nullptr),
                          "its marked copy cannot be launched"))
    return Why;
  if (Obstacle Why = wait(At))
    return Why;
  if (Obstacle Why =
          good(R.Cuda.cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(&Head), At,
                                    sizeof(Head), Stream),
               "reading the table"))
    return Why;
  return good(R.Cuda.cuStreamSynchronize(Stream), "its marked copy failed");
}

Obstacle Recorder::MarkedRun::marks(size_t Number, Touched &Marks) {
  const uint64_t Size = Copies[Number].Bitmap;
  if (Obstacle Why = readMap(Table[Number].Reads, Size, Marks.Reads))
    return Why;
  return readMap(Table[Number].Writes, Size, Marks.Writes);
}

uint64_t Recorder::OwnBuffers::bytes() const {
  uint64_t Bytes = 0;
  for (const Part &P : Parts)
    Bytes += P.All.Size;
  return Bytes;
}

/// The contents of \p Parts where they lie, each at \p At of its own, or in
/// \p Saved.
Obstacle Recorder::readParts(const std::vector<Part> &Parts,
                             const std::vector<uint64_t> &At,
                             std::vector<std::string> &Contents,
                             const std::vector<const char *> &Saved) const {
  Contents.clear();
  for (size_t I = 0; I < Parts.size(); ++I) {
    const uint64_t Size = Parts[I].All.Size;
    std::unique_ptr<char[]> Bytes;
    if (!Saved.empty() && Saved[I])
      Contents.emplace_back(Saved[I], Size);
    else if (Obstacle Why = read({At[I], Size}, Bytes))
      return Why;
    else
      Contents.emplace_back(Bytes.get(), Size);
    keepTouched(Parts[I], Contents.back().data());
  }
  return std::nullopt;
}

/// Runs the marked code on \p Made's buffers with the contents in it; what they
/// hold then.
Obstacle Recorder::tryBuffers(const Launch &L, const Marked &K,
                              const std::vector<Range> &Globals,
                              const OwnBuffers &Made, bool &Further,
                              std::vector<std::string> &After) {
  MarkedRun Run(*this, K);
  for (size_t I = 0; I < Made.Parts.size(); ++I)
    if (Obstacle Why =
            Run.add({reinterpret_cast<uint64_t>(Made.Before[I].data()),
                     Made.Before[I].size()},
                    Made.Parts[I].Least -
                        std::min(Made.Parts[I].Least, Made.Parts[I].All.Base),
                    false))
      return Why;
  if (Obstacle Why = Run.variables(L, Globals))
    return Why;
  if (Obstacle Why = Run.run(L, Made.Pointers))
    return Why;
  Further = Run.reachedFurther();
  return Further ? std::nullopt : readParts(Made.Parts, Run.places(), After);
}

Obstacle Recorder::touched(Launch &L, const std::vector<Range> &Allocations,
                           const std::vector<Range> &Globals,
                           OwnBuffers &Made) {
  const Marked &K = markedKernel(L.Kernel);
  if (!K.Why.empty()) {
    Obstacle Why = inferred(L, Allocations, Globals, Made);
    return Why ? Obstacle(K.Why + "; by replays with noise: " + *Why) : Why;
  }
  MarkedRun Whole(*this, K);
  for (const Range &A : Allocations)
    if (Obstacle Why = Whole.add(A, 0, true))
      return Why;
  if (Obstacle Why = Whole.variables(L, Globals))
    return Why;
  if (Obstacle Why = Whole.run(L, L.Pointers))
    return Why;
  if (Whole.reachedFurther())
    return "it touches memory that no argument points to";
  std::vector<Touched> Marks(Allocations.size());
  for (size_t I = 0; I < Marks.size(); ++I)
    if (Obstacle Why = Whole.marks(I, Marks[I]))
      return Why;
  if (uint64_t Bytes = Whole.savedBytes())
    L.Remarks.push_back("the GPU had no room for a copy of " +
                        std::to_string(Bytes) +
                        " bytes: what the launch touches of them was found in "
                        "the program's own memory, which was restored");
  // Which allocation a part is of: the copies lie as the originals do.
  auto Split = [&](bool Together, std::vector<uint64_t> &Here,
                   std::vector<const char *> &Saved,
                   std::vector<uint64_t> &Copies) {
    TouchedParts Found = splitTouched(Allocations, Marks, L.Pointers, Together);
    Made.Parts = std::move(Found.Parts);
    Made.Pointers = std::move(Found.Pointers);
    for (const Part &P : Made.Parts) {
      size_t I = 0;
      while (P.All.Base - Allocations[I].Base >= Allocations[I].Size)
        ++I;
      Here.push_back(P.All.Base);
      Saved.push_back(Whole.saved(I, P.All.Base));
      Copies.push_back(Whole.places()[I] + P.All.Base - Allocations[I].Base);
    }
  };
  for (bool Together : {false, true}) {
    std::vector<uint64_t> Here, Copies;
    std::vector<const char *> Saved;
    Split(Together, Here, Saved, Copies);
    if (Made.bytes() > Opts.MaxLaunchBytes)
      return std::nullopt; // Whoever asks says so.
    // What is only written needs no contents before, as far as all of it is.
    std::vector<std::string> Full, After, Again;
    bool Further = false;
    if (Obstacle Why = readParts(Made.Parts, Here, Full, Saved))
      return Why;
    if (Obstacle Why = readParts(Made.Parts, Copies, After))
      return Why;
    auto Begin = [&] {
      Made.Before = Full;
      for (size_t I = 0; I < Made.Parts.size(); ++I)
        clearFresh(Made.Parts[I], Made.Before[I].data());
    };
    Begin();
    if (Obstacle Why = tryBuffers(L, K, Globals, Made, Further, Again))
      return Why;
    if (Further && Together)
      return "it touches memory that no argument points to";
    if (Further)
      continue; // Beyond the next pointer.
    bool Unwritten = false;
    for (size_t I = 0; I < Made.Parts.size(); ++I)
      Unwritten |= keepUnwritten(Made.Parts[I], After[I], Again[I]);
    if (Unwritten) {
      Begin();
      if (Obstacle Why = tryBuffers(L, K, Globals, Made, Further, Again))
        return Why;
    }
    if (After == Again) {
      for (const std::string &Each : After)
        Made.After.push_back(digest(Each));
    } else { // The order of its threads counts: nothing is known for sure.
      Made.Before = std::move(Full);
    }
    return std::nullopt;
  }
  return std::nullopt;
}

} // namespace cupilot::capture
