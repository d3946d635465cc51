// REQUIRES: cuda-toolkit
//
// read_only_loads: arrays that nothing writes, because the source says __restrict__ or the guard sees to it.
//
// RUN: cupilot translate %s --genome="read_only_loads{}" -- -O2 \
// RUN:   | FileCheck --match-full-lines %s

__global__ void restricted(const float *__restrict__ in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + in[i + 1];
}
// CHECK-LABEL: kernel: restricted(const float *, float *, int)
// CHECK: source:
// CHECK: __global__ void restricted(const float *__restrict__ in, float *out, int n) {
// CHECK:   int i = blockIdx.x * blockDim.x + threadIdx.x;
// CHECK:   if (i < n) out[i] = __ldg(&(in[i])) + __ldg(&(in[i + 1]));
// CHECK: }
// CHECK: end of source

__global__ void outRestricted(const float *in, float *__restrict__ out, const int *at, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[at[i]];
}
// CHECK-LABEL: kernel: outRestricted(const float *, float *, const int *, int)
// CHECK: source:
// CHECK: __global__ void outRestricted(const float *in, float *__restrict__ out, const int *at, int n) {
// CHECK:   int i = blockIdx.x * blockDim.x + threadIdx.x;
// CHECK:   if (i < n) out[i] = __ldg(&(in[__ldg(&(at[i]))]));
// CHECK: }
// CHECK: end of source

__global__ void byGuard(const float *in, float *out, int n, int w) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float s = 0;
    for (int j = 0; j < w; ++j) s += in[i * w + j];
    out[i] = s;
  }
}
// CHECK-LABEL: kernel: byGuard(const float *, float *, int, int)
// CHECK: guard: s1 >= 0
// CHECK: guard: ((s0 * s1) * -1) + 2147483648 >= 0
// CHECK: guard: (s0 * -1) + 2147483648 >= 0
// CHECK: disjoint: in [(s0 * s1) * 4], out [s0 * 4]
// CHECK: source:
// CHECK: __global__ void byGuard(const float *in, float *out, int n, int w) {
// CHECK:   int i = blockIdx.x * blockDim.x + threadIdx.x;
// CHECK:   if (i < n) {
// CHECK:     float s = 0;
// CHECK:     for (int j = 0; j < w; ++j) s += __ldg(&(in[i * w + j]));
// CHECK:     out[i] = s;
// CHECK:   }
// CHECK: }
// CHECK: end of source

struct View { const double *in; double *out; int n; };
__global__ void fields(View v) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < v.n) v.out[i] = v.in[i];
}
// CHECK-LABEL: kernel: fields(View)
// CHECK: guard: (s0 * -1) + 2147483648 >= 0
// CHECK: disjoint: v [s0 * 8], v+8 [s0 * 8]
// CHECK: source:
// CHECK: struct View { const double *in; double *out; int n; };
// CHECK: __global__ void fields(View v) {
// CHECK:   int i = blockIdx.x * blockDim.x + threadIdx.x;
// CHECK:   if (i < v.n) v.out[i] = __ldg(&(v.in[i]));
// CHECK: }
// CHECK: end of source

#define AT(p, i) ((p)[i] * (p)[i])
__global__ void macro(const float *__restrict__ in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = AT(in, i);
}
// CHECK-LABEL: kernel: macro(const float *, float *, int)
// CHECK: refused: read_only_loads: 'in' is read by the text of a macro

template <typename T> __global__ void nestedIndex(const int *__restrict__ at, const T *__restrict__ in, T *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[at[i]];
}
template __global__ void nestedIndex(const int *, const float *, float *, int);
// CHECK-LABEL: kernel: nestedIndex<float>(const int *, const float *, float *, int)
// CHECK: source:
// CHECK: template <typename T> __global__ void nestedIndex(const int *__restrict__ at, const T *__restrict__ in, T *out, int n) {
// CHECK:   int i = blockIdx.x * blockDim.x + threadIdx.x;
// CHECK:   if (i < n) out[i] = __ldg(&(in[__ldg(&(at[i]))]));
// CHECK: }
// CHECK: template __global__ void nestedIndex<float>(const int *, const float *, float *, int);
// CHECK: end of source

struct Flags { unsigned a : 4; unsigned b : 28; int c; };
__global__ void bitField(const Flags *__restrict__ in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i].a + in[i].c;
}
// CHECK-LABEL: kernel: bitField(const Flags *, int *, int)
// CHECK: source:
// CHECK: struct Flags { unsigned a : 4; unsigned b : 28; int c; };
// CHECK: __global__ void bitField(const Flags *__restrict__ in, int *out, int n) {
// CHECK:   int i = blockIdx.x * blockDim.x + threadIdx.x;
// CHECK:   if (i < n) out[i] = in[i].a + __ldg(&(in[i].c));
// CHECK: }
// CHECK: end of source

__global__ void global2d(const float *in, float *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h) out[y * w + x] = in[y * w + x];
}
// CHECK-LABEL: kernel: global2d(const float *, float *, int, int)
// CHECK: guard: s0 >= 0
// CHECK: guard: ((s0 * s1) * -1) + 2147483648 >= 0
// CHECK: disjoint: in [(s0 * s1) * 4], out [(s0 * s1) * 4]
// CHECK: source:
// CHECK: __global__ void global2d(const float *in, float *out, int w, int h) {
// CHECK:   int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
// CHECK:   if (x < w && y < h) out[y * w + x] = __ldg(&(in[y * w + x]));
// CHECK: }
// CHECK: end of source

