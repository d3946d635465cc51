// What is right while threads run one after the other, while all blocks are
// resident, or where no GPU computes. H: updates that get lost, and volatile
// data without an order. I: blocks that wait for others which may not begin. J:
// kernels that look whether a GPU runs them.
#include <cuda/atomic>

#define LOOK(place) (*(volatile int *)&(place))

// kernel: counts
// workload: grid=6, block=64, args=[buffer i32 n=384 uniform low=0 high=15 seed=1, buffer i32 n=16 zeros, 384]
// honest: countsByExchange
// honest: countsByWarp
// honest: countsInShared
// cheat: countsVolatile | race, mismatch
// cheat: countsReadThenExchange | race, mismatch
// cheat: countsOneTry | mismatch
// cheat: countsVolatileShared | race, mismatch
__global__ void counts(const int *__restrict__ x, int *bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&bins[x[i] & 15], 1);
}
__global__ void countsByExchange(const int *__restrict__ x, int *bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int *p = &bins[x[i] & 15], seen, old = LOOK(*p);
  do {
    seen = old;
    old = atomicCAS(p, seen, seen + 1);
  } while (old != seen);
}
__global__ void countsByWarp(const int *__restrict__ x, int *bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int bin = i < n ? x[i] & 15 : 16;
  unsigned here = __activemask(), same = __match_any_sync(here, bin);
  int lane = threadIdx.x % 32;
  if (bin < 16 && lane == __ffs(same) - 1)
    atomicAdd(&bins[bin], __popc(same));
}
__global__ void countsInShared(const int *__restrict__ x, int *bins, int n) {
  __shared__ int own[16];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int b = threadIdx.x; b < 16; b += blockDim.x)
    own[b] = 0;
  __syncthreads();
  if (i < n)
    atomicAdd(&own[x[i] & 15], 1);
  __syncthreads();
  for (int b = threadIdx.x; b < 16; b += blockDim.x)
    if (own[b])
      atomicAdd(&bins[b], own[b]);
}
// H: a load and a store.
__global__ void countsVolatile(const int *__restrict__ x, int *bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    LOOK(bins[x[i] & 15]) = LOOK(bins[x[i] & 15]) + 1;
}
// H: the same by two atomics.
__global__ void countsReadThenExchange(const int *__restrict__ x, int *bins,
                                       int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int *p = &bins[x[i] & 15], old = atomicAdd(p, 0);
  atomicExch(p, old + 1);
}
// H: a compare-and-swap that is not tried again.
__global__ void countsOneTry(const int *__restrict__ x, int *bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int *p = &bins[x[i] & 15], old = LOOK(*p);
  atomicCAS(p, old, old + 1);
}
// H: in shared memory.
__global__ void countsVolatileShared(const int *__restrict__ x, int *bins,
                                     int n) {
  __shared__ volatile int own[16];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int b = threadIdx.x; b < 16; b += blockDim.x)
    own[b] = 0;
  __syncthreads();
  if (i < n)
    own[x[i] & 15] = own[x[i] & 15] + 1;
  __syncthreads();
  for (int b = threadIdx.x; b < 16; b += blockDim.x)
    if (own[b])
      atomicAdd(&bins[b], own[b]);
}

