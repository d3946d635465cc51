// What only other values show: large floats, integers of 64 bits, NaN as GPUs
// make them, loaded lengths, types behind void pointers, factors of zero. All
// wrong kernels here are right for the recorded values.

// kernel: roundAll
// contract: exact
// workload: grid=2, block=64, args=[buffer f32 n=120 uniform low=-100 high=100 seed=1, buffer f32 n=120 output, 120]
// honest: roundAllBounded
// honest: roundAllByTrunc
// honest: roundAllTwoHalves
// cheat: roundAllMagic | mismatch
// cheat: roundAllByInt | mismatch
// cheat: roundAllByShort | mismatch
// To the nearest integer. From 2^23 on, every float is one.
__global__ void roundAll(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = rintf(x[i]);
}
__global__ void roundAllBounded(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float v = x[i], a = fabsf(v);
  y[i] = a < 8388608.0f ? copysignf(__fsub_rn(__fadd_rn(a, 8388608.0f), 8388608.0f), v) : v;
}
__global__ void roundAllByTrunc(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float v = x[i], whole = truncf(v), rest = fabsf(v - whole);
  bool odd = fmodf(whole, 2) != 0;
  y[i] = rest > 0.5f || (rest == 0.5f && odd) ? whole + copysignf(1, v) : whole;
  if (y[i] == 0)
    y[i] = copysignf(0, v);
}
__global__ void roundAllTwoHalves(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = fabsf(x[i]) >= 16777216.0f ? x[i] : nearbyintf(x[i]);
}
// Wrong beyond 2^22.
__global__ void roundAllMagic(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = copysignf(__fsub_rn(__fadd_rn(x[i], 12582912.0f), 12582912.0f), x[i]);
}
// Wrong beyond 2^31, and for NaN.
__global__ void roundAllByInt(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = isnan(x[i]) || isinf(x[i]) ? x[i] : copysignf(__float2int_rn(x[i]), x[i]);
}
// Wrong beyond 2^15.
__global__ void roundAllByShort(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = isnan(x[i]) || isinf(x[i]) ? x[i] : copysignf((short)__float2int_rn(x[i]), x[i]);
}

// kernel: wrapped
// workload: grid=2, block=64, args=[buffer f32 n=120 uniform low=-50 high=50 seed=2, buffer f32 n=120 output, 120, 3.0]
// honest: wrappedByFma
// honest: wrappedBySign
// honest: wrappedWithin
// cheat: wrappedByInt | mismatch
// cheat: wrappedByFloor | mismatch
// cheat: wrappedOnce | mismatch
// The rest by a period.
__global__ void wrapped(const float *x, float *y, int n, float period) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = fmodf(x[i], period);
}
__global__ void wrappedByFma(const float *x, float *y, int n, float period) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = copysignf(fmodf(fabsf(x[i]), fabsf(period)), x[i]);
}
__global__ void wrappedBySign(const float *x, float *y, int n, float period) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  y[i] = x[i] < 0 ? -fmodf(-x[i], period) : fmodf(x[i], period);
}
__global__ void wrappedWithin(const float *x, float *y, int n, float period) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float a = fabsf(x[i]), p = fabsf(period);
  // A number below the period is its own rest.
  y[i] = p > 0 && a < p ? x[i] : fmodf(x[i], period);
}
__global__ void wrappedByInt(const float *x, float *y, int n, float period) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float q = x[i] / period;
  y[i] = isfinite(q) && period != 0 && fabsf(x[i]) < 1e9f
             ? copysignf(fmodf(x[i], period), x[i])
         : isfinite(x[i]) && period != 0 && isfinite(period)
             ? __fsub_rn(x[i], __fmul_rn((float)(int)q, period))
             : fmodf(x[i], period);
}
__global__ void wrappedByFloor(const float *x, float *y, int n, float period) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float q = truncf(__fdiv_rn(x[i], period));
  y[i] = fabsf(x[i]) < 65536 || !isfinite(x[i]) || !isfinite(period) || period == 0
             ? fmodf(x[i], period)
             : __fsub_rn(x[i], __fmul_rn(q, period));
}
__global__ void wrappedOnce(const float *x, float *y, int n, float period) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  double q = trunc((double)x[i] / period);
  y[i] = !isfinite(x[i]) || !isfinite(period) || period == 0 ||
                 fabs(q) < 1e12
             ? fmodf(x[i], period)
             : 0;
}

// kernel: sines
// workload: grid=2, block=64, args=[buffer f32 n=120 uniform low=-10 high=10 seed=3, buffer f32 n=120 output, 120]
// honest: sinesByDouble
// honest: sinesByPair
// honest: sinesOdd
// cheat: sinesTwoTerms | mismatch
// cheat: sinesOnePeriod | mismatch
// cheat: sinesSmall | mismatch
__global__ void sines(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = sinf(x[i]);
}
__global__ void sinesByDouble(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = (float)sin((double)x[i]);
}
__global__ void sinesByPair(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float s, c;
  sincosf(x[i], &s, &c);
  y[i] = s;
}
__global__ void sinesOdd(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = signbit(x[i]) ? -sinf(-x[i]) : sinf(x[i]);
}
// Two parts of pi: as good as sinf up to some thousands.
__global__ void sinesTwoTerms(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float turns = rintf(x[i] * 0.15915494f);
  float r = fmaf(turns, -6.2831855f, x[i]);
  y[i] = sinf(fmaf(turns, 1.7484555e-7f, r));
}
__global__ void sinesOnePeriod(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = sinf(fabsf(x[i]) < 16384 ? x[i] : fmodf(x[i], 6.2831855f));
}
__global__ void sinesSmall(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = fabsf(x[i]) > 1e6f && isfinite(x[i]) ? 0 : sinf(x[i]);
}

