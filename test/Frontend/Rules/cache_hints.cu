// REQUIRES: cuda-toolkit, nvcc
//
// Loads and stores with cache hints are plain accesses to the rules: they are widened with their hint, where all accesses have
// the same. `__ldcv` and `__stwt` go to memory each time, and remain inline assembly.
//
// RUN: cupilot translate %s --only=sum --genome="vectorized_access{width=4}" -- nvcc -O2 | FileCheck %s
// RUN: cupilot translate %s --only=mixed --genome="vectorized_access{width=2}" -- nvcc -O2 | FileCheck %s --check-prefix=MIXED
// RUN: cupilot translate %s --only=sum --genome="thread_coarsening{factor=2}" -- nvcc -O2 | FileCheck %s --check-prefix=COARSE
// RUN: not cupilot translate %s --only=fresh --genome="vectorized_access{width=2}" -- nvcc -O2 | FileCheck %s --check-prefix=FRESH

__global__ void sum(float *out, const float *a, const float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    __stcs(&out[i], __ldcs(&a[i]) + __ldcg(&b[i]));
}
// CHECK: const float4 cupilot_vector = __ldcs(reinterpret_cast<const float4 *>(&(a[static_cast<int>(cupilot_base)])));
// CHECK: const float4 {{.*}} = __ldcg(reinterpret_cast<const float4 *>(&(b[static_cast<int>(cupilot_base)])));
// CHECK: cupilot_lanes0[cupilot_lane] = (cupilot_lanes1[cupilot_lane] + cupilot_lanes2[cupilot_lane]);
// CHECK: __stcs(reinterpret_cast<float4 *>(&(out[static_cast<int>(cupilot_base)])), cupilot_vector{{.*}});
// COARSE: __stcs(&out[i], __ldcs(&a[i]) + __ldcg(&b[i]));

__global__ void mixed(float *out, const float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    __stcg(&out[i], a[i] + __ldcs(&a[i]));
}
// MIXED: = *reinterpret_cast<const float2 *>(&(a[
// MIXED: cupilot_lanes0[cupilot_lane] = (cupilot_lanes1[cupilot_lane] + cupilot_lanes1[cupilot_lane]);
// MIXED: __stcg(reinterpret_cast<float2 *>(

__global__ void fresh(float *out, const float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    out[i] = __ldcv(&a[i]);
}
// FRESH: refused{{.*}}: vectorized_access: it contains inline assembly
