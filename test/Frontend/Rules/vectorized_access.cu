// REQUIRES: cuda-toolkit
//
// vectorized_access: neighbouring elements of one thread at once, where each thread has one index, below one
// bound, and its own element of an array.
//
// RUN: cupilot translate %s --genome="vectorized_access{width=4}" -- -O2 \
// RUN:   | FileCheck --match-full-lines %s
// RUN: cupilot translate %s --only=rows --genome="vectorized_access{width=2}" -- -O2 | FileCheck %s --check-prefix=ROWS
// RUN: not cupilot translate %s --only=copy --genome="vectorized_access{width=3}" -- -O2 | FileCheck %s --check-prefix=WIDTH

// positive
__global__ void copy(const float *__restrict__ in, float *__restrict__ out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = in[i] * 2;
}
// CHECK-LABEL: kernel: copy(const float *, float *, int)
// CHECK: grid: [gx ceildiv 4] [gy] [gz]
// CHECK: guard: ((gx * bx) * -1) + 2147475455 >= 0
// CHECK: guard: (gx * bx) + (s0 * -1) >= 0
// CHECK: guard: s0 mod 4 == 0
// CHECK: align: out 16
// CHECK: align: in 16
// CHECK: source:
// CHECK: __global__ void copy(const float *__restrict__ in, float *__restrict__ out, int n) {
// CHECK:   const unsigned int cupilot_base = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
// CHECK:   if (!(static_cast<int>(cupilot_base) < n))
// CHECK:     return;
// CHECK:   float cupilot_lanes1[4];
// CHECK:   float cupilot_lanes0[4];
// CHECK:   {
// CHECK:     const float4 cupilot_vector = *reinterpret_cast<const float4 *>(&(in[static_cast<int>(cupilot_base)]));
// CHECK:     cupilot_lanes0[0] = cupilot_vector.x;
// CHECK:     cupilot_lanes0[1] = cupilot_vector.y;
// CHECK:     cupilot_lanes0[2] = cupilot_vector.z;
// CHECK:     cupilot_lanes0[3] = cupilot_vector.w;
// CHECK:   }
// CHECK: #pragma unroll
// CHECK:   for (unsigned int cupilot_lane = 0; cupilot_lane < 4; ++cupilot_lane) {
// CHECK:   const unsigned int cupilot_index = cupilot_base + cupilot_lane;
// CHECK:   int i = cupilot_index;
// CHECK:   cupilot_lanes1[cupilot_lane] = cupilot_lanes0[cupilot_lane] * 2;
// CHECK:   }
// CHECK:   {
// CHECK:     float4 cupilot_vector;
// CHECK:     cupilot_vector.x = cupilot_lanes1[0];
// CHECK:     cupilot_vector.y = cupilot_lanes1[1];
// CHECK:     cupilot_vector.z = cupilot_lanes1[2];
// CHECK:     cupilot_vector.w = cupilot_lanes1[3];
// CHECK:     *reinterpret_cast<float4 *>(&(out[static_cast<int>(cupilot_base)])) = cupilot_vector;
// CHECK:   }
// CHECK: }
// CHECK: end of source

