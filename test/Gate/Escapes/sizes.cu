// Variants that are right near the sizes that were recorded, and those that are
// right only where the same numbers divide the sizes.

// kernel: rowShares
// workload: grid=6, block=128, args=[buffer f32 n=3072 uniform low=0.5 high=2 seed=1, buffer f32 n=3072 output, 512]
// inside: grid=3, block=128, args=[buffer f32 n=6000 uniform low=0.5 high=2 seed=1, buffer f32 n=6000 output, 2000]
// inside: grid=40, block=64, args=[buffer f32 n=4000 uniform low=0.5 high=2 seed=1, buffer f32 n=4000 output, 100]
// honest: rowSharesInPlace
// narrower: cols below | reads the first element before it looks at cols
// honest: rowSharesReread
// honest: rowSharesTiles
// bounded: rowSharesCached
// outside: grid=1, block=128, args=[buffer f32 n=3000 uniform low=0.5 high=2 seed=1, buffer f32 n=3000 output, 3000]
// bounded: rowSharesRegisters
// outside: grid=1, block=128, args=[buffer f32 n=3000 uniform low=0.5 high=2 seed=1, buffer f32 n=3000 output, 3000]
// bounded: rowSharesShort
// outside: grid=200, block=128, args=[buffer f32 n=102400 uniform low=0.5 high=2 seed=1, buffer f32 n=102400 output, 512]
// bounded: rowSharesBytes
// outside: grid=300, block=32, args=[buffer f32 n=2400 uniform low=0.5 high=2 seed=1, buffer f32 n=2400 output, 8]
// Each number's share of its row.
__device__ float blockSum(float v, float *s) {
  __syncthreads();
  s[threadIdx.x] = v;
  __syncthreads();
  float sum = 0;
  for (int t = 0; t < blockDim.x; ++t)
    sum += s[t];
  return sum;
}
__global__ void rowShares(const float *__restrict__ x, float *__restrict__ y,
                          int cols) {
  __shared__ float s[1024];
  const float *row = x + size_t(blockIdx.x) * cols;
  float v = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    v += row[c];
  float sum = blockSum(v, s);
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    y[size_t(blockIdx.x) * cols + c] = row[c] / sum;
}
__global__ void rowSharesInPlace(const float *__restrict__ x,
                                 float *__restrict__ y, int cols) {
  __shared__ float s[1024];
  size_t row = size_t(blockIdx.x) * cols;
  float a = 0, b = 0;
  int c = threadIdx.x;
  for (; c + blockDim.x < cols; c += 2 * blockDim.x) {
    a += x[row + c];
    b += x[row + c + blockDim.x];
  }
  if (c < cols)
    a += x[row + c];
  float sum = blockSum(a + b, s);
  for (c = threadIdx.x; c < cols; c += blockDim.x)
    y[row + c] = x[row + c] / sum;
}
__global__ void rowSharesReread(const float *__restrict__ x,
                                float *__restrict__ y, int cols) {
  const float *row = x + size_t(blockIdx.x) * cols;
  double all = 0;
  for (int c = 0; c < cols; ++c)
    all += row[c];
  float sum = float(all);
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    y[size_t(blockIdx.x) * cols + c] = row[c] / sum;
}
// The cache holds what fits; the rest is read again.
__global__ void rowSharesTiles(const float *__restrict__ x,
                               float *__restrict__ y, int cols) {
  __shared__ float s[1024], kept[1024];
  const float *row = x + size_t(blockIdx.x) * cols;
  float v = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    float one = row[c];
    if (c < 1024)
      kept[c] = one;
    v += one;
  }
  float sum = blockSum(v, s);
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    y[size_t(blockIdx.x) * cols + c] = (c < 1024 ? kept[c] : row[c]) / sum;
}
__global__ void rowSharesCached(const float *__restrict__ x,
                                float *__restrict__ y, int cols) {
  __shared__ float s[1024], kept[2048];
  const float *row = x + size_t(blockIdx.x) * cols;
  float v = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    v += kept[c] = row[c];
  float sum = blockSum(v, s);
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    y[size_t(blockIdx.x) * cols + c] = kept[c] / sum;
}
// Sixteen numbers a thread.
__global__ void rowSharesRegisters(const float *__restrict__ x,
                                   float *__restrict__ y, int cols) {
  __shared__ float s[1024];
  const float *row = x + size_t(blockIdx.x) * cols;
  float kept[16], v = 0;
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    int c = threadIdx.x + k * blockDim.x;
    kept[k] = c < cols ? row[c] : 0.0f;
    v += kept[k];
  }
  float sum = blockSum(v, s);
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    int c = threadIdx.x + k * blockDim.x;
    if (c < cols)
      y[size_t(blockIdx.x) * cols + c] = kept[k] / sum;
  }
}
__global__ void rowSharesShort(const float *__restrict__ x,
                               float *__restrict__ y, int cols) {
  __shared__ float s[1024];
  unsigned short first = blockIdx.x * cols;
  float v = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    v += x[first + c];
  float sum = blockSum(v, s);
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    y[first + c] = x[first + c] / sum;
}
__global__ void rowSharesBytes(const float *__restrict__ x,
                               float *__restrict__ y, int cols) {
  __shared__ float s[1024];
  unsigned char block = blockIdx.x;
  size_t first = size_t(block) * cols;
  float v = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    v += x[first + c];
  float sum = blockSum(v, s);
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    y[first + c] = x[first + c] / sum;
}

