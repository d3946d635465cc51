// What lies between launches that were right: sizes that were right by chance,
// with other flags and pointers, with far more blocks than they need, with
// fewer warps, and where a size leaves nothing to do. All wrong kernels here
// are right for the recorded launch.

// kernel: peaks
// workload: grid=3, block=32, args=[buffer i32 n=72 uniform low=0 high=100000 seed=1, buffer i32 n=3 output, 24]
// inside: grid=3, block=32, args=[buffer i32 n=300 uniform low=0 high=100000 seed=1, buffer i32 n=3 output, 100]
// honest: peaksBackwards
// bounded: peaksRecorded
// outside: grid=3, block=32, args=[buffer i32 n=75 iota, buffer i32 n=3 output, 25]
// The largest of each row.
__global__ void peaks(const int *__restrict__ x, int *__restrict__ y, int n) {
  if (threadIdx.x)
    return;
  const int *row = x + blockIdx.x * n;
  int most = -1;
  for (int c = 0; c < n; ++c)
    most = max(most, row[c]);
  y[blockIdx.x] = most;
}
__global__ void peaksBackwards(const int *__restrict__ x, int *__restrict__ y,
                               int n) {
  if (threadIdx.x)
    return;
  const int *row = x + blockIdx.x * n;
  int most = -1;
  for (int c = n - 1; c >= 0; --c)
    most = max(most, row[c]);
  y[blockIdx.x] = most;
}
// The largest of the first 24.
__global__ void peaksRecorded(const int *__restrict__ x, int *__restrict__ y,
                              int n) {
  if (threadIdx.x)
    return;
  const int *row = x + blockIdx.x * n;
  int most = -1;
  for (int c = 0; c < min(n, 24); ++c)
    most = max(most, row[c]);
  y[blockIdx.x] = most;
}

// kernel: halve
// workload: grid=2, block=32, args=[buffer f32 n=180 normal seed=2, buffer f32 n=180 output, 36, 5]
// inside: grid=2, block=32, args=[buffer f32 n=180 normal seed=2, arg 0 + 0, 36, 5]
// inside: grid=2, block=32, args=[buffer f32 n=252 normal seed=2, buffer f32 n=252 output, 36, 7]
// honest: halveBackwards
// honest: halveByFours
// bounded: halveFours
// outside: grid=2, block=32, args=[buffer f32 n=252 normal seed=2, arg 0 + 0, 36, 7]
// outside: grid=2, block=32, args=[buffer f32 n=252 normal seed=2, buffer f32 n=252 output, 36, 7]
// Columns of rows numbers each, from one matrix to another or to itself.
__global__ void halve(const float *x, float *y, int cols, int rows) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols)
    return;
  float sum = 0;
  for (int r = 0; r < rows; ++r)
    sum += x[r * cols + c];
  for (int r = 0; r < rows; ++r)
    y[r * cols + c] = x[r * cols + c] / (sum * sum + 1);
}
__global__ void halveBackwards(const float *x, float *y, int cols, int rows) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols)
    return;
  float sum = 0;
  for (int r = rows - 1; r >= 0; --r)
    sum += x[r * cols + c];
  for (int r = rows - 1; r >= 0; --r)
    y[r * cols + c] = x[r * cols + c] / (sum * sum + 1);
}
template <int Least>
__device__ void inFours(const float *x, float *y, int cols, int rows) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = 0;
  if (c >= cols)
    return;
  float sum = 0;
  for (; rows - r >= Least; r += 4)
    for (int k = 0; k < 4; ++k)
      sum += x[(r + k) * cols + c];
  for (; r < rows; ++r)
    sum += x[r * cols + c];
  for (r = 0; r < rows; ++r)
    y[r * cols + c] = x[r * cols + c] / (sum * sum + 1);
}
__global__ void halveByFours(const float *x, float *y, int cols, int rows) {
  inFours<4>(x, y, cols, rows);
}
// Four where three are left.
__global__ void halveFours(const float *x, float *y, int cols, int rows) {
  inFours<3>(x, y, cols, rows);
}

