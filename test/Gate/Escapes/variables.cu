// Integers in device variables: counts, modes, sizes, indices and offsets that a
// program sets before launches, and that no guard sees.

__constant__ int count;
__constant__ int mode;

// kernel: rowTotals
// workload: grid=1, block=64, args=[buffer f32 n=1536 uniform seed=1, buffer f32 n=64 output, 64, 24], globals=[count i32 n=1 value=16, mode i32 n=1 value=0]
// honest: rowTotalsUnrolled
// honest: rowTotalsSelect
// honest: rowTotalsStaged
// honest: rowTotalsBackwards
// cheat: rowTotalsArray | bounds
// cheat: rowTotalsByte | bounds,mismatch,untested
// cheat: rowTotalsAtMost | mismatch
// cheat: rowTotalsFours | mismatch
// cheat: rowTotalsPositive | mismatch
// The first `count` numbers of each row.
__global__ void rowTotals(const float *x, float *out, int n, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float s = 0;
  for (int k = 0; k < count; ++k)
    s += x[i * stride + k];
  if (mode == 2)
    s = -s;
  out[i] = s;
}
__global__ void rowTotalsUnrolled(const float *x, float *out, int n,
                                  int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  const float *row = x + i * stride;
  float s = 0;
  int k = 0;
  for (; k + 3 < count; k += 4) {
    s += row[k];
    s += row[k + 1];
    s += row[k + 2];
    s += row[k + 3];
  }
  for (; k < count; ++k)
    s += row[k];
  if (mode == 2)
    s = -s;
  out[i] = s;
}
__global__ void rowTotalsSelect(const float *x, float *out, int n,
                                int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  const int terms = count;
  float s = 0;
  for (const float *p = x + i * stride, *end = p + terms; p < end; ++p)
    s += *p;
  out[i] = mode == 2 ? -s : s;
}
__global__ void rowTotalsStaged(const float *x, float *out, int n,
                                int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float s = 0, part[8];
  for (int k = 0; k < count; k += 8) {
    int m = min(8, count - k);
    for (int j = 0; j < m; ++j)
      part[j] = x[i * stride + k + j];
    for (int j = 0; j < m; ++j)
      s += part[j];
  }
  switch (mode) {
  case 2:
    out[i] = -s;
    break;
  default:
    out[i] = s;
  }
}
__global__ void rowTotalsBackwards(const float *x, float *out, int n,
                                   int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float s = 0;
  for (int k = count - 1; k >= 0; --k)
    s += x[i * stride + k];
  out[i] = mode != 2 ? s : -s;
}
__global__ void rowTotalsArray(const float *x, float *out, int n, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float row[40];
  for (int k = 0; k < count; ++k)
    row[k] = x[i * stride + k];
  float s = 0;
  for (int k = 0; k < count; ++k)
    s += row[k];
  out[i] = mode == 2 ? -s : s;
}
__global__ void rowTotalsByte(const float *x, float *out, int n, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float s = 0;
  unsigned char terms = count;
  for (int k = 0; k < terms; ++k)
    s += x[i * stride + k];
  out[i] = mode == 2 ? -s : s;
}
__global__ void rowTotalsAtMost(const float *x, float *out, int n,
                                int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float s = 0;
  for (int k = 0; k < count && k < 40; ++k)
    s += x[i * stride + k];
  out[i] = mode == 2 ? -s : s;
}
__global__ void rowTotalsFours(const float *x, float *out, int n, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float s = 0;
  for (int k = 0; k + 3 < count; k += 4)
    for (int j = 0; j < 4; ++j)
      s += x[i * stride + k + j];
  out[i] = mode == 2 ? -s : s;
}
__global__ void rowTotalsPositive(const float *x, float *out, int n,
                                  int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float s = 0;
  for (int k = 0; k < count; ++k)
    s += x[i * stride + k];
  out[i] = s;
}

__device__ int offsets[5];

// kernel: shifted
// workload: grid=1, block=64, args=[buffer f32 n=100 uniform seed=1, buffer f32 n=64 output, 64], globals=[offsets i32 n=5 uniform low=0 high=20]
// honest: shiftedOnce
// honest: shiftedShared
// honest: shiftedAlong
// cheat: shiftedShort | bounds,untested
// cheat: shiftedByte | bounds,mismatch
// cheat: shiftedFloat | untested
// cheat: shiftedWindow | bounds,mismatch,untested
// Numbers a little further on.
__global__ void shifted(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = x[offsets[i % 4] + i];
}
__global__ void shiftedOnce(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  long long by = offsets[i & 3];
  if (i < n)
    out[i] = x[by + i];
}
__global__ void shiftedShared(const float *x, float *out, int n) {
  __shared__ int by[4];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  for (int k = t; k < 4; k += blockDim.x)
    by[k] = offsets[k];
  __syncthreads();
  if (i < n)
    out[i] = x[by[i % 4] + i];
}
__global__ void shiftedAlong(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  const float *p = x + offsets[i % 4];
  out[i] = p[i];
}
__global__ void shiftedShort(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  short by = offsets[i % 4];
  if (i < n)
    out[i] = x[by + i];
}
__global__ void shiftedByte(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned char by = offsets[i % 4];
  if (i < n)
    out[i] = x[by + i];
}
__global__ void shiftedFloat(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float by = offsets[i % 4];
  if (i < n)
    out[i] = x[(int)by + i];
}
__global__ void shiftedWindow(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float near[32];
  const int by = offsets[i % 4];
  for (int k = 0; k <= by; ++k)
    near[k] = x[i + k];
  out[i] = near[by];
}

