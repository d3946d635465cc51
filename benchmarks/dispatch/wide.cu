//===- wide.cu - A kernel with many arguments -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

__global__ void wide(float *p0, const float *p1, const float *p2,
                     const float *p3, const float *p4, const float *p5,
                     const float *p6, const float *p7, int n0, int n1, int n2,
                     int n3, int n4, int n5, int n6, int n7, int n8, int n9,
                     int n10, int n11, int n12, int n13, int n14, int n15,
                     int n16, int n17, int n18, int n19) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n0)
    p0[i] = p1[i] * n1 + p2[i] * n2 + p3[i] * n3 + p4[i] * n4 + p5[i] * n5 +
            p6[i] * n6 + p7[i] * n7 + n8 + n9 + n10 + n11 + n12 + n13 + n14 +
            n15 + n16 + n17 + n18 + n19;
}
