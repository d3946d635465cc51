// Integers with bounds, and without.

// kernel: ranges
// workload: grid=2x3, block=32x4, args=[buffer u8 n=4096 uniform low=0 high=255 seed=1, buffer i32 n=4096 output, 64]
__global__ void ranges(const unsigned char *in, int *out, int n) {
  __shared__ int part[4096];
  int t = threadIdx.y * blockDim.x + threadIdx.x;
  part[t % 4096u] = in[t] * 256;
  int own = blockIdx.x * blockDim.x + threadIdx.x;
  out[own & 1023] = blockIdx.y * 256 + own;
  for (int k = threadIdx.x; k < 32; k += blockDim.x)
    out[k] += part[k];
  for (int k = threadIdx.x; k < n; k += blockDim.x)
    out[k] += 1;
}
