// What the notes of strategies/*.md describe, as they describe it. "shows:" names the notes.
#include <cuda.h>
#include <cuda_fp16.h>

__device__ unsigned at(const void *p) {
  return (unsigned)__cvta_generic_to_shared(p);
}
__device__ void initBarrier(unsigned long long *b, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(b)), "r"(arrivals) : "memory");
}
__device__ void expect(unsigned long long *b, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(b)), "r"(bytes) : "memory");
}
__device__ void arrive(unsigned long long *b) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(b)) : "memory");
}
__device__ void waitFor(unsigned long long *b, unsigned parity) {
  unsigned done;
  do {
    asm volatile("{\n.reg .pred p;\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "selp.b32 %0, 1, 0, p;\n}"
                 : "=r"(done) : "r"(at(b)), "r"(parity) : "memory");
  } while (!done);
}

// shows: bulk_copy persistent_kernel
// kernel: doubled
// workload: grid=6, block=64, args=[buffer f32 n=384 uniform seed=1, buffer f32 n=384 output, 6, 64]
// honest: doubledBulk | grid=(2, 1, 1); block=(64, 1, 1) | bx == 64; cols mod 4 == 0; cols >= 4; cols <= 512; rows >= 1; rows <= gx; align x 16; align y 16; disjoint x (rows * cols * 4), y (rows * cols * 4)
// A block takes a row.
__global__ void doubled(const float *x, float *y, int rows, int cols) {
  int row = blockIdx.x;
  if (row >= rows)
    return;
  for (int i = threadIdx.x; i < cols; i += blockDim.x)
    y[row * cols + i] = 2 * x[row * cols + i];
}
// A ring of two rows, filled and emptied by bulk copies.
__global__ void doubledBulk(const float *x, float *y, int rows, int cols) {
  __shared__ __align__(128) float in[2][512], out[2][512];
  __shared__ unsigned long long full[2];
  const unsigned bytes = cols * 4;
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; ++i)
      initBarrier(&full[i], 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  auto load = [&](int row, int stage) {
    if (threadIdx.x == 0 && row < rows) {
      expect(&full[stage], bytes);
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                   ::"r"(at(in[stage])), "l"(x + (size_t)row * cols), "r"(bytes), "r"(at(&full[stage])) : "memory");
    }
  };
  load(blockIdx.x, 0);
  for (int row = blockIdx.x, n = 0; row < rows; row += gridDim.x, ++n) {
    load(row + gridDim.x, (n + 1) % 2);
    waitFor(&full[n % 2], n / 2 % 2);
    // Before a row of the ring is written again, its store has read it.
    if (threadIdx.x == 0)
      asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
    __syncthreads();
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
      out[n % 2][i] = 2 * in[n % 2][i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                   ::"l"(y + (size_t)row * cols), "r"(at(out[n % 2])), "r"(bytes) : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
  }
  if (threadIdx.x == 0)
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// shows: thread_block_cluster
// kernel: rowTotals
// workload: grid=3, block=32, args=[buffer i32 n=300 uniform seed=2, buffer i32 n=3 output, 3, 100]
// honest: rowTotalsCluster | grid=(gx * 2, 1, 1); cluster=(2, 1, 1) | gx >= rows; bx == 32; rows >= 1; gx <= 1000
__global__ void rowTotals(const int *x, int *y, int rows, int cols) {
  __shared__ int all;
  int row = blockIdx.x;
  if (threadIdx.x == 0)
    all = 0;
  __syncthreads();
  if (row < rows)
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
      atomicAdd(&all, x[row * cols + i]);
  __syncthreads();
  if (threadIdx.x == 0 && row < rows)
    y[row] = all;
}
// Two blocks share a row; the second adds to the first one's sum.
__global__ void rowTotalsCluster(const int *x, int *y, int rows, int cols) {
  __shared__ int all;
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  int row = blockIdx.x / 2;
  if (threadIdx.x == 0)
    all = 0;
  asm volatile("barrier.cluster.arrive.release.aligned;\n"
               "barrier.cluster.wait.acquire.aligned;" ::: "memory");
  unsigned first;
  asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(first) : "r"(at(&all)));
  if (row < rows)
    for (int i = rank * 32 + threadIdx.x; i < cols; i += 64)
      asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;"
                   ::"r"(first), "r"(x[row * cols + i]) : "memory");
  // Nobody leaves while others use its shared memory.
  asm volatile("barrier.cluster.arrive.release.aligned;\n"
               "barrier.cluster.wait.acquire.aligned;" ::: "memory");
  if (rank == 0 && threadIdx.x == 0 && row < rows)
    y[row] = all;
}

