//===- bench.cpp - What a launch with a dispatch costs the host -----------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Linked with stub-cudart.cpp: the dispatch alone. Linked with CUDA's run time:
// what a launch costs the host, in batches that fit into the launch queue.
//
//===----------------------------------------------------------------------===//

#include <benchmark/benchmark.h>
#include <chrono>
#include <cstddef>

extern "C" {
void launchBare(float *, int);
void launchScale(float *, int);
void launchTotal(float *, int);
void launchDoubled(float *, int);
void launchWide(float *, int);
int cudaDeviceSynchronize();
int cudaMalloc(void **, size_t);
}

static float *memory() {
  static void *Memory = [] {
    void *M = nullptr;
    if (cudaMalloc(&M, 64 << 20))
      M = nullptr;
    return M;
  }();
  return static_cast<float *>(Memory);
}

static void launch(benchmark::State &State, void (*Launch)(float *, int),
                   int Offset, int N) {
  constexpr int Batch = 256;
  float *X = memory() + Offset;
  Launch(X, N); // What is asked once is asked now.
  cudaDeviceSynchronize();
  for (auto _ : State) {
    auto Start = std::chrono::steady_clock::now();
    for (int I = 0; I < Batch; ++I)
      Launch(X, N);
    std::chrono::duration<double> Time =
        std::chrono::steady_clock::now() - Start;
    State.SetIterationTime(Time.count());
    cudaDeviceSynchronize();
  }
  State.counters["launch"] = benchmark::Counter(
      double(State.iterations()) * Batch,
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

#define LAUNCH(NAME, ...)                                                      \
  BENCHMARK_CAPTURE(launch, NAME, __VA_ARGS__)->UseManualTime()
LAUNCH(bare, launchBare, 0, 4096);
LAUNCH(first_of_two, launchScale, 0, 4096);
LAUNCH(second_of_two, launchScale, 0, 4098);
LAUNCH(none_of_two, launchScale, 0, 4097);
LAUNCH(two_launches_and_scratch, launchTotal, 0, 20000);
LAUNCH(cluster, launchTotal, 0, 4000);
LAUNCH(tensor_map, launchDoubled, 0, 256);
LAUNCH(wide, launchWide, 0, 4096);
BENCHMARK_CAPTURE(launch, bare_4_threads, launchBare, 0, 4096)
    ->UseManualTime()
    ->Threads(4);
BENCHMARK_CAPTURE(launch, first_of_two_4_threads, launchScale, 0, 4096)
    ->UseManualTime()
    ->Threads(4);

BENCHMARK_MAIN();