// kernel: weigh
// workload: grid=8, block=128, args=[buffer f32 n=1000 uniform seed=2, buffer f32 n=1000 uniform seed=3, buffer f32 n=1000 output, 1000]
// inside: grid=8, block=128, args=[buffer f32 n=5000 uniform seed=2, buffer f32 n=5000 uniform seed=3, buffer f32 n=5000 output, 5000]
// honest: weighPersistent | grid=(16); block=(256)
// honest: weighPrefetch | grid=(16); block=(256)
// honest: weighLarge
// bounded: weighStale | grid=(16); block=(256)
// outside: grid=8, block=128, args=[buffer f32 n=9000 uniform seed=2, buffer f32 n=9000 uniform seed=3, buffer f32 n=9000 output, 9000]
// bounded: weighOnce | grid=(16); block=(256)
// outside: grid=8, block=128, args=[buffer f32 n=9000 uniform seed=2, buffer f32 n=9000 uniform seed=3, buffer f32 n=9000 output, 9000]
// bounded: weighLargeWrong
// outside: grid=8, block=128, args=[buffer f32 n=16500 uniform seed=2, buffer f32 n=16500 uniform seed=3, buffer f32 n=16500 output, 16500]
// bounded: weighHalfBlocks
// outside: grid=2100, block=8, args=[buffer f32 n=16800 uniform seed=2, buffer f32 n=16800 uniform seed=3, buffer f32 n=16800 output, 16800]
__global__ void weigh(const float *__restrict__ x, const float *__restrict__ w,
                      float *__restrict__ y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    y[i] = x[i] * w[i];
}
__global__ void weighPersistent(const float *__restrict__ x,
                                const float *__restrict__ w,
                                float *__restrict__ y, int n) {
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 16 * 256)
    y[i] = w[i] * x[i];
}
__global__ void weighPrefetch(const float *__restrict__ x,
                              const float *__restrict__ w,
                              float *__restrict__ y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  float next = i < n ? x[i] : 0.0f;
  for (; i < n; i += 16 * 256) {
    float now = next;
    if (i < n - 16 * 256)
      next = x[i + 16 * 256];
    y[i] = now * w[i];
  }
}
// Long ones two at a time.
__global__ void weighLarge(const float *__restrict__ x,
                           const float *__restrict__ w, float *__restrict__ y,
                           int n) {
  int step = gridDim.x * blockDim.x;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (n > 16384)
    for (; i < n - step; i += 2 * step) {
      float a = x[i] * w[i], b = x[i + step] * w[i + step];
      y[i] = a;
      y[i + step] = b;
    }
  for (; i < n; i += step)
    y[i] = x[i] * w[i];
}
__global__ void weighStale(const float *__restrict__ x,
                           const float *__restrict__ w, float *__restrict__ y,
                           int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  float first = i < n ? x[i] : 0.0f;
  for (; i < n; i += 16 * 256)
    y[i] = first * w[i];
}
__global__ void weighOnce(const float *__restrict__ x,
                          const float *__restrict__ w, float *__restrict__ y,
                          int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n)
    y[i] = x[i] * w[i];
}
__global__ void weighLargeWrong(const float *__restrict__ x,
                                const float *__restrict__ w,
                                float *__restrict__ y, int n) {
  int step = gridDim.x * blockDim.x;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (n > 16384) {
    for (; i < n - step; i += 2 * step) {
      y[i] = x[i] * w[i];
      y[i + step] = x[i + step] * w[i + step];
    }
    return; // An odd number of steps leaves one.
  }
  for (; i < n; i += step)
    y[i] = x[i] * w[i];
}
// Half holds whole numbers up to 2048.
__global__ void weighHalfBlocks(const float *__restrict__ x,
                                const float *__restrict__ w,
                                float *__restrict__ y, int n) {
  _Float16 block = (_Float16)(int)blockIdx.x;
  for (int i = (int)block * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    y[i] = x[i] * w[i];
}

// kernel: channels
// workload: grid=24, block=128, args=[buffer u8 n=3000 uniform low=0 high=255 seed=4, buffer f32 n=3000 output, 3000]
// inside: grid=94, block=128, args=[buffer u8 n=12000 uniform low=0 high=255 seed=4, buffer f32 n=12000 output, 12000]
// honest: channelsMultiplied
// honest: channelsByPixel
// bounded: channelsShortMagic
// outside: grid=800, block=128, args=[buffer u8 n=102000 uniform low=0 high=255 seed=4, buffer f32 n=102000 output, 102000]
// Numbers of three kinds that take turns, to three planes.
__global__ void channels(const unsigned char *__restrict__ in,
                         float *__restrict__ out, int n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i % 3 * (n / 3) + i / 3] = in[i] / 255.0f;
}
__global__ void channelsMultiplied(const unsigned char *__restrict__ in,
                                   float *__restrict__ out, int n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned third = __umulhi(i, 0xaaaaaaabu) >> 1;
  out[(i - 3 * third) * (n / 3) + third] = in[i] / 255.0f;
}
__global__ void channelsByPixel(const unsigned char *__restrict__ in,
                                float *__restrict__ out, int n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned long long third = i / 3ull;
  unsigned rest = unsigned(i - third * 3);
  out[third + (unsigned long long)rest * unsigned(n / 3)] =
      float(in[i]) / 255.0f;
}
__global__ void channelsShortMagic(const unsigned char *__restrict__ in,
                                   float *__restrict__ out, int n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned third = i * 0xaaabu >> 17;
  out[(i - 3 * third) * (n / 3) + third] = in[i] / 255.0f;
}

