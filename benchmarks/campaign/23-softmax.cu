//===- 23-softmax.cu - Softmax over rows -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Sizes: rows columns. KernelBench level 1, problem 23.

#include "campaign.h"

/// The sum, or the largest, of all threads' numbers in a block of 256.
template <bool Largest> __device__ float overBlock(float Mine) {
  __shared__ float Partial[8];
  for (int Offset = 16; Offset > 0; Offset /= 2) {
    float Other = __shfl_xor_sync(0xffffffff, Mine, Offset);
    Mine = Largest ? fmaxf(Mine, Other) : Mine + Other;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0)
    Partial[threadIdx.x / 32] = Mine;
  __syncthreads();
  float All = Partial[0];
  for (int I = 1; I < 8; ++I)
    All = Largest ? fmaxf(All, Partial[I]) : All + Partial[I];
  return All;
}

/// A block for each row: its largest number, the sum of the powers, the result.
__global__ void softmax(const float *X, float *Y, int Columns) {
  const float *Row = X + size_t(blockIdx.x) * Columns;
  float *Out = Y + size_t(blockIdx.x) * Columns;
  float Max = -INFINITY;
  for (int I = threadIdx.x; I < Columns; I += blockDim.x)
    Max = fmaxf(Max, Row[I]);
  Max = overBlock<true>(Max);
  float Sum = 0;
  for (int I = threadIdx.x; I < Columns; I += blockDim.x)
    Sum += expf(Row[I] - Max);
  Sum = overBlock<false>(Sum);
  for (int I = threadIdx.x; I < Columns; I += blockDim.x)
    Out[I] = expf(Row[I] - Max) / Sum;
}

CAMPAIGN_ENTRY {
  softmax<<<Sizes[0], 256, 0, Stream>>>(static_cast<const float *>(Buffers[0]),
                                        static_cast<float *>(Buffers[1]),
                                        Sizes[1]);
  return cudaGetLastError();
}

int main(int Count, char **Args) {
  std::vector<int> S = sizesOf(Count, Args, {4096, 393216});
  DeviceBuffer<float> X(size_t(S[0]) * S[1]), Y(X.Count);
  fill(X, 1);
  void *Buffers[] = {X.Data, Y.Data};
  check(cudaError_t(campaignRun(Buffers, S.data(), nullptr)), "softmax");
  printChecksum(Y);
}
