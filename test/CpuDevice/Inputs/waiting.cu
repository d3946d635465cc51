// Threads, warps and blocks that wait for each other by memory. Prints one line
// per case; right on a GPU of compute capability 7.0 or newer.
#include <cooperative_groups.h>
#include <cstdio>
#include <vector>
namespace cg = cooperative_groups;

static int failures = 0;
static void report(const char *name, bool ok) {
  cudaError_t e = cudaDeviceSynchronize();
  printf("%s %s%s%s\n", name, ok && e == cudaSuccess ? "ok" : "FAILED", e ? ": " : "",
         e ? cudaGetErrorString(e) : "");
  if (!ok || e != cudaSuccess)
    failures++;
}
template <class T> struct Buffer {
  T *p = nullptr;
  size_t n;
  Buffer(size_t n) : n(n) {
    cudaMalloc(&p, n * sizeof(T));
    cudaMemset(p, 0, n * sizeof(T));
  }
  ~Buffer() { cudaFree(p); }
  std::vector<T> get() {
    std::vector<T> h(n);
    cudaMemcpy(h.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost);
    return h;
  }
  void set(const std::vector<T> &h) { cudaMemcpy(p, h.data(), n * sizeof(T), cudaMemcpyHostToDevice); }
};

// A lock that every thread of all blocks takes once.
__global__ void spinLock(int *lock, int *count) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      *(volatile int *)count = *(volatile int *)count + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}
// Tickets: each thread waits for its number.
__global__ void tickets(unsigned *next, volatile unsigned *serving, int *order) {
  unsigned mine = atomicAdd(next, 1u);
  while (*serving != mine)
    __nanosleep(20);
  order[mine] = threadIdx.x;
  __threadfence();
  *serving = mine + 1;
}
// The last warp starts a chain through all warps of the block.
__global__ void warpChain(int *out) {
  __shared__ volatile int flag;
  if (threadIdx.x == 0)
    flag = blockDim.x / 32 - 1;
  __syncthreads();
  int warp = threadIdx.x / 32;
  if (threadIdx.x % 32 == 0) {
    while (flag != warp)
      ;
    out[warp] = flag * 10;
    flag = warp - 1;
  }
}
// A barrier of the whole grid made by hand: sense by generations.
__device__ unsigned arrived, generation;
__device__ void gridBarrier(unsigned blocks) {
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned old = atomicAdd(&generation, 0u);
    __threadfence();
    if (atomicAdd(&arrived, 1u) == blocks - 1) {
      arrived = 0;
      __threadfence();
      atomicAdd(&generation, 1u);
    } else {
      while (atomicAdd(&generation, 0u) == old)
        ;
    }
    __threadfence();
  }
  __syncthreads();
}
__global__ void jacobi(float *a, float *b, int n, int steps) {
  for (int s = 0; s < steps; ++s) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
      float l = i > 0 ? a[i - 1] : 0, r = i < n - 1 ? a[i + 1] : 1;
      b[i] = 0.5f * (l + r);
    }
    gridBarrier(gridDim.x);
    float *t = a;
    a = b;
    b = t;
  }
}
__global__ void jacobiGroups(float *a, float *b, int n, int steps) {
  cg::grid_group grid = cg::this_grid();
  for (int s = 0; s < steps; ++s) {
    for (int i = grid.thread_rank(); i < n; i += grid.size()) {
      float l = i > 0 ? a[i - 1] : 0, r = i < n - 1 ? a[i + 1] : 1;
      b[i] = 0.5f * (l + r);
    }
    grid.sync();
    float *t = a;
    a = b;
    b = t;
  }
}
// An inclusive sum in one pass: each block looks back at those before it.
__global__ void lookBack(const int *in, int *out, int n, volatile unsigned long long *state) {
  __shared__ int values[256];
  __shared__ int before;
  int i = blockIdx.x * 256 + threadIdx.x;
  values[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (int d = 1; d < 256; d *= 2) {
    int v = threadIdx.x >= d ? values[threadIdx.x - d] : 0;
    __syncthreads();
    values[threadIdx.x] += v;
    __syncthreads();
  }
  if (threadIdx.x == 255) {
    int total = values[255], sum = 0;
    if (blockIdx.x == 0) {
      state[0] = 2ull << 32 | (unsigned)total;
    } else {
      state[blockIdx.x] = 1ull << 32 | (unsigned)total;
      for (int b = blockIdx.x - 1; b >= 0;) {
        unsigned long long s = state[b];
        if (s >> 32 == 0)
          continue;
        sum += (int)s;
        if (s >> 32 == 2)
          break;
        --b;
      }
      state[blockIdx.x] = 2ull << 32 | (unsigned)(sum + total);
    }
    before = sum;
  }
  __syncthreads();
  if (i < n)
    out[i] = values[threadIdx.x] + before;
}
// The block that ends last adds up what all have written.
__device__ unsigned finished;
__global__ void lastBlock(const int *in, int n, int *partial, int *out) {
  __shared__ int sum;
  __shared__ bool last;
  if (threadIdx.x == 0)
    sum = 0;
  __syncthreads();
  int mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    mine += in[i];
  atomicAdd(&sum, mine);
  __syncthreads();
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(&finished, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b)
      total += ((volatile int *)partial)[b];
    *out = total;
    finished = 0;
  }
}
// One block makes, the others take.
__global__ void producer(volatile int *ready, int *data, int *out) {
  if (blockIdx.x == gridDim.x - 1) {
    data[threadIdx.x] = threadIdx.x * 3;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
      *ready = 1;
  } else {
    if (threadIdx.x == 0)
      while (*ready == 0)
        ;
    __syncthreads();
    __threadfence();
    out[blockIdx.x * blockDim.x + threadIdx.x] = ((volatile int *)data)[threadIdx.x];
  }
}
// Half of the block fills a buffer, the other half empties it.
__global__ void namedBarriers(int *out, int rounds) {
  __shared__ int buffer[64];
  int t = threadIdx.x % 64;
  if (threadIdx.x < 64) {
    for (int r = 0; r < rounds; ++r) {
      asm volatile("bar.sync 2, 128;" ::: "memory"); // empty
      buffer[t] = r * 100 + t;
      asm volatile("bar.arrive 1, 128;" ::: "memory"); // full
    }
  } else {
    int sum = 0;
    for (int r = 0; r < rounds; ++r) {
      asm volatile("bar.arrive 2, 128;" ::: "memory");
      asm volatile("bar.sync 1, 128;" ::: "memory");
      sum += buffer[63 - t];
    }
    out[t] = sum;
  }
}