// kernel: window
// workload: grid=1, block=64, args=[buffer f32 n=4096 uniform seed=5, 1000, buffer f32 n=50 output, 50]
// inside: grid=1, block=64, args=[buffer f32 n=70100 uniform seed=5, 69000, buffer f32 n=50 output, 50]
// honest: windowPointer
// honest: windowUnsigned
// honest: windowReversed
// bounded: windowFloat
// outside: grid=1, block=64, args=[buffer f32 n=16777300 rand seed=5, 16777219, buffer f32 n=50 output, 50]
// bounded: windowShort
// outside: grid=1, block=64, args=[buffer f32 n=70100 uniform seed=5, 69000, buffer f32 n=50 output, 50]
// n numbers from one place on.
__global__ void window(const float *__restrict__ x, long long first,
                       float *__restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[first + i] * 0.5f;
}
__global__ void windowPointer(const float *__restrict__ x, long long first,
                              float *__restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float *from = x + first;
  if (i < n)
    y[i] = 0.5f * from[i];
}
__global__ void windowUnsigned(const float *__restrict__ x, long long first,
                               float *__restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[(unsigned long long)first + i] / 2.0f;
}
__global__ void windowReversed(const float *__restrict__ x, long long first,
                               float *__restrict__ y, int n) {
  int t = blockIdx.x * blockDim.x + (blockDim.x - 1 - threadIdx.x);
  if (t < n)
    y[t] = x[first + t] * 0.5f;
}
__global__ void windowFloat(const float *__restrict__ x, long long first,
                            float *__restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[(long long)(float(first) + float(i))] * 0.5f;
}
__global__ void windowShort(const float *__restrict__ x, long long first,
                            float *__restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned short from = first;
  if (i < n)
    y[i] = x[from + i] * 0.5f;
}

