// Asynchronous copies and barriers, as CUDA's headers and as inline PTX.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline.h>
#include <vector>
namespace cg = cooperative_groups;
typedef uint32_t u32;
typedef uint64_t u64;
// clang refuses shared variables with constructors.
#define SHARED(TYPE, NAME)                                  \
  __shared__ alignas(TYPE) char NAME##_bytes[sizeof(TYPE)]; \
  TYPE &NAME = *reinterpret_cast<TYPE *>(NAME##_bytes)
__device__ u32 shared32(const void *p) { return (u32)__cvta_generic_to_shared(p); }

// cp.async of 4, 8 and 16 bytes, with zeros behind a shorter source, guarded.
__global__ void sizes(int *out, const int *in) {
  __shared__ __align__(16) int s[4 * 32 * 4];
  int t = threadIdx.x;
  for (int i = 0; i < 16; ++i) s[t * 16 + i] = -1;
  __syncthreads();
  int *mine = s + t * 16;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared32(mine)), "l"(in + t) : "memory");
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(shared32(mine + 2)), "l"(in + 2 * t) : "memory");
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(shared32(mine + 4)), "l"(in + 4 * t) : "memory");
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared32(mine + 8)), "l"(in + 4 * t), "r"(t % 5 * 4) : "memory");
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0; @p cp.async.ca.shared.global [%0], [%1], 4; }" ::"r"(shared32(mine + 12)),
               "l"(in + t), "r"(t & 1) : "memory");
  // Nothing is read where the source has no bytes.
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, 0;" ::"r"(shared32(mine + 13)), "l"(in + (1 << 20)) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  for (int i = 0; i < 16; ++i) out[t * 16 + i] = mine[i];
}
static int wantSizes(int i) {
  int t = i / 16, k = i % 16;
  if (k == 0) return t;
  if (k == 2 || k == 3) return 2 * t + k - 2;
  if (k >= 4 && k < 8) return 4 * t + k - 4;
  if (k >= 8 && k < 12) return k - 8 < t % 5 ? 4 * t + k - 8 : 0;
  if (k == 12) return t & 1 ? t : -1;
  return k == 13 ? 0 : -1;
}

// A ring of three stages with wait_group.
__global__ void ring(int *out, const int *in, int tiles) {
  __shared__ int s[3][32];
  int t = threadIdx.x, sum = 0;
  auto fetch = [&](int i) {
    if (i < tiles) asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared32(&s[i % 3][t])), "l"(in + i * 32 + t) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  fetch(0);
  fetch(1);
  for (int i = 0; i < tiles; ++i) {
    asm volatile("cp.async.wait_group %0;" ::"n"(1) : "memory");
    __syncthreads();
    sum = sum * 3 + s[i % 3][31 - t];
    fetch(i + 2);
  }
  out[t] = sum;
}

// The primitives of cuda_pipeline.h.
__global__ void primitives(int4 *out, const int4 *in, int n) {
  __shared__ int4 s[64];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], &in[t < n ? t : 0], 16, t < n ? 0 : 16);
  __pipeline_commit();
  __pipeline_memcpy_async(&s[32 + t], &in[32 + t], 16);
  __pipeline_commit();
  __pipeline_wait_prior(1);
  __syncwarp();
  out[t] = s[31 - t];
  __pipeline_wait_prior(0);
  __syncwarp();
  out[32 + t] = s[63 - t];
}

// Copies that an mbarrier tracks, one warp producing for another.
__global__ void tracked(int *out, const int *in) {
  __shared__ __align__(8) u64 full;
  __shared__ int s[64];
  int t = threadIdx.x;
  u32 bar = shared32(&full);
  if (t == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(64) : "memory");
  __syncthreads();
  if (t < 32) {
    for (int i = 0; i < 2; ++i)
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared32(&s[t + 32 * i])), "l"(in + t + 32 * i) : "memory");
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(bar) : "memory");
  } else {
    u64 state;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(bar) : "memory");
    asm volatile("{\n.reg .pred P1;\nLAB_WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n@P1 bra DONE;\n"
                 "bra LAB_WAIT;\nDONE:\n}" ::"r"(bar), "r"(0) : "memory");
    out[t - 32] = s[63 - (t - 32)] + s[t - 32];
  }
}

