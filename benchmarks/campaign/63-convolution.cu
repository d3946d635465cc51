//===- 63-convolution.cu - Convolution by 3 x 3 -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Sizes: images inputs outputs height width. KernelBench level 1, problem 63.

#include "campaign.h"

constexpr int Window = 3;

/// A thread for each result of each image and output channel, blockIdx.z; no
/// padding, stride 1.
__global__ void convolution(const float *X, const float *Weight, float *Y,
                            int Inputs, int Outputs, int Height, int Width) {
  int OutHeight = Height - Window + 1, OutWidth = Width - Window + 1;
  int Column = blockIdx.x * blockDim.x + threadIdx.x;
  int Row = blockIdx.y * blockDim.y + threadIdx.y;
  int Image = blockIdx.z / Outputs, Output = blockIdx.z % Outputs;
  if (Row >= OutHeight || Column >= OutWidth)
    return;
  const float *In = X + size_t(Image) * Inputs * Height * Width;
  const float *W = Weight + size_t(Output) * Inputs * Window * Window;
  float Sum = 0;
  for (int C = 0; C < Inputs; ++C)
    for (int R = 0; R < Window; ++R)
      for (int S = 0; S < Window; ++S)
        Sum += In[(size_t(C) * Height + Row + R) * Width + Column + S] *
               W[(C * Window + R) * Window + S];
  Y[(size_t(blockIdx.z) * OutHeight + Row) * OutWidth + Column] = Sum;
}

CAMPAIGN_ENTRY {
  int OutHeight = Sizes[3] - Window + 1, OutWidth = Sizes[4] - Window + 1;
  dim3 Grid((OutWidth + 31) / 32, (OutHeight + 7) / 8, Sizes[0] * Sizes[2]);
  convolution<<<Grid, dim3(32, 8), 0, Stream>>>(
      static_cast<const float *>(Buffers[0]),
      static_cast<const float *>(Buffers[1]), static_cast<float *>(Buffers[2]),
      Sizes[1], Sizes[2], Sizes[3], Sizes[4]);
  return cudaGetLastError();
}

int main(int Count, char **Args) {
  std::vector<int> S = sizesOf(Count, Args, {16, 16, 128, 1024, 1024});
  DeviceBuffer<float> X(size_t(S[0]) * S[1] * S[3] * S[4]),
      Weight(size_t(S[2]) * S[1] * Window * Window),
      Y(size_t(S[0]) * S[2] * (S[3] - Window + 1) * (S[4] - Window + 1));
  fill(X, 1);
  fill(Weight, 2, -0.1f, 0.1f);
  void *Buffers[] = {X.Data, Weight.Data, Y.Data};
  check(cudaError_t(campaignRun(Buffers, S.data(), nullptr)), "convolution");
  printChecksum(Y);
}
