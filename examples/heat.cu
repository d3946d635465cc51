// Heat in a plate: a five-point stencil, time step by time step.
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#define CHECK(call)                                                            \
  do {                                                                         \
    cudaError_t error = (call);                                                \
    if (error != cudaSuccess) {                                                \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));      \
      std::exit(3);                                                            \
    }                                                                          \
  } while (0)

// One thread per point of the plate, seen as one long row.
__global__ void heatStep(const float *__restrict__ in, float *__restrict__ out,
                         int width, int height, float rate) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < width * height) {
    int x = i % width;
    int y = i / width;
    float center = in[i];
    float left = x > 0 ? in[i - 1] : center;
    float right = x < width - 1 ? in[i + 1] : center;
    float up = y > 0 ? in[i - width] : center;
    float down = y < height - 1 ? in[i + width] : center;
    out[i] = center + rate * (left + right + up + down - 4.0f * center);
  }
}

static void stepOnHost(const std::vector<float> &in, std::vector<float> &out,
                       int width, int height, float rate) {
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      int i = y * width + x;
      float c = in[i];
      float l = x > 0 ? in[i - 1] : c, r = x < width - 1 ? in[i + 1] : c;
      float u = y > 0 ? in[i - width] : c;
      float d = y < height - 1 ? in[i + width] : c;
      out[i] = c + rate * (l + r + u + d - 4.0f * c);
    }
}

int main(int argc, char **argv) {
  int width = argc > 1 ? std::atoi(argv[1]) : 317;
  int height = argc > 2 ? std::atoi(argv[2]) : 203;
  int steps = argc > 3 ? std::atoi(argv[3]) : 10;
  int n = width * height;
  std::vector<float> plate(n), next(n), result(n);
  for (int i = 0; i < n; ++i)
    plate[i] = static_cast<float>((i * 7919) % 1000) / 1000.0f;

  float *a = nullptr, *b = nullptr;
  CHECK(cudaMalloc(&a, n * sizeof(float)));
  CHECK(cudaMalloc(&b, n * sizeof(float)));
  CHECK(cudaMemcpy(a, plate.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  for (int s = 0; s < steps; ++s) {
    heatStep<<<(n + 255) / 256, 256>>>(a, b, width, height, 0.2f);
    std::swap(a, b);
  }
  CHECK(cudaGetLastError());
  CHECK(
      cudaMemcpy(result.data(), a, n * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));

  for (int s = 0; s < steps; ++s) {
    stepOnHost(plate, next, width, height, 0.2f);
    plate.swap(next);
  }
  double sum = 0, worst = 0;
  for (int i = 0; i < n; ++i) {
    sum += result[i];
    worst = std::fmax(worst, std::fabs(result[i] - plate[i]));
  }
  std::printf("heat: checksum %.4f\n", sum);
  std::printf("heat: %s (largest error %.2e)\n",
              worst < 1e-4 ? "PASSED" : "FAILED", worst);
  return worst < 1e-4 ? 0 : 1;
}
