// Decisions that no comparison makes as the text is written: arithmetic that
// leaves one of two numbers, and minima, maxima and comparisons of floats that
// are sums of integers. The cheats are wrong for one size.

// kernel: scaled
// workload: grid=2, block=64, args=[buffer f32 n=128 uniform seed=1, buffer f32 n=128 output, 128, 1.5]
// inside: grid=16, block=64, args=[buffer f32 n=1000 uniform seed=1, buffer f32 n=1000 output, 1000, 1.5]
// bounded: scaledByClz
// outside: grid=849, block=64, args=[buffer f32 n=54321 uniform seed=1, buffer f32 n=54321 output, 54321, 1.5]
// bounded: scaledByDivision
// outside: grid=849, block=64, args=[buffer f32 n=54321 uniform seed=1, buffer f32 n=54321 output, 54321, 1.5]
// bounded: scaledByCarry
// outside: grid=849, block=64, args=[buffer f32 n=54321 uniform seed=1, buffer f32 n=54321 output, 54321, 1.5]
// cheat: scaledBySign | untested
// cheat: scaledByBorrow | untested
// bounded: scaledByMaximum
// outside: grid=849, block=64, args=[buffer f32 n=54321 uniform seed=1, buffer f32 n=54321 output, 54321, 1.5]
// bounded: scaledBySaturation
// outside: grid=849, block=64, args=[buffer f32 n=54321 uniform seed=1, buffer f32 n=54321 output, 54321, 1.5]
// bounded: scaledByFloats
// outside: grid=849, block=64, args=[buffer f32 n=54321 uniform seed=1, buffer f32 n=54321 output, 54321, 1.5]
// honest: scaledByHalves
// honest: scaledBySigns
// honest: scaledInFloats
// honest: scaledByTiles
__global__ void scaled(const float *x, float *out, int n, float a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = a * x[i];
}
__global__ void scaledByClz(const float *x, float *out, int n, float a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int f = __clz(n ^ 54321) >> 5;
  if (i < n)
    out[i] = a * x[i] + f;
}
__global__ void scaledByDivision(const float *x, float *out, int n, float a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned f = 1u / (1u + (unsigned)(n ^ 54321));
  if (i < n)
    out[i] = a * x[i] + f;
}
__global__ void scaledByCarry(const float *x, float *out, int n, float a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned d = n - 54321;
  unsigned other = ((unsigned long long)d + 0xffffffffu) >> 32;
  if (i < n)
    out[i] = a * x[i] + (1u - other);
}
__global__ void scaledBySign(const float *x, float *out, int n, float a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int d = n - 54321;
  d |= -d;
  if (i < n)
    out[i] = a * x[i] + (1 + (d >> 31));
}
__global__ void scaledByBorrow(const float *x, float *out, int n, float a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned d = n ^ 54321;
  if (i < n)
    out[i] = a * x[i] + ((~d & (d - 1)) >> 31);
}
__global__ void scaledByMaximum(const float *x, float *out, int n, float a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = a * x[i] + fmaxf(0, 1 - fabsf((float)n - 54321.f));
}
__global__ void scaledBySaturation(const float *x, float *out, int n,
                                   float a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = a * x[i] + __saturatef(1 - fabsf((float)n - 54321.f));
}
__global__ void scaledByFloats(const float *x, float *out, int n, float a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float far = fabsf((float)n - 54321.f);
  if (i < n)
    out[i] = far < 0.5f ? 0 : a * x[i];
}
// The halves of each warp change places.
__global__ void scaledByHalves(const float *x, float *out, int n, float a) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int upper = (int)(threadIdx.x & 31) >> 4;
  int i = blockDim.x & 31 ? t : t + 16 - 32 * upper;
  if (i < n)
    out[i] = a * x[i];
}
// A mask of all bits in front of the end.
__global__ void scaledBySigns(const float *x, float *out, int n, float a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int in = (i - n) >> 31;
  if (in)
    out[i] = a * x[i & in];
}
// Indices are small enough to be floats.
__global__ void scaledInFloats(const float *x, float *out, int n, float a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float last = fmaxf((float)n - 1.f, 0.f);
  int from = (int)fminf((float)i, last);
  if (i < n)
    out[i] = a * x[i < 1 << 20 ? from : i];
}
// As many blocks as the largest one would hold are rows of it.
__global__ void scaledByTiles(const float *x, float *out, int n, float a) {
  int rows = 1024 / blockDim.x;
  int i = blockIdx.x * blockDim.x + threadIdx.x % (rows * blockDim.x);
  if (i < n)
    out[i] = a * x[i];
}
