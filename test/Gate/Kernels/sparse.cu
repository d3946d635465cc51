// Data that says where data is: sparse rows, nearest points, text, sequences.

// kernel: spmv
// workload: grid=2, block=32, args=[buffer i32 n=51 iota, buffer i32 n=400 uniform low=0 high=59 seed=1, buffer f32 n=400 uniform seed=2, buffer f32 n=60 uniform seed=3, buffer f32 n=50 output, 50, 7]
// honest: spmvWarp | grid=(rows) | bx == 32; gx * 32 >= rows
// honest: spmvTwoSums
// honest: spmvBackwards
// Row r has the elements start[r] * scale to start[r + 1] * scale.
__global__ void spmv(const int *__restrict__ start,
                     const int *__restrict__ column,
                     const float *__restrict__ value,
                     const float *__restrict__ x, float *__restrict__ y,
                     int rows, int scale) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float sum = 0;
  for (int i = start[r] * scale; i < start[r + 1] * scale; ++i)
    sum += value[i] * x[column[i]];
  y[r] = sum;
}
__global__ void spmvWarp(const int *__restrict__ start,
                         const int *__restrict__ column,
                         const float *__restrict__ value,
                         const float *__restrict__ x, float *__restrict__ y,
                         int rows, int scale) {
  int r = blockIdx.x, lane = threadIdx.x;
  float sum = 0;
  for (int i = start[r] * scale + lane; i < start[r + 1] * scale; i += 32)
    sum = fmaf(value[i], x[column[i]], sum);
  for (int d = 16; d > 0; d /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, d);
  if (lane == 0)
    y[r] = sum;
}
__global__ void spmvTwoSums(const int *__restrict__ start,
                            const int *__restrict__ column,
                            const float *__restrict__ value,
                            const float *__restrict__ x, float *__restrict__ y,
                            int rows, int scale) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  int i = start[r] * scale, end = start[r + 1] * scale;
  float a = 0, b = 0;
  for (; i + 1 < end; i += 2) {
    a += value[i] * x[column[i]];
    b += value[i + 1] * x[column[i + 1]];
  }
  if (i < end)
    a += value[i] * x[column[i]];
  y[r] = a + b;
}
__global__ void spmvBackwards(const int *__restrict__ start,
                              const int *__restrict__ column,
                              const float *__restrict__ value,
                              const float *__restrict__ x,
                              float *__restrict__ y, int rows, int scale) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {
    float sum = 0;
    for (int i = start[r + 1] * scale - 1; i >= start[r] * scale; --i)
      sum += x[column[i]] * value[i];
    y[r] = sum;
  }
}

