// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "rows.h"
#include <cstdio>
#include <vector>

int main() {
  const int rows = 16, columns = 1024, n = rows * columns;
  std::vector<float> numbers(n);
  for (int i = 0; i < n; ++i)
    numbers[i] = i * 37 % 101 / 8.f;
  float *in, *out, *sum, total = 0;
  if (cudaMalloc(&in, n * sizeof(float)) != cudaSuccess) {
    std::puts("no GPU");
    return 1;
  }
  cudaMalloc(&out, n * sizeof(float));
  cudaMalloc(&sum, sizeof(float));
  cudaMemcpy(in, numbers.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  for (int step = 0; step < 3; ++step) {
    cudaMemset(sum, 0, sizeof(float));
    normalizeRows(in, out, rows, columns);
    addUp(out, sum, n);
    cudaMemcpy(&total, sum, sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("step %d: mean %.4f\n", step, total / n);
  }
  return cudaGetLastError() != cudaSuccess;
}