// Phases, tokens, drops, transactions: what each operation leaves behind.
__global__ void phases(int *out) {
  __shared__ __align__(8) u64 b;
  u32 bar = shared32(&b);
  u64 s0, s1;
  u32 p, n = 0;
  auto parity = [&](u32 x) {
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(p) : "r"(bar), "r"(x) : "memory");
    return (int)p;
  };
  auto token = [&](u64 x) {
    asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(p) : "r"(bar), "l"(x) : "memory");
    return (int)p;
  };
  asm volatile("mbarrier.init.shared.b64 [%0], 3;" ::"r"(bar) : "memory");
  out[n++] = parity(1); // The phase before the first one is complete.
  out[n++] = parity(0);
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(s0) : "r"(bar) : "memory");
  asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(p) : "l"(s0));
  out[n++] = p;
  asm volatile("mbarrier.arrive.noComplete.release.cta.shared.b64 %0, [%1], 1;" : "=l"(s1) : "r"(bar) : "memory");
  out[n++] = token(s0);
  asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], 64;" ::"r"(bar) : "memory");
  out[n++] = token(s0); // The bytes are missing.
  asm volatile("mbarrier.complete_tx.shared::cta.relaxed.cta.b64 [%0], 48;" ::"r"(bar) : "memory");
  out[n++] = token(s1);
  asm volatile("mbarrier.complete_tx.shared::cta.relaxed.cta.b64 [%0], 16;" ::"r"(bar) : "memory");
  out[n++] = token(s1);
  out[n++] = parity(0);
  out[n++] = parity(1);
  asm volatile("mbarrier.arrive_drop.shared.b64 _, [%0];" ::"r"(bar) : "memory"); // Two are left from the next phase on.
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1], 2;" : "=l"(s0) : "r"(bar) : "memory");
  out[n++] = token(s0);
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1], 2;" : "=l"(s0) : "r"(bar) : "memory");
  out[n++] = token(s0);
  asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(bar) : "memory");
}
static const int wantPhases[] = {1, 0, 3, 0, 0, 0, 1, 1, 0, 1, 1};

// cuda::barrier: arrive and wait apart, drop, and memcpy_async on it.
__global__ void barriers(int *out, const int *in) {
  SHARED(cuda::barrier<cuda::thread_scope_block>, bar);
  __shared__ alignas(16) int s[128];
  auto block = cg::this_thread_block();
  int t = threadIdx.x, sum = 0;
  if (t == 0) init(&bar, blockDim.x);
  block.sync();
  for (int i = 0; i < 3; ++i) {
    cuda::memcpy_async(block, s, in + i * 128, cuda::aligned_size_t<16>(sizeof(int) * 128), bar);
    bar.arrive_and_wait();
    sum += s[127 - t] * (i + 1);
    bar.wait(bar.arrive());
  }
  if (t >= 64) {
    bar.arrive_and_drop();
    out[t] = sum;
    return;
  }
  bar.arrive_and_wait();
  s[t] = t;
  bar.arrive_and_wait();
  out[t] = sum + s[63 - t];
}

// cuda::pipeline of one thread, and of a block with two stages.
__global__ void pipelines(int *out, const int *in, int tiles) {
  __shared__ alignas(16) int s[2][128];
  typedef cuda::pipeline_shared_state<cuda::thread_scope_block, 2> State;
  SHARED(State, state);
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int t = threadIdx.x, sum = 0;
  auto fetch = [&](int i) {
    pipe.producer_acquire();
    if (i < tiles) cuda::memcpy_async(block, s[i % 2], in + i * 128, sizeof(int) * 128, pipe);
    pipe.producer_commit();
  };
  fetch(0);
  for (int i = 0; i < tiles; ++i) {
    fetch(i + 1);
    pipe.consumer_wait();
    sum = sum * 3 + s[i % 2][127 - t];
    pipe.consumer_release();
  }
  auto mine = cuda::make_pipeline();
  __shared__ int own[128];
  mine.producer_acquire();
  cuda::memcpy_async(own + t, in + t, sizeof(int), mine);
  mine.producer_commit();
  mine.consumer_wait();
  sum += own[t];
  mine.consumer_release();
  out[t] = sum;
}

// One warp produces, the others consume.
__global__ void roles(int *out, const int *in, int tiles) {
  constexpr int stages = 2;
  __shared__ alignas(16) int s[stages][96];
  typedef cuda::pipeline_shared_state<cuda::thread_scope_block, stages> State;
  SHARED(State, state);
  auto block = cg::this_thread_block();
  bool producer = threadIdx.x < 32;
  auto pipe = cuda::make_pipeline(block, &state, producer ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  int t = threadIdx.x, sum = 0;
  for (int i = 0; i < tiles; ++i) {
    if (producer) {
      pipe.producer_acquire();
      for (int k = t; k < 96; k += 32) cuda::memcpy_async(&s[i % stages][k], in + i * 96 + k, sizeof(int), pipe);
      pipe.producer_commit();
    } else {
      pipe.consumer_wait();
      sum = sum * 3 + s[i % stages][127 - t];
      pipe.consumer_release();
    }
  }
  if (!producer) out[t - 32] = sum;
}

__global__ void groups(int *out, const int *in) {
  __shared__ alignas(16) int s[256];
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  int t = threadIdx.x;
  cg::memcpy_async(block, s, in, sizeof(int) * 128);
  cg::memcpy_async(tile, s + 128 + t / 32 * 32, in + 128 + t / 32 * 32, sizeof(int) * 32);
  cg::wait_prior<1>(block);
  out[t] = s[127 - t];
  cg::wait(tile);
  out[128 + t] = s[128 + (t ^ 31)];
}

// The primitives of cuda_awbarrier_primitives.h.
__global__ void awbarrier(int *out) {
  __shared__ __mbarrier_t bar;
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t == 0) __mbarrier_init(&bar, 64);
  __syncthreads();
  s[t] = t * t;
  __mbarrier_token_t token = __mbarrier_arrive(&bar);
  while (!__mbarrier_test_wait(&bar, token)) {
  }
  out[t] = s[63 - t];
}