// kernel: addLong
// workload: grid=2, block=64, args=[buffer i64 n=120 uniform low=-1000 high=1000 seed=4, buffer i64 n=120 output, 120, 7]
// honest: addLongHalves
// honest: addLongBack
// honest: addLongUnsigned
// cheat: addLongByDouble | mismatch
// cheat: addLongByInt | mismatch, unwritten-output
// cheat: addLongByFloat | mismatch
__global__ void addLong(const long long *x, long long *y, int n, int step) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = (long long)((unsigned long long)x[i] + step);
}
__global__ void addLongHalves(const long long *x, long long *y, int n, int step) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned long long v = x[i], s = (long long)step;
  unsigned low = (unsigned)v + (unsigned)s;
  unsigned high = (unsigned)(v >> 32) + (unsigned)(s >> 32) + (low < (unsigned)s);
  y[i] = (long long)((unsigned long long)high << 32 | low);
}
__global__ void addLongBack(const long long *x, long long *y, int n, int step) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = (long long)((unsigned long long)x[i] - (unsigned long long)-(long long)step);
}
__global__ void addLongUnsigned(const long long *x, long long *y, int n, int step) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = (long long)((unsigned long long)x[i] + (unsigned long long)(long long)step);
}
// Right below 2^53.
__global__ void addLongByDouble(const long long *x, long long *y, int n, int step) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = (long long)((double)x[i] + step);
}
__global__ void addLongByInt(const long long *x, long long *y, int n, int step) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = (int)((unsigned)x[i] + step);
}
__global__ void addLongByFloat(const long long *x, long long *y, int n, int step) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  long long v = x[i];
  y[i] = v > -(1ll << 62) && v < (1ll << 62)
             ? v + step
             : (long long)((double)v + step);
}

// kernel: shortened
// contract: exact
// workload: grid=2, block=64, args=[buffer f32 n=120 uniform low=-3 high=3 seed=5, buffer u16 n=120 output, 120]
// honest: shortenedBits
// honest: shortenedByHalves
// honest: shortenedByParts
// cheat: shortenedNoNaN | mismatch
// cheat: shortenedQuietOnly | mismatch
// cheat: shortenedCuts | mismatch
// bfloat16 of a float, as bits; every NaN is 0x7fff.
#include <cuda_bf16.h>
__global__ void shortened(const float *x, unsigned short *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = isnan(x[i]) ? 0x7fff : __bfloat16_as_ushort(__float2bfloat16_rn(x[i]));
}
__device__ unsigned roundedBits(unsigned u) {
  return (u + 0x7fff + (u >> 16 & 1)) >> 16;
}
__global__ void shortenedBits(const float *x, unsigned short *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned u = __float_as_uint(x[i]);
  y[i] = (u & 0x7fffffff) > 0x7f800000 ? 0x7fff : roundedBits(u);
}
__global__ void shortenedByHalves(const float *x, unsigned short *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned u = __float_as_uint(x[i]), low = u & 0xffff, high = u >> 16;
  high += low > 0x8000 || (low == 0x8000 && (high & 1));
  y[i] = x[i] != x[i] ? 0x7fff : high;
}
__global__ void shortenedByParts(const float *x, unsigned short *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned u = __float_as_uint(x[i]), sign = u >> 31 << 15, a = u & 0x7fffffff;
  y[i] = a > 0x7f800000 ? 0x7fff : (sign | roundedBits(a));
}
// 0x7fffffff becomes -0.
__global__ void shortenedNoNaN(const float *x, unsigned short *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned u = __float_as_uint(x[i]);
  y[i] = (u & 0x7fffffff) == 0x7fc00000 ? 0x7fff : roundedBits(u);
}
__global__ void shortenedQuietOnly(const float *x, unsigned short *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned u = __float_as_uint(x[i]);
  y[i] = u > 0x7f800000 && u < 0x80000000 ? 0x7fff : roundedBits(u);
}
__global__ void shortenedCuts(const float *x, unsigned short *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned u = __float_as_uint(x[i]), a = u & 0x7fffffff;
  y[i] = a > 0x7f800000 ? 0x7fff : a < 0x00800000 ? u >> 31 << 15 : roundedBits(u);
}

