// Particles, grids and geometry.

// kernel: leapfrog
// workload: grid=2, block=64, args=[buffer f32 n=300 uniform seed=1, buffer f32 n=300 uniform seed=2, buffer f32 n=300 uniform seed=3, 100, 0.01]
// honest: leapfrogAxes | grid=(n ceildiv 32, 3); block=(32) | bx == 64; gx * 64 >= n
// Positions and speeds of n points, three numbers each.
__global__ void leapfrog(float *__restrict__ p, float *__restrict__ v,
                         const float *__restrict__ a, int n, float dt) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  for (int k = 3 * i; k < 3 * i + 3; ++k) {
    v[k] += a[k] * dt;
    p[k] += v[k] * dt;
  }
}
__global__ void leapfrogAxes(float *__restrict__ p, float *__restrict__ v,
                             const float *__restrict__ a, int n, float dt) {
  int i = blockIdx.x * 32 + threadIdx.x;
  if (i >= n)
    return;
  int k = 3 * i + blockIdx.y;
  float speed = fmaf(a[k], dt, v[k]);
  v[k] = speed;
  p[k] = fmaf(speed, dt, p[k]);
}

// kernel: waveStep
// workload: grid=3x3, block=16x4, args=[buffer f32 n=440 uniform seed=4, buffer f32 n=440 uniform seed=5, buffer f32 n=440 output, 40, 11, 0.2]
// honest: waveStepRows | grid=(h, 1, 1); block=(64, 1, 1) | bx == 16; by == 4; gx * 16 >= w; gy * 4 >= h
// honest: waveStepGrouped
// The border stays at rest.
__global__ void waveStep(const float *__restrict__ now,
                         const float *__restrict__ before,
                         float *__restrict__ next, int w, int h, float c) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h)
    return;
  int i = y * w + x;
  float v = 0;
  if (x > 0 && y > 0 && x < w - 1 && y < h - 1) {
    float around = now[i - 1] + now[i + 1] + now[i - w] + now[i + w];
    v = 2 * now[i] - before[i] + c * (around - 4 * now[i]);
  }
  next[i] = v;
}
__global__ void waveStepRows(const float *__restrict__ now,
                             const float *__restrict__ before,
                             float *__restrict__ next, int w, int h, float c) {
  int y = blockIdx.x;
  for (int x = threadIdx.x; x < w; x += 64) {
    int i = y * w + x;
    bool inside = x > 0 && y > 0 && x < w - 1 && y < h - 1;
    if (!inside) {
      next[i] = 0;
      continue;
    }
    float own = now[i];
    float around = now[i - 1] + now[i + 1] + now[i - w] + now[i + w];
    next[i] = 2 * own - before[i] + c * (around - 4 * own);
  }
}
__global__ void waveStepGrouped(const float *__restrict__ now,
                                const float *__restrict__ before,
                                float *__restrict__ next, int w, int h,
                                float c) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h)
    return;
  int i = y * w + x;
  if (x == 0 || y == 0 || x == w - 1 || y == h - 1) {
    next[i] = 0;
    return;
  }
  float sides = now[i - 1] + now[i + 1], ends = now[i - w] + now[i + w];
  float bend = (sides + ends) - 4 * now[i];
  next[i] = fmaf(c, bend, 2 * now[i] - before[i]);
}

// kernel: boxOf
// workload: grid=4, block=32, args=[buffer f32 n=240 uniform seed=6, buffer f32 n=16 output, 120]
// honest: boxOfSerial
// Least and largest x and y of each block's points; none: infinite.
__global__ void boxOf(const float *__restrict__ p, float *__restrict__ box,
                      int n) {
  __shared__ float s[4][1024];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  for (int k = 0; k < 2; ++k) {
    s[k][t] = i < n ? p[2 * i + k] : INFINITY;
    s[2 + k][t] = i < n ? p[2 * i + k] : -INFINITY;
  }
  __syncthreads();
  for (int k = t; k < 4; k += blockDim.x) {
    float v = s[k][0];
    for (int u = 1; u < blockDim.x; ++u)
      v = k < 2 ? fminf(v, s[k][u]) : fmaxf(v, s[k][u]);
    box[4 * blockIdx.x + k] = v;
  }
}
__global__ void boxOfSerial(const float *__restrict__ p,
                            float *__restrict__ box, int n) {
  int t = threadIdx.x, first = blockIdx.x * blockDim.x;
  for (int k = t; k < 4; k += blockDim.x) {
    float v = k < 2 ? INFINITY : -INFINITY;
    if (first < n)
      v = p[2 * first + k % 2];
    for (int i = first + 1; i < min(n, first + int(blockDim.x)); ++i) {
      float q = p[2 * i + k % 2];
      v = k < 2 ? fminf(v, q) : fmaxf(v, q);
    }
    box[4 * blockIdx.x + k] = v;
  }
}

