// Variants that read ahead of what they write, where the bytes behind pointers
// follow no polynomial of the sizes: a shift, a triangle, rounded quotients, an
// index in memory, a block. Pointers into the same memory are apart as far as
// the kernel goes, not as far as it went in the recorded launch.

// kernel: halved
// workload: grid=1, block=1, args=[buffer f32 n=256 uniform seed=1, buffer f32 n=64 output, 256, 2]
// inside: grid=1, block=1, args=[buffer f32 n=3000 uniform seed=1, arg 0 + 4096, 1000, 1]
// honest: halvedByTwo
// bounded: halvedAhead
// outside: grid=1, block=1, args=[buffer f32 n=8192 uniform seed=1, arg 0 + 1024, 1000, 0]
// Every 2^level-th number, doubled.
__global__ void halved(const float *x, float *y, int n, int level) {
  int w = n >> level;
  for (int i = 0; i < w; ++i)
    y[i] = 2 * x[i * (1 << level)];
}
__global__ void halvedByTwo(const float *x, float *y, int n, int level) {
  int w = n >> level, i = 0;
  for (; i + 1 < w; i += 2) {
    y[i] = 2 * x[i << level];
    y[i + 1] = 2 * x[(i + 1) << level];
  }
  if (i < w)
    y[i] = 2 * x[i << level];
}
__global__ void halvedAhead(const float *x, float *y, int n, int level) {
  int w = n >> level;
  for (int i = 0; i < w; i += 512) {
    float a[512];
    for (int k = 0; k < 512; ++k)
      a[k] = i + k < w ? x[(i + k) << level] : 0;
    for (int k = 0; k < 512; ++k)
      if (i + k < w)
        y[i + k] = 2 * a[k];
  }
}

// kernel: diagonal
// workload: grid=1, block=1, args=[buffer f32 n=136 uniform seed=1, buffer f32 n=16 output, 16]
// honest: diagonalBySteps
// bounded: diagonalAhead
// outside: grid=1, block=1, args=[buffer f32 n=400 uniform seed=1, arg 0 + 768, 22]
// The diagonal of a triangle that is packed row by row.
__global__ void diagonal(const float *x, float *y, int n) {
  for (int i = 0; i < n; ++i)
    y[i] = x[i * (i + 1) / 2 + i];
}
__global__ void diagonalBySteps(const float *x, float *y, int n) {
  for (int i = 0, at = 0; i < n; ++i, at += i + 1)
    y[i] = x[at];
}
__global__ void diagonalAhead(const float *x, float *y, int n) {
  for (int i = 0; i < n; i += 4) {
    float a[4];
    for (int k = 0; k < 4 && i + k < n; ++k)
      a[k] = x[(i + k) * (i + k + 3) / 2];
    for (int k = 0; k < 4 && i + k < n; ++k)
      y[i + k] = a[k];
  }
}

// kernel: rowsOf
// workload: grid=1, block=1, args=[buffer f32 n=64 uniform low=-100 high=100 seed=1, buffer i32 n=8 permutation, buffer i32 n=64 output, 8, 8]
// honest: rowsOfPointers
// bounded: rowsOfAhead
// outside: grid=1, block=1, args=[buffer f32 n=20000 uniform low=-100 high=100 seed=1, buffer i32 n=1000 iota, arg 0 + 4096, 1000, 8]
// Rows of a table, by their numbers, in quarters.
__global__ void rowsOf(const float *t, const int *at, int *y, int n, int w) {
  for (int r = 0; r < n; ++r)
    for (int c = 0; c < w; ++c)
      y[r * w + c] = 4 * t[at[r] * w + c];
}
__global__ void rowsOfPointers(const float *t, const int *at, int *y, int n,
                               int w) {
  for (int r = 0; r < n; ++r) {
    const float *row = t + at[r] * w;
    for (int c = 0; c < w; ++c)
      *y++ = 4 * *row++;
  }
}
__global__ void rowsOfAhead(const float *t, const int *at, int *y, int n,
                            int w) {
  int r = 0;
  for (; r < n && r < 64; ++r)
    for (int c = 0; c < w; ++c)
      y[r * w + c] = 4 * t[at[r] * w + c];
  for (; r < n; r += 512)
    for (int c = 0; c < w; ++c) {
      float a[512];
      for (int k = 0; k < 512 && r + k < n; ++k)
        a[k] = t[at[r + k] * w + c];
      for (int k = 0; k < 512 && r + k < n; ++k)
        y[(r + k) * w + c] = 4 * a[k];
    }
}

// kernel: perThread
// workload: grid=1, block=32, args=[buffer f32 n=4096 uniform seed=1, buffer f32 n=4096 output]
// inside: grid=1, block=256, args=[buffer f32 n=9000 uniform seed=1, arg 0 + 4096]
// honest: perThreadByTwo
// bounded: perThreadAhead
// outside: grid=1, block=256, args=[buffer f32 n=9000 uniform seed=1, arg 0 + 2048]
// Four numbers for each thread of the block, all by the first.
__global__ void perThread(const float *x, float *y) {
  if (threadIdx.x == 0)
    for (int i = 0; i < 4 * blockDim.x; ++i)
      y[i] = x[i] + 1;
}
__global__ void perThreadByTwo(const float *x, float *y) {
  if (threadIdx.x == 0)
    for (int i = 0; i < 4 * blockDim.x; i += 2) {
      y[i] = x[i] + 1;
      y[i + 1] = x[i + 1] + 1;
    }
}
__global__ void perThreadAhead(const float *x, float *y) {
  if (threadIdx.x != 0)
    return;
  int i = 0;
  for (; i < 4 * blockDim.x && i < 128; ++i)
    y[i] = x[i] + 1;
  for (; i < 4 * blockDim.x; i += 1024) {
    float a[1024];
    for (int k = 0; k < 1024 && i + k < 4 * blockDim.x; ++k)
      a[k] = x[i + k];
    for (int k = 0; k < 1024 && i + k < 4 * blockDim.x; ++k)
      y[i + k] = a[k] + 1;
  }
}

// kernel: sumsOfFour
// workload: grid=1, block=1, args=[buffer f32 n=64 output, buffer f32 n=256 uniform seed=1, 256]
// inside: grid=1, block=1, args=[buffer f32 n=5000 uniform seed=1, arg 0 + 1008, 1001]
// honest: sumsOfFourInPlace
// Of a buffer right behind the other, nothing is touched by both.
__global__ void sumsOfFour(float *sums, const float *x, int n) {
  for (int g = 0; g * 4 < n; ++g) {
    float sum = 0;
    for (int i = g * 4; i < n && i < g * 4 + 4; ++i)
      sum += x[i];
    sums[g] = sum;
  }
}
__global__ void sumsOfFourInPlace(float *sums, const float *x, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) {
    sum = i % 4 ? sum + x[i] : 0 + x[i];
    if (i % 4 == 3 || i == n - 1)
      sums[i / 4] = sum;
  }
}
