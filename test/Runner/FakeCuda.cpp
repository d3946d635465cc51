//===- FakeCuda.cpp - A CUDA driver without a GPU -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A libcuda.so.1 for tests of the runner: memory is the host's, images are
// texts that say what their kernels do, time is counted and not measured.
//
//   fake sm_90
//   kernel add 8,8,4 add_one cost=20     name, sizes of parameters, behaviour
//   global factor 4                      name, bytes; holds 1 at first
//
// Compiled code (PTX and cubins) is not run: FAKE_CUDA_KERNELS names a file of
// such lines, of which an image has the kernels whose names are in it. There
//
//   kernel add 8,8,4 add_one thread=0.01 wrong=64
//
// takes so many microseconds for each thread, and is off with blocks of 64.
//
// FAKE_CUDA_DEVICES, _ARCH ("90"), _MEMORY (bytes), _NOISE (relative), _LOG (a
// file that gets a line for each launch), _SLOW_START (milliseconds), _NAME,
// _LOST (a device that takes no process).
//
//===----------------------------------------------------------------------===//

#include "DriverApi.h"
#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace cupilot::runner;
using Status = DriverStatus;
#define API extern "C" __attribute__((visibility("default"))) Status

namespace {
struct FakeModule;
struct Kernel {
  FakeModule *In = nullptr;
  std::string Name, Behaviour;
  std::vector<size_t> Params;
  double Cost = 10;      ///< Microseconds ...
  double ThreadCost = 0; ///< ... and those of each thread.
  unsigned Wrong = 0;    ///< Block in which it is off; 0: none.
};
struct FakeModule {
  std::map<std::string, Kernel> Kernels;
  std::map<std::string, std::string> Globals;
};
struct State {
  std::map<DeviceAddress, size_t> Memory;
  size_t Used = 0;
  double Now = 0; ///< Microseconds.
  Status Sticky = Status::Success;
  bool Hangs = false;
  unsigned Late = 0; ///< Milliseconds until the driver answers.
  std::mt19937_64 Random{std::random_device()()};
};
} // namespace

static State S;

static long setting(const char *Name, long Default) {
  const char *Text = std::getenv(Name);
  return Text && *Text ? std::atol(Text) : Default;
}

static size_t memoryLimit() {
  return size_t(setting("FAKE_CUDA_MEMORY", 1l << 30));
}

