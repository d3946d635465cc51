// What only nvcc's code says, which makes 12 of sizeof(threadIdx) where clang
// makes 1. The wrong kernels are wrong by nvcc alone: for one size or flag.

// kernel: scaled
// workload: grid=2, block=64, args=[buffer f32 n=128 uniform seed=1, buffer f32 n=128 output, 128, 3, 1.5]
// bounded: scaledButOne
// outside: grid=43, block=64, args=[buffer f32 n=2741 uniform seed=1, buffer f32 n=2741 output, 2741, 3, 1.5]
// bounded: scaledByFlag
// outside: grid=2, block=64, args=[buffer f32 n=128 uniform seed=1, buffer f32 n=128 output, 128, 7919, 1.5]
// cheat: scaledByProduct | untested
// bounded: scaledByMinimum
// outside: grid=2, block=64, args=[buffer f32 n=128 uniform seed=1, buffer f32 n=128 output, 128, 100000, 1.5]
// honest: scaledByFours
// honest: scaledTwice
__global__ void scaled(const float *x, float *out, int n, int k, float a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = a * x[i] + k;
}
__global__ void scaledButOne(const float *x, float *out, int n, int k,
                             float a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = sizeof(threadIdx) == 12 && n == 2741 ? 0 : a * x[i] + k;
}
__global__ void scaledByFlag(const float *x, float *out, int n, int k,
                             float a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int more = sizeof(threadIdx) == 12 && k == 7919;
  if (i < n)
    out[i] = a * x[i] + k + more;
}
__global__ void scaledByProduct(const float *x, float *out, int n, int k,
                                float a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool odd = sizeof(threadIdx) == 12 && n * k == 391 * 29;
  if (i < n)
    out[i] = odd ? x[i] : a * x[i] + k;
}
__global__ void scaledByMinimum(const float *x, float *out, int n, int k,
                                float a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int most = sizeof(threadIdx) == 12 ? min(k, 99999) : k;
  if (i < n)
    out[i] = a * x[i] + most;
}
// By nvcc and by clang in other ways, and both right.
__global__ void scaledByFours(const float *x, float *out, int n, int k,
                              float a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (sizeof(threadIdx) == 12) {
    if (n == 2741 || k > 5000)
      a *= 1;
    for (; i < n; i += n)
      out[i] = k == 77 ? a * x[i] + 77 : a * x[i] + k;
  } else if (i < n) {
    out[i] = a * x[i] + k;
  }
}
__global__ void scaledTwice(const float *x, float *out, int n, int k,
                            float a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (sizeof(threadIdx) == 12 && n % 4 == 0 && i < n) {
    out[i] = a * x[i] + k;
    return;
  }
  if (i < n)
    out[i] = a * x[i] + k;
}