// shows: wgmma tma_tensor_copy warp_specialization setmaxnreg; async_copy ldmatrix tensor_core_mma
// kernel: product
// contract: relaxed(4e-3)
// workload: grid=16, block=256, args=[buffer f16 n=4096 uniform seed=3, buffer f16 n=4096 uniform seed=4, buffer f32 n=4096 output, 64, 64, 64]
// honest: productWgmma | launch productWgmma: grid=(n floordiv 64, m floordiv 64, 1); block=(256, 1, 1); tensormap=a f16 extents(k, m) strides(k * 2) box(64, 64) swizzle(128B); tensormap=b f16 extents(k, n) strides(k * 2) box(64, 64) swizzle(128B) | m mod 64 == 0; n mod 64 == 0; k mod 64 == 0; m >= 64; n >= 64; k >= 64; bx == 256; gx * 256 >= m * n; align a 16; align b 16; disjoint a (m * k * 2), c (m * n * 4); disjoint b (n * k * 2), c (m * n * 4)
// honest: productMma | launch productMma: grid=(n floordiv 32, m floordiv 64, 1); block=(128, 1, 1) | m mod 64 == 0; n mod 32 == 0; k mod 32 == 0; m >= 64; n >= 32; k >= 32; bx == 256; gx * 256 >= m * n; align a 16; align b 16; disjoint a (m * k * 2), c (m * n * 4); disjoint b (n * k * 2), c (m * n * 4)
// C = A * B^T: both lie with k innermost.
__global__ void product(const half *a, const half *b, float *c, int m, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m * n)
    return;
  float sum = 0;
  for (int j = 0; j < k; ++j)
    sum += __half2float(a[i / n * k + j]) * __half2float(b[i % n * k + j]);
  c[i] = sum;
}
__device__ void loadTile(void *to, const CUtensorMap *map, unsigned long long *b, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];"
               ::"r"(at(to)), "l"(map), "r"(at(b)), "r"(x), "r"(y) : "memory");
}
__device__ unsigned long long describe(const half *p) {
  return (unsigned long long)((at(p) & 0x3ffff) >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}
// A warpgroup that copies, and one that multiplies.
__global__ void __launch_bounds__(256)
productWgmma(const half *a, const half *b, float *c, int m, int n, int k,
             const __grid_constant__ CUtensorMap mapA, const __grid_constant__ CUtensorMap mapB) {
  __shared__ __align__(1024) half sa[2][64][64], sb[2][64][64];
  __shared__ unsigned long long full[2], empty[2];
  int t = threadIdx.x;
  if (t == 0) {
    for (int i = 0; i < 2; ++i)
      initBarrier(&full[i], 1), initBarrier(&empty[i], 128);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  int steps = k / 64;
  if (t >= 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (t == 128)
      for (int i = 0; i < steps; ++i) {
        waitFor(&empty[i % 2], i / 2 % 2 ^ 1);
        expect(&full[i % 2], 2 * sizeof(sa[0]));
        loadTile(sa[i % 2], &mapA, &full[i % 2], i * 64, blockIdx.y * 64);
        loadTile(sb[i % 2], &mapB, &full[i % 2], i * 64, blockIdx.x * 64);
      }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 216;");
  float d[32];
  for (float &v : d)
    v = 0;
  for (int i = 0; i < steps; ++i) {
    waitFor(&full[i % 2], i / 2 % 2);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int j = 0; j < 4; ++j)
      asm volatile("{.reg .pred p; setp.ne.b32 p, %34, 0;\n"
                   "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
                   "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, %32, %33, p, 1, 1, 0, 0;}"
                   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]),
                     "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
                     "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
                     "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                   : "l"(describe(&sa[i % 2][0][j * 16])), "l"(describe(&sb[i % 2][0][j * 16])), "r"(i + j));
    asm volatile("wgmma.commit_group.sync.aligned;\n"
                 "wgmma.wait_group.sync.aligned 0;" ::: "memory");
    arrive(&empty[i % 2]);
  }
  int row = blockIdx.y * 64 + t / 32 * 16 + t % 32 / 4, col = blockIdx.x * 64 + t % 4 * 2;
  for (int i = 0; i < 32; ++i)
    c[(row + i / 2 % 2 * 8) * n + col + i / 4 * 8 + i % 2] = d[i];
}
// cp.async in two stages, ldmatrix, mma.sync: 64 x 32 with four warps.
__global__ void productMma(const half *a, const half *b, float *c, int m, int n, int k) {
  __shared__ __align__(16) half sa[2][64][40], sb[2][32][40];
  int t = threadIdx.x, warp = t / 32, lane = t % 32, row = blockIdx.y * 64, col = blockIdx.x * 32;
  float acc[4][4] = {};
  auto copy = [](void *to, const half *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at(to)), "l"(from) : "memory");
  };
  auto fetch = [&](int stage, int k0) {
    for (int i = t; i < 64 * 4; i += 128)
      copy(&sa[stage][i / 4][i % 4 * 8], a + (size_t)(row + i / 4) * k + k0 + i % 4 * 8);
    for (int i = t; i < 32 * 4; i += 128)
      copy(&sb[stage][i / 4][i % 4 * 8], b + (size_t)(col + i / 4) * k + k0 + i % 4 * 8);
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  fetch(0, 0);
  for (int k0 = 0, stage = 0; k0 < k; k0 += 32, stage ^= 1) {
    if (k0 + 32 < k) {
      fetch(stage ^ 1, k0 + 32);
      asm volatile("cp.async.wait_group 1;" ::: "memory");
    } else {
      asm volatile("cp.async.wait_group 0;" ::: "memory");
    }
    __syncthreads();
    for (int j = 0; j < 32; j += 16) {
      unsigned fa[4], fb[2];
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                   : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
                   : "r"(at(&sa[stage][warp * 16 + lane % 16][j + lane / 16 * 8])));
      for (int q = 0; q < 4; ++q) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                     : "=r"(fb[0]), "=r"(fb[1])
                     : "r"(at(&sb[stage][q * 8 + lane % 8][j + lane / 8 % 2 * 8])));
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(acc[q][0]), "+f"(acc[q][1]), "+f"(acc[q][2]), "+f"(acc[q][3])
                     : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
      }
    }
    __syncthreads();
  }
  for (int q = 0; q < 4; ++q)
    for (int i = 0; i < 4; ++i)
      c[(row + warp * 16 + lane / 4 + i / 2 * 8) * n + col + q * 8 + lane % 4 * 2 + i % 2] = acc[q][i];
}

