// Matrices: moved and multiplied.

// kernel: transpose
// workload: grid=2x3, block=32x8, args=[buffer f32 n=3763 iota low=1, buffer f32 n=3763 output, 71, 53]
// honest: transposeTile | block=(32, 8) | bx == 32; by == 8; gx * 32 >= cols; gy * 32 >= rows
// honest: transposeSmall | grid=(cols ceildiv 16, rows ceildiv 16); block=(16, 16) | bx == 32; by == 8; gx * 32 >= cols; gy * 32 >= rows
// honest: transposeOutward
// honest: transposeFlat | grid=(4, 1); block=(128, 1) | bx == 32; by == 8; gx * 32 >= cols; gy * 32 >= rows
// narrower: rows below, cols below | the product of two negative sizes is positive
// 32x32 elements for each block of 32x8 threads.
__global__ void transpose(const float *__restrict__ in,
                          float *__restrict__ out, int rows, int cols) {
  int c = blockIdx.x * 32 + threadIdx.x;
  for (int k = threadIdx.y; k < 32; k += blockDim.y) {
    int r = blockIdx.y * 32 + k;
    if (r < rows && c < cols)
      out[c * rows + r] = in[r * cols + c];
  }
}
__global__ void transposeTile(const float *__restrict__ in,
                              float *__restrict__ out, int rows, int cols) {
  __shared__ float tile[32][33];
  int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    if (r + k < rows && c < cols)
      tile[threadIdx.y + k][threadIdx.x] = in[(r + k) * cols + c];
  __syncthreads();
  int to = blockIdx.y * 32 + threadIdx.x;
  for (int k = 0; k < 32; k += 8) {
    int row = blockIdx.x * 32 + threadIdx.y + k;
    if (row < cols && to < rows)
      out[row * rows + to] = tile[threadIdx.x][threadIdx.y + k];
  }
}
__global__ void transposeSmall(const float *__restrict__ in,
                               float *__restrict__ out, int rows, int cols) {
  __shared__ float tile[16 * 17];
  int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
  if (r < rows && c < cols)
    tile[threadIdx.y * 17 + threadIdx.x] = in[r * cols + c];
  __syncthreads();
  c = blockIdx.x * 16 + threadIdx.y;
  r = blockIdx.y * 16 + threadIdx.x;
  if (r < rows && c < cols)
    out[c * rows + r] = tile[threadIdx.x * 17 + threadIdx.y];
}
__global__ void transposeOutward(const float *__restrict__ in,
                                 float *__restrict__ out, int rows, int cols) {
  int c = blockIdx.x * 32 + threadIdx.x, first = blockIdx.y * 32;
  if (c < cols)
    for (int r = min(first + 32, rows) - 1 - int(threadIdx.y); r >= first;
         r -= blockDim.y)
      out[c * rows + r] = in[r * cols + c];
}
__global__ void transposeFlat(const float *__restrict__ in,
                              float *__restrict__ out, int rows, int cols) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * cols;
       i += gridDim.x * blockDim.x)
    out[i] = in[(i % rows) * cols + i / rows];
}

