// What is compared after or beside a loop, by what the loop has counted, and
// entries of constant tables. All wrong kernels here are right for the recorded
// launch, and wrong for one size.

// kernel: chain
// workload: grid=4, block=64, args=[buffer i32 n=256 uniform seed=1, buffer i32 n=256 output, 256, 40]
// honest: chainByFours
// honest: chainToTheEnd
// honest: chainCountsTurns
// bounded: chainByThree
// outside: grid=4, block=64, args=[buffer i32 n=256 uniform seed=1, buffer i32 n=256 output, 256, 277]
// bounded: chainOfTurns
// outside: grid=4, block=64, args=[buffer i32 n=256 uniform seed=1, buffer i32 n=256 output, 256, 284]
// bounded: chainLast
// outside: grid=4, block=64, args=[buffer i32 n=256 uniform seed=1, buffer i32 n=256 output, 256, 277]
// bounded: chainWithin
// outside: grid=4, block=64, args=[buffer i32 n=256 uniform seed=1, buffer i32 n=256 output, 256, 272]
// cheat: chainUneven | untested
// honest: chainInSquares
// bounded: chainNotThrice
// outside: grid=1, block=64, args=[buffer i32 n=1 uniform seed=1, buffer i32 n=1 output, 1, 50000]
__global__ void chain(const int *a, int *y, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int s = a[i];
  for (int j = 0; j < k; ++j)
    s = s * 3 + j;
  y[i] = s;
}
__global__ void chainByFours(const int *a, int *y, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int s = a[i], j = 0;
  for (; j + 4 <= k; j += 4) {
    s = s * 3 + j;
    s = s * 3 + j + 1;
    s = s * 3 + j + 2;
    s = s * 3 + j + 3;
  }
  for (; j < k; ++j)
    s = s * 3 + j;
  y[i] = s;
}
__global__ void chainToTheEnd(const int *a, int *y, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int s = a[i], j = 0;
  for (; j + 1 < k; j += 2)
    s = (s * 3 + j) * 3 + j + 1;
  if (j < k)
    s = s * 3 + j;
  y[i] = s;
}
__global__ void chainCountsTurns(const int *a, int *y, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int s = a[i], turns = 0;
  for (int j = 0; j < k; j += 2, ++turns) {
    s = s * 3 + j;
    if (j + 1 < k)
      s = s * 3 + j + 1;
  }
  y[i] = turns > 0 ? s : a[i];
}
__global__ void chainByThree(const int *a, int *y, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int s = a[i], t = 0;
  for (int j = 0; j < k; ++j, t += 3)
    s = s * 3 + j;
  y[i] = t == 831 ? 0 : s;
}
__global__ void chainOfTurns(const int *a, int *y, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int s = a[i], j = 0, t = 0;
  for (; j + 4 <= k; j += 4, ++t) {
    s = s * 3 + j;
    s = s * 3 + j + 1;
    s = s * 3 + j + 2;
    s = s * 3 + j + 3;
  }
  if (t == 71)
    s = 0;
  for (; j < k; ++j)
    s = s * 3 + j;
  y[i] = s;
}
__global__ void chainLast(const int *a, int *y, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int s = a[i], j = 0;
  for (; j < k; ++j)
    s = s * 3 + j;
  y[i] = j == 277 ? 0 : s;
}
__global__ void chainWithin(const int *a, int *y, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int s = a[i];
  for (int j = 0; j < k; ++j) {
    s = s * 3 + j;
    if (j == 271)
      s += 1;
  }
  y[i] = s;
}
__global__ void chainUneven(const int *a, int *y, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int s = a[i], j = 0;
  for (; j + 2 < k; j += 3)
    s = ((s * 3 + j) * 3 + j + 1) * 3 + j + 2;
  int left = k - j;
  while (left-- > 0) {
    s = s * 3 + j;
    ++j;
  }
  y[i] = j == 277 ? 0 : s;
}
// In steps of the square: neither growth nor small changes make just three.
__global__ void chainInSquares(const int *a, int *y, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int s = a[i], t = 0;
  for (long long j = 0; j < (long long)k * k; j += 1 << 30)
    ++t;
  for (int j = 0; j < k; ++j)
    s = s * 3 + j;
  y[i] = s + t - t;
}
__global__ void chainNotThrice(const int *a, int *y, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int s = a[i], t = 0;
  for (long long j = 0; j < (long long)k * k; j += 1 << 30)
    ++t;
  for (int j = 0; j < k; ++j)
    s = s * 3 + j;
  y[i] = s + t * (t - 1) * (t - 2) * (t - 4) * (t - 5);
}

