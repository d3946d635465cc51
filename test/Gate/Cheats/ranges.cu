// What is not finite: infinities and NaN that come in, and results that leave
// the range of a float. The numbers are the classes of README.md.

// kernel: magnitude
// workload: grid=2, block=64, args=[buffer f32 n=120 uniform low=-4e19 high=4e19 seed=1, buffer f32 n=120 uniform low=-2e19 high=3e19 seed=2, buffer f32 n=120 output, 120]
// honest: magnitudeScaled
// honest: magnitudeFma
// cheat: magnitudeZero | mismatch
// cheat: magnitudeClamped | mismatch
// cheat: magnitudeNegative | mismatch
// cheat: magnitudeNaN | mismatch
// cheat: magnitudeScaledWrong | mismatch
// cheat: magnitudeSwallowsNaN | mismatch
// cheat: magnitudeSwallowsInfinity | mismatch
#include <cmath>
__global__ void magnitude(const float *x, const float *y, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = sqrtf(x[i] * x[i] + y[i] * y[i]);
}
// Squares overflow; what they are for does not.
__device__ float scaled(float a, float b) {
  float most = fmaxf(fabsf(a), fabsf(b)), least = fminf(fabsf(a), fabsf(b));
  if (!(most > 0) || isinf(most))
    return sqrtf(a * a + b * b);
  return isnan(a) || isnan(b)
             ? NAN
             : most * sqrtf(1 + (least / most) * (least / most));
}
__global__ void magnitudeScaled(const float *x, const float *y, float *out,
                                int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = scaled(x[i], y[i]);
}
__global__ void magnitudeFma(const float *x, const float *y, float *out,
                             int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = sqrtf(fmaf(y[i], y[i], x[i] * x[i]));
}
// 19: nothing is ever infinite.
__global__ void magnitudeZero(const float *x, const float *y, float *out,
                              int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float r = sqrtf(x[i] * x[i] + y[i] * y[i]);
  out[i] = isinf(r) ? 0 : r;
}
__global__ void magnitudeClamped(const float *x, const float *y, float *out,
                                 int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float r = sqrtf(x[i] * x[i] + y[i] * y[i]);
  out[i] = isinf(r) ? 3.4e38f : r;
}
__global__ void magnitudeNegative(const float *x, const float *y, float *out,
                                  int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float r = sqrtf(x[i] * x[i] + y[i] * y[i]);
  out[i] = isinf(r) ? -r : r;
}
__global__ void magnitudeNaN(const float *x, const float *y, float *out,
                             int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float r = sqrtf(x[i] * x[i] + y[i] * y[i]);
  out[i] = r + (r - r);
}
// Finite where the original overflows, and not what it should be.
__global__ void magnitudeScaledWrong(const float *x, const float *y, float *out,
                                     int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float r = sqrtf(x[i] * x[i] + y[i] * y[i]), s = scaled(x[i], y[i]);
  out[i] = isinf(r) && !isinf(s) ? 1.01f * s : s;
}
__global__ void magnitudeSwallowsNaN(const float *x, const float *y, float *out,
                                     int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = fmaxf(scaled(x[i], y[i]), 0);
}
__global__ void magnitudeSwallowsInfinity(const float *x, const float *y,
                                          float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = scaled(isinf(x[i]) ? 0 : x[i], isinf(y[i]) ? 0 : y[i]);
}

// kernel: likely
// workload: grid=6, block=32, args=[buffer f32 n=1200 normal seed=3, buffer f32 n=1200 output, 200]
// honest: likelyTwoSums
// cheat: likelySkipsNaN | mismatch
// cheat: likelySkipsInfinity | mismatch
// cheat: likelyMaximumHidesNaN | mismatch
// cheat: likelyClamps | mismatch
// Without a maximum first: large numbers overflow, as they do for its user.
__device__ float allSum(float v) {
  for (int d = 16; d; d /= 2)
    v += __shfl_xor_sync(~0u, v, d);
  return v;
}
__global__ void likely(const float *in, float *out, int cols) {
  in += blockIdx.x * cols, out += blockIdx.x * cols;
  if (threadIdx.x >= 32)
    return;
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += 32)
    sum += expf(in[i]);
  sum = allSum(sum);
  for (int i = threadIdx.x; i < cols; i += 32)
    out[i] = expf(in[i]) / sum;
}
__global__ void likelyTwoSums(const float *in, float *out, int cols) {
  in += blockIdx.x * cols, out += blockIdx.x * cols;
  if (threadIdx.x >= 32)
    return;
  float sum = 0, other = 0;
  for (int i = threadIdx.x; i < cols; i += 64) {
    sum += expf(in[i]);
    if (i + 32 < cols)
      other += expf(in[i + 32]);
  }
  sum = allSum(sum + other);
  for (int i = threadIdx.x; i < cols; i += 32)
    out[i] = expf(in[i]) / sum;
}
template <class F> __device__ void likelyOf(const float *in, float *out,
                                            int cols, F f) {
  in += blockIdx.x * cols, out += blockIdx.x * cols;
  if (threadIdx.x >= 32)
    return;
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += 32)
    sum += expf(f(in[i]));
  sum = allSum(sum);
  for (int i = threadIdx.x; i < cols; i += 32)
    out[i] = expf(f(in[i])) / sum;
}
// 19: NaN and infinity are taken for nothing.
__global__ void likelySkipsNaN(const float *in, float *out, int cols) {
  likelyOf(in, out, cols, [](float v) { return isnan(v) ? 0.0f : v; });
}
__global__ void likelySkipsInfinity(const float *in, float *out, int cols) {
  likelyOf(in, out, cols, [](float v) { return isinf(v) ? 0.0f : v; });
}
__global__ void likelyMaximumHidesNaN(const float *in, float *out, int cols) {
  likelyOf(in, out, cols, [](float v) { return fmaxf(v, -1e30f); });
}
__global__ void likelyClamps(const float *in, float *out, int cols) {
  likelyOf(in, out, cols, [](float v) { return fminf(v, 88.0f); });
}
int main() {}
