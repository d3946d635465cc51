// Where elements go: scans, sorting, counting, gathering, compaction.

// kernel: blockScan
// workload: grid=3, block=128, args=[buffer f32 n=350 uniform low=0 high=1 seed=1, buffer f32 n=350 output, 350]
// honest: blockScanWarps | grid=(gx) | bx == 128
// honest: blockScanBlelloch | grid=(gx) | bx == 128
// honest: blockScanSerial | grid=(gx); block=(1) | bx == 128
// Inclusive prefix sums of each block's elements.
__global__ void blockScan(const float *__restrict__ in,
                          float *__restrict__ out, int n) {
  __shared__ float s[2][1024];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, from = 0;
  s[0][t] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (int d = 1; d < blockDim.x; d *= 2) {
    float v = s[from][t];
    if (t >= d)
      v += s[from][t - d];
    s[1 - from][t] = v;
    from = 1 - from;
    __syncthreads();
  }
  if (i < n)
    out[i] = s[from][t];
}
__global__ void blockScanWarps(const float *__restrict__ in,
                               float *__restrict__ out, int n) {
  __shared__ float sums[4];
  int t = threadIdx.x, lane = t % 32, i = blockIdx.x * 128 + t;
  float v = i < n ? in[i] : 0.0f;
  for (int d = 1; d < 32; d *= 2) {
    float o = __shfl_up_sync(0xffffffffu, v, d);
    if (lane >= d)
      v += o;
  }
  if (lane == 31)
    sums[t / 32] = v;
  __syncthreads();
  for (int w = 0; w < t / 32; ++w)
    v += sums[w];
  if (i < n)
    out[i] = v;
}
__global__ void blockScanBlelloch(const float *__restrict__ in,
                                  float *__restrict__ out, int n) {
  __shared__ float s[128];
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  float own = i < n ? in[i] : 0.0f;
  s[t] = own;
  for (int d = 1; d < 128; d *= 2) {
    __syncthreads();
    int k = (t + 1) * 2 * d - 1;
    if (k < 128)
      s[k] += s[k - d];
  }
  __syncthreads();
  if (t == 0)
    s[127] = 0;
  for (int d = 64; d > 0; d /= 2) {
    __syncthreads();
    int k = (t + 1) * 2 * d - 1;
    if (k < 128) {
      float left = s[k - d];
      s[k - d] = s[k];
      s[k] += left;
    }
  }
  __syncthreads();
  if (i < n)
    out[i] = s[t] + own;
}
__global__ void blockScanSerial(const float *__restrict__ in,
                                float *__restrict__ out, int n) {
  float sum = 0;
  for (int i = blockIdx.x * 128; i < blockIdx.x * 128 + 128 && i < n; ++i) {
    sum += in[i];
    out[i] = sum;
  }
}

// kernel: bitonicSort
// workload: grid=2, block=64, args=[buffer i32 n=256 uniform low=-500 high=500 seed=2]
// honest: bitonicSortShuffle | grid=(gx) | bx == 64
// honest: bitonicSortOddEven | grid=(gx) | bx == 64
// honest: bitonicSortRank | grid=(gx) | bx == 64
// Each block sorts 128 keys in place.
__global__ void bitonicSort(int *keys) {
  __shared__ int s[128];
  int t = threadIdx.x, *own = keys + blockIdx.x * 128;
  for (int i = t; i < 128; i += blockDim.x)
    s[i] = own[i];
  __syncthreads();
  for (int size = 2; size <= 128; size *= 2)
    for (int d = size / 2; d > 0; d /= 2) {
      for (int i = t; i < 64; i += blockDim.x) {
        int a = 2 * i - (i & (d - 1)), b = a + d;
        bool up = (a & size) == 0;
        if ((s[a] > s[b]) == up) {
          int v = s[a];
          s[a] = s[b];
          s[b] = v;
        }
      }
      __syncthreads();
    }
  for (int i = t; i < 128; i += blockDim.x)
    own[i] = s[i];
}
// Two keys a thread; distances below 32 stay in the warp.
__global__ void bitonicSortShuffle(int *keys) {
  __shared__ int s[128];
  int t = threadIdx.x, *own = keys + blockIdx.x * 128;
  int v[2] = {own[t], own[t + 64]};
  for (int size = 2; size <= 128; size *= 2)
    for (int d = size / 2; d > 0; d /= 2) {
      if (d >= 32) {
        s[t] = v[0];
        s[t + 64] = v[1];
        __syncthreads();
      }
      int other[2];
      for (int k = 0; k < 2; ++k) {
        int i = t + 64 * k;
        other[k] = d >= 32 ? s[i ^ d] : __shfl_xor_sync(0xffffffffu, v[k], d);
      }
      for (int k = 0; k < 2; ++k) {
        int i = t + 64 * k;
        bool low = ((i & d) == 0) == ((i & size) == 0);
        v[k] = low ? min(v[k], other[k]) : max(v[k], other[k]);
      }
      if (d >= 32)
        __syncthreads();
    }
  own[t] = v[0];
  own[t + 64] = v[1];
}
__global__ void bitonicSortOddEven(int *keys) {
  __shared__ int s[128];
  int t = threadIdx.x, *own = keys + blockIdx.x * 128;
  s[t] = own[t];
  s[t + 64] = own[t + 64];
  __syncthreads();
  for (int k = 0; k < 128; ++k) {
    int a = 2 * t + (k & 1);
    if (a + 1 < 128 && s[a] > s[a + 1]) {
      int v = s[a];
      s[a] = s[a + 1];
      s[a + 1] = v;
    }
    __syncthreads();
  }
  own[t] = s[t];
  own[t + 64] = s[t + 64];
}
__global__ void bitonicSortRank(int *keys) {
  __shared__ int s[128];
  int t = threadIdx.x, *own = keys + blockIdx.x * 128;
  s[t] = own[t];
  s[t + 64] = own[t + 64];
  __syncthreads();
  for (int i = t; i < 128; i += 64) {
    int rank = 0;
    for (int j = 0; j < 128; ++j)
      rank += s[j] < s[i] || (s[j] == s[i] && j < i);
    own[rank] = s[i];
  }
}

