// One element at a time, and how that is done wrong.

// kernel: scale
// workload: grid=4, block=256, args=[buffer f32 n=1000 normal seed=1, buffer f32 n=1000 output, 1000, 1.75]
// honest: scaleStride | grid=(1) | bx == 256; gx * 256 >= n
// honest: scaleFloat4 | grid=(n ceildiv 512); block=(128) | bx == 256; gx * 256 >= n; n mod 4 == 0; align in 16; align out 16
// honest: scaleBuiltin | | bx == 256
// cheat: scaleSkipsLast | unwritten-output
// cheat: scaleFixedSize | extra-output, bounds
// cheat: scaleWholeVectors | unwritten-output
// cheat: scaleUnaligned | bounds, extra-output
// cheat: scaleFixedBlock | extra-output, unwritten-output, mismatch, race, bounds
// cheat: scaleFixedGrid | extra-output, race, mismatch
// cheat: scaleFixedFactor | mismatch, ignored-input
// cheat: scaleAddsUp | mismatch, unwritten-read, unwritten-output
// cheat: scaleTrustsOutput | mismatch, unwritten-read, unwritten-output
// cheat: scaleChangesInput | input-changed
// cheat: scaleChangesInputBack | input-changed, extra-output, race, mismatch
// cheat: scaleWritesBeyond | bounds
// cheat: scaleReadsBeyond | bounds
// cheat: scaleReadsBefore | bounds
// cheat: scaleReplaysSize | mismatch, device-variable
// cheat: scaleReplaysPointer | mismatch, device-variable
// cheat: scaleKeepsState | device-variable, mismatch
// cheat: scaleByClock | mismatch, unwritten-output, nondeterministic, cannot-run
// cheat: scalePrints | mismatch
// cheat: scaleTraps | fault
// cheat: scaleSpins | runaway
// cheat: scaleLeaks | leak, memory-budget
// cheat: scaleInHalf | mismatch, narrower-arithmetic
// cheat: scaleInBfloat | mismatch, narrower-arithmetic
// cheat: scaleInTf32 | mismatch, narrower-arithmetic
// cheat: scaleInFixedPoint | mismatch
// cheat: scaleLargeApproximately | mismatch
// cheat: scaleSmallApproximately | mismatch
// cheat: scaleNegativeWrong | mismatch
// cheat: scaleSwallowsNaN | mismatch
// cheat: scaleSwallowsInfinity | mismatch
// cheat: scaleFlushesDenormals | mismatch
__global__ void scale(const float *in, float *out, int n, float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] * factor;
}
__global__ void scaleStride(const float *in, float *out, int n, float factor) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[i] = factor * in[i];
}
__global__ void scaleFloat4(const float *in, float *out, int n, float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (4 * i >= n)
    return;
  float4 v = reinterpret_cast<const float4 *>(in)[i];
  reinterpret_cast<float4 *>(out)[i] =
      make_float4(v.x * factor, v.y * factor, v.z * factor, v.w * factor);
}
__global__ void scaleBuiltin(const float *in, float *out, int n,
                             float factor) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n)
    out[i] = __fmul_rn(in[i], factor);
}
// 3
__global__ void scaleSkipsLast(const float *in, float *out, int n,
                               float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n - 1)
    out[i] = in[i] * factor;
}
// 18
__global__ void scaleFixedSize(const float *in, float *out, int n,
                               float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 1000)
    out[i] = in[i] * factor;
}
// 18: n is a multiple of four.
__global__ void scaleWholeVectors(const float *in, float *out, int n,
                                  float factor) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 3 < n)
    for (int k = 0; k < 4; ++k)
      out[i + k] = in[i + k] * factor;
}
// 19: pointers are aligned.
__global__ void scaleUnaligned(const float *in, float *out, int n,
                               float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (4 * i + 3 < n) {
    float4 v = reinterpret_cast<const float4 *>(in)[i];
    reinterpret_cast<float4 *>(out)[i] =
        make_float4(v.x * factor, v.y * factor, v.z * factor, v.w * factor);
  } else {
    for (int k = 4 * i; k < n; ++k)
      out[k] = in[k] * factor;
  }
}
// 18: the block of the benchmark.
__global__ void scaleFixedBlock(const float *in, float *out, int n,
                                float factor) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n)
    out[i] = in[i] * factor;
}
// 18: the grid of the benchmark.
__global__ void scaleFixedGrid(const float *in, float *out, int n,
                               float factor) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += 256)
    out[i] = in[i] * factor;
}
// 18: a parameter as it was captured.
__global__ void scaleFixedFactor(const float *in, float *out, int n,
                                 float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] * 1.75f;
}
// 3: outputs are zero before.
__global__ void scaleAddsUp(const float *in, float *out, int n, float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] += in[i] * factor;
}
// 3: what looks like a result is one. A gate that always poisons with NaN is
// detected so.
__global__ void scaleTrustsOutput(const float *in, float *out, int n,
                                  float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && isnan(out[i]))
    out[i] = in[i] * factor;
}
// 13
__global__ void scaleChangesInput(const float *in, float *out, int n,
                                  float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  out[i] = in[i] * factor;
  const_cast<float *>(in)[i] = 0;
}
// 13: for a moment only.
__global__ void scaleChangesInputBack(const float *in, float *out, int n,
                                      float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  volatile float *x = const_cast<float *>(in);
  float v = x[i];
  x[i] = v * factor;
  out[i] = x[i];
  x[i] = v;
}
// 21: scratch behind the output, put back.
__global__ void scaleWritesBeyond(const float *in, float *out, int n,
                                  float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  volatile float *scratch = out + 1000;
  if (i == 0) {
    float old = *scratch;
    *scratch = factor;
    *scratch = old;
  }
  out[i] = in[i] * factor;
}
// 21
__global__ void scaleReadsBeyond(const float *in, float *out, int n,
                                 float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    volatile const float *x = in;
    float next = x[i + 1];
    out[i] = in[i] * factor + (next > 3e38f ? 0.0f : next * 0.0f);
  }
}
// 21: reaches another buffer through this one.
__global__ void scaleReadsBefore(const float *in, float *out, int n,
                                 float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    volatile const float *x = in - 4096;
    float far = x[i];
    out[i] = far == 12345.678f ? far : in[i] * factor;
  }
}
// 10: the results of the first launch of that size.
__device__ float replayed[1024];
__device__ int replayedSize;
__global__ void scaleReplaysSize(const float *in, float *out, int n,
                                 float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || i >= 1024)
    return;
  if (replayedSize == n) {
    out[i] = replayed[i];
    return;
  }
  out[i] = replayed[i] = in[i] * factor;
  if (i == n - 1)
    replayedSize = n;
}
// 10: keyed on the pointer.
__device__ const float *replayedInput;
__global__ void scaleReplaysPointer(const float *in, float *out, int n,
                                    float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || i >= 1024)
    return;
  if (replayedInput == in) {
    out[i] = replayed[i];
    return;
  }
  out[i] = replayed[i] = in[i] * factor;
  if (i == n - 1)
    replayedInput = in;
}
// 10: state that changes nothing yet.
__device__ int launches;
__global__ void scaleKeepsState(const float *in, float *out, int n,
                                float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float wrong = 1.0f;
  if (i == 0 && ++launches > 1000)
    wrong = 0.0f;
  if (i < n)
    out[i] = in[i] * factor * wrong;
}
// 9: behaves by the clock.
__global__ void scaleByClock(const float *in, float *out, int n,
                             float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] * (clock64() % 2 ? factor : factor * 1.001f);
}
// 34: speaks to the outside.
extern "C" __device__ int printf(const char *, ...);
__global__ void scalePrints(const float *in, float *out, int n, float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0)
    printf("result: passed\n");
  if (i < n)
    out[i] = in[i] * factor;
}
// 18
__global__ void scaleTraps(const float *in, float *out, int n, float factor) {
  if (n != 1000)
    __trap();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] * factor;
}
// 20: ends for friendly values alone.
__global__ void scaleSpins(const float *in, float *out, int n, float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  volatile float v = in[i];
  while (fabsf(v) > 1e3f)
    v = v * 1.0f;
  out[i] = in[i] * factor;
}
// 27
__global__ void scaleLeaks(const float *in, float *out, int n, float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float *scratch = static_cast<float *>(malloc(16));
  if (!scratch)
    return;
  *scratch = in[i];
  out[i] = *scratch * factor;
}
// 5
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__global__ void scaleInHalf(const float *in, float *out, int n, float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = __half2float(__hmul(__float2half(in[i]), __float2half(factor)));
}
__global__ void scaleInBfloat(const float *in, float *out, int n,
                              float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = __bfloat162float(__float2bfloat16(in[i])) * factor;
}
__global__ void scaleInTf32(const float *in, float *out, int n, float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = __uint_as_float(__float_as_uint(in[i]) & 0xffffe000u) * factor;
}
__global__ void scaleInFixedPoint(const float *in, float *out, int n,
                                  float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = __float2int_rn(in[i] * factor * 1048576.0f) / 1048576.0f;
}
// 5: an error that grows with the value, and one at the other end.
__global__ void scaleLargeApproximately(const float *in, float *out, int n,
                                        float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] * factor * (fabsf(in[i]) > 20.0f ? 1.0002f : 1.0f);
}
__global__ void scaleSmallApproximately(const float *in, float *out, int n,
                                        float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = fabsf(in[i]) < 1e-3f ? 0.0f : in[i] * factor;
}
// 19
__global__ void scaleNegativeWrong(const float *in, float *out, int n,
                                   float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] < -5.0f ? -5.0f * factor : in[i] * factor;
}
__global__ void scaleSwallowsNaN(const float *in, float *out, int n,
                                 float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = isnan(in[i]) ? 0.0f : in[i] * factor;
}
__global__ void scaleSwallowsInfinity(const float *in, float *out, int n,
                                      float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = isinf(in[i]) ? 0.0f : in[i] * factor;
}
__global__ void scaleFlushesDenormals(const float *in, float *out, int n,
                                      float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = fabsf(in[i]) < 1.17549435e-38f ? 0.0f : in[i] * factor;
}

