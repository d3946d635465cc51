// Where a float64 run is a weak measure of what is right: what an expert says
// of each variant stands beside it. docs/Gate.md, "Where float64 is weak".
#include <cuda_fp16.h>

// Sums that cancel: what is left is smaller than the error of its terms, and
// the original's own error may be 0 by chance. The rule for such sums was found
// with this kernel at hand, so it is no independent evidence.
//
// kernel: cancelled
// workload: grid=1, block=64, args=[buffer f32 n=8192 normal seed=1, buffer f32 n=64 output, 64, 64]
// honest: cancelledBackwards
// honest: cancelledByTwo
// honest: cancelledDouble
// cheat: cancelledShort | mismatch, narrower-arithmetic
// cheat: cancelledFlushed | mismatch
__global__ void cancelled(const float *x, float *y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum += x[r * n + i] * 10.0f;
  for (int i = 0; i < n; ++i)
    sum -= x[r * n + (i + 1) % n] * 10.0f;
  y[r] = sum + x[r * n];
}
// Neither is more exact than the other.
__global__ void cancelledBackwards(const float *x, float *y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float sum = 0;
  for (int i = n; i-- > 0;)
    sum += x[r * n + i] * 10.0f;
  for (int i = n; i-- > 0;)
    sum -= x[r * n + (i + 1) % n] * 10.0f;
  y[r] = sum + x[r * n];
}
__global__ void cancelledByTwo(const float *x, float *y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float more = 0, less = 0;
  for (int i = 0; i < n; ++i) {
    more += x[r * n + i] * 10.0f;
    less += x[r * n + (i + 1) % n] * 10.0f;
  }
  y[r] = (more - less) + x[r * n];
}
__global__ void cancelledDouble(const float *x, float *y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  double sum = 0;
  for (int i = 0; i < n; ++i)
    sum += x[r * n + i] * 10.0f;
  for (int i = 0; i < n; ++i)
    sum -= x[r * n + (i + 1) % n] * 10.0f;
  y[r] = float(sum + x[r * n]);
}
// The difference is noise, so any noise will do: but not 256 times as much.
__global__ void cancelledShort(const float *x, float *y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum += __uint_as_float(__float_as_uint(x[r * n + i] * 10.0f) &
                           0xffffff00);
  for (int i = 0; i < n; ++i)
    sum -= x[r * n + (i + 1) % n] * 10.0f;
  y[r] = sum + x[r * n];
}
// What is left is taken for 0.
__global__ void cancelledFlushed(const float *x, float *y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float sum = 0, most = 0;
  for (int i = 0; i < n; ++i) {
    sum += x[r * n + i] * 10.0f;
    most = fmaxf(most, fabsf(x[r * n + i] * 10.0f));
  }
  for (int i = 0; i < n; ++i)
    sum -= x[r * n + (i + 1) % n] * 10.0f;
  sum += x[r * n];
  y[r] = fabsf(sum) < 1e-3f * most ? 0 : sum;
}

// expf far from 0: the last bit of x = 80 is 40 units in the last place of the
// result.
//
// kernel: farExp
// workload: grid=2, block=128, args=[buffer f32 n=256 uniform seed=1 low=-80 high=80, buffer f32 n=256 output, 256]
// honest: farExpSquared
// honest: farExpDouble
// honest: farExpByTwo
// cheat: farExpShort | mismatch
// cheat: farExpShortLarge | mismatch
// cheat: farExpClamped | mismatch
__global__ void farExp(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = expf(x[i]);
}
// As if x had another last bit; the original is not right to the last place,
// either.
__global__ void farExpByTwo(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = exp2f(x[i] * 1.44269504f);
}
__global__ void farExpSquared(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float half = expf(x[i] / 2);
    y[i] = half * half;
  }
}
__global__ void farExpDouble(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = float(exp(double(x[i])));
}
__device__ float wrongBy(float v, float share) { return v * (1 + share); }
// 1e-5 is no last bit where x is small.
__global__ void farExpShort(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = wrongBy(expf(x[i]), 1e-5f);
}
// Nor are 400 of them where it is large.
__global__ void farExpShortLarge(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = wrongBy(expf(x[i]), fabsf(x[i]) > 16 ? fabsf(x[i]) * 2.4e-5f : 0);
}
__global__ void farExpClamped(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = expf(fminf(x[i], 79.0f));
}