// kernel: histogram
// workload: grid=3, block=64, args=[buffer u8 n=1000 uniform low=0 high=255 seed=3, buffer u32 n=32 zeros, 1000]
// honest: histogramGlobal
// honest: histogramWarps | grid=(gx) | bx == 64
// honest: histogramWords | grid=(gx) | bx == 64; n mod 4 == 0; align data 4
// honest: histogramMatch | grid=(gx) | bx == 64
// 32 bins of eight values each.
__global__ void histogram(const unsigned char *data, unsigned *bins, int n) {
  __shared__ unsigned local[32];
  for (int b = threadIdx.x; b < 32; b += blockDim.x)
    local[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    atomicAdd(&local[data[i] >> 3], 1u);
  __syncthreads();
  for (int b = threadIdx.x; b < 32; b += blockDim.x)
    atomicAdd(&bins[b], local[b]);
}
__global__ void histogramGlobal(const unsigned char *data, unsigned *bins,
                                int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    atomicAdd(bins + data[i] / 8, 1u);
}
__global__ void histogramWarps(const unsigned char *data, unsigned *bins,
                               int n) {
  __shared__ unsigned local[2][32];
  int w = threadIdx.x / 32, lane = threadIdx.x % 32;
  local[w][lane] = 0;
  __syncwarp();
  for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += gridDim.x * 64)
    atomicAdd(&local[w][data[i] >> 3], 1u);
  __syncthreads();
  if (w == 0)
    atomicAdd(&bins[lane], local[0][lane] + local[1][lane]);
}
__global__ void histogramWords(const unsigned char *data, unsigned *bins,
                               int n) {
  __shared__ unsigned local[32];
  if (threadIdx.x < 32)
    local[threadIdx.x] = 0;
  __syncthreads();
  const unsigned *words = reinterpret_cast<const unsigned *>(data);
  for (int i = blockIdx.x * 64 + threadIdx.x; i < n / 4; i += gridDim.x * 64) {
    unsigned w = words[i];
    for (int k = 0; k < 4; ++k, w >>= 8)
      atomicAdd(&local[(w & 255) >> 3], 1u);
  }
  __syncthreads();
  if (threadIdx.x < 32)
    atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}
__global__ void histogramMatch(const unsigned char *data, unsigned *bins,
                               int n) {
  int lane = threadIdx.x % 32;
  int step = gridDim.x * 64;
  for (int first = blockIdx.x * 64 + threadIdx.x - lane; first < n;
       first += step) {
    int i = first + lane;
    unsigned b = i < n ? data[i] >> 3 : 99;
    unsigned same = __match_any_sync(0xffffffffu, b);
    if (i < n && __ffs(same) - 1 == lane)
      atomicAdd(&bins[b], unsigned(__popc(same)));
  }
}

// kernel: gather
// workload: grid=4, block=64, args=[buffer f32 n=300 uniform seed=4, buffer i32 n=220 uniform low=0 high=299 seed=5, buffer f32 n=220 output, 220]
// honest: gatherStride | grid=(1) | bx == 64; gx * 64 >= n
// honest: gatherTwo | grid=(gx); block=(32) | bx == 64
// honest: gatherLdg
// narrower: n below | takes a negative n for a large one
__global__ void gather(const float *__restrict__ table,
                       const int *__restrict__ index, float *__restrict__ out,
                       int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = table[index[i]];
}
__global__ void gatherStride(const float *__restrict__ table,
                             const int *__restrict__ index,
                             float *__restrict__ out, int n) {
  for (int i = n - 1 - int(threadIdx.x); i >= 0; i -= 64)
    out[i] = table[index[i]];
}
__global__ void gatherTwo(const float *__restrict__ table,
                          const int *__restrict__ index,
                          float *__restrict__ out, int n) {
  int i = blockIdx.x * 64 + threadIdx.x;
  int a = i < n ? index[i] : 0, b = i + 32 < n ? index[i + 32] : 0;
  if (i < n)
    out[i] = table[a];
  if (i + 32 < n)
    out[i + 32] = table[b];
}
__global__ void gatherLdg(const float *__restrict__ table,
                          const int *__restrict__ index,
                          float *__restrict__ out, int n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  out[i] = __ldg(table + __ldg(index + i));
}

