//===- 84-depthwise.cu - Convolution of each channel by 3 x 3 -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Sizes: images channels height width. KernelBench level 1, problem 84.

#include "campaign.h"

constexpr int Window = 3;

/// A thread for each result of each image and channel, blockIdx.z; no padding,
/// stride 1.
__global__ void depthwise(const float *X, const float *Weight, float *Y,
                          int Channels, int Height, int Width) {
  int OutHeight = Height - Window + 1, OutWidth = Width - Window + 1;
  int Column = blockIdx.x * blockDim.x + threadIdx.x;
  int Row = blockIdx.y * blockDim.y + threadIdx.y;
  if (Row >= OutHeight || Column >= OutWidth)
    return;
  const float *Plane = X + size_t(blockIdx.z) * Height * Width;
  const float *W = Weight + blockIdx.z % Channels * Window * Window;
  float Sum = 0;
  for (int R = 0; R < Window; ++R)
    for (int S = 0; S < Window; ++S)
      Sum += Plane[size_t(Row + R) * Width + Column + S] * W[R * Window + S];
  Y[(size_t(blockIdx.z) * OutHeight + Row) * OutWidth + Column] = Sum;
}

CAMPAIGN_ENTRY {
  int OutHeight = Sizes[2] - Window + 1, OutWidth = Sizes[3] - Window + 1;
  dim3 Grid((OutWidth + 31) / 32, (OutHeight + 7) / 8, Sizes[0] * Sizes[1]);
  depthwise<<<Grid, dim3(32, 8), 0, Stream>>>(
      static_cast<const float *>(Buffers[0]),
      static_cast<const float *>(Buffers[1]), static_cast<float *>(Buffers[2]),
      Sizes[1], Sizes[2], Sizes[3]);
  return cudaGetLastError();
}

int main(int Count, char **Args) {
  std::vector<int> S = sizesOf(Count, Args, {64, 128, 256, 512});
  size_t Planes = size_t(S[0]) * S[1];
  DeviceBuffer<float> X(Planes * S[2] * S[3]), Weight(S[1] * Window * Window),
      Y(Planes * (S[2] - Window + 1) * (S[3] - Window + 1));
  fill(X, 1);
  fill(Weight, 2, -0.3f, 0.3f);
  void *Buffers[] = {X.Data, Weight.Data, Y.Data};
  check(cudaError_t(campaignRun(Buffers, S.data(), nullptr)), "depthwise");
  printChecksum(Y);
}
