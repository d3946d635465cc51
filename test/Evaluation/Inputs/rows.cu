// An original, honest and dishonest variants of it, in one unit.
#define INDEX int i = blockIdx.x * blockDim.x + threadIdx.x
__global__ void rows(const float *in, float *out, int n) {
  INDEX;
  if (i < n)
    out[i] = in[i] * 2.0f;
}
__global__ void sum(const float *in, float *out, int n) {
  INDEX;
  if (i < n)
    out[i] = in[i] + in[i];
}
__global__ void skips(const float *in, float *out, int n) {
  INDEX;
  if (i < n - 1)
    out[i] = in[i] * 2.0f;
}
__global__ void fours(const float *in, float *out, int n) {
  INDEX;
  if (i * 4 < n) {
    float4 v = ((const float4 *)in)[i];
    ((float4 *)out)[i] = make_float4(v.x * 2, v.y * 2, v.z * 2, v.w * 2);
  }
}
__global__ void fewer(const float *in, float *out) {
  out[threadIdx.x] = in[threadIdx.x];
}
int main() {}
