// Blocks of a cluster that use each other's shared memory. Prints one line per
// case; right on a GPU of compute capability 9.0.
#include <cstdio>
#include <vector>
// In PTX: clang has no cluster groups.
struct Cluster {
  __device__ unsigned num_blocks() const {
    unsigned v;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(v));
    return v;
  }
  __device__ unsigned block_rank() const {
    unsigned v;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(v));
    return v;
  }
  __device__ unsigned num_threads() const { return num_blocks() * blockDim.x; }
  __device__ unsigned thread_rank() const { return block_rank() * blockDim.x + threadIdx.x; }
  __device__ void sync() const {
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  }
  template <class T> __device__ T *map_shared_rank(T *p, unsigned rank) const {
    T *there;
    asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(p), "r"(rank));
    return there;
  }
};


static int failures = 0;
static void report(const char *name, bool ok) {
  cudaError_t e = cudaDeviceSynchronize();
  printf("%s %s%s%s\n", name, ok && e == cudaSuccess ? "ok" : "FAILED", e ? ": " : "",
         e ? cudaGetErrorString(e) : "");
  if (!ok || e != cudaSuccess)
    failures++;
}

// The sum over a cluster, by reading the neighbours' shared memory.
__global__ void reduce(const int *in, int *out) {
  __shared__ int sum;
  Cluster cluster;
  if (threadIdx.x == 0)
    sum = 0;
  __syncthreads();
  atomicAdd(&sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
  cluster.sync();
  if (threadIdx.x == 0) {
    int all = 0;
    for (unsigned r = 0; r < cluster.num_blocks(); ++r)
      all += *cluster.map_shared_rank(&sum, r);
    out[blockIdx.x] = all;
  }
  cluster.sync(); // The neighbours may still read.
}
// A histogram of which each block of the cluster holds a part.
__global__ void histogram(const int *in, int n, int bins, int *out) {
  extern __shared__ int mine[];
  Cluster cluster;
  unsigned blocks = cluster.num_blocks(), rank = cluster.block_rank();
  int part = bins / blocks;
  for (int i = threadIdx.x; i < part; i += blockDim.x)
    mine[i] = 0;
  cluster.sync();
  for (int i = cluster.thread_rank(); i < n; i += cluster.num_threads())
    atomicAdd(cluster.map_shared_rank(mine, in[i] / part) + in[i] % part, 1);
  cluster.sync();
  for (int i = threadIdx.x; i < part; i += blockDim.x)
    atomicAdd(out + rank * part + i, mine[i]);
}
__global__ void registers(unsigned *out) {
  unsigned rank, size, x, nx, id, n;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  asm volatile("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(x));
  asm volatile("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(nx));
  asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(id));
  asm volatile("mov.u32 %0, %%nclusterid.x;" : "=r"(n));
  unsigned b = blockIdx.x + gridDim.x * blockIdx.y;
  unsigned *o = out + 6 * b;
  o[0] = rank, o[1] = size, o[2] = x, o[3] = nx, o[4] = id, o[5] = n;
}

template <class... A, class... B>
static cudaError_t launch(void (*f)(A...), dim3 grid, dim3 block, size_t shared, dim3 cluster, B... args) {
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared;
  cudaLaunchAttribute attribute[1];
  attribute[0].id = cudaLaunchAttributeClusterDimension;
  attribute[0].val.clusterDim.x = cluster.x;
  attribute[0].val.clusterDim.y = cluster.y;
  attribute[0].val.clusterDim.z = cluster.z;
  config.attrs = attribute;
  config.numAttrs = 1;
  void *pointers[] = {&args...};
  return cudaLaunchKernelExC(&config, (const void *)f, pointers);
}

int main() {
  const int n = 8 * 128;
  std::vector<int> x(n), h(n);
  for (int i = 0; i < n; ++i)
    x[i] = i * 31 % 64;
  int *in, *out;
  cudaMalloc(&in, n * 4);
  cudaMalloc(&out, n * 4);
  cudaMemcpy(in, x.data(), n * 4, cudaMemcpyHostToDevice);
  cudaMemset(out, 0, n * 4);
  launch(reduce, 8, 128, 0, 4, (const int *)in, out);
  cudaMemcpy(h.data(), out, n * 4, cudaMemcpyDeviceToHost);
  bool ok = true;
  for (int b = 0; b < 8; ++b) {
    int sum = 0;
    for (int i = b / 4 * 512; i < b / 4 * 512 + 512; ++i)
      sum += x[i];
    ok &= h[b] == sum;
  }
  report("reduction", ok);
  cudaMemset(out, 0, n * 4);
  launch(histogram, 4, 128, 32 * 4, 2, (const int *)in, n, 64, out);
  cudaMemcpy(h.data(), out, n * 4, cudaMemcpyDeviceToHost);
  ok = true;
  for (int b = 0; b < 64; ++b) {
    int count = 0;
    for (int v : x)
      count += v == b;
    ok &= h[b] == 2 * count; // Both clusters count all.
  }
  report("histogram", ok);
  launch(registers, dim3(4, 2), 32, 0, dim3(2, 2), (unsigned *)out);
  cudaMemcpy(h.data(), out, 8 * 24, cudaMemcpyDeviceToHost);
  ok = true;
  for (int b = 0; b < 8; ++b) {
    int bx = b % 4, by = b / 4;
    int want[6] = {bx % 2 + 2 * by, 4, bx % 2, 2, bx / 2, 2};
    for (int i = 0; i < 6; ++i)
      ok &= h[6 * b + i] == want[i];
  }
  report("registers", ok);
  cudaError_t e = launch(registers, dim3(3, 1), 32, 0, dim3(2, 1), (unsigned *)out);
  cudaGetLastError();
  report("grid that is no multiple", e != cudaSuccess);
  return failures > 0;
}