API cuInit(unsigned) {
  ::usleep(unsigned(setting("FAKE_CUDA_SLOW_START", 0)) * 1000);
  return Status::Success;
}
API cuDriverGetVersion(int *V) {
  *V = 13000;
  return Status::Success;
}
API cuGetErrorName(Status, const char **Name) {
  *Name = "CUDA_ERROR_FAKE";
  return Status::Success;
}
API cuGetErrorString(Status, const char **Text) {
  *Text = "as the test wanted";
  return Status::Success;
}
API cuDeviceGetCount(int *N) {
  *N = int(setting("FAKE_CUDA_DEVICES", 1));
  return Status::Success;
}
API cuDeviceGet(int *Device, int Ordinal) {
  *Device = Ordinal;
  return Ordinal < setting("FAKE_CUDA_DEVICES", 1) ? Status::Success
                                                   : Status::InvalidDevice;
}
API cuDeviceGetName(char *Name, int Size, int) {
  const char *Given = std::getenv("FAKE_CUDA_NAME");
  std::snprintf(Name, size_t(Size), "%s", Given ? Given : "Fake GPU");
  return Status::Success;
}
API cuDeviceGetUuid_v2(void *Id, int Device) {
  std::memset(Id, 0x10 + Device, 16);
  return Status::Success;
}
API cuDeviceGetAttribute(int *Value, DeviceAttribute A, int) {
  long Arch = setting("FAKE_CUDA_ARCH", 90);
  *Value = A == DeviceAttribute::MajorCapability              ? int(Arch / 10)
           : A == DeviceAttribute::MinorCapability            ? int(Arch % 10)
           : A == DeviceAttribute::L2Bytes                    ? 1 << 20
           : A == DeviceAttribute::ThreadsPerMultiprocessor   ? 2048
           : A == DeviceAttribute::BlocksPerMultiprocessor    ? 32
           : A == DeviceAttribute::RegistersPerMultiprocessor ? 65536
           : A == DeviceAttribute::SharedPerMultiprocessor    ? 228 << 10
           : A == DeviceAttribute::SharedPerBlockOptin        ? 227 << 10
           : A == DeviceAttribute::ClockRate                  ? 1500000
           : A == DeviceAttribute::MemoryClockRate            ? 1000000
           : A == DeviceAttribute::MemoryBusWidth             ? 2048
                                                              : 4;
  return Status::Success;
}
API cuDevicePrimaryCtxRetain(Handle *C, int Device) {
  if (Device == setting("FAKE_CUDA_LOST", -1))
    return Status::DeviceUnavailable;
  *C = &S;
  return Status::Success;
}
API cuCtxSetCurrent(Handle) { return Status::Success; }
API cuCtxSynchronize() {
  while (S.Hangs)
    ::pause();
  ::usleep(std::exchange(S.Late, 0) * 1000);
  return S.Sticky;
}
API cuMemGetInfo_v2(size_t *Free, size_t *Total) {
  *Total = memoryLimit();
  *Free = *Total - S.Used;
  return S.Sticky;
}
API cuMemAlloc_v2(DeviceAddress *At, size_t Size) {
  if (S.Used + Size > memoryLimit())
    return Status::OutOfMemory;
  void *P = std::aligned_alloc(512, (Size + 511) / 512 * 512);
  *At = reinterpret_cast<DeviceAddress>(P);
  S.Memory[*At] = Size;
  S.Used += Size;
  return S.Sticky;
}
API cuMemFree_v2(DeviceAddress At) {
  auto It = S.Memory.find(At);
  if (It == S.Memory.end())
    return Status::InvalidValue;
  S.Used -= It->second;
  S.Memory.erase(It);
  std::free(reinterpret_cast<void *>(At));
  return S.Sticky;
}
API cuMemcpyHtoD_v2(DeviceAddress To, const void *From, size_t Size) {
  if (S.Sticky == Status::Success)
    std::memcpy(reinterpret_cast<void *>(To), From, Size);
  return S.Sticky;
}
API cuMemcpyDtoH_v2(void *To, DeviceAddress From, size_t Size) {
  if (S.Sticky == Status::Success)
    std::memcpy(To, reinterpret_cast<void *>(From), Size);
  return S.Sticky;
}
API cuMemcpyDtoDAsync_v2(DeviceAddress To, DeviceAddress From, size_t Size,
                         Handle) {
  S.Now += double(Size) * 1e-5;
  std::memmove(reinterpret_cast<void *>(To), reinterpret_cast<void *>(From),
               Size);
  return S.Sticky;
}
template <typename T> static Status fill(DeviceAddress At, T Value, size_t N) {
  S.Now += double(N) * 1e-6;
  std::fill_n(reinterpret_cast<T *>(At), N, Value);
  return S.Sticky;
}
API cuMemsetD8Async(DeviceAddress At, unsigned char V, size_t N, Handle) {
  return fill(At, V, N);
}
API cuMemsetD16Async(DeviceAddress At, unsigned short V, size_t N, Handle) {
  return fill(At, V, N);
}
API cuMemsetD32Async(DeviceAddress At, unsigned V, size_t N, Handle) {
  return fill(At, V, N);
}

/// Reads one line of an image. False: it means nothing.
static bool readLine(FakeModule &M, const std::string &Line) {
  std::istringstream In(Line);
  std::string Word, Name, Sizes, Behaviour, Extra;
  In >> Word >> Name;
  if (Word == "global") {
    size_t Size = 0;
    In >> Size;
    std::string &Bytes = M.Globals[Name] = std::string(Size, 0);
    const float One = 1;
    if (Size == sizeof(One))
      std::memcpy(Bytes.data(), &One, sizeof(One));
    return Size > 0;
  }
  if (Word != "kernel")
    return Word.empty();
  In >> Sizes >> Behaviour;
  Kernel K;
  K.In = &M;
  K.Name = Name;
  K.Behaviour = Behaviour;
  std::istringstream List(Sizes);
  while (std::getline(List, Word, ','))
    K.Params.push_back(std::stoul(Word));
  while (In >> Extra)
    if (Extra.rfind("cost=", 0) == 0)
      K.Cost = std::stod(Extra.substr(5));
    else if (Extra.rfind("thread=", 0) == 0)
      K.ThreadCost = std::stod(Extra.substr(7));
    else if (Extra.rfind("wrong=", 0) == 0)
      K.Wrong = unsigned(std::stoul(Extra.substr(6)));
  M.Kernels[Name] = K;
  return true;
}

