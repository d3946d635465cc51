//===- cpu-device-bench.cpp - Speed of the cpu device -----------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Threads a second of some kernels on one core: without checks, with bounds,
// with all checks. The checks take turns, and ratios are medians of the turns,
// so that a busy machine disturbs all alike.
//
//===----------------------------------------------------------------------===//

#include "cupilot/Compile/Bitcode.h"
#include "cupilot/CpuDevice/CpuDevice.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <ctime>

using namespace llvm;
using namespace cupilot;

static const char Source[] = R"(
extern "C" __global__ void saxpy(int n, float a, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
extern "C" __global__ void transpose(int n, float a, const float *x, float *y) {
  __shared__ float tile[16][17];
  int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  tile[threadIdx.y][threadIdx.x] = x[row * n + col];
  __syncthreads();
  row = blockIdx.x * 16 + threadIdx.y; col = blockIdx.y * 16 + threadIdx.x;
  y[row * n + col] = tile[threadIdx.x][threadIdx.y];
}
extern "C" __global__ void stencil(int n, float a, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= 2 && i < n - 2)
    y[i] = a * (x[i - 2] + x[i - 1] + x[i] + x[i + 1] + x[i + 2]);
}
extern "C" __global__ void softplus(int n, float a, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * __logf(1 + __expf(x[i]));
}
)";

namespace {
struct Kernel {
  const char *Name;
  LaunchShape Shape;
  int N; ///< Its first argument.
};
} // namespace

/// Seconds of processor time of this thread.
static double now() {
  timespec T;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &T);
  return double(T.tv_sec) + double(T.tv_nsec) * 1e-9;
}

static double median(std::vector<double> Values) {
  llvm::sort(Values);
  return Values[Values.size() / 2];
}

static Error bench() {
  Expected<TemporaryDirectory> Dir =
      TemporaryDirectory::create("cupilot-bench");
  if (!Dir)
    return Dir.takeError();
  if (Error E = writeFileAtomic(Dir->file("k.cu"), Source))
    return E;
  Expected<std::string> Bitcode =
      compileDeviceBitcode(Dir->file("k.cu"), "sm_90", {"-O2"});
  if (!Bitcode)
    return Bitcode.takeError();
  static constexpr const char *Checks[] = {"none", "bounds", "all"};
  std::vector<std::unique_ptr<CpuModule>> Modules;
  for (const char *Which : Checks) {
    CpuDeviceOptions Options;
    Options.Threads = 1;
    if (Error E = selectChecks(Which, Options))
      return E;
    Expected<std::unique_ptr<CpuModule>> M = CpuModule::load(*Bitcode, Options);
    if (!M)
      return M.takeError();
    Modules.push_back(std::move(*M));
  }
  static constexpr int Count = 1 << 22;
  std::vector<float> X(Count, 1), Y(Count, 1);
  for (int I = 0; I < Count; ++I)
    X[I] = static_cast<float>(I % 1021) / 256;
  std::unique_ptr<DeviceMemory> Memory = DeviceMemory::create();
  Memory->addBuffer(X.data(), X.size() * sizeof(float));
  Memory->addBuffer(Y.data(), Y.size() * sizeof(float));
  const float *PX = X.data(), A = 2;
  float *PY = Y.data();
  for (const Kernel &K : std::initializer_list<Kernel>{
           {"saxpy", {{Count / 256, 1, 1}, {256, 1, 1}}, Count},
           {"transpose", {{128, 128, 1}, {16, 16, 1}}, 2048},
           {"stencil", {{Count / 256, 1, 1}, {256, 1, 1}}, Count},
           {"softplus", {{Count / 256, 1, 1}, {256, 1, 1}}, Count}}) {
    std::vector<double> Times[3], Ratios[3];
    for (int Turn = 0; Turn < 8; ++Turn) {
      for (unsigned C = 0; C < 3; ++C) {
        double Start = now();
        Expected<LaunchResult> R =
            Modules[C]->launch(K.Name, K.Shape, {&K.N, &A, &PX, &PY}, *Memory);
        if (!R)
          return R.takeError();
        if (R->Fault)
          return findingError(R->Fault->str());
        Times[C].push_back(now() - Start);
        Ratios[C].push_back(Times[C].back() / Times[0].back());
      }
      if (Turn == 0) // Compiles, and touches the memory.
        for (unsigned C = 0; C < 3; ++C) {
          Times[C].clear();
          Ratios[C].clear();
        }
    }
    outs() << K.Name << ":";
    for (unsigned C = 0; C < 3; ++C)
      outs() << (C ? "; " : " ") << Checks[C] << " "
             << format("%.1f million threads/s, ratio %.2f",
                       Count / median(Times[C]) / 1e6, median(Ratios[C]));
    outs() << "\n";
  }
  outs() << format("memory of the checks: %.2f times the buffers\n",
                   double(Memory->checkMemory()) / (2.0 * Count * 4));
  return Error::success();
}

int main() { return reportError(bench(), "cpu-device-bench"); }
