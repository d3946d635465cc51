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

// What the blocks of suffix and twice tell each other. The originals leave the
// same there.
__device__ int sumsOf[1024], flagsOf[1024], blocksSeen;

// kernel: suffix
// workload: grid=7, block=64, args=[buffer i32 n=448 uniform low=-9 high=9 seed=3, buffer i32 n=7 output, 448]
// honest: suffixTickets
// honest: suffixFewBlocks | grid=(4, 1, 1) | gx == n ceildiv 64; bx == 64
// honest: suffixBarrier | | gx <= 132; gy == 1; gz == 1
// cheat: suffixNext | barrier
// cheat: suffixMeets | barrier
// cheat: suffixLast | barrier
// cheat: suffixNoFence | race
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
  if (threadIdx.x)
    return;
  y[blockIdx.x] = sumsOf[blockIdx.x] = all;
  flagsOf[blockIdx.x] = 1;
  atomicAdd(&blocksSeen, 1);
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
static __device__ int restOf(const int *__restrict__ x, int first, int n) {
  int sum = 0;
  for (int i = first; i < n; ++i)
    sum += x[i];
  return sum;
}
static __device__ void sumFrom(const int *__restrict__ x, int *__restrict__ y,
                               int n, int tile) {
  int sum = partOf(x, tile, n);
  if (threadIdx.x)
    return;
  if (tile + 1 < gridDim.x) {
    while (LOOK(flagsOf[tile + 1]) == 0)
      ;
    __threadfence();
    sum += LOOK(sumsOf[tile + 1]);
  } else {
    sum += restOf(x, gridDim.x * blockDim.x, n);
  }
  LOOK(sumsOf[tile]) = sum;
  __threadfence();
  LOOK(flagsOf[tile]) = 1;
  y[tile] = sum;
}
__global__ void suffixTickets(const int *__restrict__ x, int *__restrict__ y,
                              int n) {
  __shared__ int tile;
  if (threadIdx.x == 0)
    tile = gridDim.x - 1 - atomicAdd(&blocksSeen, 1);
  __syncthreads();
  sumFrom(x, y, n, tile);
}
static __device__ void meet(int more, int all) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(&blocksSeen, more);
    while (LOOK(blocksSeen) < all)
      ;
    __threadfence();
  }
  __syncthreads();
}
// As many blocks as any GPU holds.
__global__ void suffixFewBlocks(const int *__restrict__ x, int *__restrict__ y,
                                int n) {
  int blocks = (n + 63) / 64, mine = 0;
  for (int b = blockIdx.x; b < blocks; b += gridDim.x) {
    int sum = partOf(x, b, n);
    if (threadIdx.x == 0)
      flagsOf[b] = sum;
    ++mine;
  }
  meet(mine, blocks);
  for (int b = blockIdx.x * blockDim.x + threadIdx.x; b < blocks;
       b += gridDim.x * blockDim.x) {
    int sum = 0;
    for (int k = b; k < blocks; ++k)
      sum += flagsOf[k];
    y[b] = sumsOf[b] = sum;
  }
  // Once nobody needs them any more.
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(&blocksSeen, gridDim.x);
    while (LOOK(blocksSeen) < blocks + gridDim.x * gridDim.x)
      ;
    __threadfence();
    for (int b = blockIdx.x; b < blocks; b += gridDim.x)
      flagsOf[b] = 1;
    // Who comes last leaves the number of blocks.
    __threadfence();
    if (atomicAdd(&blocksSeen, 1) ==
        blocks + gridDim.x * gridDim.x + gridDim.x - 1)
      atomicExch(&blocksSeen, blocks);
  }
}
static __device__ void sumBehind(const int *__restrict__ x,
                                 int *__restrict__ y, int n) {
  int part = partOf(x, blockIdx.x, n), sum = part;
  if (threadIdx.x == 0)
    flagsOf[blockIdx.x] = part;
  meet(1, gridDim.x);
  if (threadIdx.x)
    return;
  sum = restOf(x, gridDim.x * blockDim.x, n);
  for (int k = blockIdx.x; k < gridDim.x; ++k)
    sum += flagsOf[k];
  y[blockIdx.x] = sumsOf[blockIdx.x] = sum;
  __threadfence();
  atomicAdd(&blocksSeen, gridDim.x);
  while (LOOK(blocksSeen) < gridDim.x + gridDim.x * gridDim.x)
    ;
  __threadfence();
  flagsOf[blockIdx.x] = 1;
  if (atomicAdd(&blocksSeen, 1) == gridDim.x + gridDim.x * gridDim.x +
                                       gridDim.x - 1)
    atomicExch(&blocksSeen, gridDim.x);
}
__global__ void suffixBarrier(const int *__restrict__ x, int *__restrict__ y,
                              int n) {
  sumBehind(x, y, n);
}
// I: a barrier of all blocks, for any grid.
__global__ void suffixMeets(const int *__restrict__ x, int *__restrict__ y,
                            int n) {
  sumBehind(x, y, n);
}
// I: each block waits for the next one.
__global__ void suffixNext(const int *__restrict__ x, int *__restrict__ y,
                           int n) {
  sumFrom(x, y, n, blockIdx.x);
  if (threadIdx.x == 0)
    atomicAdd(&blocksSeen, 1);
}
// I: the first block waits for all others.
__global__ void suffixLast(const int *__restrict__ x, int *__restrict__ y,
                           int n) {
  __shared__ int all;
  int b = blockIdx.x, sum = 0;
  if (threadIdx.x == 0)
    all = 0;
  __syncthreads();
  for (int i = b * blockDim.x + threadIdx.x; i < n; i += blockDim.x)
    sum += x[i];
  atomicAdd(&all, sum);
  __syncthreads();
  if (threadIdx.x)
    return;
  LOOK(sumsOf[b]) = all;
  __threadfence();
  LOOK(flagsOf[b]) = 1;
  atomicAdd(&blocksSeen, 1);
  if (b == 0)
    while (LOOK(blocksSeen) < gridDim.x)
      ;
  y[b] = all;
}
// H: volatile data behind a flag without a fence.
__global__ void suffixNoFence(const int *__restrict__ x, int *__restrict__ y,
                              int n) {
  __shared__ int tile;
  if (threadIdx.x == 0)
    tile = gridDim.x - 1 - atomicAdd(&blocksSeen, 1);
  __syncthreads();
  int sum = partOf(x, tile, n);
  if (threadIdx.x)
    return;
  if (tile + 1 < gridDim.x) {
    while (LOOK(flagsOf[tile + 1]) == 0)
      ;
    sum += LOOK(sumsOf[tile + 1]);
  } else {
    sum += restOf(x, gridDim.x * blockDim.x, n);
  }
  LOOK(sumsOf[tile]) = sum;
  LOOK(flagsOf[tile]) = 1;
  y[tile] = sum;
}

