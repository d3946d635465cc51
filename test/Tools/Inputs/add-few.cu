// Right up to 40,000 numbers.
__global__ void addOne(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] + (i < 40000 ? 1.0f : 2.0f);
}