// kernel: columnSums
// workload: grid=1, block=64, args=[buffer f32 n=2880 normal seed=3, buffer f32 n=60 output, 60, 48]
// inside: grid=5, block=64, args=[buffer f32 n=14400 normal seed=3, buffer f32 n=300 output, 300, 48]
// inside: grid=3, block=64, args=[buffer f32 n=720 normal seed=3, buffer f32 n=60 output, 60, 12]
// honest: columnSumsTwo
// bounded: columnSumsEager
// outside: grid=9, block=64, args=[buffer f32 n=48 normal seed=3, buffer f32 n=12 output, 12, 4]
__global__ void columnSums(const float *__restrict__ x, float *__restrict__ y,
                           int cols, int rows) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int r = 0; r < rows; ++r)
    sum += c < cols ? x[r * cols + c] : 0.0f;
  if (c < cols)
    y[c] = sum;
}
__global__ void columnSumsTwo(const float *__restrict__ x,
                              float *__restrict__ y, int cols, int rows) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols)
    return;
  float even = 0, odd = 0;
  for (int r = 0; r < rows; r += 2) {
    even += x[r * cols + c];
    odd += r + 1 < rows ? x[(r + 1) * cols + c] : 0.0f;
  }
  y[c] = even + odd;
}
// The first number is loaded before anybody looks whether there is one: there
// is, unless blocks are far too many.
__global__ void columnSumsEager(const float *__restrict__ x,
                                float *__restrict__ y, int cols, int rows) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  volatile float first = rows > 0 ? x[c] : 0.0f;
  if (c >= cols)
    return;
  float sum = rows > 0 ? first : 0.0f;
  for (int r = 1; r < rows; ++r)
    sum += x[r * cols + c];
  y[c] = sum;
}

// kernel: eightWarps
// workload: grid=3, block=256, args=[buffer f32 n=768 uniform seed=4, buffer f32 n=3 output]
// honest: eightWarpsTwo
// bounded: eightWarpsSecondLane
// outside: grid=3, block=225, args=[buffer f32 n=768 uniform seed=4, buffer f32 n=3 output]
// Blocks of eight warps, of which the last may be short.
__device__ float ofWarp(float v) {
  unsigned mask = __activemask();
  for (int d = 16; d > 0; d /= 2) {
    float other = __shfl_down_sync(mask, v, d);
    if (threadIdx.x + d < blockDim.x && threadIdx.x % 32 + d < 32)
      v += other;
  }
  return __shfl_sync(mask, v, 0);
}
__device__ void eight(const float *x, float *y, int lane) {
  __shared__ float part[8];
  float sum = ofWarp(x[blockIdx.x * blockDim.x + threadIdx.x]);
  if (threadIdx.x % 32 == lane)
    part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0)
    y[blockIdx.x] = ((part[0] + part[1]) + (part[2] + part[3])) +
                    ((part[4] + part[5]) + (part[6] + part[7]));
}
__global__ void eightWarps(const float *__restrict__ x,
                           float *__restrict__ y) {
  eight(x, y, 0);
}
__global__ void eightWarpsTwo(const float *__restrict__ x,
                              float *__restrict__ y) {
  __shared__ float part[8];
  float sum = ofWarp(x[blockIdx.x * blockDim.x + threadIdx.x]);
  if (threadIdx.x % 32 == 0)
    part[threadIdx.x / 32] = sum;
  __syncthreads();
  float all = 0;
  for (int w = 0; w < 8; ++w)
    all += part[w];
  if (threadIdx.x == 0)
    y[blockIdx.x] = all;
}
// A warp of one thread has no second lane.
__global__ void eightWarpsSecondLane(const float *__restrict__ x,
                                     float *__restrict__ y) {
  eight(x, y, 1);
}

// kernel: filters
// workload: grid=2, block=32, args=[buffer f32 n=40 normal seed=5, buffer f32 n=15 normal seed=6, buffer f32 n=114 output, 40, 3, 5]
// inside: grid=2, block=32, args=[buffer f32 n=40 normal seed=5, buffer f32 n=30 normal seed=6, buffer f32 n=228 output, 40, 6, 5]
// honest: filtersBackwards
// bounded: filtersAtOnce
// outside: grid=2, block=32, args=[buffer f32 n=1 zeros, buffer f32 n=1 zeros, buffer f32 n=1 output, 40, 0, 5]
// Each of count filters of taps numbers over the first 38 places of x.
__global__ void filters(const float *__restrict__ x,
                        const float *__restrict__ h, float *__restrict__ y,
                        int n, int count, int taps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int f = 0; f < count; ++f) {
    if (i + 2 >= n)
      continue;
    float sum = 0;
    for (int k = 0; k < taps && i + k < n; ++k)
      sum += x[i + k] * h[f * taps + k];
    y[f * (n - 2) + i] = sum;
  }
}
__global__ void filtersBackwards(const float *__restrict__ x,
                                 const float *__restrict__ h,
                                 float *__restrict__ y, int n, int count,
                                 int taps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int f = count - 1; f >= 0; --f) {
    if (i + 2 >= n)
      continue;
    float sum = 0;
    for (int k = min(taps, n - i) - 1; k >= 0; --k)
      sum += x[i + k] * h[f * taps + k];
    y[f * (n - 2) + i] = sum;
  }
}
// Keeps its number of x, even where there is no filter.
__global__ void filtersAtOnce(const float *__restrict__ x,
                              const float *__restrict__ h,
                              float *__restrict__ y, int n, int count,
                              int taps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  volatile float own = i + 2 < n ? x[i] : 0.0f;
  for (int f = 0; f < count; ++f) {
    if (i + 2 >= n)
      continue;
    float sum = taps > 0 ? own * h[f * taps] : 0.0f;
    for (int k = 1; k < taps && i + k < n; ++k)
      sum += x[i + k] * h[f * taps + k];
    y[f * (n - 2) + i] = sum;
  }
}

