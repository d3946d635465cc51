// REQUIRES: cuda-toolkit
//
// shared_memory_tiling: an array that all threads read from the first to the last element comes by tiles.
//
// RUN: cupilot translate %s --genome="shared_memory_tiling{tile=32}" -- -O2 \
// RUN:   | FileCheck --match-full-lines %s
// RUN: not cupilot translate %s --only=everyThread --genome="shared_memory_tiling{tile=0}" -- -O2 | FileCheck %s --check-prefix=TILE

struct Body {
  float x, y, z, mass;
};
__global__ void pairs(const Body *__restrict__ bodies, float *__restrict__ a, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count)
    return;
  Body me = bodies[i];
  float s = 0;
  for (int j = 0; j < count; ++j) {
    float d = bodies[j].x - me.x;
    s += d * bodies[j].mass;
  }
  a[i] = s;
}
// CHECK-LABEL: kernel: pairs(const Body *, float *, int)
// CHECK: guard: s0 + -1 >= 0
// CHECK: guard: (s0 * -1) + 2147483583 >= 0
// CHECK: guard: (shared * -1) + 48640 >= 0
// CHECK: source:
// CHECK: struct Body {
// CHECK:   float x, y, z, mass;
// CHECK: };
// CHECK: __global__ void pairs(const Body *__restrict__ bodies, float *__restrict__ a, int count) {
// CHECK:   int i = blockIdx.x * blockDim.x + threadIdx.x;
// CHECK:   const bool cupilot_active = !(i >= count);
// CHECK:   Body me = cupilot_active ? (bodies[i]) : static_cast<Body>(Body{});
// CHECK:   float s = 0;
// CHECK:   __shared__ Body cupilot_tile[32];
// CHECK: for (int cupilot_start = 0; cupilot_start < (count); cupilot_start += 32) {
// CHECK:   __syncthreads();
// CHECK:   for (unsigned int cupilot_step = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); cupilot_step < 32 && cupilot_start + static_cast<int>(cupilot_step) < (count); cupilot_step += blockDim.x * blockDim.y * blockDim.z) {
// CHECK:     cupilot_tile[cupilot_step] = bodies[cupilot_start + cupilot_step];
// CHECK:   }
// CHECK:   __syncthreads();
// CHECK:   const int cupilot_end = (count) - cupilot_start < 32 ? (count) : cupilot_start + 32;
// CHECK:   if (cupilot_active)
// CHECK:   for (int j = cupilot_start; j < cupilot_end; ++j) {
// CHECK:     float d = cupilot_tile[j - cupilot_start].x - me.x;
// CHECK:     s += d * cupilot_tile[j - cupilot_start].mass;
// CHECK:   }
// CHECK: }
// CHECK:   if (cupilot_active) {
// CHECK: a[i] = s;
// CHECK: }
// CHECK: }
// CHECK: end of source

template <typename T> __global__ void filter(const T *in, const T *weights, T *out, int n, unsigned taps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    T s = 0;
    for (unsigned k = 0; k < taps; k++)
      s += weights[k] * in[i + k];
    out[i] = s;
  }
}
template __global__ void filter(const double *, const double *, double *, int, unsigned);
// CHECK-LABEL: kernel: filter<double>(const double *, const double *, double *, int, unsigned int)
// CHECK: guard: s1 >= 0
// CHECK: guard: (s1 * -1) + 2147483648 >= 0
// CHECK: guard: (s0 * -1) + 2147483648 >= 0
// CHECK: guard: s0 + -1 >= 0
// CHECK: guard: (s1 * -1) + 2147483583 >= 0
// CHECK: guard: (shared * -1) + 48896 >= 0
// CHECK: disjoint: weights [s1 * 8], out [s0 * 8]
// CHECK: source:
// CHECK: template <typename T> __global__ void filter(const T *in, const T *weights, T *out, int n, unsigned taps) {
// CHECK:   int i = blockIdx.x * blockDim.x + threadIdx.x;
// CHECK:   const bool cupilot_active = (i < n);
// CHECK: {
// CHECK:     T s = 0;
// CHECK:     __shared__ double cupilot_tile[32];
// CHECK: for (unsigned int cupilot_start = 0; cupilot_start < (taps); cupilot_start += 32) {
// CHECK:   __syncthreads();
// CHECK:   for (unsigned int cupilot_step = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); cupilot_step < 32 && cupilot_start + static_cast<unsigned int>(cupilot_step) < (taps); cupilot_step += blockDim.x * blockDim.y * blockDim.z) {
// CHECK:     cupilot_tile[cupilot_step] = weights[cupilot_start + cupilot_step];
// CHECK:   }
// CHECK:   __syncthreads();
// CHECK:   const unsigned int cupilot_end = (taps) - cupilot_start < 32 ? (taps) : cupilot_start + 32;
// CHECK:   if (cupilot_active)
// CHECK:   for (unsigned int k = cupilot_start; k < cupilot_end; ++k) s += cupilot_tile[k - cupilot_start] * in[i + k];
// CHECK: }
// CHECK:     if (cupilot_active) {
// CHECK: out[i] = s;
// CHECK: }
// CHECK:   }
// CHECK: }
// CHECK: template __global__ void filter<double>(const double *, const double *, double *, int, unsigned int);
// CHECK: end of source

