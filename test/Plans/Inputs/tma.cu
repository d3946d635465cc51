// Tiles of 32 x 8 numbers, fetched by the copy engine.
#include <cuda.h>

static __device__ unsigned shared32(const void *p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__global__ void tiles(const float *in, float *out, int w, int h,
                      const __grid_constant__ CUtensorMap map) {
  __shared__ __align__(128) float tile[8][32];
  __shared__ unsigned long long full;
  int x = blockIdx.x * 32, y = blockIdx.y * 8;
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared32(&full))
                 : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" ::"r"(
                     shared32(&full))
                 : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::"
                 "complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(
                     shared32(tile)),
                 "l"(&map), "r"(shared32(&full)), "r"(x), "r"(y)
                 : "memory");
  }
  __syncthreads();
  asm volatile("{\n.reg .pred P1;\nLAB_WAIT:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], 0;\n"
               "@P1 bra DONE;\nbra LAB_WAIT;\nDONE:\n}" ::"r"(shared32(&full))
               : "memory");
  int i = x + threadIdx.x, j = y + threadIdx.y;
  if (i < w && j < h)
    out[j * w + i] = 2 * tile[threadIdx.y][threadIdx.x];
}
