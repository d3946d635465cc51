// One row of a matrix after the other: softmax, norms, a loss.

// kernel: softmax
// workload: grid=6, block=128, args=[buffer f32 n=1800 normal seed=1, buffer f32 n=1800 output, 6, 300]
// honest: softmaxShuffle | grid=(gx) | bx == 128
// honest: softmaxOnline | grid=(gx); block=(64) | bx == 128
// honest: softmaxThread | grid=(gx ceildiv 4); block=(4) | bx == 128; gx >= rows
// narrower: cols below | reads the first element before it looks at cols
// narrower: cols above | one thread adds up a row, and is less exact than a tree
// honest: softmaxExpTwice
// narrower: bx between | the original leaves threads out of blocks that are no power of two
// honest: softmaxWarps | grid=(gx ceildiv 2); block=(64) | bx == 128; gx >= rows
__global__ void softmax(const float *__restrict__ in, float *__restrict__ out,
                        int rows, int cols) {
  __shared__ float part[1024];
  int r = blockIdx.x, t = threadIdx.x;
  if (r >= rows)
    return;
  const float *x = in + r * cols;
  float most = -INFINITY;
  for (int c = t; c < cols; c += blockDim.x)
    most = fmaxf(most, x[c]);
  part[t] = most;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (t < d)
      part[t] = fmaxf(part[t], part[t + d]);
    __syncthreads();
  }
  most = part[0];
  __syncthreads();
  float sum = 0;
  for (int c = t; c < cols; c += blockDim.x)
    sum += expf(x[c] - most);
  part[t] = sum;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (t < d)
      part[t] += part[t + d];
    __syncthreads();
  }
  sum = part[0];
  for (int c = t; c < cols; c += blockDim.x)
    out[r * cols + c] = expf(x[c] - most) / sum;
}
__device__ float warpMax(float v) {
  for (int d = 16; d > 0; d >>= 1)
    v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, d));
  return v;
}
__device__ float warpSum(float v) {
  for (int d = 16; d > 0; d >>= 1)
    v += __shfl_xor_sync(0xffffffff, v, d);
  return v;
}
__global__ void softmaxShuffle(const float *__restrict__ in,
                               float *__restrict__ out, int rows, int cols) {
  __shared__ float part[4], total[4];
  int r = blockIdx.x, t = threadIdx.x, w = t / 32;
  if (r >= rows)
    return;
  const float *x = in + r * cols;
  float most = -INFINITY;
  for (int c = t; c < cols; c += 128)
    most = fmaxf(most, x[c]);
  most = warpMax(most);
  if (t % 32 == 0)
    part[w] = most;
  __syncthreads();
  most = fmaxf(fmaxf(part[0], part[1]), fmaxf(part[2], part[3]));
  float sum = 0;
  for (int c = t; c < cols; c += 128)
    sum += expf(x[c] - most);
  sum = warpSum(sum);
  if (t % 32 == 0)
    total[w] = sum;
  __syncthreads();
  sum = (total[0] + total[1]) + (total[2] + total[3]);
  for (int c = t; c < cols; c += 128)
    out[r * cols + c] = expf(x[c] - most) / sum;
}
// Maximum and sum in one pass.
__global__ void softmaxOnline(const float *__restrict__ in,
                              float *__restrict__ out, int rows, int cols) {
  __shared__ float mosts[64], sums[64];
  int r = blockIdx.x, t = threadIdx.x;
  if (r >= rows)
    return;
  const float *x = in + r * cols;
  float most = -INFINITY, sum = 0;
  for (int c = t; c < cols; c += 64) {
    float v = x[c], now = fmaxf(most, v);
    // Masked elements are negative infinities: nothing to rescale yet.
    if (now > -INFINITY)
      sum = sum * expf(most - now) + expf(v - now);
    most = now;
  }
  mosts[t] = most;
  sums[t] = sum;
  __syncthreads();
  most = -INFINITY;
  for (int k = 0; k < 64; ++k)
    most = fmaxf(most, mosts[k]);
  sum = 0;
  for (int k = 0; k < 64; ++k)
    if (mosts[k] > -INFINITY)
      sum += sums[k] * expf(mosts[k] - most);
  for (int c = t; c < cols; c += 64)
    out[r * cols + c] = expf(x[c] - most) / sum;
}
__global__ void softmaxThread(const float *__restrict__ in,
                              float *__restrict__ out, int rows, int cols) {
  int r = blockIdx.x * 4 + threadIdx.x;
  if (r >= rows)
    return;
  const float *x = in + r * cols;
  float most = x[0], sum = 0;
  for (int c = 1; c < cols; ++c)
    most = fmaxf(most, x[c]);
  for (int c = 0; c < cols; ++c)
    sum += expf(x[c] - most);
  float inverse = 1.0f / sum;
  for (int c = 0; c < cols; ++c)
    out[r * cols + c] = expf(x[c] - most) * inverse;
}
// Keeps the exponentials in the output.
__global__ void softmaxExpTwice(const float *__restrict__ in,
                                float *__restrict__ out, int rows, int cols) {
  __shared__ float part[1024];
  int r = blockIdx.x, t = threadIdx.x, n = blockDim.x;
  if (r >= rows)
    return;
  float most = -INFINITY;
  for (int c = t; c < cols; c += n)
    most = fmaxf(most, in[r * cols + c]);
  part[t] = most;
  __syncthreads();
  for (int k = 0; k < n; ++k)
    most = fmaxf(most, part[k]);
  __syncthreads();
  float sum = 0;
  for (int c = t; c < cols; c += n) {
    float e = expf(in[r * cols + c] - most);
    out[r * cols + c] = e;
    sum += e;
  }
  part[t] = sum;
  __syncthreads();
  sum = 0;
  for (int k = 0; k < n; ++k)
    sum += part[k];
  for (int c = t; c < cols; c += n)
    out[r * cols + c] /= sum;
}
__global__ void softmaxWarps(const float *__restrict__ in,
                             float *__restrict__ out, int rows, int cols) {
  int r = blockIdx.x * 2 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows)
    return;
  const float *x = in + r * cols;
  float most = -INFINITY, sum = 0;
  for (int c = lane; c < cols; c += 32)
    most = fmaxf(most, x[c]);
  most = warpMax(most);
  for (int c = lane; c < cols; c += 32)
    sum += expf(x[c] - most);
  sum = warpSum(sum);
  for (int c = lane; c < cols; c += 32)
    out[r * cols + c] = expf(x[c] - most) / sum;
}

