// Variants that are right for blocks of a power of two.

// kernel: blockTotal
// workload: grid=4, block=128, args=[buffer f32 n=500 uniform seed=1, buffer f32 n=4 output, 500]
// inside: grid=6, block=96, args=[buffer f32 n=500 uniform seed=1, buffer f32 n=6 output, 500]
// inside: grid=2, block=256, args=[buffer f32 n=500 uniform seed=1, buffer f32 n=2 output, 500]
// honest: blockTotalCeil
// honest: blockTotalSerial
// honest: blockTotalWarps
// bounded: blockTotalHalves
// outside: grid=6, block=96, args=[buffer f32 n=500 uniform seed=1, buffer f32 n=6 output, 500]
// bounded: blockTotalWholeWarps
// outside: grid=7, block=80, args=[buffer f32 n=500 uniform seed=1, buffer f32 n=7 output, 500]
// bounded: blockTotalNeedsWarps
// outside: grid=32, block=16, args=[buffer f32 n=500 uniform seed=1, buffer f32 n=32 output, 500]
// The sum of each block's part.
__global__ void blockTotal(const float *__restrict__ x, float *__restrict__ y,
                           int n) {
  __shared__ float s[1024];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int width = 1; width < blockDim.x; width *= 2) {
    if (t % (2 * width) == 0 && t + width < blockDim.x)
      s[t] += s[t + width];
    __syncthreads();
  }
  if (t == 0)
    y[blockIdx.x] = s[0];
}
__global__ void blockTotalCeil(const float *__restrict__ x,
                               float *__restrict__ y, int n) {
  __shared__ float s[1024];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int count = blockDim.x; count > 1;) {
    int half = (count + 1) / 2;
    if (t + half < count)
      s[t] += s[t + half];
    count = half;
    __syncthreads();
  }
  if (t == 0)
    y[blockIdx.x] = s[0];
}
__global__ void blockTotalSerial(const float *__restrict__ x,
                                 float *__restrict__ y, int n) {
  if (threadIdx.x)
    return;
  float a = 0, b = 0;
  int first = blockIdx.x * blockDim.x;
  int end = min(n, first + int(blockDim.x));
  for (int i = first; i < end; i += 2) {
    a += x[i];
    if (i + 1 < end)
      b += x[i + 1];
  }
  y[blockIdx.x] = a + b;
}
__global__ void blockTotalWarps(const float *__restrict__ x,
                                float *__restrict__ y, int n) {
  __shared__ float s[32];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  int lanes = min(32, int(blockDim.x) - t / 32 * 32);
  unsigned mask = lanes == 32 ? 0xffffffffu : (1u << lanes) - 1;
  float v = i < n ? x[i] : 0.0f;
  for (int d = 16; d > 0; d /= 2) {
    float other = __shfl_down_sync(mask, v, d);
    if (t % 32 + d < lanes)
      v += other;
  }
  if (t % 32 == 0)
    s[t / 32] = v;
  __syncthreads();
  if (t == 0) {
    float sum = 0;
    for (int w = 0; w * 32 < blockDim.x; ++w)
      sum += s[w];
    y[blockIdx.x] = sum;
  }
}
__global__ void blockTotalHalves(const float *__restrict__ x,
                                 float *__restrict__ y, int n) {
  __shared__ float s[1024];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half)
      s[t] += s[t + half];
    __syncthreads();
  }
  if (t == 0)
    y[blockIdx.x] = s[0];
}
// The last, partial warp keeps its sum to itself.
__global__ void blockTotalWholeWarps(const float *__restrict__ x,
                                     float *__restrict__ y, int n) {
  __shared__ float s[32];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  float v = i < n ? x[i] : 0.0f;
  if (t / 32 < blockDim.x / 32)
    for (int d = 16; d > 0; d /= 2)
      v += __shfl_down_sync(0xffffffffu, v, d);
  if (t % 32 == 0)
    s[t / 32] = v;
  __syncthreads();
  if (t == 0) {
    float sum = 0;
    for (int w = 0; w < blockDim.x / 32; ++w)
      sum += s[w];
    y[blockIdx.x] = blockDim.x < 32 ? s[0] : sum;
  }
}

// As many do: no block has less than a warp, and nobody says so.
__global__ void blockTotalNeedsWarps(const float *__restrict__ x,
                                     float *__restrict__ y, int n) {
  __shared__ float s[32];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  float v = i < n ? x[i] : 0.0f;
  for (int d = 16; d > 0; d /= 2)
    v += __shfl_down_sync(0xffffffffu, v, d);
  if (t % 32 == 0)
    s[t / 32] = v;
  __syncthreads();
  if (t == 0) {
    float sum = 0;
    for (int w = 0; w < blockDim.x / 32; ++w)
      sum += s[w];
    y[blockIdx.x] = sum;
  }
}