// kernel: gemm
// workload: grid=3x2, block=16x16, args=[buffer f32 n=1216 uniform seed=4, buffer f32 n=1520 uniform seed=5, buffer f32 n=1280 uniform seed=6, 32, 40, 38, 1.5, 0.25]
// honest: gemmTile | grid=(gx, gy) | bx == 16; by == 16
// narrower: m below, n below | reads b where m is 0, and a where n is 0
// honest: gemmRegisters | grid=(n ceildiv 32, m ceildiv 32) | bx == 16; by == 16; gx * 16 >= n; gy * 16 >= m
// honest: gemmUnrolled
// honest: gemmSplit
// honest: gemmRow | grid=(m, 1); block=(64, 1) | bx == 16; by == 16; gx * 16 >= n; gy * 16 >= m
// c = alpha a b + beta c; a is m x k, b is k x n.
__global__ void gemm(const float *__restrict__ a, const float *__restrict__ b,
                     float *__restrict__ c, int m, int n, int k, float alpha,
                     float beta) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < m && col < n) {
    float sum = 0.0f;
    for (int i = 0; i < k; ++i)
      sum += a[row * k + i] * b[i * n + col];
    c[row * n + col] = alpha * sum + beta * c[row * n + col];
  }
}
__global__ void gemmTile(const float *__restrict__ a,
                         const float *__restrict__ b, float *__restrict__ c,
                         int m, int n, int k, float alpha, float beta) {
  __shared__ float as[16][16], bs[16][17];
  int tx = threadIdx.x, ty = threadIdx.y;
  int col = blockIdx.x * 16 + tx, row = blockIdx.y * 16 + ty;
  float sum = 0;
  for (int t = 0; t < k; t += 16) {
    as[ty][tx] = row < m && t + tx < k ? a[row * k + t + tx] : 0;
    bs[ty][tx] = col < n && t + ty < k ? b[(t + ty) * n + col] : 0;
    __syncthreads();
    for (int i = 0; i < 16; ++i)
      sum = fmaf(as[ty][i], bs[i][tx], sum);
    __syncthreads();
  }
  if (row < m && col < n)
    c[row * n + col] = alpha * sum + beta * c[row * n + col];
}
// 2 x 2 results a thread.
__global__ void gemmRegisters(const float *__restrict__ a,
                              const float *__restrict__ b,
                              float *__restrict__ c, int m, int n, int k,
                              float alpha, float beta) {
  __shared__ float as[32][8], bs[8][32];
  int tx = threadIdx.x, ty = threadIdx.y, id = ty * 16 + tx;
  int row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
  float sum[2][2] = {};
  for (int t = 0; t < k; t += 8) {
    int r = id / 8, i = id % 8;
    as[r][i] = row0 + r < m && t + i < k ? a[(row0 + r) * k + t + i] : 0.0f;
    int j = id / 32, q = id % 32;
    bs[j][q] = t + j < k && col0 + q < n ? b[(t + j) * n + col0 + q] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int i2 = 0; i2 < 8; ++i2)
      for (int u = 0; u < 2; ++u)
        for (int v = 0; v < 2; ++v)
          sum[u][v] += as[ty + 16 * u][i2] * bs[i2][tx + 16 * v];
    __syncthreads();
  }
  for (int u = 0; u < 2; ++u)
    for (int v = 0; v < 2; ++v) {
      int row = row0 + ty + 16 * u, col = col0 + tx + 16 * v;
      if (row < m && col < n) {
        float *to = c + row * n + col;
        *to = alpha * sum[u][v] + beta * *to;
      }
    }
}
__global__ void gemmUnrolled(const float *__restrict__ a,
                             const float *__restrict__ b,
                             float *__restrict__ c, int m, int n, int k,
                             float alpha, float beta) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n)
    return;
  const float *p = a + row * k, *q = b + col;
  float sum = 0;
  int i = 0;
  for (; i + 4 <= k; i += 4) {
    sum += p[i] * q[i * n];
    sum += p[i + 1] * q[(i + 1) * n];
    sum += p[i + 2] * q[(i + 2) * n];
    sum += p[i + 3] * q[(i + 3) * n];
  }
  for (; i < k; ++i)
    sum += p[i] * q[i * n];
  c[row * n + col] = fmaf(alpha, sum, beta * c[row * n + col]);
}
// Four partial sums, backwards.
__global__ void gemmSplit(const float *__restrict__ a,
                          const float *__restrict__ b, float *__restrict__ c,
                          int m, int n, int k, float alpha, float beta) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n)
    return;
  float part[4] = {0, 0, 0, 0};
  for (int i = k - 1; i >= 0; --i)
    part[i & 3] += a[row * k + i] * b[i * n + col];
  float sum = (part[0] + part[1]) + (part[2] + part[3]);
  c[row * n + col] = alpha * sum + beta * c[row * n + col];
}
__global__ void gemmRow(const float *__restrict__ a,
                        const float *__restrict__ b, float *__restrict__ c,
                        int m, int n, int k, float alpha, float beta) {
  int row = blockIdx.x;
  for (int col = threadIdx.x; col < n; col += blockDim.x) {
    float sum = 0;
    for (int i = 0; i < k; ++i)
      sum += a[row * k + i] * b[i * n + col];
    c[row * n + col] = alpha * sum + beta * c[row * n + col];
  }
}