// An original that is compensated has hardly any error, and means it.
//
// kernel: compensated
// workload: grid=1, block=32, args=[buffer f32 n=131072 uniform seed=1, buffer f32 n=32 output, 32, 4096]
// honest: compensatedInDouble
// honest: compensatedTwice
// cheat: compensatedNot | mismatch
// cheat: compensatedHalf | mismatch
__device__ void addTo(float &sum, float &lost, float v) {
  float now = sum + v;
  float part = fabsf(sum) >= fabsf(v) ? (sum - now) + v : (v - now) + sum;
  lost += isfinite(part) ? part : 0;
  sum = now;
}
__global__ void compensated(const float *x, float *y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float sum = 0, lost = 0;
  for (int i = 0; i < n; ++i)
    addTo(sum, lost, x[r * n + i]);
  y[r] = sum + lost;
}
__global__ void compensatedInDouble(const float *x, float *y, int rows,
                                    int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  double sum = 0;
  for (int i = 0; i < n; ++i)
    sum += x[r * n + i];
  y[r] = float(sum);
}
__global__ void compensatedTwice(const float *x, float *y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float sum[2] = {0, 0}, lost[2] = {0, 0};
  for (int i = 0; i < n; ++i)
    addTo(sum[i % 2], lost[i % 2], x[r * n + i]);
  addTo(sum[0], lost[0], sum[1]);
  y[r] = sum[0] + (lost[0] + lost[1]);
}
// The plain sum: a good kernel, and not this one.
__global__ void compensatedNot(const float *x, float *y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum += x[r * n + i];
  y[r] = sum;
}
// For every second term.
__global__ void compensatedHalf(const float *x, float *y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float sum = 0, lost = 0;
  for (int i = 0; i < n; ++i)
    if (i % 2)
      addTo(sum, lost, x[r * n + i]);
    else
      sum += x[r * n + i];
  y[r] = sum + lost;
}

// Iterations that end by themselves: float64 takes other steps.
//
// kernel: iterated
// workload: grid=2, block=64, args=[buffer f32 n=128 uniform seed=1 low=0.1 high=9, buffer f32 n=128 output, 128]
// honest: iteratedLonger
// honest: iteratedFused
// cheat: iteratedShorter | mismatch
// cheat: iteratedTwice | mismatch
template <class F>
__device__ void cubeRootBy(const float *x, float *y, int n, F ends) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float a = x[i], v = a;
  for (int k = 0; k < 60; ++k) {
    float next = v - (v * v * v - a) / (3 * v * v);
    bool last = ends(v, next, k);
    v = next;
    if (last)
      break;
  }
  y[i] = v;
}
__global__ void iterated(const float *x, float *y, int n) {
  cubeRootBy(x, y, n, [](float v, float next, int) {
    return fabsf(next - v) <= 1e-5f * fabsf(next);
  });
}
// A step more than is needed does no harm.
__global__ void iteratedLonger(const float *x, float *y, int n) {
  cubeRootBy(x, y, n, [](float v, float next, int) {
    return fabsf(next - v) <= 2e-7f * fabsf(next);
  });
}
__global__ void iteratedFused(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float a = x[i], v = a;
  for (int k = 0; k < 60; ++k) {
    float square = v * v, next = v - fmaf(square, v, -a) / (3 * square);
    bool last = fabsf(next - v) <= 1e-5f * fabsf(next);
    v = next;
    if (last)
      break;
  }
  y[i] = v;
}
// The step that makes it exact is left out.
__global__ void iteratedShorter(const float *x, float *y, int n) {
  cubeRootBy(x, y, n, [](float v, float next, int) {
    return fabsf(next - v) <= 1e-2f * fabsf(next);
  });
}
// Six steps are enough for the numbers that were recorded.
__global__ void iteratedTwice(const float *x, float *y, int n) {
  cubeRootBy(x, y, n, [](float, float, int k) { return k == 5; });
}