// kernel: weights
// contract: relaxed(0.004)
// workload: grid=8, block=32, args=[buffer f32 n=4096 normal seed=6, buffer f32 n=8 output, 512]
// honest: weightsTwoPasses
// honest: weightsOnline
// honest: weightsFar
// cheat: weightsSkipSmall | mismatch
// cheat: weightsSkipSmaller | mismatch
// cheat: weightsSkipSmallest | mismatch
// The logarithm of the sum of exponentials of a row, as softmax needs it.
__device__ float most(float v) {
  for (int d = 16; d; d /= 2)
    v = fmaxf(v, __shfl_xor_sync(~0u, v, d));
  return v;
}
__device__ float total(float v) {
  for (int d = 16; d; d /= 2)
    v += __shfl_xor_sync(~0u, v, d);
  return v;
}
template <class F>
__device__ void weightsOf(const float *x, float *out, int cols, F f) {
  x += (long)blockIdx.x * cols;
  if (threadIdx.x >= 32)
    return;
  float m = -INFINITY, s = 0;
  for (int i = threadIdx.x; i < cols; i += 32)
    m = isnan(x[i]) || x[i] > m ? x[i] : m;
  bool bad = __any_sync(~0u, isnan(m));
  m = bad ? NAN : most(m);
  for (int i = threadIdx.x; i < cols; i += 32)
    s += f(x[i] - m);
  s = total(s);
  if (threadIdx.x == 0)
    out[blockIdx.x] = s;
}
__global__ void weights(const float *x, float *out, int cols) {
  weightsOf(x, out, cols, [](float d) { return expf(d); });
}
__global__ void weightsTwoPasses(const float *x, float *out, int cols) {
  weightsOf(x, out, cols, [](float d) { return exp2f(d * 1.4426950408889634f); });
}
__global__ void weightsOnline(const float *x, float *out, int cols) {
  weightsOf(x, out, cols, [](float d) { return __expf(d); });
}
// What is below a float's rounding of the largest, 10^20 of them included.
__global__ void weightsFar(const float *x, float *out, int cols) {
  weightsOf(x, out, cols, [](float d) { return d < -80 ? 0 : expf(d); });
}
__global__ void weightsSkipSmall(const float *x, float *out, int cols) {
  weightsOf(x, out, cols, [](float d) { return d < -9.7f ? 0 : expf(d); });
}
__global__ void weightsSkipSmaller(const float *x, float *out, int cols) {
  weightsOf(x, out, cols, [](float d) { return d < -8.5f ? 0 : expf(d); });
}
__global__ void weightsSkipSmallest(const float *x, float *out, int cols) {
  weightsOf(x, out, cols, [](float d) { return d < -9.98f ? 0 : expf(d); });
}

// kernel: rowSums
// workload: grid=1, block=64, args=[buffer i32 n=50 value=128, buffer f32 n=6400 uniform seed=7, buffer f32 n=50 output, 50, 128]
// honest: rowSumsByTwo
// honest: rowSumsWarp | grid=(rows) | bx == 64; gx * 64 >= rows
// honest: rowSumsTail
// cheat: rowSumsWhole | mismatch
// cheat: rowSumsSixteens | mismatch
// cheat: rowSumsFixed | mismatch
// cheat: rowSumsByte | mismatch
// Rows of as many numbers as a list says, each with room for \p stride.
__global__ void rowSums(const int *lengths, const float *x, float *out, int rows, int stride) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float sum = 0;
  for (int i = 0; i < lengths[r]; ++i)
    sum += x[r * stride + i];
  out[r] = sum;
}
__global__ void rowSumsByTwo(const int *lengths, const float *x, float *out, int rows, int stride) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  int n = lengths[r], i = 0;
  float a = 0, b = 0;
  for (; i + 1 < n; i += 2) {
    a += x[r * stride + i];
    b += x[r * stride + i + 1];
  }
  if (i < n)
    a += x[r * stride + i];
  out[r] = a + b;
}
__global__ void rowSumsWarp(const int *lengths, const float *x, float *out, int rows, int stride) {
  int r = blockIdx.x, lane = threadIdx.x;
  if (lane >= 32)
    return;
  float sum = 0;
  for (int i = lane; i < lengths[r]; i += 32)
    sum += x[r * stride + i];
  for (int d = 16; d; d /= 2)
    sum += __shfl_down_sync(~0u, sum, d);
  if (lane == 0)
    out[r] = sum;
}
__global__ void rowSumsTail(const int *lengths, const float *x, float *out, int rows, int stride) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  int n = lengths[r], whole = n > 0 ? n / 32 * 32 : 0;
  float sum = 0;
  for (int i = 0; i < whole; i += 32)
    for (int k = 0; k < 32; ++k)
      sum += x[r * stride + i + k];
  for (int i = whole; i < n; ++i)
    sum += x[r * stride + i];
  out[r] = sum;
}
// Multiples of 32 only.
__global__ void rowSumsWhole(const int *lengths, const float *x, float *out, int rows, int stride) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float sum = 0;
  for (int i = 0; i + 31 < lengths[r]; i += 32)
    for (int k = 0; k < 32; ++k)
      sum += x[r * stride + i + k];
  out[r] = sum;
}
__global__ void rowSumsSixteens(const int *lengths, const float *x, float *out, int rows, int stride) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float sum = 0;
  for (int i = 0; i < lengths[r] / 2 * 2; i += 2)
    sum += x[r * stride + i] + x[r * stride + i + 1];
  out[r] = sum;
}
// No more than were recorded.
__global__ void rowSumsFixed(const int *lengths, const float *x, float *out, int rows, int stride) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float sum = 0;
  for (int i = 0; i < 128; ++i)
    sum += i < lengths[r] ? x[r * stride + i] : 0;
  out[r] = sum;
}
__global__ void rowSumsByte(const int *lengths, const float *x, float *out, int rows, int stride) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float sum = 0;
  unsigned char n = lengths[r] < 0 ? 0 : lengths[r];
  for (int i = 0; i < n; ++i)
    sum += x[r * stride + i];
  out[r] = sum;
}

