//===- 40-layer-norm.cu - LayerNorm over all but the first dimension -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Sizes: samples elements. KernelBench level 1, problem 40.

#include "campaign.h"

/// The sum of all threads' numbers in a block of 1024.
__device__ float sumOverBlock(float Mine) {
  __shared__ float Partial[32];
  for (int Offset = 16; Offset > 0; Offset /= 2)
    Mine += __shfl_xor_sync(0xffffffff, Mine, Offset);
  __syncthreads();
  if (threadIdx.x % 32 == 0)
    Partial[threadIdx.x / 32] = Mine;
  __syncthreads();
  float All = Partial[threadIdx.x % 32];
  for (int Offset = 16; Offset > 0; Offset /= 2)
    All += __shfl_xor_sync(0xffffffff, All, Offset);
  return All;
}

/// A block for each sample: mean, variance, result.
__global__ void layerNorm(const float *X, const float *Weight,
                          const float *Bias, float *Y, int Elements,
                          float Epsilon) {
  const float *In = X + size_t(blockIdx.x) * Elements;
  float *Out = Y + size_t(blockIdx.x) * Elements;
  float Sum = 0;
  for (int I = threadIdx.x; I < Elements; I += blockDim.x)
    Sum += In[I];
  float Mean = sumOverBlock(Sum) / float(Elements);
  float Square = 0;
  for (int I = threadIdx.x; I < Elements; I += blockDim.x)
    Square += (In[I] - Mean) * (In[I] - Mean);
  float Scale = rsqrtf(sumOverBlock(Square) / float(Elements) + Epsilon);
  for (int I = threadIdx.x; I < Elements; I += blockDim.x)
    Out[I] = (In[I] - Mean) * Scale * Weight[I] + Bias[I];
}

CAMPAIGN_ENTRY {
  layerNorm<<<Sizes[0], 1024, 0, Stream>>>(
      static_cast<const float *>(Buffers[0]),
      static_cast<const float *>(Buffers[1]),
      static_cast<const float *>(Buffers[2]), static_cast<float *>(Buffers[3]),
      Sizes[1], 1e-5f);
  return cudaGetLastError();
}

int main(int Count, char **Args) {
  std::vector<int> S = sizesOf(Count, Args, {16, 64 * 256 * 256});
  DeviceBuffer<float> X(size_t(S[0]) * S[1]), Weight(S[1]), Bias(S[1]),
      Y(X.Count);
  fill(X, 1);
  fill(Weight, 2, 0.5f, 1.5f);
  fill(Bias, 3, -1, 1);
  void *Buffers[] = {X.Data, Weight.Data, Bias.Data, Y.Data};
  check(cudaError_t(campaignRun(Buffers, S.data(), nullptr)), "layerNorm");
  printChecksum(Y);
}