#define GLOBAL_ID (blockIdx.x * blockDim.x + threadIdx.x)
template <typename T, int Scale>
__global__ void scaled(const T *in, T *out, unsigned n) {
  unsigned i = GLOBAL_ID;
  if (i >= n) return;
  T v = in[i];
  out[i] = v * Scale;
}
template __global__ void scaled<int, 3>(const int *, int *, unsigned);
// CHECK-LABEL: kernel: scaled<int, 3>(const int *, int *, unsigned int)
// CHECK: grid: [gx ceildiv 4] [gy] [gz]
// CHECK: guard: ((gx * bx) * -1) + 2147475455 >= 0
// CHECK: guard: (gx * bx) + (s0 * -1) >= 0
// CHECK: guard: s0 mod 4 == 0
// CHECK-NEXT: align: in 16
// CHECK-NEXT: align: out 16
// CHECK-NEXT: source:
// CHECK: #define GLOBAL_ID (blockIdx.x * blockDim.x + threadIdx.x)
// CHECK: template <typename T, int Scale>
// CHECK: __global__ void scaled(const T *in, T *out, unsigned n) {
// CHECK:   const unsigned int cupilot_base = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
// CHECK:   if (static_cast<unsigned int>(cupilot_base) >= n)
// CHECK:     return;
// CHECK:   int cupilot_lanes0[4];
// CHECK:   {
// CHECK:     const int4 cupilot_vector = *reinterpret_cast<const int4 *>(&(in[static_cast<unsigned int>(cupilot_base)]));
// CHECK:     cupilot_lanes0[0] = cupilot_vector.x;
// CHECK:     cupilot_lanes0[1] = cupilot_vector.y;
// CHECK:     cupilot_lanes0[2] = cupilot_vector.z;
// CHECK:     cupilot_lanes0[3] = cupilot_vector.w;
// CHECK:   }
// CHECK:   int cupilot_lanes1[4];
// CHECK: #pragma unroll
// CHECK:   for (unsigned int cupilot_lane = 0; cupilot_lane < 4; ++cupilot_lane) {
// CHECK:   const unsigned int cupilot_index = cupilot_base + cupilot_lane;
// CHECK:   unsigned i = cupilot_index;
// CHECK:   T v = cupilot_lanes0[cupilot_lane];
// CHECK:   cupilot_lanes1[cupilot_lane] = v * Scale;
// CHECK:   }
// CHECK:   {
// CHECK:     int4 cupilot_vector;
// CHECK:     cupilot_vector.x = cupilot_lanes1[0];
// CHECK:     cupilot_vector.y = cupilot_lanes1[1];
// CHECK:     cupilot_vector.z = cupilot_lanes1[2];
// CHECK:     cupilot_vector.w = cupilot_lanes1[3];
// CHECK:     *reinterpret_cast<int4 *>(&(out[static_cast<unsigned int>(cupilot_base)])) = cupilot_vector;
// CHECK:   }
// CHECK: }
// CHECK: template __global__ void scaled<int, 3>(const int *, int *, unsigned int);
// CHECK: end of source

__global__ void rows(const double *__restrict__ a, double *__restrict__ b, int w, int h) {
  const int x = threadIdx.x + blockDim.x * blockIdx.x;
  const int y = threadIdx.y + blockDim.y * blockIdx.y;
  if (x >= w || y >= h) return;
  b[y * w + x] += a[y * w + x];
}
// CHECK-LABEL: kernel: rows(const double *, double *, int, int)
// CHECK: refused: vectorized_access: there is no vector type of 4 double

__global__ void ownOrder(int n, float *p) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { p[i] = p[i] + 1; }
}
// CHECK-LABEL: kernel: ownOrder(int, float *)
// CHECK: grid: [gx ceildiv 4] [gy] [gz]
// CHECK: guard: ((gx * bx) * -1) + 2147475455 >= 0
// CHECK: guard: (gx * bx) + (s0 * -1) >= 0
// CHECK: guard: s0 mod 4 == 0
// CHECK: guard: s0 >= 0
// CHECK: align: p 16
// CHECK: source:
// CHECK: __global__ void ownOrder(int n, float *p) {
// CHECK:   const unsigned int cupilot_base = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
// CHECK:   if (!(static_cast<unsigned long>(static_cast<unsigned long>(cupilot_base)) < n))
// CHECK:     return;
// CHECK:   float cupilot_lanes1[4];
// CHECK:   {
// CHECK:     const float4 cupilot_vector = *reinterpret_cast<const float4 *>(&(p[static_cast<unsigned long>(static_cast<unsigned long>(cupilot_base))]));
// CHECK:     cupilot_lanes1[0] = cupilot_vector.x;
// CHECK:     cupilot_lanes1[1] = cupilot_vector.y;
// CHECK:     cupilot_lanes1[2] = cupilot_vector.z;
// CHECK:     cupilot_lanes1[3] = cupilot_vector.w;
// CHECK:   }
// CHECK: #pragma unroll
// CHECK:   for (unsigned int cupilot_lane = 0; cupilot_lane < 4; ++cupilot_lane) {
// CHECK:   const unsigned int cupilot_index = cupilot_base + cupilot_lane;
// CHECK:   size_t i = static_cast<unsigned long>(cupilot_index);
// CHECK:   { cupilot_lanes1[cupilot_lane] = cupilot_lanes1[cupilot_lane] + 1; }
// CHECK:   }
// CHECK:   {
// CHECK:     float4 cupilot_vector;
// CHECK:     cupilot_vector.x = cupilot_lanes1[0];
// CHECK:     cupilot_vector.y = cupilot_lanes1[1];
// CHECK:     cupilot_vector.z = cupilot_lanes1[2];
// CHECK:     cupilot_vector.w = cupilot_lanes1[3];
// CHECK:     *reinterpret_cast<float4 *>(&(p[static_cast<unsigned long>(static_cast<unsigned long>(cupilot_base))])) = cupilot_vector;
// CHECK:   }
// CHECK: }
// CHECK: end of source