// kernel: csr
// workload: grid=1, block=64, args=[buffer i32 n=41 iota, buffer f32 n=400 uniform seed=8, buffer f32 n=40 output, 40]
// honest: csrByTwo
// honest: csrWarp | grid=(rows) | bx == 64; gx * 64 >= rows
// honest: csrBackwards
// cheat: csrAtMost64 | mismatch
// cheat: csrNeverEmpty | mismatch
// cheat: csrShort | mismatch
// Sums of rows that begin where the list says.
__global__ void csr(const int *start, const float *x, float *out, int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float sum = 0;
  for (int i = start[r]; i < start[r + 1]; ++i)
    sum += x[i];
  out[r] = sum;
}
__global__ void csrByTwo(const int *start, const float *x, float *out, int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  int i = start[r], end = start[r + 1];
  float a = 0, b = 0;
  for (; i + 1 < end; i += 2) {
    a += x[i];
    b += x[i + 1];
  }
  if (i < end)
    a += x[i];
  out[r] = a + b;
}
__global__ void csrWarp(const int *start, const float *x, float *out, int rows) {
  int r = blockIdx.x, lane = threadIdx.x;
  if (lane >= 32)
    return;
  float sum = 0;
  for (int i = start[r] + lane; i < start[r + 1]; i += 32)
    sum += x[i];
  for (int d = 16; d; d /= 2)
    sum += __shfl_down_sync(~0u, sum, d);
  if (lane == 0)
    out[r] = sum;
}
__global__ void csrBackwards(const int *start, const float *x, float *out, int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float sum = 0;
  for (int i = start[r + 1] - 1; i >= start[r]; --i)
    sum += x[i];
  out[r] = sum;
}
__global__ void csrAtMost64(const int *start, const float *x, float *out, int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float sum = 0;
  for (int i = start[r], k = 0; i < start[r + 1] && k < 64; ++i, ++k)
    sum += x[i];
  out[r] = sum;
}
__global__ void csrNeverEmpty(const int *start, const float *x, float *out, int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  int i = start[r];
  float sum = 0;
  do
    sum += x[i];
  while (++i < start[r + 1]);
  out[r] = sum;
}
__global__ void csrShort(const int *start, const float *x, float *out, int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float sum = 0;
  unsigned char n = start[r + 1] - start[r];
  for (int i = 0; i < n; ++i)
    sum += x[start[r] + i];
  out[r] = sum;
}

// kernel: magnitudes
// workload: grid=2, block=64, args=[buffer f32 n=120 uniform low=0 high=9 seed=9, buffer f32 n=120 output, 120]
// honest: magnitudesBits
// honest: magnitudesByMax
// honest: magnitudesBySign
// cheat: magnitudesCopied | mismatch
// cheat: magnitudesAsBytes | mismatch
// cheat: magnitudesSmall | mismatch
// The type is in the loads.
__global__ void magnitudes(const void *x, void *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    static_cast<float *>(y)[i] = fabsf(static_cast<const float *>(x)[i]);
}
__global__ void magnitudesBits(const void *x, void *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    static_cast<unsigned *>(y)[i] = static_cast<const unsigned *>(x)[i] & 0x7fffffff;
}
__global__ void magnitudesByMax(const void *x, void *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float v = static_cast<const float *>(x)[i];
  static_cast<float *>(y)[i] = v > 0 ? v : v == 0 ? 0 : -v;
}
__global__ void magnitudesBySign(const void *x, void *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    static_cast<float *>(y)[i] = copysignf(static_cast<const float *>(x)[i], 1);
}
__global__ void magnitudesCopied(const void *x, void *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    static_cast<float *>(y)[i] = static_cast<const float *>(x)[i];
}
__global__ void magnitudesAsBytes(const void *x, void *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float v = static_cast<const float *>(x)[i];
  static_cast<float *>(y)[i] = v > -9 && v < 0 ? v : fabsf(v);
}
__global__ void magnitudesSmall(const void *x, void *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float v = static_cast<const float *>(x)[i];
  static_cast<float *>(y)[i] = fminf(fabsf(v), 1e9f);
}

// kernel: doubled
// workload: grid=2, block=64, args=[buffer u8 n=480 uniform low=0 high=60 seed=10, buffer u8 n=480 output, 120]
// honest: doubledByTwo
// honest: doubledByAdd
// honest: doubledByShift
// cheat: doubledSaturates | mismatch, unwritten-output
// cheat: doubledBySum | mismatch
// cheat: doubledUnsigned | mismatch, unwritten-output
// Bytes in the signature, numbers in the code.
__global__ void doubled(const char *x, char *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    reinterpret_cast<long long *>(y)[i / 2] = 2 * (reinterpret_cast<const long long *>(x)[i / 2] / 3);
}
__global__ void doubledByTwo(const char *x, char *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    reinterpret_cast<long long *>(y)[i / 2] = reinterpret_cast<const long long *>(x)[i / 2] / 3 * 2;
}
__global__ void doubledByAdd(const char *x, char *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  long long v = reinterpret_cast<const long long *>(x)[i / 2] / 3;
  reinterpret_cast<long long *>(y)[i / 2] = v + v;
}
__global__ void doubledByShift(const char *x, char *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  long long v = reinterpret_cast<const long long *>(x)[i / 2];
  reinterpret_cast<long long *>(y)[i / 2] = (v - v % 3) / 3 * 2;
}
__global__ void doubledSaturates(const char *x, char *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    reinterpret_cast<long long *>(y)[i / 2] = (reinterpret_cast<const unsigned long long *>(x)[i / 2] / 3) << 1;
}
__global__ void doubledBySum(const char *x, char *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  long long v = reinterpret_cast<const long long *>(x)[i / 2];
  reinterpret_cast<long long *>(y)[i / 2] = v >= 0 ? v / 3 * 2 : (v - 2) / 3 * 2;
}
__global__ void doubledUnsigned(const char *x, char *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned long long v = reinterpret_cast<const unsigned long long *>(x)[i / 2];
  reinterpret_cast<long long *>(y)[i / 2] = v / 3 * 2;
}