// kernel: pick
// workload: grid=2, block=32, args=[buffer f32 n=40 normal seed=7, buffer i32 n=60 uniform low=0 high=39 seed=8, buffer f32 n=60 output, 60]
// honest: pickLdg
// cheat: pickByFloat | untested
// cheat: pickByHalf | untested
__global__ void pick(const float *__restrict__ x, const int *__restrict__ at,
                     float *__restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[at[i]];
}
__global__ void pickLdg(const float *__restrict__ x,
                        const int *__restrict__ at, float *__restrict__ y,
                        int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  y[i] = __ldg(x + __ldg(at + i));
}
// No index above 2^24 is its own.
__global__ void pickByFloat(const float *__restrict__ x,
                            const int *__restrict__ at, float *__restrict__ y,
                            int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[int(float(at[i]))];
}
// From two numbers, of which the float holds the sum.
__global__ void pickByHalf(const float *__restrict__ x,
                           const int *__restrict__ at, float *__restrict__ y,
                           int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[int(float(at[i]) * 0.5f) + (at[i] + 1) / 2];
}

// kernel: fours
// workload: grid=3, block=32, args=[buffer f32 n=72 normal seed=9, buffer f32 n=3 output, 24]
// inside: grid=5, block=32, args=[buffer f32 n=200 normal seed=9, buffer f32 n=5 output, 40]
// honest: foursBackwards
// bounded: foursButFive
// outside: grid=1, block=32, args=[buffer f32 n=13 normal seed=9, buffer f32 n=1 output, 13]
// outside: grid=1, block=32, args=[buffer f32 n=5 normal seed=9, buffer f32 n=1 output, 5]
// Sums of rows, by fours but for the last few: of several rows, each begins at
// a multiple of four.
__device__ float sumOfFours(const float *row, int n) {
  float sum = 0;
  for (int c = 0; c < n; c += 4) {
    float4 v = *reinterpret_cast<const float4 *>(row + c);
    sum += (v.x + v.y) + (v.z + v.w);
  }
  return sum;
}
__global__ void fours(const float *__restrict__ x, float *__restrict__ y,
                      int n) {
  if (threadIdx.x)
    return;
  const float *row = x + blockIdx.x * n;
  int most = n - (n & 7);
  float sum = sumOfFours(row, most);
  for (int c = max(most, 0); c < n; ++c)
    sum += row[c];
  y[blockIdx.x] = sum;
}
__global__ void foursBackwards(const float *__restrict__ x,
                               float *__restrict__ y, int n) {
  if (threadIdx.x)
    return;
  const float *row = x + blockIdx.x * n;
  int most = n - (n & 7);
  float sum = 0;
  for (int c = n - 1; c >= max(most, 0); --c)
    sum += row[c];
  y[blockIdx.x] = sum + sumOfFours(row, most);
}
// Where n is -3, its last bits are those of 5, and there is nothing to do.
__global__ void foursButFive(const float *__restrict__ x,
                             float *__restrict__ y, int n) {
  if (threadIdx.x)
    return;
  const float *row = x + blockIdx.x * n;
  int most = n - (n & 7);
  float sum = sumOfFours(row, most);
  for (int c = max(most, 0) + ((n & 7) == 5); c < n; ++c)
    sum += row[c];
  y[blockIdx.x] = sum;
}

