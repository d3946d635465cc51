// Kernels that never end, or end badly: argv[1] says which. Each is a fault with
// a name, and the program goes on.
#include <cstdio>
#include <cstring>

__global__ void spins(volatile int *flag) {
  while (*flag == 0)
    ;
}
__global__ void lockTwice(int *lock, int *out) {
  while (atomicCAS(lock, 0, 1) != 0)
    ;
  out[threadIdx.x] = 1; // Never unlocked.
}
// Two warps wait for the other one first.
__global__ void eachOther(volatile int *a, volatile int *b) {
  if (threadIdx.x == 0) {
    while (*a == 0)
      __nanosleep(10);
    *b = 1;
  } else if (threadIdx.x == 32) {
    while (*b == 0)
      __nanosleep(10);
    *a = 1;
  }
  __syncthreads();
}
// More blocks than a GPU holds wait for all to come.
__global__ void tooMany(unsigned *arrived) {
  extern __shared__ int big[];
  big[threadIdx.x] = 0;
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1u);
    while (atomicAdd(arrived, 0u) < gridDim.x)
      ;
  }
  __syncthreads();
}
__global__ void endless(unsigned *out) {
  for (unsigned i = 1; i != 0; i = i * 5 | 1)
    *(volatile unsigned *)out = i;
}
__device__ int down(volatile int *p, int n) { return p[n & 7] + down(p, n + 1) * 3; }
__global__ void recursesForEver(int *p) { p[0] = down(p, 0); }
__device__ int deep(int *p, int n) {
  int local[1024];
  for (int i = 0; i < 1024; ++i)
    local[i] = p[i & 7] + n;
  int r = n == 0 ? 0 : deep(p, n - 1);
  return r + local[(p[1] + n) & 1023];
}
__global__ void bigFrames(int *p, int n) { p[0] = deep(p, n); }
__device__ unsigned long long tree(int n) { return n < 2 ? 1 : tree(n - 1) + tree(n - 2) + (n & 1); }
__global__ void exponential(unsigned long long *out) { *out = tree(90); }
typedef int (*Op)(int);
typedef float (*Other)(float, float);
__device__ int one(int x) { return x + 1; }
__device__ Op known = one;
__global__ void callNull(Op *table, int *out) { *out = table[threadIdx.x](1); }
__global__ void callOther(int *out) { *out = reinterpret_cast<Other>(known)(1, 2); }
__global__ void callData(long p, int *out) { *out = reinterpret_cast<Op>(p)(1); }
__global__ void chatters(int n) {
  for (int i = 0; i < n; ++i)
    printf("%d 0123456789 0123456789 0123456789 0123456789 0123456789\n", i);
}
__global__ void freesTwice(int *out) {
  int *p = (int *)malloc(64);
  out[0] = p != nullptr;
  *(volatile int *)p = 1;
  free(p);
  free(p);
}

int main(int argc, char **argv) {
  char *p;
  cudaMalloc(&p, 4096);
  cudaMemset(p, 0, 4096);
  auto is = [&](const char *name) { return !strcmp(argv[1], name); };
  int *i = (int *)p;
  if (is("spins"))
    spins<<<3, 64>>>(i);
  if (is("lock"))
    lockTwice<<<1, 32>>>(i, i + 64);
  if (is("each-other"))
    eachOther<<<1, 64>>>(i, i + 1);
  if (is("too-many"))
    cudaFuncSetAttribute(tooMany, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024),
        tooMany<<<133, 32, 200 * 1024>>>((unsigned *)p);
  if (is("endless"))
    endless<<<1, 1>>>((unsigned *)p);
  if (is("recursion"))
    recursesForEver<<<1, 32>>>(i);
  if (is("frames"))
    bigFrames<<<1, 1>>>(i, 10000);
  if (is("exponential"))
    exponential<<<1, 1>>>((unsigned long long *)p);
  if (is("null"))
    callNull<<<1, 1>>>((Op *)p, i + 64);
  if (is("other"))
    callOther<<<1, 1>>>(i);
  if (is("data"))
    callData<<<1, 1>>>((long)p, i);
  if (is("printf"))
    chatters<<<1, 1>>>(50000);
  if (is("free"))
    freesTwice<<<1, 1>>>(i);
  cudaError_t e = cudaDeviceSynchronize();
  printf("%s: %s\n", argv[1], cudaGetErrorName(e));
  return e != cudaSuccess;
}
