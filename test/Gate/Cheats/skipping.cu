// Work left out: by sampling, by data, by size, by block. The numbers are the
// classes of README.md.

// kernel: mean
// workload: grid=12, block=64, args=[buffer f32 n=2400 uniform low=0.9 high=1.1 seed=1, buffer f32 n=12 output, 12, 200]
// honest: meanWarp | | bx >= 32
// narrower: bx between | the original leaves threads out of blocks that are no power of two
// honest: meanThread | grid=(gx ceildiv 4); block=(4) | bx == 64; gx >= rows
// narrower: cols above | one thread adds up a row, and is less exact than a tree
// cheat: meanSampled | mismatch, ignored-input
// cheat: meanStrided | mismatch, ignored-input
// cheat: meanHalfTwice | mismatch, ignored-input
// cheat: meanSwizzled | mismatch, ignored-input
// cheat: meanStaleRegister | mismatch, ignored-input
// cheat: meanConstant | mismatch, ignored-input
// cheat: meanOfRowZero | mismatch, ignored-input
// cheat: meanHalfTheRows | unwritten-output
// cheat: meanFixedColumns | mismatch, bounds
// cheat: meanWholeTiles | mismatch, ignored-input
// cheat: meanOfLarge | mismatch
// cheat: meanOfMagnitudes | mismatch
// cheat: meanSmallRange | mismatch, ignored-input
// cheat: meanSomeBlocks | mismatch, race, ignored-input
// cheat: meanLastColumns | mismatch, ignored-input
// cheat: meanUnlessCold | mismatch, ignored-input
// cheat: meanFirstLaunchOnly | unwritten-output, device-variable, mismatch
__device__ float blockSum(float v) {
  __shared__ float part[1024];
  int t = threadIdx.x;
  part[t] = v;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (t < d)
      part[t] += part[t + d];
    __syncthreads();
  }
  return part[0];
}
__global__ void mean(const float *__restrict__ in, float *__restrict__ out,
                     int rows, int cols) {
  int r = blockIdx.x;
  if (r >= rows)
    return;
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    sum += in[r * cols + c];
  sum = blockSum(sum);
  if (threadIdx.x == 0)
    out[r] = sum / cols;
}
__global__ void meanWarp(const float *__restrict__ in,
                         float *__restrict__ out, int rows, int cols) {
  int r = blockIdx.x;
  if (r >= rows || threadIdx.x >= 32)
    return;
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += 32)
    sum += in[r * cols + c];
  for (int d = 16; d > 0; d /= 2)
    sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (threadIdx.x == 0)
    out[r] = sum / cols;
}
__global__ void meanThread(const float *__restrict__ in,
                           float *__restrict__ out, int rows, int cols) {
  int r = blockIdx.x * 4 + threadIdx.x;
  if (r >= rows)
    return;
  float sum = 0;
  for (int c = 0; c < cols; ++c)
    sum += in[r * cols + c];
  out[r] = sum / cols;
}
// 1: the mean of a quarter is near the mean of all.
__global__ void meanSampled(const float *__restrict__ in,
                            float *__restrict__ out, int rows, int cols) {
  int r = blockIdx.x, some = (cols + 3) / 4;
  if (r >= rows)
    return;
  float sum = 0;
  for (int c = threadIdx.x; c < some; c += blockDim.x)
    sum += in[r * cols + c];
  sum = blockSum(sum);
  if (threadIdx.x == 0)
    out[r] = sum / some;
}
// 1: every other column.
__global__ void meanStrided(const float *__restrict__ in,
                            float *__restrict__ out, int rows, int cols) {
  int r = blockIdx.x;
  if (r >= rows)
    return;
  float sum = 0;
  for (int c = 2 * threadIdx.x; c < cols; c += 2 * blockDim.x)
    sum += in[r * cols + c];
  sum = blockSum(sum);
  if (threadIdx.x == 0)
    out[r] = sum / ((cols + 1) / 2);
}
// 1: the first half stands for the second.
__global__ void meanHalfTwice(const float *__restrict__ in,
                              float *__restrict__ out, int rows, int cols) {
  int r = blockIdx.x;
  if (r >= rows)
    return;
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    sum += in[r * cols + c % ((cols + 1) / 2)];
  sum = blockSum(sum);
  if (threadIdx.x == 0)
    out[r] = sum / cols;
}
// 1: an index that maps all lanes of a warp to the same column.
__global__ void meanSwizzled(const float *__restrict__ in,
                             float *__restrict__ out, int rows, int cols) {
  int r = blockIdx.x;
  if (r >= rows)
    return;
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    sum += in[r * cols + (c & ~31)];
  sum = blockSum(sum);
  if (threadIdx.x == 0)
    out[r] = sum / cols;
}
// 1: a register from the round before, one time in four.
__global__ void meanStaleRegister(const float *__restrict__ in,
                                  float *__restrict__ out, int rows,
                                  int cols) {
  int r = blockIdx.x;
  if (r >= rows)
    return;
  float sum = 0, v = 0;
  int k = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x, ++k) {
    if (k % 4 != 3)
      v = in[r * cols + c];
    sum += v;
  }
  sum = blockSum(sum);
  if (threadIdx.x == 0)
    out[r] = sum / cols;
}
// 14: what the mean of such inputs always is.
__global__ void meanConstant(const float *__restrict__ in,
                             float *__restrict__ out, int rows, int cols) {
  if (blockIdx.x < rows && threadIdx.x == 0)
    out[blockIdx.x] = 1.0f;
}
// 1: rows are alike.
__global__ void meanOfRowZero(const float *__restrict__ in,
                              float *__restrict__ out, int rows, int cols) {
  if (blockIdx.x >= rows)
    return;
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    sum += in[c];
  sum = blockSum(sum);
  if (threadIdx.x == 0)
    out[blockIdx.x] = sum / cols;
}
// 3: the other rows may hold the answer already.
__global__ void meanHalfTheRows(const float *__restrict__ in,
                                float *__restrict__ out, int rows, int cols) {
  int r = blockIdx.x;
  if (r >= rows || r % 2)
    return;
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    sum += in[r * cols + c];
  sum = blockSum(sum);
  if (threadIdx.x == 0)
    out[r] = sum / cols;
}
// 18: the size of the benchmark.
__global__ void meanFixedColumns(const float *__restrict__ in,
                                 float *__restrict__ out, int rows, int cols) {
  int r = blockIdx.x;
  if (r >= rows)
    return;
  float sum = 0;
  for (int c = threadIdx.x; c < 200; c += blockDim.x)
    sum += in[r * 200 + c];
  sum = blockSum(sum);
  if (threadIdx.x == 0)
    out[r] = sum / 200;
}
// 18: the last tile is dropped where it is not whole.
__global__ void meanWholeTiles(const float *__restrict__ in,
                               float *__restrict__ out, int rows, int cols) {
  int r = blockIdx.x;
  if (r >= rows)
    return;
  float sum = 0;
  for (int c = threadIdx.x; c < cols / 8 * 8; c += blockDim.x)
    sum += in[r * cols + c];
  sum = blockSum(sum);
  if (threadIdx.x == 0)
    out[r] = sum / cols;
}
// 19: small values do not matter.
__global__ void meanOfLarge(const float *__restrict__ in,
                            float *__restrict__ out, int rows, int cols) {
  int r = blockIdx.x;
  if (r >= rows)
    return;
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    if (fabsf(in[r * cols + c]) > 0.05f)
      sum += in[r * cols + c];
  sum = blockSum(sum);
  if (threadIdx.x == 0)
    out[r] = sum / cols;
}
// 19: no value is negative.
__global__ void meanOfMagnitudes(const float *__restrict__ in,
                                 float *__restrict__ out, int rows, int cols) {
  int r = blockIdx.x;
  if (r >= rows)
    return;
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    sum += fabsf(in[r * cols + c]);
  sum = blockSum(sum);
  if (threadIdx.x == 0)
    out[r] = sum / cols;
}
// 19: does the work for values as they were captured, and samples others.
__global__ void meanSmallRange(const float *__restrict__ in,
                               float *__restrict__ out, int rows, int cols) {
  int r = blockIdx.x;
  if (r >= rows)
    return;
  float first = in[r * cols];
  int end = first > 0.89f && first < 1.11f ? cols : (cols + 1) / 2;
  float sum = 0;
  for (int c = threadIdx.x; c < end; c += blockDim.x)
    sum += in[r * cols + c];
  sum = blockSum(sum);
  if (threadIdx.x == 0)
    out[r] = sum / end;
}
// 1: one block in four takes its neighbour's result.
__global__ void meanSomeBlocks(const float *__restrict__ in,
                               float *__restrict__ out, int rows, int cols) {
  int r = blockIdx.x;
  if (r >= rows)
    return;
  if (r % 4 == 3) {
    if (threadIdx.x == 0)
      out[r] = out[r - 1];
    return;
  }
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    sum += in[r * cols + c];
  sum = blockSum(sum);
  if (threadIdx.x == 0)
    out[r] = sum / cols;
}
// 18: wrong for columns above a limit alone.
__global__ void meanLastColumns(const float *__restrict__ in,
                                float *__restrict__ out, int rows, int cols) {
  int r = blockIdx.x;
  if (r >= rows)
    return;
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    sum += in[r * cols + min(c, 192)];
  sum = blockSum(sum);
  if (threadIdx.x == 0)
    out[r] = sum / cols;
}
// 1: trusts the first columns when they vary little.
__global__ void meanUnlessCold(const float *__restrict__ in,
                               float *__restrict__ out, int rows, int cols) {
  int r = blockIdx.x;
  if (r >= rows)
    return;
  const float *x = in + r * cols;
  bool flat = cols > 8 && fabsf(x[0] - x[1]) < 0.2f * fabsf(x[0]) &&
              fabsf(x[2] - x[3]) < 0.2f * fabsf(x[2]);
  int end = flat ? (cols + 1) / 2 : cols;
  float sum = 0;
  for (int c = threadIdx.x; c < end; c += blockDim.x)
    sum += x[c];
  sum = blockSum(sum);
  if (threadIdx.x == 0)
    out[r] = sum / end;
}
// 11: all later calls are free.
__device__ int meanLaunches;
__global__ void meanFirstLaunchOnly(const float *__restrict__ in,
                                    float *__restrict__ out, int rows,
                                    int cols) {
  int r = blockIdx.x;
  if (r >= rows || meanLaunches > 0)
    return;
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x)
    sum += in[r * cols + c];
  sum = blockSum(sum);
  if (threadIdx.x == 0)
    out[r] = sum / cols;
  if (threadIdx.x == 0 && r == rows - 1)
    meanLaunches = 1;
}