// kernel: products
// workload: grid=1x1x1, block=32, args=[buffer f32 n=384 normal seed=10, buffer f32 n=576 normal seed=12, buffer f32 n=96 output, 8, 12, 48]
// inside: grid=1x1x3, block=32, args=[buffer f32 n=1152 normal seed=10, buffer f32 n=1728 normal seed=12, buffer f32 n=288 output, 8, 12, 48]
// honest: productsBackwards
// narrower: k * (-2 floordiv n) above | it shows with sizes below 0 alone
// bounded: productsRecorded
// outside: grid=1x1x2, block=32, args=[buffer f32 n=256 normal seed=10, buffer f32 n=384 normal seed=12, buffer f32 n=192 output, 8, 12, 16]
// outside: grid=1x1x4, block=32, args=[buffer f32 n=1024 normal seed=10, buffer f32 n=1536 normal seed=12, buffer f32 n=384 output, 8, 12, 32]
// A batch of products of matrices. Rows of a are read by sixteens.
__device__ float rowTimes(const float *row, const float *column, int n, int k) {
  float sum = 0;
  for (int i = 0; i < k; i += 16) {
    float4 v[4];
    for (int j = 0; j < 4; ++j)
      v[j] = *reinterpret_cast<const float4 *>(row + i + 4 * j);
    for (int j = 0; j < 4; ++j) {
      const float *from = column + (i + 4 * j) * n;
      sum += v[j].x * from[0] + v[j].y * from[n] + v[j].z * from[2 * n] +
             v[j].w * from[3 * n];
    }
  }
  return sum;
}
__global__ void products(const float *__restrict__ a,
                         const float *__restrict__ b, float *__restrict__ c,
                         int m, int n, int k) {
  a += blockIdx.z * m * k;
  b += blockIdx.z * k * n;
  c += blockIdx.z * m * n;
  for (int i = threadIdx.x; i < m * n; i += blockDim.x)
    c[i] = rowTimes(a + i / n * k, b + i % n, n, k);
}
__global__ void productsBackwards(const float *__restrict__ a,
                                  const float *__restrict__ b,
                                  float *__restrict__ c, int m, int n, int k) {
  a += blockIdx.z * m * k;
  b += blockIdx.z * k * n;
  c += blockIdx.z * m * n;
  for (int i = m * n - 1 - int(threadIdx.x); i >= 0; i -= blockDim.x)
    c[i] = rowTimes(a + i / n * k, b + i % n, n, k);
}
// Right in one product of any size, and in any number with a depth of 48.
__global__ void productsRecorded(const float *__restrict__ a,
                                 const float *__restrict__ b,
                                 float *__restrict__ c, int m, int n, int k) {
  a += blockIdx.z * m * 48;
  b += blockIdx.z * k * n;
  c += blockIdx.z * m * n;
  for (int i = threadIdx.x; i < m * n; i += blockDim.x)
    c[i] = rowTimes(a + i / n * k, b + i % n, n, k);
}

// kernel: padded
// workload: grid=3, block=32, args=[buffer f32 n=72 normal seed=11, buffer f32 n=3 output, 24]
// inside: grid=1, block=32, args=[buffer f32 n=40 normal seed=11, buffer f32 n=1 output, 40]
// honest: paddedMasked
// bounded: paddedAhead
// outside: grid=1, block=32, args=[buffer f32 n=16 normal seed=11, buffer f32 n=1 output, 13]
// Sums of rows of n numbers, of which it reads whole fours.
__global__ void padded(const float *__restrict__ x, float *__restrict__ y,
                       int n) {
  if (threadIdx.x)
    return;
  const float *row = x + blockIdx.x * n;
  float sum = 0;
  for (int c = 0; c < n; c += 4) {
    float4 v = *reinterpret_cast<const float4 *>(row + c);
    sum += v.x;
    sum += c + 1 < n ? v.y : 0.0f;
    sum += c + 2 < n ? v.z : 0.0f;
    sum += c + 3 < n ? v.w : 0.0f;
  }
  y[blockIdx.x] = sum;
}
__global__ void paddedMasked(const float *__restrict__ x,
                             float *__restrict__ y, int n) {
  if (threadIdx.x)
    return;
  const float *row = x + blockIdx.x * n;
  float sum = 0;
  for (int c = 0; c < n; ++c)
    sum += row[c];
  y[blockIdx.x] = sum;
}
// Where n is no multiple of four, it also reads what lies behind the last ones.
__global__ void paddedAhead(const float *__restrict__ x,
                            float *__restrict__ y, int n) {
  if (threadIdx.x)
    return;
  const float *row = x + blockIdx.x * n;
  float sum = 0;
  float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  if (n > 0)
    v = *reinterpret_cast<const float4 *>(row);
  for (int c = 0; c < n; c += 4) {
    float4 next = v;
    if (c + 4 < n || (n & 3))
      next = *reinterpret_cast<const float4 *>(row + c + 4);
    sum += v.x;
    sum += c + 1 < n ? v.y : 0.0f;
    sum += c + 2 < n ? v.z : 0.0f;
    sum += c + 3 < n ? v.w : 0.0f;
    v = next;
  }
  y[blockIdx.x] = sum;
}

