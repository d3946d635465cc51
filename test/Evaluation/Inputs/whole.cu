// A large launch, and variants that only it gets to see.

__global__ void squares(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] * in[i];
}

__global__ void right(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] * in[i];
}

// Right for numbers below 1, as they were recorded.
__global__ void clamped(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = fminf(in[i] * in[i], 1.f);
}

// Right unless the last thread runs first.
__global__ void racing(const float *in, float *out, int n) {
  __shared__ float last;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0)
    last = in[i];
  out[i] = threadIdx.x == 0 ? last * last : in[i] * in[i] + 0 * last;
}