/// The bytes of compiled code; nothing where it is none.
static std::string compiledCode(const char *Image) {
  if (std::strncmp(Image, "//", 2) == 0)
    return Image;
  if (std::memcmp(Image,
                  "\x7f"
                  "ELF",
                  4) != 0)
    return "";
  uint64_t Sections = 0;
  uint16_t Size = 0, Count = 0;
  std::memcpy(&Sections, Image + 0x28, 8);
  std::memcpy(&Size, Image + 0x3a, 2);
  std::memcpy(&Count, Image + 0x3c, 2);
  return std::string(Image, Sections + uint64_t(Size) * Count);
}

static Status loadCompiled(FakeModule &M, const std::string &Code) {
  const char *Path = std::getenv("FAKE_CUDA_KERNELS");
  std::ifstream File(Path ? Path : "");
  std::string Line;
  while (std::getline(File, Line))
    if (!readLine(M, Line))
      return Status::InvalidImage;
  std::erase_if(M.Kernels, [&](const auto &K) {
    return Code.find(K.first) == std::string::npos;
  });
  return M.Kernels.empty() ? Status::InvalidImage : Status::Success;
}

API cuModuleLoadDataEx(Handle *Module, const void *Image, unsigned, int *,
                       void **) {
  if (S.Sticky != Status::Success)
    return S.Sticky;
  if (std::string Code = compiledCode(static_cast<const char *>(Image));
      !Code.empty()) {
    auto *M = new FakeModule;
    *Module = M;
    return loadCompiled(*M, Code);
  }
  std::istringstream In(static_cast<const char *>(Image));
  std::string Line;
  std::getline(In, Line);
  auto *M = new FakeModule;
  if (Line.empty()) { // The runner's own PTX.
    for (const char *Name : {"cupilot_flush", "ceiling"})
      M->Kernels[Name] = {M, Name, "nothing", {}, 5};
    *Module = M;
    return Status::Success;
  }
  if (Line.rfind("fake sm_", 0) != 0)
    return Status::InvalidImage;
  if (std::stol(Line.substr(8)) != setting("FAKE_CUDA_ARCH", 90))
    return Status::NoBinary;
  while (std::getline(In, Line))
    if (!readLine(*M, Line))
      return Status::InvalidImage;
  *Module = M;
  return Status::Success;
}
API cuModuleUnload(Handle M) {
  delete static_cast<FakeModule *>(M);
  return S.Sticky;
}
API cuModuleGetFunction(Handle *F, Handle Module, const char *Name) {
  auto *M = static_cast<FakeModule *>(Module);
  auto It = M->Kernels.find(Name);
  if (It == M->Kernels.end())
    return Status::NotFound;
  *F = &It->second;
  return Status::Success;
}
API cuModuleGetGlobal_v2(DeviceAddress *At, size_t *Size, Handle Module,
                         const char *Name) {
  auto *M = static_cast<FakeModule *>(Module);
  auto It = M->Globals.find(Name);
  if (It == M->Globals.end())
    return Status::NotFound;
  *At = reinterpret_cast<DeviceAddress>(It->second.data());
  *Size = It->second.size();
  return Status::Success;
}
API cuFuncSetAttribute(Handle, int, int) { return S.Sticky; }
API cuFuncGetParamInfo(Handle F, size_t I, size_t *Offset, size_t *Size) {
  auto *K = static_cast<Kernel *>(F);
  if (I >= K->Params.size())
    return Status::InvalidValue;
  *Offset = 0;
  *Size = K->Params[I];
  return Status::Success;
}