__global__ void everyThread(const int *__restrict__ t, int *__restrict__ out, int m) {
  int s = 0;
  for (int j = 0; j < m; ++j)
    s ^= t[j];
  out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
// CHECK-LABEL: kernel: everyThread(const int *, int *, int)
// CHECK: guard: (s0 * -1) + 2147483583 >= 0
// CHECK: guard: (shared * -1) + 49024 >= 0
// CHECK: source:
// CHECK: __global__ void everyThread(const int *__restrict__ t, int *__restrict__ out, int m) {
// CHECK:   int s = 0;
// CHECK:   __shared__ int cupilot_tile[32];
// CHECK: for (int cupilot_start = 0; cupilot_start < (m); cupilot_start += 32) {
// CHECK:   __syncthreads();
// CHECK:   for (unsigned int cupilot_step = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); cupilot_step < 32 && cupilot_start + static_cast<int>(cupilot_step) < (m); cupilot_step += blockDim.x * blockDim.y * blockDim.z) {
// CHECK:     cupilot_tile[cupilot_step] = t[cupilot_start + cupilot_step];
// CHECK:   }
// CHECK:   __syncthreads();
// CHECK:   const int cupilot_end = (m) - cupilot_start < 32 ? (m) : cupilot_start + 32;
// CHECK:   for (int j = cupilot_start; j < cupilot_end; ++j) s ^= cupilot_tile[j - cupilot_start];
// CHECK: }
// CHECK:   out[blockIdx.x * blockDim.x + threadIdx.x] = s;
// CHECK: }
// CHECK: end of source

__global__ void ldg(const float *t, float *__restrict__ out, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float s = 0;
    for (int j = 0; j < m; ++j)
      s += __ldg(&t[j]) * __ldg(t + j);
    out[i] = s;
  }
}
// CHECK-LABEL: kernel: ldg(const float *, float *, int, int)
// CHECK: guard: s0 + -1 >= 0
// CHECK: guard: (s1 * -1) + 2147483583 >= 0
// CHECK: guard: (shared * -1) + 49024 >= 0
// CHECK: source:
// CHECK: __global__ void ldg(const float *t, float *__restrict__ out, int n, int m) {
// CHECK:   int i = blockIdx.x * blockDim.x + threadIdx.x;
// CHECK:   const bool cupilot_active = (i < n);
// CHECK: {
// CHECK:     float s = 0;
// CHECK:     __shared__ float cupilot_tile[32];
// CHECK: for (int cupilot_start = 0; cupilot_start < (m); cupilot_start += 32) {
// CHECK:   __syncthreads();
// CHECK:   for (unsigned int cupilot_step = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); cupilot_step < 32 && cupilot_start + static_cast<int>(cupilot_step) < (m); cupilot_step += blockDim.x * blockDim.y * blockDim.z) {
// CHECK:     cupilot_tile[cupilot_step] = t[cupilot_start + cupilot_step];
// CHECK:   }
// CHECK:   __syncthreads();
// CHECK:   const int cupilot_end = (m) - cupilot_start < 32 ? (m) : cupilot_start + 32;
// CHECK:   if (cupilot_active)
// CHECK:   for (int j = cupilot_start; j < cupilot_end; ++j) s += cupilot_tile[j - cupilot_start] * __ldg(t + j);
// CHECK: }
// CHECK:     if (cupilot_active) {
// CHECK: out[i] = s;
// CHECK: }
// CHECK:   }
// CHECK: }
// CHECK: end of source

__global__ void onlySometimes(const float *__restrict__ t, float *out, int m, bool use) {
  float s = 0;
  for (int j = 0; j < m; ++j)
    if (use)
      s += t[j];
  out[threadIdx.x] = s;
}
// CHECK-LABEL: kernel: onlySometimes(const float *, float *, int, bool)
// CHECK: refused: shared_memory_tiling: no loop of the work, from 0 to a bound over the arguments, reads an array with its own variable

