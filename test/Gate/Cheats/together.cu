// Threads that work together, and what goes wrong between them.

// kernel: mirror
// workload: grid=3, block=64, args=[buffer f32 n=192 normal seed=1, buffer f32 n=192 output]
// honest: mirrorShuffle | | bx mod 32 == 0
// honest: mirrorDirect
// cheat: mirrorNoBarrier | race, unwritten-read, unwritten-output
// cheat: mirrorWarpSynchronous | race, unwritten-read, unwritten-output
// cheat: mirrorHalfUnset | unwritten-read, unwritten-output
// cheat: mirrorBeyondShared | bounds
// cheat: mirrorDivergentBarrier | barrier, race, unwritten-read, unwritten-output
// Turns each block's part around.
__global__ void mirror(const float *__restrict__ in, float *__restrict__ out) {
  __shared__ float s[1024];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = in[i];
  __syncthreads();
  out[i] = s[blockDim.x - 1 - t];
}
__global__ void mirrorShuffle(const float *__restrict__ in,
                              float *__restrict__ out) {
  int t = threadIdx.x, w = blockDim.x;
  float v = in[blockIdx.x * w + (w - 1 - (t ^ 31))];
  out[blockIdx.x * w + t] = __shfl_xor_sync(0xffffffffu, v, 31);
}
__global__ void mirrorDirect(const float *__restrict__ in,
                             float *__restrict__ out) {
  int first = blockIdx.x * blockDim.x;
  out[first + threadIdx.x] = in[first + blockDim.x - 1 - threadIdx.x];
}
// 20: no barrier at all.
__global__ void mirrorNoBarrier(const float *__restrict__ in,
                                float *__restrict__ out) {
  __shared__ float s[1024];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = in[i];
  out[i] = s[blockDim.x - 1 - t];
}
// 20: trusts that warps run in step.
__global__ void mirrorWarpSynchronous(const float *__restrict__ in,
                                      float *__restrict__ out) {
  __shared__ volatile float s[1024];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  int from = t ^ 31;
  s[t] = in[blockIdx.x * blockDim.x + (blockDim.x - 1 - from)];
  out[i] = s[from];
}
// 21: half of the shared memory is never set.
__global__ void mirrorHalfUnset(const float *__restrict__ in,
                                float *__restrict__ out) {
  __shared__ float s[1024];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  if (t < blockDim.x / 2)
    s[t] = in[i];
  __syncthreads();
  out[i] = s[blockDim.x - 1 - t];
}
// 21: behind the array.
__global__ void mirrorBeyondShared(const float *__restrict__ in,
                                   float *__restrict__ out) {
  __shared__ float s[32];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = in[i];
  __syncthreads();
  out[i] = s[blockDim.x - 1 - t];
}
// 20: a barrier that only some threads reach.
__global__ void mirrorDivergentBarrier(const float *__restrict__ in,
                                       float *__restrict__ out) {
  __shared__ float s[1024];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = in[i];
  if (t % 2)
    __syncthreads();
  out[i] = s[blockDim.x - 1 - t];
}

