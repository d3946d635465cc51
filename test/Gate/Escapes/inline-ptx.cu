// What inline PTX compares with: its text is the code as well. All wrong
// kernels here are right for the recorded launch.

// kernel: twice
// workload: grid=8, block=128, args=[buffer f32 n=1000 normal seed=1, buffer f32 n=1000 output, 1000]
// inside: grid=80, block=128, args=[buffer f32 n=10000 normal seed=1, buffer f32 n=10000 output, 10000]
// honest: twiceByPtx
// honest: twiceUpToLimit
// bounded: twiceButOne
// outside: grid=97, block=128, args=[buffer f32 n=12347 normal seed=1, buffer f32 n=12347 output, 12347]
// A size in a predicate.
__global__ void twice(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i] * 2;
}
__global__ void twiceByPtx(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float r;
  asm("mul.f32 %0, %1, 0f40000000;" : "=f"(r) : "f"(x[i]));
  y[i] = r;
}
__global__ void twiceUpToLimit(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  // No size is above this limit.
  int m;
  asm("min.s32 %0, %1, 2147483647;" : "=r"(m) : "r"(n));
  if (i < m)
    y[i] = x[i] * 2;
}
__global__ void twiceButOne(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float r = x[i] * 2;
  asm("{.reg .pred p;\n\tsetp.eq.s32 p, %1, 12347;\n\t"
      "selp.f32 %0, 0f3F800000, %2, p;}"
      : "=f"(r)
      : "r"(n), "f"(r));
  y[i] = r;
}

// kernel: scaledOrMoved
// workload: grid=8, block=128, args=[buffer f32 n=1000 normal seed=1, buffer f32 n=1000 output, 1000, 7, 1.5]
// honest: scaledOrMovedByPtx
// bounded: scaledOrMovedButOne
// outside: grid=8, block=128, args=[buffer f32 n=1000 normal seed=1, buffer f32 n=1000 output, 1000, 7, 123.4560013]
// A floating argument.
__global__ void scaledOrMoved(const float *x, float *y, int n, int mode,
                              float s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = mode == 7 ? x[i] * s : x[i] + s;
}
__global__ void scaledOrMovedByPtx(const float *x, float *y, int n, int mode,
                                   float s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float a, m;
  asm("add.f32 %0, %1, %2;" : "=f"(a) : "f"(x[i]), "f"(s));
  asm("mul.f32 %0, %1, %2;" : "=f"(m) : "f"(x[i]), "f"(s));
  y[i] = mode == 7 ? m : a;
}
__global__ void scaledOrMovedButOne(const float *x, float *y, int n, int mode,
                                    float s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float t = s;
  asm("{.reg .pred p;\n\tsetp.eq.f32 p, %1, 0f42F6E979;\n\t"
      "selp.f32 %0, 0f3F800000, %1, p;}"
      : "=f"(t)
      : "f"(s));
  if (i < n)
    y[i] = mode == 7 ? x[i] * t : x[i] + t;
}
int main() {}
