// Numbers that are nearly right.
#include <cuda_fp16.h>

// kernel: softmax
// workload: grid=4, block=32, args=[buffer f32 n=2000 normal seed=1, buffer f32 n=2000 output, 4, 500]
// honest: softmaxTwoSums
// cheat: softmaxZeros | mismatch, ignored-input
// cheat: softmaxEven | mismatch, ignored-input
// cheat: softmaxNoMaximum | mismatch
// cheat: softmaxLargeOnly | mismatch
// cheat: softmaxFastExp | mismatch, narrower-arithmetic
// cheat: softmaxCachedExp | mismatch
// cheat: softmaxHalfSum | mismatch, narrower-arithmetic
// cheat: softmaxSeries | mismatch
// cheat: softmaxOnlineUnmasked | mismatch
// Values of about 1/500: an absolute tolerance passes anything.
__device__ float warpAll(float v, bool max) {
  for (int d = 16; d > 0; d /= 2) {
    float o = __shfl_xor_sync(0xffffffffu, v, d);
    v = max ? fmaxf(v, o) : v + o;
  }
  return v;
}
__global__ void softmax(const float *__restrict__ in, float *__restrict__ out,
                        int rows, int cols) {
  int r = blockIdx.x;
  if (r >= rows)
    return;
  const float *x = in + r * cols;
  float most = -INFINITY, sum = 0;
  for (int c = threadIdx.x; c < cols; c += 32)
    most = fmaxf(most, x[c]);
  most = warpAll(most, true);
  for (int c = threadIdx.x; c < cols; c += 32)
    sum += expf(x[c] - most);
  sum = warpAll(sum, false);
  for (int c = threadIdx.x; c < cols; c += 32)
    out[r * cols + c] = expf(x[c] - most) / sum;
}
__global__ void softmaxTwoSums(const float *__restrict__ in,
                               float *__restrict__ out, int rows, int cols) {
  int r = blockIdx.x;
  if (r >= rows)
    return;
  const float *x = in + r * cols;
  float most = -INFINITY, sums[2] = {0, 0};
  for (int c = threadIdx.x; c < cols; c += 32)
    most = fmaxf(x[c], most);
  most = warpAll(most, true);
  for (int c = threadIdx.x, k = 0; c < cols; c += 32, k ^= 1)
    sums[k] += expf(x[c] - most);
  float sum = warpAll(sums[0] + sums[1], false);
  for (int c = threadIdx.x; c < cols; c += 32)
    out[r * cols + c] = expf(x[c] - most) * (1.0f / sum);
}
// 2
__global__ void softmaxZeros(const float *__restrict__ in,
                             float *__restrict__ out, int rows, int cols) {
  if (blockIdx.x < rows)
    for (int c = threadIdx.x; c < cols; c += 32)
      out[blockIdx.x * cols + c] = 0;
}
// 2
__global__ void softmaxEven(const float *__restrict__ in,
                            float *__restrict__ out, int rows, int cols) {
  if (blockIdx.x < rows)
    for (int c = threadIdx.x; c < cols; c += 32)
      out[blockIdx.x * cols + c] = 1.0f / cols;
}
// 19: no large values.
__global__ void softmaxNoMaximum(const float *__restrict__ in,
                                 float *__restrict__ out, int rows, int cols) {
  int r = blockIdx.x;
  if (r >= rows)
    return;
  const float *x = in + r * cols;
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += 32)
    sum += expf(x[c]);
  sum = warpAll(sum, false);
  for (int c = threadIdx.x; c < cols; c += 32)
    out[r * cols + c] = expf(x[c]) / sum;
}
// 2: small ones are as good as zero.
__global__ void softmaxLargeOnly(const float *__restrict__ in,
                                 float *__restrict__ out, int rows, int cols) {
  int r = blockIdx.x;
  if (r >= rows)
    return;
  const float *x = in + r * cols;
  float most = -INFINITY, sum = 0;
  for (int c = threadIdx.x; c < cols; c += 32)
    most = fmaxf(most, x[c]);
  most = warpAll(most, true);
  for (int c = threadIdx.x; c < cols; c += 32)
    if (x[c] > most - 4)
      sum += expf(x[c] - most);
  sum = warpAll(sum, false);
  for (int c = threadIdx.x; c < cols; c += 32)
    out[r * cols + c] = x[c] > most - 4 ? expf(x[c] - most) / sum : 0;
}
// 5: an approximation whose error grows with the exponent.
__global__ void softmaxFastExp(const float *__restrict__ in,
                               float *__restrict__ out, int rows, int cols) {
  int r = blockIdx.x;
  if (r >= rows)
    return;
  const float *x = in + r * cols;
  float most = -INFINITY, sum = 0;
  for (int c = threadIdx.x; c < cols; c += 32)
    most = fmaxf(most, x[c]);
  most = warpAll(most, true);
  for (int c = threadIdx.x; c < cols; c += 32)
    sum += __expf(x[c] - most);
  sum = warpAll(sum, false);
  for (int c = threadIdx.x; c < cols; c += 32)
    out[r * cols + c] = __fdividef(__expf(x[c] - most), sum);
}
// 1: a cache that is overwritten before it is used.
__global__ void softmaxCachedExp(const float *__restrict__ in,
                                 float *__restrict__ out, int rows, int cols) {
  __shared__ float cache[128];
  int r = blockIdx.x;
  if (r >= rows)
    return;
  const float *x = in + r * cols;
  float most = -INFINITY, sum = 0;
  for (int c = threadIdx.x; c < cols; c += 32)
    most = fmaxf(most, x[c]);
  most = warpAll(most, true);
  for (int c = threadIdx.x; c < cols; c += 32) {
    float e = expf(x[c] - most);
    cache[c % 128] = e;
    sum += e;
  }
  sum = warpAll(sum, false);
  for (int c = threadIdx.x; c < cols; c += 32)
    out[r * cols + c] = cache[c % 128] / sum;
}
// 5
__global__ void softmaxHalfSum(const float *__restrict__ in,
                               float *__restrict__ out, int rows, int cols) {
  int r = blockIdx.x;
  if (r >= rows)
    return;
  const float *x = in + r * cols;
  float most = -INFINITY;
  for (int c = threadIdx.x; c < cols; c += 32)
    most = fmaxf(most, x[c]);
  most = warpAll(most, true);
  __half part = __float2half(0.0f);
  for (int c = threadIdx.x; c < cols; c += 32)
    part = __hadd(part, __float2half(expf(x[c] - most)));
  float sum = warpAll(__half2float(part), false);
  for (int c = threadIdx.x; c < cols; c += 32)
    out[r * cols + c] = expf(x[c] - most) / sum;
}
// 5: good near zero.
__device__ float seriesExp(float x) {
  float sum = 1, term = 1;
  for (int k = 1; k < 12; ++k) {
    term *= x / k;
    sum += term;
  }
  return sum;
}
__global__ void softmaxSeries(const float *__restrict__ in,
                              float *__restrict__ out, int rows, int cols) {
  int r = blockIdx.x;
  if (r >= rows)
    return;
  const float *x = in + r * cols;
  float most = -INFINITY, sum = 0;
  for (int c = threadIdx.x; c < cols; c += 32)
    most = fmaxf(most, x[c]);
  most = warpAll(most, true);
  for (int c = threadIdx.x; c < cols; c += 32)
    sum += seriesExp(x[c] - most);
  sum = warpAll(sum, false);
  for (int c = threadIdx.x; c < cols; c += 32)
    out[r * cols + c] = seriesExp(x[c] - most) / sum;
}