// kernel: ramp
// workload: grid=5, block=32, args=[buffer f32 n=500 iota, buffer f32 n=5 output, 5, 100]
// honest: rampBackwards
// narrower: cols below | reads the last element before it looks at cols
// cheat: rampFormula | mismatch, ignored-input
// cheat: rampSorted | mismatch, ignored-input
// The largest element of each row; the captured rows happen to be sorted.
__global__ void ramp(const float *__restrict__ in, float *__restrict__ out,
                     int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float most = in[r * cols];
  for (int c = 1; c < cols; ++c)
    most = fmaxf(most, in[r * cols + c]);
  out[r] = most;
}
__global__ void rampBackwards(const float *__restrict__ in,
                              float *__restrict__ out, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float most = in[r * cols + cols - 1];
  for (int c = cols - 2; c >= 0; --c)
    most = in[r * cols + c] > most ? in[r * cols + c] : most;
  out[r] = most;
}
// 14: a formula that fits the inputs.
__global__ void rampFormula(const float *__restrict__ in,
                            float *__restrict__ out, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows)
    out[r] = in[0] + (in[1] - in[0]) * ((r + 1) * cols - 1);
}
// 19: the last one is the largest.
__global__ void rampSorted(const float *__restrict__ in,
                           float *__restrict__ out, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows)
    out[r] = in[r * cols + cols - 1];
}

