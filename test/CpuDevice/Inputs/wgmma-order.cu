// What a thread may do with accumulators and operands of wgmma, and when.
#include <cstdio>
#include <cstring>
#include <cuda_fp16.h>
typedef unsigned long long u64;
#define T threadIdx.x
__device__ unsigned shared32(const void *p) { return __cvta_generic_to_shared(p); }
__device__ u64 descriptor(const void *p) { return u64((shared32(p) & 0x3ffff) >> 4) | u64(128 >> 4) << 16 | u64(256 >> 4) << 32; }
// Where row (or column) i and index k of a matrix lie, in halves.
__device__ int place(int i, int k) { return (i % 8 * 16 + i / 8 * 256 + k / 8 * 128) / 2 + k % 8; }
__device__ void proxyFence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> __device__ void wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }
__device__ void mma(float (&d)[4], u64 a, u64 b, int scale = 1) {
  asm volatile("{.reg .pred p; setp.ne.b32 p, %6, 0;\n wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, p, 1, 1, 0, 0;}"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "l"(a), "l"(b), "r"(scale));
}
// A[i][k] = i % 7 + k % 3 + n, B[k][j] = k % 5 - j.
__device__ void fill(__half *a, __half *b, int n) {
  for (int e = T; e < 1024; e += 128)
    a[place(e / 16, e % 16)] = __float2half(e / 16 % 7 + e % 16 % 3 + n);
  if (T < 128)
    b[place(T / 16, T % 16)] = __float2half(int(T % 16 % 5) - int(T / 16));
}
__device__ float expected(int i, int j, int n) {
  float sum = 0;
  for (int k = 0; k < 16; ++k)
    sum += (i % 7 + k % 3 + n) * (k % 5 - j);
  return sum;
}
__device__ void check(int *wrong, const float (&d)[4], int From, int To, float by = 1) {
  for (int r = 0; r < 4; ++r) {
    int i = T / 32 * 16 + T % 32 / 4 + r / 2 * 8, j = T % 4 * 2 + r % 2;
    float want = 0;
    for (int n = From; n < To; ++n)
      want += expected(i, j, n);
    if (d[r] != want * by)
      atomicAdd(wrong, 1);
  }
}
#define BEGIN(MATRICES)                                                                                                \
  __shared__ __align__(128) __half a[MATRICES][1024], b[MATRICES][128];                                               \
  float d[4] = {0, 0, 0, 0};                                                                                           \
  for (int n = 0; n < MATRICES; ++n)                                                                                   \
    fill(a[n], b[n], n);                                                                                               \
  proxyFence();                                                                                                        \
  __syncthreads();
