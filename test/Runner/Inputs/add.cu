#include <cstdio>
__global__ void addOne(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] + 1;
}
int main() {
  const int n = 256;
  static float h[n];
  float *in, *out;
  for (int i = 0; i < n; ++i)
    h[i] = i % 17;
  cudaMalloc(&in, sizeof(h));
  cudaMalloc(&out, sizeof(h));
  cudaMemcpy(in, h, sizeof(h), cudaMemcpyHostToDevice);
  addOne<<<n / 64, 64>>>(in, out, n);
  cudaMemcpy(h, out, sizeof(h), cudaMemcpyDeviceToHost);
  printf("%.0f\n", h[n - 1]);
}