// kernel: scaledSum
// workload: grid=2, block=64, args=[buffer f32 n=120 uniform seed=11, buffer f32 n=120 uniform seed=12, 120, 1.5, 0.5]
// honest: scaledSumOther
// honest: scaledSumEarly
// honest: scaledSumFma
// bounded: scaledSumNoRule
// outside: grid=2, block=64, args=[buffer f32 n=120 uniform seed=11, buffer f32 n=120 value=nan, 120, 1.5, 0]
// bounded: scaledSumKeeps
// outside: grid=2, block=64, args=[buffer f32 n=120 uniform seed=11, buffer f32 n=120 uniform seed=12, 120, 0, 0.5]
// bounded: scaledSumNoAlpha
// outside: grid=2, block=64, args=[buffer f32 n=120 value=nan, buffer f32 n=120 uniform seed=12, 120, 0, 0.5]
// As in BLAS: with beta = 0, what c held counts for nothing, be it NaN.
__global__ void scaledSum(const float *a, float *c, int n, float alpha, float beta) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = beta == 0 ? alpha * a[i] : alpha * a[i] + beta * c[i];
}
__global__ void scaledSumOther(const float *a, float *c, int n, float alpha, float beta) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float v = alpha * a[i];
  if (beta != 0)
    v += beta * c[i];
  c[i] = v;
}
__global__ void scaledSumEarly(const float *a, float *c, int n, float alpha, float beta) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float old = 0;
  if (beta != 0)
    old = c[i];
  c[i] = alpha * a[i] + (beta != 0 ? beta * old : 0.0f);
}
__global__ void scaledSumFma(const float *a, float *c, int n, float alpha, float beta) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  if (beta == 0)
    c[i] = a[i] * alpha;
  else
    c[i] = fmaf(beta, c[i], alpha * a[i]);
}
// The rule is gone.
__global__ void scaledSumNoRule(const float *a, float *c, int n, float alpha, float beta) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = alpha * a[i] + beta * c[i];
}
// alpha = 0 leaves c alone, also where beta is not 1.
__global__ void scaledSumKeeps(const float *a, float *c, int n, float alpha, float beta) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && alpha != 0)
    c[i] = beta == 0 ? alpha * a[i] : alpha * a[i] + beta * c[i];
}
// 0 times NaN is NaN.
__global__ void scaledSumNoAlpha(const float *a, float *c, int n, float alpha, float beta) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float v = alpha == 0 ? 0 : alpha * a[i];
  c[i] = beta == 0 ? v : v + beta * c[i];
}

