// A kernel that the rules can make faster, and a program that runs it.
#include <cstdio>
// Too long for compilers to unroll the loop around it by themselves.
__device__ float polynomial(float x) {
  float y = x;
#define STEP y = y * x + 0.5f;
#define STEPS STEP STEP STEP STEP STEP STEP STEP STEP
  STEPS STEPS STEPS STEPS STEPS
  return y;
}
__global__ void scale(float *p, int n, float k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0;
  for (int j = 0; j < 32; ++j)
    sum += polynomial((p[i] * k + j) * 0.004f);
  p[i] = sum;
}
int main() {
  float *p, h[1000];
  for (int i = 0; i < 1000; ++i)
    h[i] = i % 17;
  cudaMalloc(&p, sizeof(h));
  cudaMemcpy(p, h, sizeof(h), cudaMemcpyHostToDevice);
  scale<<<8, 128>>>(p, 1000, 2.0f);
  cudaMemcpy(h, p, sizeof(h), cudaMemcpyDeviceToHost);
  double s = 0;
  for (float v : h)
    s += v;
  printf("sum %.0f\n", s);
  return cudaGetLastError() != cudaSuccess;
}
