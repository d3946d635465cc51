// Many values to one: in shared memory, in warps, with atomics, in the block
// that ends last.

// kernel: blockSums
// workload: grid=5, block=128, args=[buffer f32 n=1100 uniform seed=1, buffer f32 n=5 output, 1100]
// honest: blockSumsShuffle | grid=(gx) | bx == 128
// narrower: n below | the original compares without sign, and reads beyond a negative n
// honest: blockSumsWarp | grid=(gx); block=(32) | bx == 128
// narrower: n below | as above
// honest: blockSumsSerial | grid=(gx); block=(1) | bx == 128
// narrower: n below | as above
// honest: blockSumsInterleaved
// narrower: n below | as above
// Each block sums two elements a thread.
__global__ void blockSums(const float *__restrict__ in,
                          float *__restrict__ out, int n) {
  __shared__ float part[1024];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
  float sum = i < n ? in[i] : 0.0f;
  if (i + blockDim.x < n)
    sum += in[i + blockDim.x];
  part[t] = sum;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d >>= 1) {
    if (t < d)
      part[t] += part[t + d];
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = part[0];
}
__global__ void blockSumsShuffle(const float *__restrict__ in,
                                 float *__restrict__ out, int n) {
  __shared__ float part[4];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  float sum = i < n ? in[i] : 0.0f;
  sum += i + 128 < n ? in[i + 128] : 0.0f;
  for (int d = 16; d > 0; d >>= 1)
    sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (t % 32 == 0)
    part[t / 32] = sum;
  __syncthreads();
  if (t == 0)
    out[blockIdx.x] = part[0] + part[1] + part[2] + part[3];
}
__global__ void blockSumsWarp(const float *__restrict__ in,
                              float *__restrict__ out, int n) {
  int first = blockIdx.x * 256, lane = threadIdx.x;
  float sum = 0;
  for (int i = first + lane; i < min(first + 256, n); i += 32)
    sum += in[i];
  for (int d = 1; d < 32; d *= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (lane == 0)
    out[blockIdx.x] = sum;
}
__global__ void blockSumsSerial(const float *__restrict__ in,
                                float *__restrict__ out, int n) {
  float sum = 0;
  for (int i = blockIdx.x * 256; i < blockIdx.x * 256 + 256 && i < n; ++i)
    sum += in[i];
  out[blockIdx.x] = sum;
}
__global__ void blockSumsInterleaved(const float *__restrict__ in,
                                     float *__restrict__ out, int n) {
  extern __shared__ float unused[];
  __shared__ float part[1024];
  int t = threadIdx.x, w = blockDim.x;
  int i = blockIdx.x * w * 2 + t;
  float a = i < n ? in[i] : 0, b = i + w < n ? in[i + w] : 0;
  part[t] = a + b;
  __syncthreads();
  // The original's tree, written from the other end.
  for (int d = w / 2; d > 0; d >>= 1) {
    float v = t < d ? part[t] + part[t + d] : 0;
    __syncthreads();
    if (t < d)
      part[t] = v;
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = part[0];
}

// kernel: sumLast
// workload: grid=4, block=64, args=[buffer f32 n=700 uniform seed=2, buffer f32 n=4 output, buffer u32 n=1 zeros, buffer f32 n=1 output, 700]
// honest: sumLastWarp
// honest: sumLastParallel
// narrower: bx between | the original leaves threads out of blocks that are no power of two
// honest: sumLastFenceEarly
// Block sums, then the block that ends last adds them up.
__device__ float sumOfBlock(float v, float *part) {
  int t = threadIdx.x;
  part[t] = v;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d >>= 1) {
    if (t < d)
      part[t] += part[t + d];
    __syncthreads();
  }
  return part[0];
}
__global__ void sumLast(const float *__restrict__ in, volatile float *partial,
                        unsigned *counter, float *out, int n) {
  __shared__ float part[1024];
  __shared__ bool last;
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    sum += in[i];
  sum = sumOfBlock(sum, part);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(counter, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    __threadfence();
    float total = 0;
    for (int b = 0; b < gridDim.x; ++b)
      total += partial[b];
    *out = total;
    *counter = 0;
  }
}
__global__ void sumLastWarp(const float *__restrict__ in,
                            volatile float *partial, unsigned *counter,
                            float *out, int n) {
  __shared__ float part[1024];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    sum += in[i];
  sum = sumOfBlock(sum, part);
  if (threadIdx.x != 0)
    return;
  partial[blockIdx.x] = sum;
  __threadfence();
  if (atomicAdd(counter, 1u) + 1 != gridDim.x)
    return;
  __threadfence();
  float total = 0;
  for (int b = gridDim.x - 1; b >= 0; --b)
    total += partial[b];
  *out = total;
  *counter = 0;
}
__global__ void sumLastParallel(const float *__restrict__ in,
                                volatile float *partial, unsigned *counter,
                                float *out, int n) {
  __shared__ float part[1024];
  __shared__ bool last;
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    sum += in[i];
  sum = sumOfBlock(sum, part);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(counter, 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last)
    return;
  sum = 0;
  for (int b = threadIdx.x; b < gridDim.x; b += blockDim.x)
    sum += partial[b];
  __syncthreads();
  sum = sumOfBlock(sum, part);
  if (threadIdx.x == 0) {
    *out = sum;
    *counter = 0;
  }
}
__global__ void sumLastFenceEarly(const float *__restrict__ in,
                                  volatile float *partial, unsigned *counter,
                                  float *out, int n) {
  __shared__ float part[1024];
  int step = gridDim.x * blockDim.x;
  float a = 0, b = 0;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (; i + step < n; i += 2 * step) {
    a += in[i];
    b += in[i + step];
  }
  if (i < n)
    a += in[i];
  float sum = sumOfBlock(a + b, part);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    unsigned before = atomicAdd(counter, 1u);
    if (before == gridDim.x - 1) {
      __threadfence();
      float total = 0;
      for (unsigned k = 0; k < gridDim.x; ++k)
        total += partial[k];
      out[0] = total;
      atomicExch(counter, 0u);
    }
  }
}