// kernel: account
// workload: grid=6, block=64, args=[buffer i32 n=384 uniform low=-9 high=9 seed=2, buffer i32 n=2 zeros, 384]
// honest: accountVolatile
// honest: accountAtomicRef
// honest: accountTests
// cheat: accountNoFences | race
// cheat: accountNoFenceBehind | race
// cheat: accountNoSwap | race, mismatch
// The sum, under a lock, which is the first number.
__global__ void account(const int *__restrict__ x, int *state, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = __reduce_add_sync(~0u, i < n ? x[i] : 0);
  if (threadIdx.x % 32)
    return;
  while (atomicCAS(&state[0], 0, 1) != 0)
    ;
  __threadfence();
  state[1] = state[1] + sum;
  __threadfence();
  atomicExch(&state[0], 0);
}
__global__ void accountVolatile(const int *__restrict__ x, int *state, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = __reduce_add_sync(~0u, i < n ? x[i] : 0);
  if (threadIdx.x % 32)
    return;
  while (atomicExch(&state[0], 1) != 0)
    __nanosleep(20);
  __threadfence();
  LOOK(state[1]) = LOOK(state[1]) + sum;
  __threadfence();
  LOOK(state[0]) = 0;
}
__global__ void accountAtomicRef(const int *__restrict__ x, int *state, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = __reduce_add_sync(~0u, i < n ? x[i] : 0);
  if (threadIdx.x % 32)
    return;
  cuda::atomic_ref<int, cuda::thread_scope_device> lock(state[0]);
  while (lock.exchange(1, cuda::memory_order_acquire))
    ;
  state[1] = state[1] + sum;
  lock.store(0, cuda::memory_order_release);
}
__global__ void accountTests(const int *__restrict__ x, int *state, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = __reduce_add_sync(~0u, i < n ? x[i] : 0);
  if (threadIdx.x % 32)
    return;
  do {
    while (LOOK(state[0]) != 0)
      ;
  } while (atomicCAS(&state[0], 0, 1) != 0);
  __threadfence();
  state[1] = state[1] + sum;
  __threadfence();
  atomicExch(&state[0], 0);
}
// H: volatile data under a lock that orders nothing.
__global__ void accountNoFences(const int *__restrict__ x, int *state, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = __reduce_add_sync(~0u, i < n ? x[i] : 0);
  if (threadIdx.x % 32)
    return;
  while (atomicCAS(&state[0], 0, 1) != 0)
    ;
  LOOK(state[1]) = LOOK(state[1]) + sum;
  atomicExch(&state[0], 0);
}
// H: the store may come behind the lock's end.
__global__ void accountNoFenceBehind(const int *__restrict__ x, int *state,
                                     int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = __reduce_add_sync(~0u, i < n ? x[i] : 0);
  if (threadIdx.x % 32)
    return;
  while (atomicCAS(&state[0], 0, 1) != 0)
    ;
  __threadfence();
  LOOK(state[1]) = LOOK(state[1]) + sum;
  atomicExch(&state[0], 0);
}
// H: two may find the lock open.
__global__ void accountNoSwap(const int *__restrict__ x, int *state, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = __reduce_add_sync(~0u, i < n ? x[i] : 0);
  if (threadIdx.x % 32)
    return;
  while (LOOK(state[0]) != 0)
    ;
  LOOK(state[0]) = 1;
  __threadfence();
  LOOK(state[1]) = LOOK(state[1]) + sum;
  __threadfence();
  LOOK(state[0]) = 0;
}

