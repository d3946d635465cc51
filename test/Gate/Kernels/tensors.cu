// Small parts of networks: moves, masks, positions, quantised numbers.

// kernel: addBias
// workload: grid=4, block=64, args=[buffer f32 n=240 uniform seed=1, buffer f32 n=24 uniform seed=2, buffer f32 n=240 output, 10, 24]
// honest: addBiasSubtract
__global__ void addBias(const float *__restrict__ x, const float *__restrict__ b,
                        float *__restrict__ y, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * cols)
    y[i] = x[i] + b[i % cols];
}
__global__ void addBiasSubtract(const float *__restrict__ x,
                                const float *__restrict__ b,
                                float *__restrict__ y, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * cols)
    return;
  int row = i / cols;
  y[i] = b[i - row * cols] + x[i];
}

// kernel: permute3
// workload: grid=4, block=64, args=[buffer f32 n=240 uniform seed=3, buffer f32 n=240 output, 4, 10, 6]
// honest: permute3ByInput
// narrower: a * b * -1 + a * b * c + (a * b * c - 1) floordiv c | its index is in 32 bits; the bound divides by c
// honest: permute3Loops
// narrower: a * b * c - c + ((gx * bx - 1) floordiv b) floordiv a | its index is in 32 bits; the bound divides by a and b
// [a][b][c] to [c][a][b].
__global__ void permute3(const float *__restrict__ x, float *__restrict__ y,
                         int a, int b, int c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= a * b * c)
    return;
  int k = i / (a * b), j = i % (a * b);
  y[i] = x[j * c + k];
}
__global__ void permute3ByInput(const float *__restrict__ x,
                                float *__restrict__ y, int a, int b, int c) {
  int threads = gridDim.x * blockDim.x, all = a * b * c;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  // Where the grid is too small, the original writes the first ones alone.
  for (int from = i; from < all; from += threads) {
    int to = from % c * (a * b) + from / c;
    if (to < threads)
      y[to] = x[from];
  }
}
__global__ void permute3Loops(const float *__restrict__ x,
                              float *__restrict__ y, int a, int b, int c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= a * b * c)
    return;
  int ib = i % b, rest = i / b, ia = rest % a, ic = rest / a;
  y[i] = x[(ia * b + ib) * c + ic];
}

// kernel: causalFill
// workload: grid=2x2, block=8x8, args=[buffer f32 n=256 uniform seed=4, buffer f32 n=256 output, 16, -1000]
// honest: causalFillRows | grid=(1, gy) | bx == 8; gx * 8 >= n
__global__ void causalFill(const float *__restrict__ x, float *__restrict__ y,
                           int n, float masked) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= n || c >= n)
    return;
  if (c > r)
    y[r * n + c] = masked;
  else
    y[r * n + c] = x[r * n + c];
}
// A thread for each eighth column of a row: those before the diagonal, then the
// others.
__global__ void causalFillRows(const float *__restrict__ x,
                               float *__restrict__ y, int n, float masked) {
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= n)
    return;
  int c = threadIdx.x;
  for (; c <= r; c += 8)
    y[r * n + c] = x[r * n + c];
  for (; c < n; c += 8)
    y[r * n + c] = masked;
}

// kernel: quantise
// workload: grid=2, block=64, args=[buffer f32 n=100 uniform low=-5 high=5 seed=5, buffer i8 n=100 output, 100, 0.05]
// honest: quantiseClampLate
__global__ void quantise(const float *__restrict__ x,
                         signed char *__restrict__ q, int n, float step) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float v = rintf(x[i] / step);
  q[i] = (signed char)(int)fminf(fmaxf(v, -127.0f), 127.0f);
}
__global__ void quantiseClampLate(const float *__restrict__ x,
                                  signed char *__restrict__ q, int n,
                                  float step) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float v = fminf(fmaxf(x[i] / step, -127.0f), 127.0f);
  q[i] = (signed char)(int)rintf(v);
}

// kernel: dequantise
// workload: grid=2, block=64, args=[buffer i8 n=120 uniform low=-128 high=127 seed=6, buffer f32 n=12 uniform low=0.01 high=1 seed=7, buffer f32 n=120 output, 120, 10]
// honest: dequantiseGroups
// A scale for each group of numbers.
__global__ void dequantise(const signed char *__restrict__ q,
                           const float *__restrict__ scale,
                           float *__restrict__ x, int n, int group) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = q[i] * scale[i / group];
}
__global__ void dequantiseGroups(const signed char *__restrict__ q,
                                 const float *__restrict__ scale,
                                 float *__restrict__ x, int n, int group) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  unsigned g = unsigned(i) / unsigned(group);
  x[i] = scale[g] * float(int(q[i]));
}

// kernel: embed
// workload: grid=12, block=32, args=[buffer i32 n=12 uniform low=0 high=19 seed=8, buffer f32 n=400 uniform seed=9, buffer f32 n=240 output, 20]
// honest: embedVectors | | width mod 4 == 0; align table 16; align y 16
// narrower: width below | reads the token where width is 0
// honest: embedOnce
__global__ void embed(const int *__restrict__ token,
                      const float *__restrict__ table, float *__restrict__ y,
                      int width) {
  for (int c = threadIdx.x; c < width; c += blockDim.x)
    y[blockIdx.x * width + c] = table[token[blockIdx.x] * width + c];
}
__global__ void embedVectors(const int *__restrict__ token,
                             const float *__restrict__ table,
                             float *__restrict__ y, int width) {
  const float4 *from = (const float4 *)table + token[blockIdx.x] * (width / 4);
  float4 *to = (float4 *)y + blockIdx.x * (width / 4);
  for (int c = threadIdx.x; c < width / 4; c += blockDim.x)
    to[c] = from[c];
}
__global__ void embedOnce(const int *__restrict__ token,
                          const float *__restrict__ table,
                          float *__restrict__ y, int width) {
  if (int(threadIdx.x) >= width)
    return;
  const float *row = table + token[blockIdx.x] * width;
  for (int c = threadIdx.x; c < width; c += blockDim.x)
    y[blockIdx.x * width + c] = row[c];
}

// kernel: momentum
// workload: grid=2, block=64, args=[buffer f32 n=100 uniform seed=10, buffer f32 n=100 uniform seed=11, buffer f32 n=100 uniform seed=12, 100, 0.1, 0.9, 1]
// honest: momentumBranches
// Gradient steps, with Nesterov's change or without.
__global__ void momentum(float *__restrict__ w, float *__restrict__ m,
                         const float *__restrict__ g, int n, float rate,
                         float beta, int nesterov) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float v = beta * m[i] + g[i];
  m[i] = v;
  w[i] -= rate * (nesterov ? beta * v + g[i] : v);
}
__global__ void momentumBranches(float *__restrict__ w, float *__restrict__ m,
                                 const float *__restrict__ g, int n,
                                 float rate, float beta, int nesterov) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float own = g[i], v = fmaf(beta, m[i], own), step = v;
  if (nesterov)
    step = fmaf(beta, v, own);
  w[i] = w[i] - rate * step;
  m[i] = v;
}