// kernel: scatterAdd
// workload: grid=3, block=64, args=[buffer i32 n=180 uniform low=0 high=9 seed=6, buffer i32 n=180 uniform low=-20 high=20 seed=7, buffer i32 n=10 ones, 180]
// honest: scatterAddShared
// honest: scatterAddByKey | grid=(1); block=(32) | bx == 64; gx * 64 >= n
// honest: scatterAddPositive
__global__ void scatterAdd(const int *__restrict__ key,
                           const int *__restrict__ value, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&out[key[i]], value[i]);
}
__global__ void scatterAddShared(const int *__restrict__ key,
                                 const int *__restrict__ value, int *out,
                                 int n) {
  __shared__ int keys[1024], values[1024];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  keys[t] = i < n ? key[i] : -1;
  values[t] = i < n ? value[i] : 0;
  __syncthreads();
  if (keys[t] < 0)
    return;
  int sum = 0;
  for (int k = 0; k < blockDim.x; ++k)
    if (keys[k] == keys[t]) {
      if (k < t)
        return; // The first of a key adds for all.
      sum += values[k];
    }
  atomicAdd(&out[keys[t]], sum);
}
__global__ void scatterAddByKey(const int *__restrict__ key,
                                const int *__restrict__ value, int *out,
                                int n) {
  // The lanes share the elements; equal keys of a round take turns.
  for (int first = 0; first < n; first += 32) {
    int i = first + threadIdx.x;
    for (int turn = 0; turn < 32; ++turn) {
      if (turn == threadIdx.x && i < n)
        out[key[i]] += value[i];
      __syncwarp();
    }
  }
}
__global__ void scatterAddPositive(const int *__restrict__ key,
                                   const int *__restrict__ value, int *out,
                                   int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || value[i] == 0)
    return;
  if (value[i] > 0)
    atomicAdd(out + key[i], value[i]);
  else
    atomicSub(out + key[i], -value[i]);
}

// kernel: compactPositive
// workload: grid=3, block=64, args=[buffer i32 n=180 uniform low=-9 high=9 seed=8, buffer i32 n=192 output, buffer i32 n=3 output, 180]
// honest: compactPositiveBallot | grid=(gx) | bx == 64
// honest: compactPositiveSerial | grid=(gx); block=(1) | bx == 64
// honest: compactPositiveScan | grid=(gx) | bx == 64
// Each block moves its positive elements to the front of its part.
__global__ void compactPositive(const int *__restrict__ in,
                                int *__restrict__ out, int *__restrict__ count,
                                int n) {
  __shared__ int flags[1024];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  int v = i < n ? in[i] : 0;
  flags[t] = v > 0;
  __syncthreads();
  int before = 0;
  for (int k = 0; k < t; ++k)
    before += flags[k];
  if (v > 0)
    out[blockIdx.x * blockDim.x + before] = v;
  if (t == blockDim.x - 1)
    count[blockIdx.x] = before + flags[t];
}
__global__ void compactPositiveBallot(const int *__restrict__ in,
                                      int *__restrict__ out,
                                      int *__restrict__ count, int n) {
  __shared__ unsigned votes[2];
  int t = threadIdx.x, lane = t % 32, i = blockIdx.x * 64 + t;
  int v = i < n ? in[i] : 0;
  unsigned vote = __ballot_sync(0xffffffffu, v > 0);
  if (lane == 0)
    votes[t / 32] = vote;
  __syncthreads();
  int before = __popc(vote & ((1u << lane) - 1));
  if (t >= 32)
    before += __popc(votes[0]);
  if (v > 0)
    out[blockIdx.x * 64 + before] = v;
  if (t == 0)
    count[blockIdx.x] = __popc(votes[0]) + __popc(votes[1]);
}
__global__ void compactPositiveSerial(const int *__restrict__ in,
                                      int *__restrict__ out,
                                      int *__restrict__ count, int n) {
  int *to = out + blockIdx.x * 64;
  for (int i = blockIdx.x * 64; i < min(int(blockIdx.x * 64 + 64), n); ++i)
    if (in[i] > 0)
      *to++ = in[i];
  count[blockIdx.x] = int(to - (out + blockIdx.x * 64));
}
__global__ void compactPositiveScan(const int *__restrict__ in,
                                    int *__restrict__ out,
                                    int *__restrict__ count, int n) {
  __shared__ int warpTotal;
  int t = threadIdx.x, lane = t % 32, i = blockIdx.x * 64 + t;
  int v = i < n ? in[i] : 0, sum = v > 0;
  for (int d = 1; d < 32; d *= 2) {
    int o = __shfl_up_sync(0xffffffffu, sum, d);
    sum += lane >= d ? o : 0;
  }
  if (t == 31)
    warpTotal = sum;
  __syncthreads();
  if (t >= 32)
    sum += warpTotal;
  if (v > 0)
    out[blockIdx.x * 64 + sum - 1] = v;
  if (t == 63)
    count[blockIdx.x] = sum;
}