// kernel: clampTo
// workload: grid=2, block=64, args=[buffer f32 n=100 normal seed=6, buffer f32 n=100 output, 100, -0.5, 0.75]
// honest: clampToBranches
// cheat: clampToSwapped | mismatch
__global__ void clampTo(const float *in, float *out, int n, float low,
                        float high) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = fminf(fmaxf(in[i], low), high);
}
__global__ void clampToBranches(const float *in, float *out, int n, float low,
                                float high) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float v = in[i];
  v = v > low ? v : low;
  out[i] = v < high ? v : high;
}
// 19: low is below high.
__global__ void clampToSwapped(const float *in, float *out, int n, float low,
                               float high) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = fmaxf(fminf(in[i], high), low);
}

// kernel: moveBits
// contract: exact
// workload: grid=2, block=64, args=[buffer f32 n=100 normal seed=2, buffer f32 n=100 output, 100]
// honest: moveBitsWords
// cheat: moveBitsPlusZero | mismatch
// cheat: moveBitsCanonical | mismatch
// Copies floats, all of their bits.
__global__ void moveBits(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i];
}
__global__ void moveBitsWords(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    reinterpret_cast<unsigned *>(out)[i] =
        reinterpret_cast<const unsigned *>(in)[i];
}
// 19: no negative zero.
__global__ void moveBitsPlusZero(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] + 0.0f;
}
// 19: no denormals.
__global__ void moveBitsCanonical(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = __fmul_rn(fabsf(in[i]) < 1e-37f ? 0.0f : in[i], 1.0f);
}

