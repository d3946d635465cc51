// Shared memory that loads and stores write and bulk copies read: a fence.proxy.async must lie between.
#include <cstdio>
#include <cstring>
typedef unsigned long long u64;
__device__ unsigned shared32(const void *p) { return __cvta_generic_to_shared(p); }
__device__ void fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ void fenceAll() { asm volatile("fence.proxy.async;" ::: "memory"); }
__device__ void fenceGlobal() { asm volatile("fence.proxy.async.global;" ::: "memory"); }
__device__ void store(float *to, const float *from) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" ::"l"(to), "r"(shared32(from)) : "memory");
}
__device__ void finish() {
  asm volatile("cp.async.bulk.commit_group;\n cp.async.bulk.wait_group 0;" ::: "memory");
}
#define T threadIdx.x
#define BEGIN                                                                                                          \
  __shared__ __align__(128) float s[128];                                                                              \
  __shared__ u64 full;                                                                                                 \
  (void)full;
// What is right.
__global__ void right(float *out) {
  BEGIN
  s[T] = T;
  fence();
  __syncthreads();
  if (T == 0)
    store(out, s), finish();
}
__global__ void inLoop(float *out) { // The writers are ahead of the one that stores.
  __shared__ __align__(128) float s[4][128];
  for (int i = 0; i < 4; ++i) {
    s[i][T] = T - 3 + i;
    fenceAll();
    asm volatile("bar.sync 2, 128;" ::: "memory");
    if (T == 32)
      store(out, s[i]);
  }
  if (T == 32)
    finish();
}
__global__ void byTheOne(float *out) { // Who has all writes behind it makes the fence.
  BEGIN
  s[T] = T;
  __syncthreads();
  if (T == 0)
    fence(), store(out, s), finish();
}
__global__ void byBarrierObject(float *out) {
  BEGIN
  if (T == 0)
    asm volatile("mbarrier.init.shared.b64 [%0], 128;" ::"r"(shared32(&full)) : "memory");
  __syncthreads();
  s[T] = T;
  if (T % 2)
    fence();
  asm volatile("{.reg .b64 t; mbarrier.arrive.shared.b64 t, [%0];}" ::"r"(shared32(&full)) : "memory");
  if (T == 64) {
    asm volatile("{.reg .pred p;\nW: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n @!p bra W;}" ::"r"(shared32(&full)) : "memory");
    fence();
    store(out, s), finish();
  }
}
__global__ void copied(float *out) { // What the engine wrote it also sees.
  BEGIN
  if (T == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;\n fence.proxy.async;" ::"r"(shared32(&full)) : "memory");
    asm volatile("{.reg .b64 t; mbarrier.arrive.expect_tx.shared.b64 t, [%0], 512;}" ::"r"(shared32(&full)) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 512, [%2];" ::"r"(shared32(s)),
                 "l"(out + 128), "r"(shared32(&full)) : "memory");
    asm volatile("{.reg .pred p;\nV: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n @!p bra V;}" ::"r"(shared32(&full)) : "memory");
    store(out, s), finish();
  }
}
// What is not.
__global__ void without(float *out) {
  BEGIN
  s[T] = T;
  __syncthreads();
  if (T == 0)
    store(out, s), finish();
}
__global__ void before(float *out) {
  BEGIN
  fence();
  s[T] = T;
  __syncthreads();
  if (T == 0)
    store(out, s), finish();
}
__global__ void after(float *out) { // All but the one that stores, and too late.
  BEGIN
  s[T] = T;
  __syncthreads();
  if (T != 0)
    fence();
  if (T == 0)
    store(out, s), finish();
}
__global__ void some(float *out) {
  BEGIN
  s[T] = T;
  if (T != 77)
    fence();
  __syncthreads();
  if (T == 0)
    store(out, s), finish();
}
__global__ void onlyGlobal(float *out) {
  BEGIN
  s[T] = T;
  fenceGlobal();
  __syncthreads();
  if (T == 0)
    store(out, s), finish();
}
static bool run(const char *name, void (*kernel)(float *)) {
  float *out, h[256];
  cudaMalloc(&out, sizeof(h));
  for (int i = 0; i < 256; ++i)
    h[i] = i < 128 ? -1 : i - 128;
  cudaMemcpy(out, h, sizeof(h), cudaMemcpyHostToDevice);
  kernel<<<1, 128>>>(out);
  cudaError_t e = cudaDeviceSynchronize();
  int wrong = cudaMemcpy(h, out, sizeof(h), cudaMemcpyDeviceToHost) != cudaSuccess;
  for (int i = 0; i < 128; ++i)
    wrong += h[i] != i;
  printf("%s: %d wrong, %s\n", name, wrong, cudaGetErrorString(e));
  return wrong == 0;
}
int main(int argc, char **argv) {
  if (argc > 1) {
    const char *names[] = {"without", "before", "after", "some", "global"};
    void (*kernels[])(float *) = {without, before, after, some, onlyGlobal};
    for (int i = 0; i < 5; ++i)
      if (!strcmp(argv[1], names[i]))
        return !run(names[i], kernels[i]);
    return 2;
  }
  bool all = run("right", right);
  all &= run("in a loop", inLoop);
  all &= run("by the one", byTheOne);
  all &= run("by a barrier object", byBarrierObject);
  all &= run("copied", copied);
  return !all;
}
