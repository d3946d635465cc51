// What the text alone shows.

// kernel: text
// workload: grid=2, block=32, args=[buffer f32 n=64 uniform seed=1, buffer f32 n=128 output, 60, 2.0]
#define CLAMPED(X, N) ((X) < (N) ? (X) : (N) - 1)
template <typename T> __device__ T twice(T v) { return v * T(2); }
template <int Width>
__device__ float inner(const float *in, int i) {
  return in[i % Width];
}
__global__ void text(const float *in, float *out, int n, float factor) {
  __shared__ float s[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = in[CLAMPED(i, n)];
  __syncthreads();
  float v = twice(s[31 - threadIdx.x]) * factor;
#pragma unroll 2
  for (int k = 0; k < 4; ++k)
    v += inner<16>(in, k);
  if (i >= n || out == nullptr)
    return;
  v = fmaxf(v, -0.5f);
  out[i] = v;
  long long far = (long long)i + n;
  for (long long k = far; k < 2LL * n; k += gridDim.x * blockDim.x)
    out[k] = 0.0f;
}