// kernel: rotate2
// workload: grid=2, block=64, args=[buffer f32 n=200 uniform seed=7, buffer f32 n=200 output, 100, 0.6, 0.8]
// honest: rotate2Vector | | align p 8; align q 8
__global__ void rotate2(const float *__restrict__ p, float *__restrict__ q,
                        int n, float c, float s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  q[2 * i] = c * p[2 * i] - s * p[2 * i + 1];
  q[2 * i + 1] = s * p[2 * i] + c * p[2 * i + 1];
}
__global__ void rotate2Vector(const float *__restrict__ p,
                              float *__restrict__ q, int n, float c, float s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float2 v = ((const float2 *)p)[i];
  ((float2 *)q)[i] = {fmaf(c, v.x, -(s * v.y)), fmaf(s, v.x, c * v.y)};
}

// kernel: lifeStep
// workload: grid=3x3, block=8x8, args=[buffer u8 n=440 uniform low=0 high=1 seed=8, buffer u8 n=440 output, 22, 20]
// honest: lifeStepSums
// honest: lifeStepTable
// Conway's game on a ring of rings.
__global__ void lifeStep(const unsigned char *__restrict__ in,
                         unsigned char *__restrict__ out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h)
    return;
  int count = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      if (dx || dy)
        count += in[(y + dy + h) % h * w + (x + dx + w) % w] & 1;
  out[y * w + x] = count == 3 || (count == 2 && (in[y * w + x] & 1));
}
__global__ void lifeStepSums(const unsigned char *__restrict__ in,
                             unsigned char *__restrict__ out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h)
    return;
  int left = x ? x - 1 : w - 1, right = x + 1 < w ? x + 1 : 0;
  int rows[3] = {y ? y - 1 : h - 1, y, y + 1 < h ? y + 1 : 0};
  int sum = 0;
  for (int r : rows)
    sum += (in[r * w + left] & 1) + (in[r * w + x] & 1) +
           (in[r * w + right] & 1);
  int own = in[y * w + x] & 1;
  out[y * w + x] = sum == 3 || (own && sum == 4);
}
__global__ void lifeStepTable(const unsigned char *__restrict__ in,
                              unsigned char *__restrict__ out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h)
    return;
  int count = 0;
  for (int k = 0; k < 9; ++k) {
    int row = y + k / 3 - 1, column = x + k % 3 - 1;
    row = row < 0 ? h - 1 : row == h ? 0 : row;
    column = column < 0 ? w - 1 : column == w ? 0 : column;
    count += k == 4 ? 0 : in[row * w + column] % 2;
  }
  unsigned lives = in[y * w + x] & 1 ? 0xcu : 0x8u;
  out[y * w + x] = lives >> count & 1;
}

// kernel: pairCount
// workload: grid=2, block=32, args=[buffer f32 n=60 uniform seed=9, buffer i32 n=60 output, 60, 0.1]
// honest: pairCountTiled | | bx == 32
// honest: pairCountSplit
// Neighbours on a line that are nearer than r.
__global__ void pairCount(const float *__restrict__ x, int *__restrict__ count,
                          int n, float r) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int c = 0;
  for (int j = 0; j < n; ++j)
    c += j != i && fabsf(x[i] - x[j]) < r;
  count[i] = c;
}
__global__ void pairCountTiled(const float *__restrict__ x,
                               int *__restrict__ count, int n, float r) {
  __shared__ float tile[32];
  int i = blockIdx.x * 32 + threadIdx.x, c = 0;
  float own = i < n ? x[i] : 0.0f;
  for (int first = 0; first < n; first += 32) {
    int here = min(32, n - first);
    if (threadIdx.x < here)
      tile[threadIdx.x] = x[first + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < here; ++k)
      c += first + k != i && fabsf(own - tile[k]) < r;
    __syncthreads();
  }
  if (i < n)
    count[i] = c;
}
__global__ void pairCountSplit(const float *__restrict__ x,
                               int *__restrict__ count, int n, float r) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int c = 0;
  for (int j = 0; j < i; ++j)
    if (fabsf(x[j] - x[i]) < r)
      ++c;
  for (int j = n - 1; j > i; --j)
    if (fabsf(x[j] - x[i]) < r)
      ++c;
  count[i] = c;
}

// kernel: trapezoids
// workload: grid=2, block=32, args=[buffer f32 n=50 output, 50, 0.5, 16]
// honest: trapezoidsEnds
// The area under sin(x) * a, from i to i + 1.
__global__ void trapezoids(float *__restrict__ y, int n, float a, int steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0, width = 1.0f / steps;
  for (int k = 0; k < steps; ++k) {
    float left = i + k * width;
    sum += 0.5f * (sinf(left) + sinf(left + width));
  }
  y[i] = a * sum * width;
}
__global__ void trapezoidsEnds(float *__restrict__ y, int n, float a,
                               int steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float sum = 0, width = 1.0f / steps;
  for (int k = 0; k < steps; ++k) {
    float left = i + k * width, right = left + width;
    sum += sinf(left) * 0.5f + sinf(right) * 0.5f;
  }
  y[i] = a * (sum * width);
}