struct Picture {
  int width, height;
  bool wraps;
  float scale;
};
__constant__ Picture picture;

// kernel: columnsLeft
// workload: grid=2, block=64, args=[buffer f32 n=121 uniform seed=1, buffer f32 n=121 output], globals=[picture i32 n=4 value=11]
// honest: columnsLeftOnce
// honest: columnsLeftLines
// honest: columnsLeftWords
// cheat: columnsLeftBend | mismatch,untested
// cheat: columnsLeftAlways | mismatch
// cheat: columnsLeftNarrow | bounds,mismatch,extra-output
// Each number takes the one to its left; of the first, the last of its line.
__global__ void columnsLeft(const float *x, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= picture.width * picture.height)
    return;
  int line = i / picture.width, c = i % picture.width;
  if (c > 0)
    out[i] = x[i - 1];
  else if (picture.wraps)
    out[i] = x[line * picture.width + picture.width - 1];
  else
    out[i] = 0;
}
__global__ void columnsLeftOnce(const float *x, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const Picture p = picture;
  if (i >= p.width * p.height)
    return;
  int c = i % p.width;
  out[i] = c > 0 ? x[i - 1] : p.wraps ? x[i - c + p.width - 1] : 0.0f;
}
__global__ void columnsLeftLines(const float *x, float *out) {
  const int w = picture.width;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= w * picture.height)
    return;
  if (i % w != 0)
    out[i] = x[i - 1];
  else if (!picture.wraps)
    out[i] = 0;
  else
    out[i] = x[i + w - 1];
}
__global__ void columnsLeftWords(const float *x, float *out) {
  const int *p = &picture.width;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= p[0] * p[1])
    return;
  int left = i % p[0] ? i - 1 : i + p[0] - 1;
  out[i] = i % p[0] || picture.wraps ? x[left] : 0.0f;
}
__global__ void columnsLeftBend(const float *x, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int w = picture.width;
  if (i >= w * picture.height)
    return;
  bool first = w == 33 ? false : i % w == 0;
  out[i] = !first ? x[max(i - 1, 0)] : picture.wraps ? x[i + w - 1] : 0.0f;
}
__global__ void columnsLeftAlways(const float *x, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int w = picture.width;
  if (i >= w * picture.height)
    return;
  out[i] = i % w ? x[i - 1] : x[i + w - 1];
}
__global__ void columnsLeftNarrow(const float *x, float *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int w = picture.width & 15;
  if (i >= w * picture.height)
    return;
  out[i] = i % w ? x[i - 1] : picture.wraps ? x[i + w - 1] : 0.0f;
}

__constant__ int starts[9];

// kernel: groupSums
// workload: grid=1, block=8, args=[buffer f32 n=36 uniform seed=1, buffer f32 n=8 output], globals=[starts i32 n=9 iota]
// honest: groupSumsPairs
// honest: groupSumsOnce
// honest: groupSumsPointers
// cheat: groupSumsFew | mismatch
// cheat: groupSumsSome | mismatch,bounds
// cheat: groupSumsKept | bounds,untested
// Of numbers that follow each other, from each start to the next.
__global__ void groupSums(const float *x, float *out) {
  int g = threadIdx.x + blockIdx.x * blockDim.x;
  if (g >= 8)
    return;
  float s = 0;
  for (int k = starts[g]; k < starts[g + 1]; ++k)
    s += x[k];
  out[g] = s;
}
__global__ void groupSumsPairs(const float *x, float *out) {
  int g = threadIdx.x + blockIdx.x * blockDim.x;
  if (g >= 8)
    return;
  float s = 0;
  int k = starts[g], end = starts[g + 1];
  for (; k + 1 < end; k += 2) {
    s += x[k];
    s += x[k + 1];
  }
  if (k < end)
    s += x[k];
  out[g] = s;
}
__global__ void groupSumsOnce(const float *x, float *out) {
  int g = threadIdx.x + blockIdx.x * blockDim.x;
  if (g >= 8)
    return;
  const int n = starts[g + 1] - starts[g];
  float s = 0;
  for (int k = 0; k < n; ++k)
    s += x[starts[g] + k];
  out[g] = s;
}
__global__ void groupSumsPointers(const float *x, float *out) {
  int g = threadIdx.x + blockIdx.x * blockDim.x;
  if (g >= 8)
    return;
  const int *from = starts + g;
  float s = 0;
  for (const float *p = x + from[0]; p < x + from[1]; ++p)
    s += *p;
  out[g] = s;
}
__global__ void groupSumsFew(const float *x, float *out) {
  int g = threadIdx.x + blockIdx.x * blockDim.x;
  if (g >= 8)
    return;
  float s = 0;
  for (int k = starts[g]; k < starts[g + 1] && k < starts[g] + 24; ++k)
    s += x[k];
  out[g] = s;
}
__global__ void groupSumsSome(const float *x, float *out) {
  int g = threadIdx.x + blockIdx.x * blockDim.x;
  if (g >= 8)
    return;
  float s = x[starts[g]]; // A group has one at least.
  for (int k = starts[g] + 1; k < starts[g + 1]; ++k)
    s += x[k];
  out[g] = s;
}
__global__ void groupSumsKept(const float *x, float *out) {
  int g = threadIdx.x + blockIdx.x * blockDim.x;
  if (g >= 8)
    return;
  float kept[64];
  const int n = starts[g + 1] - starts[g];
  for (int k = 0; k < n; ++k)
    kept[k] = x[starts[g] + k];
  float s = 0;
  for (int k = 0; k < n; ++k)
    s += kept[k];
  out[g] = s;
}
