//===- cpu-device-bench.cpp - Speed of the cpu device -----------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/CpuDevice/CpuDevice.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace llvm;
using namespace cupilot;

static const char Source[] = R"(
extern "C" __global__ void saxpy(int n, float a, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
extern "C" __global__ void barriers(int *out, int times) {
  for (int i = 0; i < times; ++i) __syncthreads();
  out[threadIdx.x] = times;
}
)";

/// Best of three, in events a second.
template <typename FnT> static double rate(double Events, FnT Run) {
  double Best = 0;
  for (int Try = 0; Try < 3; ++Try) {
    auto Start = std::chrono::steady_clock::now();
    Run();
    std::chrono::duration<double> Took =
        std::chrono::steady_clock::now() - Start;
    Best = std::max(Best, Events / Took.count());
  }
  return Best;
}

static Error bench(bool CheckBounds) {
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
  CpuDeviceOptions Options;
  Options.Threads = 1;
  Options.CheckBounds = CheckBounds;
  Expected<std::unique_ptr<CpuModule>> M = CpuModule::load(*Bitcode, Options);
  if (!M)
    return M.takeError();
  int N = 4 << 20, Times = 2000;
  float A = 2;
  std::vector<float> X(N, 1), Y(N, 1);
  std::vector<int> Out(256);
  std::unique_ptr<DeviceMemory> Memory = DeviceMemory::create();
  Memory->addBuffer(X.data(), N * sizeof(float));
  Memory->addBuffer(Y.data(), N * sizeof(float));
  Memory->addBuffer(Out.data(), Out.size() * sizeof(int));
  const float *PX = X.data();
  float *PY = Y.data();
  int *POut = Out.data();
  auto Launch = [&](StringRef Name, LaunchShape Shape,
                    ArrayRef<const void *> Args) {
    LaunchResult R = cantFail((*M)->launch(Name, Shape, Args, *Memory));
    if (R.Fault)
      report_fatal_error(StringRef(R.Fault->str()));
  };
  double Threads = rate(N, [&] {
    Launch("saxpy", {{uint64_t(N) / 256, 1, 1}, {256, 1, 1}},
           {&N, &A, &PX, &PY});
  });
  double Barriers = rate(256.0 * Times, [&] {
    Launch("barriers", {{1, 1, 1}, {256, 1, 1}}, {&POut, &Times});
  });
  outs() << (CheckBounds ? "checked:   " : "unchecked: ")
         << format("%.1f million saxpy threads/s, %.1f million barrier "
                   "crossings/s, one core\n",
                   Threads / 1e6, Barriers / 1e6);
  return Error::success();
}

int main() {
  if (Error E = bench(true))
    return reportError(std::move(E), "cpu-device-bench");
  return reportError(bench(false), "cpu-device-bench");
}
