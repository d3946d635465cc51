// REQUIRES: cuda-toolkit
//
// fast_intrinsics: approximate functions, where the user granted that.
//
// RUN: cupilot translate %s --genome="fast_intrinsics{}" --contract="relaxed(0.01)" -- -O2 \
// RUN:   | FileCheck --match-full-lines %s
// RUN: not cupilot translate %s --only=floats --genome="fast_intrinsics{}" -- -O2 | FileCheck %s --check-prefix=CONTRACT

#include <cmath>
__device__ float helper(float v) { return logf(v) / v; }
__global__ void floats(float *p, float a, float b) {
  float v = p[threadIdx.x];
  p[threadIdx.x] = expf(v) + std::sin(v) * a / b / (a / v) + powf(a, helper(b));
}
// CHECK-LABEL: kernel: floats(float *, float, float)
// CHECK: source:
// CHECK: __device__ float helper(float v) { return __fdividef(__logf(v) , v); }
// CHECK: __global__ void floats(float *p, float a, float b) {
// CHECK:   float v = p[threadIdx.x];
// CHECK:   p[threadIdx.x] = __expf(v) + __fdividef(__fdividef(__sinf(v) * a , b) , (__fdividef(a , v))) + __powf(a, helper(b));
// CHECK: }
// CHECK: end of source

template <typename T> __global__ void instance(T *p, T a) {
  p[threadIdx.x] = exp(p[threadIdx.x]) / (a + 1);
}
template __global__ void instance(float *, float);
// CHECK-LABEL: kernel: instance<float>(float *, float)
// CHECK: source:
// CHECK: template <typename T> __global__ void instance(T *p, T a) {
// CHECK:   p[threadIdx.x] = __fdividef(__expf(p[threadIdx.x]) , (a + 1));
// CHECK: }
// CHECK: template __global__ void instance<float>(float *, float);
// CHECK: end of source

__global__ void doubles(double *p, double a) { p[threadIdx.x] = exp(p[threadIdx.x]) / a; }
// CHECK-LABEL: kernel: doubles(double *, double)
// CHECK: refused: fast_intrinsics: the kernel has no operation with a fast form

__global__ void constantDivisor(float *p) { p[threadIdx.x] = p[threadIdx.x] / 3.0f; }
// CHECK-LABEL: kernel: constantDivisor(float *)
// CHECK: refused: fast_intrinsics: the kernel has no operation with a fast form

__global__ void integers(int *p, int n) { p[threadIdx.x] = p[threadIdx.x] / n; }
// CHECK-LABEL: kernel: integers(int *, int)
// CHECK: refused: fast_intrinsics: the kernel has no operation with a fast form

#define RATIO(a, b) ((a) / (b))
__global__ void fromMacro(float *p, float b) { p[threadIdx.x] = RATIO(p[threadIdx.x], b); }
// CHECK-LABEL: kernel: fromMacro(float *, float)
// CHECK: refused: fast_intrinsics: the kernel has no operation with a fast form

namespace own {
__device__ float exp(float v) { return v + 1; }
__global__ void named(float *p) { p[threadIdx.x] = own::exp(p[threadIdx.x]); }
// CHECK-LABEL: kernel: own::named(float *)
// CHECK: refused: fast_intrinsics: the kernel has no operation with a fast form

}

// CONTRACT: refused: fast_intrinsics: the kernel's precision contract does not allow approximate functions; only relaxed(rtol) does