/// Kernels have the parameters (in, out, n) with numbers of type float.
static Status behave(const Kernel &K, void **Arguments) {
  const std::string &B = K.Behaviour;
  if (B == "nothing")
    return Status::Success;
  float *In = *static_cast<float **>(Arguments[0]),
        *Out = *static_cast<float **>(Arguments[1]);
  int N = *static_cast<int *>(Arguments[2]);
  float Factor = 1;
  if (auto It = K.In->Globals.find("factor"); It != K.In->Globals.end())
    std::memcpy(&Factor, It->second.data(), sizeof(Factor));
  if (B == "hang")
    S.Hangs = true;
  else if (B == "trap")
    S.Sticky = Status::LaunchFailed;
  else if (B == "illegal")
    S.Sticky = Status::IllegalAddress;
  else if (B == "misaligned" || B == "late_misaligned")
    S.Sticky = Status::MisalignedAddress;
  else if (B == "refuse")
    return Status::OutOfResources;
  else if (B == "crash")
    std::abort();
  if (B.rfind("late_", 0) == 0)
    S.Late = 1500;
  int Last = B == "skip_last" ? N - 1 : N;
  for (int I = 0; I < Last; ++I)
    Out[I] = In[I] * Factor + (B == "copy" ? 0.0f : 1.0f);
  if (B == "nearly")
    Out[N / 2] = std::nextafter(Out[N / 2], 100.0f);
  if (B == "outside")
    Out[N] = 3;
  if (B == "before")
    Out[-1] = 3;
  if (B == "spoil")
    In[0] = 7;
  return Status::Success;
}

/// A factor with heavy tails around 1.
static double noise() {
  const char *Text = std::getenv("FAKE_CUDA_NOISE");
  double Scale = Text ? std::atof(Text) : 0;
  std::normal_distribution<double> Normal;
  double Factor = std::exp(Scale * Normal(S.Random));
  return S.Random() % 50 == 0 ? Factor * (1 + 20 * Scale) : Factor;
}

API cuLaunchKernel(Handle F, unsigned GridX, unsigned GridY, unsigned GridZ,
                   unsigned BlockX, unsigned BlockY, unsigned BlockZ, unsigned,
                   Handle, void **Arguments, void **) {
  if (S.Sticky != Status::Success)
    return S.Sticky;
  auto *K = static_cast<Kernel *>(F);
  if (const char *Log = std::getenv("FAKE_CUDA_LOG"))
    if (FILE *File = std::fopen(Log, "a")) {
      std::fprintf(File, "%d %s\n", int(::getpid()), K->Name.c_str());
      std::fclose(File);
    }
  double Threads =
      double(GridX) * GridY * GridZ * double(BlockX) * BlockY * BlockZ;
  S.Now += (K->Cost + K->ThreadCost * Threads) * noise();
  Status Result = behave(*K, Arguments);
  if (K->Wrong && BlockX == K->Wrong)
    ++**static_cast<float **>(Arguments[1]);
  return Result;
}
API cuLaunchKernelEx(const LaunchConfig *C, Handle F, void **Arguments,
                     void **) {
  // Two blocks of a cluster at most, so that refusals can be tested.
  for (unsigned I = 0; I < C->AttributeCount; ++I)
    if (C->Attributes[I].Id == LaunchAttribute::ClusterDimension &&
        C->Attributes[I].Cluster.X > 2)
      return Status::InvalidClusterSize;
  return cuLaunchKernel(F, C->GridX, C->GridY, C->GridZ, C->BlockX, C->BlockY,
                        C->BlockZ, C->Shared, nullptr, Arguments, nullptr);
}
API cuStreamCreate(Handle *Stream, unsigned) {
  *Stream = &S.Now;
  return S.Sticky;
}
API cuStreamSynchronize(Handle) { return cuCtxSynchronize(); }
API cuEventCreate(Handle *Event, unsigned) {
  *Event = new double(0);
  return S.Sticky;
}
API cuEventRecord(Handle Event, Handle) {
  *static_cast<double *>(Event) = S.Now;
  return S.Sticky;
}
API cuEventElapsedTime(float *Milliseconds, Handle From, Handle To) {
  *Milliseconds =
      float((*static_cast<double *>(To) - *static_cast<double *>(From)) * 1e-3);
  return S.Sticky;
}