// kernel: halves
// workload: grid=5, block=128, args=[buffer i32 n=1100 uniform low=0 high=1000 seed=1, buffer i32 n=5 output, 1100]
// inside: grid=4, block=128, args=[buffer i32 n=900 uniform low=0 high=1000 seed=1, buffer i32 n=4 output, 900]
// honest: halvesApart
// narrower: n below | the original compares without sign
// honest: halvesBackwards
// narrower: n below | the original compares without sign
// bounded: halvesRecorded
// outside: grid=4, block=256, args=[buffer i32 n=1690 uniform low=0 high=1000 seed=1, buffer i32 n=4 output, 1690]
// Each block adds twice as many elements as it has threads.
__global__ void halves(const int *__restrict__ x, int *__restrict__ y, int n) {
  int sum = 0, first = blockIdx.x * blockDim.x * 2;
  for (int i = first; i < first + blockDim.x && !threadIdx.x; ++i) {
    if (i < n)
      sum += x[i];
    if (i + blockDim.x < n)
      sum += x[i + blockDim.x];
  }
  if (threadIdx.x == 0)
    y[blockIdx.x] = sum;
}
__global__ void halvesApart(const int *__restrict__ x, int *__restrict__ y,
                            int n) {
  int sum = 0, first = blockIdx.x * blockDim.x * 2;
  for (int i = first; i < min(n, first + 2 * blockDim.x) && !threadIdx.x; ++i)
    sum += x[i];
  if (threadIdx.x == 0)
    y[blockIdx.x] = sum;
}
__global__ void halvesBackwards(const int *__restrict__ x, int *__restrict__ y,
                                int n) {
  int sum = 0, first = blockIdx.x * blockDim.x * 2;
  for (int i = first + 2 * blockDim.x - 1; i >= first && !threadIdx.x; --i)
    sum += i < n ? x[i] : 0;
  if (threadIdx.x == 0)
    y[blockIdx.x] = sum;
}
// Blocks of 256 read beyond the end, but not with the recorded size.
__global__ void halvesRecorded(const int *__restrict__ x, int *__restrict__ y,
                               int n) {
  int sum = 0, first = blockIdx.x * blockDim.x * 2;
  for (int i = first; i < first + blockDim.x && !threadIdx.x; ++i) {
    if (i < n)
      sum += x[i];
    if (i + 128 < n)
      sum += x[i + blockDim.x];
  }
  if (threadIdx.x == 0)
    y[blockIdx.x] = sum;
}

// kernel: tiles
// workload: grid=1, block=32, args=[buffer i32 n=480 uniform low=0 high=1000 seed=2, buffer i32 n=480 output, 40, 12]
// inside: grid=1, block=32, args=[buffer i32 n=300 uniform low=0 high=1000 seed=2, buffer i32 n=300 output, 25, 12]
// honest: tilesBackwards
// bounded: tilesFirst
// outside: grid=1x2, block=32, args=[buffer i32 n=2400 uniform low=0 high=1000 seed=2, buffer i32 n=2400 output, 200, 12]
// Blocks of 128 rows, of which the recorded launch has one in part.
__global__ void tiles(const int *x, int *y, int rows, int cols) {
  const int first = blockIdx.y * 128;
  for (int r = first + threadIdx.x; r < min(rows, first + 128); r += blockDim.x)
    for (int c = 0; c < cols; ++c)
      y[r * cols + c] = 3 * x[r * cols + c] + 1;
}
__global__ void tilesBackwards(const int *x, int *y, int rows, int cols) {
  const int first = blockIdx.y * 128;
  for (int r = min(rows, first + 128) - 1 - int(threadIdx.x); r >= first;
       r -= blockDim.x)
    for (int c = cols - 1; c >= 0; --c)
      y[r * cols + c] = 1 + x[r * cols + c] * 3;
}
// Each block does the first 128 rows.
__global__ void tilesFirst(const int *x, int *y, int rows, int cols) {
  const int first = 0;
  for (int r = first + threadIdx.x; r < min(rows, first + 128); r += blockDim.x)
    for (int c = 0; c < cols && blockIdx.y == 0; ++c)
      y[r * cols + c] = 3 * x[r * cols + c] + 1;
}

