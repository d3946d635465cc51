// kernels.cu - Kernels for the runner on a real GPU
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels for the runner on a real GPU: one that is right, and bad ones.
#include <cassert>
#include <cstdio>
#define K extern "C" __global__ void
__device__ int counter;
K scale(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] * 2.0f + 1.0f;
}
// The same, four numbers at a time.
K scale4(const float *in, float *out, int n) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x);
  if (4 * i + 3 < n) {
    float4 v = reinterpret_cast<const float4 *>(in)[i];
    v.x = v.x * 2 + 1;
    v.y = v.y * 2 + 1;
    v.z = v.z * 2 + 1;
    v.w = v.w * 2 + 1;
    reinterpret_cast<float4 *>(out)[i] = v;
  }
}
// A twentieth more to read and write.
K scale105(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] * 2.0f + 1.0f;
  if (i < n / 20) {
    float v = *(volatile const float *)(in + n - 1 - i);
    out[n - 1 - i] = v * 2.0f + 1.0f;
  }
}
// Compute bound.
K spin(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float x = in[i];
  for (int k = 0; k < 2000; ++k)
    x = x * 0.999f + 0.5f;
  out[i] = x;
}
K skips(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n - 1)
    out[i] = in[i] * 2.0f + 1.0f;
}
K nearly(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] * 2.0f + 1.0001f;
}
K hangs(const float *in, float *out, int n) {
  while (*(volatile float *)out != 12345.0f) {
  }
}
K traps(const float *in, float *out, int n) {
  if (threadIdx.x == 5)
    __trap();
}
K asserts(const float *in, float *out, int n) { assert(n < 0); }
K illegal(const float *in, float *out, int n) {
  out[(1ull << 40) + threadIdx.x] = 1;
}
K misaligned(const float *in, float *out, int n) {
  *(double *)((char *)out + 4) = 1;
}
K outside(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n + 64)
    out[i] = i < n ? in[i] * 2.0f + 1.0f : 7.0f;
}
K spoils(float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = in[i] * 2.0f + 1.0f;
    if (i == 3)
      in[i] = 9;
  }
}
K deep(const float *in, float *out, int n) { // A stack that does not end.
  struct R {
    static __device__ __noinline__ float go(float v, int d) {
      volatile float a[64];
      a[d & 63] = v;
      return d > 1 << 28 ? v : go(a[(d + 1) & 63], d + 1) + 1;
    }
  };
  out[threadIdx.x] = R::go(in[0], 0);
}
K prints(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 10; ++k)
    printf("thread %d turn %d\n", i, k);
  if (i < n)
    out[i] = in[i] * 2.0f + 1.0f;
}
// Remembers what it wrote: a later launch does nothing.
__device__ int done;
K replays(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (done)
    return;
  if (i < n)
    out[i] = in[i] * 2.0f + 1.0f;
  if (i == n - 1)
    atomicAdd(&counter, 1), done = counter > 8;
}
K races(const float *in, float *out, int n) {
  __shared__ float s[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = in[i];
  out[i] = s[(threadIdx.x + 33) % 256] * 2.0f + 1.0f; // No barrier.
}
K unset(const float *in, float *out, int n) { // Reads what nobody wrote.
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = out[n - 1 - i] + in[i];
}
K diverges(const float *in, float *out, int n) {
  if (threadIdx.x < 16)
    __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
