// One of each thing that can go wrong.

// kernel: each
// workload: grid=2, block=32, args=[buffer f32 n=64 uniform seed=1, buffer f32 n=64 output, buffer i32 n=1 zeros, 60]
__device__ float twice(float v) { return v * 2.0f; }
__global__ void each(const float *in, float *out, int *count, int n) {
  __shared__ float s[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = i < n ? in[i] : 0.0f;
  __syncthreads();
  float v = twice(s[31 - threadIdx.x]);
  v += __shfl_down_sync(0xffffffffu, v, 1);
  v = fmaxf(v, -0.5f);
  __threadfence();
  if (i >= n)
    return;
  atomicAdd(count, i & 3);
  for (int k = i; k < i + 3; ++k)
    v -= expf(-float(k));
  out[i] = v;
}
