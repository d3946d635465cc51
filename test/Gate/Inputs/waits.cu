// kernel: scaled
// workload: grid=2, block=32, args=[buffer f32 n=64 normal seed=1, buffer f32 n=64 output, 64]
// honest: scaledInSteps
__global__ void scaled(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2 * x[i];
}
__global__ void scaledInSteps(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = i < n ? x[i] : 0;
  for (int step = 0; step < 4; ++step)
    __syncthreads();
  if (i < n)
    y[i] = 2 * v;
}
