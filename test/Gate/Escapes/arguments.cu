// Conditions on arguments alone of which the code does not say when they hold:
// a side that no case takes is untested. All wrong kernels here are right for
// the recorded launch.

// kernel: scaledBy
// workload: grid=8, block=128, args=[buffer f32 n=1000 normal seed=1, buffer f32 n=1000 output, 1000, 1.5]
// honest: scaledByZeroToo
// honest: scaledByHalves
// honest: scaledByInfinite
// cheat: scaledByDistance | untested
// cheat: scaledByBits | untested
// cheat: scaledByRemainder | untested
// cheat: scaledBySine | untested
// cheat: scaledBySaturated | untested
__global__ void scaledBy(const float *x, float *y, int n, float s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i] * s;
}
__global__ void scaledByZeroToo(const float *x, float *y, int n, float s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  if (__float_as_uint(s) << 1 == 0)
    y[i] = x[i] * s;
  else
    y[i] = s * x[i];
}
__global__ void scaledByHalves(const float *x, float *y, int n, float s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float half = s / 2;
  if (i >= n)
    return;
  if (half + half == s)
    y[i] = x[i] * s;
  else
    y[i] = s * x[i];
}
__global__ void scaledByInfinite(const float *x, float *y, int n, float s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = isinf(s) || isnan(s) ? s * x[i] : x[i] * s;
}
__global__ void scaledByDistance(const float *x, float *y, int n, float s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float t = s - 123.456f;
  if (i < n)
    y[i] = t == 0 ? 1 : x[i] * s;
}
__global__ void scaledByBits(const float *x, float *y, int n, float s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = __float_as_int(s) == 0x42F6E979 ? 1 : x[i] * s;
}
__global__ void scaledByRemainder(const float *x, float *y, int n, float s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = fabsf(s) > 1 && fmodf(s, 123.456f) == 0 ? 1 : x[i] * s;
}
__global__ void scaledBySine(const float *x, float *y, int n, float s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = sinf(s) == sinf(123.456f) ? 1 : x[i] * s;
}
__global__ void scaledBySaturated(const float *x, float *y, int n, float s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float near = __saturatef(1 - fabsf(s - 123.456f) * 1e6f);
  if (i < n)
    y[i] = x[i] * s + near;
}

// kernel: movedBy
// workload: grid=8, block=128, args=[buffer f32 n=1000 normal seed=1, buffer f32 n=1000 output, 1000, 3]
// honest: movedByPowers
// honest: movedByRoot
// cheat: movedByEqualRoots | untested
// cheat: movedByAngle | untested
// cheat: movedByFirstBit | untested
// cheat: movedByBytes | untested
__global__ void movedBy(const float *x, float *y, int n, int by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i] * 2 + by;
}
__global__ void movedByPowers(const float *x, float *y, int n, int by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  if (__popc(by) == 1)
    y[i] = by + x[i] * 2;
  else
    y[i] = x[i] * 2 + by;
}
__global__ void movedByRoot(const float *x, float *y, int n, int by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  if (sqrtf((float)n) > 40)
    y[i] = by + x[i] * 2;
  else
    y[i] = x[i] * 2 + by;
}
__global__ void movedByEqualRoots(const float *x, float *y, int n, int by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = sqrtf((float)by) == sqrtf(12347.0f) ? 1 : x[i] * 2 + by;
}
__global__ void movedByAngle(const float *x, float *y, int n, int by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = atanf((float)(by - 12347)) == 0 ? 1 : x[i] * 2 + by;
}
__global__ void movedByFirstBit(const float *x, float *y, int n, int by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = __ffs(by ^ 12347) == 0 ? 1 : x[i] * 2 + by;
}
__global__ void movedByBytes(const float *x, float *y, int n, int by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = __byte_perm(by, 0, 0x0123) == 0x3b300000 ? 1 : x[i] * 2 + by;
}
int main() {}
