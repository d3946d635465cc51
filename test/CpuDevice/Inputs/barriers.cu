// Barriers that threads reach by different ways. Without arguments: what GPUs run right.
#include <cstdio>
#include <cstring>
#define EXPECT(...)                                                                                                    \
  {                                                                                                                    \
    atomicAdd(failed + 1, 1);                                                                                          \
    if (!(__VA_ARGS__)) {                                                                                              \
      atomicAdd(failed, 1);                                                                                            \
      printf("line %d, thread %u: not %s\n", __LINE__, threadIdx.x, #__VA_ARGS__);                                     \
    }                                                                                                                  \
  }
// Warps meet from two branches.
__global__ void branches(unsigned *failed, int n) {
  __shared__ int v[128];
  int t = threadIdx.x;
  if (t < n) {
    v[t] = t;
    __syncthreads();
    EXPECT(v[127 - t] == 2 * (127 - t))
  } else {
    v[t] = 2 * t;
    __syncthreads();
    EXPECT(v[127 - t] == 127 - t)
  }
}
// Some return after as many barriers as the others have.
__global__ void returns(unsigned *failed, int n) {
  __shared__ int v[128];
  int t = threadIdx.x;
  v[t] = 0;
  if (t < n) {
    __syncthreads();
    v[t] = t;
    __syncthreads();
    return;
  }
  v[t] = 1;
  __syncthreads();
  __syncthreads();
  EXPECT(v[127 - t] == 127 - t)
}
// As many barriers in a loop as in a row.
__global__ void loops(unsigned *failed, int n) {
  __shared__ int s;
  if (threadIdx.x == 0)
    s = 0;
  __syncthreads();
  if (threadIdx.x < n) {
    for (int i = 0; i < 2; ++i) {
      atomicAdd(&s, 1);
      __syncthreads();
    }
  } else {
    atomicAdd(&s, 1);
    __syncthreads();
    atomicAdd(&s, 1);
    __syncthreads();
  }
  EXPECT(s == 256)
}
__global__ void counts(unsigned *failed, int n) {
  int c;
  if (threadIdx.x < n)
    c = __syncthreads_count(threadIdx.x % 2);
  else
    c = __syncthreads_count(1);
  EXPECT(c == 96)
}
// Who has ended is not waited for.
__global__ void ended(unsigned *failed, int n) {
  __shared__ int v[128];
  int t = threadIdx.x;
  if (t % 32 >= 20)
    return;
  v[t] = t;
  __syncthreads();
  EXPECT(v[96 + t % 32] == 96 + t % 32)
  if (t < n)
    __syncthreads();
}
// Lanes of a warp meet from two branches: PTX leaves it open, an H200 hangs.
__global__ void lanes(unsigned *failed, int n) {
  __shared__ int v[128];
  int t = threadIdx.x;
  if (t % 32 < n / 8) {
    v[t] = t;
    __syncthreads();
    EXPECT(v[127 - t] == 127 - t + 1000)
  } else {
    v[t] = t + 1000;
    __syncthreads();
    EXPECT(v[127 - t] == (t % 32 > 23 ? 127 - t : 127 - t + 1000))
  }
}
// Half of each warp never comes.
__global__ void part(unsigned *failed, int n) {
  if (threadIdx.x % 32 < n / 4)
    __syncthreads();
  __syncwarp();
  if (threadIdx.x % 32 >= n / 4)
    __syncthreads();
}
__global__ void kinds(unsigned *failed, int n) {
  int c = 0;
  if (threadIdx.x < n)
    __syncthreads();
  else
    c = __syncthreads_count(1);
  EXPECT(c >= 0)
}
__global__ void numbers(unsigned *failed, int n) {
  if (threadIdx.x < n)
    asm volatile("bar.sync 1, 128;" ::: "memory");
  else
    asm volatile("bar.sync 1, 96;" ::: "memory");
}
static bool run(const char *name, void (*kernel)(unsigned *, int)) {
  unsigned *failed, h[2] = {1, 0};
  cudaMalloc(&failed, sizeof(h));
  cudaMemset(failed, 0, sizeof(h));
  kernel<<<3, 128>>>(failed, 64);
  cudaError_t e = cudaDeviceSynchronize();
  cudaMemcpy(h, failed, sizeof(h), cudaMemcpyDeviceToHost);
  printf("%s: %u cases, %u wrong, %s\n", name, h[1], h[0], cudaGetErrorString(e));
  return h[0] == 0 && h[1] != 0 && e == cudaSuccess;
}
int main(int argc, char **argv) {
  if (argc > 1) {
    if (!strcmp(argv[1], "lanes"))
      return !run("lanes", lanes);
    if (!strcmp(argv[1], "part"))
      return !run("part", part);
    if (!strcmp(argv[1], "kinds"))
      return !run("kinds", kinds);
    return !run("numbers", numbers);
  }
  bool right = run("branches", branches);
  right &= run("returns", returns);
  right &= run("loops", loops);
  right &= run("counts", counts);
  right &= run("ended", ended);
  return !right;
}