// kernel: nearest
// workload: grid=2, block=32, args=[buffer f32 n=150 uniform seed=4, buffer f32 n=270 uniform seed=5, buffer i32 n=50 output, buffer f32 n=50 output, 50, 90]
// honest: nearestShared
// narrower: queries below, points below | reads points where there is no query, and queries where there is no point
// honest: nearestWarp | grid=(queries) | bx == 32; gx * 32 >= queries
// honest: nearestBackwards
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
__global__ void nearestShared(const float *__restrict__ query,
                              const float *__restrict__ point,
                              int *__restrict__ index,
                              float *__restrict__ distance, int queries,
                              int points) {
  __shared__ float tile[32 * 3];
  int q = blockIdx.x * blockDim.x + threadIdx.x;
  float own[3] = {}, best = INFINITY;
  for (int k = 0; k < 3 && q < queries; ++k)
    own[k] = query[3 * q + k];
  int at = -1;
  for (int first = 0; first < points; first += 32) {
    int here = min(32, points - first);
    for (int k = threadIdx.x; k < here * 3; k += blockDim.x)
      tile[k] = point[first * 3 + k];
    __syncthreads();
    for (int p = 0; p < here; ++p) {
      float d = distance2(own, tile + 3 * p);
      if (d < best) {
        best = d;
        at = first + p;
      }
    }
    __syncthreads();
  }
  if (q < queries) {
    index[q] = at;
    distance[q] = best;
  }
}
__global__ void nearestWarp(const float *__restrict__ query,
                            const float *__restrict__ point,
                            int *__restrict__ index,
                            float *__restrict__ distance, int queries,
                            int points) {
  int q = blockIdx.x, lane = threadIdx.x;
  float best = INFINITY;
  int at = -1;
  for (int p = lane; p < points; p += 32) {
    float d = distance2(query + 3 * q, point + 3 * p);
    if (d < best) {
      best = d;
      at = p;
    }
  }
  for (int w = 16; w > 0; w /= 2) {
    float d = __shfl_down_sync(0xffffffffu, best, w);
    int a = __shfl_down_sync(0xffffffffu, at, w);
    if (a >= 0 && (at < 0 || d < best || (d == best && a < at))) {
      best = d;
      at = a;
    }
  }
  if (lane == 0) {
    index[q] = at;
    distance[q] = best;
  }
}
__global__ void nearestBackwards(const float *__restrict__ query,
                                 const float *__restrict__ point,
                                 int *__restrict__ index,
                                 float *__restrict__ distance, int queries,
                                 int points) {
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

// kernel: findPattern
// workload: grid=4, block=64, args=[buffer u8 n=250 uniform low=97 high=99 seed=6, buffer u8 n=3 uniform low=97 high=99 seed=7, buffer u8 n=250 output, 250, 3]
// honest: findPatternShared
// narrower: n above, gx above | goes through the whole pattern after a difference, and takes too long
// narrower: length below | reads text where the pattern is empty
// honest: findPatternBackwards
// honest: findPatternStride | grid=(1) | bx == 64; gx * 64 >= n
// narrower: length below | counts no hits, which a length below 0 is not
// out[i] is 1 where the pattern begins.
__global__ void findPattern(const char *__restrict__ text,
                            const char *__restrict__ pattern,
                            char *__restrict__ out, int n, int length) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  bool same = i + length <= n;
  for (int k = 0; same && k < length; ++k)
    same = text[i + k] == pattern[k];
  out[i] = same;
}
__global__ void findPatternShared(const char *__restrict__ text,
                                  const char *__restrict__ pattern,
                                  char *__restrict__ out, int n, int length) {
  __shared__ char part[1024];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  if (i < n)
    part[t] = text[i];
  __syncthreads();
  if (i >= n)
    return;
  bool same = i + length <= n;
  for (int k = 0; k < length; ++k)
    if (same)
      same = (t + k < blockDim.x ? part[t + k] : text[i + k]) == pattern[k];
  out[i] = same ? 1 : 0;
}
__global__ void findPatternBackwards(const char *__restrict__ text,
                                     const char *__restrict__ pattern,
                                     char *__restrict__ out, int n,
                                     int length) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int k = length - 1;
  if (i + k < n)
    while (k >= 0 && text[i + k] == pattern[k])
      --k;
  out[i] = k < 0;
}
__global__ void findPatternStride(const char *__restrict__ text,
                                  const char *__restrict__ pattern,
                                  char *__restrict__ out, int n, int length) {
  for (int i = threadIdx.x; i < n; i += 64) {
    int hits = 0;
    for (int k = 0; k < length && i + length <= n; ++k)
      hits += text[i + k] == pattern[k];
    out[i] = hits == length;
  }
}