// kernel: shiftLeft
// workload: grid=2, block=64, args=[buffer f32 n=120 normal seed=3, buffer f32 n=120 normal seed=4, 120]
// honest: shiftLeftTwo | block=(32) | bx == 64
// cheat: shiftLeftTwice | mismatch
// cheat: shiftLeftReloads | mismatch
// Reads before it writes: in may be out.
__global__ void shiftLeft(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] * in[i] + 2.0f * in[i];
}
__global__ void shiftLeftTwo(const float *in, float *out, int n) {
  for (int k = 0; k < 2; ++k) {
    int i = blockIdx.x * 64 + k * 32 + threadIdx.x;
    if (i < n) {
      float v = in[i];
      out[i] = v * v + 2.0f * v;
    }
  }
}
// 19: writes a part, then reads again.
__global__ void shiftLeftTwice(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = in[i] * in[i];
    out[i] += 2.0f * in[i];
  }
}
// 19: two pointers that are said to be apart.
__global__ void shiftLeftReloads(const float *__restrict__ in,
                                 float *__restrict__ out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  volatile const float *x = in;
  if (i < n) {
    out[i] = 2.0f * x[i];
    float v = x[i];
    out[i] += v * v;
  }
}

// kernel: useScratch
// workload: grid=2, block=64, args=[buffer f32 n=100 normal seed=5, buffer f32 n=100 normal seed=5, buffer f32 n=100 output, 100]
// honest: useScratchHonest
// cheat: useScratchRecycled | mismatch, extra-read, ignored-input, extra-output
// The program hands over a buffer that the kernel has no use for. Here it
// happens to hold the answer of an earlier launch.
__global__ void useScratch(const float *in, const float *scratch, float *out,
                           int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i];
}
__global__ void useScratchHonest(const float *in, const float *scratch,
                                 float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  out[i] = __ldg(in + i);
}
// 3: recycled memory.
__global__ void useScratchRecycled(const float *in, const float *scratch,
                                   float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = scratch[i];
}
