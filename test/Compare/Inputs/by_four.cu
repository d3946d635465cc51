// Four numbers at a time.
__global__ void scale(float *x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n / 4)
    return;
  float4 v = reinterpret_cast<float4 *>(x)[i];
  v.x = v.x * a;
  v.y = v.y * a;
  v.z = v.z * a;
  v.w = v.w * a;
  reinterpret_cast<float4 *>(x)[i] = v;
}