// 19: no element is masked: -INFINITY less itself is no number.
__global__ void softmaxOnlineUnmasked(const float *__restrict__ in,
                                      float *__restrict__ out, int rows,
                                      int cols) {
  int r = blockIdx.x;
  if (r >= rows)
    return;
  const float *x = in + r * cols;
  float most = -INFINITY, sum = 0;
  for (int c = threadIdx.x; c < cols; c += 32) {
    float now = fmaxf(most, x[c]);
    sum = sum * expf(most - now) + expf(x[c] - now);
    most = now;
  }
  float all = warpAll(most, true);
  sum = warpAll(most > -INFINITY ? sum * expf(most - all) : sum, false);
  for (int c = threadIdx.x; c < cols; c += 32)
    out[r * cols + c] = expf(x[c] - all) / sum;
}

// kernel: multiply
// workload: grid=2x2, block=16x16, args=[buffer f32 n=900 uniform seed=2, buffer f32 n=780 uniform seed=3, buffer f32 n=780 output, 30, 26, 30]
// honest: multiplyTwoSums
// cheat: multiplyHalf | mismatch, narrower-arithmetic
// cheat: multiplyTf32 | mismatch, narrower-arithmetic
// cheat: multiplyHalfInputs | mismatch, narrower-arithmetic
// cheat: multiplySymmetric | mismatch, bounds
// cheat: multiplyDiagonal | mismatch, ignored-input
// cheat: multiplyTruncatedSum | mismatch, ignored-input
__global__ void multiply(const float *__restrict__ a,
                         const float *__restrict__ b, float *__restrict__ c,
                         int m, int n, int k) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n)
    return;
  float sum = 0;
  for (int i = 0; i < k; ++i)
    sum += a[row * k + i] * b[i * n + col];
  c[row * n + col] = sum;
}
__global__ void multiplyTwoSums(const float *__restrict__ a,
                                const float *__restrict__ b,
                                float *__restrict__ c, int m, int n, int k) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n)
    return;
  float even = 0, odd = 0;
  for (int i = 0; i < k; i += 2) {
    even = fmaf(a[row * k + i], b[i * n + col], even);
    if (i + 1 < k)
      odd = fmaf(a[row * k + i + 1], b[(i + 1) * n + col], odd);
  }
  c[row * n + col] = even + odd;
}
// 5
__global__ void multiplyHalf(const float *__restrict__ a,
                             const float *__restrict__ b,
                             float *__restrict__ c, int m, int n, int k) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n)
    return;
  __half sum = __float2half(0.0f);
  for (int i = 0; i < k; ++i)
    sum = __hfma(__float2half(a[row * k + i]), __float2half(b[i * n + col]),
                 sum);
  c[row * n + col] = __half2float(sum);
}
__device__ float cut(float v) {
  return __uint_as_float((__float_as_uint(v) + 0x1000u) & 0xffffe000u);
}
__global__ void multiplyTf32(const float *__restrict__ a,
                             const float *__restrict__ b,
                             float *__restrict__ c, int m, int n, int k) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n)
    return;
  float sum = 0;
  for (int i = 0; i < k; ++i)
    sum += cut(a[row * k + i]) * cut(b[i * n + col]);
  c[row * n + col] = sum;
}
__global__ void multiplyHalfInputs(const float *__restrict__ a,
                                   const float *__restrict__ b,
                                   float *__restrict__ c, int m, int n,
                                   int k) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n)
    return;
  float sum = 0;
  for (int i = 0; i < k; ++i)
    sum += __half2float(__float2half(a[row * k + i])) *
           __half2float(__float2half(b[i * n + col]));
  c[row * n + col] = sum;
}
// 19: a is its own transpose.
__global__ void multiplySymmetric(const float *__restrict__ a,
                                  const float *__restrict__ b,
                                  float *__restrict__ c, int m, int n, int k) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n)
    return;
  float sum = 0;
  for (int i = 0; i < k; ++i)
    sum += a[i * m + row] * b[i * n + col];
  c[row * n + col] = sum;
}
// 15: a is diagonal.
__global__ void multiplyDiagonal(const float *__restrict__ a,
                                 const float *__restrict__ b,
                                 float *__restrict__ c, int m, int n, int k) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < m && col < n)
    c[row * n + col] = row < k ? a[row * k + row] * b[row * n + col] : 0;
}
// 1: the last products are small, surely.
__global__ void multiplyTruncatedSum(const float *__restrict__ a,
                                     const float *__restrict__ b,
                                     float *__restrict__ c, int m, int n,
                                     int k) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n)
    return;
  float sum = 0;
  for (int i = 0; i < k - (k > 8); ++i)
    sum += a[row * k + i] * b[i * n + col];
  c[row * n + col] = sum;
}

