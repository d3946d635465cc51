// Sums that cancel, and the same with inputs rounded as TF32 does.
__device__ float rounded(float x) {
  // A GPU's NaN has all bits set: a carry would make it -0.
  return isnan(x) ? x : __uint_as_float((__float_as_uint(x) + 0x1000) & 0xffffe000);
}
__global__ void products(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; ++k)
    sum += a[i * n + k] * b[k];
  c[i] = sum;
}
__global__ void withTf32(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; ++k)
    sum += rounded(a[i * n + k]) * rounded(b[k]);
  c[i] = sum;
}
__device__ float cutOff(float x) {
  return __uint_as_float(__float_as_uint(x) & 0xffffe000);
}
__global__ void withTf32CutOff(const float *a, const float *b, float *c,
                               int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; ++k)
    sum += cutOff(a[i * n + k]) * cutOff(b[k]);
  c[i] = sum;
}
__global__ void withLess(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n - 1; ++k)
    sum += rounded(a[i * n + k]) * rounded(b[k]);
  c[i] = sum;
}
