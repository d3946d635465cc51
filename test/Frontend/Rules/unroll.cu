// REQUIRES: cuda-toolkit
//
// unroll: innermost loops get a pragma.
//
// RUN: cupilot translate %s --genome="unroll{factor=4}" -- -O2 \
// RUN:   | FileCheck --match-full-lines %s
// RUN: not cupilot translate %s --only=nested --genome="unroll{factor=1}" -- -O2 | FileCheck %s --check-prefix=FACTOR

// The inner loop of two; that of a called function, too.
__device__ float sumOf(const float *p, int n) {
  float s = 0;
  for (int k = 0; k < n; ++k)
    s += p[k];
  return s;
}
__global__ void nested(const float *p, float *out, int n) {
  float s = sumOf(p, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; j += 2)
      s += p[j];
  if (n > 3) for (int i = 0; i < n; ++i) s *= 2;
  out[threadIdx.x] = s;
}
// CHECK-LABEL: kernel: nested(const float *, float *, int)
// CHECK: source:
// CHECK: __device__ float sumOf(const float *p, int n) {
// CHECK:   float s = 0;
// CHECK: #pragma unroll 4
// CHECK: for (int k = 0; k < n; ++k)
// CHECK:     s += p[k];
// CHECK:   return s;
// CHECK: }
// CHECK: __global__ void nested(const float *p, float *out, int n) {
// CHECK:   float s = sumOf(p, n);
// CHECK:   for (int i = 0; i < n; ++i)
// CHECK: #pragma unroll 4
// CHECK: for (int j = 0; j < i; j += 2)
// CHECK:       s += p[j];
// CHECK:   if (n > 3) 
// CHECK: #pragma unroll 4
// CHECK: for (int i = 0; i < n; ++i) s *= 2;
// CHECK:   out[threadIdx.x] = s;
// CHECK: }
// CHECK: end of source

template <typename T> __global__ void instance(T *p, int n) {
  for (T *q = p; q != p + n; ++q)
    *q += 1;
}
template __global__ void instance(double *, int);
// CHECK-LABEL: kernel: instance<double>(double *, int)
// CHECK: source:
// CHECK: template <typename T> __global__ void instance(T *p, int n) {
// CHECK: #pragma unroll 4
// CHECK: for (T *q = p; q != p + n; ++q)
// CHECK:     *q += 1;
// CHECK: }
// CHECK: template __global__ void instance<double>(double *, int);
// CHECK: end of source

// The author's pragma stays.
__global__ void marked(float *p, int n) {
#pragma unroll 2
  for (int i = 0; i < n; ++i)
    p[i] += 1;
  for (int i = 0; i < n; ++i)
    p[i] *= 2;
}
// CHECK-LABEL: kernel: marked(float *, int)
// CHECK: source:
// CHECK: __global__ void marked(float *p, int n) {
// CHECK: #pragma unroll 2
// CHECK:   for (int i = 0; i < n; ++i)
// CHECK:     p[i] += 1;
// CHECK: #pragma unroll 4
// CHECK: for (int i = 0; i < n; ++i)
// CHECK:     p[i] *= 2;
// CHECK: }
// CHECK: end of source

__global__ void onlyMarked(float *p, int n) {
#pragma unroll 1
  for (int i = 0; i < n; ++i)
    p[i] += 1;
}
// CHECK-LABEL: kernel: onlyMarked(float *, int)
// CHECK: refused: unroll: every innermost loop already has a pragma

__global__ void noLoop(float *p) { p[threadIdx.x] = 1; }
// CHECK-LABEL: kernel: noLoop(float *)
// CHECK: refused: unroll: the kernel has no for loop of its own

__global__ void whileLoop(float *p, int n) {
  while (n-- > 0)
    p[n] = 1;
}
// CHECK-LABEL: kernel: whileLoop(float *, int)
// CHECK: refused: unroll: the kernel has no for loop of its own

#define EACH(i, n) for (int i = 0; i < n; ++i)
__global__ void fromMacro(float *p, int n) {
  EACH(i, n) p[i] = 1;
}
// CHECK-LABEL: kernel: fromMacro(float *, int)
// CHECK: source:
// CHECK: #define EACH(i, n) for (int i = 0; i < n; ++i)
// CHECK: __global__ void fromMacro(float *p, int n) {
// CHECK: #pragma unroll 4
// CHECK: EACH(i, n) p[i] = 1;
// CHECK: }
// CHECK: end of source

#define TWICE(s) s s
__global__ void inArgument(float *p, int n) {
  TWICE(for (int i = 0; i < n; ++i) p[i] += 1;)
}
// CHECK-LABEL: kernel: inArgument(float *, int)
// CHECK: refused: unroll: the loops come from macros

// FACTOR: refused: unroll: the factor must be from 2 to 256
