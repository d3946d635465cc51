// One element, lane or column in no special place is left out. The numbers are
// the classes of README.md.

// kernel: rowSoftmax
// workload: grid=2, block=64, args=[buffer f32 n=2600 normal seed=1, buffer f32 n=2600 output, 2, 1300]
// honest: rowSoftmaxOnline
// cheat: rowSoftmaxMaximumWithout | mismatch
// cheat: rowSoftmaxMaximumWithoutInRow | mismatch
// cheat: rowSoftmaxLane | mismatch
// cheat: rowSoftmaxStride | mismatch
#include <cmath>
template <class F>
__device__ float blockAll(float v, F join) {
  __shared__ float part[1024];
  int t = threadIdx.x;
  __syncthreads();
  part[t] = v;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (t < d)
      part[t] = join(part[t], part[t + d]);
    __syncthreads();
  }
  return part[0];
}
// Which numbers may be the largest is for the caller to say.
template <class F>
__device__ void softmaxOf(const float *in, float *out, int rows, int cols,
                          F counts) {
  int r = blockIdx.x;
  if (r >= rows)
    return;
  in += (size_t)r * cols, out += (size_t)r * cols;
  float most = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x)
    if (counts(r, i))
      most = fmaxf(most, in[i]);
  most = blockAll(most, [](float a, float b) { return fmaxf(a, b); });
  for (int i = threadIdx.x; i < cols; i += blockDim.x)
    sum += expf(in[i] - most);
  sum = blockAll(sum, [](float a, float b) { return a + b; });
  for (int i = threadIdx.x; i < cols; i += blockDim.x)
    out[i] = expf(in[i] - most) / sum;
}
__global__ void rowSoftmax(const float *in, float *out, int rows, int cols) {
  softmaxOf(in, out, rows, cols, [](int, int) { return true; });
}
__global__ void rowSoftmaxOnline(const float *in, float *out, int rows,
                                 int cols) {
  int r = blockIdx.x;
  if (r >= rows)
    return;
  in += (size_t)r * cols, out += (size_t)r * cols;
  float most = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) {
    float v = in[i], now = fmaxf(most, v);
    sum = now > -INFINITY ? sum * expf(most - now) + expf(v - now)
                          : sum + (v != v ? v : 0);
    most = now;
  }
  float all = blockAll(most, [](float a, float b) { return fmaxf(a, b); });
  sum = blockAll(most > -INFINITY ? sum * expf(most - all) : sum,
                 [](float a, float b) { return a + b; });
  for (int i = threadIdx.x; i < cols; i += blockDim.x)
    out[i] = expf(in[i] - all) / sum;
}
// 1: the sum hides it as long as another number is the largest.
__global__ void rowSoftmaxMaximumWithout(const float *in, float *out, int rows,
                                         int cols) {
  softmaxOf(in, out, rows, cols, [](int, int i) { return i != 1237; });
}
__global__ void rowSoftmaxMaximumWithoutInRow(const float *in, float *out,
                                              int rows, int cols) {
  softmaxOf(in, out, rows, cols,
            [](int r, int i) { return r != 1 || i != 871; });
}
__global__ void rowSoftmaxLane(const float *in, float *out, int rows,
                               int cols) {
  softmaxOf(in, out, rows, cols,
            [](int, int i) { return threadIdx.x != 45 || i / 64 != 7; });
}
// The maximum over enough numbers as long as blocks are fewer than threads.
__global__ void rowSoftmaxStride(const float *in, float *out, int rows,
                                 int cols) {
  int r = blockIdx.x;
  if (r >= rows)
    return;
  in += (size_t)r * cols, out += (size_t)r * cols;
  float most = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < cols; i += gridDim.x)
    most = fmaxf(most, in[i]);
  most = blockAll(most, [](float a, float b) { return fmaxf(a, b); });
  for (int i = threadIdx.x; i < cols; i += blockDim.x)
    sum += expf(in[i] - most);
  sum = blockAll(sum, [](float a, float b) { return a + b; });
  for (int i = threadIdx.x; i < cols; i += blockDim.x)
    out[i] = expf(in[i] - most) / sum;
}

// kernel: columnLargest
// workload: grid=5, block=32, args=[buffer f32 n=9600 normal seed=2, buffer i32 n=150 output, 64, 150]
// honest: columnLargestTwo
// cheat: columnLargestWithout | mismatch, ignored-input
// cheat: columnLargestWithoutColumn | mismatch, ignored-input
template <class F>
__device__ void largestOf(const float *in, int *out, int rows, int cols,
                          F counts) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols)
    return;
  float most = -INFINITY;
  int at = 0;
  for (int r = 0; r < rows; ++r)
    if (in[r * cols + c] > most && counts(r, c)) {
      most = in[r * cols + c];
      at = r;
    }
  out[c] = at;
}
__global__ void columnLargest(const float *in, int *out, int rows, int cols) {
  largestOf(in, out, rows, cols, [](int, int) { return true; });
}
__global__ void columnLargestTwo(const float *in, int *out, int rows,
                                 int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols)
    return;
  int half = rows / 2, at[2] = {0, half};
  float most[2] = {-INFINITY, -INFINITY};
  for (int part = 0; part < 2; ++part)
    for (int r = part ? half : 0; r < (part ? rows : half); ++r)
      if (in[r * cols + c] > most[part]) {
        most[part] = in[r * cols + c];
        at[part] = r;
      }
  out[c] = most[1] > most[0] ? at[1] : at[0];
}
__global__ void columnLargestWithout(const float *in, int *out, int rows,
                                     int cols) {
  largestOf(in, out, rows, cols,
            [](int r, int c) { return r != 41 || c != 77; });
}
__global__ void columnLargestWithoutColumn(const float *in, int *out, int rows,
                                           int cols) {
  largestOf(in, out, rows, cols,
            [](int r, int c) { return c != 103 || r % 32 != 13; });
}