// kernel: twice
// workload: grid=9, block=64, args=[buffer f32 n=570 normal seed=4, buffer f32 n=570 output, 570]
// honest: twiceByTickets
// honest: twiceNans
// cheat: twiceByOrder | mismatch
// cheat: twiceByFirst | mismatch
// cheat: twiceTogether | mismatch
// cheat: twiceByNan | mismatch
__global__ void twice(const float *__restrict__ x, float *__restrict__ y,
                      int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2 * x[i];
  if (threadIdx.x == 0)
    atomicAdd(&blocksSeen, 1);
}
__global__ void twiceByTickets(const float *__restrict__ x,
                               float *__restrict__ y, int n) {
  __shared__ int tile;
  if (threadIdx.x == 0)
    tile = atomicAdd(&blocksSeen, 1);
  __syncthreads();
  int i = tile * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2 * x[i];
}
__global__ void twiceNans(const float *__restrict__ x, float *__restrict__ y,
                          int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0)
    atomicAdd(&blocksSeen, 1);
  if (i >= n)
    return;
  float z = x[i] + x[i];
  bool nan = (__float_as_uint(z) & 0x7fffffffu) > 0x7f800000u;
  y[i] = nan ? __uint_as_float(0x7fffffffu) : z;
}
// J: neither forward nor backward is a GPU.
__global__ void twiceByOrder(const float *__restrict__ x,
                             float *__restrict__ y, int n) {
  __shared__ int ticket;
  if (threadIdx.x == 0)
    ticket = atomicAdd(&blocksSeen, 1);
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool known = ticket == blockIdx.x || ticket == gridDim.x - 1 - blockIdx.x;
  if (i < n)
    y[i] = known ? 2 * x[i] : 1;
}
// J: the first ticket is of another block than the first or last.
__global__ void twiceByFirst(const float *__restrict__ x,
                             float *__restrict__ y, int n) {
  __shared__ int ticket;
  if (threadIdx.x == 0)
    ticket = atomicAdd(&blocksSeen, 1);
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool known = ticket || blockIdx.x == 0 || blockIdx.x == gridDim.x - 1;
  if (i < n)
    y[i] = known ? 2 * x[i] : 1;
}
// J: another warp comes between two atomics of this one.
__global__ void twiceTogether(const float *__restrict__ x,
                              float *__restrict__ y, int n) {
  __shared__ int arrivals, alone;
  if (threadIdx.x == 0) {
    arrivals = 0;
    alone = 1;
    atomicAdd(&blocksSeen, 1);
  }
  __syncthreads();
  int before = atomicAdd(&arrivals, 1);
  if (atomicAdd(&arrivals, 1) != before + 1)
    atomicAnd(&alone, 0);
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = alone ? 2 * x[i] : 1;
}
// J: a GPU's NaN.
__global__ void twiceByNan(const float *__restrict__ x, float *__restrict__ y,
                           int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0)
    atomicAdd(&blocksSeen, 1);
  if (i >= n)
    return;
  float large = 1e30f * (1 + fabsf(x[i])), nan = large * large - large * large;
  y[i] = __float_as_uint(nan) == 0x7fffffffu ? 1 : 2 * x[i];
}

// kernel: power
// workload: grid=3, block=64, args=[buffer f32 n=180 uniform low=-4 high=4 seed=5, buffer f32 n=180 output, 180]
// honest: powerTwice
// cheat: powerByExactness | mismatch
__global__ void power(const float *__restrict__ x, float *__restrict__ y,
                      int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float p;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(p) : "f"(x[i]));
  y[i] = p;
}
__global__ void powerTwice(const float *__restrict__ x, float *__restrict__ y,
                           int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float p, one;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(p) : "f"(x[i]));
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(one) : "f"(1.0f));
  y[i] = p * (one - 1);
}
// J: a unit that approximates.
__global__ void powerByExactness(const float *__restrict__ x,
                                 float *__restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float p;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(p) : "f"(x[i]));
  bool exact = true;
  for (int k = 1; k < 50; ++k) {
    float at = k * 0.019f, q;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(q) : "f"(at));
    exact &= q == float(exp2(double(at)));
  }
  y[i] = exact ? p : 1;
}
