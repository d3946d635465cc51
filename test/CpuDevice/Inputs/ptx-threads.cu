// Inline PTX that involves other threads: shuffles, votes, matches, reductions, barriers, fences, special registers.
#include <cstdio>

#define EXPECT(got, want) check(failed, __LINE__, (unsigned long long)(got), (unsigned long long)(want))
__device__ void check(unsigned *failed, int line, unsigned long long got, unsigned long long want) {
  atomicAdd(failed + 1, 1);
  if (got != want) {
    atomicAdd(failed, 1);
    printf("line %d, thread %u: got 0x%llx, want 0x%llx\n", line, threadIdx.x, got, want);
  }
}
__device__ unsigned sreg_sink;

// 2 blocks of 96 threads.
__global__ void warps(unsigned *failed) {
  unsigned lane = threadIdx.x % 32, r, i;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(r));
  EXPECT(r, lane);
  asm volatile("{ .reg .pred p; shfl.sync.down.b32 %0|p, %2, 1, 31, 0xffffffff; selp.u32 %1, 1, 0, p; }"
               : "=r"(r), "=r"(i) : "r"(lane * 3));
  EXPECT(r * 2 + i, lane < 31 ? (lane + 1) * 6 + 1 : lane * 6);
  asm volatile("shfl.sync.up.b32 %0, %1, 2, 0, -1;" : "=r"(r) : "r"(lane));
  EXPECT(r, lane < 2 ? lane : lane - 2);
  asm volatile("shfl.sync.bfly.b32 %0, %1, 16, 0x1f, 0xffffffff;" : "=r"(r) : "r"(lane));
  EXPECT(r, lane ^ 16);
  // Segments of eight lanes: the third of each.
  asm volatile("shfl.sync.idx.b32 %0, %1, 2, 0x181f, 0xffffffff;" : "=r"(r) : "r"(lane));
  EXPECT(r, (lane & 24) + 2);
  asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 5; vote.sync.ballot.b32 %0, p, 0xffffffff; }" : "=r"(r) : "r"(lane));
  EXPECT(r, 31);
  asm volatile("{ .reg .pred p, q; setp.lt.u32 p, %1, 5; vote.sync.any.pred q, p, -1; selp.u32 %0, 1, 0, q;"
               "vote.sync.all.pred q, !p, -1; @q add.u32 %0, %0, 2; setp.lt.u32 p, %1, 50;"
               "vote.sync.all.pred q, p, -1; @q add.u32 %0, %0, 4; vote.sync.uni.pred q, !p, -1; @q add.u32 %0, %0, 8; }"
               : "=r"(r) : "r"(lane));
  EXPECT(r, 13);
  asm volatile("match.any.sync.b32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(lane / 4));
  EXPECT(r, 15u << (lane & 28));
  asm volatile("{ .reg .pred p; match.all.sync.b64 %0|p, %2, 0xffffffff; selp.u32 %1, 1, 0, p; }"
               : "=r"(r), "=r"(i) : "l"(0x100000000ull + lane / 32));
  EXPECT(r, 0xffffffff);
  EXPECT(i, 1);
  asm volatile("redux.sync.add.s32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(lane));
  EXPECT(r, 496);
  asm volatile("redux.sync.min.s32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(lane - 3));
  EXPECT(r, -3u);
  asm volatile("redux.sync.max.u32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(lane - 3));
  EXPECT(r, 0xffffffff);
  asm volatile("redux.sync.xor.b32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(1u << lane));
  EXPECT(r, 0xffffffff);
  if (lane % 2 == 0) {
    asm volatile("activemask.b32 %0;" : "=r"(r));
    EXPECT(r & 0xaaaaaaaa, 0);
    EXPECT(r >> lane & 1, 1);
    asm volatile("redux.sync.or.b32 %0, %1, 0x55555555;" : "=r"(r) : "r"(1u << lane));
    EXPECT(r, 0x55555555);
  }
  asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
  asm volatile("{ .reg .pred p; mov.u32 %1, 0; elect.sync %0|p, 0xffffffff; @p mov.u32 %1, 1; }" : "=r"(r), "=r"(i));
  EXPECT(__ballot_sync(0xffffffff, i), 1u << r);
  // Special registers.
  asm volatile("{ .reg .u32 t; mov.u32 %0, %%tid.x; mov.u32 t, %%ctaid.x; mad.lo.u32 %0, t, 1000, %0; mov.u32 t, %%ntid.x;"
               "mad.lo.u32 %0, t, 10000, %0; mov.u32 t, %%nctaid.x; mad.lo.u32 %0, t, 10000000, %0; }" : "=r"(r));
  EXPECT(r, 20960000 + blockIdx.x * 1000 + threadIdx.x);
  asm volatile("{ .reg .u32 t; mov.u32 %0, %%lanemask_lt; mov.u32 t, %%lanemask_le; sub.u32 %0, t, %0; mov.u32 t, %%lanemask_eq;"
               "xor.b32 %0, %0, t; }" : "=r"(r));
  EXPECT(r, 0);
  asm volatile("{ .reg .u32 t; mov.u32 %0, %%lanemask_gt; mov.u32 t, %%lanemask_ge; sub.u32 %0, t, %0; }" : "=r"(r));
  EXPECT(r, 1u << lane);
  asm volatile("{ .reg .pred p; .reg .u32 t; mov.u32 %0, %%nwarpid; mov.u32 t, %%warpid; setp.lt.u32 p, t, %0; selp.u32 %0, 1, 0, p; }"
               : "=r"(r));
  EXPECT(r, 1);
}

__global__ void blocks(unsigned *failed, unsigned *global) {
  __shared__ unsigned shared[96];
  extern __shared__ unsigned dynamic[];
  unsigned t = threadIdx.x, r, i;
  shared[t] = t;
  asm volatile("bar.sync 0;" ::: "memory");
  EXPECT(shared[95 - t], 95 - t);
  asm volatile("barrier.sync.aligned 1, 96;" ::: "memory");
  shared[t] = t + 1;
  asm volatile("barrier.cta.sync 2;" ::: "memory");
  EXPECT(shared[95 - t], 96 - t);
  asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 40; bar.red.popc.u32 %0, 3, p; }" : "=r"(r) : "r"(t) : "memory");
  EXPECT(r, 40);
  asm volatile("{ .reg .pred p, q; setp.lt.u32 p, %1, 40; barrier.red.or.pred q, 4, p; selp.u32 %0, 1, 0, q;"
               "bar.red.and.pred q, 5, 96, !p; @q add.u32 %0, %0, 2; }" : "=r"(r) : "r"(t) : "memory");
  EXPECT(r, 1);
  // One warp waits for two that only arrive.
  if (t >= 32) {
    shared[t] = 7 * t;
    asm volatile("bar.arrive 6, 96;" ::: "memory");
  } else {
    asm volatile("bar.sync 6, 96;" ::: "memory");
    EXPECT(shared[32 + t] + shared[64 + t], 7 * (96 + 2 * t));
  }
  asm volatile("membar.cta; membar.gl; membar.sys; fence.acq_rel.gpu; fence.sc.cta; fence.acq_rel.cluster;" ::: "memory");
  asm volatile("fence.proxy.alias; fence.proxy.async; fence.proxy.async.shared::cta; fence.mbarrier_init.release.cluster;"
               ::: "memory");
  asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents; griddepcontrol.wait;" ::: "memory");
  asm volatile("nanosleep.u32 20; pmevent 1;");
  // Message passing between two threads of a block, by acquire and release.
  if (t == 0) {
    dynamic[0] = 0;
    dynamic[1] = 0;
  }
  __syncthreads();
  unsigned flag = (unsigned)__cvta_generic_to_shared(dynamic + 1);
  if (t == 64) {
    dynamic[0] = 1234;
    asm volatile("st.release.cta.shared.u32 [%0], 1;" ::"r"(flag) : "memory");
  } else if (t == 0) {
    asm volatile("{ .reg .pred p; WAIT: ld.acquire.cta.shared.u32 %0, [%1]; setp.eq.u32 p, %0, 0; @p bra WAIT; }"
                 : "=r"(r) : "r"(flag) : "memory");
    EXPECT(dynamic[0], 1234);
  }
  unsigned long long before, after, timer;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(before));
  asm volatile("mov.u32 %0, %%clock;" : "=r"(r));
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(timer));
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(after));
  EXPECT(after >= before && timer != 0, 1);
  asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(r));
  EXPECT(r, 64);
  asm volatile("mov.u32 %0, %%total_smem_size;" : "=r"(r));
  EXPECT(r >= 64 + 384, 1);
  asm volatile("{ mov.u32 %0, %%smid; mov.u32 %1, %%nsmid; }" : "=r"(r), "=r"(i));
  EXPECT(r < i, 1);
  // A block is a cluster by itself, unless it was launched otherwise.
  asm volatile("{ .reg .u32 t; mov.u32 %0, %%cluster_ctarank; mov.u32 t, %%cluster_nctarank; mad.lo.u32 %0, %0, 10, t;"
               "mov.u32 t, %%clusterid.x; mad.lo.u32 %0, t, 100, %0; mov.u32 t, %%nclusterid.x; mad.lo.u32 %0, t, 1000, %0; }"
               : "=r"(r));
  EXPECT(r, 2001 + blockIdx.x * 100);
  // Threads that exit in the middle leave the others alone.
  if (t % 2)
    asm volatile("exit;");
  atomicAdd(global, 1);
}
// Clusters of two blocks read each other's shared memory.
__global__ void clusters(unsigned *failed) {
  __shared__ unsigned mine;
  unsigned here = (unsigned)__cvta_generic_to_shared(&mine), rank, owner, value, there;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  EXPECT(rank, blockIdx.x % 2);
  mine = 100 + blockIdx.x;
  asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(rank ^ 1));
  asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(owner) : "r"(there));
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(there) : "memory");
  EXPECT(owner, rank ^ 1);
  EXPECT(value, 100 + (blockIdx.x ^ 1));
  unsigned long long generic;
  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(generic) : "l"(&mine), "r"(rank ^ 1));
  EXPECT(*reinterpret_cast<unsigned *>(generic), 100 + (blockIdx.x ^ 1));
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
}
__global__ void trap(unsigned *p) { asm volatile("{ .reg .pred p; setp.eq.u32 p, %0, 7; @p trap; }" ::"r"(*p)); }

