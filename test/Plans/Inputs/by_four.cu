// Four numbers at a time.
__global__ void scale(float *x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 4) {
    float4 v = reinterpret_cast<float4 *>(x)[i];
    v.x *= a, v.y *= a, v.z *= a, v.w *= a;
    reinterpret_cast<float4 *>(x)[i] = v;
  }
}