// negative
__global__ void gather(const int *__restrict__ q, float *__restrict__ p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i + 4 * q[i]] = 1;
}
// CHECK-LABEL: kernel: gather(const int *, float *, int)
// CHECK: grid: [gx ceildiv 4] [gy] [gz]
// CHECK: guard: ((gx * bx) * -1) + 2147475455 >= 0
// CHECK: guard: (gx * bx) + (s0 * -1) >= 0
// CHECK: guard: s0 mod 4 == 0
// CHECK: align: q 16
// CHECK: source:
// CHECK: __global__ void gather(const int *__restrict__ q, float *__restrict__ p, int n) {
// CHECK:   const unsigned int cupilot_base = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
// CHECK:   if (!(static_cast<int>(cupilot_base) < n))
// CHECK:     return;
// CHECK:   int cupilot_lanes0[4];
// CHECK:   {
// CHECK:     const int4 cupilot_vector = *reinterpret_cast<const int4 *>(&(q[static_cast<int>(cupilot_base)]));
// CHECK:     cupilot_lanes0[0] = cupilot_vector.x;
// CHECK:     cupilot_lanes0[1] = cupilot_vector.y;
// CHECK:     cupilot_lanes0[2] = cupilot_vector.z;
// CHECK:     cupilot_lanes0[3] = cupilot_vector.w;
// CHECK:   }
// CHECK: #pragma unroll
// CHECK:   for (unsigned int cupilot_lane = 0; cupilot_lane < 4; ++cupilot_lane) {
// CHECK:   const unsigned int cupilot_index = cupilot_base + cupilot_lane;
// CHECK:   int i = cupilot_index;
// CHECK:   p[i + 4 * cupilot_lanes0[cupilot_lane]] = 1;
// CHECK:   }
// CHECK: }
// CHECK: end of source

__global__ void third(float *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || i % 3 == 0) return;
  p[i] = 1;
}
// CHECK-LABEL: kernel: third(float *, int)
// CHECK: refused: vectorized_access: the check at line 3 tests more than whether the index in x is below a bound

__global__ void conditional(const float *__restrict__ a, float *__restrict__ p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) if (a[2 * i] > 0) p[i] = 1;
}
// CHECK-LABEL: kernel: conditional(const float *, float *, int)
// CHECK: refused: vectorized_access: 'p' is accessed under a condition

__global__ void stride2(const float *__restrict__ a, float *__restrict__ p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[2 * i] = a[2 * i];
}
// CHECK-LABEL: kernel: stride2(const float *, float *, int)
// CHECK: refused: vectorized_access: 'a' is not accessed with unit stride at a multiple of the width

__global__ void mayAlias(const float *a, float *p, const int *index, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = a[index[i]];
}
// CHECK-LABEL: kernel: mayAlias(const float *, float *, const int *, int)
// CHECK: grid: [gx ceildiv 4] [gy] [gz]
// CHECK: guard: ((gx * bx) * -1) + 2147475455 >= 0
// CHECK: guard: (gx * bx) + (s0 * -1) >= 0
// CHECK: guard: s0 mod 4 == 0
// CHECK: guard: (s0 * -1) + 2147483648 >= 0
// CHECK: align: index 16
// CHECK: disjoint: index [s0 * 4], p [s0 * 4]
// CHECK: source:
// CHECK: __global__ void mayAlias(const float *a, float *p, const int *index, int n) {
// CHECK:   const unsigned int cupilot_base = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
// CHECK:   if (!(static_cast<int>(cupilot_base) < n))
// CHECK:     return;
// CHECK:   int cupilot_lanes2[4];
// CHECK:   {
// CHECK:     const int4 cupilot_vector = *reinterpret_cast<const int4 *>(&(index[static_cast<int>(cupilot_base)]));
// CHECK:     cupilot_lanes2[0] = cupilot_vector.x;
// CHECK:     cupilot_lanes2[1] = cupilot_vector.y;
// CHECK:     cupilot_lanes2[2] = cupilot_vector.z;
// CHECK:     cupilot_lanes2[3] = cupilot_vector.w;
// CHECK:   }
// CHECK: #pragma unroll
// CHECK:   for (unsigned int cupilot_lane = 0; cupilot_lane < 4; ++cupilot_lane) {
// CHECK:   const unsigned int cupilot_index = cupilot_base + cupilot_lane;
// CHECK:   int i = cupilot_index;
// CHECK:   p[i] = a[cupilot_lanes2[cupilot_lane]];
// CHECK:   }
// CHECK: }
// CHECK: end of source

