// REQUIRES: cuda-toolkit
//
// launch_bounds: the attribute, and a guard that the blocks are no larger.
//
// RUN: cupilot translate %s --genome="launch_bounds{max_threads=128, min_blocks=2}" -- -O2 \
// RUN:   | FileCheck --match-full-lines %s
// RUN: not cupilot translate %s --only=plain --genome="launch_bounds{max_threads=64, min_blocks=40}" -- -O2 | FileCheck %s --check-prefix=BLOCKS
// RUN: not cupilot translate %s --only=plain --genome="launch_bounds{}" -- -O2 | FileCheck %s --check-prefix=UNKNOWN

__global__ void plain(float *p) { p[threadIdx.x] = 1; }
// CHECK-LABEL: kernel: plain(float *)
// CHECK: guard: (((bx * by) * bz) * -1) + 128 >= 0
// CHECK: source:
// CHECK: __global__ void __launch_bounds__(128, 2) plain(float *p) { p[threadIdx.x] = 1; }
// CHECK: end of source

template <typename T> __global__ void instance(T *p) {
  p[threadIdx.x] = 1;
}
template __global__ void instance(double *);
// CHECK-LABEL: kernel: instance<double>(double *)
// CHECK: guard: (((bx * by) * bz) * -1) + 128 >= 0
// CHECK: source:
// CHECK: template <typename T> __global__ void __launch_bounds__(128, 2) instance(T *p) {
// CHECK:   p[threadIdx.x] = 1;
// CHECK: }
// CHECK: template __global__ void instance<double>(double *);
// CHECK: end of source

namespace ns {
__global__ void declared(float *p);
__global__ void declared(float *p) { p[threadIdx.x] = 1; }
// CHECK-LABEL: kernel: ns::declared(float *)
// CHECK: guard: (((bx * by) * bz) * -1) + 128 >= 0
// CHECK: source:
// CHECK: namespace ns {
// CHECK: __global__ void declared(float *p);
// CHECK: __global__ void __launch_bounds__(128, 2) declared(float *p) { p[threadIdx.x] = 1; }
// CHECK: }
// CHECK: end of source

}
#define LIMITS __launch_bounds__(256)
__global__ void __launch_bounds__(1024) wider(float *p) { p[threadIdx.x] = 1; }
// CHECK-LABEL: kernel: wider(float *)
// CHECK: guard: (((bx * by) * bz) * -1) + 128 >= 0
// CHECK: source:
// CHECK: __global__ void __launch_bounds__(128, 2) wider(float *p) { p[threadIdx.x] = 1; }
// CHECK: end of source

__global__ void __launch_bounds__(128, 2) same(float *p) { p[threadIdx.x] = 1; }
// CHECK-LABEL: kernel: same(float *)
// CHECK: refused: launch_bounds: the kernel already has these bounds

__global__ void LIMITS ownMacro(float *p) { p[threadIdx.x] = 1; }
// CHECK-LABEL: kernel: ownMacro(float *)
// CHECK: refused: launch_bounds: the kernel's __launch_bounds__ cannot be edited

__global__ void __launch_bounds__(128, 1, 2) clusters(float *p) { p[threadIdx.x] = 1; }
// CHECK-LABEL: kernel: clusters(float *)
// CHECK: refused: launch_bounds: the kernel's __launch_bounds__ limits clusters

#define NAME named
__global__ void NAME(float *p) { p[threadIdx.x] = 1; }
// CHECK-LABEL: kernel: named(float *)
// CHECK: refused: launch_bounds: the kernel's name comes from a macro

// UNKNOWN: refused: launch_bounds: the size of the blocks is not known; give max_threads

// BLOCKS: refused: launch_bounds: a multiprocessor holds at most 32 blocks
