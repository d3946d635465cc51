// The command: kernels as MLIR, slices beside it, and the slices' device code
// against the unit's, compared without the help of extraction.
// REQUIRES: cuda-toolkit
// RUN: rm -rf %t && mkdir -p %t
// RUN: cupilot extract %s -o %t/k.mlir -- -O2 --cuda-gpu-arch=sm_90 -DFACTOR=3 2>&1 | FileCheck %s --check-prefix=SAYS
// RUN: FileCheck %s < %t/k.mlir
// RUN: cupilot-opt %t/k.mlir -o /dev/null
// RUN: cat %t/k.slices/scale.*.cu | FileCheck %s --check-prefix=SLICE
// RUN: cat %t/k.slices/rows.*.cu | FileCheck %s --check-prefix=ROWS
// RUN: cat %t/k.slices/traced.*.cu | FileCheck %s --check-prefix=TRACED

// Twice is the same, and leaves the slices alone.
// RUN: cp %t/k.mlir %t/first.mlir
// RUN: cupilot extract %s -o %t/k.mlir -- -O2 --cuda-gpu-arch=sm_90 -DFACTOR=3 2>/dev/null
// RUN: diff %t/first.mlir %t/k.mlir

// RUN: cat %t/k.slices/scale.*.cu > %t/scale.cu
// RUN: cat %t/k.slices/rows.*.cu > %t/rows.cu
// RUN: %clang_cuda -O2 --cuda-gpu-arch=sm_90 --cuda-device-only -S -DFACTOR=3 %s -o %t/unit.ptx
// RUN: %clang_cuda -O2 --cuda-gpu-arch=sm_90 --cuda-device-only -S %t/scale.cu -o %t/scale.ptx
// RUN: %clang_cuda -O2 --cuda-gpu-arch=sm_90 --cuda-device-only -S %t/rows.cu -o %t/rows.ptx
// RUN: sed -n -e '/entry .*scale/,/^}/p' %t/unit.ptx | sed -e 's/BB[0-9]*_/BB_/g' -e 's@ *//.*@@' > %t/unit.scale
// RUN: sed -n -e '/entry .*scale/,/^}/p' %t/scale.ptx | sed -e 's/BB[0-9]*_/BB_/g' -e 's@ *//.*@@' > %t/slice.scale
// RUN: grep -c ret %t/unit.scale
// RUN: diff %t/unit.scale %t/slice.scale
// RUN: sed -n -e '/entry .*rows/,/^}/p' %t/unit.ptx | sed -e 's/BB[0-9]*_/BB_/g' -e 's@ *//.*@@' > %t/unit.rows
// RUN: sed -n -e '/entry .*rows/,/^}/p' %t/rows.ptx | sed -e 's/BB[0-9]*_/BB_/g' -e 's@ *//.*@@' > %t/slice.rows
// RUN: grep -c ret %t/unit.rows
// RUN: diff %t/unit.rows %t/slice.rows

// Without -o: to standard output, and no file.
// RUN: cupilot extract %s --no-verify -- -DFACTOR=3 2>/dev/null | FileCheck %s --check-prefix=STDOUT
// STDOUT: cupilot.kernel @"scale(float *, int)"
// STDOUT-NOT: source(

// SAYS: extract.cu:[[#]]: remark: kernel 'stamped(const char **)' has no slice: its code depends on __TIME__
// SAYS: cupilot extract: 4 kernel(s), 3 slice(s) in {{.*}}k.slices

// CHECK: cupilot.kernel @"scale(float *, int)" symbol("_Z5scalePfi") digest("b3:{{[0-9a-f]+}}") source("k.slices/scale.{{[0-9a-f]+}}.cu")
// CHECK-SAME: scalars([#cupilot.scalar<param = 1, bits = 32, is_signed = true>])
// CHECK-SAME: pointers([#cupilot.pointer<param = 0>])
// CHECK: cupilot.kernel @"blur::rows<4>(const float *, float *)" symbol("_ZN4blur4rowsILi4EEEvPKfPf")
// CHECK: cupilot.kernel @"traced(int *)" {{.*}} source(
// CHECK: cupilot.kernel @"stamped(const char **)"
// CHECK-NOT: source(

#include <cstdio>
#include <vector>

#define TWICE(x) ((x) + (x))
#define CHECK_CUDA(x) \
  if ((x) != cudaSuccess) \
  printf("%d\n", __LINE__)

__device__ float unrelated(float x) { return x; }
__device__ float helper(float x) { return TWICE(x) * FACTOR; }

// SLICE: #define FACTOR 3
// SLICE-NEXT: #define TWICE(x) ((x) + (x))
// SLICE-NOT: unrelated
// SLICE: __device__ float helper
// SLICE: __global__ void scale
// SLICE-NOT: main
__global__ void scale(float *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    p[i] = helper(p[i]);
}

// ROWS-NOT: FACTOR
// ROWS: namespace blur {
// ROWS: constexpr int kWidth = 8;
// ROWS: template <int N>
// ROWS: template __global__ void blur::rows<4>(const float *, float *);
namespace blur {
constexpr int kWidth = 8;
template <int N> __global__ void rows(const float *in, float *out) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = in[threadIdx.x * kWidth];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < N; ++i)
    sum += tile[(threadIdx.x + i) % blockDim.x];
  out[threadIdx.x] = sum;
}
} // namespace blur

// What the text of the slice is worth there: the line in the unit.
// TRACED: #define HERE(p) note(p)
// TRACED: __global__ void traced(int *p) {
// TRACED-NEXT: HERE(p + 1);
// TRACED-NEXT: p[0] = [[#%u,LINE:]] + 0;
#define HERE(p) note(p)
#define LINE_AND(x) __LINE__ + x
__device__ void note(int *p) { *p = 1; }
__global__ void traced(int *p) {
  HERE(p + 1);
  p[0] = LINE_AND(0);
}
__global__ void stamped(const char **p) { p[0] = __TIME__; }

int main() {
  std::vector<float> v(1);
  scale<<<1, 1>>>(v.data(), 1);
  blur::rows<4><<<1, 32, 128>>>(nullptr, nullptr);
  CHECK_CUDA(cudaDeviceSynchronize());
}
