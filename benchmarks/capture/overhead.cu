// overhead.cu - Many short launches
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// N launches of about US microseconds; prints the wall time from first to last.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
__global__ void spin(long long Ns, int *Out) {
  long long B, E;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(B));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(E));
  } while (E - B < Ns);
  if (!Ns)
    *Out = 1;
}
__global__ void work(float *X, int N) {
  float V = X[threadIdx.x];
  for (int I = 0; I < N; ++I)
    V = V * 1.0001f + 0.5f;
  X[threadIdx.x] = V;
}
int main(int C, char **V) {
  int N = std::atoi(V[1]), Us = std::atoi(V[2]);
  bool Sync = C > 3;
  float *X;
  cudaMalloc(&X, 4096);
  cudaMemset(X, 0, 4096);
  int Loops = Us * 1980 / 4; // four cycles each
  for (int I = 0; I < 300; ++I)
    work<<<64, 256>>>(X, Loops);
  cudaDeviceSynchronize();
  auto B = std::chrono::steady_clock::now();
  for (int I = 0; I < N; ++I) {
    work<<<64, 256>>>(X, Loops);
    if (Sync)
      cudaDeviceSynchronize();
  }
  cudaDeviceSynchronize();
  double T = std::chrono::duration<double>(std::chrono::steady_clock::now() - B)
                 .count();
  std::printf("%.6f s %.3f us\n", T, T / N * 1e6);
}