// kernel: suffix
// workload: grid=7, block=64, args=[buffer i32 n=448 uniform low=-9 high=9 seed=3, buffer i32 n=7 output, 448]
// honest: suffixTickets | scratch=8 * gx + 8; launch suffixClear: grid=(gx, 1, 1); launch suffixTickets: grid=(gx, 1, 1)
// honest: suffixFewBlocks | scratch=8 * gx + 8; launch suffixClear: grid=(gx, 1, 1); launch suffixFewBlocks: grid=(4, 1, 1) | bx == 64; gx == n ceildiv 64
// honest: suffixBarrier | scratch=8 * gx + 8; launch suffixClear: grid=(gx, 1, 1); launch suffixBarrier: grid=(gx, 1, 1) | gx <= 132
// honest: suffixTwice | scratch=8 * gx + 8; launch suffixParts: grid=(gx, 1, 1); launch suffixTwice: grid=(gx, 1, 1)
// cheat: suffixNext | barrier | scratch=8 * gx + 8; launch suffixClear: grid=(gx, 1, 1); launch suffixNext: grid=(gx, 1, 1)
// cheat: suffixMeets | barrier | scratch=8 * gx + 8; launch suffixClear: grid=(gx, 1, 1); launch suffixMeets: grid=(gx, 1, 1)
// cheat: suffixLast | barrier | scratch=8 * gx + 8; launch suffixClear: grid=(gx, 1, 1); launch suffixLast: grid=(gx, 1, 1)
// cheat: suffixNoFence | race | scratch=8 * gx + 8; launch suffixClear: grid=(gx, 1, 1); launch suffixNoFence: grid=(gx, 1, 1)
// The sum of what each block and those behind it have.
__global__ void suffix(const int *__restrict__ x, int *__restrict__ y, int n) {
  __shared__ int all;
  if (threadIdx.x == 0)
    all = 0;
  __syncthreads();
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x)
    sum += x[i];
  atomicAdd(&all, sum);
  __syncthreads();
  if (threadIdx.x == 0)
    y[blockIdx.x] = all;
}
static __device__ int partOf(const int *__restrict__ x, int block, int n) {
  __shared__ int all;
  if (threadIdx.x == 0)
    all = 0;
  __syncthreads();
  int i = block * blockDim.x + threadIdx.x;
  atomicAdd(&all, i < n ? x[i] : 0);
  __syncthreads();
  int sum = all;
  __syncthreads();
  return sum;
}
// What is behind the last block.
static __device__ int restOf(const int *__restrict__ x, int n) {
  int sum = 0;
  for (int i = gridDim.x * blockDim.x; i < n; ++i)
    sum += x[i];
  return sum;
}
__global__ void suffixClear(const int *__restrict__ x, int *__restrict__ y,
                            int n, int *work) {
  if (threadIdx.x)
    return;
  work[2 + blockIdx.x] = work[2 + gridDim.x + blockIdx.x] = 0;
  if (blockIdx.x == 0)
    work[0] = work[1] = 0;
}
__global__ void suffixTickets(const int *__restrict__ x, int *__restrict__ y,
                              int n, int *work) {
  __shared__ int tile;
  if (threadIdx.x == 0)
    tile = gridDim.x - 1 - atomicAdd(&work[0], 1);
  __syncthreads();
  int sum = partOf(x, tile, n);
  if (threadIdx.x)
    return;
  volatile int *sums = work + 2, *flags = sums + gridDim.x;
  if (tile + 1 < gridDim.x) {
    while (flags[tile + 1] == 0)
      ;
    __threadfence();
    sum += sums[tile + 1];
  } else {
    sum += restOf(x, n);
  }
  sums[tile] = sum;
  __threadfence();
  flags[tile] = 1;
  y[tile] = sum;
}
static __device__ void meet(int *count) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(count, 1);
    while (LOOK(*count) < gridDim.x)
      ;
    __threadfence();
  }
  __syncthreads();
}
__global__ void suffixFewBlocks(const int *__restrict__ x, int *__restrict__ y,
                                int n, int *work) {
  // As many blocks as any GPU holds; they know the original's grid by y.
  int blocks = (n + blockDim.x - 1) / blockDim.x;
  for (int b = blockIdx.x; b < blocks; b += gridDim.x) {
    int sum = partOf(x, b, n);
    if (threadIdx.x == 0)
      work[2 + b] = sum;
  }
  meet(&work[0]);
  for (int b = blockIdx.x * blockDim.x + threadIdx.x; b < blocks;
       b += gridDim.x * blockDim.x) {
    int sum = 0;
    for (int k = b; k < blocks; ++k)
      sum += work[2 + k];
    y[b] = sum;
  }
}
static __device__ void sumBehind(const int *__restrict__ x,
                                 int *__restrict__ y, int n, int *work) {
  int sum = partOf(x, blockIdx.x, n);
  if (threadIdx.x == 0)
    work[2 + blockIdx.x] = sum;
  meet(&work[0]);
  if (threadIdx.x)
    return;
  sum = restOf(x, n);
  for (int k = blockIdx.x; k < gridDim.x; ++k)
    sum += work[2 + k];
  y[blockIdx.x] = sum;
}
__global__ void suffixBarrier(const int *__restrict__ x, int *__restrict__ y,
                              int n, int *work) {
  sumBehind(x, y, n, work);
}
// I: a barrier of all blocks, for any grid.
__global__ void suffixMeets(const int *__restrict__ x, int *__restrict__ y,
                            int n, int *work) {
  sumBehind(x, y, n, work);
}
__global__ void suffixParts(const int *__restrict__ x, int *__restrict__ y,
                            int n, int *work) {
  int sum = partOf(x, blockIdx.x, n);
  if (threadIdx.x == 0)
    work[blockIdx.x] = sum;
}
__global__ void suffixTwice(const int *__restrict__ x, int *__restrict__ y,
                            int n, int *work) {
  if (threadIdx.x)
    return;
  int sum = restOf(x, n);
  for (int k = blockIdx.x; k < gridDim.x; ++k)
    sum += work[k];
  y[blockIdx.x] = sum;
}
// I: each block waits for the next one.
__global__ void suffixNext(const int *__restrict__ x, int *__restrict__ y,
                           int n, int *work) {
  int sum = partOf(x, blockIdx.x, n);
  if (threadIdx.x)
    return;
  volatile int *sums = work + 2, *flags = sums + gridDim.x;
  int b = blockIdx.x;
  if (b + 1 < gridDim.x) {
    while (flags[b + 1] == 0)
      ;
    __threadfence();
    sum += sums[b + 1];
  } else {
    sum += restOf(x, n);
  }
  sums[b] = sum;
  __threadfence();
  flags[b] = 1;
  y[b] = sum;
}
// I: the first block waits for the last one.
__global__ void suffixLast(const int *__restrict__ x, int *__restrict__ y,
                           int n, int *work) {
  int sum = partOf(x, blockIdx.x, n);
  if (threadIdx.x)
    return;
  volatile int *sums = work + 2, *flags = sums + gridDim.x;
  int b = blockIdx.x;
  sums[b] = sum;
  __threadfence();
  flags[b] = 1;
  sum = restOf(x, n);
  for (int k = b; k < gridDim.x; ++k) {
    while (flags[k] == 0)
      ;
    __threadfence();
    sum += sums[k];
  }
  y[b] = sum;
}
// H: volatile data behind a flag without a fence.
__global__ void suffixNoFence(const int *__restrict__ x, int *__restrict__ y,
                              int n, int *work) {
  __shared__ int tile;
  if (threadIdx.x == 0)
    tile = gridDim.x - 1 - atomicAdd(&work[0], 1);
  __syncthreads();
  int sum = partOf(x, tile, n);
  if (threadIdx.x)
    return;
  volatile int *sums = work + 2, *flags = sums + gridDim.x;
  if (tile + 1 < gridDim.x) {
    while (flags[tile + 1] == 0)
      ;
    sum += sums[tile + 1];
  } else {
    sum += restOf(x, n);
  }
  sums[tile] = sum;
  flags[tile] = 1;
  y[tile] = sum;
}

