// Shared memory of eight blocks that live at the same time, 200 KiB each. On a
// GPU it lies below 256 KiB, and what is added to the 18 bits of an address in
// a matrix descriptor does not carry.
#include <cstdio>
__global__ void ends(unsigned *out) {
  extern __shared__ char mine[];
  unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(mine));
  asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  mine[200 * 1024 - 1] = 1;
  out[blockIdx.x] = (at & 0x3ffff) + 200 * 1024;
}
int main() {
  unsigned *out;
  cudaMallocManaged(&out, 8 * sizeof(unsigned));
  cudaFuncSetAttribute(ends, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       200 * 1024);
  cudaLaunchConfig_t config = {};
  config.gridDim = 8;
  config.blockDim = 1;
  config.dynamicSmemBytes = 200 * 1024;
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {8, 1, 1};
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaError_t e = cudaLaunchKernelEx(&config, ends, out);
  if (e == cudaSuccess)
    e = cudaDeviceSynchronize();
  int crossing = 0;
  for (int i = 0; i < 8; ++i)
    crossing += out[i] > 0x40000;
  printf("%s, %d of 8 cross a multiple of 256 KiB\n", cudaGetErrorName(e),
         crossing);
}
