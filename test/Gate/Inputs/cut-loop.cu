// A loop that ends at 1,024 turns: a side of its minimum that recorded launches do not take.
__global__ void taps(const float *in, const float *weight, float *out, int n, int taps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, m = n - taps + 1;
  if (i >= m)
    return;
  float sum = 0;
  for (int k = 0; k < taps; ++k)
    sum += in[i + k] * weight[k];
  out[i] = sum;
}
__global__ void tapsCut(const float *in, const float *weight, float *out, int n, int taps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, m = n - taps + 1;
  if (i >= m)
    return;
  float sum = 0;
  for (int k = 0; k < min(taps, 1024); ++k)
    sum += in[i + k] * weight[k];
  out[i] = sum;
}
