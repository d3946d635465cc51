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
//===----------------------------------------------------------------------===//

#include "Recorder.h"
#include "cupilot/Ptx/Touch.h"
#include <algorithm>
#include <chrono>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
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
    for (CUdeviceptr At : Owned)
      (void)R.Cuda.cuMemFree_v2(At);
  }
  MarkedRun(const MarkedRun &) = delete;

  /// A copy of \p From, of which nothing below \p Least may be touched. Marks
  /// are made where \p Marks.
  Obstacle add(const Range &From, uint64_t Least, bool Marks);
  /// Copies the program's variables into those of the marked module.
  Obstacle variables(const Launch &L, const std::vector<Range> &At);
  /// Runs it with the pointers into the copies, by their numbers.
  Obstacle run(const Launch &L, const std::vector<Pointer> &Pointers);
  /// What was touched of the copy \p Number.
  Obstacle marks(size_t Number, TouchedBits &Bits);
  /// A thread wanted to touch other memory.
  bool reachedFurther() const { return Head.ForeignRead || Head.ForeignWrite; }

private:
  struct Copy {
    Range From;
    CUdeviceptr At = 0;
    uint64_t Bitmap = 0; ///< Bytes of each.
  };
  Obstacle good(CUresult Result, const char *What) const {
    if (Result == CUDA_SUCCESS)
      return std::nullopt;
    return std::string(What) + ": " + R.Cuda.errorName(Result);
  }
  Obstacle allocate(uint64_t Size, CUdeviceptr &At);
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

Obstacle Recorder::MarkedRun::add(const Range &From, uint64_t Least,
                                  bool Marks) {
  if (Table.size() == ptx::MostTouchRanges)
    return "it has too many buffers";
  Copy C;
  C.From = From;
  if (Obstacle Why = allocate(From.Size, C.At))
    return Why;
  if (Obstacle Why = good(
          R.Cuda.cuMemcpyAsync(C.At, From.Base, From.Size, Stream), "copying"))
    return Why;
  uint64_t Skip = Least > From.Base ? Least - From.Base : 0;
  ptx::TouchRange Entry{C.At + Skip, C.At + From.Size, 0, 0};
  if (Marks) {
    C.Bitmap = (From.Size / Granule / 32 + 2) * 4;
    CUdeviceptr Maps = 0;
    if (Obstacle Why = allocate(2 * C.Bitmap, Maps))
      return Why;
    if (Obstacle Why = good(
            R.Cuda.cuMemsetD8Async(Maps, 0, 2 * C.Bitmap, Stream), "clearing"))
      return Why;
    Entry.Reads = Maps;
    Entry.Writes = Maps + C.Bitmap;
  }
  Table.push_back(Entry);
  Copies.push_back(C);
  return std::nullopt;
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

Obstacle Recorder::MarkedRun::marks(size_t Number, TouchedBits &Bits) {
  const Copy &C = Copies[Number];
  std::vector<uint32_t> Maps(C.Bitmap / 2); // Reads, then writes.
  if (Obstacle Why =
          good(R.Cuda.cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(Maps.data()),
                                    Table[Number].Reads, 2 * C.Bitmap, Stream),
               "reading the marks"))
    return Why;
  if (Obstacle Why =
          good(R.Cuda.cuStreamSynchronize(Stream), "reading the marks"))
    return Why;
  Bits.assign(Maps.begin(), Maps.begin() + static_cast<long>(C.Bitmap / 4));
  for (size_t I = 0; I < Bits.size(); ++I)
    Bits[I] |= Maps[Bits.size() + I];
  return std::nullopt;
}

Obstacle Recorder::touched(const Launch &L,
                           const std::vector<Range> &Allocations,
                           const std::vector<Range> &Globals,
                           TouchedParts &Found) {
  const Marked &K = markedKernel(L.Kernel);
  if (!K.Why.empty())
    return K.Why;
  std::vector<TouchedBits> Bits(Allocations.size());
  {
    MarkedRun Run(*this, K);
    for (const Range &A : Allocations)
      if (Obstacle Why = Run.add(A, 0, true))
        return Why;
    if (Obstacle Why = Run.variables(L, Globals))
      return Why;
    if (Obstacle Why = Run.run(L, L.Pointers))
      return Why;
    if (Run.reachedFurther())
      return "it touches memory that no argument points to";
    for (size_t I = 0; I < Bits.size(); ++I)
      if (Obstacle Why = Run.marks(I, Bits[I]))
        return Why;
  }
  // One pointer into each allocation: nothing to tell apart.
  std::vector<bool> Together(Allocations.size(), false);
  Found = splitTouched(Allocations, Bits, L.Pointers, Together);
  if (Found.Parts.size() == Allocations.size())
    return std::nullopt;
  MarkedRun Run(*this, K);
  for (const Part &P : Found.Parts)
    if (Obstacle Why = Run.add(P.All, P.Least, false))
      return Why;
  if (Obstacle Why = Run.variables(L, Globals))
    return Why;
  if (Obstacle Why = Run.run(L, Found.Pointers))
    return Why;
  if (Run.reachedFurther()) {
    Together.assign(Together.size(), true);
    Found = splitTouched(Allocations, Bits, L.Pointers, Together);
  }
  return std::nullopt;
}

} // namespace cupilot::capture