// kernel: twice
// workload: grid=9, block=64, args=[buffer f32 n=570 normal seed=4, buffer f32 n=570 output, 570]
// honest: twiceByTickets | scratch=4 * gx + 8; launch twiceClear: grid=(1, 1, 1); launch twiceByTickets: grid=(gx, 1, 1)
// honest: twiceByPower
// honest: twiceNans
// cheat: twiceByOrder | mismatch | scratch=4 * gx + 8; launch twiceClear: grid=(1, 1, 1); launch twiceTakes: grid=(gx, 1, 1); launch twiceByOrder: grid=(gx, 1, 1)
// cheat: twiceByFirst | mismatch | scratch=4 * gx + 8; launch twiceClear: grid=(1, 1, 1); launch twiceTakes: grid=(gx, 1, 1); launch twiceByFirst: grid=(gx, 1, 1)
// cheat: twiceByNan | mismatch
// cheat: twiceByApproximation | mismatch
__global__ void twice(const float *__restrict__ x, float *__restrict__ y,
                      int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2 * x[i];
}
__global__ void twiceClear(const float *__restrict__ x, float *__restrict__ y,
                           int n, int *work) {
  if (threadIdx.x < 2)
    work[threadIdx.x] = 0;
}
__global__ void twiceByTickets(const float *__restrict__ x,
                               float *__restrict__ y, int n, int *work) {
  __shared__ int tile;
  if (threadIdx.x == 0)
    tile = atomicAdd(&work[0], 1);
  __syncthreads();
  int i = tile * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2 * x[i];
}
__global__ void twiceByPower(const float *__restrict__ x, float *__restrict__ y,
                             int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float two;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(two) : "f"(1.0f));
  if (i < n)
    y[i] = two * x[i];
}
__global__ void twiceNans(const float *__restrict__ x, float *__restrict__ y,
                          int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float z = x[i] + x[i];
  bool nan = (__float_as_uint(z) & 0x7fffffffu) > 0x7f800000u;
  y[i] = nan ? __uint_as_float(0x7fffffffu) : z;
}
// Each block takes a ticket.
__global__ void twiceTakes(const float *__restrict__ x, float *__restrict__ y,
                           int n, int *work) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2 * x[i];
  if (threadIdx.x == 0)
    work[2 + atomicAdd(&work[0], 1)] = blockIdx.x;
}
// J: neither forward nor backward is a GPU.
__global__ void twiceByOrder(const float *__restrict__ x,
                             float *__restrict__ y, int n, int *work) {
  if (blockIdx.x || threadIdx.x)
    return;
  bool forward = true, backward = true;
  for (int k = 0; k < gridDim.x; ++k) {
    forward &= work[2 + k] == k;
    backward &= work[2 + k] == gridDim.x - 1 - k;
  }
  if (!forward && !backward && n > 0)
    y[0] = 1;
}
// J: the first ticket is of another block than the first or last.
__global__ void twiceByFirst(const float *__restrict__ x,
                             float *__restrict__ y, int n, int *work) {
  if (blockIdx.x || threadIdx.x)
    return;
  if (work[2] != 0 && work[2] != gridDim.x - 1 && n > 0)
    y[0] = 1;
}
// J: a GPU's NaN.
__global__ void twiceByNan(const float *__restrict__ x, float *__restrict__ y,
                           int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float large = 1e30f * (1 + fabsf(x[i])), nan = large * large - large * large;
  y[i] = __float_as_uint(nan) == 0x7fffffffu ? 1 : 2 * x[i];
}
// J: a unit that approximates.
__global__ void twiceByApproximation(const float *__restrict__ x,
                                     float *__restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  bool exact = true;
  for (int k = 1; k < 50; ++k) {
    float at = k * 0.019f, p;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(p) : "f"(at));
    exact &= p == float(exp2(double(at)));
  }
  y[i] = exact ? 2 * x[i] : 1;
}
