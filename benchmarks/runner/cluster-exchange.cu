//===- cluster-exchange.cu - What blocks of a cluster tell each other -----===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All warps of a cluster tell all blocks a number a turn. Two boxes and two
// mbarriers take turns: who writes box 0 again has waited for mbarrier 1, at
// which all arrived after they had read box 0 (PTX ISA, "Memory Consistency
// Model": release and acquire at cluster scope). No two accesses race; the cpu
// device says so. CUDA 13.0's compute-sanitizer on an H200 reports races:
//
//   nvcc -O2 -arch=sm_90a -o exchange cluster-exchange.cu
//   ./exchange && compute-sanitizer --tool racecheck ./exchange
//   cupilot-cpucc -O2 --cuda-gpu-arch=sm_90a cluster-exchange.cu -o exchange
//
//===----------------------------------------------------------------------===//

#include <cstdio>

constexpr int Ranks = 4, Warps = 4, Turns = 8;

__device__ unsigned sharedAddress(const void *P) {
  return static_cast<unsigned>(__cvta_generic_to_shared(P));
}

__device__ unsigned addressIn(unsigned Address, unsigned Rank) {
  unsigned There;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(There)
               : "r"(Address), "r"(Rank));
  return There;
}

__device__ void clusterSync() {
  asm volatile("barrier.cluster.arrive.release;\n\t"
               "barrier.cluster.wait.acquire;" ::
                   : "memory");
}

__device__ void wait(unsigned Barrier, unsigned Parity) {
  unsigned Done;
  do
    asm volatile("{\n\t.reg .pred done;\n\t"
                 "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 "
                 "done, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, done;\n\t}"
                 : "=r"(Done)
                 : "r"(Barrier), "r"(Parity)
                 : "memory");
  while (!Done);
}

__global__ void __cluster_dims__(Ranks) exchange(unsigned *Out) {
  __shared__ unsigned Box[2][Ranks * Warps];
  __shared__ alignas(8) unsigned long long Barrier[2];
  unsigned Rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(Rank));
  const unsigned Lane = threadIdx.x % 32;
  const unsigned Mine = Rank * Warps + threadIdx.x / 32;
  if (threadIdx.x == 0) {
    for (int I = 0; I < 2; ++I)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(
                       sharedAddress(&Barrier[I])),
                   "r"(Ranks * Warps)
                   : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  clusterSync();
  unsigned Sum = threadIdx.x;
  for (unsigned Turn = 0; Turn < Turns; ++Turn) {
    const unsigned Which = Turn % 2;
    __syncwarp();
    if (Lane < Ranks) {
      asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(
                       addressIn(sharedAddress(&Box[Which][Mine]), Lane)),
                   "r"(Turn + Mine)
                   : "memory");
      asm volatile(
          "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(
              addressIn(sharedAddress(&Barrier[Which]), Lane))
          : "memory");
    }
    __syncwarp();
    wait(sharedAddress(&Barrier[Which]), Turn / 2 % 2);
    for (int I = 0; I < Ranks * Warps; ++I)
      Sum += Box[Which][I];
  }
  // No block leaves while others may write to its memory.
  clusterSync();
  Out[blockIdx.x * blockDim.x + threadIdx.x] = Sum;
}

int main() {
  constexpr int Threads = Ranks * Warps * 32;
  static unsigned Host[Threads];
  unsigned *Out = nullptr;
  cudaMalloc(&Out, sizeof(Host));
  exchange<<<Ranks, Warps * 32>>>(Out);
  cudaMemcpy(Host, Out, sizeof(Host), cudaMemcpyDeviceToHost);
  unsigned Each = 0;
  for (unsigned Turn = 0; Turn < Turns; ++Turn)
    for (unsigned I = 0; I < Ranks * Warps; ++I)
      Each += Turn + I;
  bool Right = cudaGetLastError() == cudaSuccess;
  for (unsigned I = 0; I < Threads; ++I)
    Right &= Host[I] == Each + I % (Warps * 32);
  std::puts(Right ? "right" : "wrong");
  return !Right;
}