#ifdef __clang__
// The compiler's own names.
__global__ void builtins(int *out, const int *in) {
  typedef __attribute__((address_space(3))) void *SharedPointer;
  typedef const __attribute__((address_space(1))) void *GlobalPointer;
  typedef __attribute__((address_space(3))) long *BarrierPointer;
  __shared__ alignas(16) int s[128];
  __shared__ long b;
  int t = threadIdx.x;
  auto bar = (BarrierPointer)&b;
  if (t == 0) __nvvm_mbarrier_init_shared(bar, 64);
  __syncthreads();
  __nvvm_cp_async_ca_shared_global_4((SharedPointer)&s[t], (GlobalPointer)&in[t]);
  __nvvm_cp_async_commit_group();
  __nvvm_cp_async_ca_shared_global_8((SharedPointer)&s[32 + 2 * t], (GlobalPointer)&in[32 + 2 * t], t % 3 * 4);
  __nvvm_cp_async_wait_group(0);
  __syncwarp();
  out[t] = s[31 - t];
  __nvvm_cp_async_mbarrier_arrive_noinc_shared(bar);
  long token = __nvvm_mbarrier_arrive_shared(bar);
  out[96 + t] = __nvvm_mbarrier_pending_count(token) > 0;
  while (!__nvvm_mbarrier_test_wait_shared(bar, token)) {
  }
  out[32 + t] = s[32 + 2 * (31 - t)];
  out[64 + t] = s[33 + 2 * (31 - t)];
}
#endif

static int failures = 0;
template <class Want> static void check(const char *name, const int *got, int n, Want want) {
  cudaError_t e = cudaDeviceSynchronize();
  if (e != cudaSuccess) {
    printf("%s: %s\n", name, cudaGetErrorString(e));
    exit(1);
  }
  int bad = 0;
  for (int i = 0; i < n; ++i)
    if (got[i] != want(i) && !bad++) printf("%s: element %d is %d, not %d\n", name, i, got[i], want(i));
  printf("%s: %s\n", name, bad ? "WRONG" : "ok");
  failures += bad != 0;
}
int main() {
  int *in, *out;
  cudaMallocManaged(&in, 4096 * 4);
  cudaMallocManaged(&out, 4096 * 4);
  for (int i = 0; i < 4096; ++i) in[i] = i;
  auto series = [](int first, int step, int tiles) {
    int sum = 0;
    for (int i = 0; i < tiles; ++i) sum = sum * 3 + first + i * step;
    return sum;
  };
  sizes<<<1, 32>>>(out, in);
  check("sizes", out, 512, wantSizes);
  ring<<<1, 32>>>(out, in, 7);
  check("ring", out, 32, [&](int i) { return series(31 - i, 32, 7); });
  primitives<<<1, 32>>>((int4 *)out, (const int4 *)in, 20);
  check("primitives", out, 256, [](int i) {
    int slot = i / 4 < 32 ? 31 - i / 4 : 32 + 63 - i / 4;
    return slot < 32 && slot >= 20 ? 0 : slot * 4 + i % 4;
  });
  tracked<<<1, 64>>>(out, in);
  check("tracked", out, 32, [](int i) { return 63; });
  phases<<<1, 1>>>(out);
  check("phases", out, 11, [](int i) { return wantPhases[i]; });
  barriers<<<1, 128>>>(out, in);
  check("barriers", out, 128, [](int i) {
    int sum = 0;
    for (int k = 0; k < 3; ++k) sum += (k * 128 + 127 - i) * (k + 1);
    return i < 64 ? sum + 63 - i : sum;
  });
  pipelines<<<1, 128>>>(out, in, 5);
  check("pipelines", out, 128, [&](int i) { return series(127 - i, 128, 5) + i; });
  roles<<<1, 128>>>(out, in, 5);
  check("roles", out, 96, [&](int i) { return series(95 - i, 96, 5); });
  groups<<<1, 128>>>(out, in);
  check("groups", out, 256, [](int i) { return i < 128 ? 127 - i : 128 + ((i - 128) ^ 31); });
  awbarrier<<<1, 64>>>(out);
  check("awbarrier", out, 64, [](int i) { return (63 - i) * (63 - i); });
#ifdef __clang__
  builtins<<<1, 32>>>(out, in);
  check("builtins", out, 128, [](int i) {
    int from = 31 - i % 32;
    if (i < 32) return from;
    if (i < 64) return from % 3 > 0 ? 32 + 2 * from : 0;
    return i < 96 ? (from % 3 > 1 ? 33 + 2 * from : 0) : 1;
  });
#endif
  printf(failures ? "FAILED\n" : "passed\n");
  return failures != 0;
}