// What is right.
__global__ void right(int *wrong, int n) {
  BEGIN(1)
  fence();
  mma(d, descriptor(a[0]), descriptor(b[0]));
  commit();
  wait<0>();
  check(wrong, d, 0, 1);
}
__global__ void pipelined(int *wrong, int n) {
  BEGIN(4)
  fence();
#pragma unroll 1
  for (int k = 0; k < n; ++k) {
    mma(d, descriptor(a[k]), descriptor(b[k]));
    commit();
    wait<1>();
  }
  wait<0>();
  check(wrong, d, 0, n);
}
__global__ void alternating(int *wrong, int n) { // The one is used while the other is computed.
  BEGIN(4)
  float e[4] = {0, 0, 0, 0}, sum[4] = {0, 0, 0, 0};
  fence();
  mma(d, descriptor(a[0]), descriptor(b[0]), 0);
  commit();
#pragma unroll 1
  for (int k = 1; k < n; ++k) {
    fence();
    mma(e, descriptor(a[k]), descriptor(b[k]), 0);
    commit();
    wait<1>();
    for (int r = 0; r < 4; ++r)
      sum[r] += d[r];
    wait<0>();
    for (int r = 0; r < 4; ++r)
      d[r] = e[r];
  }
  for (int r = 0; r < 4; ++r)
    sum[r] += d[r];
  check(wrong, sum, 0, n);
}
__global__ void scaled(int *wrong, int n) { // As a softmax does.
  BEGIN(2)
  for (int k = 0; k < 2; ++k) {
    for (float &v : d)
      v *= 0.5f;
    fence();
    mma(d, descriptor(a[0]), descriptor(b[0]));
    commit();
    wait<0>();
  }
  check(wrong, d, 0, 1, 1.5f);
}
__global__ void refilled(int *wrong, int n) { // The operands may change after the wait.
  BEGIN(1)
  for (int k = 0; k < n; ++k) {
    fence();
    mma(d, descriptor(a[0]), descriptor(b[0]));
    commit();
    wait<0>();
    __syncthreads();
    fill(a[0], b[0], k + 1);
    proxyFence();
    __syncthreads();
  }
  check(wrong, d, 0, n);
}
// What is not.
__global__ void noWait(int *wrong, int n) {
  BEGIN(1)
  fence();
  mma(d, descriptor(a[0]), descriptor(b[0]));
  commit();
  check(wrong, d, 0, 1);
  wait<0>();
}
__global__ void waitsForTooFew(int *wrong, int n) {
  BEGIN(2)
  fence();
  for (int k = 0; k < 2; ++k) {
    mma(d, descriptor(a[k]), descriptor(b[k]));
    commit();
  }
  wait<1>();
  check(wrong, d, 0, 2);
}
__global__ void noCommit(int *wrong, int n) {
  BEGIN(1)
  fence();
  mma(d, descriptor(a[0]), descriptor(b[0]));
  wait<0>();
  check(wrong, d, 0, 1);
}
__global__ void noFence(int *wrong, int n) {
  BEGIN(1)
  mma(d, descriptor(a[0]), descriptor(b[0]));
  commit();
  wait<0>();
  check(wrong, d, 0, 1);
}
__global__ void noSecondFence(int *wrong, int n) {
  BEGIN(1)
  fence();
  for (int k = 0; k < 2; ++k) {
    for (float &v : d)
      v *= 0.5f;
    mma(d, descriptor(a[0]), descriptor(b[0]));
    commit();
    wait<0>();
  }
  check(wrong, d, 0, 1, 1.5f);
}
__global__ void refilledTooEarly(int *wrong, int n) {
  BEGIN(1)
  for (int k = 0; k < n; ++k) {
    fence();
    mma(d, descriptor(a[0]), descriptor(b[0]));
    commit();
    __syncthreads();
    fill(a[0], b[0], k + 1);
    wait<0>();
    proxyFence();
    __syncthreads();
  }
  check(wrong, d, 0, n);
}
__global__ void noProxyFence(int *wrong, int n) {
  BEGIN(1)
  fill(a[0], b[0], 1);
  __syncthreads();
  fence();
  mma(d, descriptor(a[0]), descriptor(b[0]));
  commit();
  wait<0>();
  check(wrong, d, 1, 2);
}
static bool run(const char *name, void (*kernel)(int *, int)) {
  int *wrong, h = -1;
  cudaMalloc(&wrong, 4);
  cudaMemset(wrong, 0, 4);
  kernel<<<2, 128>>>(wrong, 4);
  cudaError_t e = cudaDeviceSynchronize();
  cudaMemcpy(&h, wrong, 4, cudaMemcpyDeviceToHost);
  printf("%s: %d wrong, %s\n", name, h, cudaGetErrorString(e));
  return h == 0 && e == cudaSuccess;
}
#define RUN(KERNEL) run(#KERNEL, KERNEL)
int main(int argc, char **argv) {
  if (argc == 1)
    return !(RUN(right) & RUN(pipelined) & RUN(alternating) & RUN(scaled) & RUN(refilled));
  const char *names[] = {"noWait", "waitsForTooFew", "noCommit", "noFence", "noSecondFence", "refilledTooEarly", "noProxyFence"};
  void (*kernels[])(int *, int) = {noWait, waitsForTooFew, noCommit, noFence, noSecondFence, refilledTooEarly, noProxyFence};
  for (int i = 0; i < 7; ++i)
    if (!strcmp(argv[1], names[i]))
      return !run(names[i], kernels[i]);
  return 2;
}