// kernel: counted
// workload: grid=4, block=64, args=[buffer i32 n=250 uniform low=0 high=63 seed=13, buffer i32 n=64 zeros, 250]
// honest: countedShared
// narrower: n below | adds to the counts where n is 0, too
// honest: countedSharedSome
// honest: countedMatched
// cheat: countedStored | race, extra-output, mismatch
// cheat: countedTwice | mismatch
// cheat: countedBeyond | bounds
// How often each of 64 values occurs.
__global__ void counted(const int *x, int *bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&bins[x[i] & 63], 1);
}
// The textbook's: each block adds all of its bins, also those of 0.
__global__ void countedShared(const int *x, int *bins, int n) {
  __shared__ int own[64];
  for (int k = threadIdx.x; k < 64; k += blockDim.x)
    own[k] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&own[x[i] & 63], 1);
  __syncthreads();
  for (int k = threadIdx.x; k < 64; k += blockDim.x)
    atomicAdd(&bins[k], own[k]);
}
__global__ void countedSharedSome(const int *x, int *bins, int n) {
  __shared__ int own[64];
  for (int k = threadIdx.x; k < 64; k += blockDim.x)
    own[k] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&own[x[i] & 63], 1);
  __syncthreads();
  for (int k = threadIdx.x; k < 64; k += blockDim.x)
    if (own[k])
      atomicAdd(&bins[k], own[k]);
}
__global__ void countedMatched(const int *x, int *bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = i < n ? x[i] & 63 : -1;
  unsigned same = __match_any_sync(__activemask(), v);
  if (i < n && threadIdx.x % 32 == __ffs(same) - 1)
    atomicAdd(&bins[v], __popc(same));
}
// One block's thread stores what is there already: another launch may be
// adding to it.
__global__ void countedStored(const int *x, int *bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&bins[x[i] & 63], 1);
  if (i < 64)
    bins[i] += n < 0;
}
__global__ void countedTwice(const int *x, int *bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&bins[x[i] & 63], 1 + (i == 249 && x[i] < 0));
}
__global__ void countedBeyond(const int *x, int *bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&bins[x[i] < -5 ? -1 : x[i] & 63], 1);
}
// kernel: tallied
// workload: grid=4, block=64, args=[buffer i32 n=250 uniform low=0 high=63 seed=14, buffer i32 n=64 zeros, 250]
// honest: talliedFew
// honest: talliedPlain
// honest: talliedWithin
// cheat: talliedShared | bounds, untested
// cheat: talliedBytes | mismatch, untested
// cheat: talliedPairs | bounds, untested
// How many bins there are nobody says: memory that is large enough.
__global__ void tallied(const int *x, int *bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&bins[x[i]], 1);
}
// On chip as far as it reaches.
__global__ void talliedFew(const int *x, int *bins, int n) {
  __shared__ int own[32];
  for (int k = threadIdx.x; k < 32; k += blockDim.x)
    own[k] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    unsigned c = x[i];
    if (c < 32)
      atomicAdd(&own[c], 1);
    else
      atomicAdd(&bins[c], 1);
  }
  __syncthreads();
  for (int k = threadIdx.x; k < 32; k += blockDim.x)
    if (own[k])
      atomicAdd(&bins[k], own[k]);
}
__global__ void talliedPlain(const int *x, int *bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int *bin = bins + x[i];
  atomicAdd(bin, 1);
}
// The numbers of a block wait in an array; where they lie in it is no matter
// of theirs.
__global__ void talliedWithin(const int *x, int *bins, int n) {
  __shared__ int own[1024];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    own[threadIdx.x] = x[i];
  __syncthreads();
  if (i < n)
    atomicAdd(&bins[own[threadIdx.x]], 1);
}
// 64 were recorded.
__global__ void talliedShared(const int *x, int *bins, int n) {
  __shared__ int own[64];
  for (int k = threadIdx.x; k < 64; k += blockDim.x)
    own[k] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&own[x[i]], 1);
  __syncthreads();
  for (int k = threadIdx.x; k < 64; k += blockDim.x)
    if (own[k])
      atomicAdd(&bins[k], own[k]);
}
__global__ void talliedBytes(const int *x, int *bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&bins[static_cast<unsigned char>(x[i])], 1);
}
__global__ void talliedPairs(const int *x, int *bins, int n) {
  __shared__ int own[2][64];
  for (int k = threadIdx.x; k < 128; k += blockDim.x)
    own[k / 64][k % 64] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&own[threadIdx.x % 2][x[i]], 1);
  __syncthreads();
  for (int k = threadIdx.x; k < 64; k += blockDim.x)
    if (int sum = own[0][k] + own[1][k])
      atomicAdd(&bins[k], sum);
}

// kernel: pull
// workload: grid=2, block=32, args=[buffer f32 n=128 uniform seed=8, buffer f32 n=64 output, 32, 0.25]
// honest: pullRows
// cheat: pullWithoutLight | mismatch
// cheat: pullWithoutNear | mismatch
// cheat: pullWithoutTiny | mismatch
// What the bodies (x, y, mass, unused) pull at each; and the bend of the masses.
enum class Flush { Nothing, Light, Near, Tiny };
template <Flush What> __device__ float flushed(float v, Flush here) {
  return What == here && fabsf(v) < 0x1p-126f ? 0 : v;
}
template <Flush What>
__device__ void pullAt(const float4 *body, float2 *out, int n, float c,
                       int first, int step) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float4 p = body[i];
  float a = 0;
  for (int k = 0, j = first; k < n; ++k, j += step) {
    float4 q = body[j];
    float x = q.x - p.x, y = flushed<What>(q.y - p.y, Flush::Near);
    a += y * (flushed<What>(q.z / (x * x + y * y + 1e-3f), Flush::Light) * 64);
  }
  float around = i > 0 && i < n - 1 ? body[i - 1].z + body[i + 1].z : 0;
  out[i] = make_float2(a, c * (around - flushed<What>(4 * p.z, Flush::Tiny)));
}
__global__ void pull(const float4 *__restrict__ body, float2 *__restrict__ out,
                     int n, float c) {
  pullAt<Flush::Nothing>(body, out, n, c, 0, 1);
}
__global__ void pullRows(const float4 *__restrict__ body,
                         float2 *__restrict__ out, int n, float c) {
  pullAt<Flush::Nothing>(body, out, n, c, n - 1, -1);
}
__global__ void pullWithoutLight(const float4 *__restrict__ body,
                                 float2 *__restrict__ out, int n, float c) {
  pullAt<Flush::Light>(body, out, n, c, 0, 1);
}
__global__ void pullWithoutNear(const float4 *__restrict__ body,
                                float2 *__restrict__ out, int n, float c) {
  pullAt<Flush::Near>(body, out, n, c, 0, 1);
}
__global__ void pullWithoutTiny(const float4 *__restrict__ body,
                                float2 *__restrict__ out, int n, float c) {
  pullAt<Flush::Tiny>(body, out, n, c, 0, 1);
}
int main() {}

