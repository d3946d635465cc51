// Wrong uses of matrix and asynchronous instructions, one for each argument.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
typedef uint32_t u32;
typedef uint64_t u64;
__device__ u32 shared32(const void *p) { return (u32)__cvta_generic_to_shared(p); }
__device__ void mma(u32 *d) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%0,%1}, {%2}, {%0,%1,%2,%3};" // MMA
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]));
}
__device__ void init(u64 *b, u32 count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared32(b)), "r"(count) : "memory");
}
__device__ u32 test(u64 *b, u32 parity) {
  u32 done;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(done) : "r"(shared32(b)), "r"(parity) : "memory");
  return done;
}
__global__ void wrong(int mode, int *out, const int *in) {
  __shared__ __align__(1024) int s[1024];
  __shared__ u64 b, other;
  int t = threadIdx.x;
  u32 d[4] = {0, 0, 0, 0};
  s[t] = s[t + 512] = 0;
  if (t == 0) init(&b, mode == 4 ? 33 : 32);
  __syncthreads();
  switch (mode) {
  case 0: // A lane has ended.
    if (t == 5) return;
    mma(d);
    break;
  case 1: // A lane never comes.
    if (t == 5) __syncthreads();
    else mma(d);
    break;
  case 2: // Rows are 16 bytes.
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(d[0]) : "r"(shared32(s + 4 * t + (t == 3 ? 1 : 0))));
    break;
  case 3: // Past the end of the source.
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared32(s)), "l"(in + 64) : "memory"); // COPY
    break;
  case 4: // Nobody else arrives.
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared32(&b)) : "memory");
    while (!test(&b, 0)) { // WAIT
    }
    break;
  case 5:
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared32(&other)) : "memory");
    break;
  case 6: { // Bits 14 and 15 must be zero.
    u64 desc = (u64)3 << 14;
    asm volatile("{.reg .pred p; setp.ne.b32 p, %0, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %4, p, 1, 1, 0, 0;}"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "l"(desc));
    break;
  }
  case 7: // The tile of A lies behind shared memory.
  {
    u64 desc = (u64)((shared32(s) & 0x3ffff) >> 4) | (u64)1 << 16 | (u64)0x2000 << 32 | (u64)1 << 62;
    asm volatile("{.reg .pred p; setp.ne.b32 p, %0, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %4, p, 1, 1, 0, 0;}"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "l"(desc));
    break;
  }
  case 8:
    if (t == 0)
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 100, [%2];" ::"r"(shared32(s)),
                   "l"(in), "r"(shared32(&b)) : "memory");
    break;
  case 9: // No tensor map.
    if (t == 0)
      asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3}], [%2];" ::"r"(
                       shared32(s)), "l"(in), "r"(shared32(&b)), "r"(0) : "memory");
    break;
  case 10: // Nobody waits: the destination keeps what it had.
    s[t] = 7;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared32(s + t)), "l"(in + t) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    out[t] = s[t];
    break;
  case 11: // The source of a store changes before it is read.
    s[t] = 1;
    __syncthreads();
    if (t == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 128;" ::"l"(out), "r"(shared32(s)) : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
    __syncthreads();
    s[t] = 2;
    __syncthreads();
    if (t == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    break;
  case 12: // The block ends before the store is waited for.
    s[t] = 1;
    __syncthreads();
    if (t == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 128;" ::"l"(out), "r"(shared32(s)) : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
    break;
  case 13: // More arrivals than the phase has.
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], %1;" ::"r"(shared32(&b)), "r"(33) : "memory");
    break;
  }
  if (d[0] > 1) out[0] = d[0];
}
int main(int argc, char **argv) {
  int mode = atoi(argv[1]), *in, *out;
  cudaMalloc(&in, 256);
  cudaMalloc(&out, 256);
  int host[64] = {};
  cudaMemset(in, 0, 256);
  cudaMemcpy(out, host, 256, cudaMemcpyHostToDevice);
  wrong<<<1, mode == 6 || mode == 7 ? 128 : 32>>>(mode, out, in);
  if (cudaMemcpy(host, out, 256, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  printf("out %d %d\n", host[0], host[31]);
  return 0;
}
