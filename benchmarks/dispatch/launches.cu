//===- launches.cu - Launches whose dispatch is timed -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <cuda_runtime.h>

__global__ void total(const float *x, float *out, int n) {
  __shared__ float part[256];
  float s = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    s += x[i];
  part[threadIdx.x] = s;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half)
      part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    *out = part[0];
}

__global__ void doubled(const float *in, float *out, int w, int h) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < w && j < h)
    out[j * w + i] = 2 * in[j * w + i];
}

__global__ void scale(float *x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] *= a;
}

// As scale, without variants.
__global__ void bare(float *x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] *= a;
}

extern "C" void launchBare(float *x, int n) {
  bare<<<(n + 127) / 128, 128>>>(x, 1, n);
}
extern "C" void launchScale(float *x, int n) {
  scale<<<(n + 127) / 128, 128>>>(x, 1, n);
}
extern "C" void launchTotal(float *x, int n) {
  total<<<1, 256>>>(x + 4, x, n);
}
extern "C" void launchDoubled(float *x, int n) {
  doubled<<<dim3(n / 32, 8), dim3(32, 8)>>>(x, x + n * 64, n, 64);
}
