//===- campaign.h - What the campaign's programs share -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUPILOT_BENCHMARKS_CAMPAIGN_H
#define CUPILOT_BENCHMARKS_CAMPAIGN_H

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

// Every program has one entry, so that it can be a shared library as well:
// buffers in the order of the kernel's pointers, sizes in that of the command
// line, and a stream.
#define CAMPAIGN_ENTRY                                                         \
  extern "C" __attribute__((visibility("default"))) int campaignRun(           \
      void *const *Buffers, const int *Sizes, cudaStream_t Stream)

inline void check(cudaError_t Status, const char *What) {
  if (Status == cudaSuccess)
    return;
  std::fprintf(stderr, "%s: %s\n", What, cudaGetErrorString(Status));
  std::exit(3);
}

/// Numbers in [Low, High) that follow from their place.
__global__ void fillNumbers(float *To, size_t Count, unsigned Seed, float Low,
                            float High) {
  for (size_t I = blockIdx.x * size_t(blockDim.x) + threadIdx.x; I < Count;
       I += size_t(gridDim.x) * blockDim.x) {
    unsigned long long Bits = (I + 1) * 0x9e3779b97f4a7c15ull + Seed;
    Bits = (Bits ^ (Bits >> 30)) * 0xbf58476d1ce4e5b9ull;
    Bits = (Bits ^ (Bits >> 27)) * 0x94d049bb133111ebull;
    To[I] = Low + (High - Low) * (float(Bits >> 40) * 0x1p-24f);
  }
}

/// A buffer on the device.
template <typename T> struct DeviceBuffer {
  explicit DeviceBuffer(size_t Count) : Count(Count) {
    check(cudaMalloc(&Data, Count * sizeof(T)), "cudaMalloc");
  }
  DeviceBuffer(const DeviceBuffer &) = delete;
  ~DeviceBuffer() { cudaFree(Data); }
  T *Data = nullptr;
  size_t Count;
};

inline void fill(DeviceBuffer<float> &B, unsigned Seed, float Low = 0,
                 float High = 1) {
  unsigned Blocks = unsigned(std::min<size_t>((B.Count + 255) / 256, 1024));
  fillNumbers<<<Blocks, 256>>>(B.Data, B.Count, Seed, Low, High);
  check(cudaGetLastError(), "fillNumbers");
}

/// The sizes of the command line; where one is missing, the benchmark's.
inline std::vector<int> sizesOf(int Count, char **Args,
                                std::vector<int> Sizes) {
  for (int I = 1; I < Count && I <= int(Sizes.size()); ++I)
    if ((Sizes[I - 1] = std::atoi(Args[I])) < 1) {
      std::fprintf(stderr, "'%s' is no size\n", Args[I]);
      std::exit(2);
    }
  return Sizes;
}

/// Prints the sum of all numbers and the last one.
inline void printChecksum(const DeviceBuffer<float> &B) {
  check(cudaDeviceSynchronize(), "the kernel");
  std::vector<float> Part(std::min<size_t>(B.Count, size_t(1) << 24));
  double Sum = 0;
  float Last = 0;
  for (size_t At = 0; At < B.Count; At += Part.size()) {
    size_t Count = std::min(Part.size(), B.Count - At);
    check(cudaMemcpy(Part.data(), B.Data + At, Count * sizeof(float),
                     cudaMemcpyDeviceToHost),
          "cudaMemcpy");
    for (size_t I = 0; I < Count; ++I)
      Sum += Part[I];
    Last = Part[Count - 1];
  }
  std::printf("sum %.9g, last %.9g\n", Sum, double(Last));
}

#endif // CUPILOT_BENCHMARKS_CAMPAIGN_H
