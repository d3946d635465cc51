//===- 42-max-pool.cu - Largest of 4 x 4 numbers -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Sizes: planes height width. KernelBench level 1, problem 42.

#include "campaign.h"

constexpr int Window = 4, Padding = 1;

/// A thread for each result of each plane, blockIdx.z; stride 1.
__global__ void maxPool(const float *X, float *Y, int Height, int Width) {
  int OutHeight = Height + 2 * Padding - Window + 1;
  int OutWidth = Width + 2 * Padding - Window + 1;
  int Column = blockIdx.x * blockDim.x + threadIdx.x;
  int Row = blockIdx.y * blockDim.y + threadIdx.y;
  if (Row >= OutHeight || Column >= OutWidth)
    return;
  const float *Plane = X + size_t(blockIdx.z) * Height * Width;
  float Max = -INFINITY;
  for (int R = Row - Padding; R < Row - Padding + Window; ++R)
    for (int C = Column - Padding; C < Column - Padding + Window; ++C)
      if (R >= 0 && R < Height && C >= 0 && C < Width)
        Max = fmaxf(Max, Plane[size_t(R) * Width + C]);
  Y[(size_t(blockIdx.z) * OutHeight + Row) * OutWidth + Column] = Max;
}

CAMPAIGN_ENTRY {
  int OutHeight = Sizes[1] + 2 * Padding - Window + 1;
  int OutWidth = Sizes[2] + 2 * Padding - Window + 1;
  dim3 Grid((OutWidth + 31) / 32, (OutHeight + 7) / 8, Sizes[0]);
  maxPool<<<Grid, dim3(32, 8), 0, Stream>>>(
      static_cast<const float *>(Buffers[0]), static_cast<float *>(Buffers[1]),
      Sizes[1], Sizes[2]);
  return cudaGetLastError();
}

int main(int Count, char **Args) {
  std::vector<int> S = sizesOf(Count, Args, {32 * 64, 512, 512});
  DeviceBuffer<float> X(size_t(S[0]) * S[1] * S[2]),
      Y(size_t(S[0]) * (S[1] - 1) * (S[2] - 1));
  fill(X, 1);
  void *Buffers[] = {X.Data, Y.Data};
  check(cudaError_t(campaignRun(Buffers, S.data(), nullptr)), "maxPool");
  printChecksum(Y);
}