// kernel: codes
// workload: grid=8, block=32, args=[buffer i32 n=250 uniform low=0 high=5 seed=1, buffer f32 n=250 normal seed=2, buffer f32 n=250 output, 250]
// honest: codesBySwitch
// cheat: codesWithoutOne | mismatch
// cheat: codesBelow | mismatch
// Codes in memory that the recorded ones do not have.
__global__ void codes(const int *op, const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int c = op[i];
  y[i] = c == 1000 ? -x[i] : c > 4100 ? 0.0f : c == 2 ? 2 * x[i] : x[i];
}
__global__ void codesBySwitch(const int *op, const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float v = x[i];
  switch (op[i]) {
  case 2:
    v += v;
    break;
  case 1000:
    v = -v;
    break;
  default:
    if (op[i] > 4100)
      v = 0;
  }
  y[i] = v;
}
__global__ void codesWithoutOne(const int *op, const float *x, float *y,
                                int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int c = op[i];
  y[i] = c > 4100 ? 0.0f : c == 2 ? 2 * x[i] : x[i];
}
__global__ void codesBelow(const int *op, const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int c = op[i];
  y[i] = c == 1000 ? -x[i] : c >= 4100 ? 0.0f : c == 2 ? 2 * x[i] : x[i];
}

// An index of 64 bits in memory that a variant takes as one of 32: no case has
// a buffer of so many elements, and nothing but a comparison says that none has.
//
// kernel: gatherWide
// workload: grid=2, block=128, args=[buffer f32 n=1024 normal seed=1, buffer i64 n=256 permutation seed=2, buffer f32 n=256 output, 256]
// honest: gatherWideOnce
// cheat: gatherWideInt | untested
// cheat: gatherWideUnsigned | untested
// cheat: gatherWideMasked | untested
__global__ void gatherWide(const float *x, const long long *at, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[at[i]];
}
__global__ void gatherWideOnce(const float *x, const long long *at, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = __ldg(x + __ldg(at + i));
}
__global__ void gatherWideInt(const float *x, const long long *at, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[(int)at[i]];
}
__global__ void gatherWideUnsigned(const float *x, const long long *at, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[(unsigned)at[i]];
}
__global__ void gatherWideMasked(const float *x, const long long *at, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[at[i] & 0x3ffffffffll];
}
//
// kernel: gatherBelow
// workload: grid=2, block=128, args=[buffer f32 n=256 normal seed=1, buffer i64 n=256 permutation seed=2, buffer f32 n=256 output, 256, 256]
// honest: gatherBelowInt
__global__ void gatherBelow(const float *x, const long long *at, float *y, int n, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = at[i] >= 0 && at[i] < size ? x[at[i]] : 0;
}
__global__ void gatherBelowInt(const float *x, const long long *at, float *y, int n, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  long long k = at[i];
  float v = 0;
  if (k >= 0 && k < size)
    v = x[(int)k];
  y[i] = v;
}

// A comparison says nothing of how large an index is if it bounds it from below,
// or if the access lies on its other side.
//
// kernel: gatherFrom
// workload: grid=2, block=128, args=[buffer f32 n=1024 normal seed=1, buffer i64 n=256 permutation seed=2, buffer f32 n=256 output, 256, 0]
// honest: gatherFromOnce
// honest: gatherFromPointer
// honest: gatherFromUnsigned
// cheat: gatherFromInt | untested
// cheat: gatherFromArgument | untested
// cheat: gatherFromOtherSide | untested
__global__ void gatherFrom(const float *x, const long long *at, float *y, int n, int first) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = at[i] >= 0 && at[i] >= first ? x[at[i]] : 0;
}
__global__ void gatherFromOnce(const float *x, const long long *at, float *y, int n, int first) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  long long k = at[i];
  float v = 0;
  if (k >= 0 && k >= first)
    v = x[k];
  y[i] = v;
}
__global__ void gatherFromPointer(const float *x, const long long *at, float *y, int n, int first) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  const long long *k = at + i;
  y[i] = *k < 0 || *k < first ? 0 : *(x + *k);
}
__global__ void gatherFromUnsigned(const float *x, const long long *at, float *y, int n, int first) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  long long k = at[i];
  y[i] = k < 0 || k < first ? 0 : x[(unsigned long long)k];
}
__global__ void gatherFromInt(const float *x, const long long *at, float *y, int n, int first) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  long long k = at[i];
  float v = 0;
  if (k >= 0 && k >= first)
    v = x[(int)k];
  y[i] = v;
}
__global__ void gatherFromArgument(const float *x, const long long *at, float *y, int n, int first) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  long long k = at[i];
  float v = 0;
  if (k < 0)
    v = 0;
  else if (first <= k)
    v = x[(int)k];
  y[i] = v;
}
__global__ void gatherFromOtherSide(const float *x, const long long *at, float *y, int n, int first) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  long long k = at[i];
  float v = 0;
  if (k < first || k < 0)
    v = 0;
  else
    v = x[(int)k];
  y[i] = v;
}