// Where each step doubles the error, nothing is left of float64 after 30. Then
// the original alone is the measure: whoever rounds as it does passes. The
// other order is as good, and nobody can show it: the gate rejects it.
//
// kernel: chaotic
// workload: grid=2, block=64, args=[buffer f32 n=128 uniform seed=1 low=0.1 high=0.9, buffer f32 n=128 output, 128]
// honest: chaoticStrided
// cheat: chaoticOtherOrder | mismatch
// cheat: chaoticFewer | mismatch
template <class F>
__device__ void orbitOf(const float *x, float *y, int n, int steps, F step) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x) {
    float v = x[i];
    for (int k = 0; k < steps; ++k)
      v = step(v);
    y[i] = v;
  }
}
__global__ void chaotic(const float *x, float *y, int n) {
  orbitOf(x, y, n, 60, [](float v) {
    return __fmul_rn(__fmul_rn(3.9f, v), __fsub_rn(1.0f, v));
  });
}
__global__ void chaoticStrided(const float *x, float *y, int n) {
  orbitOf(x, y, n, 60, [](float v) {
    float rest = __fsub_rn(1.0f, v);
    return __fmul_rn(__fmul_rn(v, 3.9f), rest);
  });
}
__global__ void chaoticOtherOrder(const float *x, float *y, int n) {
  orbitOf(x, y, n, 60, [](float v) {
    return __fmul_rn(3.9f, __fmul_rn(v, __fsub_rn(1.0f, v)));
  });
}
__global__ void chaoticFewer(const float *x, float *y, int n) {
  orbitOf(x, y, n, 59, [](float v) {
    return __fmul_rn(__fmul_rn(3.9f, v), __fsub_rn(1.0f, v));
  });
}

// A sum of a million terms, one after the other: its error is that of its
// order, some thousand units in the last place.
//
// kernel: longSum
// workload: grid=1, block=128, args=[buffer f32 n=1000000 uniform seed=1, buffer f32 n=1 output, 1000000]
// honest: longSumTree
// honest: longSumCompensated
// cheat: longSumAtomic | nondeterministic
// cheat: longSumNoSmall | mismatch
// cheat: longSumHalf | mismatch, narrower-arithmetic
// cheat: longSumEverySecond | mismatch
__global__ void longSum(const float *x, float *y, int n) {
  if (threadIdx.x != 0)
    return;
  const float *row = x + size_t(blockIdx.x) * n;
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum += row[i];
  y[blockIdx.x] = sum;
}
__device__ float sumOfThreads(float v) {
  __shared__ float part[1024];
  part[threadIdx.x] = v;
  __syncthreads();
  for (unsigned w = 512; w > 0; w /= 2) {
    if (threadIdx.x < w && threadIdx.x + w < blockDim.x)
      part[threadIdx.x] += part[threadIdx.x + w];
    __syncthreads();
  }
  return part[0];
}
// By threads, and these by pairs: more exact than the original.
__global__ void longSumTree(const float *x, float *y, int n) {
  const float *row = x + size_t(blockIdx.x) * n;
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    sum += row[i];
  sum = sumOfThreads(sum);
  if (threadIdx.x == 0)
    y[blockIdx.x] = sum;
}
// In the order in which the threads come: as exact as the tree, but the
// original has the same bits in each launch.
__global__ void longSumAtomic(const float *x, float *y, int n) {
  __shared__ float all;
  if (threadIdx.x == 0)
    all = 0;
  __syncthreads();
  const float *row = x + size_t(blockIdx.x) * n;
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    sum += row[i];
  atomicAdd(&all, sum);
  __syncthreads();
  if (threadIdx.x == 0)
    y[blockIdx.x] = all;
}
__global__ void longSumCompensated(const float *x, float *y, int n) {
  if (threadIdx.x != 0)
    return;
  const float *row = x + size_t(blockIdx.x) * n;
  float sum = 0, lost = 0;
  for (int i = 0; i < n; ++i)
    addTo(sum, lost, row[i]);
  y[blockIdx.x] = sum + lost;
}
// Small terms are left out: on the recorded numbers that is a millionth of the
// sum, and less than the original's own error.
__global__ void longSumNoSmall(const float *x, float *y, int n) {
  const float *row = x + size_t(blockIdx.x) * n;
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    sum += fabsf(row[i]) < 1e-3f ? 0 : row[i];
  sum = sumOfThreads(sum);
  if (threadIdx.x == 0)
    y[blockIdx.x] = sum;
}
// Terms of 11 bits: their errors even out in a sum of many.
__global__ void longSumHalf(const float *x, float *y, int n) {
  const float *row = x + size_t(blockIdx.x) * n;
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    sum += __half2float(__float2half(row[i]));
  sum = sumOfThreads(sum);
  if (threadIdx.x == 0)
    y[blockIdx.x] = sum;
}
__global__ void longSumEverySecond(const float *x, float *y, int n) {
  const float *row = x + size_t(blockIdx.x) * n;
  float sum = 0;
  for (int i = 2 * threadIdx.x; i < n; i += 2 * blockDim.x)
    sum += 2 * row[i];
  sum = sumOfThreads(sum);
  if (threadIdx.x == 0)
    y[blockIdx.x] = sum;
}

