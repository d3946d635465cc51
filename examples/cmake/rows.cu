// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rows.h"

__global__ void normalize(const float *__restrict__ in, float *__restrict__ out, int columns) {
  const float *x = in + (size_t)blockIdx.x * columns;
  float *y = out + (size_t)blockIdx.x * columns;
  __shared__ float sums[128];
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    sum += x[i] * x[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half)
      sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  float scale = rsqrtf(sums[0] / columns + 1e-5f);
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    y[i] = x[i] * scale;
}

__global__ void add(const float *__restrict__ in, float *__restrict__ out, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += in[i];
  atomicAdd(out, sum);
}

void normalizeRows(const float *in, float *out, int rows, int columns) {
  normalize<<<rows, 128>>>(in, out, columns);
}

void addUp(const float *in, float *out, int n) {
  add<<<4, 128>>>(in, out, n);
}