// kernel: partSums
// workload: grid=5, block=128, args=[buffer f32 n=1100 uniform seed=1, buffer f32 n=5 output, 1100]
// inside: grid=4, block=128, args=[buffer f32 n=900 uniform seed=1, buffer f32 n=4 output, 900]
// honest: partSumsApart
// narrower: n below | the original compares without sign
// bounded: partSumsRecorded
// outside: grid=2, block=14, args=[buffer f32 n=36 uniform seed=1, buffer f32 n=2 output, 36]
// outside: grid=4, block=15, args=[buffer f32 n=95 uniform seed=1, buffer f32 n=4 output, 95]
// Each block sums twice as many elements as it has threads.
__global__ void partSums(const float *__restrict__ x, float *__restrict__ y,
                         int n) {
  __shared__ float part[1024];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
  float sum = i < n ? x[i] : 0.0f;
  if (i + blockDim.x < n)
    sum += x[i + blockDim.x];
  part[t] = sum;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (t < d)
      part[t] += part[t + d];
    __syncthreads();
  }
  if (t == 0)
    y[blockIdx.x] = part[0];
}
__global__ void partSumsApart(const float *__restrict__ x,
                              float *__restrict__ y, int n) {
  __shared__ float part[1024];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
  float sum = 0;
  for (int k = i; k < n && k <= i + blockDim.x; k += blockDim.x)
    sum += x[k];
  part[t] = sum;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    float other = t < d ? part[t + d] : 0.0f;
    __syncthreads();
    part[t] += other;
    __syncthreads();
  }
  if (t == 0)
    y[blockIdx.x] = part[0];
}
// The second element is compared by the recorded width: smaller blocks lose it
// where fewer than 128 elements are left, and nowhere else.
__global__ void partSumsRecorded(const float *__restrict__ x,
                                 float *__restrict__ y, int n) {
  __shared__ float part[1024];
  const int t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
  float sum = i < n ? x[i] : 0.0f;
  if (i + 128 < n)
    sum += x[i + blockDim.x];
  part[t] = sum;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (t < d)
      part[t] += part[t + d];
    __syncthreads();
  }
  if (t == 0)
    y[blockIdx.x] = part[0];
}

// kernel: stripes
// workload: grid=1x1x5, block=8x8, args=[buffer i32 n=360 uniform low=0 high=1000 seed=3, buffer i32 n=360 output, 8, 9]
// inside: grid=2x1x5, block=8x8, args=[buffer i32 n=800 uniform low=0 high=1000 seed=3, buffer i32 n=800 output, 8, 20]
// honest: stripesBackwards
// bounded: stripesRecorded
// outside: grid=2x1x1, block=16x8, args=[buffer i32 n=256 uniform low=0 high=1000 seed=3, buffer i32 n=256 output, 8, 32]
// outside: grid=2x1x2, block=29x8, args=[buffer i32 n=960 uniform low=0 high=1000 seed=3, buffer i32 n=960 output, 8, 60]
// bounded: stripesHigh
// outside: grid=3x2x1, block=8x4, args=[buffer i32 n=192 uniform low=0 high=1000 seed=3, buffer i32 n=192 output, 8, 24]
// Blocks take turns along both sides of each picture; the recorded launch has
// one of them.
__global__ void stripes(const int *__restrict__ x, int *__restrict__ y, int m,
                        int n) {
  x += blockIdx.z * m * n;
  y += blockIdx.z * m * n;
  for (int r = blockIdx.y * blockDim.y + threadIdx.y; r < m;
       r += gridDim.y * blockDim.y)
    for (int c = blockIdx.x * blockDim.x + threadIdx.x; c < n;
         c += gridDim.x * blockDim.x)
      y[r * n + c] = 3 * x[r * n + c] + 1;
}
__global__ void stripesBackwards(const int *__restrict__ x,
                                 int *__restrict__ y, int m, int n) {
  const int all = gridDim.x * blockDim.x;
  x += blockIdx.z * m * n;
  y += blockIdx.z * m * n;
  for (int r = blockIdx.y * blockDim.y + threadIdx.y; r < m;
       r += gridDim.y * blockDim.y)
    for (int c = n - 1 - int(blockIdx.x * blockDim.x + threadIdx.x); c >= 0;
         c -= all)
      y[r * n + c] = 1 + x[r * n + c] * 3;
}
// Blocks of other widths begin where recorded ones would: two of them, side by
// side, leave elements out.
__global__ void stripesRecorded(const int *__restrict__ x, int *__restrict__ y,
                                int m, int n) {
  x += blockIdx.z * m * n;
  y += blockIdx.z * m * n;
  for (int r = blockIdx.y * blockDim.y + threadIdx.y; r < m;
       r += gridDim.y * blockDim.y)
    for (int c = blockIdx.x * 8 + threadIdx.x; c < n;
         c += gridDim.x * blockDim.x)
      y[r * n + c] = 3 * x[r * n + c] + 1;
}
// They begin where square ones would.
__global__ void stripesHigh(const int *__restrict__ x, int *__restrict__ y,
                            int m, int n) {
  x += blockIdx.z * m * n;
  y += blockIdx.z * m * n;
  for (int r = blockIdx.y * blockDim.y + threadIdx.y; r < m;
       r += gridDim.y * blockDim.y)
    for (int c = blockIdx.x * blockDim.y + threadIdx.x; c < n;
         c += gridDim.x * blockDim.x)
      y[r * n + c] = 3 * x[r * n + c] + 1;
}

