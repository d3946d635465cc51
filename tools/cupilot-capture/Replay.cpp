//===- Replay.cpp - Launching a recorded kernel again -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Replay.h"
#include "Driver.h"
#include "cupilot/Capture/Describe.h"
#include "cupilot/Capture/Report.h"
#include "cupilot/Capture/Run.h"
#include "cupilot/Portable/Digest.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <unistd.h>

namespace cupilot::capture {

/// A launch that takes longer ends the process, by SIGALRM.
static constexpr unsigned SecondsPerLaunch = 60;

namespace {
class Replayer {
public:
  Replayer(Driver &Cuda, const std::string &Folder)
      : Cuda(Cuda), Folder(Folder) {}
  ~Replayer() {
    for (CUdeviceptr At : Owned)
      (void)Cuda.cuMemFree_v2(At);
  }
  ReplayResult run(const Launch &L);

private:
  bool good(CUresult Result, const char *What) {
    if (Result == CUDA_SUCCESS)
      return true;
    return fail(std::string(What) + ": " + Cuda.errorName(Result));
  }
  bool fail(std::string Why) {
    Bad = {ReplayResult::Failed, std::move(Why)};
    return false;
  }
  bool load(const Launch &L);
  bool fill(CUdeviceptr At, const Content &C);
  bool compare(CUdeviceptr At, const Content &C, const std::string &What);