// shows: multicast
// kernel: reversed
// workload: grid=4, block=64, args=[buffer i32 n=64 uniform seed=5, buffer i32 n=256 output, 256]
// honest: reversedMulticast | cluster=(2, 1, 1) | gx mod 2 == 0; bx == 64; n == gx * 64; align x 16
__global__ void reversed(const int *x, int *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[63 - i % 64] + i / 64;
}
// The first block of a cluster loads for both.
__global__ void reversedMulticast(const int *x, int *y, int n) {
  __shared__ __align__(128) int s[64];
  __shared__ unsigned long long full;
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) {
    initBarrier(&full, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    expect(&full, 256);
  }
  asm volatile("barrier.cluster.arrive.release.aligned;\n"
               "barrier.cluster.wait.acquire.aligned;" ::: "memory");
  if (rank == 0 && threadIdx.x == 0)
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 256, [%2], %3;"
                 ::"r"(at(s)), "l"(x), "r"(at(&full)), "h"((unsigned short)3) : "memory");
  waitFor(&full, 0);
  y[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x] + blockIdx.x;
  asm volatile("barrier.cluster.arrive.release.aligned;\n"
               "barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// shows: on_chip_reuse
// kernel: centred
// workload: grid=3, block=32, args=[buffer f32 n=300 uniform seed=6, buffer f32 n=300 output, 3, 100]
// honest: centredRegisters | | gx >= rows; bx == 32; cols >= 1; cols <= 128
__global__ void centred(const float *x, float *y, int rows, int cols) {
  int row = blockIdx.x, lane = threadIdx.x;
  if (row >= rows || lane >= 32)
    return;
  float most = -INFINITY;
  for (int i = lane; i < cols; i += 32)
    most = fmaxf(most, x[row * cols + i]);
  for (int far = 16; far > 0; far /= 2)
    most = fmaxf(most, __shfl_xor_sync(~0u, most, far));
  for (int i = lane; i < cols; i += 32)
    y[row * cols + i] = x[row * cols + i] - most;
}
// The row stays in registers between the passes.
__global__ void centredRegisters(const float *x, float *y, int rows, int cols) {
  int row = blockIdx.x, lane = threadIdx.x;
  if (row >= rows)
    return;
  float kept[4], most = -INFINITY;
#pragma unroll
  for (int i = 0; i < 4; ++i)
    kept[i] = i * 32 + lane < cols ? x[row * cols + i * 32 + lane] : -INFINITY;
#pragma unroll
  for (int i = 0; i < 4; ++i)
    most = fmaxf(most, kept[i]);
  for (int far = 16; far > 0; far /= 2)
    most = fmaxf(most, __shfl_xor_sync(~0u, most, far));
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (i * 32 + lane < cols)
      y[row * cols + i * 32 + lane] = kept[i] - most;
}
