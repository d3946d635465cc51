// A sum in two launches: each block leaves its part in scratch memory.
static __device__ float blockSum(float s) {
  __shared__ float part[256];
  part[threadIdx.x] = s;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half)
      part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  return part[0];
}

__global__ void partial(const float *x, float *out, int n, float *parts) {
  int first = blockIdx.x * 4096;
  float s = 0;
  for (int i = threadIdx.x; i < 4096 && first + i < n; i += 256)
    s += x[first + i];
  s = blockSum(s);
  if (threadIdx.x == 0)
    parts[blockIdx.x] = s;
}

__global__ void combine(const float *x, float *out, int n, float *parts) {
  float s = 0;
  for (int i = threadIdx.x; i < (n + 4095) / 4096; i += 256)
    s += parts[i];
  s = blockSum(s);
  if (threadIdx.x == 0)
    *out = s;
}
