// Kernels of a project in a header of it.
#ifndef BLUR_H
#define BLUR_H

#define STEPS 32

namespace blur {

struct Weights {
  float a, b;
};

// Too long for compilers to unroll a loop around it by themselves.
__device__ inline float mix(float by, Weights w, int j) {
  float x = by * w.a * 0.02f + j * 0.01f, y = x;
  y = y * x + 0.5f; y = y * x + 0.5f; y = y * x + 0.5f; y = y * x + 0.5f;
  y = y * x + 0.5f; y = y * x + 0.5f; y = y * x + 0.5f; y = y * x + 0.5f;
  y = y * x + 0.5f; y = y * x + 0.5f; y = y * x + 0.5f; y = y * x + 0.5f;
  y = y * x + 0.5f; y = y * x + 0.5f; y = y * x + 0.5f; y = y * x + 0.5f;
  y = y * x + 0.5f; y = y * x + 0.5f; y = y * x + 0.5f; y = y * x + 0.5f;
  y = y * x + 0.5f; y = y * x + 0.5f; y = y * x + 0.5f; y = y * x + 0.5f;
  y = y * x + 0.5f; y = y * x + 0.5f; y = y * x + 0.5f; y = y * x + 0.5f;
  y = y * x + 0.5f; y = y * x + 0.5f; y = y * x + 0.5f; y = y * x + 0.5f;
  return y;
}

static __global__ void rows(float *data, int n, Weights w) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0;
  for (int j = 0; j < STEPS; ++j)
    sum += mix(data[i], w, j);
  data[i] = sum;
}

inline void launchRows(float *data, int n, Weights w) {
  rows<<<(n + 127) / 128, dim3(128), 0>>>(data, n, w);
}

} // namespace blur

#endif