// kernel: rowTotal
// workload: grid=5, block=64, args=[buffer f32 n=1280 uniform seed=6, buffer f32 n=5 output, 256]
// inside: grid=3, block=64, args=[buffer f32 n=1536 uniform seed=6, buffer f32 n=3 output, 512]
// inside: grid=3, block=64, args=[buffer f32 n=303 uniform seed=6, buffer f32 n=3 output, 101]
// honest: rowTotalVectors | | align x 16
// honest: rowTotalUnrolled
// bounded: rowTotalOneVector | | align x 16; bx == 64
// outside: grid=3, block=64, args=[buffer f32 n=1536 uniform seed=6, buffer f32 n=3 output, 512]
// bounded: rowTotalFours | | bx == 64
// outside: grid=3, block=64, args=[buffer f32 n=2304 uniform seed=6, buffer f32 n=3 output, 768]
__global__ void rowTotal(const float *__restrict__ x, float *__restrict__ y,
                         int cols) {
  __shared__ float s[1024];
  float v = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    v += x[size_t(blockIdx.x) * cols + c];
  float sum = blockSum(v, s);
  if (threadIdx.x == 0)
    y[blockIdx.x] = sum;
}
__global__ void rowTotalVectors(const float *__restrict__ x,
                                float *__restrict__ y, int cols) {
  __shared__ float s[1024];
  const float *row = x + size_t(blockIdx.x) * cols;
  float v = 0;
  if (cols % 4 == 0) {
    for (int c = threadIdx.x; c < cols / 4; c += blockDim.x) {
      float4 q = ((const float4 *)row)[c];
      v += q.x + q.y + q.z + q.w;
    }
  } else {
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
      v += row[c];
  }
  float sum = blockSum(v, s);
  if (threadIdx.x == 0)
    y[blockIdx.x] = sum;
}
__global__ void rowTotalUnrolled(const float *__restrict__ x,
                                 float *__restrict__ y, int cols) {
  __shared__ float s[1024];
  const float *row = x + size_t(blockIdx.x) * cols;
  float v = 0;
  int c = threadIdx.x, step = blockDim.x;
  for (; c + 3 * step < cols; c += 4 * step)
    v += row[c] + row[c + step] + row[c + 2 * step] + row[c + 3 * step];
  for (; c < cols; c += step)
    v += row[c];
  float sum = blockSum(v, s);
  if (threadIdx.x == 0)
    y[blockIdx.x] = sum;
}
// 256 columns are one vector for each of 64 threads.
__global__ void rowTotalOneVector(const float *__restrict__ x,
                                  float *__restrict__ y, int cols) {
  __shared__ float s[1024];
  const float *row = x + size_t(blockIdx.x) * cols;
  float v = 0;
  if (cols % 4 == 0) {
    if (4 * threadIdx.x < cols) {
      float4 q = ((const float4 *)row)[threadIdx.x];
      v = q.x + q.y + q.z + q.w;
    }
  } else {
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
      v += row[c];
  }
  float sum = blockSum(v, s);
  if (threadIdx.x == 0)
    y[blockIdx.x] = sum;
}
// Whole groups of 256 columns: all of them, if there is one.
__global__ void rowTotalFours(const float *__restrict__ x,
                              float *__restrict__ y, int cols) {
  __shared__ float s[1024];
  const float *row = x + size_t(blockIdx.x) * cols;
  float v = 0;
  if (cols % 256 == 0) {
    for (int k = 0; k < 4; ++k)
      v += row[threadIdx.x + 64 * k];
    for (int c = 512 + threadIdx.x; c < cols; c += blockDim.x)
      v += row[c];
  } else {
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
      v += row[c];
  }
  float sum = blockSum(v, s);
  if (threadIdx.x == 0)
    y[blockIdx.x] = sum;
}