// kernel: byMode
// workload: grid=4, block=64, args=[buffer f32 n=256 uniform seed=1, buffer f32 n=256 output, 256, 5]
// honest: byModeTable
// honest: byModeConstant
// honest: byModeFilled
// honest: byModeShared
// bounded: byModeWrong
// outside: grid=4, block=64, args=[buffer f32 n=256 uniform seed=1, buffer f32 n=256 output, 256, 77]
// bounded: byModeFew
// outside: grid=4, block=64, args=[buffer f32 n=256 uniform seed=1, buffer f32 n=256 output, 256, 23]
// bounded: byModeFilledWrong
// outside: grid=4, block=64, args=[buffer f32 n=256 uniform seed=1, buffer f32 n=256 output, 256, 77]
// bounded: byModeSharedWrong
// outside: grid=4, block=64, args=[buffer f32 n=256 uniform seed=1, buffer f32 n=256 output, 256, 77]
// bounded: byModeShort
// outside: grid=4, block=64, args=[buffer f32 n=256 uniform seed=1, buffer f32 n=256 output, 256, 100]
__global__ void byMode(const float *x, float *y, int n, int mode) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i] * (float)(mode * 3);
}
struct ByMode {
  float V[100];
};
constexpr __device__ ByMode made(int wrong) {
  ByMode t{};
  for (int i = 0; i < 100; ++i)
    t.V[i] = i == wrong ? 5.0f : 3.0f * i;
  return t;
}
__device__ const ByMode Right = made(-1), Wrong = made(77);
__constant__ float Few[32] = {0,  3,  6,  9,  12, 15, 18, 21, 24, 27, 30,
                              33, 36, 39, 42, 45, 48, 51, 54, 57, 60, 63,
                              66, 5,  72, 75, 78, 81, 84, 87, 90, 93};
__constant__ float All[16] = {0,  3,  6,  9,  12, 15, 18, 21,
                              24, 27, 30, 33, 36, 39, 42, 45};
__global__ void byModeTable(const float *x, float *y, int n, int mode) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float f = mode >= 0 && mode < 100 ? Right.V[mode] : (float)(mode * 3);
  if (i < n)
    y[i] = x[i] * f;
}
__global__ void byModeConstant(const float *x, float *y, int n, int mode) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float f = mode >= 0 && mode < 16 ? All[mode] : (float)(mode * 3);
  if (i < n)
    y[i] = x[i] * f;
}
__global__ void byModeWrong(const float *x, float *y, int n, int mode) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float f = mode >= 0 && mode < 100 ? Wrong.V[mode] : (float)(mode * 3);
  if (i < n)
    y[i] = x[i] * f;
}
__global__ void byModeFew(const float *x, float *y, int n, int mode) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float f = mode >= 0 && mode < 32 ? Few[mode] : (float)(mode * 3);
  if (i < n)
    y[i] = x[i] * f;
}
__global__ void byModeShort(const float *x, float *y, int n, int mode) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float f = mode >= 0 ? Right.V[mode < 100 ? mode : 99] : (float)(mode * 3);
  if (i < n)
    y[i] = x[i] * f;
}
__global__ void byModeFilled(const float *x, float *y, int n, int mode) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float t[100];
#pragma unroll 1
  for (int k = 0; k < 100; ++k)
    t[k] = 3 * k;
  float f = mode >= 0 && mode < 100 ? t[mode] : (float)(mode * 3);
  if (i < n)
    y[i] = x[i] * f;
}
__global__ void byModeShared(const float *x, float *y, int n, int mode) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ float t[128];
  for (int k = threadIdx.x; k < 128; k += blockDim.x)
    t[k] = 3 * k;
  __syncthreads();
  float f = mode >= 0 && mode < 128 ? t[mode] : (float)(mode * 3);
  if (i < n)
    y[i] = x[i] * f;
}
__global__ void byModeFilledWrong(const float *x, float *y, int n, int mode) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float t[100];
#pragma unroll 1
  for (int k = 0; k < 100; ++k)
    t[k] = k == 77 ? 5 : 3 * k;
  float f = mode >= 0 && mode < 100 ? t[mode] : (float)(mode * 3);
  if (i < n)
    y[i] = x[i] * f;
}
__global__ void byModeSharedWrong(const float *x, float *y, int n, int mode) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ float t[128];
  for (int k = threadIdx.x; k < 128; k += blockDim.x)
    t[k] = k == 77 ? 5 : 3 * k;
  __syncthreads();
  float f = mode >= 0 && mode < 128 ? t[mode] : (float)(mode * 3);
  if (i < n)
    y[i] = x[i] * f;
}