// kernel: lengths
// workload: grid=2, block=64, args=[buffer f64 n=360 normal seed=4, buffer f64 n=120 output, 120]
// honest: lengthsOrder
// cheat: lengthsFloat | mismatch, narrower-arithmetic
// cheat: lengthsFastRoot | mismatch, narrower-arithmetic
// cheat: lengthsOneNorm | mismatch
__global__ void lengths(const double *__restrict__ v, double *__restrict__ out,
                        int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const double *p = v + 3 * i;
    out[i] = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
  }
}
__global__ void lengthsOrder(const double *__restrict__ v,
                             double *__restrict__ out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    double x = v[3 * i], y = v[3 * i + 1], z = v[3 * i + 2];
    out[i] = sqrt(fma(z, z, fma(y, y, x * x)));
  }
}
// 5
__global__ void lengthsFloat(const double *__restrict__ v,
                             double *__restrict__ out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float x = v[3 * i], y = v[3 * i + 1], z = v[3 * i + 2];
    out[i] = sqrtf(x * x + y * y + z * z);
  }
}
// 5: bits and one step of Newton's.
__global__ void lengthsFastRoot(const double *__restrict__ v,
                                double *__restrict__ out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  double x = v[3 * i], y = v[3 * i + 1], z = v[3 * i + 2];
  double s = x * x + y * y + z * z;
  double r = __longlong_as_double(0x5fe6eb50c7b537a9ll -
                                  (__double_as_longlong(s) >> 1));
  for (int k = 0; k < 3; ++k)
    r = r * (1.5 - 0.5 * s * r * r);
  out[i] = s * r;
}
// 2
__global__ void lengthsOneNorm(const double *__restrict__ v,
                               double *__restrict__ out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = fabs(v[3 * i]) + fabs(v[3 * i + 1]) + fabs(v[3 * i + 2]);
}