// kernel: layerNorm
// workload: grid=5, block=64, args=[buffer f32 n=750 normal seed=2, buffer f32 n=150 uniform seed=3, buffer f32 n=150 uniform seed=4, buffer f32 n=750 output, 5, 150, 1e-5]
// honest: layerNormWarp | grid=(gx); block=(32) | bx == 64
// honest: layerNormWelford | grid=(gx ceildiv 8); block=(8) | bx == 64; gx >= rows
// honest: layerNormShuffle | grid=(gx) | bx == 64
__global__ void layerNorm(const float *__restrict__ in,
                          const float *__restrict__ gain,
                          const float *__restrict__ bias,
                          float *__restrict__ out, int rows, int cols,
                          float eps) {
  __shared__ float part[1024];
  int r = blockIdx.x, t = threadIdx.x;
  if (r >= rows)
    return;
  const float *x = in + r * cols;
  float sum = 0;
  for (int c = t; c < cols; c += blockDim.x)
    sum += x[c];
  part[t] = sum;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (t < d)
      part[t] += part[t + d];
    __syncthreads();
  }
  float mean = part[0] / cols;
  __syncthreads();
  float squares = 0;
  for (int c = t; c < cols; c += blockDim.x)
    squares += (x[c] - mean) * (x[c] - mean);
  part[t] = squares;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (t < d)
      part[t] += part[t + d];
    __syncthreads();
  }
  float scale = rsqrtf(part[0] / cols + eps);
  for (int c = t; c < cols; c += blockDim.x)
    out[r * cols + c] = (x[c] - mean) * scale * gain[c] + bias[c];
}
__global__ void layerNormWarp(const float *__restrict__ in,
                              const float *__restrict__ gain,
                              const float *__restrict__ bias,
                              float *__restrict__ out, int rows, int cols,
                              float eps) {
  int r = blockIdx.x, t = threadIdx.x;
  if (r >= rows)
    return;
  const float *x = in + r * cols;
  float sum = 0, squares = 0;
  for (int c = t; c < cols; c += 32)
    sum += x[c];
  float mean = warpSum(sum) / cols;
  for (int c = t; c < cols; c += 32)
    squares = fmaf(x[c] - mean, x[c] - mean, squares);
  float scale = rsqrtf(warpSum(squares) / cols + eps);
  for (int c = t; c < cols; c += 32)
    out[r * cols + c] = fmaf((x[c] - mean) * scale, gain[c], bias[c]);
}
__global__ void layerNormWelford(const float *__restrict__ in,
                                 const float *__restrict__ gain,
                                 const float *__restrict__ bias,
                                 float *__restrict__ out, int rows, int cols,
                                 float eps) {
  int r = blockIdx.x * 8 + threadIdx.x;
  if (r >= rows)
    return;
  const float *x = in + r * cols;
  float mean = 0, m2 = 0;
  for (int c = 0; c < cols; ++c) {
    float d = x[c] - mean;
    mean += d / (c + 1);
    m2 += d * (x[c] - mean);
  }
  float scale = 1.0f / sqrtf(m2 / cols + eps);
  for (int c = 0; c < cols; ++c)
    out[r * cols + c] = (x[c] - mean) * scale * gain[c] + bias[c];
}
__global__ void layerNormShuffle(const float *__restrict__ in,
                                 const float *__restrict__ gain,
                                 const float *__restrict__ bias,
                                 float *__restrict__ out, int rows, int cols,
                                 float eps) {
  __shared__ float sums[2], squares[2];
  int r = blockIdx.x, t = threadIdx.x;
  if (r >= rows)
    return;
  const float *x = in + r * cols;
  float sum = 0, square = 0;
  for (int c = t; c < cols; c += 64)
    sum += x[c];
  sum = warpSum(sum);
  if (t % 32 == 0)
    sums[t / 32] = sum;
  __syncthreads();
  float mean = (sums[0] + sums[1]) / cols;
  for (int c = t; c < cols; c += 64)
    square += (x[c] - mean) * (x[c] - mean);
  square = warpSum(square);
  if (t % 32 == 0)
    squares[t / 32] = square;
  __syncthreads();
  float scale = rsqrtf((squares[0] + squares[1]) / cols + eps);
  for (int c = t; c < cols; c += 64)
    out[r * cols + c] = (x[c] - mean) * scale * gain[c] + bias[c];
}