// kernel: ring
// workload: grid=3, block=64, args=[buffer i32 n=180 uniform low=-99 high=99 seed=2, buffer i32 n=180 output, 180]
// inside: grid=2, block=96, args=[buffer i32 n=180 uniform low=-99 high=99 seed=2, buffer i32 n=180 output, 180]
// honest: ringCompare
// honest: ringGlobal
// bounded: ringMask
// outside: grid=2, block=96, args=[buffer i32 n=180 uniform low=-99 high=99 seed=2, buffer i32 n=180 output, 180]
// Each block is a ring: the difference to the left neighbour. What is beyond n
// counts as 0.
__global__ void ring(const int *__restrict__ x, int *__restrict__ y, int n) {
  __shared__ int s[1024];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? x[i] : 0;
  __syncthreads();
  int left = (t + blockDim.x - 1) % blockDim.x;
  if (i < n)
    y[i] = s[t] - s[left];
}
__global__ void ringCompare(const int *__restrict__ x, int *__restrict__ y,
                            int n) {
  __shared__ int s[1024];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  int own = i < n ? x[i] : 0;
  s[t + 1 == blockDim.x ? 0 : t + 1] = own;
  __syncthreads();
  if (i < n)
    y[i] = own - s[t];
}
__global__ void ringGlobal(const int *__restrict__ x, int *__restrict__ y,
                           int n) {
  int first = blockIdx.x * blockDim.x, i = first + threadIdx.x;
  if (i >= n)
    return;
  int left = i > first ? i - 1 : first + int(blockDim.x) - 1;
  y[i] = x[i] - (left < n ? x[left] : 0);
}
__global__ void ringMask(const int *__restrict__ x, int *__restrict__ y,
                         int n) {
  __shared__ int s[1024];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? x[i] : 0;
  __syncthreads();
  if (i < n)
    y[i] = s[t] - s[(t - 1) & (blockDim.x - 1)];
}

// kernel: blockScan
// workload: grid=3, block=64, args=[buffer i32 n=180 uniform low=0 high=9 seed=3, buffer i32 n=180 output, 180]
// inside: grid=2, block=96, args=[buffer i32 n=180 uniform low=0 high=9 seed=3, buffer i32 n=180 output, 180]
// honest: blockScanSerial
// honest: blockScanTwoBuffers
// bounded: blockScanTree
// outside: grid=2, block=96, args=[buffer i32 n=180 uniform low=0 high=9 seed=3, buffer i32 n=180 output, 180]
// bounded: blockScanSixteenths
// outside: grid=10, block=20, args=[buffer i32 n=180 uniform low=0 high=9 seed=3, buffer i32 n=180 output, 180]
// Sums of what is before each element in its block.
__global__ void blockScan(const int *__restrict__ x, int *__restrict__ y,
                          int n) {
  __shared__ int s[1024];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? x[i] : 0;
  __syncthreads();
  for (int d = 1; d < blockDim.x; d *= 2) {
    int before = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += before;
    __syncthreads();
  }
  if (i < n)
    y[i] = t ? s[t - 1] : 0;
}
__global__ void blockScanSerial(const int *__restrict__ x,
                                int *__restrict__ y, int n) {
  if (threadIdx.x)
    return;
  int sum = 0, first = blockIdx.x * blockDim.x;
  for (int i = first; i < min(n, first + int(blockDim.x)); ++i) {
    y[i] = sum;
    sum += x[i];
  }
}
__global__ void blockScanTwoBuffers(const int *__restrict__ x,
                                    int *__restrict__ y, int n) {
  __shared__ int s[2][1024];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, now = 0;
  s[0][t] = t > 0 && i - 1 < n ? x[i - 1] : 0;
  __syncthreads();
  for (int d = 1; d < blockDim.x; d *= 2) {
    s[1 - now][t] = s[now][t] + (t >= d ? s[now][t - d] : 0);
    now = 1 - now;
    __syncthreads();
  }
  if (i < n)
    y[i] = s[now][t];
}
// Up and down a tree that has a power of two of leaves.
__global__ void blockScanTree(const int *__restrict__ x, int *__restrict__ y,
                              int n) {
  __shared__ int s[1024];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, size = blockDim.x;
  s[t] = i < n ? x[i] : 0;
  for (int d = 1; d < size; d *= 2) {
    __syncthreads();
    int at = (t + 1) * 2 * d - 1;
    if (at < size)
      s[at] += s[at - d];
  }
  __syncthreads();
  if (t == 0)
    s[size - 1] = 0;
  for (int d = size / 2; d > 0; d /= 2) {
    __syncthreads();
    int at = (t + 1) * 2 * d - 1;
    if (at < size) {
      int left = s[at - d];
      s[at - d] = s[at];
      s[at] += left;
    }
  }
  __syncthreads();
  if (i < n)
    y[i] = s[t];
}
// Sixteen threads scan a sixteenth each.
__global__ void blockScanSixteenths(const int *__restrict__ x,
                                    int *__restrict__ y, int n) {
  __shared__ int s[1024], sums[17];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  int each = blockDim.x / 16;
  s[t] = i < n ? x[i] : 0;
  __syncthreads();
  if (t < 16) {
    int sum = 0;
    for (int k = 0; k < each; ++k)
      sum += s[t * each + k];
    sums[t] = sum;
  }
  __syncthreads();
  if (t < 16) {
    int sum = 0;
    for (int w = 0; w < t; ++w)
      sum += sums[w];
    for (int k = 0; k < each; ++k) {
      int v = s[t * each + k];
      s[t * each + k] = sum;
      sum += v;
    }
  }
  __syncthreads();
  if (i < n)
    y[i] = s[t];
}
