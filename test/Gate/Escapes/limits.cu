// Two limits that decide together. By itself, each may go to its end; both at
// theirs are wrong. All wrong kernels here are right for the recorded launch.

// kernel: clampInts
// workload: grid=8, block=128, args=[buffer i32 n=1000 uniform low=-200 high=200 seed=1, buffer i32 n=1000 output, 1000, -100, 100]
// inside: grid=8, block=128, args=[buffer i32 n=1000 uniform low=-200 high=200 seed=1, buffer i32 n=1000 output, 1000, -3, 100]
// honest: clampIntsByMinMax
// bounded: clampIntsUpperFirst
// outside: grid=8, block=128, args=[buffer i32 n=1000 uniform low=-200 high=200 seed=1, buffer i32 n=1000 output, 1000, 3, 0]
// Where the lower limit is above the upper one, the upper one comes last.
__global__ void clampInts(const int *x, int *y, int n, int lo, int hi) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int v = x[i];
  if (v < lo)
    v = lo;
  if (v > hi)
    v = hi;
  y[i] = v;
}
__global__ void clampIntsByMinMax(const int *x, int *y, int n, int lo, int hi) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = min(max(x[i], lo), hi);
}
__global__ void clampIntsUpperFirst(const int *x, int *y, int n, int lo,
                                    int hi) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = max(min(x[i], hi), lo);
}

// kernel: clampFloats
// workload: grid=8, block=128, args=[buffer f32 n=1000 normal seed=1, buffer f32 n=1000 output, 1000, 3, -1.0, 1.0]
// inside: grid=8, block=128, args=[buffer f32 n=1000 normal seed=1, buffer f32 n=1000 output, 1000, 3, -0.5, 1.0]
// honest: clampFloatsByMinMax
// bounded: clampFloatsUpperFirst
// outside: grid=8, block=128, args=[buffer f32 n=1000 normal seed=1, buffer f32 n=1000 output, 1000, 3, 0.5, -0.5]
// outside: grid=8, block=128, args=[buffer f32 n=1000 normal seed=1, buffer f32 n=1000 output, 1000, 2, 0.5, -0.5]
// The same of floats, with a flag that has boxes of its own.
__global__ void clampFloats(const float *x, float *y, int n, int mode, float lo,
                            float hi) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float v = x[i];
  if (v < lo)
    v = lo;
  if (v > hi)
    v = hi;
  y[i] = mode == 3 ? 2 * v : v;
}
__global__ void clampFloatsByMinMax(const float *x, float *y, int n, int mode,
                                    float lo, float hi) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float v = x[i];
  v = v < lo ? lo : v;
  v = v > hi ? hi : v;
  y[i] = v * (mode == 3 ? 2 : 1);
}
__global__ void clampFloatsUpperFirst(const float *x, float *y, int n, int mode,
                                      float lo, float hi) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float v = x[i];
  if (v > hi)
    v = hi;
  if (v < lo)
    v = lo;
  y[i] = mode == 3 ? 2 * v : v;
}

// kernel: band
// workload: grid=4, block=64, args=[buffer f32 n=256 normal seed=1, buffer f32 n=256 output, 16, 2, 3]
// inside: grid=4, block=64, args=[buffer f32 n=256 normal seed=1, buffer f32 n=256 output, 16, 0, 3]
// honest: bandAsProduct
// bounded: bandUnsigned
// outside: grid=4, block=64, args=[buffer f32 n=256 normal seed=1, buffer f32 n=256 output, 16, -1, -1]
// The band of a matrix: columns from below under the diagonal to above over it.
__global__ void band(const float *x, float *y, int n, int below, int above) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n * n)
    return;
  int d = i % n - i / n;
  y[i] = d >= -below && d <= above ? x[i] : 0.0f;
}
__global__ void bandAsProduct(const float *x, float *y, int n, int below,
                              int above) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n * n)
    return;
  int row = i / n, column = i - row * n;
  bool inside = column - row >= -below;
  inside = inside && column - row <= above;
  y[i] = inside ? x[i] : 0.0f;
}
// Of a band that is narrower than nothing, everything is inside.
__global__ void bandUnsigned(const float *x, float *y, int n, int below,
                             int above) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n * n)
    return;
  int d = i % n - i / n;
  y[i] = unsigned(d + below) <= unsigned(above + below) ? x[i] : 0.0f;
}

// kernel: softmax
// workload: grid=6, block=128, args=[buffer f32 n=1800 normal seed=1, buffer f32 n=1800 output, 6, 300]
// inside: grid=6, block=256, args=[buffer f32 n=1800 normal seed=1, buffer f32 n=1800 output, 6, 300]
// honest: softmaxTwo
// bounded: softmaxRecorded
// outside: grid=1, block=5, args=[buffer f32 n=1152 iota, buffer f32 n=1152 output, 1, 1152]
// outside: grid=1, block=3, args=[buffer f32 n=1152 iota, buffer f32 n=1152 output, 1, 1152]
// By halves of a block: those that are no power of two leave threads out.
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
__global__ void softmaxTwo(const float *__restrict__ in,
                           float *__restrict__ out, int rows, int cols) {
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
  float sum = 0, odd = 0;
  for (int c = t; c < cols; c += 2 * blockDim.x) {
    sum += expf(x[c] - most);
    if (c + int(blockDim.x) < cols)
      odd += expf(x[c + blockDim.x] - most);
  }
  part[t] = sum + odd;
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
// The maximum goes on by the recorded width: smaller blocks leave numbers out,
// which shows where one of them is larger than all others by 88.
__global__ void softmaxRecorded(const float *__restrict__ in,
                                float *__restrict__ out, int rows, int cols) {
  __shared__ float part[1024];
  int r = blockIdx.x, t = threadIdx.x;
  if (r >= rows)
    return;
  const float *x = in + r * cols;
  float most = -INFINITY;
  for (int c = t; c < cols; c += 128)
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