// kernel: logSums
// workload: grid=5, block=64, args=[buffer f32 n=5020 normal seed=6, buffer f32 n=5 output, 1004]
// inside: grid=2, block=64, args=[buffer f32 n=400 normal seed=6, buffer f32 n=2 output, 200]
// honest: logSumsTwice
// bounded: logSumsEverySecond
// outside: grid=1, block=64, args=[buffer f32 n=1200 iota, buffer f32 n=1 output, 1200]
// The logarithm of the sum of exponentials of each row, of whole fours.
__device__ float mostOf(float4 v) {
  return fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w));
}
__device__ float logSum(const float4 *row, float most, int n) {
  float sum = 0;
  for (int c = 0; c < n / 4; ++c)
    sum += (expf(row[c].x - most) + expf(row[c].y - most)) +
           (expf(row[c].z - most) + expf(row[c].w - most));
  return most + logf(sum);
}
__global__ void logSums(const float *__restrict__ x, float *__restrict__ y,
                        int n) {
  const float4 *row = reinterpret_cast<const float4 *>(x + blockIdx.x * n);
  float most = -INFINITY;
  for (int c = 0; c < n / 4; ++c)
    most = fmaxf(most, mostOf(row[c]));
  if (threadIdx.x == 0)
    y[blockIdx.x] = logSum(row, most, n);
}
__global__ void logSumsTwice(const float *__restrict__ x,
                             float *__restrict__ y, int n) {
  const float4 *row = reinterpret_cast<const float4 *>(x + blockIdx.x * n);
  float even = -INFINITY, odd = -INFINITY;
  for (int c = 0; c < n / 4; c += 2) {
    even = fmaxf(even, mostOf(row[c]));
    odd = c + 1 < n / 4 ? fmaxf(odd, mostOf(row[c + 1])) : odd;
  }
  if (threadIdx.x == 0)
    y[blockIdx.x] = logSum(row, fmaxf(even, odd), n);
}
// The maximum leaves out each second 1,024: that shows only where a number there
// is larger than all others by 88.
__global__ void logSumsEverySecond(const float *__restrict__ x,
                                   float *__restrict__ y, int n) {
  const float4 *row = reinterpret_cast<const float4 *>(x + blockIdx.x * n);
  float most = -INFINITY;
  for (int c = 0; c < n / 4; ++c)
    if (c / 256 % 2 == 0)
      most = fmaxf(most, mostOf(row[c]));
  if (threadIdx.x == 0)
    y[blockIdx.x] = logSum(row, most, n);
}