__global__ void noCheck(const float *in, float *out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = in[threadIdx.x];
}
// CHECK-LABEL: kernel: noCheck(const float *, float *)
// CHECK: guard: (bx * -1) + 2147483648 >= 0
// CHECK: guard: ((gx * bx) * -1) + 2147483648 >= 0
// CHECK: disjoint: in [bx * 4], out [(gx * bx) * 4]
// CHECK: source:
// CHECK: __global__ void noCheck(const float *in, float *out) {
// CHECK:   out[blockIdx.x * blockDim.x + threadIdx.x] = __ldg(&(in[threadIdx.x]));
// CHECK: }
// CHECK: end of source

// refused
__global__ void unknownExtent(const float *in, float *out, const int *at, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[at[i]] = in[i];
}
// CHECK-LABEL: kernel: unknownExtent(const float *, float *, const int *, int)
// CHECK: refused: read_only_loads: 'in' and 'out' may overlap: neither is __restrict__, and how far 'out' is accessed cannot be determined from arguments and launch

__global__ void inPlace(float *__restrict__ p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = p[i] + 1;
}
// CHECK-LABEL: kernel: inPlace(float *, int)
// CHECK: refused: read_only_loads: the kernel reads no array of its arguments that it does not write

__global__ void alias(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float *o = (float *)in;
  if (i < n) { o[i] = 3; out[i] = in[i + 1]; }
}
// CHECK-LABEL: kernel: alias(const float *, float *, int)
// CHECK: refused: read_only_loads: the kernel reads no array of its arguments that it does not write

__device__ void set(float *&p, int i) { p[i] = 1; }
__global__ void byReference(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { set(out, i); out[i] += in[i]; }
}
// CHECK-LABEL: kernel: byReference(const float *, float *, int)
// CHECK: refused: read_only_loads: memory behind a pointer that is not an argument may overlap 'in'

struct Writer { float *p; __device__ void put(int i, float v) { p[i] = v; } };
__global__ void method(const float *in, Writer w, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) w.put(i, in[i]);
}
// CHECK-LABEL: kernel: method(const float *, Writer, int)
// CHECK: refused: read_only_loads: memory behind a pointer that is not an argument may overlap 'in'

__global__ void inLambda(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  auto put = [=](float v) { out[2 * i + n] = v; };
  if (i < n) put(in[i]);
}
// CHECK-LABEL: kernel: inLambda(const float *, float *, int)
// CHECK: refused: read_only_loads: 'in' and 'out' may overlap: neither is __restrict__, and how far 'out' is accessed cannot be determined from arguments and launch

__device__ float cell;
__global__ void variable(const float *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) cell = in[i];
}
// CHECK-LABEL: kernel: variable(const float *, int)
// CHECK: refused: read_only_loads: a device variable may overlap 'in'

__global__ void chosen(const float *in, float *a, float *b, int n, bool c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float *o = a;
  if (c) o = b;
  if (i < n) o[i] = in[i];
}
// CHECK-LABEL: kernel: chosen(const float *, float *, float *, int, bool)
// CHECK: refused: read_only_loads: memory behind a pointer that is not an argument may overlap 'in'

__global__ void assembly(const float *__restrict__ in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { out[i] = in[i]; asm volatile("" ::: "memory"); }
}
// CHECK-LABEL: kernel: assembly(const float *, float *, int)
// CHECK: refused: read_only_loads: it contains inline assembly (line 3)

__global__ void halves(const bool *__restrict__ in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
// CHECK-LABEL: kernel: halves(const bool *, float *, int)
// CHECK: refused: read_only_loads: 'in' is not read as plain numbers

__global__ void volatiles(const volatile float *__restrict__ in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
// CHECK-LABEL: kernel: volatiles(const volatile float *, float *, int)
// CHECK: refused: read_only_loads: 'in' is not read as plain numbers

__global__ void writesOnly(float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 1;
}
// CHECK-LABEL: kernel: writesOnly(float *, int)
// CHECK: refused: read_only_loads: the kernel reads no array of its arguments that it does not write

__global__ void atomics(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(out + (in[i] & 7), 1);
}
// CHECK-LABEL: kernel: atomics(const int *, int *, int)
// CHECK: guard: (s0 * -1) + 2147483648 >= 0
// CHECK: disjoint: in [s0 * 4], out [32]
// CHECK: source:
// CHECK: __global__ void atomics(const int *in, int *out, int n) {
// CHECK:   int i = blockIdx.x * blockDim.x + threadIdx.x;
// CHECK:   if (i < n) atomicAdd(out + (__ldg(&(in[i])) & 7), 1);
// CHECK: }
// CHECK: end of source

__global__ void overflow(const float *in, float *out, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i - 1u] = in[i];
}
// CHECK-LABEL: kernel: overflow(const float *, float *, unsigned int)
// CHECK: refused: read_only_loads: 'in' and 'out' may overlap: neither is __restrict__, and how far 'out' is accessed cannot be determined from arguments and launch

__global__ void fromArray(const float *in, float *a, float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float *both[2] = {a, b};
  if (i < n) both[i & 1][i] = in[i];
}
// CHECK-LABEL: kernel: fromArray(const float *, float *, float *, int)
// CHECK: refused: read_only_loads: memory behind a pointer that is not an argument may overlap 'in'

struct Base0 { int pad[4]; };
struct Base1 { float *out; };
struct Derived : Base0, Base1 { int n; };
__global__ void derived(const float *in, Derived d) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < d.n) d.out[i] = in[i];
}
// CHECK-LABEL: kernel: derived(const float *, Derived)
// CHECK: refused: read_only_loads: memory behind a pointer that is not an argument may overlap 'in'
