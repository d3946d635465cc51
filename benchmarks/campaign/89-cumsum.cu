//===- 89-cumsum.cu - Running sums of rows -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Sizes: rows columns. KernelBench level 1, problem 89.

#include "campaign.h"

/// A block of 256 threads for each row: as many numbers at a time, and the sum
/// of all before them.
__global__ void cumsum(const float *X, float *Y, int Columns) {
  __shared__ float Partial[8];
  const float *Row = X + size_t(blockIdx.x) * Columns;
  float *Out = Y + size_t(blockIdx.x) * Columns;
  int Lane = threadIdx.x % 32, Warp = threadIdx.x / 32;
  float Before = 0;
  for (int From = 0; From < Columns; From += blockDim.x) {
    int I = From + threadIdx.x;
    float Sum = I < Columns ? Row[I] : 0;
    for (int Offset = 1; Offset < 32; Offset *= 2) {
      float Other = __shfl_up_sync(0xffffffff, Sum, Offset);
      if (Lane >= Offset)
        Sum += Other;
    }
    if (Lane == 31)
      Partial[Warp] = Sum;
    __syncthreads();
    float All = 0;
    for (int W = 0; W < 8; ++W) {
      if (W == Warp)
        Sum += Before + All;
      All += Partial[W];
    }
    if (I < Columns)
      Out[I] = Sum;
    Before += All;
    __syncthreads();
  }
}

CAMPAIGN_ENTRY {
  cumsum<<<Sizes[0], 256, 0, Stream>>>(static_cast<const float *>(Buffers[0]),
                                       static_cast<float *>(Buffers[1]),
                                       Sizes[1]);
  return cudaGetLastError();
}

int main(int Count, char **Args) {
  std::vector<int> S = sizesOf(Count, Args, {32768, 32768});
  DeviceBuffer<float> X(size_t(S[0]) * S[1]), Y(X.Count);
  fill(X, 1);
  void *Buffers[] = {X.Data, Y.Data};
  check(cudaError_t(campaignRun(Buffers, S.data(), nullptr)), "cumsum");
  printChecksum(Y);
}
