// Softmax over the rows of a matrix: one block per row.
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                            \
  do {                                                                         \
    cudaError_t error = (call);                                                \
    if (error != cudaSuccess) {                                                \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));      \
      std::exit(3);                                                            \
    }                                                                          \
  } while (0)

constexpr int kThreads = 256;

template <typename T>
__global__ void softmaxRows(const T *in, T *out, int columns) {
  __shared__ T scratch[kThreads];
  const T *row = in + static_cast<long long>(blockIdx.x) * columns;
  T *result = out + static_cast<long long>(blockIdx.x) * columns;

  T largest = -INFINITY;
  for (int c = threadIdx.x; c < columns; c += kThreads)
    largest = fmaxf(largest, row[c]);
  scratch[threadIdx.x] = largest;
  __syncthreads();
  for (int step = kThreads / 2; step > 0; step /= 2) {
    if (threadIdx.x < step)
      scratch[threadIdx.x] =
          fmaxf(scratch[threadIdx.x], scratch[threadIdx.x + step]);
    __syncthreads();
  }
  largest = scratch[0];
  __syncthreads();

  T sum = 0;
  for (int c = threadIdx.x; c < columns; c += kThreads)
    sum += expf(row[c] - largest);
  scratch[threadIdx.x] = sum;
  __syncthreads();
  for (int step = kThreads / 2; step > 0; step /= 2) {
    if (threadIdx.x < step)
      scratch[threadIdx.x] += scratch[threadIdx.x + step];
    __syncthreads();
  }
  T scale = 1 / scratch[0];
  for (int c = threadIdx.x; c < columns; c += kThreads)
    result[c] = expf(row[c] - largest) * scale;
}

int main(int argc, char **argv) {
  int rows = argc > 1 ? std::atoi(argv[1]) : 48;
  int columns = argc > 2 ? std::atoi(argv[2]) : 1000;
  size_t n = static_cast<size_t>(rows) * columns;
  std::vector<float> in(n), result(n);
  for (size_t i = 0; i < n; ++i)
    in[i] = static_cast<float>((i * 2654435761u) % 2000) / 250.0f - 4.0f;

  float *dIn = nullptr, *dOut = nullptr;
  CHECK(cudaMalloc(&dIn, n * sizeof(float)));
  CHECK(cudaMalloc(&dOut, n * sizeof(float)));
  CHECK(cudaMemcpy(dIn, in.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  softmaxRows<float><<<rows, kThreads>>>(dIn, dOut, columns);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(result.data(), dOut, n * sizeof(float),
                   cudaMemcpyDeviceToHost));
  CHECK(cudaFree(dIn));
  CHECK(cudaFree(dOut));

  double worst = 0, checksum = 0;
  for (int r = 0; r < rows; ++r) {
    const float *row = &in[static_cast<size_t>(r) * columns];
    double largest = -INFINITY, sum = 0;
    for (int c = 0; c < columns; ++c)
      largest = std::fmax(largest, row[c]);
    for (int c = 0; c < columns; ++c)
      sum += std::exp(row[c] - largest);
    for (int c = 0; c < columns; ++c) {
      double got = result[static_cast<size_t>(r) * columns + c];
      worst =
          std::fmax(worst, std::fabs(got - std::exp(row[c] - largest) / sum));
      checksum += got * (c + 1);
    }
  }
  std::printf("softmax: checksum %.2f\n", checksum);
  std::printf("softmax: %s (largest error %.2e)\n",
              worst < 1e-6 ? "PASSED" : "FAILED", worst);
  return worst < 1e-6 ? 0 : 1;
}
