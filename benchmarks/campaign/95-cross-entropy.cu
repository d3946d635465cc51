//===- 95-cross-entropy.cu - Cross entropy of rows -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Sizes: rows classes. KernelBench level 1, problem 95.

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

/// A block for each row: the logarithm of its softmax at the target, negated.
__global__ void crossEntropy(const float *X, const long long *Targets,
                             float *Losses, int Classes) {
  const float *Row = X + size_t(blockIdx.x) * Classes;
  float Max = -INFINITY;
  for (int I = threadIdx.x; I < Classes; I += blockDim.x)
    Max = fmaxf(Max, Row[I]);
  Max = overBlock<true>(Max);
  float Sum = 0;
  for (int I = threadIdx.x; I < Classes; I += blockDim.x)
    Sum += expf(Row[I] - Max);
  Sum = overBlock<false>(Sum);
  if (threadIdx.x == 0)
    Losses[blockIdx.x] = logf(Sum) + Max - Row[Targets[blockIdx.x]];
}

/// The mean of all rows' losses, by one block.
__global__ void meanLoss(const float *Losses, float *Mean, int Rows) {
  float Sum = 0;
  for (int I = threadIdx.x; I < Rows; I += blockDim.x)
    Sum += Losses[I];
  Sum = overBlock<false>(Sum);
  if (threadIdx.x == 0)
    *Mean = Sum / float(Rows);
}

__global__ void fillTargets(long long *To, int Rows, int Classes) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < Rows)
    To[I] = (I * 2654435761u >> 4) % unsigned(Classes);
}

CAMPAIGN_ENTRY {
  auto *Losses = static_cast<float *>(Buffers[2]);
  crossEntropy<<<Sizes[0], 256, 0, Stream>>>(
      static_cast<const float *>(Buffers[0]),
      static_cast<const long long *>(Buffers[1]), Losses, Sizes[1]);
  meanLoss<<<1, 256, 0, Stream>>>(Losses, static_cast<float *>(Buffers[3]),
                                  Sizes[0]);
  return cudaGetLastError();
}

int main(int Count, char **Args) {
  std::vector<int> S = sizesOf(Count, Args, {32768, 4096});
  DeviceBuffer<float> X(size_t(S[0]) * S[1]), Losses(S[0]), Mean(1);
  DeviceBuffer<long long> Targets(S[0]);
  fill(X, 1);
  fillTargets<<<(S[0] + 255) / 256, 256>>>(Targets.Data, S[0], S[1]);
  void *Buffers[] = {X.Data, Targets.Data, Losses.Data, Mean.Data};
  check(cudaError_t(campaignRun(Buffers, S.data(), nullptr)), "crossEntropy");
  printChecksum(Mean);
}
