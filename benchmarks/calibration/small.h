// What the kernels use of CUDA's headers: parsing those takes longer than all
// the rest of a variant.
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __restrict__ __restrict
#include <__clang_cuda_builtin_vars.h>

extern "C" {
__device__ float __nv_tanhf(float);
__device__ float __nv_erff(float);
__device__ float __nv_logf(float);
__device__ float __nv_expf(float);
__device__ float __nv_sqrtf(float);
__device__ float __nv_rsqrtf(float);
__device__ float __nv_fast_expf(float);
__device__ float __nv_fast_sinf(float);
__device__ float __nv_fast_cosf(float);
__device__ float __nv_powf(float, float);
__device__ float __nv_cosf(float);
__device__ float __nv_fmaxf(float, float);
}
__device__ inline float tanhf(float x) { return __nv_tanhf(x); }
__device__ inline float erff(float x) { return __nv_erff(x); }
__device__ inline float logf(float x) { return __nv_logf(x); }
__device__ inline float expf(float x) { return __nv_expf(x); }
__device__ inline float sqrtf(float x) { return __nv_sqrtf(x); }
__device__ inline float rsqrtf(float x) { return __nv_rsqrtf(x); }
__device__ inline float __expf(float x) { return __nv_fast_expf(x); }
__device__ inline float __sinf(float x) { return __nv_fast_sinf(x); }
__device__ inline float __cosf(float x) { return __nv_fast_cosf(x); }
__device__ inline float powf(float x, float y) { return __nv_powf(x, y); }
__device__ inline float cosf(float x) { return __nv_cosf(x); }
__device__ inline float fmaxf(float x, float y) { return __nv_fmaxf(x, y); }
__device__ inline int min(int a, int b) { return a < b ? a : b; }
__device__ inline int max(int a, int b) { return a > b ? a : b; }
__device__ inline int atomicAdd(int *p, int v) {
  return __nvvm_atom_add_gen_i(p, v);
}
__device__ inline int atomicExch(int *p, int v) {
  return __nvvm_atom_xchg_gen_i(p, v);
}
__device__ inline float __ldg(const float *p) { return __nvvm_ldg_f(p); }
__device__ inline double __ldg(const double *p) { return __nvvm_ldg_d(p); }
__device__ inline int __ldg(const int *p) { return __nvvm_ldg_i(p); }

#define CALIBRATION_VECTORS(TYPE, NAME)                                        \
  struct alignas(2 * sizeof(TYPE)) NAME##2 {                                   \
    TYPE x, y;                                                                 \
  };                                                                           \
  struct alignas(4 * sizeof(TYPE) > 16 ? 16 : 4 * sizeof(TYPE)) NAME##4 {      \
    TYPE x, y, z, w;                                                           \
  };
CALIBRATION_VECTORS(float, float)
CALIBRATION_VECTORS(double, double)
CALIBRATION_VECTORS(int, int)
CALIBRATION_VECTORS(unsigned, uint)
CALIBRATION_VECTORS(unsigned char, uchar)
