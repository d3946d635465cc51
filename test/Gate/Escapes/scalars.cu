// Variants that are right for the scalars, pointers and dimensions that were
// recorded: flags, degenerate sizes, null, beta == 0, a grid of one row.

// kernel: movingMean
// workload: grid=3, block=128, args=[buffer f32 n=300 uniform seed=1, buffer f32 n=300 output, 300, 3, 1]
// inside: grid=10, block=128, args=[buffer f32 n=1200 uniform seed=1, buffer f32 n=1200 output, 1200, 5, 0]
// inside: grid=1, block=64, args=[buffer f32 n=50 uniform seed=1, buffer f32 n=50 output, 50, 0, 1]
// honest: movingMeanShared | | bx <= 128; radius >= 0; radius <= 32
// narrower: n below | reads x before it looks at n
// honest: movingMeanPairs | | radius >= 0
// narrower: radius above | a sum of pairs is less exact than one of all
// honest: movingMeanBranches | | radius >= 0
// bounded: movingMeanClamps
// outside: grid=3, block=128, args=[buffer f32 n=300 uniform seed=1, buffer f32 n=300 output, 300, 3, 0]
// bounded: movingMeanSeven
// outside: grid=3, block=128, args=[buffer f32 n=300 uniform seed=1, buffer f32 n=300 output, 300, 5, 1]
// bounded: movingMeanSomeNeighbour
// outside: grid=3, block=128, args=[buffer f32 n=300 uniform seed=1, buffer f32 n=300 output, 300, 0, 1]
// Beyond the ends there are zeros, or the end's value again.
__device__ float at(const float *x, int i, int n, int repeat) {
  if (i >= 0 && i < n)
    return x[i];
  return repeat ? x[i < 0 ? 0 : n - 1] : 0.0f;
}
__global__ void movingMean(const float *__restrict__ x, float *__restrict__ y,
                           int n, int radius, int repeat) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0;
  for (int d = -radius; d <= radius; ++d)
    sum += at(x, i + d, n, repeat);
  y[i] = sum / (2 * radius + 1);
}
__global__ void movingMeanShared(const float *__restrict__ x,
                                 float *__restrict__ y, int n, int radius,
                                 int repeat) {
  __shared__ float part[128 + 64];
  int first = blockIdx.x * blockDim.x - radius;
  for (int t = threadIdx.x; t < blockDim.x + 2 * radius; t += blockDim.x)
    part[t] = at(x, first + t, n, repeat);
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0;
  for (int d = 0; d <= 2 * radius; ++d)
    sum += part[threadIdx.x + d];
  y[i] = sum / (2 * radius + 1);
}
__global__ void movingMeanPairs(const float *__restrict__ x,
                                float *__restrict__ y, int n, int radius,
                                int repeat) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = radius >= 0 ? x[i] : 0.0f;
  for (int d = 1; d <= radius; ++d)
    sum += at(x, i - d, n, repeat) + at(x, i + d, n, repeat);
  y[i] = sum / (2 * radius + 1);
}
__global__ void movingMeanBranches(const float *__restrict__ x,
                                   float *__restrict__ y, int n, int radius,
                                   int repeat) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0;
  if (repeat == 0) {
    for (int k = max(i - radius, 0); k <= min(i + radius, n - 1); ++k)
      sum += x[k];
  } else {
    for (int d = -radius; d <= radius; ++d)
      sum += x[min(max(i + d, 0), n - 1)];
  }
  y[i] = sum / (2 * radius + 1);
}
__global__ void movingMeanClamps(const float *__restrict__ x,
                                 float *__restrict__ y, int n, int radius,
                                 int repeat) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0;
  for (int d = -radius; d <= radius; ++d)
    sum += x[min(max(i + d, 0), n - 1)];
  y[i] = sum / (2 * radius + 1);
}
__global__ void movingMeanSeven(const float *__restrict__ x,
                                float *__restrict__ y, int n, int radius,
                                int repeat) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0;
#pragma unroll
  for (int d = -3; d <= 3; ++d)
    sum += at(x, i + d, n, repeat);
  y[i] = sum * (1.0f / 7.0f);
}
// A first neighbour is taken as given.
__global__ void movingMeanSomeNeighbour(const float *__restrict__ x,
                                        float *__restrict__ y, int n,
                                        int radius, int repeat) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = x[i];
  int d = 1;
  do {
    sum += at(x, i - d, n, repeat) + at(x, i + d, n, repeat);
  } while (++d <= radius);
  y[i] = sum / (2 * radius + 1);
}

