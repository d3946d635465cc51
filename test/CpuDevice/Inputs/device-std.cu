// libcu++ in device code: atomics of all orders and scopes, barriers, latches, semaphores, and parts of the library.
#include <cstdio>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/complex>
#include <cuda/std/functional>
#include <cuda/std/limits>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/utility>

#define EXPECT(...)                                                                                                    \
  {                                                                                                                    \
    atomicAdd(failed + 1, 1);                                                                                          \
    if (!(__VA_ARGS__)) {                                                                                                        \
      atomicAdd(failed, 1);                                                                                            \
      printf("line %d, thread %u: not %s\n", __LINE__, threadIdx.x, #__VA_ARGS__);                                           \
    }                                                                                                                  \
  }
template <class T, cuda::thread_scope S> __device__ void operations(unsigned *failed, void *place) {
  T &word = *static_cast<T *>(place);
  word = 5;
  cuda::atomic_ref<T, S> a(word);
  EXPECT(a.load(cuda::memory_order_acquire) == 5 && a.exchange(7, cuda::memory_order_acq_rel) == 5)
  a.store(9, cuda::memory_order_release);
  EXPECT(a.fetch_add(2) == 9 && a.fetch_sub(1, cuda::memory_order_relaxed) == 11 && a.fetch_and(14, cuda::memory_order_acquire) == 10)
  EXPECT(a.fetch_or(1, cuda::memory_order_release) == 10 && a.fetch_xor(3) == 11 && a.fetch_max(20) == 8 && a.fetch_min(6) == 20)
  T want = 5;
  EXPECT(!a.compare_exchange_strong(want, 1) && want == 6 && a.compare_exchange_strong(want, 1, cuda::memory_order_seq_cst) && word == 1)
  while (!a.compare_exchange_weak(want, 2, cuda::memory_order_acq_rel, cuda::memory_order_relaxed))
    ;
  EXPECT(++a == 3 && a++ == 3 && a == 4)
}
template <class T> __device__ void scopes(unsigned *failed, void *place) {
  operations<T, cuda::thread_scope_thread>(failed, place);
  operations<T, cuda::thread_scope_block>(failed, place);
  operations<T, cuda::thread_scope_device>(failed, place);
  operations<T, cuda::thread_scope_system>(failed, place);
}
__global__ void atomics(unsigned *failed, void *place) {
  scopes<int>(failed, place);
  scopes<unsigned>(failed, place);
  scopes<long long>(failed, place);
  scopes<unsigned long long>(failed, place);
  scopes<short>(failed, place);
  scopes<unsigned char>(failed, place);
  float &f = *static_cast<float *>(place);
  f = 1.5f;
  cuda::atomic_ref<float, cuda::thread_scope_device> r(f);
  EXPECT(r.fetch_add(2.0f) == 1.5f && r.fetch_sub(1.0f) == 3.5f && r.load() == 2.5f)
  double &d = *static_cast<double *>(place);
  d = 1.5;
  EXPECT((cuda::atomic_ref<double, cuda::thread_scope_block>(d).fetch_add(2.0) == 1.5 && d == 3.5))
  cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
}
__device__ cuda::atomic<int, cuda::thread_scope_device> arrived;
__global__ void handOver(unsigned *failed, int *data) {
  __shared__ alignas(16) char places[4][64];
  auto &barrier = *reinterpret_cast<cuda::barrier<cuda::thread_scope_block> *>(places[3]);
  auto &lock = *reinterpret_cast<cuda::binary_semaphore<cuda::thread_scope_block> *>(places[0]);
  auto &flag = *reinterpret_cast<cuda::atomic<int, cuda::thread_scope_block> *>(places[1]);
  auto &latch = *reinterpret_cast<cuda::latch<cuda::thread_scope_block> *>(places[2]);
  __shared__ int values[64], sum, ready;
  int t = threadIdx.x;
  if (t == 0) {
    init(&barrier, 64);
    new (&lock) cuda::binary_semaphore<cuda::thread_scope_block>(1);
    new (&latch) cuda::latch<cuda::thread_scope_block>(64);
    new (&flag) cuda::atomic<int, cuda::thread_scope_block>(0);
    sum = ready = 0;
  }
  __syncthreads();
  for (int round = 0; round < 3; ++round) {
    values[t] = t + round;
    auto token = barrier.arrive();
    barrier.wait(cuda::std::move(token));
    EXPECT(values[63 - t] == 63 - t + round)
    barrier.arrive_and_wait();
  }
  if (t % 32 == 0) { // Lanes of one warp that wait for each other's lock may hang.
    lock.acquire();
    for (int i = 0; i < 32; ++i)
      sum = sum + t + i;
    lock.release();
  }
  latch.arrive_and_wait();
  EXPECT(sum == 2016)
  // A thread waits for another of its own warp, and one of another warp.
  if (t == 1)
    flag.store(1, cuda::memory_order_release);
  else if (t == 0 || t == 40)
    while (flag.load(cuda::memory_order_acquire) == 0)
      ;
  if (t == 33) {
    flag.wait(0); // Else the store above could come after the addition, and thread 50 wait for ever.
    ready = 5;
    flag.fetch_add(1, cuda::memory_order_release);
    flag.notify_all();
  } else if (t == 50) {
    flag.wait(0);
    flag.wait(1);
    EXPECT(ready == 5)
  }
  // The last block sees what all have written.
  __syncthreads();
  if (t == 0) {
    data[blockIdx.x] = blockIdx.x + 1;
    if (arrived.fetch_add(1, cuda::memory_order_acq_rel) == int(gridDim.x) - 1) {
      int all = 0;
      for (unsigned b = 0; b < gridDim.x; ++b)
        all += data[b];
      EXPECT(all == int(gridDim.x * (gridDim.x + 1)) / 2)
    }
  }
}
__global__ void library(unsigned *failed, int n) {
  cuda::std::array<int, 4> array = {1, 2, 3, n};
  cuda::std::span<int> span(array);
  auto [first, second] = cuda::std::make_tuple(array[0], 2.5);
  cuda::std::optional<int> maybe;
  EXPECT(span.size() == 4 && span[3] == n && first == 1 && second == 2.5 && !maybe && maybe.value_or(3) == 3)
  cuda::std::complex<float> z(1, n), w = z * z;
  EXPECT(w.real() == 1 - n * n && w.imag() == 2 * n && cuda::std::numeric_limits<int>::max() == 0x7fffffff)
  EXPECT(cuda::std::popcount(0xf0u + n) == 4 + __popc(n) && cuda::std::bit_cast<int>(1.0f) == 0x3f800000 && cuda::std::countl_zero(1u) == 31)
  EXPECT(cuda::std::plus<>{}(n, 1) == n + 1 && cuda::std::exchange(array[0], 8) == 1 && array[0] == 8)
}
int main() {
  unsigned *failed, h[2];
  int *data;
  cudaMalloc(&failed, sizeof(h));
  cudaMalloc(&data, 4096);
  bool wrong = false;
  const char *names[] = {"atomics", "hand over", "library"};
  for (int i = 0; i < 3; ++i) {
    cudaMemset(failed, 0, sizeof(h));
    if (i == 0)
      atomics<<<1, 1>>>(failed, data);
    else if (i == 1)
      handOver<<<4, 64>>>(failed, data);
    else
      library<<<1, 1>>>(failed, 5);
    cudaError_t e = cudaGetLastError();
    if (e == cudaSuccess)
      e = cudaDeviceSynchronize();
    cudaMemcpy(h, failed, sizeof(h), cudaMemcpyDeviceToHost);
    printf("%s: %u cases, %u wrong, %s\n", names[i], h[1], h[0], cudaGetErrorString(e));
    wrong |= h[0] != 0 || h[1] == 0 || e != cudaSuccess;
  }
  return wrong;
}
