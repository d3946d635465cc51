// A sum by the eight blocks of a cluster: the first reads the others' parts in
// their shared memory.
#include <cooperative_groups.h>

__global__ void clustered(const float *x, float *out, int n) {
  namespace cg = cooperative_groups;
  cg::cluster_group cluster = cg::this_cluster();
  __shared__ float part[256];
  unsigned rank = cluster.block_rank(), blocks = cluster.num_blocks();
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
  cluster.sync();
  if (rank == 0 && threadIdx.x == 0) {
    float all = 0;
    for (unsigned i = 0; i < blocks; ++i)
      all += *cluster.map_shared_rank(part, i);
    *out = all;
  }
  cluster.sync();
}