// kernel: dot
// workload: grid=3, block=64, args=[buffer f64 n=500 uniform low=0.5 high=1 seed=3, buffer f64 n=500 uniform low=0.5 high=1 seed=4, buffer f64 n=1 zeros, 500]
// honest: dotShuffle | grid=(gx) | bx == 64; gx * 64 * 4 >= n
// honest: dotShared
// honest: dotSerial | grid=(1); block=(1) | bx == 64
// narrower: n above | one sum of all terms is less exact than one for each thread
__global__ void dot(const double *__restrict__ a, const double *__restrict__ b,
                    double *sum, int n) {
  double mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    mine += a[i] * b[i];
  atomicAdd(sum, mine);
}
__global__ void dotShuffle(const double *__restrict__ a,
                           const double *__restrict__ b, double *sum, int n) {
  double mine = 0;
  for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += gridDim.x * 64)
    mine += a[i] * b[i];
  for (int d = 16; d > 0; d /= 2)
    mine += __shfl_down_sync(0xffffffffu, mine, d);
  if (threadIdx.x % 32 == 0)
    atomicAdd(sum, mine);
}
__global__ void dotShared(const double *__restrict__ a,
                          const double *__restrict__ b, double *sum, int n) {
  __shared__ double total;
  if (threadIdx.x == 0)
    total = 0;
  __syncthreads();
  double mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    mine = fma(a[i], b[i], mine);
  atomicAdd(&total, mine);
  __syncthreads();
  if (threadIdx.x == 0)
    atomicAdd(sum, total);
}
__global__ void dotSerial(const double *__restrict__ a,
                          const double *__restrict__ b, double *sum, int n) {
  double mine = 0;
  for (int i = 0; i < n; ++i)
    mine += a[i] * b[i];
  *sum += mine;
}

// kernel: warpMinimum
// workload: grid=2, block=96, args=[buffer i32 n=180 uniform low=-1000 high=1000 seed=5, buffer i32 n=6 output, 180]
// honest: warpMinimumReduce | grid=(gx) | bx == 96
// honest: warpMinimumShared | grid=(gx) | bx == 96
// honest: warpMinimumSerial | grid=(gx) | bx == 96
__global__ void warpMinimum(const int *__restrict__ in, int *__restrict__ out,
                            int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = i < n ? in[i] : 0x7fffffff;
  for (int d = 16; d > 0; d /= 2)
    v = min(v, __shfl_down_sync(0xffffffffu, v, d));
  if (threadIdx.x % 32 == 0)
    out[i / 32] = v;
}
__global__ void warpMinimumReduce(const int *__restrict__ in,
                                  int *__restrict__ out, int n) {
  int i = blockIdx.x * 96 + threadIdx.x;
  int v = __reduce_min_sync(0xffffffffu, i < n ? in[i] : 0x7fffffff);
  if ((i & 31) == 0)
    out[i >> 5] = v;
}
__global__ void warpMinimumShared(const int *__restrict__ in,
                                  int *__restrict__ out, int n) {
  __shared__ int least[3];
  int t = threadIdx.x, i = blockIdx.x * 96 + t;
  if (t < 3)
    least[t] = 0x7fffffff;
  __syncthreads();
  if (i < n)
    atomicMin(&least[t / 32], in[i]);
  __syncthreads();
  if (t < 3)
    out[blockIdx.x * 3 + t] = least[t];
}
__global__ void warpMinimumSerial(const int *__restrict__ in,
                                  int *__restrict__ out, int n) {
  int t = threadIdx.x;
  if (t >= 3)
    return;
  int first = (blockIdx.x * 3 + t) * 32, least = 0x7fffffff;
  for (int i = first; i < first + 32 && i < n; ++i)
    least = in[i] < least ? in[i] : least;
  out[blockIdx.x * 3 + t] = least;
}