// kernel: total
// workload: grid=4, block=64, args=[buffer i32 n=256 uniform low=-50 high=50 seed=2, buffer i32 n=1 value=7, 250]
// honest: totalShared
// narrower: n below | adds to the sum where n is 0, too
// honest: totalReduce
// narrower: n below | adds to the sum where n is 0, too
// cheat: totalNoAtomic | race, mismatch
// cheat: totalOnlyWarpZero | mismatch, ignored-input
// cheat: totalWrongLanes | mismatch
// cheat: totalPartialMask | barrier, fault, mismatch, race
// cheat: totalInLastBlock | race, mismatch, device-variable
// cheat: totalWaitsForBlocks | runaway, race
__global__ void total(const int *__restrict__ in, int *sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(sum, in[i]);
}
__global__ void totalShared(const int *__restrict__ in, int *sum, int n) {
  __shared__ int local;
  if (threadIdx.x == 0)
    local = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&local, in[i]);
  __syncthreads();
  if (threadIdx.x == 0)
    atomicAdd(sum, local);
}
__global__ void totalReduce(const int *__restrict__ in, int *sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned here = __activemask();
  int v = __reduce_add_sync(here, i < n ? in[i] : 0);
  if (threadIdx.x % 32 == 0)
    atomicAdd(sum, v);
}
// 20
__global__ void totalNoAtomic(const int *__restrict__ in, int *sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    *sum += in[i];
}
// 1: the other warps of a block count for nothing.
__global__ void totalOnlyWarpZero(const int *__restrict__ in, int *sum,
                                  int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = i < n ? in[i] : 0;
  for (int d = 16; d > 0; d /= 2)
    v += __shfl_down_sync(0xffffffffu, v, d);
  if (threadIdx.x == 0)
    atomicAdd(sum, v);
}
// 1: lanes are taken twice and not at all.
__global__ void totalWrongLanes(const int *__restrict__ in, int *sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = i < n ? in[i] : 0;
  for (int d = 16; d > 1; d /= 2)
    v += __shfl_down_sync(0xffffffffu, v, d);
  if (threadIdx.x % 32 == 0)
    atomicAdd(sum, v + __shfl_sync(1u, v, 0));
}
// 20: names lanes that are not there.
__global__ void totalPartialMask(const int *__restrict__ in, int *sum,
                                 int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x % 32 < 16) {
    int v = (i < n ? in[i] : 0) + (i + 16 < n ? in[i + 16] : 0);
    for (int d = 8; d > 0; d /= 2)
      v += __shfl_xor_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 == 0)
      atomicAdd(sum, v);
  }
  __syncwarp(); // Here the others wait, who are called there.
}
// 20: the last block adds up for all, but only by number.
__device__ int blockTotals[64];
__global__ void totalInLastBlock(const int *__restrict__ in, int *sum, int n) {
  __shared__ int local;
  if (threadIdx.x == 0)
    local = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&local, in[i]);
  __syncthreads();
  if (threadIdx.x == 0)
    blockTotals[blockIdx.x % 64] = local;
  if (threadIdx.x == 0 && blockIdx.x == gridDim.x - 1) {
    int all = 0;
    for (int b = 0; b < gridDim.x; ++b)
      all += blockTotals[b % 64];
    *sum += all;
  }
}
// 20: waits for blocks that may not run.
__device__ unsigned blocksDone;
__global__ void totalWaitsForBlocks(const int *__restrict__ in, int *sum,
                                    int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(sum, in[i]);
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(&blocksDone, 1u);
    while (atomicAdd(&blocksDone, 0u) % (gridDim.x + 1) != gridDim.x + 1)
      ;
  }
}

// kernel: normalise
// workload: grid=1, block=128, args=[buffer f32 n=500 normal seed=3, buffer f32 n=500 output, buffer f32 n=1 zeros, 500]
// honest: normaliseShuffle | | gx == 1; bx == 128
// cheat: normaliseManyBlocks | race, mismatch | grid=(4)
// cheat: normaliseSubset | mismatch, unwritten-output, ignored-input
// cheat: normaliseSharedStale | race, mismatch
// Divides by the largest magnitude. One block.
__global__ void normalise(const float *__restrict__ in,
                          float *__restrict__ out, float *most, int n) {
  __shared__ float part[1024];
  float mine = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    mine = fmaxf(mine, fabsf(in[i]));
  part[threadIdx.x] = mine;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (threadIdx.x < d)
      part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + d]);
    __syncthreads();
  }
  if (threadIdx.x == 0 && blockIdx.x == 0)
    *most = part[0];
  if (blockIdx.x == 0)
    for (int i = threadIdx.x; i < n; i += blockDim.x)
      out[i] = in[i] / part[0];
}
__global__ void normaliseShuffle(const float *__restrict__ in,
                                 float *__restrict__ out, float *most, int n) {
  __shared__ float part[4];
  float mine = 0;
  for (int i = threadIdx.x; i < n; i += 128)
    mine = fmaxf(mine, fabsf(in[i]));
  for (int d = 16; d > 0; d /= 2)
    mine = fmaxf(mine, __shfl_xor_sync(0xffffffffu, mine, d));
  if (threadIdx.x % 32 == 0)
    part[threadIdx.x / 32] = mine;
  __syncthreads();
  mine = fmaxf(fmaxf(part[0], part[1]), fmaxf(part[2], part[3]));
  if (threadIdx.x == 0)
    *most = mine;
  for (int i = threadIdx.x; i < n; i += 128)
    out[i] = in[i] / mine;
}
// 20: a value of the whole grid without a grid barrier.
__global__ void normaliseManyBlocks(const float *__restrict__ in,
                                    float *__restrict__ out, float *most,
                                    int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0)
    *most = 0;
  if (i < n)
    atomicMax(reinterpret_cast<int *>(most), __float_as_int(fabsf(in[i])));
  __syncthreads();
  if (i < n)
    out[i] = in[i] / *most;
}
// 1: a fixed number of rounds.
__global__ void normaliseSubset(const float *__restrict__ in,
                                float *__restrict__ out, float *most, int n) {
  __shared__ float part[1024];
  float mine = 0;
  for (int k = 0, i = threadIdx.x; k < 2 && i < n; ++k, i += blockDim.x)
    mine = fmaxf(mine, fabsf(in[i]));
  part[threadIdx.x] = mine;
  __syncthreads();
  for (int k = 0; k < blockDim.x; ++k)
    mine = fmaxf(mine, part[k]);
  if (threadIdx.x == 0 && blockIdx.x == 0)
    *most = mine;
  if (blockIdx.x == 0)
    for (int i = threadIdx.x; i < n; i += blockDim.x)
      out[i] = in[i] / mine;
}
// 20: the next round's write is not kept from this round's reads.
__global__ void normaliseSharedStale(const float *__restrict__ in,
                                     float *__restrict__ out, float *most,
                                     int n) {
  __shared__ float part[1024];
  float mine = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    mine = fmaxf(mine, fabsf(in[i]));
  part[threadIdx.x] = mine;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2)
    if (threadIdx.x < d)
      part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + d]);
  __syncthreads();
  if (threadIdx.x == 0 && blockIdx.x == 0)
    *most = part[0];
  if (blockIdx.x == 0)
    for (int i = threadIdx.x; i < n; i += blockDim.x)
      out[i] = in[i] / part[0];
}

