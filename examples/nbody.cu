// Gravity between bodies: every thread sums the pull of all bodies on one.
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

namespace gravity {

struct Body {
  float x, y, z, mass;
};

__device__ float inverseCube(float squared) {
  float inverse = rsqrtf(squared);
  return inverse * inverse * inverse;
}

__global__ void accelerate(const Body *bodies, float *ax, float *ay, float *az,
                           int count, float softening) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  float px = bodies[i].x, py = bodies[i].y, pz = bodies[i].z;
  float sx = 0, sy = 0, sz = 0;
  for (int j = 0; j < count; ++j) {
    float dx = bodies[j].x - px;
    float dy = bodies[j].y - py;
    float dz = bodies[j].z - pz;
    float pull =
        bodies[j].mass * inverseCube(dx * dx + dy * dy + dz * dz + softening);
    sx += dx * pull;
    sy += dy * pull;
    sz += dz * pull;
  }
  ax[i] = sx;
  ay[i] = sy;
  az[i] = sz;
}

} // namespace gravity

int main(int argc, char **argv) {
  int count = argc > 1 ? std::atoi(argv[1]) : 700;
  std::vector<gravity::Body> bodies(count);
  for (int i = 0; i < count; ++i)
    bodies[i] = {static_cast<float>((i * 37) % 101) / 10,
                 static_cast<float>((i * 53) % 97) / 10,
                 static_cast<float>((i * 71) % 89) / 10,
                 1.0f + static_cast<float>(i % 7)};

  gravity::Body *dBodies = nullptr;
  float *a[3] = {};
  CHECK(cudaMalloc(&dBodies, count * sizeof(gravity::Body)));
  for (float *&axis : a)
    CHECK(cudaMalloc(&axis, count * sizeof(float)));
  CHECK(cudaMemcpy(dBodies, bodies.data(), count * sizeof(gravity::Body),
                   cudaMemcpyHostToDevice));
  gravity::accelerate<<<(count + 127) / 128, 128>>>(dBodies, a[0], a[1], a[2],
                                                    count, 0.01f);
  CHECK(cudaGetLastError());
  std::vector<float> result[3];
  for (int k = 0; k < 3; ++k) {
    result[k].resize(count);
    CHECK(cudaMemcpy(result[k].data(), a[k], count * sizeof(float),
                     cudaMemcpyDeviceToHost));
    CHECK(cudaFree(a[k]));
  }
  CHECK(cudaFree(dBodies));

  double worst = 0, checksum = 0;
  for (int i = 0; i < count; ++i) {
    double s[3] = {};
    for (int j = 0; j < count; ++j) {
      double d[3] = {bodies[j].x - bodies[i].x, bodies[j].y - bodies[i].y,
                     bodies[j].z - bodies[i].z};
      double r = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.01);
      for (int k = 0; k < 3; ++k)
        s[k] += d[k] * bodies[j].mass / (r * r * r);
    }
    for (int k = 0; k < 3; ++k) {
      worst = std::fmax(worst,
                        std::fabs(result[k][i] - s[k]) / (1 + std::fabs(s[k])));
      checksum += std::fabs(result[k][i]);
    }
  }
  std::printf("nbody: checksum %.0f\n", checksum);
  std::printf("nbody: %s (largest relative error %.2e)\n",
              worst < 1e-4 ? "PASSED" : "FAILED", worst);
  return worst < 1e-4 ? 0 : 1;
}