// kernel: gate
// workload: grid=4, block=64, args=[buffer f32 n=256 uniform seed=2, buffer f32 n=16 uniform seed=3, buffer f32 n=256 output, 16, 16]
// inside: grid=4, block=64, args=[buffer f32 n=256 uniform seed=2, null, buffer f32 n=256 output, 16, 16]
// honest: gateSelect
// honest: gateHoisted
// bounded: gateTrusts
// outside: grid=4, block=64, args=[buffer f32 n=256 uniform seed=2, null, buffer f32 n=256 output, 16, 16]
// A bias for each column, if there is one.
__global__ void gate(const float *__restrict__ x,
                     const float *__restrict__ bias, float *__restrict__ y,
                     int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * cols)
    return;
  float v = x[i];
  if (bias)
    v += bias[i % cols];
  y[i] = v > 0 ? v : 0.0f;
}
__global__ void gateSelect(const float *__restrict__ x,
                           const float *__restrict__ bias,
                           float *__restrict__ y, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * cols)
    return;
  float b = bias != nullptr ? bias[i - i / cols * cols] : 0.0f;
  float v = bias != nullptr ? x[i] + b : x[i];
  y[i] = v > 0 ? v : 0.0f;
}
__global__ void gateHoisted(const float *__restrict__ x,
                            const float *__restrict__ bias,
                            float *__restrict__ y, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * cols)
    return;
  if (!bias) {
    y[i] = x[i] > 0 ? x[i] : 0.0f;
    return;
  }
  float v = x[i] + bias[i % cols];
  y[i] = v > 0 ? v : 0.0f;
}
__global__ void gateTrusts(const float *__restrict__ x,
                           const float *__restrict__ bias,
                           float *__restrict__ y, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * cols)
    return;
  float v = x[i] + bias[i % cols];
  y[i] = v > 0 ? v : 0.0f;
}

// kernel: residual
// workload: grid=2, block=128, args=[buffer f32 n=200 uniform seed=4, null, buffer f32 n=200 output, 200]
// inside: grid=2, block=128, args=[buffer f32 n=200 uniform seed=4, buffer f32 n=200 uniform seed=5, buffer f32 n=200 output, 200]
// honest: residualEither
// bounded: residualNone
// outside: grid=2, block=128, args=[buffer f32 n=200 uniform seed=4, buffer f32 n=200 uniform seed=5, buffer f32 n=200 output, 200]
__global__ void residual(const float *__restrict__ x,
                         const float *__restrict__ skip,
                         float *__restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = (skip ? skip[i] : 0.0f) + x[i] * x[i];
}
__global__ void residualEither(const float *__restrict__ x,
                               const float *__restrict__ skip,
                               float *__restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float v = x[i];
  y[i] = skip ? skip[i] + v * v : v * v;
}
__global__ void residualNone(const float *__restrict__ x,
                             const float *__restrict__ skip,
                             float *__restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i] * x[i];
}

// kernel: mix
// workload: grid=4, block=128, args=[buffer f32 n=500 uniform seed=6, buffer f32 n=500 uniform seed=7, 500, 1.5, 0.5]
// inside: grid=4, block=128, args=[buffer f32 n=500 uniform seed=6, buffer f32 n=500 uniform seed=7, 500, 1.5, 0]
// honest: mixBranches
// honest: mixVectors | grid=(n ceildiv 512) | n mod 4 == 0; bx == 128; gx * 128 >= n; align a 16; align c 16
// bounded: mixAlways
// outside: grid=4, block=128, args=[buffer f32 n=500 uniform seed=6, buffer f32 n=500 value=inf, 500, 1.5, 0]
// bounded: mixReuses
// outside: grid=4, block=128, args=[buffer f32 n=500 uniform seed=6, buffer f32 n=500 uniform seed=7, 500, 0, 0.5]
// With beta 0 the old content is not read: it may be infinite.
__global__ void mix(const float *a, float *c, int n, float alpha, float beta) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float v = alpha * a[i];
  if (beta != 0.0f)
    v += beta * c[i];
  c[i] = v;
}
__global__ void mixBranches(const float *a, float *c, int n, float alpha,
                            float beta) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  if (beta == 0.0f)
    c[i] = a[i] * alpha;
  else
    c[i] = fmaf(beta, c[i], alpha * a[i]);
}
__global__ void mixVectors(const float *a, float *c, int n, float alpha,
                           float beta) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n / 4)
    return;
  float4 v = ((const float4 *)a)[i];
  float4 w = {alpha * v.x, alpha * v.y, alpha * v.z, alpha * v.w};
  if (beta != 0.0f) {
    float4 o = ((const float4 *)c)[i];
    w = {w.x + beta * o.x, w.y + beta * o.y, w.z + beta * o.z,
         w.w + beta * o.w};
  }
  ((float4 *)c)[i] = w;
}
__global__ void mixAlways(const float *a, float *c, int n, float alpha,
                          float beta) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    c[i] = alpha * a[i] + beta * c[i];
}
// "Nothing to add": but the old content is still scaled.
__global__ void mixReuses(const float *a, float *c, int n, float alpha,
                          float beta) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || alpha == 0.0f)
    return;
  float v = alpha * a[i];
  if (beta != 0.0f)
    v += beta * c[i];
  c[i] = v;
}

