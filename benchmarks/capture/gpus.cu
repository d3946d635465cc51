//===- gpus.cu - Launches on several GPUs to record -----------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each GPU works on its own memory, from one thread and from one thread each;
// one reads and writes the memory of another; managed memory goes from one to
// the next. Counts its launches itself, and checks what they made.

#include <cstdio>
#include <cuda_runtime.h>
#include <thread>
#include <vector>

#define CHECK(CALL)                                                            \
  if (cudaError_t Error = (CALL); Error != cudaSuccess) {                      \
    std::printf("%s: %s\n", #CALL, cudaGetErrorString(Error));                 \
    return 1;                                                                  \
  }

constexpr int N = 1 << 16;
__device__ int Rounds; // One for each GPU.

__global__ void scale(float *Data, float By, int Count) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < Count)
    Data[I] *= By;
  if (I == 0)
    ++Rounds;
}

__global__ void addPeer(float *Mine, float *Other, int Count) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < Count) {
    Mine[I] += Other[I];
    Other[I] = 0;
  }
}

__global__ void addManaged(float *Shared, int Count) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < Count)
    Shared[I] += 1;
}

static int work(int Device, float **Data, int Times) {
  CHECK(cudaSetDevice(Device));
  for (int I = 0; I < Times; ++I)
    scale<<<N / 256, 256>>>(*Data, 2.0f, N);
  CHECK(cudaDeviceSynchronize());
  return 0;
}

int main() {
  int Devices = 0;
  CHECK(cudaGetDeviceCount(&Devices));
  std::vector<float *> Data(Devices);
  std::vector<float> Ones(N, 1.0f), Back(N);
  int Launches = 0, Bad = 0;
  for (int D = 0; D < Devices; ++D) {
    CHECK(cudaSetDevice(D));
    CHECK(cudaMalloc(&Data[D], N * sizeof(float)));
    CHECK(cudaMemcpy(Data[D], Ones.data(), N * sizeof(float),
                     cudaMemcpyHostToDevice));
    Bad += work(D, &Data[D], 3);
    Launches += 3;
  }
  std::vector<std::thread> Threads;
  for (int D = 0; D < Devices; ++D)
    Threads.emplace_back([&, D] { (void)work(D, &Data[D], 4); });
  for (std::thread &T : Threads)
    T.join();
  Launches += 4 * Devices;
  float Expected = 128; // On each GPU.
  int Peer = 0;
  if (Devices > 1)
    CHECK(cudaDeviceCanAccessPeer(&Peer, 0, 1));
  CHECK(cudaSetDevice(0));
  if (Peer) {
    CHECK(cudaDeviceEnablePeerAccess(1, 0));
    addPeer<<<N / 256, 256>>>(Data[0], Data[1], N);
    ++Launches;
  }
  CHECK(cudaMemcpy(Back.data(), Data[0], N * sizeof(float),
                   cudaMemcpyDeviceToHost));
  for (float F : Back)
    Bad += F != Expected * (Peer ? 2 : 1);
  float *Shared = nullptr;
  CHECK(cudaMallocManaged(&Shared, N * sizeof(float)));
  for (int I = 0; I < N; ++I)
    Shared[I] = 0;
  for (int D = 0; D < Devices; ++D) {
    CHECK(cudaSetDevice(D));
    addManaged<<<N / 256, 256>>>(Shared, N);
    CHECK(cudaDeviceSynchronize());
    ++Launches;
  }
  for (int I = 0; I < N; ++I)
    Bad += Shared[I] != float(Devices);
  std::printf("gpus %d peer %d launches %d %s\n", Devices, Peer, Launches,
              Bad ? "FAILED" : "PASSED");
  return Bad != 0;
}