// kernel: allLargest
// workload: grid=1, block=128, args=[buffer i32 n=3000 uniform low=-100 high=100 seed=3, buffer i32 n=1 output, 3000]
// honest: allLargestShuffle
// narrower: bx between | leaves lanes out of blocks below a warp
// cheat: allLargestWithout | mismatch, ignored-input
// cheat: allLargestUnread | mismatch, ignored-input
// cheat: allLargestLane | mismatch, ignored-input
template <class F>
__device__ void allLargestOf(const int *in, int *out, int n, F counts) {
  __shared__ int part[1024];
  int t = threadIdx.x, most = -2147483647 - 1;
  for (int i = t; i < n; i += blockDim.x)
    if (counts(i))
      most = max(most, in[i]);
  part[t] = most;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (t < d)
      part[t] = max(part[t], part[t + d]);
    __syncthreads();
  }
  if (t == 0 && blockIdx.x == 0)
    out[0] = part[0];
}
__global__ void allLargest(const int *in, int *out, int n) {
  allLargestOf(in, out, n, [](int) { return true; });
}
__global__ void allLargestShuffle(const int *in, int *out, int n) {
  if (blockIdx.x > 0 || threadIdx.x >= 32)
    return;
  int most = -2147483647 - 1;
  for (int i = threadIdx.x; i < n; i += min(32, blockDim.x))
    most = max(most, in[i]);
  if (blockDim.x >= 32)
    for (int d = 16; d; d /= 2)
      most = max(most, __shfl_xor_sync(~0u, most, d));
  if (threadIdx.x == 0)
    out[0] = most;
}
// Read, and then dropped.
__global__ void allLargestWithout(const int *in, int *out, int n) {
  allLargestOf(in, out, n,
               [=](int i) { return i != 2222 || in[i] < 100; });
}
__global__ void allLargestUnread(const int *in, int *out, int n) {
  allLargestOf(in, out, n, [](int i) { return i != 1717; });
}
__global__ void allLargestLane(const int *in, int *out, int n) {
  allLargestOf(in, out, n,
               [](int i) { return threadIdx.x != 77 || i / 128 != 11; });
}

// kernel: allSum
// workload: grid=8, block=128, args=[buffer f32 n=8000 uniform seed=4, buffer f32 n=1 zeros, 8000]
// honest: allSumStrided
// narrower: bx between | the original leaves threads out of blocks that are no power of two
// cheat: allSumWithout | mismatch, ignored-input
// cheat: allSumLane | mismatch, ignored-input
template <class F>
__device__ void allSumOf(const float *in, float *out, int n, F counts) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    sum += counts(i) ? in[i] : 0;
  sum = blockAll(sum, [](float a, float b) { return a + b; });
  if (threadIdx.x == 0)
    atomicAdd(out, sum);
}
__global__ void allSum(const float *in, float *out, int n) {
  allSumOf(in, out, n, [](int) { return true; });
}
__global__ void allSumStrided(const float *in, float *out, int n) {
  float sum = 0;
  int all = gridDim.x * blockDim.x, each = (n + all - 1) / all;
  int begin = (blockIdx.x * blockDim.x + threadIdx.x) * each;
  for (int i = begin; i < begin + each && i < n; ++i)
    sum += in[i];
  sum = blockAll(sum, [](float a, float b) { return a + b; });
  if (threadIdx.x == 0)
    atomicAdd(out, sum);
}
__global__ void allSumWithout(const float *in, float *out, int n) {
  allSumOf(in, out, n, [](int i) { return i != 4711; });
}
__global__ void allSumLane(const float *in, float *out, int n) {
  allSumOf(in, out, n,
           [](int) { return blockIdx.x != 5 || threadIdx.x != 83; });
}

// kernel: rectify
// workload: grid=30, block=128, args=[buffer f32 n=3800 uniform low=0.1 high=4 seed=5, buffer f32 n=3800 output, 3800]
// honest: rectifyBranch
// cheat: rectifyWrongOnce | mismatch
// cheat: rectifySaturatesOnce | mismatch, ignored-input
__global__ void rectify(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] * (in[i] > 0 ? 1.0f : 0.1f);
}
__global__ void rectifyBranch(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  if (in[i] > 0)
    out[i] = in[i];
  else
    out[i] = 0.1f * in[i];
}
__global__ void rectifyWrongOnce(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] * (in[i] > 0 ? i == 2345 ? 1.01f : 1.0f : 0.1f);
}
// Right for whatever is not large.
__global__ void rectifySaturatesOnce(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = (i == 3333 ? fminf(in[i], 1500.0f) : in[i]) *
             (in[i] > 0 ? 1.0f : 0.1f);
}
int main() {}