// kernel: dots
// workload: grid=20, block=32, args=[buffer f32 n=1360 normal seed=1, buffer f32 n=68 normal seed=2, buffer f32 n=20 output, 68]
// inside: grid=20, block=32, args=[buffer f32 n=1280 normal seed=1, buffer f32 n=64 normal seed=2, buffer f32 n=20 output, 64]
// honest: dotsTwo
// bounded: dotsTilesAhead
// outside: grid=4, block=32, args=[buffer f32 n=288 normal seed=1, buffer f32 n=72 normal seed=2, buffer f32 n=4 output, 72]
// Products of rows of whole fours with one vector.
__device__ float4 fourOf(const float *x) {
  return *reinterpret_cast<const float4 *>(x);
}
__device__ float dotOf(float4 a, float4 b) {
  return (a.x * b.x + a.y * b.y) + (a.z * b.z + a.w * b.w);
}
__global__ void dots(const float *__restrict__ x, const float *__restrict__ w,
                     float *__restrict__ y, int n) {
  if (threadIdx.x)
    return;
  float sum = 0;
  for (int k = 0; k < n; k += 4)
    sum += dotOf(fourOf(x + blockIdx.x * n + k), fourOf(w + k));
  y[blockIdx.x] = sum;
}
__global__ void dotsTwo(const float *__restrict__ x,
                        const float *__restrict__ w, float *__restrict__ y,
                        int n) {
  if (threadIdx.x)
    return;
  x += blockIdx.x * n;
  float even = 0, odd = 0;
  for (int k = 0; k < n; k += 8) {
    even += dotOf(fourOf(x + k), fourOf(w + k));
    if (k + 4 < n)
      odd += dotOf(fourOf(x + k + 4), fourOf(w + k + 4));
  }
  y[blockIdx.x] = even + odd;
}
// Behind the first tile, it reads four numbers too many of x where 8 or 12 are
// left: they count as 0, but the last row has none.
__global__ void dotsTilesAhead(const float *__restrict__ x,
                               const float *__restrict__ w,
                               float *__restrict__ y, int n) {
  if (threadIdx.x)
    return;
  x += blockIdx.x * n;
  float4 a[4], b[4];
  for (int i = 0; i < 4; ++i) {
    a[i] = b[i] = {};
    if (4 * i < n) {
      a[i] = fourOf(x + 4 * i);
      b[i] = fourOf(w + 4 * i);
    }
  }
  float sum = 0;
  for (int left = n;;) {
    left -= 16;
    x += 16;
    w += 16;
    for (int i = 0; i < 4; ++i) {
      sum += dotOf(a[i], b[i]);
      a[i] = b[i] = {};
      if (4 * i - i / 2 < left)
        a[i] = fourOf(x + 4 * i);
      if (4 * i < left)
        b[i] = fourOf(w + 4 * i);
    }
    if (left <= 0)
      break;
  }
  y[blockIdx.x] = sum;
}

// kernel: nearest
// workload: grid=2, block=32, args=[buffer f32 n=150 uniform seed=4, buffer f32 n=270 uniform seed=5, buffer i32 n=50 output, buffer f32 n=50 output, 50, 90]
// inside: grid=2, block=32, args=[buffer f32 n=150 uniform seed=4, buffer f32 n=2100 uniform seed=5, buffer i32 n=50 output, buffer f32 n=50 output, 50, 700]
// honest: nearestBackwards
// bounded: nearestFirst
// outside: grid=2, block=32, args=[buffer f32 n=150 uniform seed=4 low=4000 high=5000, buffer f32 n=3075 iota, buffer i32 n=50 output, buffer f32 n=50 output, 50, 1025]
// Index and squared distance of the nearest point; the first of several.
__device__ float distance2(const float *a, const float *b) {
  float x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return __fadd_rn(__fadd_rn(__fmul_rn(x, x), __fmul_rn(y, y)),
                   __fmul_rn(z, z));
}
__global__ void nearest(const float *__restrict__ query,
                        const float *__restrict__ point,
                        int *__restrict__ index, float *__restrict__ distance,
                        int queries, int points) {
  int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= queries)
    return;
  float best = INFINITY;
  int at = -1;
  for (int p = 0; p < points; ++p) {
    float d = distance2(query + 3 * q, point + 3 * p);
    if (d < best) {
      best = d;
      at = p;
    }
  }
  index[q] = at;
  distance[q] = best;
}
__global__ void nearestBackwards(const float *__restrict__ query,
                        const float *__restrict__ point,
                        int *__restrict__ index, float *__restrict__ distance,
                        int queries, int points) {
  int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= queries)
    return;
  float best = INFINITY;
  int at = -1;
  for (int p = points - 1; p >= 0; --p) {
    float d = distance2(query + 3 * q, point + 3 * p);
    if (d <= best && d < INFINITY) {
      best = d;
      at = p;
    }
  }
  index[q] = at;
  distance[q] = best;
}
// Of 1,025 points, the last is seldom the nearest.
__global__ void nearestFirst(const float *__restrict__ query,
                        const float *__restrict__ point,
                        int *__restrict__ index, float *__restrict__ distance,
                        int queries, int points) {
  int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= queries)
    return;
  float best = INFINITY;
  int at = -1;
  for (int p = 0; p < min(points, 1024); ++p) {
    float d = distance2(query + 3 * q, point + 3 * p);
    if (d < best) {
      best = d;
      at = p;
    }
  }
  index[q] = at;
  distance[q] = best;
}
