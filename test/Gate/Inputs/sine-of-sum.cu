// kernel: sineOfSum
// workload: grid=2, block=32, args=[buffer f32 n=2560 normal seed=1, buffer f32 n=64 output, 64, 40]
// honest: sineOfSumBackwards
__global__ void sineOfSum(const float *x, float *y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum += x[(long)r * n + i];
  y[r] = sinf(0.03125f * sum);
}
__global__ void sineOfSumBackwards(const float *x, float *y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float sum = 0;
  for (int i = n - 1; i >= 0; --i)
    sum += x[(long)r * n + i];
  y[r] = sinf(0.03125f * sum);
}