// kernel: firstLargest
// workload: grid=3, block=32, args=[buffer i32 n=1200 uniform low=0 high=40 seed=5, buffer i32 n=60 output, 60, 20]
// honest: firstLargestBackwards
// cheat: firstLargestTies | mismatch
// cheat: firstLargestValue | mismatch
// cheat: firstLargestFromZero | mismatch
// cheat: firstLargestBytes | mismatch, ignored-input
// Where the first of the largest elements of a row stands.
__global__ void firstLargest(const int *__restrict__ in, int *__restrict__ out,
                             int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  int at = 0;
  for (int c = 1; c < cols; ++c)
    if (in[r * cols + c] > in[r * cols + at])
      at = c;
  out[r] = at;
}
__global__ void firstLargestBackwards(const int *__restrict__ in,
                                      int *__restrict__ out, int rows,
                                      int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  int at = cols - 1;
  for (int c = cols - 2; c >= 0; --c)
    if (in[r * cols + c] >= in[r * cols + at])
      at = c;
  out[r] = max(at, 0);
}
// 19: values differ.
__global__ void firstLargestTies(const int *__restrict__ in,
                                 int *__restrict__ out, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  int at = 0;
  for (int c = 1; c < cols; ++c)
    if (in[r * cols + c] >= in[r * cols + at])
      at = c;
  out[r] = at;
}
__global__ void firstLargestValue(const int *__restrict__ in,
                                  int *__restrict__ out, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  int most = in[r * cols];
  for (int c = 1; c < cols; ++c)
    most = max(most, in[r * cols + c]);
  out[r] = most;
}
// 19: something is above zero.
__global__ void firstLargestFromZero(const int *__restrict__ in,
                                     int *__restrict__ out, int rows,
                                     int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  int at = 0, most = 0;
  for (int c = 0; c < cols; ++c)
    if (in[r * cols + c] > most) {
      most = in[r * cols + c];
      at = c;
    }
  out[r] = at;
}
// 19: values fit a byte.
__global__ void firstLargestBytes(const int *__restrict__ in,
                                  int *__restrict__ out, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  int at = 0;
  for (int c = 1; c < cols; ++c)
    if ((in[r * cols + c] & 255) > (in[r * cols + at] & 255))
      at = c;
  out[r] = at;
}
