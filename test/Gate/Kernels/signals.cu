// Signals, statistics and strings.

// kernel: firFilter
// workload: grid=3, block=64, args=[buffer f32 n=180 uniform seed=1, buffer f32 n=9 uniform seed=2, buffer f32 n=180 output, 180, 9]
// honest: firFilterBackwards
// honest: firFilterShared
// narrower: taps below | reads x where there is no tap
__global__ void firFilter(const float *__restrict__ x,
                          const float *__restrict__ h, float *__restrict__ y,
                          int n, int taps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0;
  for (int k = 0; k < taps && k <= i; ++k)
    sum += h[k] * x[i - k];
  y[i] = sum;
}
__global__ void firFilterBackwards(const float *__restrict__ x,
                                   const float *__restrict__ h,
                                   float *__restrict__ y, int n, int taps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0;
  for (int j = i; j >= 0 && i - j < taps; --j)
    sum = fmaf(x[j], h[i - j], sum);
  y[i] = sum;
}
__global__ void firFilterShared(const float *__restrict__ x,
                                const float *__restrict__ h,
                                float *__restrict__ y, int n, int taps) {
  __shared__ float part[1024];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  part[t] = i < n ? x[i] : 0.0f;
  __syncthreads();
  if (i >= n)
    return;
  float sum = 0;
  for (int k = 0; k < taps && k <= i; ++k)
    sum += h[k] * (k <= t ? part[t - k] : x[i - k]);
  y[i] = sum;
}

// kernel: decibels
// workload: grid=2, block=64, args=[buffer f32 n=200 uniform seed=3, buffer f32 n=100 output, 100, 0.001]
// honest: decibelsPairs
// Of complex numbers, not below a floor.
__global__ void decibels(const float *__restrict__ z, float *__restrict__ y,
                         int n, float least) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float power = z[2 * i] * z[2 * i] + z[2 * i + 1] * z[2 * i + 1];
  y[i] = 10.0f * log10f(power < least ? least : power);
}
__global__ void decibelsPairs(const float *__restrict__ z,
                              float *__restrict__ y, int n, float least) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float re = z[2 * i], im = z[2 * i + 1];
  float power = fmaf(re, re, im * im);
  if (power < least)
    power = least;
  y[i] = log10f(power) * 10.0f;
}

// kernel: upsampleTwice
// workload: grid=4, block=32, args=[buffer f32 n=60 uniform seed=4, buffer f32 n=120 output, 60]
// honest: upsampleTwiceByOutput
// Each number twice, the second the mean with the next one.
__global__ void upsampleTwice(const float *__restrict__ x,
                              float *__restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= 2 * n)
    return;
  int j = i / 2;
  float next = x[j + 1 < n ? j + 1 : n - 1];
  y[i] = i % 2 ? 0.5f * (x[j] + next) : x[j];
}
__global__ void upsampleTwiceByOutput(const float *__restrict__ x,
                                      float *__restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= 2 * n)
    return;
  float v = x[i >> 1];
  if (i & 1)
    v = (v + x[min((i >> 1) + 1, n - 1)]) / 2.0f;
  y[i] = v;
}

// kernel: differences
// workload: grid=2, block=64, args=[buffer i32 n=100 uniform low=-500 high=500 seed=5, buffer i32 n=100 output, 100, 3]
// honest: differencesShuffled | | bx mod 32 == 0
// honest: differencesBranch
// To the number `lag` before; the first ones stay.
__global__ void differences(const int *__restrict__ x, int *__restrict__ y,
                            int n, int lag) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i] - (i >= lag ? x[i - lag] : 0);
}
__global__ void differencesShuffled(const int *__restrict__ x,
                                    int *__restrict__ y, int n, int lag) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  int own = i < n ? x[i] : 0;
  int near = __shfl_sync(0xffffffffu, own, (lane - lag) & 31);
  if (i >= n)
    return;
  int before = i < lag                      ? 0
               : lag >= 0 && lag <= lane ? near
                                            : x[i - lag];
  y[i] = own - before;
}
__global__ void differencesBranch(const int *__restrict__ x,
                                  int *__restrict__ y, int n, int lag) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int v = x[i];
  if (i >= lag)
    v -= x[i - lag];
  y[i] = v;
}

// kernel: rowMoments
// workload: grid=3, block=32, args=[buffer f32 n=300 uniform seed=6, buffer f32 n=6 output, 100]
// honest: rowMomentsWarp | | bx == 32
// Mean and mean square of each row.
__global__ void rowMoments(const float *__restrict__ x, float *__restrict__ y,
                           int cols) {
  __shared__ float first[1024], second[1024];
  const float *row = x + blockIdx.x * cols;
  float a = 0, b = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    a += row[c];
    b += row[c] * row[c];
  }
  first[threadIdx.x] = a;
  second[threadIdx.x] = b;
  __syncthreads();
  if (threadIdx.x)
    return;
  for (int t = 1; t < blockDim.x; ++t) {
    a += first[t];
    b += second[t];
  }
  y[2 * blockIdx.x] = a / cols;
  y[2 * blockIdx.x + 1] = b / cols;
}
__global__ void rowMomentsWarp(const float *__restrict__ x,
                               float *__restrict__ y, int cols) {
  const float *row = x + blockIdx.x * cols;
  float a = 0, b = 0;
  for (int c = threadIdx.x; c < cols; c += 32) {
    float v = row[c];
    a += v;
    b = fmaf(v, v, b);
  }
  for (int d = 16; d > 0; d /= 2) {
    a += __shfl_xor_sync(0xffffffffu, a, d);
    b += __shfl_xor_sync(0xffffffffu, b, d);
  }
  if (threadIdx.x == 0) {
    y[2 * blockIdx.x] = a / cols;
    y[2 * blockIdx.x + 1] = b / cols;
  }
}

// kernel: upperCase
// workload: grid=4, block=32, args=[buffer u8 n=120 uniform low=32 high=126 seed=7, buffer u8 n=120 output, 120]
// honest: upperCaseTable
__global__ void upperCase(const unsigned char *__restrict__ in,
                          unsigned char *__restrict__ out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned char c = in[i];
  out[i] = c >= 'a' && c <= 'z' ? c - 32 : c;
}
__global__ void upperCaseTable(const unsigned char *__restrict__ in,
                               unsigned char *__restrict__ out, int n) {
  __shared__ unsigned char table[256];
  for (int c = threadIdx.x; c < 256; c += blockDim.x)
    table[c] = unsigned(c - 'a') < 26u ? c ^ 0x20 : c;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = table[in[i]];
}

// kernel: bitCounts
// workload: grid=2, block=64, args=[buffer u32 n=100 uniform low=0 high=2000000000 seed=8, buffer i32 n=100 output, 100]
// honest: bitCountsByHand
// honest: bitCountsLoop
__global__ void bitCounts(const unsigned *__restrict__ x, int *__restrict__ y,
                          int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = __popc(x[i]) - __clz(x[i]);
}
__global__ void bitCountsByHand(const unsigned *__restrict__ x,
                                int *__restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned v = x[i], c = v;
  c -= c >> 1 & 0x55555555u;
  c = (c & 0x33333333u) + (c >> 2 & 0x33333333u);
  c = ((c + (c >> 4) & 0x0f0f0f0fu) * 0x01010101u) >> 24;
  y[i] = int(c) - __clz(v);
}
__global__ void bitCountsLoop(const unsigned *__restrict__ x,
                              int *__restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int count = 0, zeros = 32;
  for (unsigned v = x[i]; v; v >>= 1) {
    count += v & 1;
    --zeros;
  }
  y[i] = count - zeros;
}