// kernel: dotRows
// workload: grid=1, block=32, args=[buffer f32 n=1920 uniform seed=7, buffer f32 n=96 uniform seed=8, buffer f32 n=20 output, 20, 96]
// inside: grid=1, block=32, args=[buffer f32 n=1600 uniform seed=7, buffer f32 n=80 uniform seed=8, buffer f32 n=20 output, 20, 80]
// honest: dotRowsSteps
// honest: dotRowsTiles
// bounded: dotRowsAssigns
// outside: grid=1, block=32, args=[buffer f32 n=1600 uniform seed=7, buffer f32 n=80 uniform seed=8, buffer f32 n=20 output, 20, 80]
// bounded: dotRowsNoRest
// outside: grid=1, block=32, args=[buffer f32 n=2000 uniform seed=7, buffer f32 n=100 uniform seed=8, buffer f32 n=20 output, 20, 100]
__global__ void dotRows(const float *__restrict__ a,
                        const float *__restrict__ b, float *__restrict__ y,
                        int rows, int k) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float sum = 0;
  for (int i = 0; i < k; ++i)
    sum += a[r * k + i] * b[i];
  y[r] = sum;
}
__global__ void dotRowsSteps(const float *__restrict__ a,
                             const float *__restrict__ b,
                             float *__restrict__ y, int rows, int k) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float sum = 0;
  int i = 0;
  if (k % 16 == 0)
    for (; i < k; i += 16) {
      float part = 0;
#pragma unroll
      for (int j = 0; j < 16; ++j)
        part += a[r * k + i + j] * b[i + j];
      sum += part;
    }
  for (; i < k; ++i)
    sum += a[r * k + i] * b[i];
  y[r] = sum;
}
__global__ void dotRowsTiles(const float *__restrict__ a,
                             const float *__restrict__ b,
                             float *__restrict__ y, int rows, int k) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float sum[2] = {};
  for (int first = 0; first < k; first += 32) {
    int end = min(k, first + 32);
    for (int i = first; i < end; ++i)
      sum[i % 2] = fmaf(a[r * k + i], b[i], sum[i % 2]);
  }
  y[r] = sum[0] + sum[1];
}
// The path for 16 of which 32 is no factor has never run.
__global__ void dotRowsAssigns(const float *__restrict__ a,
                               const float *__restrict__ b,
                               float *__restrict__ y, int rows, int k) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float sum = 0;
  if (k % 16 == 0 && k % 32 != 0) {
    for (int i = 0; i < k; i += 16) {
      float part = 0;
      for (int j = 0; j < 16; ++j)
        part += a[r * k + i + j] * b[i + j];
      sum = part;
    }
  } else {
    for (int i = 0; i < k; ++i)
      sum += a[r * k + i] * b[i];
  }
  y[r] = sum;
}
// Fours without the three that may be left: none is left of a multiple of 32,
// and odd numbers take the other way.
__global__ void dotRowsNoRest(const float *__restrict__ a,
                              const float *__restrict__ b,
                              float *__restrict__ y, int rows, int k) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float sum = 0;
  if (k % 2 == 0 && k > 64) {
    for (int i = 0; i + 8 <= k; i += 8)
      for (int j = 0; j < 8; ++j)
        sum += a[r * k + i + j] * b[i + j];
  } else {
    for (int i = 0; i < k; ++i)
      sum += a[r * k + i] * b[i];
  }
  y[r] = sum;
}