// kernel: gemv
// workload: grid=2, block=64, args=[buffer f32 n=9500 uniform seed=7, buffer f32 n=95 uniform seed=8, buffer f32 n=100 output, 100, 95]
// honest: gemvWarp | grid=(rows ceildiv 4); block=(128) | bx == 64; gx * 64 >= rows
// honest: gemvBlock | grid=(rows) | bx == 64; gx * 64 >= rows
// honest: gemvShared
// narrower: rows below | reads x where rows is 0
// honest: gemvUnrolled
// honest: gemvTwoSums
__global__ void gemv(const float *__restrict__ a, const float *__restrict__ x,
                     float *__restrict__ y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float sum = 0;
  for (int c = 0; c < cols; ++c)
    sum += a[r * cols + c] * x[c];
  y[r] = sum;
}
__global__ void gemvWarp(const float *__restrict__ a,
                         const float *__restrict__ x, float *__restrict__ y,
                         int rows, int cols) {
  int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows)
    return;
  float sum = 0;
  for (int c = lane; c < cols; c += 32)
    sum += a[r * cols + c] * x[c];
  for (int d = 16; d > 0; d /= 2)
    sum += __shfl_down_sync(0xffffffff, sum, d);
  if (lane == 0)
    y[r] = sum;
}
__global__ void gemvBlock(const float *__restrict__ a,
                          const float *__restrict__ x, float *__restrict__ y,
                          int rows, int cols) {
  __shared__ float part[64];
  int r = blockIdx.x, t = threadIdx.x;
  float sum = 0;
  for (int c = t; c < cols; c += 64)
    sum = fmaf(a[r * cols + c], x[c], sum);
  part[t] = sum;
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    if (t < d)
      part[t] += part[t + d];
    __syncthreads();
  }
  if (t == 0)
    y[r] = part[0];
}
__global__ void gemvShared(const float *__restrict__ a,
                           const float *__restrict__ x, float *__restrict__ y,
                           int rows, int cols) {
  __shared__ float chunk[32];
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int first = 0; first < cols; first += 32) {
    int left = min(32, cols - first);
    for (int k = threadIdx.x; k < left; k += blockDim.x)
      chunk[k] = x[first + k];
    __syncthreads();
    if (r < rows)
      for (int k = 0; k < left; ++k)
        sum += a[r * cols + first + k] * chunk[k];
    __syncthreads();
  }
  if (r < rows)
    y[r] = sum;
}
__global__ void gemvUnrolled(const float *__restrict__ a,
                             const float *__restrict__ x,
                             float *__restrict__ y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  const float *p = a + r * cols;
  float sum = 0;
#pragma unroll 8
  for (int c = 0; c < cols; ++c)
    sum = __fmaf_rn(p[c], x[c], sum);
  y[r] = sum;
}
__global__ void gemvTwoSums(const float *__restrict__ a,
                            const float *__restrict__ x, float *__restrict__ y,
                            int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float even = 0, odd = 0;
  int c = 0;
  for (; c + 1 < cols; c += 2) {
    even += a[r * cols + c] * x[c];
    odd += a[r * cols + c + 1] * x[c + 1];
  }
  if (c < cols)
    even += a[r * cols + c] * x[c];
  y[r] = even + odd;
}

// kernel: batchedGemm
// workload: grid=2x1x5, block=8x8, args=[buffer f32 n=280 uniform seed=9, buffer f32 n=315 uniform seed=10, buffer f32 n=360 output, 8, 9, 7]
// honest: batchedGemmFlat | grid=(1, 1, gz); block=(32, 1) | bx == 8; by == 8; gx * 8 >= n; gy * 8 >= m
// honest: batchedGemmOuter
// honest: batchedGemmShared | grid=(1, 1, gz); block=(64, 1) | bx == 8; by == 8; gx * 8 >= n; gy * 8 >= m; m * k <= 512
__global__ void batchedGemm(const float *__restrict__ a,
                            const float *__restrict__ b, float *__restrict__ c,
                            int m, int n, int k) {
  a += blockIdx.z * m * k;
  b += blockIdx.z * k * n;
  c += blockIdx.z * m * n;
  for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < m;
       row += gridDim.y * blockDim.y)
    for (int col = blockIdx.x * blockDim.x + threadIdx.x; col < n;
         col += gridDim.x * blockDim.x) {
      float sum = 0;
      for (int i = 0; i < k; ++i)
        sum += a[row * k + i] * b[i * n + col];
      c[row * n + col] = sum;
    }
}
__global__ void batchedGemmFlat(const float *__restrict__ a,
                                const float *__restrict__ b,
                                float *__restrict__ c, int m, int n, int k) {
  int z = blockIdx.z;
  for (int i = threadIdx.x; i < m * n; i += 32) {
    const float *p = a + z * m * k + i / n * k;
    const float *q = b + z * k * n + i % n;
    float sum = 0;
    for (int j = 0; j < k; ++j, q += n)
      sum += *p++ * *q;
    c[z * m * n + i] = sum;
  }
}
__global__ void batchedGemmOuter(const float *__restrict__ a,
                                 const float *__restrict__ b,
                                 float *__restrict__ c, int m, int n, int k) {
  int z = blockIdx.z;
  for (int col = blockIdx.x * blockDim.x + threadIdx.x; col < n;
       col += gridDim.x * blockDim.x)
    for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < m;
         row += gridDim.y * blockDim.y) {
      float sum = 0;
      for (int i = k; i-- > 0;)
        sum += a[(z * m + row) * k + i] * b[(z * k + i) * n + col];
      c[(z * m + row) * n + col] = sum;
    }
}
__global__ void batchedGemmShared(const float *__restrict__ a,
                                  const float *__restrict__ b,
                                  float *__restrict__ c, int m, int n, int k) {
  __shared__ float as[512];
  int z = blockIdx.z;
  for (int i = threadIdx.x; i < m * k; i += 64)
    as[i] = a[z * m * k + i];
  __syncthreads();
  for (int i = threadIdx.x; i < m * n; i += 64) {
    int row = i / n, col = i % n;
    float sum = 0;
    for (int j = 0; j < k; ++j)
      sum += as[row * k + j] * b[(z * k + j) * n + col];
    c[z * m * n + i] = sum;
  }
}