// kernel: finish
// workload: grid=4, block=32, args=[buffer f32 n=128 uniform low=1 high=2 seed=4, buffer f32 n=4 output, buffer u32 n=1 zeros, buffer f32 n=1 output]
// honest: finishBackwards
// cheat: finishNoFence | race
// cheat: finishAnyBlock | race, mismatch, unwritten-output
// Sums of blocks, added up by the block that ends last.
__global__ void finish(const float *__restrict__ in, float *partial,
                       unsigned *count, float *out) {
  float v = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int d = 16; d > 0; d /= 2)
    v += __shfl_xor_sync(0xffffffffu, v, d);
  if (threadIdx.x)
    return;
  partial[blockIdx.x] = v;
  __threadfence();
  if (atomicAdd(count, 1u) != gridDim.x - 1)
    return;
  __threadfence();
  float sum = 0;
  for (int b = 0; b < gridDim.x; ++b)
    sum += partial[b];
  *out = sum;
  *count = 0;
}
__global__ void finishBackwards(const float *__restrict__ in, float *partial,
                          unsigned *count, float *out) {
  float v = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int d = 1; d < 32; d *= 2)
    v += __shfl_xor_sync(0xffffffffu, v, d);
  if (threadIdx.x)
    return;
  partial[blockIdx.x] = v;
  __threadfence();
  if (atomicAdd(count, 1u) == gridDim.x - 1) {
    __threadfence();
    float sum = 0;
    for (int b = gridDim.x; b-- > 0;)
      sum += partial[b];
    *out = sum;
    atomicExch(count, 0u);
  }
}
// 20: without the fence the partial sums may come late.
__global__ void finishNoFence(const float *__restrict__ in, float *partial,
                              unsigned *count, float *out) {
  float v = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int d = 16; d > 0; d /= 2)
    v += __shfl_xor_sync(0xffffffffu, v, d);
  if (threadIdx.x)
    return;
  partial[blockIdx.x] = v;
  if (atomicAdd(count, 1u) != gridDim.x - 1)
    return;
  float sum = 0;
  for (int b = 0; b < gridDim.x; ++b)
    sum += partial[b];
  *out = sum;
  *count = 0;
}
// 20: depends on the order of blocks.
__global__ void finishAnyBlock(const float *__restrict__ in, float *partial,
                               unsigned *count, float *out) {
  float v = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int d = 16; d > 0; d /= 2)
    v += __shfl_xor_sync(0xffffffffu, v, d);
  if (threadIdx.x)
    return;
  partial[blockIdx.x] = v;
  if (blockIdx.x != gridDim.x - 1)
    return;
  float sum = 0;
  for (int b = 0; b < gridDim.x; ++b)
    sum += partial[b];
  *out = sum;
  *count = 0;
}
