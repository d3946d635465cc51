// Inline PTX that Hopper does not have: compile for sm_100a.
#include <cmath>
#include <cstdio>

#define EXPECT(got, want) check(failed, __LINE__, (unsigned)(got), (unsigned)(want))
__device__ void check(unsigned *failed, int line, unsigned got, unsigned want) {
  atomicAdd(failed + 1, 1);
  if (got != want) {
    atomicAdd(failed, 1);
    printf("line %d: got 0x%x, want 0x%x\n", line, got, want);
  }
}
__global__ void newer(unsigned *failed) {
  float x = threadIdx.x == 3 ? NAN : threadIdx.x - 8.0f, y;
  asm volatile("redux.sync.min.f32 %0, %1, 0xffffffff;" : "=f"(y) : "f"(x));
  EXPECT(__float_as_uint(y), __float_as_uint(-8.0f));
  asm volatile("redux.sync.max.abs.f32 %0, %1, 0xffffffff;" : "=f"(y) : "f"(x));
  EXPECT(__float_as_uint(y), __float_as_uint(23.0f));
  asm volatile("redux.sync.max.NaN.f32 %0, %1, 0xffffffff;" : "=f"(y) : "f"(x));
  EXPECT(y != y, 1);
  unsigned short h;
  // e2m3: 1.0 is 0x08, 7.5 is 0x1f; e3m2: 1.0 is 0x0c, 28 is 0x1f; scales: 2^0 is 127.
  asm("cvt.rn.satfinite.e2m3x2.f32 %0, %1, %2;" : "=h"(h) : "f"(1.0f), "f"(-100.0f));
  EXPECT(h, 0x083f);
  asm("cvt.rn.satfinite.e3m2x2.f32 %0, %1, %2;" : "=h"(h) : "f"(1.0f), "f"(100.0f));
  EXPECT(h, 0x0c1f);
  asm("cvt.rz.ue8m0x2.f32 %0, %1, %2;" : "=h"(h) : "f"(1.5f), "f"(8.0f));
  EXPECT(h, 0x7f82);
  asm("cvt.rp.satfinite.ue8m0x2.f32 %0, %1, %2;" : "=h"(h) : "f"(1.5f), "f"(INFINITY));
  EXPECT(h, 0x80fe);
  unsigned r;
  // e2m1: 1, 1.5, 2, 3, 4, 6 are 2 to 7.
  asm("{ .reg .b8 b; cvt.rn.satfinite.e2m1x2.f32 b, %1, %2; cvt.u32.u8 %0, b; }" : "=r"(r) : "f"(1.5f), "f"(-5.0f));
  EXPECT(r, 0x3e); // 5 lies between 4 and 6: the even one.
  asm("{ .reg .b8 b; cvt.u8.u32 b, %1; cvt.rn.f16x2.e2m1x2 %0, b; }" : "=r"(r) : "r"(0x27));
  EXPECT(r, 0x3c004600);
  asm("cvt.rn.f16x2.e2m3x2 %0, %1;" : "=r"(r) : "h"((short)0x083f));
  EXPECT(r, 0x3c00c780);
  asm("cvt.rn.bf16x2.ue8m0x2 %0, %1;" : "=r"(r) : "h"((short)0x7f80));
  EXPECT(r, 0x3f804000);
}
__global__ void stop() { asm volatile("brkpt;"); }
int main() {
  unsigned *failed, h[2];
  cudaMalloc(&failed, sizeof(h));
  cudaMemset(failed, 0, sizeof(h));
  newer<<<1, 32>>>(failed);
  cudaError_t e = cudaDeviceSynchronize();
  cudaMemcpy(h, failed, sizeof(h), cudaMemcpyDeviceToHost);
  printf("newer: %u cases, %u wrong, %s\n", h[1], h[0], cudaGetErrorString(e));
  stop<<<1, 1>>>();
  return h[0] != 0 || h[1] == 0 || cudaDeviceSynchronize() == cudaSuccess;
}