  Driver &Cuda;
  const std::string &Folder;
  CUmodule Module = nullptr;
  CUfunction Function = nullptr;
  std::vector<CUdeviceptr> Buffers, Globals, Owned;
  ReplayResult Bad; ///< What ends it.
  double Worst = 0; ///< Largest relative difference of a number.
};
} // namespace

bool Replayer::fill(CUdeviceptr At, const Content &C) {
  std::string Bytes;
  if (auto F = readContent(Folder, C.Digest, C.Size, Bytes))
    return fail(F->what());
  return good(Cuda.cuMemcpyHtoD_v2(At, Bytes.data(), Bytes.size()),
              "filling a buffer");
}

bool Replayer::load(const Launch &L) {
  std::string Image;
  if (L.Module.empty())
    return fail("its GPU binary was not recorded");
  if (auto F = readContent(Folder, L.Module, L.ModuleSize, Image))
    return fail(F->what());
  if (!good(Cuda.cuModuleLoadData(&Module, Image.data()), "loading") ||
      !good(Cuda.cuModuleGetFunction(&Function, Module, L.Kernel.c_str()),
            "finding the kernel"))
    return false;
  if (L.Dims.Shared > 0)
    // Fails where the kernel has no such need; the launch will tell.
    (void)Cuda.cuFuncSetAttribute(
        Function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
        static_cast<int>(L.Dims.Shared));
  for (const Content &B : L.Buffers) {
    CUdeviceptr At = 0;
    if (!good(Cuda.cuMemAlloc_v2(&At, std::max<uint64_t>(B.Size, 1)),
              "allocating"))
      return false;
    Owned.push_back(At);
    Buffers.push_back(At);
    if (!fill(At, B))
      return false;
  }
  for (const Global &G : L.Globals) {
    CUdeviceptr At = 0;
    size_t Size = 0;
    if (!good(Cuda.cuModuleGetGlobal_v2(&At, &Size, Module, G.Symbol.c_str()),
              "finding a variable"))
      return false;
    if (Size != G.Value.Size)
      return fail("the variable " + G.Symbol + " has a different size");
    Globals.push_back(At);
    if (!fill(At, G.Value))
      return false;
  }
  return true;
}

/// How far apart two numbers are, relative to the larger one; infinite where
/// one of them is hardly a number of that type: integers look like tiny ones.
template <typename T> static double relative(const char *A, const char *B) {
  T X, Y;
  std::memcpy(&X, A, sizeof(T));
  std::memcpy(&Y, B, sizeof(T));
  auto Plausible = [](T V) {
    return V == 0 || (std::isnormal(V) && std::fabs(V) > T(1e-30) &&
                      std::fabs(V) < T(1e30));
  };
  if (!Plausible(X) || !Plausible(Y))
    return HUGE_VAL;
  return std::fabs(double(X) - double(Y)) /
         std::max(std::fabs(double(X)), std::fabs(double(Y)));
}

bool Replayer::compare(CUdeviceptr At, const Content &C,
                       const std::string &What) {
  std::string Now(C.Size, '\0');
  if (!good(Cuda.cuMemcpyDtoH_v2(Now.data(), At, Now.size()), "reading back"))
    return false;
  if (digest(Now) == C.After)
    return true;
  if (!C.HasAfter) { // Twice the same when it was recorded.
    Bad = {ReplayResult::Differs, What};
    return false;
  }
  std::string Then;
  if (auto F = readContent(Folder, C.After, C.Size, Then))
    return fail(F->what());
  // The order of sums may differ; whether words are floats or doubles is not
  // known, so the kinder of both counts.
  size_t Words = 0;
  double Single = 0, Double = 0;
  size_t I = 0;
  for (; I + 8 <= C.Size; I += 8) {
    const char *A = Now.data() + I, *B = Then.data() + I;
    if (std::memcmp(A, B, 8) == 0)
      continue;
    ++Words;
    for (int Half : {0, 4})
      if (std::memcmp(A + Half, B + Half, 4) != 0)
        Single = std::max(Single, relative<float>(A + Half, B + Half));
    Double = std::max(Double, relative<double>(A, B));
  }
  double Least = std::min(Single, Double);
  // What is left can be one number of four bytes.
  if (const char *A = Now.data() + I, *B = Then.data() + I;
      std::memcmp(A, B, C.Size - I) != 0)
    Least = std::max(Least, C.Size - I == 4 ? relative<float>(A, B) : HUGE_VAL);
  if (Least > 1e-3) {
    Bad = {ReplayResult::Differs,
           What + " in " + std::to_string(std::max<size_t>(Words, 1)) +
               " words of 8 bytes"};
    return false;
  }
  Worst = std::max(Worst, Least);
  return true;
}

ReplayResult Replayer::run(const Launch &L) {
  if (!load(L))
    return Bad;
  std::vector<std::string> Args = L.Args;
  for (const Pointer &P : L.Pointers) {
    CUdeviceptr Word = Buffers[P.Buffer] + P.At;
    std::memcpy(Args[P.Param].data() + P.Offset, &Word, 8);
  }
  std::vector<void *> Params;
  Params.reserve(Args.size());
  for (std::string &Arg : Args)
    Params.push_back(Arg.data());
  LaunchConfig Config(L.Dims);
  if (!good(Cuda.cuLaunchKernelEx(&Config.Values, Function, Params.data(),
                                  nullptr),
            "launching") ||
      !good(Cuda.cuCtxSynchronize(), "running"))
    return Bad;
  for (size_t I = 0; I < L.Buffers.size(); ++I)
    if (!compare(Buffers[I], L.Buffers[I], "buffer " + std::to_string(I)))
      return Bad;
  for (size_t I = 0; I < L.Globals.size(); ++I)
    if (!compare(Globals[I], L.Globals[I].Value,
                 "variable " + L.Globals[I].Symbol))
      return Bad;
  if (Worst > 0) {
    char Text[64];
    std::snprintf(Text, sizeof(Text), "largest relative difference %.1e",
                  Worst);
    return {ReplayResult::Close, Text};
  }
  return {ReplayResult::Same, ""};
}

std::optional<Failure> replayLaunches(const std::string &Folder, size_t First) {
  Record R;
  if (auto F = readRecord(Folder, R))
    return F;
  Driver Cuda;
  if (Obstacle Why = Cuda.load())
    return Failure(FailureKind::NoDriver,
                   "cannot load the CUDA driver: " + *Why,
                   "replay on a machine with a GPU");
  auto Must = [&](CUresult Result, const char *What) {
    return Result == CUDA_SUCCESS
               ? std::nullopt
               : std::optional<Failure>(
                     Failure(FailureKind::NoDevice,
                             std::string(What) + ": " + Cuda.errorName(Result),
                             "is a GPU free here?"));
  };
  if (auto F = Must(Cuda.cuInit(0), "cuInit"))
    return F;
  std::map<unsigned, CUcontext> Contexts;
  auto Shown = std::chrono::steady_clock::now();
  for (size_t I = First; I < R.Launches.size(); ++I) {
    const Launch &L = R.Launches[I];
    if (!L.Kept || !hasContents(Folder, L))
      continue;
    CUcontext &Context = Contexts[L.Device];
    CUdevice Device;
    if (!Context) {
      if (auto F = Must(Cuda.cuDeviceGet(&Device, static_cast<int>(L.Device)),
                        "cuDeviceGet"))
        return F;
      if (auto F = Must(Cuda.cuDevicePrimaryCtxRetain(&Context, Device),
                        "cuDevicePrimaryCtxRetain"))
        return F;
    }
    if (auto F = Must(Cuda.cuCtxSetCurrent(Context), "cuCtxSetCurrent"))
      return F;
    if (auto Now = std::chrono::steady_clock::now();
        Now - Shown > std::chrono::seconds(10)) {
      Shown = Now;
      std::fprintf(stderr, "cupilot capture: replaying launch %zu of %zu: %s\n",
                   I + 1, R.Launches.size(), demangled(L.Kernel).c_str());
    }
    alarm(SecondsPerLaunch);
    std::string Result = Replayer(Cuda, Folder).run(L).text();
    alarm(0);
    std::printf("%zu\t%s\n", I, Result.c_str());
    std::fflush(stdout);
    // After a fault the context is of no use any more.
    if (Cuda.cuCtxSynchronize() != CUDA_SUCCESS)
      std::_Exit(ReplayFault);
  }
  return std::nullopt;
}

} // namespace cupilot::capture