// kernel: align
// workload: grid=3, block=32, args=[buffer u8 n=72 uniform low=65 high=68 seed=8, buffer u8 n=60 uniform low=65 high=68 seed=9, buffer i32 n=3 output, 24, 20]
// honest: alignSerial | grid=(gx); block=(1) | bx == 32
// honest: alignFull
// narrower: n above | a table of 65 x 65
// honest: alignWarp | grid=(gx) | bx == 32; m <= 32
// narrower: n below | reads a where n is 0
// Smith-Waterman score of sequence pairs, by anti-diagonals.
__global__ void align(const char *__restrict__ a, const char *__restrict__ b,
                      int *__restrict__ score, int m, int n) {
  __shared__ int diagonal[3][65];
  __shared__ int best;
  a += blockIdx.x * m;
  b += blockIdx.x * n;
  if (threadIdx.x == 0)
    best = 0;
  for (int i = threadIdx.x; i < 65; i += blockDim.x)
    diagonal[0][i] = diagonal[1][i] = diagonal[2][i] = 0;
  __syncthreads();
  for (int d = 2; d <= m + n; ++d) {
    int *now = diagonal[d % 3], *one = diagonal[(d + 2) % 3],
        *two = diagonal[(d + 1) % 3];
    for (int i = threadIdx.x + 1; i <= m; i += blockDim.x) {
      int j = d - i, v = 0;
      if (j >= 1 && j <= n) {
        v = max(0, two[i - 1] + (a[i - 1] == b[j - 1] ? 2 : -1));
        v = max(v, max(one[i - 1], one[i]) - 1);
        atomicMax(&best, v);
      }
      now[i] = v;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0)
    score[blockIdx.x] = best;
}
__global__ void alignSerial(const char *__restrict__ a,
                            const char *__restrict__ b,
                            int *__restrict__ score, int m, int n) {
  int row[65] = {};
  a += blockIdx.x * m;
  b += blockIdx.x * n;
  int best = 0;
  for (int j = 0; j < n; ++j) {
    int corner = 0;
    for (int i = 1; i <= m; ++i) {
      int v = corner + (a[i - 1] == b[j] ? 2 : -1);
      corner = row[i];
      v = max(max(v, 0), max(row[i], row[i - 1]) - 1);
      row[i] = v;
      best = max(best, v);
    }
  }
  score[blockIdx.x] = best;
}
__global__ void alignFull(const char *__restrict__ a,
                          const char *__restrict__ b, int *__restrict__ score,
                          int m, int n) {
  __shared__ int h[65][65];
  a += blockIdx.x * m;
  b += blockIdx.x * n;
  for (int i = threadIdx.x; i < 65 * 65; i += blockDim.x)
    h[i / 65][i % 65] = 0;
  __syncthreads();
  for (int d = 0; d <= m + n - 2; ++d) {
    for (int i = threadIdx.x; i < m; i += blockDim.x) {
      int j = d - i;
      if (j < 0 || j >= n)
        continue;
      int v = h[i][j] + (a[i] == b[j] ? 2 : -1);
      v = max(v, h[i][j + 1] - 1);
      v = max(v, h[i + 1][j] - 1);
      h[i + 1][j + 1] = max(v, 0);
    }
    __syncthreads();
  }
  if (threadIdx.x != 0)
    return;
  int best = 0;
  for (int i = 1; i <= m; ++i)
    for (int j = 1; j <= n; ++j)
      best = max(best, h[i][j]);
  score[blockIdx.x] = best;
}
// A row a lane; the row above comes by shuffle.
__global__ void alignWarp(const char *__restrict__ a,
                          const char *__restrict__ b, int *__restrict__ score,
                          int m, int n) {
  int i = threadIdx.x;
  a += blockIdx.x * m;
  b += blockIdx.x * n;
  int one = 0, corner = 0, best = 0;
  char own = i < m ? a[i] : 0;
  for (int d = 0; d < m + n - 1; ++d) {
    int above = __shfl_up_sync(0xffffffffu, one, 1);
    if (i == 0)
      above = 0;
    int j = d - i, v = 0;
    if (i < m && j >= 0 && j < n) {
      v = max(0, corner + (own == b[j] ? 2 : -1));
      v = max(v, max(above, one) - 1);
      best = max(best, v);
    }
    corner = above;
    one = v;
  }
  best = __reduce_max_sync(0xffffffffu, best);
  if (i == 0)
    score[blockIdx.x] = best;
}

// kernel: longest
// workload: grid=2, block=32, args=[buffer i64 n=64 uniform low=1 high=300 seed=10, buffer i32 n=64 output, 60, 200]
// honest: longestUnsigned
// honest: longestTwoSteps
// honest: longestStride | grid=(1) | bx == 32; gx * 32 >= n
// narrower: limit below | counts down from a limit below 0
// Steps of the Collatz sequence to 1, at most so many.
__global__ void longest(const long long *__restrict__ start,
                        int *__restrict__ steps, int n, int limit) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  long long v = start[i];
  int s = 0;
  while (v != 1 && s < limit) {
    v = v % 2 == 0 ? v / 2 : 3 * v + 1;
    ++s;
  }
  steps[i] = s;
}
__global__ void longestUnsigned(const long long *__restrict__ start,
                                int *__restrict__ steps, int n, int limit) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    long long v = start[i];
    int s = 0;
    for (; s < limit && v != 1; ++s)
      v = v & 1 ? v + v + v + 1 : v / 2;
    steps[i] = s;
  }
}
__global__ void longestTwoSteps(const long long *__restrict__ start,
                                int *__restrict__ steps, int n, int limit) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  long long v = start[i];
  int s = 0;
  while (v != 1 && s < limit) {
    bool odd = v % 2 != 0;
    if (odd && s + 2 <= limit && v > 0) { // After an odd one comes an even one.
      v = (3 * v + 1) / 2;
      s += 2;
    } else {
      v = odd ? 3 * v + 1 : v / 2;
      s += 1;
    }
  }
  steps[i] = s;
}
__global__ void longestStride(const long long *__restrict__ start,
                              int *__restrict__ steps, int n, int limit) {
  for (int i = threadIdx.x; i < n; i += 32) {
    long long v = start[i];
    int left = limit;
    while (left > 0 && v != 1) {
      if (v % 2)
        v = v * 3 + 1;
      else
        v = v / 2;
      --left;
    }
    steps[i] = limit - max(left, 0);
  }
}
