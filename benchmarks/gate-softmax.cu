// A softmax over rows, and an honest variant that reads its row twice, not
// thrice.
#include <cmath>
__global__ void softmaxRow(const float *in, float *out, int rows, int cols) {
  __shared__ float s[256];
  int row = blockIdx.x;
  if (row >= rows)
    return;
  in += (size_t)row * cols;
  out += (size_t)row * cols;
  int t = threadIdx.x;
  float m = -INFINITY;
  for (int i = t; i < cols; i += blockDim.x)
    m = fmaxf(m, in[i]);
  s[t] = m;
  __syncthreads();
  for (int d = blockDim.x / 2; d; d /= 2) {
    if (t < d)
      s[t] = fmaxf(s[t], s[t + d]);
    __syncthreads();
  }
  m = s[0];
  __syncthreads();
  float sum = 0;
  for (int i = t; i < cols; i += blockDim.x)
    sum += expf(in[i] - m);
  s[t] = sum;
  __syncthreads();
  for (int d = blockDim.x / 2; d; d /= 2) {
    if (t < d)
      s[t] += s[t + d];
    __syncthreads();
  }
  sum = s[0];
  for (int i = t; i < cols; i += blockDim.x)
    out[i] = expf(in[i] - m) / sum;
}
// Warp reductions, and sum and maximum in one pass.
__global__ void onePass(const float *in, float *out, int rows, int cols) {
  __shared__ float sm[32], ss[32];
  int row = blockIdx.x;
  if (row >= rows)
    return;
  in += (size_t)row * cols;
  out += (size_t)row * cols;
  int t = threadIdx.x;
  float m = -INFINITY, sum = 0;
  for (int i = t; i < cols; i += blockDim.x) {
    float v = in[i], n = fmaxf(m, v);
    if (n > -INFINITY) {
      sum = sum * expf(m - n) + expf(v - n);
      m = n;
    } else
      sum += v != v ? v : 0;
  }
  for (int d = 16; d; d /= 2) {
    float om = __shfl_xor_sync(~0u, m, d), os = __shfl_xor_sync(~0u, sum, d);
    float n = fmaxf(m, om);
    if (n > -INFINITY) {
      sum = sum * expf(m - n) + os * expf(om - n);
      m = n;
    }
  }
  if (t % 32 == 0) {
    sm[t / 32] = m;
    ss[t / 32] = sum;
  }
  __syncthreads();
  int w = blockDim.x / 32;
  m = -INFINITY;
  sum = 0;
  for (int i = 0; i < w; ++i) {
    float n = fmaxf(m, sm[i]);
    if (n > -INFINITY) {
      sum = sum * expf(m - n) + ss[i] * expf(sm[i] - n);
      m = n;
    }
  }
  for (int i = t; i < cols; i += blockDim.x)
    out[i] = expf(in[i] - m) / sum;
}
int main() {}
