// A kernel that the rules can make faster, and a program that runs it.
#include <cstdio>
__global__ void scale(float *p, int n, float k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0;
  for (int j = 0; j < 200; ++j)
    sum += p[i] * k + j;
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