int main() {
  {
    Buffer<int> lock(1), count(1);
    spinLock<<<4, 96>>>(lock.p, count.p);
    report("spin lock", count.get()[0] == 4 * 96);
  }
  {
    Buffer<unsigned> next(1), serving(1);
    Buffer<int> order(256);
    tickets<<<1, 256>>>(next.p, serving.p, order.p);
    long sum = 0;
    for (int o : order.get())
      sum += o;
    report("tickets", sum == 255 * 128 && serving.get()[0] == 256);
  }
  {
    Buffer<int> out(8);
    warpChain<<<1, 256>>>(out.p);
    bool ok = true;
    auto h = out.get();
    for (int w = 0; w < 8; ++w)
      ok &= h[w] == w * 10;
    report("warp chain", ok);
  }
  for (int way = 0; way < 2; ++way) {
    const int n = 5000, steps = 12;
    Buffer<float> a(n), b(n);
    std::vector<float> x(n), y(n);
    if (way == 0) {
      jacobi<<<20, 128>>>(a.p, b.p, n, steps);
    } else {
      int size = n, times = steps;
      void *args[] = {&a.p, &b.p, &size, &times};
      cudaLaunchCooperativeKernel((void *)jacobiGroups, dim3(20), dim3(128), args, 0, 0);
    }
    for (int s = 0; s < steps; ++s) {
      for (int i = 0; i < n; ++i)
        y[i] = 0.5f * ((i > 0 ? x[i - 1] : 0) + (i < n - 1 ? x[i + 1] : 1));
      x.swap(y);
    }
    report(way == 0 ? "grid barrier" : "cooperative groups", a.get() == x);
  }
  {
    void *args[4] = {};
    float *null = nullptr;
    int zero = 0;
    args[0] = args[1] = &null;
    args[2] = args[3] = &zero;
    cudaError_t e = cudaLaunchCooperativeKernel((void *)jacobiGroups, dim3(100000), dim3(1024), args, 0, 0);
    cudaGetLastError();
    report("too large", e == cudaErrorCooperativeLaunchTooLarge);
  }
  {
    const int n = 100000, blocks = (n + 255) / 256;
    Buffer<int> in(n), out(n);
    Buffer<unsigned long long> state(blocks);
    std::vector<int> x(n), y(n);
    int sum = 0;
    for (int i = 0; i < n; ++i) {
      x[i] = i * 7 % 13 - 6;
      y[i] = sum += x[i];
    }
    in.set(x);
    lookBack<<<blocks, 256>>>(in.p, out.p, n, state.p);
    report("look-back scan", out.get() == y);
  }
  {
    const int n = 100000;
    Buffer<int> in(n), partial(64), out(1);
    std::vector<int> x(n);
    int sum = 0;
    for (int i = 0; i < n; ++i)
      sum += x[i] = i % 17;
    in.set(x);
    lastBlock<<<64, 128>>>(in.p, n, partial.p, out.p);
    report("last block", out.get()[0] == sum);
  }
  {
    Buffer<int> ready(1), data(64), out(63 * 64);
    producer<<<64, 64>>>(ready.p, data.p, out.p);
    bool ok = true;
    auto h = out.get();
    for (int i = 0; i < 63 * 64; ++i)
      ok &= h[i] == i % 64 * 3;
    report("producer block", ok);
  }
  {
    Buffer<int> out(64);
    namedBarriers<<<1, 128>>>(out.p, 5);
    bool ok = true;
    auto h = out.get();
    for (int t = 0; t < 64; ++t)
      ok &= h[t] == 1000 + 5 * (63 - t);
    report("named barriers", ok);
  }
  return failures > 0;
}