// kernel: planeRange
// workload: grid=4x1, block=64, args=[buffer f32 n=900 uniform seed=8, buffer f32 n=900 output, 240, 300]
// inside: grid=4x3, block=64, args=[buffer f32 n=900 uniform seed=8, buffer f32 n=900 output, 240, 300]
// honest: planeRangeSplit
// honest: planeRangeStride | grid=(1, gy) | bx == 64; gx * 64 >= n
// bounded: planeRangeFirst
// outside: grid=4x3, block=64, args=[buffer f32 n=900 uniform seed=8, buffer f32 n=900 output, 240, 300]
// bounded: planeRangeSecondOnly
// outside: grid=4x3, block=64, args=[buffer f32 n=900 uniform seed=8, buffer f32 n=900 output, 240, 300]
// A plane for each row of the grid, pitch apart.
__global__ void planeRange(const float *__restrict__ in,
                           float *__restrict__ out, int n, int pitch) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  size_t plane = size_t(blockIdx.y) * pitch;
  if (i < n)
    out[plane + i] = fminf(fmaxf(in[plane + i], -0.5f), 0.5f);
}
__global__ void planeRangeSplit(const float *__restrict__ in,
                                float *__restrict__ out, int n, int pitch) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  in += (long long)blockIdx.y * pitch;
  out += (long long)blockIdx.y * pitch;
  float v = in[i];
  out[i] = v > 0.5f ? 0.5f : v > -0.5f ? v : -0.5f;
}
__global__ void planeRangeStride(const float *__restrict__ in,
                                 float *__restrict__ out, int n, int pitch) {
  in += size_t(blockIdx.y) * pitch;
  out += size_t(blockIdx.y) * pitch;
  for (int i = threadIdx.x; i < n; i += 64)
    out[i] = fminf(fmaxf(in[i], -0.5f), 0.5f);
}
__global__ void planeRangeFirst(const float *__restrict__ in,
                                float *__restrict__ out, int n, int pitch) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = fminf(fmaxf(in[i], -0.5f), 0.5f);
}
__global__ void planeRangeSecondOnly(const float *__restrict__ in,
                                     float *__restrict__ out, int n,
                                     int pitch) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  size_t plane = blockIdx.y ? pitch : 0;
  if (i < n)
    out[plane + i] = fminf(fmaxf(in[plane + i], -0.5f), 0.5f);
}

// kernel: gatherStride
// workload: grid=2, block=64, args=[buffer f32 n=300 uniform seed=9, 1, buffer f32 n=100 output, 100]
// inside: grid=2, block=64, args=[buffer f32 n=300 uniform seed=9, 3, buffer f32 n=100 output, 100]
// inside: grid=2, block=64, args=[buffer f32 n=300 uniform seed=9, -2, buffer f32 n=100 output, 100]
// honest: gatherStrideSelect
// bounded: gatherStrideOne
// outside: grid=2, block=64, args=[buffer f32 n=300 uniform seed=9, 3, buffer f32 n=100 output, 100]
// bounded: gatherStrideForward
// outside: grid=2, block=64, args=[buffer f32 n=300 uniform seed=9, -2, buffer f32 n=100 output, 100]
// As in BLAS: with a negative step, the first is at the end.
__global__ void gatherStride(const float *__restrict__ x, int step,
                             float *__restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  long long first = step < 0 ? -(long long)(n - 1) * step : 0;
  y[i] = x[first + (long long)i * step] + 1.0f;
}
__global__ void gatherStrideSelect(const float *__restrict__ x, int step,
                                   float *__restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  long long s = step;
  y[i] = (s >= 0 ? x[i * s] : x[(n - 1 - i) * -s]) + 1.0f;
}
__global__ void gatherStrideOne(const float *__restrict__ x, int step,
                                float *__restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i] + 1.0f;
}
__global__ void gatherStrideForward(const float *__restrict__ x, int step,
                                    float *__restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[(long long)i * (step < 0 ? -step : step)] + 1.0f;
}

// kernel: scramble
// workload: grid=2, block=128, args=[buffer u32 n=256 output, 256, 12345]
// inside: grid=2, block=128, args=[buffer u32 n=256 output, 256, 9876543210123]
// honest: scrambleHalves
// bounded: scrambleNarrow
// outside: grid=2, block=128, args=[buffer u32 n=256 output, 256, 9876543210123]
__global__ void scramble(unsigned *__restrict__ out, int n,
                         unsigned long long seed) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned long long s = (seed + i) * 0x9e3779b97f4a7c15ull;
  s ^= s >> 29;
  out[i] = unsigned(s >> 32) ^ unsigned(s);
}
__global__ void scrambleHalves(unsigned *__restrict__ out, int n,
                               unsigned long long seed) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned long long s = seed * 0x9e3779b97f4a7c15ull +
                         (unsigned long long)i * 0x9e3779b97f4a7c15ull;
  unsigned low = unsigned(s), high = unsigned(s >> 32);
  out[i] = (high ^ (high >> 29)) ^ (low ^ ((low >> 29) | (high << 3)));
}
__global__ void scrambleNarrow(unsigned *__restrict__ out, int n,
                               unsigned long long seed) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned long long s =
      (unsigned long long)(unsigned(seed) + unsigned(i)) * 0x9e3779b97f4a7c15ull;
  s ^= s >> 29;
  out[i] = unsigned(s >> 32) ^ unsigned(s);
}
