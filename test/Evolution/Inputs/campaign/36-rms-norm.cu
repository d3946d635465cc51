//===- 36-rms-norm.cu - RMSNorm over the second dimension -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Sizes: batch features pixels. KernelBench level 1, problem 36.

#include "campaign.h"

/// A thread for each pixel of each image, blockIdx.y: its features' root mean
/// square divides them.
__global__ void rmsNorm(const float *X, float *Y, int Features, int Pixels,
                        float Epsilon) {
  int Pixel = blockIdx.x * blockDim.x + threadIdx.x;
  if (Pixel >= Pixels)
    return;
  size_t First = size_t(blockIdx.y) * Features * Pixels + Pixel;
  float Sum = 0;
  for (int F = 0; F < Features; ++F) {
    float V = X[First + size_t(F) * Pixels];
    Sum += V * V;
  }
  float Rms = sqrtf(Sum / float(Features) + Epsilon);
  for (int F = 0; F < Features; ++F) {
    size_t At = First + size_t(F) * Pixels;
    Y[At] = X[At] / Rms;
  }
}

CAMPAIGN_ENTRY {
  dim3 Grid((Sizes[2] + 255) / 256, Sizes[0]);
  rmsNorm<<<Grid, 256, 0, Stream>>>(static_cast<const float *>(Buffers[0]),
                                    static_cast<float *>(Buffers[1]), Sizes[1],
                                    Sizes[2], 1e-5f);
  return cudaGetLastError();
}

int main(int Count, char **Args) {
  std::vector<int> S = sizesOf(Count, Args, {112, 64, 512 * 512});
  DeviceBuffer<float> X(size_t(S[0]) * S[1] * S[2]), Y(X.Count);
  fill(X, 1);
  void *Buffers[] = {X.Data, Y.Data};
  check(cudaError_t(campaignRun(Buffers, S.data(), nullptr)), "rmsNorm");
  printChecksum(Y);
}
