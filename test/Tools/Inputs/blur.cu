// One kernel of a header, one of this file, one that is a template's.
#include "blur.h"
#include <cstdio>

extern "C" __global__ void columns(float *data, int facts, float k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= facts)
    return;
  float sum = 0;
  for (int j = 0; j < 30; ++j)
    sum += blur::mix(data[i], {k, 1}, j);
  data[i] = sum;
}

template <int N> __global__ void both(float *data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0;
  for (int j = 0; j < N; ++j)
    sum += data[i] * 0.5f + j;
  data[i] = sum;
}

#define LAUNCH(kernel, ...) kernel<<<8, 128>>>(__VA_ARGS__)

int main() {
  constexpr int n = 1000;
  float *data, h[n];
  for (int i = 0; i < n; ++i)
    h[i] = i % 17;
  cudaMalloc(&data, sizeof(h));
  cudaMemcpy(data, h, sizeof(h), cudaMemcpyHostToDevice);
  blur::launchRows(data, n, {0.5f, 1});
  if (n > 0)
    blur::rows<<<8, 128>>>(data, n, {0.25f, 2});
  columns<<<8, 128, 0, nullptr>>>(data, n, 0.5f);
  LAUNCH(columns, data, n, 0.25f);
  both<64><<<8, 128>>>(data, n);
  cudaMemcpy(h, data, sizeof(h), cudaMemcpyDeviceToHost);
  double sum = 0;
  for (float v : h)
    sum += v;
  printf("sum %.6g\n", sum);
  return cudaGetLastError() != cudaSuccess;
}