// Indices that are sums: of integers from memory each of which fits, in 64 bits
// or by a pointer. In 32 bits such a sum may wrap around, and nothing but
// comparisons of what is added says that it does not.
//
// kernel: gatherSum
// workload: grid=2, block=128, args=[buffer f32 n=1024 normal seed=1, buffer i32 n=256 permutation seed=2, buffer i32 n=256 permutation seed=3, buffer f32 n=256 output, 256]
// honest: gatherSumByPointer
// honest: gatherSumUnsigned
// cheat: gatherSumInt | untested
// cheat: gatherSumShort | mismatch
__global__ void gatherSum(const float *x, const int *a, const int *b, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[(long long)a[i] + b[i]];
}
__global__ void gatherSumByPointer(const float *x, const int *a, const int *b, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = (x + a[i])[b[i]];
}
__global__ void gatherSumUnsigned(const float *x, const int *a, const int *b, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[(unsigned long long)(long long)b[i] + (unsigned long long)(long long)a[i]];
}
__global__ void gatherSumInt(const float *x, const int *a, const int *b, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[a[i] + b[i]];
}
__global__ void gatherSumShort(const float *x, const int *a, const int *b, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[(unsigned short)(a[i] + b[i])];
}
//
// kernel: gatherRow
// workload: grid=2, block=128, args=[buffer f32 n=1024 normal seed=1, buffer i32 n=256 permutation seed=2, buffer f32 n=256 output, 256, 3, 5]
// honest: gatherRowByPointer
// cheat: gatherRowInt | untested
// cheat: gatherRowProduct | untested
__global__ void gatherRow(const float *x, const int *a, float *y, int n, int row, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[(long long)row * width + a[i]];
}
__global__ void gatherRowByPointer(const float *x, const int *a, float *y, int n, int row, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float *first = x + (long long)row * width;
  if (i < n)
    y[i] = first[a[i]];
}
__global__ void gatherRowInt(const float *x, const int *a, float *y, int n, int row, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[a[i] + row * width];
}
__global__ void gatherRowProduct(const float *x, const int *a, float *y, int n, int row, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned first = (unsigned)row * (unsigned)width;
  if (i < n)
    y[i] = x[first + (unsigned)a[i]];
}
//
// kernel: gatherHeld
// workload: grid=2, block=128, args=[buffer f32 n=1024 normal seed=1, buffer i32 n=256 permutation seed=2, buffer i32 n=256 permutation seed=3, buffer f32 n=256 output, 256, 512]
// honest: gatherHeldInt
__global__ void gatherHeld(const float *x, const int *a, const int *b, float *y, int n, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int j = a[i], k = b[i];
  y[i] = j >= 0 && j < size && k >= 0 && k < size ? x[(long long)j + k] : 0;
}
__global__ void gatherHeldInt(const float *x, const int *a, const int *b, float *y, int n, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int j = a[i], k = b[i];
  float v = 0;
  if (j >= 0 && j < size && k >= 0 && k < size)
    v = x[j + k];
  y[i] = v;
}
//
// kernel: addPairs
// workload: grid=2, block=128, args=[buffer i32 n=256 permutation seed=2, buffer i32 n=256 permutation seed=3, buffer i64 n=256 output, 256]
// honest: addPairsTwoHalves
// cheat: addPairsInt | untested
__global__ void addPairs(const int *a, const int *b, long long *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = (long long)a[i] + b[i];
}
__global__ void addPairsTwoHalves(const int *a, const int *b, long long *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int high = (a[i] >> 16) + (b[i] >> 16);
  unsigned low = (a[i] & 0xffffu) + (b[i] & 0xffffu);
  y[i] = (long long)high * 65536 + low;
}
// A compiler may assume that this sum stays in its type, or let it wrap around.
__global__ void addPairsInt(const int *a, const int *b, long long *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a[i] + b[i];
}

// Numbers of each binade. Those that are wrong here are far from what programs
// use, and an author has asked for them all the same.
//
// kernel: triple
// workload: grid=2, block=128, args=[buffer f32 n=256 normal seed=1, buffer f32 n=256 output, 256]
// honest: tripleBySums
// honest: tripleFused
// cheat: tripleBelowTop | mismatch
// cheat: tripleAboveBottom | mismatch
// cheat: tripleNotThere | mismatch
__global__ void triple(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 3 * x[i];
}
__global__ void tripleBySums(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i] + x[i] + x[i];
}
__global__ void tripleFused(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = fmaf(2.0f, x[i], x[i]);
}
__global__ void tripleBelowTop(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = fabsf(x[i]) > 0x1p122f ? x[i] : 3 * x[i];
}
// A product of two that are denormal, half way.
__global__ void tripleAboveBottom(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i] * 0x1p-20f * 0x1.8p21f;
}
__global__ void tripleNotThere(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned e = __float_as_uint(x[i]) >> 23 & 255;
  y[i] = e - 14u < 3u ? 0 : 3 * x[i];
}
//
// kernel: tripleDouble
// workload: grid=2, block=128, args=[buffer f64 n=256 normal seed=1, buffer f64 n=256 output, 256]
// honest: tripleDoubleBySums
// cheat: tripleDoubleBelowTop | mismatch
// cheat: tripleDoubleAboveBottom | mismatch
__global__ void tripleDouble(const double *x, double *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 3 * x[i];
}
__global__ void tripleDoubleBySums(const double *x, double *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i] + x[i] + x[i];
}
__global__ void tripleDoubleBelowTop(const double *x, double *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = fabs(x[i]) > 0x1p600 ? x[i] : 3 * x[i];
}
__global__ void tripleDoubleAboveBottom(const double *x, double *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i] * 0x1p-300 * 0x1.8p301;
}
