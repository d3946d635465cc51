// REQUIRES: cuda-toolkit
//
// Checks by a variable that is true where the index is below its bound.
//
// RUN: cupilot translate %s --genome="vectorized_access{width=4}" -- -O2 \
// RUN:   | FileCheck --match-full-lines %s

// A check by a variable of its own.
__global__ void named(const float *__restrict__ in, float *__restrict__ out, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const bool inside = x < w && y < h;
  if (!inside)
    return;
  out[y * w + x] = in[y * w + x];
}
// CHECK-LABEL: kernel: named(const float *, float *, int, int)
// CHECK: grid: [gx ceildiv 4] [gy] [gz]
// CHECK: guard: ((gx * bx) * -1) + 2147475455 >= 0
// CHECK: guard: (gx * bx) + (s0 * -1) >= 0
// CHECK: guard: s0 mod 4 == 0
// CHECK: align: out 16
// CHECK: align: in 16
// CHECK: source:
// CHECK: __global__ void named(const float *__restrict__ in, float *__restrict__ out, int w, int h) {
// CHECK:   const unsigned int cupilot_base = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
// CHECK:   if (!static_cast<bool>(static_cast<int>(cupilot_base) < w && static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y) < h))
// CHECK:     return;
// CHECK:   float cupilot_lanes1[4];
// CHECK:   float cupilot_lanes0[4];
// CHECK:   {
// CHECK:     const float4 cupilot_vector = *reinterpret_cast<const float4 *>(&(in[static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y) * w + static_cast<int>(cupilot_base)]));
// CHECK:     cupilot_lanes0[0] = cupilot_vector.x;
// CHECK:     cupilot_lanes0[1] = cupilot_vector.y;
// CHECK:     cupilot_lanes0[2] = cupilot_vector.z;
// CHECK:     cupilot_lanes0[3] = cupilot_vector.w;
// CHECK:   }
// CHECK: #pragma unroll
// CHECK:   for (unsigned int cupilot_lane = 0; cupilot_lane < 4; ++cupilot_lane) {
// CHECK:   const unsigned int cupilot_index = cupilot_base + cupilot_lane;
// CHECK:   const int x = cupilot_index;
// CHECK:   const int y = blockIdx.y * blockDim.y + threadIdx.y;
// CHECK:   const bool inside = x < w && y < h;
// CHECK:   cupilot_lanes1[cupilot_lane] = cupilot_lanes0[cupilot_lane];
// CHECK:   }
// CHECK:   {
// CHECK:     float4 cupilot_vector;
// CHECK:     cupilot_vector.x = cupilot_lanes1[0];
// CHECK:     cupilot_vector.y = cupilot_lanes1[1];
// CHECK:     cupilot_vector.z = cupilot_lanes1[2];
// CHECK:     cupilot_vector.w = cupilot_lanes1[3];
// CHECK:     *reinterpret_cast<float4 *>(&(out[static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y) * w + static_cast<int>(cupilot_base)])) = cupilot_vector;
// CHECK:   }
// CHECK: }
// CHECK: end of source

// It may hold more than a bound, and may change.
__global__ void namedMore(float *__restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool inside = i < n && i % 5 != 0;
  if (inside)
    out[i] = 1;
}
// CHECK-LABEL: kernel: namedMore(float *, int)
// CHECK: refused: vectorized_access: the check at line 3 tests more than whether the index in x is below a bound

__global__ void namedChanges(float *__restrict__ out, int n, bool all) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool inside = i < n;
  inside |= all;
  if (inside)
    out[i] = 1;
}
// CHECK-LABEL: kernel: namedChanges(float *, int, bool)
// CHECK: refused: vectorized_access: the index in x is not checked against one bound before the work