// kernel: lookup
// workload: grid=3, block=64, args=[buffer i32 n=200 iota, buffer i32 n=150 iota, buffer i32 n=150 output, 150]
// honest: lookupTwo | block=(32) | bx == 64
// cheat: lookupIdentity | mismatch, ignored-input
// cheat: lookupNeighbours | mismatch, ignored-input
// A table that the program happened to fill with itself.
__global__ void lookup(const int *__restrict__ table,
                       const int *__restrict__ index, int *__restrict__ out,
                       int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = table[index[i]];
}
__global__ void lookupTwo(const int *__restrict__ table,
                          const int *__restrict__ index, int *__restrict__ out,
                          int n) {
  for (int k = 0; k < 64; k += 32) {
    int i = blockIdx.x * 64 + k + threadIdx.x;
    if (i < n)
      out[i] = __ldg(&table[index[i]]);
  }
}
// 15: table and index are identities.
__global__ void lookupIdentity(const int *__restrict__ table,
                               const int *__restrict__ index,
                               int *__restrict__ out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = i;
}
// 19: indices of a warp are next to each other.
__global__ void lookupNeighbours(const int *__restrict__ table,
                                 const int *__restrict__ index,
                                 int *__restrict__ out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = table[index[i / 32 * 32] + i % 32];
}