__global__ void noCheck(float *p) {
  p[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
// CHECK-LABEL: kernel: noCheck(float *)
// CHECK: refused: vectorized_access: the index in x is not checked against one bound before the work

__global__ void boundInMemory(float *p, const int *n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < *n) p[i] = 1;
}
// CHECK-LABEL: kernel: boundInMemory(float *, const int *)
// CHECK: refused: vectorized_access: the index in x is not checked against one bound before the work

__global__ void barrier(float *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = 1;
  __syncthreads();
}
// CHECK-LABEL: kernel: barrier(float *, int)
// CHECK: refused: vectorized_access: it calls __syncthreads (line 4)

__global__ void leaves(const float *__restrict__ a, float *__restrict__ p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (a[i] < 0) return;
  p[i] = a[i];
}
// CHECK-LABEL: kernel: leaves(const float *, float *, int)
// CHECK: refused: vectorized_access: the work may be left by a return

__global__ void gridStride(float *p, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    p[i] = 1;
}
// As a loop that the grid shares: vectorized_loops.test.
// CHECK-LABEL: kernel: gridStride(float *, int)
// CHECK: guard: s0 mod 4 == 0
// CHECK: guard: (((gx * bx) * -4) + 2147483647) + (s0 * -1) >= 0
// CHECK: align: p 16

__global__ void sameThread(float *p, int n) {
  int i = threadIdx.x;
  if (i < n) p[i] = 1;
}
// CHECK-LABEL: kernel: sameThread(float *, int)
// CHECK: refused: vectorized_access: thread or block indices are used other than as blockIdx * blockDim + threadIdx (line 3)

__global__ void changes(float *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { p[i] = n; --n; }
}
// CHECK-LABEL: kernel: changes(float *, int)
// CHECK: refused: vectorized_access: the index in x is not checked against one bound before the work

__global__ void fixedBlock(float *p, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) p[i] = n;
}
// CHECK-LABEL: kernel: fixedBlock(float *, int)
// CHECK: refused: vectorized_access: the source assumes a block size

struct V3 { float x, y, z; };
__global__ void structs(V3 *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i].x = p[i].y;
}
// CHECK-LABEL: kernel: structs(V3 *, int)
// CHECK: refused: vectorized_access: 'p' is not accessed by plain subscripts alone

__global__ void bools(bool *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = true;
}
// CHECK-LABEL: kernel: bools(bool *, int)
// CHECK: refused: vectorized_access: there is no vector type of 4 bool

__global__ void several(float *__restrict__ p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = p[i + 4];
}
// CHECK-LABEL: kernel: several(float *, int)
// CHECK: refused: vectorized_access: 'p' is accessed with several subscripts

__device__ void put(float *p, float v) { *p = v; }
__global__ void escapes(float *__restrict__ p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) put(p + i, 3);
}
// CHECK-LABEL: kernel: escapes(float *, int)
// CHECK: refused: vectorized_access: 'p' is not accessed by plain subscripts alone

__global__ void volatiles(volatile float *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = 1;
}
// CHECK-LABEL: kernel: volatiles(volatile float *, int)
// CHECK: refused: vectorized_access: it accesses volatile memory (line 3)

__global__ void atomics(int *p, int *q, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = atomicAdd(q, 1);
}
// CHECK-LABEL: kernel: atomics(int *, int *, int)
// CHECK: refused: vectorized_access: it calls atomicAdd (line 3)

__global__ void lambdas(float *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  auto f = [&] { p[i] = 1; };
  if (i < n) f();
}
// CHECK-LABEL: kernel: lambdas(float *, int)
// CHECK: refused: vectorized_access: it contains a lambda expression (line 3)

__global__ void shifted(const float *__restrict__ a, float *__restrict__ p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i + 1] = a[i - 1];
}
// CHECK-LABEL: kernel: shifted(const float *, float *, int)
// CHECK: refused: vectorized_access: 'a' is not accessed with unit stride at a multiple of the width

// WIDTH: refused: vectorized_access: the width must be 2 or 4

// ROWS: grid: [gx ceildiv 2] [gy] [gz]
// ROWS: guard: s0 mod 2 == 0
// ROWS: align: b 16
// ROWS: align: a 16
// ROWS: const double2 cupilot_vector = *reinterpret_cast<const double2 *>(&(b[