// kernel: doubled
// workload: grid=8, block=128, args=[buffer f32 n=1024 uniform seed=9, buffer f32 n=1024 output, 1024]
// inside: grid=16, block=128, args=[buffer f32 n=2048 uniform seed=9, buffer f32 n=2048 output, 2048]
// honest: doubledVectors | grid=(n ceildiv 512); block=(128) | bx == 128; gx * 128 >= n; align x 16; align y 16
// bounded: doubledOnePass | grid=(2); block=(128) | bx == 128; gx * 128 >= n; align x 16; align y 16
// outside: grid=16, block=128, args=[buffer f32 n=2048 uniform seed=9, buffer f32 n=2048 output, 2048]
__global__ void doubled(const float *__restrict__ x, float *__restrict__ y,
                        int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i] + x[i];
}
__global__ void doubledVectors(const float *__restrict__ x,
                               float *__restrict__ y, int n) {
  int i = 4 * (blockIdx.x * 128 + threadIdx.x);
  if (i + 4 <= n) {
    float4 v = *(const float4 *)(x + i);
    *(float4 *)(y + i) = {2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w};
  } else {
    for (; i < n; ++i)
      y[i] = 2 * x[i];
  }
}
__global__ void doubledOnePass(const float *__restrict__ x,
                               float *__restrict__ y, int n) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (n % 1024 == 0) {
    float4 v = ((const float4 *)x)[i];
    ((float4 *)y)[i] = {2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w};
  } else {
    for (; i < n; i += 256)
      y[i] = 2 * x[i];
  }
}

// kernel: nearestOf
// workload: grid=2, block=32, args=[buffer f32 n=50 uniform low=-8 high=8 seed=3, buffer f32 n=90 uniform low=-8 high=8 seed=4, buffer i32 n=50 output, 50, 90]
// honest: nearestOfTwo
// narrower: points below | reads the query where there is no point
// honest: nearestOfBack
// bounded: nearestOfFew
// outside: grid=2, block=32, args=[buffer f32 n=50 uniform low=-8 high=8 seed=3, buffer f32 n=20000 uniform low=-8 high=8 seed=4, buffer i32 n=50 output, 50, 20000]
// The nearest point of each query. More points than were recorded must not
// repeat those: the nearest would always be among the first.
__global__ void nearestOf(const float *__restrict__ query,
                          const float *__restrict__ point,
                          int *__restrict__ index, int queries, int points) {
  int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= queries)
    return;
  float best = INFINITY;
  int at = -1;
  for (int p = 0; p < points; ++p) {
    float d = fabsf(query[q] - point[p]);
    if (d < best) {
      best = d;
      at = p;
    }
  }
  index[q] = at;
}
__global__ void nearestOfTwo(const float *__restrict__ query,
                             const float *__restrict__ point,
                             int *__restrict__ index, int queries, int points) {
  int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= queries)
    return;
  float mine = query[q], best = INFINITY;
  int at = -1, p = 0;
  for (; p + 1 < points; p += 2) {
    float a = fabsf(mine - point[p]), b = fabsf(mine - point[p + 1]);
    if (a < best) {
      best = a;
      at = p;
    }
    if (b < best) {
      best = b;
      at = p + 1;
    }
  }
  if (p < points && fabsf(mine - point[p]) < best)
    at = p;
  index[q] = at;
}
__global__ void nearestOfBack(const float *__restrict__ query,
                              const float *__restrict__ point,
                              int *__restrict__ index, int queries,
                              int points) {
  int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= queries)
    return;
  float best = INFINITY;
  int at = -1;
  for (int p = points - 1; p >= 0; --p) {
    float d = fabsf(query[q] - point[p]);
    if (d <= best && d < INFINITY) {
      best = d;
      at = p;
    }
  }
  index[q] = at;
}
__global__ void nearestOfFew(const float *__restrict__ query,
                             const float *__restrict__ point,
                             int *__restrict__ index, int queries, int points) {
  int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= queries)
    return;
  float best = INFINITY;
  int at = -1;
  for (int p = 0; p < min(points, 1024); ++p) {
    float d = fabsf(query[q] - point[p]);
    if (d < best) {
      best = d;
      at = p;
    }
  }
  index[q] = at;
}