int main(int argc, char **) {
  unsigned *failed, h[3] = {};
  cudaMalloc(&failed, sizeof(h));
  cudaMemset(failed, 0, sizeof(h));
  warps<<<2, 96>>>(failed);
  cudaError_t e = cudaDeviceSynchronize();
  cudaMemcpy(h, failed, sizeof(h), cudaMemcpyDeviceToHost);
  printf("warps: %u cases, %u wrong, %s\n", h[1], h[0], cudaGetErrorString(e));
  bool wrong = h[0] != 0 || h[1] == 0 || e != cudaSuccess;
  cudaMemset(failed, 0, sizeof(h));
  blocks<<<2, 96, 64>>>(failed, failed + 2);
  e = cudaDeviceSynchronize();
  cudaMemcpy(h, failed, sizeof(h), cudaMemcpyDeviceToHost);
  printf("blocks: %u cases, %u wrong, %u left, %s\n", h[1], h[0], h[2], cudaGetErrorString(e));
  wrong |= h[0] != 0 || h[1] == 0 || h[2] != 96 || e != cudaSuccess;
  cudaMemset(failed, 0, sizeof(h));
  cudaLaunchAttribute cluster;
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {2, 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = 4;
  config.blockDim = 1;
  config.attrs = &cluster;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, clusters, failed);
  e = cudaDeviceSynchronize();
  cudaMemcpy(h, failed, sizeof(h), cudaMemcpyDeviceToHost);
  printf("clusters: %u cases, %u wrong, %s\n", h[1], h[0], cudaGetErrorString(e));
  wrong |= h[0] != 0 || h[1] == 0 || e != cudaSuccess;
  cudaMemset(failed, 0, sizeof(h));
  trap<<<1, 1>>>(failed); // Not 7: nothing happens.
  e = cudaDeviceSynchronize();
  cudaMemset(failed, 0, sizeof(h));
  cudaMemset(failed, 7, 1);
  trap<<<1, 1>>>(failed);
  cudaError_t trapped = cudaDeviceSynchronize();
  printf("trap: %s, then %d\n", cudaGetErrorString(e), trapped != cudaSuccess);
  return wrong || e != cudaSuccess || trapped == cudaSuccess;
}
