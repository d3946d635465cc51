//===- launches.cu - Launches whose dispatch is timed -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../test/Plans/Inputs/kernels.h"

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
