// A sum by the blocks of a cluster: the first reads the others' parts in their
// shared memory.
static __device__ unsigned clusterRank() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

static __device__ unsigned clusterBlocks() {
  unsigned blocks;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  return blocks;
}

static __device__ void clusterSync() {
  asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}

static __device__ const float *ofBlock(const float *shared, unsigned rank) {
  const float *there;
  asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(shared), "r"(rank));
  return there;
}

__global__ void clustered(const float *x, float *out, int n) {
  __shared__ float part[256];
  unsigned rank = clusterRank(), blocks = clusterBlocks();
  float s = 0;
  for (int i = rank * 256 + threadIdx.x; i < n; i += blocks * 256)
    s += x[i];
  part[threadIdx.x] = s;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half)
      part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  clusterSync();
  if (rank == 0 && threadIdx.x == 0) {
    float all = 0;
    for (unsigned i = 0; i < blocks; ++i)
      all += *ofBlock(part, i);
    *out = all;
  }
  clusterSync();
}