// kernel: rmsNorm
// workload: grid=7, block=32, args=[buffer f32 n=700 normal seed=5, buffer f32 n=100 uniform seed=6, buffer f32 n=700 output, 7, 100, 1e-6]
// honest: rmsNormBlock | grid=(gx); block=(64) | bx == 32
// honest: rmsNormThread | grid=(gx ceildiv 16); block=(16) | bx == 32; gx >= rows
// narrower: cols above | one thread adds up a row, and is less exact than a tree
// honest: rmsNormFloat4 | grid=(gx) | bx == 32; cols mod 4 == 0; align in 16; align gain 16; align out 16
__global__ void rmsNorm(const float *__restrict__ in,
                        const float *__restrict__ gain,
                        float *__restrict__ out, int rows, int cols,
                        float eps) {
  int r = blockIdx.x, lane = threadIdx.x;
  if (r >= rows)
    return;
  float sum = 0;
  for (int c = lane; c < cols; c += 32) {
    float v = in[r * cols + c];
    sum += v * v;
  }
  for (int d = 16; d > 0; d /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, d);
  sum = __shfl_sync(0xffffffffu, sum, 0);
  float scale = rsqrtf(sum / cols + eps);
  for (int c = lane; c < cols; c += 32)
    out[r * cols + c] = in[r * cols + c] * scale * gain[c];
}
__global__ void rmsNormBlock(const float *__restrict__ in,
                             const float *__restrict__ gain,
                             float *__restrict__ out, int rows, int cols,
                             float eps) {
  __shared__ float part[64];
  int r = blockIdx.x, t = threadIdx.x;
  if (r >= rows)
    return;
  float sum = 0;
  for (int c = t; c < cols; c += 64)
    sum += in[r * cols + c] * in[r * cols + c];
  part[t] = sum;
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    if (t % (2 * d) == 0)
      part[t] += part[t + d];
    __syncthreads();
  }
  float scale = rsqrtf(part[0] / cols + eps);
  for (int c = t; c < cols; c += 64)
    out[r * cols + c] = in[r * cols + c] * (scale * gain[c]);
}
__global__ void rmsNormThread(const float *__restrict__ in,
                              const float *__restrict__ gain,
                              float *__restrict__ out, int rows, int cols,
                              float eps) {
  int r = blockIdx.x * 16 + threadIdx.x;
  if (r >= rows)
    return;
  float sum = 0;
  for (int c = 0; c < cols; ++c)
    sum = fmaf(in[r * cols + c], in[r * cols + c], sum);
  float scale = 1 / sqrtf(sum / cols + eps);
  for (int c = 0; c < cols; ++c)
    out[r * cols + c] = in[r * cols + c] * scale * gain[c];
}
__global__ void rmsNormFloat4(const float *__restrict__ in,
                              const float *__restrict__ gain,
                              float *__restrict__ out, int rows, int cols,
                              float eps) {
  int r = blockIdx.x, lane = threadIdx.x;
  if (r >= rows)
    return;
  const float4 *x = reinterpret_cast<const float4 *>(in + r * cols);
  const float4 *g = reinterpret_cast<const float4 *>(gain);
  float4 *y = reinterpret_cast<float4 *>(out + r * cols);
  float sum = 0;
  for (int c = lane; c < cols / 4; c += 32) {
    float4 v = x[c];
    sum += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  float scale = rsqrtf(warpSum(sum) / cols + eps);
  for (int c = lane; c < cols / 4; c += 32) {
    float4 v = x[c], w = g[c];
    y[c] = make_float4(v.x * scale * w.x, v.y * scale * w.y,
                       v.z * scale * w.z, v.w * scale * w.w);
  }
}

// kernel: crossEntropy
// workload: grid=2, block=32, args=[buffer f32 n=2000 normal seed=7, buffer i32 n=50 uniform low=0 high=39 seed=8, buffer f32 n=50 output, 50, 40]
// honest: crossEntropyWarp | grid=(rows); block=(32) | bx == 32; gx * 32 >= rows
// honest: crossEntropyOnline
// honest: crossEntropyBackwards
__global__ void crossEntropy(const float *__restrict__ logits,
                             const int *__restrict__ labels,
                             float *__restrict__ loss, int rows, int classes) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  const float *x = logits + r * classes;
  float most = x[0];
  for (int c = 1; c < classes; ++c)
    if (x[c] > most)
      most = x[c];
  float sum = 0;
  for (int c = 0; c < classes; ++c)
    sum += expf(x[c] - most);
  int label = labels[r];
  // Labels outside of the classes count nothing.
  loss[r] = label >= 0 && label < classes ? most + logf(sum) - x[label] : 0.0f;
}
__global__ void crossEntropyWarp(const float *__restrict__ logits,
                                 const int *__restrict__ labels,
                                 float *__restrict__ loss, int rows,
                                 int classes) {
  int r = blockIdx.x, lane = threadIdx.x;
  const float *x = logits + r * classes;
  float most = -INFINITY, sum = 0;
  for (int c = lane; c < classes; c += 32)
    most = fmaxf(most, x[c]);
  most = warpMax(most);
  for (int c = lane; c < classes; c += 32)
    sum += expf(x[c] - most);
  sum = warpSum(sum);
  int label = labels[r];
  if (lane == 0)
    loss[r] = label < 0 || label >= classes ? 0 : most + logf(sum) - x[label];
}
__global__ void crossEntropyOnline(const float *__restrict__ logits,
                                   const int *__restrict__ labels,
                                   float *__restrict__ loss, int rows,
                                   int classes) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  const float *x = logits + r * classes;
  float most = x[0], sum = 1;
  for (int c = 1; c < classes; ++c) {
    float now = fmaxf(most, x[c]);
    sum = sum * expf(most - now) + expf(x[c] - now);
    most = now;
  }
  int label = labels[r];
  if (unsigned(label) < unsigned(classes))
    loss[r] = most + logf(sum) - x[label];
  else
    loss[r] = 0;
}
__global__ void crossEntropyBackwards(const float *__restrict__ logits,
                                      const int *__restrict__ labels,
                                      float *__restrict__ loss, int rows,
                                      int classes) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  const float *x = logits + r * classes;
  float most = x[0], even = 0, odd = 0;
  for (int c = classes - 1; c > 0; --c)
    most = fmaxf(x[c], most);
  for (int c = classes - 1; c >= 0; --c)
    (c & 1 ? odd : even) += expf(x[c] - most);
  int label = labels[r];
  float l = 0;
  if (label >= 0 && label < classes)
    l = (most - x[label]) + logf(even + odd);
  loss[r] = l;
}