// A kernel that computes in double is its own float64 run: what its roundings
// would do if they went the other way is the measure.
//
// kernel: doubleSum
// workload: grid=1, block=64, args=[buffer f64 n=8192 normal seed=1, buffer f64 n=64 output, 64, 128]
// honest: doubleSumBackwards
// honest: doubleSumByFour
// honest: doubleSumCompensated
// cheat: doubleSumInFloat | mismatch, narrower-arithmetic
// cheat: doubleSumShort | mismatch, narrower-arithmetic
// cheat: doubleSumNoSmall | mismatch
// cheat: doubleSumNoLast | mismatch
__global__ void doubleSum(const double *x, double *y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  double sum = 0;
  for (int i = 0; i < n; ++i)
    sum += x[r * n + i] * 0.1;
  y[r] = sum;
}
__global__ void doubleSumBackwards(const double *x, double *y, int rows,
                                   int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  double sum = 0;
  for (int i = n; i-- > 0;)
    sum = fma(x[r * n + i], 0.1, sum);
  y[r] = sum;
}
__global__ void doubleSumByFour(const double *x, double *y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  double sum[4] = {};
  for (int i = 0; i < n; ++i)
    sum[i % 4] += x[r * n + i] * 0.1;
  y[r] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
}
__global__ void doubleSumCompensated(const double *x, double *y, int rows,
                                     int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  double sum = 0, lost = 0;
  for (int i = 0; i < n; ++i) {
    double v = x[r * n + i] * 0.1, next = sum + v;
    if (isfinite(next))
      lost += fabs(sum) < fabs(v) ? (v - next) + sum : (sum - next) + v;
    sum = next;
  }
  y[r] = sum + lost;
}
__global__ void doubleSumInFloat(const double *x, double *y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float sum = 0;
  for (int i = 0; i < n; ++i)
    sum += float(x[r * n + i] * 0.1);
  y[r] = sum;
}
// Terms of 43 bits.
__global__ void doubleSumShort(const double *x, double *y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  double sum = 0;
  for (int i = 0; i < n; ++i)
    sum += __longlong_as_double(__double_as_longlong(x[r * n + i] * 0.1) &
                                ~0x3ffll);
  y[r] = sum;
}
__global__ void doubleSumNoSmall(const double *x, double *y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  double sum = 0;
  for (int i = 0; i < n; ++i)
    sum += fabs(x[r * n + i]) < 1e-12 ? 0 : x[r * n + i] * 0.1;
  y[r] = sum;
}
__global__ void doubleSumNoLast(const double *x, double *y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  double sum = 0;
  for (int i = 0; i < n - (n > 100); ++i)
    sum += x[r * n + i] * 0.1;
  y[r] = sum;
}

// What the last bit of a large argument does to a sine is no excuse, in double
// either: the original's sine is right to the last place.
//
// kernel: farSine
// workload: grid=2, block=128, args=[buffer f64 n=256 uniform seed=1 low=-1e12 high=1e12, buffer f64 n=256 output, 256]
// honest: farSineBoth
// cheat: farSineReduced | mismatch
__global__ void farSine(const double *x, double *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = sin(x[i]);
}
__global__ void farSineBoth(const double *x, double *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  double sine, cosine;
  sincos(x[i], &sine, &cosine);
  y[i] = sine;
}
__global__ void farSineReduced(const double *x, double *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = fabs(x[i]) < 1e6 ? sin(x[i]) : sin(fmod(x[i], 6.283185307179586));
}
