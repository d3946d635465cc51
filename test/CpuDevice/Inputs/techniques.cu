// One realistic kernel for each technique.
#if defined(__clang__)
#define _CG_CLUSTER_INTRINSICS_AVAILABLE // By clang too.
#endif
#include <cooperative_groups.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <vector>
namespace cg = cooperative_groups;
using namespace nvcuda;
typedef uint32_t u32;
typedef uint64_t u64;
__device__ u32 shared32(const void *p) { return (u32)__cvta_generic_to_shared(p); }

// A matrix product on wmma: each warp computes 16 x 16 of a 64 x 64 tile.
__global__ void wmmaGemm(float *c, const half *a, const half *b, int n, int k) {
  __shared__ __align__(32) half sa[64][32 + 16], sb[32][64 + 16];
  int warp = threadIdx.x / 32, row = blockIdx.y * 64, col = blockIdx.x * 64;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
  wmma::fill_fragment(acc, 0.0f);
  for (int k0 = 0; k0 < k; k0 += 32) {
    for (int i = threadIdx.x; i < 64 * 32; i += blockDim.x) {
      sa[i / 32][i % 32] = a[(row + i / 32) * k + k0 + i % 32];
      sb[i / 64][i % 64] = b[(k0 + i / 64) * n + col + i % 64];
    }
    __syncthreads();
    for (int kk = 0; kk < 32; kk += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
      wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
      wmma::load_matrix_sync(fa, &sa[warp / 4 * 16][kk], 48);
      wmma::load_matrix_sync(fb, &sb[kk][warp % 4 * 16], 80);
      wmma::mma_sync(acc, fa, fb, acc);
    }
    __syncthreads();
  }
  wmma::store_matrix_sync(c + (row + warp / 4 * 16) * n + col + warp % 4 * 16, acc, n, wmma::mem_row_major);
}

// cp.async in two stages, ldmatrix, mma.sync: 64 x 32 with four warps.
__global__ void asyncGemm(float *c, const half *a, const half *b, int n, int k) {
  __shared__ __align__(16) half sa[2][64][40], sb[2][32][40];
  int t = threadIdx.x, warp = t / 32, lane = t % 32, row = blockIdx.y * 64, col = blockIdx.x * 32;
  float acc[4][4] = {};
  auto fetch = [&](int stage, int k0) {
    for (int i = t; i < 64 * 4; i += 128)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared32(&sa[stage][i / 4][i % 4 * 8])),
                   "l"(a + (row + i / 4) * k + k0 + i % 4 * 8) : "memory");
    for (int i = t; i < 32 * 4; i += 128)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared32(&sb[stage][i / 4][i % 4 * 8])),
                   "l"(b + (k0 + i / 4) * n + col + i % 4 * 8) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  fetch(0, 0);
  for (int k0 = 0, stage = 0; k0 < k; k0 += 32, stage ^= 1) {
    if (k0 + 32 < k) {
      fetch(stage ^ 1, k0 + 32);
#ifndef MISSING_WAIT
      asm volatile("cp.async.wait_group 1;" ::: "memory");
#endif
    } else {
      asm volatile("cp.async.wait_group 0;" ::: "memory");
    }
    __syncthreads();
    for (int kk = 0; kk < 32; kk += 16) {
      u32 fa[4];
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                   : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
                   : "r"(shared32(&sa[stage][warp * 16 + lane % 16][kk + lane / 16 * 8])));
      for (int j = 0; j < 4; ++j) {
        u32 fb[2];
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                     : "=r"(fb[0]), "=r"(fb[1]) : "r"(shared32(&sb[stage][kk + lane % 16][j * 8])));
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(acc[j][0]), "+f"(acc[j][1]), "+f"(acc[j][2]), "+f"(acc[j][3])
                     : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
      }
    }
    __syncthreads();
  }
  for (int j = 0; j < 4; ++j)
    for (int i = 0; i < 4; ++i)
      c[(row + warp * 16 + lane / 4 + i / 2 * 8) * n + col + j * 8 + lane % 4 * 2 + i % 2] = acc[j][i];
}

__device__ void initBarrier(u64 *b, u32 count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared32(b)), "r"(count) : "memory");
}
__device__ void expect(u64 *b, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared32(b)), "r"(bytes) : "memory");
}
__device__ void arrive(u64 *b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared32(b)) : "memory"); }
__device__ void waitFor(u64 *b, u32 parity) {
  asm volatile("{\n.reg .pred P1;\nLAB_WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n@P1 bra DONE;\n"
               "bra LAB_WAIT;\nDONE:\n}" ::"r"(shared32(b)), "r"(parity) : "memory");
}
__device__ void loadTile(void *to, const CUtensorMap *map, u64 *b, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(
                   shared32(to)), "l"(map), "r"(shared32(b)), "r"(x), "r"(y) : "memory");
}