__global__ void continues(const float *__restrict__ t, float *out, int m, int use) {
  float s = 0;
  for (int j = 0; j < m; ++j) {
    if (use == j)
      continue;
    s += t[j];
  }
  out[threadIdx.x] = s;
}
// CHECK-LABEL: kernel: continues(const float *, float *, int, int)
// CHECK: refused: shared_memory_tiling: no loop of the work, from 0 to a bound over the arguments, reads an array with its own variable

__global__ void breaks(const float *__restrict__ t, float *out, int m) {
  float s = 0;
  for (int j = 0; j < m; ++j) {
    if (t[j] < 0)
      break;
    s += t[j];
  }
  out[threadIdx.x] = s;
}
// CHECK-LABEL: kernel: breaks(const float *, float *, int)
// CHECK: refused: shared_memory_tiling: no loop of the work, from 0 to a bound over the arguments, reads an array with its own variable

__global__ void inPlace(float *__restrict__ t, float *out, int m) {
  float s = 0;
  for (int j = 0; j < m; ++j)
    s += t[j];
  t[threadIdx.x] = s;
}
// CHECK-LABEL: kernel: inPlace(float *, float *, int)
// CHECK: refused: shared_memory_tiling: no loop of the work, from 0 to a bound over the arguments, reads an array with its own variable

__global__ void mayAlias(const float *t, float *out, const int *at, int m) {
  float s = 0;
  for (int j = 0; j < m; ++j)
    s += t[j];
  out[at[threadIdx.x]] = s;
}
// CHECK-LABEL: kernel: mayAlias(const float *, float *, const int *, int)
// CHECK: refused: shared_memory_tiling: 't' and 'out' may overlap: neither is __restrict__, and how far 'out' is accessed cannot be determined from arguments and launch

__global__ void hidden(const float *__restrict__ t, const float *__restrict__ u, float *out, int m) {
  if (m > 0) {
    const float *v = t;
    const float *t = u;
    float s = 0;
    for (int j = 0; j < m; ++j)
      s += v[j];
    out[threadIdx.x] = s + t[0];
  }
}
// CHECK-LABEL: kernel: hidden(const float *, const float *, float *, int)
// CHECK: refused: shared_memory_tiling: no loop of the work, from 0 to a bound over the arguments, reads an array with its own variable

__global__ void early(const float *__restrict__ t, float *__restrict__ out, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  if (out[i] < 0)
    return;
  float s = 0;
  for (int j = 0; j < m; ++j)
    s += t[j];
  out[i] = s;
}
// CHECK-LABEL: kernel: early(const float *, float *, int, int)
// CHECK: refused: shared_memory_tiling: the work may be left by a return

__global__ void unclearCheck(const float *__restrict__ t, float *__restrict__ out, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || i % 2 == 0)
    return;
  float s = 0;
  for (int j = 0; j < m; ++j)
    s += t[j];
  out[i] = s;
}
// CHECK-LABEL: kernel: unclearCheck(const float *, float *, int, int)
// CHECK: refused: shared_memory_tiling: whether any thread passes the checks cannot be determined from arguments and launch

__global__ void barrier(const float *__restrict__ t, float *out, int m) {
  float s = 0;
  for (int j = 0; j < m; ++j)
    s += t[j];
  __syncthreads();
  out[threadIdx.x] = s;
}
// CHECK-LABEL: kernel: barrier(const float *, float *, int)
// CHECK: refused: shared_memory_tiling: it calls __syncthreads (line 5)

__global__ void shared(const float *__restrict__ t, float *out, int m) {
  __shared__ float own[32];
  float s = 0;
  for (int j = 0; j < m; ++j)
    s += t[j];
  own[threadIdx.x] = s;
  out[threadIdx.x] = own[threadIdx.x];
}
// CHECK-LABEL: kernel: shared(const float *, float *, int)
// CHECK: refused: shared_memory_tiling: it uses shared memory (line 2)

__global__ void changesBound(const float *__restrict__ t, float *out, int m) {
  float s = 0;
  for (int j = 0; j < m; ++j, --m)
    s += t[j];
  out[threadIdx.x] = s;
}
// CHECK-LABEL: kernel: changesBound(const float *, float *, int)
// CHECK: refused: shared_memory_tiling: the parameter 'm' is modified

__global__ void boundInMemory(const float *__restrict__ t, float *out, const int *__restrict__ m) {
  float s = 0;
  for (int j = 0; j < *m; ++j)
    s += t[j];
  out[threadIdx.x] = s;
}
// CHECK-LABEL: kernel: boundInMemory(const float *, float *, const int *)
// CHECK: refused: shared_memory_tiling: no loop of the work, from 0 to a bound over the arguments, reads an array with its own variable

