// What only the ends show: the last elements of rows that are a little longer
// than the recorded ones, many blocks with work for all of them, arguments
// between the magnitudes that are tried first. All wrong kernels here are right
// for the recorded launch.

// kernel: logShares
// workload: grid=2, block=32, args=[buffer f32 n=1280 normal seed=1, buffer f32 n=40 output, 40, 32]
// honest: logSharesTwo
// honest: logSharesBackwards
// cheat: logSharesRecorded | mismatch
// A wrong maximum only matters where it is far too small.
__global__ void logShares(const float *__restrict__ x, float *__restrict__ y,
                          int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float most = x[r * n];
  for (int c = 1; c < n; ++c)
    most = x[r * n + c] > most ? x[r * n + c] : most;
  float sum = 0;
  for (int c = 0; c < n; ++c)
    sum += expf(x[r * n + c] - most);
  y[r] = most + logf(sum);
}
__global__ void logSharesTwo(const float *__restrict__ x, float *__restrict__ y,
                             int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  const float *row = x + r * n;
  float most = row[0], a = 0, b = 0;
  for (int c = 1; c < n; ++c)
    if (row[c] > most)
      most = row[c];
  for (int c = 0; c + 1 < n; c += 2) {
    a += expf(row[c] - most);
    b += expf(row[c + 1] - most);
  }
  y[r] = most + logf(n % 2 ? a + b + expf(row[n - 1] - most) : a + b);
}
__global__ void logSharesBackwards(const float *__restrict__ x,
                                   float *__restrict__ y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  const float *row = x + r * n;
  float most = row[0], sum = 0;
  for (int c = n - 1; c > 0; --c)
    if (row[c] > most)
      most = row[c];
  for (int c = n - 1; c >= 0; --c)
    sum += expf(row[c] - most);
  y[r] = most + logf(sum);
}
// The largest of the first 32 alone.
__global__ void logSharesRecorded(const float *__restrict__ x,
                                  float *__restrict__ y, int rows, int n) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows)
    return;
  float most = x[r * n];
  for (int c = 1; c < n && c < 32; ++c)
    most = x[r * n + c] > most ? x[r * n + c] : most;
  float sum = 0;
  for (int c = 0; c < n; ++c)
    sum += expf(x[r * n + c] - most);
  y[r] = most + logf(sum);
}

// kernel: totalOf
// workload: grid=4, block=64, args=[buffer f32 n=700 uniform seed=2, buffer f32 n=4 output, buffer u32 n=1 zeros, buffer f32 n=1 output, 700]
// honest: totalOfPairs
// bounded: totalOfThousand
// outside: grid=1030, block=64, args=[buffer f32 n=70000 uniform low=0.5 high=1 seed=2, buffer f32 n=1030 output, buffer u32 n=1 zeros, buffer f32 n=1 output, 70000]
// The last block adds up what all blocks left.
__device__ bool isLast(const float *in, volatile float *partial,
                       unsigned *counter, int n) {
  __shared__ float part[1024];
  __shared__ bool last;
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    sum += in[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    sum = 0;
    for (int t = 0; t < blockDim.x; ++t)
      sum += part[t];
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(counter, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  return last && threadIdx.x == 0;
}
__global__ void totalOf(const float *__restrict__ in, volatile float *partial,
                        unsigned *counter, float *out, int n) {
  if (!isLast(in, partial, counter, n))
    return;
  __threadfence();
  float total = 0;
  for (int b = 0; b < gridDim.x; ++b)
    total += partial[b];
  *out = total;
  *counter = 0;
}
__global__ void totalOfPairs(const float *__restrict__ in,
                             volatile float *partial, unsigned *counter,
                             float *out, int n) {
  if (!isLast(in, partial, counter, n))
    return;
  __threadfence();
  float even = 0, odd = 0;
  for (int b = 0; b < gridDim.x; b += 2) {
    even += partial[b];
    if (b + 1 < gridDim.x)
      odd += partial[b + 1];
  }
  *out = even + odd;
  *counter = 0;
}
__global__ void totalOfThousand(const float *__restrict__ in,
                                volatile float *partial, unsigned *counter,
                                float *out, int n) {
  if (!isLast(in, partial, counter, n))
    return;
  __threadfence();
  float total = 0;
  for (int b = 0; b < min(int(gridDim.x), 1024); ++b)
    total += partial[b];
  *out = total;
  *counter = 0;
}

// kernel: pull
// workload: grid=1, block=64, args=[buffer f32 n=64 uniform seed=3, buffer f32 n=64 output, 64, 0.0005]
// honest: pullDivided
// bounded: pullFlushed
// outside: grid=1, block=64, args=[buffer f32 n=64 uniform low=0.5 high=1 seed=3, buffer f32 n=64 output, 64, 8796093022208]
// For a large distance the result is denormal.
__global__ void pull(const float *__restrict__ x, float *__restrict__ y, int n,
                     float distance) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float inverse = 1.0f / (distance + 0.001f);
  y[i] = x[i] * x[i] * inverse * inverse * inverse;
}
__global__ void pullDivided(const float *__restrict__ x, float *__restrict__ y,
                            int n, float distance) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float inverse = 1.0f / (distance + 0.001f), part = inverse * x[i];
  y[i] = part * x[i] * inverse * inverse;
}
__global__ void pullFlushed(const float *__restrict__ x, float *__restrict__ y,
                            int n, float distance) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float inverse = 1.0f / (distance + 0.001f);
  float v = x[i] * x[i] * inverse * inverse * inverse;
  y[i] = fabsf(v) < 0x1p-126f ? copysignf(0.0f, v) : v;
}
