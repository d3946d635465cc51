//===- 04-gemv.cu - A matrix times a vector -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Sizes: rows columns. KernelBench level 1, problem 4.

#include "campaign.h"

/// Y = A X: a block for each row.
__global__ void gemv(const float *A, const float *X, float *Y, int Columns) {
  __shared__ float Partial[32];
  const float *Row = A + size_t(blockIdx.x) * Columns;
  float Sum = 0;
  for (int I = threadIdx.x; I < Columns; I += blockDim.x)
    Sum += Row[I] * X[I];
  for (int Offset = 16; Offset > 0; Offset /= 2)
    Sum += __shfl_down_sync(0xffffffff, Sum, Offset);
  if (threadIdx.x % 32 == 0)
    Partial[threadIdx.x / 32] = Sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    float Total = 0;
    for (int I = 0; I < (blockDim.x + 31) / 32; ++I)
      Total += Partial[I];
    Y[blockIdx.x] = Total;
  }
}

CAMPAIGN_ENTRY {
  gemv<<<Sizes[0], 256, 0, Stream>>>(static_cast<const float *>(Buffers[0]),
                                     static_cast<const float *>(Buffers[1]),
                                     static_cast<float *>(Buffers[2]),
                                     Sizes[1]);
  return cudaGetLastError();
}

int main(int Count, char **Args) {
  std::vector<int> S = sizesOf(Count, Args, {2048, 1048576});
  DeviceBuffer<float> A(size_t(S[0]) * S[1]), X(S[1]), Y(S[0]);
  fill(A, 1);
  fill(X, 2);
  void *Buffers[] = {A.Data, X.Data, Y.Data};
  check(cudaError_t(campaignRun(Buffers, S.data(), nullptr)), "gemv");
  printChecksum(Y);
}
