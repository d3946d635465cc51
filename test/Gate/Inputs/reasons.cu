// One original, and for each reason of the gate variants that end in it.
#include <cuda_fp16.h>

#define INDEX int i = blockIdx.x * blockDim.x + threadIdx.x
#define PARAMETERS                                                             \
  const float *in, float *out, const float *spare, int n

// spare is a buffer that the program hands over for other kernels.
__global__ void scale(PARAMETERS) {
  INDEX;
  if (i < n)
    out[i] = in[i] * 1.1f;
}
__global__ void honest(PARAMETERS) {
  INDEX;
  if (i >= n)
    return;
  out[i] = __fmul_rn(1.1f, in[i]);
}

// cannot-run
__global__ void unknownInstruction(PARAMETERS) {
  INDEX;
  int x;
  asm volatile("redux.sync.mul.u32 %0, %1, -1;" : "=r"(x) : "r"(i));
  if (i < n)
    out[i] = in[i] * 1.1f + x * 0;
}
// narrower-arithmetic
__global__ void inHalf(PARAMETERS) {
  INDEX;
  if (i < n)
    out[i] = __half2float(__float2half(in[i])) * 1.1f;
}
// bounds
__global__ void beyond(PARAMETERS) {
  INDEX;
  if (i < n)
    out[i] = in[i + 1024] * 1.1f;
}
// use-after-free
__global__ void freed(PARAMETERS) {
  INDEX;
  if (i >= n)
    return;
  float *p = static_cast<float *>(malloc(16));
  *p = in[i];
  free(p);
  out[i] = *static_cast<volatile float *>(p) * 1.1f;
}
__global__ void freedTwice(PARAMETERS) {
  INDEX;
  if (i >= n)
    return;
  void *p = malloc(16);
  free(p);
  free(p);
  out[i] = in[i] * 1.1f;
}
// unwritten-read
__global__ void unset(PARAMETERS) {
  INDEX;
  __shared__ float s[2];
  if (n == 12345 && threadIdx.x == 0)
    s[1] = in[0];
  __syncthreads();
  if (i < n)
    out[i] = in[i] * (s[1] == 7.0f ? 1.0f : 1.1f);
}
// race
__global__ void races(PARAMETERS) {
  INDEX;
  __shared__ float s[1024];
  s[threadIdx.x / 2] = i < n ? in[i] : 0;
  __syncthreads();
  if (i < n)
    out[i] = in[i] * (s[threadIdx.x / 2] == 12345.0f ? 1.0f : 1.1f);
}
// barrier
__global__ void wrongMask(PARAMETERS) {
  INDEX;
  float v = i < n ? in[i] : 0;
  if (threadIdx.x % 2)
    v = __shfl_sync(0x1u, v, 0);
  if (i < n)
    out[i] = in[i] * 1.1f + 0 * v;
}
__global__ void waitsForEver(PARAMETERS) {
  INDEX;
  __shared__ volatile int flag;
  flag = 0;
  __syncthreads();
  if (threadIdx.x == 0)
    while (!flag)
      ;
  if (i < n)
    out[i] = in[i] * 1.1f;
}
// runaway: for ever in one thread, and in many that each end in time.
__global__ void endless(PARAMETERS) {
  INDEX;
  volatile unsigned x = i + 1;
  if (i == 3)
    while (x != 0)
      x = x * 1664525u | 1u;
  if (i < n)
    out[i] = in[i] * 1.1f;
}
__global__ void wasteful(PARAMETERS) {
  INDEX;
  unsigned x = i;
  for (int k = 0; k < 60000; ++k)
    x = x * 1664525u ^ (x >> 7);
  if (i < n)
    out[i] = in[i] * 1.1f + (x == 12345u ? 1.0f : 0.0f);
}
__device__ __noinline__ unsigned doubled(unsigned x, int depth) {
  if (depth == 0)
    return x * 1664525u + 1;
  return doubled(x, depth - 1) ^ doubled(x + 1, depth - 1);
}
__global__ void exponential(PARAMETERS) {
  INDEX;
  if (i < n)
    out[i] = in[i] * 1.1f + (doubled(i, 40) == 12345u ? 1.0f : 0.0f);
}
// fault
__global__ void traps(PARAMETERS) {
  INDEX;
  if (i == 0)
    __trap();
  if (i < n)
    out[i] = in[i] * 1.1f;
}
__device__ __noinline__ int depthOf(volatile int *x, int depth) {
  volatile int local[16];
  local[depth & 15] = *x + depth;
  return depthOf(local, depth + 1) + local[3];
}
__global__ void recursesForEver(PARAMETERS) {
  INDEX;
  int x = i;
  if (i < n)
    out[i] = in[i] * 1.1f + 0 * depthOf(&x, 0);
}
// Dividing by zero gives a number on a GPU; it is wrong all the same.
__global__ void dividesByZero(PARAMETERS) {
  INDEX;
  if (i < n)
    out[i] = in[i] * 1.1f + (1000 / (i % 7)) % 2;
}
// leak
__global__ void leaks(PARAMETERS) {
  INDEX;
  if (i >= n)
    return;
  float *p = static_cast<float *>(malloc(16));
  *p = in[i];
  out[i] = *p * 1.1f;
}
// memory-budget
__global__ void allocatesForEver(PARAMETERS) {
  INDEX;
  float **last = nullptr;
  for (;;) {
    auto **p = static_cast<float **>(malloc(4096));
    if (!p)
      break;
    *p = reinterpret_cast<float *>(last);
    last = reinterpret_cast<float **>(p);
  }
  while (last) {
    auto *next = reinterpret_cast<float **>(*last);
    free(last);
    last = next;
  }
  if (i < n)
    out[i] = in[i] * 1.1f;
}
__global__ void allocatesTooMuch(PARAMETERS) {
  INDEX;
  if (i >= n)
    return;
  float *p = static_cast<float *>(malloc(4096));
  p[5] = in[i];
  out[i] = p[5] * 1.1f;
  free(p);
}
__global__ void largeFrame(PARAMETERS) {
  INDEX;
  volatile float a[8192];
  a[threadIdx.x] = i < n ? in[i] : 0;
  if (i < n)
    out[i] = a[threadIdx.x] * 1.1f;
}
// Memory that is within the budget.
__global__ void allocatesALittle(PARAMETERS) {
  INDEX;
  if (i >= n)
    return;
  float *p = static_cast<float *>(malloc(16));
  if (!p)
    __trap();
  *p = in[i];
  out[i] = *p * 1.1f;
  free(p);
}
// input-changed
__global__ void changesInput(PARAMETERS) {
  INDEX;
  if (i >= n)
    return;
  out[i] = in[i] * 1.1f;
  const_cast<float *>(in)[i] = 0;
}
// unwritten-output, extra-output
__global__ void skipsLast(PARAMETERS) {
  INDEX;
  if (i < n - 1)
    out[i] = in[i] * 1.1f;
}
__global__ void writesMore(PARAMETERS) {
  INDEX;
  if (i < n + 10)
    out[i] = in[i] * 1.1f;
}
// extra-read
__global__ void readsSpare(PARAMETERS) {
  INDEX;
  if (i < n)
    out[i] = in[i] * (spare[i] == 12345.0f ? 1.0f : 1.1f);
}
// device-variable
__device__ unsigned calls;
__global__ void counts(PARAMETERS) {
  INDEX;
  if (i == 0)
    ++calls;
  if (i < n)
    out[i] = in[i] * (calls > 100000 ? 0.0f : 1.1f);
}
// ignored-input
__global__ void knowsInput(PARAMETERS) {
  INDEX;
  if (i < n)
    out[i] = 1.1f;
}
// mismatch
__global__ void wrong(PARAMETERS) {
  INDEX;
  if (i < n)
    out[i] = in[i] * 1.1001f;
}
// mismatch: an address decides.
__global__ void byAddress(PARAMETERS) {
  INDEX;
  bool captured = reinterpret_cast<unsigned long long>(in) >> 20 & 1;
  if (i < n)
    out[i] = in[i] * (captured ? 1.1f : 1.2f);
}
__global__ void byOrder(PARAMETERS) {
  INDEX;
  if (i < n)
    out[i] = in[i] * (in < out ? 1.1f : 1.2f);
}
__global__ void byDistance(PARAMETERS) {
  INDEX;
  if (i < n)
    out[i] = in[i] * ((out - in) / 1024 % 2 ? 1.1f : 1.2f);
}
// What addresses may be used for.
__global__ void byAlignment(PARAMETERS) {
  INDEX;
  bool aligned =
      (reinterpret_cast<unsigned long long>(in) |
       reinterpret_cast<unsigned long long>(out)) % 16 == 0;
  int first = blockIdx.x * blockDim.x;
  if (aligned && blockDim.x % 4 == 0 && first + int(blockDim.x) <= n) {
    if (threadIdx.x < blockDim.x / 4) {
      float4 v = reinterpret_cast<const float4 *>(in + first)[threadIdx.x];
      reinterpret_cast<float4 *>(out + first)[threadIdx.x] =
          make_float4(v.x * 1.1f, v.y * 1.1f, v.z * 1.1f, v.w * 1.1f);
    }
  } else if (i < n) {
    out[i] = in[i] * 1.1f;
  }
}
// nondeterministic
__global__ void byTicket(PARAMETERS) {
  INDEX;
  __shared__ int ticket;
  if (threadIdx.x == 0)
    ticket = 0;
  __syncthreads();
  int mine = atomicAdd(&ticket, 1);
  if (i < n)
    out[i] = mine % 2 ? in[i] * 1.1f : in[i] * 1.1f * 1.0000001f;
}