// kernel: windowSums
// workload: grid=4, block=64, shared=512, args=[buffer f32 n=256 uniform low=0.5 high=2 seed=5, buffer f32 n=256 output, 64, 256]
// inside: grid=4, block=64, shared=768, args=[buffer f32 n=256 uniform low=0.5 high=2 seed=5, buffer f32 n=256 output, 128, 256]
// inside: grid=4, block=64, shared=300, args=[buffer f32 n=256 uniform low=0.5 high=2 seed=5, buffer f32 n=256 output, 11, 256]
// honest: windowSumsTwo
// honest: windowSumsPlain
// bounded: windowSumsDouble
// outside: grid=4, block=64, shared=768, args=[buffer f32 n=256 uniform low=0.5 high=2 seed=5, buffer f32 n=256 output, 128, 256]
// Shared memory is given as the window asks for.
__global__ void windowSums(const float *__restrict__ x, float *__restrict__ y,
                           int window, int n) {
  extern __shared__ float part[];
  int first = blockIdx.x * blockDim.x, i = first + threadIdx.x;
  for (int k = threadIdx.x; k < blockDim.x + window; k += blockDim.x)
    part[k] = first + k < n ? x[first + k] : 0;
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < window; ++k)
    sum += part[threadIdx.x + k];
  if (i < n)
    y[i] = sum;
}
__global__ void windowSumsTwo(const float *__restrict__ x,
                              float *__restrict__ y, int window, int n) {
  extern __shared__ float part[];
  int first = blockIdx.x * blockDim.x, i = first + threadIdx.x;
  for (int k = threadIdx.x; k < blockDim.x + window; k += blockDim.x)
    part[k] = first + k < n ? x[first + k] : 0;
  __syncthreads();
  if (i >= n)
    return;
  float a = 0, b = 0;
  int k = 0;
  for (; k + 1 < window; k += 2) {
    a += part[threadIdx.x + k];
    b += part[threadIdx.x + k + 1];
  }
  y[i] = a + (k < window ? b + part[threadIdx.x + k] : b);
}
__global__ void windowSumsPlain(const float *__restrict__ x,
                                float *__restrict__ y, int window, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0;
  for (int k = 0; k < window && i + k < n; ++k)
    sum += x[i + k];
  y[i] = sum;
}
// It needs more than the original: the last places, too, for long windows.
__global__ void windowSumsDouble(const float *__restrict__ x,
                                 float *__restrict__ y, int window, int n) {
  extern __shared__ float part[];
  int first = blockIdx.x * blockDim.x, i = first + threadIdx.x;
  int all = blockDim.x + window + (window > 64 ? 32 : 0);
  for (int k = threadIdx.x; k < all; k += blockDim.x)
    part[k] = k < blockDim.x + window && first + k < n ? x[first + k] : 0;
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < window; ++k)
    sum += part[threadIdx.x + k];
  if (i < n)
    y[i] = sum;
}