// Tiles through shared memory by the copy engine: one warp loads, the others
// change them, one thread stores.
__global__ void tmaCopy(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to, int tiles) {
  __shared__ __align__(128) float s[2][16][32];
  __shared__ u64 full[2], empty[2];
  int t = threadIdx.x;
  if (t == 0) {
    for (int i = 0; i < 2; ++i) initBarrier(&full[i], 1), initBarrier(&empty[i], 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (t < 32) {
    if (t == 0)
      for (int i = 0; i < tiles; ++i) {
        waitFor(&empty[i % 2], i / 2 % 2 ^ 1);
        expect(&full[i % 2], sizeof(s[0]));
        loadTile(s[i % 2], &from, &full[i % 2], blockIdx.x * 32, i * 16);
      }
  } else {
    for (int i = 0; i < tiles; ++i) {
      waitFor(&full[i % 2], i / 2 % 2);
      for (int k = t - 32; k < 512; k += 128) s[i % 2][k / 32][k % 32] *= 2;
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      asm volatile("bar.sync 1, 128;" ::: "memory");
      if (t == 32) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&to),
                     "r"(shared32(s[i % 2])), "r"(blockIdx.x * 32), "r"(i * 16) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        arrive(&empty[i % 2]);
      }
    }
  }
}

// A 64 x 64 tile of a product: a producer warp, a consumer warpgroup.
__global__ void __launch_bounds__(256) wgmmaGemm(float *c, const __grid_constant__ CUtensorMap mapA,
                                                 const __grid_constant__ CUtensorMap mapB, int n, int k) {
  __shared__ __align__(1024) half sa[2][64][64], sb[2][64][64];
  __shared__ u64 full[2], empty[2];
  int t = threadIdx.x;
  if (t == 0) {
    for (int i = 0; i < 2; ++i) initBarrier(&full[i], 1), initBarrier(&empty[i], 128);
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
  for (float &v : d) v = 0;
  auto describe = [](const half *p) { return (u64)((shared32(p) & 0x3ffff) >> 4) | (u64)64 << 32 | (u64)1 << 16 | (u64)1 << 62; };
  for (int i = 0; i < steps; ++i) {
    waitFor(&full[i % 2], i / 2 % 2);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int kk = 0; kk < 4; ++kk)
      asm volatile("{.reg .pred p; setp.ne.b32 p, %34, 0;\n"
                   "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
                   "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, %32, %33, p, 1, 1, 0, 0;}"
                   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
                     "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
                     "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
                     "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                   : "l"(describe(&sa[i % 2][0][kk * 16])), "l"(describe(&sb[i % 2][0][kk * 16])), "r"(i + kk));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    arrive(&empty[i % 2]);
  }
  int row = blockIdx.y * 64 + t / 32 * 16 + t % 32 / 4, col = blockIdx.x * 64 + t % 4 * 2;
  for (int i = 0; i < 32; ++i) c[(row + i / 2 % 2 * 8) * n + col + i / 4 * 8 + i % 2] = d[i];
}

// A sum over a cluster, through the other blocks' shared memory.
__global__ void clusterSum(int *out, const int *in, int n) {
  __shared__ int partial;
  __shared__ int histogram[32];
  cg::cluster_group cluster = cg::this_cluster();
  int rank = cluster.block_rank(), blocks = cluster.num_blocks();
  if (threadIdx.x == 0) partial = 0;
  if (threadIdx.x < 32) histogram[threadIdx.x] = 0;
  cluster.sync();
  int sum = 0;
  for (int i = blockIdx.x / blocks * n + rank * blockDim.x + threadIdx.x; i < (int)(blockIdx.x / blocks + 1) * n; i += blockDim.x * blocks) {
    sum += in[i];
    // Bins are spread over the blocks.
    int bin = in[i] & 127;
    atomicAdd(cluster.map_shared_rank(histogram, bin / 32) + bin % 32, 1);
  }
  atomicAdd(&partial, sum);
  cluster.sync();
  if (threadIdx.x == 0) {
    int total = 0;
    for (int r = 0; r < blocks; ++r) total += *cluster.map_shared_rank(&partial, r);
    out[blockIdx.x * 33] = total;
  }
  if (threadIdx.x < 32) out[blockIdx.x * 33 + 1 + threadIdx.x] = histogram[threadIdx.x];
  cluster.sync();
}

// One block of a cluster loads for both: multicast, and a remote arrival.
__global__ void multicast(int *out, const int *in) {
  __shared__ __align__(128) int s[256];
  __shared__ u64 full, ready;
  cg::cluster_group cluster = cg::this_cluster();
  u32 rank = cluster.block_rank();
  int t = threadIdx.x;
  if (t == 0) {
    initBarrier(&full, 1);
    initBarrier(&ready, 2);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    expect(&full, 1024);
  }
  cluster.sync();
  if (t == 0) {
    u32 remote;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(shared32(&ready)), "r"(0));
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(remote) : "memory");
    if (rank == 0) {
      waitFor(&ready, 0);
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 1024, [%2], %3;" ::"r"(
                       shared32(s)), "l"(in), "r"(shared32(&full)), "h"((unsigned short)3) : "memory");
    }
  }
  waitFor(&full, 0);
  out[blockIdx.x * 256 + t] = s[255 - t] + (int)rank;
  cluster.sync();
}

