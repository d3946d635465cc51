#include "separable.h"

__device__ unsigned gain = 3;

__device__ unsigned curve(unsigned x) { return x * x + 7; }

__global__ void scale(unsigned *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    p[i] = p[i] * 5 + 1;
}

void runScale(unsigned *p, int n) { scale<<<(n + 127) / 128, 128>>>(p, n); }