__global__ void fromOne(const float *__restrict__ t, float *out, int m) {
  float s = 0;
  for (int j = 1; j < m; ++j)
    s += t[j];
  out[threadIdx.x] = s;
}
// CHECK-LABEL: kernel: fromOne(const float *, float *, int)
// CHECK: refused: shared_memory_tiling: no loop of the work, from 0 to a bound over the arguments, reads an array with its own variable

__global__ void ownPart(const float *__restrict__ t, float *out, int m) {
  float s = 0;
  for (int j = 0; j < m; ++j)
    s += t[threadIdx.x * m + j];
  out[threadIdx.x] = s;
}
// CHECK-LABEL: kernel: ownPart(const float *, float *, int)
// CHECK: refused: shared_memory_tiling: no loop of the work, from 0 to a bound over the arguments, reads an array with its own variable

__global__ void narrow(const float *__restrict__ t, float *out, int m) {
  float s = 0;
  for (short j = 0; j < m; ++j)
    s += t[j];
  out[threadIdx.x] = s;
}
// CHECK-LABEL: kernel: narrow(const float *, float *, int)
// CHECK: refused: shared_memory_tiling: no loop of the work, from 0 to a bound over the arguments, reads an array with its own variable

struct Large {
  double v[256];
};
__global__ void large(const Large *__restrict__ t, float *out, int m) {
  float s = 0;
  for (int j = 0; j < m; ++j) {
    Large l = t[j];
    s += l.v[s > 3];
  }
  out[threadIdx.x] = s;
}
// CHECK-LABEL: kernel: large(const Large *, float *, int)
// CHECK: refused: shared_memory_tiling: the tile needs 65536 bytes of shared memory

// Every thread of the block must come to the barriers.
__global__ void twoDimensions(const int *__restrict__ t, int *__restrict__ out, int w, int h, int m) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h)
    return;
  int s = out[y * w + x];
  for (int j = 0; j < m; ++j)
    s += t[j];
  out[y * w + x] = s;
}
// CHECK-LABEL: kernel: twoDimensions(const int *, int *, int, int, int)
// CHECK: guard: s0 + -1 >= 0
// CHECK: guard: s1 + -1 >= 0
// CHECK: guard: (s2 * -1) + 2147483583 >= 0
// CHECK: guard: (shared * -1) + 49024 >= 0
// CHECK: source:
// CHECK: __global__ void twoDimensions(const int *__restrict__ t, int *__restrict__ out, int w, int h, int m) {
// CHECK:   int x = blockIdx.x * blockDim.x + threadIdx.x;
// CHECK:   int y = blockIdx.y * blockDim.y + threadIdx.y;
// CHECK:   const bool cupilot_active = !(x >= w || y >= h);
// CHECK:   int s = cupilot_active ? (out[y * w + x]) : static_cast<int>(int{});
// CHECK:   __shared__ int cupilot_tile[32];
// CHECK: for (int cupilot_start = 0; cupilot_start < (m); cupilot_start += 32) {
// CHECK:   __syncthreads();
// CHECK:   for (unsigned int cupilot_step = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); cupilot_step < 32 && cupilot_start + static_cast<int>(cupilot_step) < (m); cupilot_step += blockDim.x * blockDim.y * blockDim.z) {
// CHECK:     cupilot_tile[cupilot_step] = t[cupilot_start + cupilot_step];
// CHECK:   }
// CHECK:   __syncthreads();
// CHECK:   const int cupilot_end = (m) - cupilot_start < 32 ? (m) : cupilot_start + 32;
// CHECK:   if (cupilot_active)
// CHECK:   for (int j = cupilot_start; j < cupilot_end; ++j) s += cupilot_tile[j - cupilot_start];
// CHECK: }
// CHECK:   if (cupilot_active) {
// CHECK: out[y * w + x] = s;
// CHECK: }
// CHECK: }
// CHECK: end of source

__global__ void reference(const int *__restrict__ t, int *__restrict__ out, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  int &o = out[i];
  for (int j = 0; j < m; ++j)
    o += t[j];
}
// CHECK-LABEL: kernel: reference(const int *, int *, int, int)
// CHECK: refused: shared_memory_tiling: the statement at line 5 cannot be edited

struct Point {
  float x, y;
  __device__ float square() const { return x * x + y * y; }
};
__global__ void members(const Point *p, float *__restrict__ out, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0;
  for (int j = 0; j < m; ++j) s += p[j].square();
  if (i < n) out[i] = s;
}
// CHECK-LABEL: kernel: members(const Point *, float *, int, int)
// CHECK:   for (int j = cupilot_start; j < cupilot_end; ++j) s += cupilot_tile[j - cupilot_start].square();
// CHECK: end of source

// TILE: refused: shared_memory_tiling: the tile must have 1 to 4096 elements
