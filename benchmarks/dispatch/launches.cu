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
extern "C" void launchTotal(float *x, int n) { total<<<1, 256>>>(x + 4, x, n); }
extern "C" void launchDoubled(float *x, int n) {
  doubled<<<dim3(n / 32, 8), dim3(32, 8)>>>(x, x + n * 64, n, 64);
}

// Many arguments: what a domain with many clauses costs. The variant is the
// same text (wide.cu).
#include "wide.cu"

extern "C" void launchWide(float *x, int n) {
  wide<<<(n + 127) / 128, 128>>>(x, x + 8192, x + 16384, x + 24576, x + 32768,
                                 x + 40960, x + 49152, x + 57344, n, 1, 2, 3, 4,
                                 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17,
                                 18, 19);
}
