#include <cstdio>
__global__ void addOdd(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (n < 0) // What the cpu device does not have.
    asm volatile("txq.width.b32 %0, [%1];" : "=r"(n) : "l"(in));
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
  addOdd<<<n / 64, 64>>>(in, out, n);
  cudaMemcpy(h, out, sizeof(h), cudaMemcpyDeviceToHost);
  printf("%.0f\n", h[n - 1]);
}