static int failures = 0;
static void report(const char *name, int bad) {
  printf("%s: %s\n", name, bad ? "WRONG" : "ok");
  failures += bad != 0;
}
static void sync(const char *name) {
  cudaError_t e = cudaDeviceSynchronize();
  if (e != cudaSuccess) {
    printf("%s: %s\n", name, cudaGetErrorString(e));
    exit(1);
  }
}
typedef CUresult (*Encode)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *,
                           const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                           CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
static CUtensorMap makeMap(void *base, CUtensorMapDataType type, int element, int width, int height, int boxX, int boxY, CUtensorMapSwizzle swizzle) {
  static Encode encode;
  cudaDriverEntryPointQueryResult found;
  if (!encode && (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000, cudaEnableDefault, &found) || !encode)) exit(1);
  CUtensorMap map;
  cuuint64_t size[2] = {(cuuint64_t)width, (cuuint64_t)height}, stride[1] = {(cuuint64_t)width * element};
  cuuint32_t box[2] = {(cuuint32_t)boxX, (cuuint32_t)boxY}, step[2] = {1, 1};
  if (encode(&map, type, 2, base, size, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) exit(1);
  return map;
}
// clang has no __cluster_dims__ for CUDA.
template <class... Params, class... Args> static void inClusters(int size, void (*kernel)(Params...), int grid, int block, Args... args) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = size;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, kernel, Params(args)...);
}
int main() {
  const int M = 128, N = 128, K = 128;
  half *a, *b, *bt;
  float *c;
  cudaMallocManaged(&a, M * K * 2);
  cudaMallocManaged(&b, K * N * 2);
  cudaMallocManaged(&bt, K * N * 2);
  cudaMallocManaged(&c, M * N * 4);
  std::vector<float> want(M * N);
  auto va = [](int i, int k) { return (i * 7 + k * 3) % 11 - 5; };
  auto vb = [](int k, int j) { return (k * 5 + j * 2) % 13 - 6; };
  for (int i = 0; i < M; ++i)
    for (int k = 0; k < K; ++k) a[i * K + k] = __float2half(va(i, k));
  for (int k = 0; k < K; ++k)
    for (int j = 0; j < N; ++j) bt[j * K + k] = b[k * N + j] = __float2half(vb(k, j));
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j)
      for (int k = 0; k < K; ++k) want[i * N + j] += va(i, k) * vb(k, j);
  auto check = [&](const char *name) {
    sync(name);
    int bad = 0;
    for (int i = 0; i < M * N; ++i) {
      bad += !(c[i] == want[i]);
      c[i] = -1;
    }
    report(name, bad);
  };
  wmmaGemm<<<dim3(N / 64, M / 64), 512>>>(c, a, b, N, K);
  check("wmma GEMM");
  asyncGemm<<<dim3(N / 32, M / 64), 128>>>(c, a, b, N, K);
  check("cp.async GEMM");
#ifndef MISSING_WAIT
  float *from, *to;
  cudaMallocManaged(&from, 96 * 80 * 4);
  cudaMallocManaged(&to, 96 * 80 * 4);
  for (int i = 0; i < 96 * 80; ++i) from[i] = i, to[i] = 0;
  CUtensorMap mapFrom = makeMap(from, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, 96, 80, 32, 16, CU_TENSOR_MAP_SWIZZLE_NONE),
              mapTo = makeMap(to, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, 96, 80, 32, 16, CU_TENSOR_MAP_SWIZZLE_NONE);
  tmaCopy<<<3, 160>>>(mapFrom, mapTo, 5);
  sync("TMA copy");
  int bad = 0;
  for (int i = 0; i < 96 * 80; ++i) bad += to[i] != 2 * i;
  report("TMA copy", bad);
  CUtensorMap mapA = makeMap(a, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, K, M, 64, 64, CU_TENSOR_MAP_SWIZZLE_128B),
              mapB = makeMap(bt, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, K, N, 64, 64, CU_TENSOR_MAP_SWIZZLE_128B);
  wgmmaGemm<<<dim3(N / 64, M / 64), 256>>>(c, mapA, mapB, N, K);
  check("wgmma GEMM");
  int *in, *out;
  cudaMallocManaged(&in, 2000 * 4);
  cudaMallocManaged(&out, 8 * 256 * 4);
  int sum[2] = {}, bins[2][128] = {};
  for (int i = 0; i < 2000; ++i) sum[i / 1000] += in[i] = i * 37 % 1001, ++bins[i / 1000][in[i] & 127];
  inClusters(4, clusterSum, 8, 128, out, in, 1000);
  sync("cluster sum");
  bad = 0;
  for (int block = 0; block < 8; ++block) {
    bad += out[block * 33] != sum[block / 4];
    for (int i = 0; i < 32; ++i) bad += out[block * 33 + 1 + i] != bins[block / 4][block % 4 * 32 + i];
  }
  report("cluster sum", bad);
  inClusters(2, multicast, 4, 256, out, in);
  sync("multicast");
  bad = 0;
  for (int i = 0; i < 1024; ++i) bad += out[i] != in[255 - i % 256] + i / 256 % 2;
  report("multicast", bad);
#endif
  printf(failures ? "FAILED\n" : "passed\n");
  return failures != 0;
}
