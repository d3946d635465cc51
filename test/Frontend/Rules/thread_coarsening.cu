// REQUIRES: cuda-toolkit
//
// thread_coarsening: several threads of the original one after the other in one thread, where nothing tells them
// apart but their index.
//
// RUN: cupilot translate %s --genome="thread_coarsening{factor=4}" -- -O2 \
// RUN:   | FileCheck --match-full-lines %s
// RUN: not cupilot translate %s --only=plain --genome="thread_coarsening{factor=1}" -- -O2 | FileCheck %s --check-prefix=FACTOR

// The work is under the check.
__global__ void plain(float *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    p[i] = 1;
}
// CHECK-LABEL: kernel: plain(float *, int)
// CHECK: grid: [gx ceildiv 4] [gy] [gz]
// CHECK: guard: ((gx * bx) * -1) + 2147475455 >= 0
// CHECK: guard: (gx * bx) + (s0 * -1) >= 0
// CHECK: source:
// CHECK: __global__ void plain(float *p, int n) {
// CHECK:   for (unsigned int cupilot_round = 0; cupilot_round < 4; ++cupilot_round) {
// CHECK:   const unsigned int cupilot_index = blockIdx.x * blockDim.x + threadIdx.x + cupilot_round * (gridDim.x * blockDim.x);
// CHECK:   int i = cupilot_index;
// CHECK:   if (i < n)
// CHECK:     p[i] = 1;
// CHECK: }
// CHECK: }
// CHECK: end of source

// Returns become jumps to the next round.
__global__ void returns(const int *in, int *out, int n) {
  const unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i >= n)
    return;
  for (int k = 0; k < 9; ++k) {
    if (k == in[i])
      return;
    out[i] = k;
  }
}
// CHECK-LABEL: kernel: returns(const int *, int *, int)
// CHECK: grid: [gx ceildiv 4] [gy] [gz]
// CHECK: guard: ((gx * bx) * -1) + 2147475455 >= 0
// CHECK: guard: s0 >= 0
// CHECK: guard: (gx * bx) + (s0 * -1) >= 0
// CHECK: source:
// CHECK: __global__ void returns(const int *in, int *out, int n) {
// CHECK:   for (unsigned int cupilot_round = 0; cupilot_round < 4; ++cupilot_round) {
// CHECK:   const unsigned int cupilot_index = blockIdx.x * blockDim.x + threadIdx.x + cupilot_round * (gridDim.x * blockDim.x);
// CHECK:   {
// CHECK:   const unsigned i = cupilot_index;
// CHECK:   if (i >= n)
// CHECK:     continue;
// CHECK:   for (int k = 0; k < 9; ++k) {
// CHECK:     if (k == in[i])
// CHECK:       goto cupilot_next;
// CHECK:     out[i] = k;
// CHECK:   }
// CHECK: }
// CHECK:   cupilot_next:;
// CHECK:   }
// CHECK: }
// CHECK: end of source

#define INDEX(d) (blockIdx.d * blockDim.d + threadIdx.d)
template <typename T> __global__ void image(T *p, int w, int h) {
  int x = INDEX(x), y = INDEX(y);
  if (x < w && y < h)
    p[y * w + x] = 1;
}
template __global__ void image(double *, int, int);
// CHECK-LABEL: kernel: image<double>(double *, int, int)
// CHECK: grid: [gx ceildiv 4] [gy] [gz]
// CHECK: guard: ((gx * bx) * -1) + 2147475455 >= 0
// CHECK: guard: (gx * bx) + (s0 * -1) >= 0
// CHECK: source:
// CHECK: #define INDEX(d) (blockIdx.d * blockDim.d + threadIdx.d)
// CHECK: template <typename T> __global__ void image(T *p, int w, int h) {
// CHECK:   for (unsigned int cupilot_round = 0; cupilot_round < 4; ++cupilot_round) {
// CHECK:   const unsigned int cupilot_index = blockIdx.x * blockDim.x + threadIdx.x + cupilot_round * (gridDim.x * blockDim.x);
// CHECK:   int x = cupilot_index, y = INDEX(y);
// CHECK:   if (x < w && y < h)
// CHECK:     p[y * w + x] = 1;
// CHECK: }
// CHECK: }
// CHECK: template __global__ void image<double>(double *, int, int);
// CHECK: end of source

// A loop over the grid needs no other text.
__global__ void gridStride(float *p, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    p[i] = 1;
}
// CHECK-LABEL: kernel: gridStride(float *, int)
// CHECK: grid: [gx ceildiv 4] [gy] [gz]
// CHECK: guard: ((gx * bx) * -1) + 2147482623 >= 0
// CHECK: guard: (((gx * bx) + s0) * -1) + 2147482623 >= 0
// CHECK: source:
// CHECK: __global__ void gridStride(float *p, int n) {
// CHECK:   for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
// CHECK:        i += gridDim.x * blockDim.x)
// CHECK:     p[i] = 1;
// CHECK: }
// CHECK: end of source

// Without a check, only launches that divide.
__global__ void unchecked(float *p, int offset) {
  p[blockIdx.x * blockDim.x + threadIdx.x + offset] = 1;
}
// CHECK-LABEL: kernel: unchecked(float *, int)
// CHECK: grid: [gx ceildiv 4] [gy] [gz]
// CHECK: guard: ((gx * bx) * -1) + 2147475455 >= 0
// CHECK: guard: gx mod 4 == 0
// CHECK: source:
// CHECK: __global__ void unchecked(float *p, int offset) {
// CHECK:   for (unsigned int cupilot_round = 0; cupilot_round < 4; ++cupilot_round) {
// CHECK:   const unsigned int cupilot_index = blockIdx.x * blockDim.x + threadIdx.x + cupilot_round * (gridDim.x * blockDim.x);
// CHECK:   p[cupilot_index + offset] = 1;
// CHECK: }
// CHECK: }
// CHECK: end of source

// Counting is the same in any order.
__global__ void counts(const int *in, int *bins, size_t n) {
  size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&bins[in[i] & 31], 1);
}
// CHECK-LABEL: kernel: counts(const int *, int *, unsigned long)
// CHECK: grid: [gx ceildiv 4] [gy] [gz]
// CHECK: guard: ((gx * bx) * -1) + 2147475455 >= 0
// CHECK: guard: s0 >= 0
// CHECK: guard: (gx * bx) + (s0 * -1) >= 0
// CHECK: source:
// CHECK: __global__ void counts(const int *in, int *bins, size_t n) {
// CHECK:   for (unsigned int cupilot_round = 0; cupilot_round < 4; ++cupilot_round) {
// CHECK:   const unsigned int cupilot_index = blockIdx.x * blockDim.x + threadIdx.x + cupilot_round * (gridDim.x * blockDim.x);
// CHECK:   size_t i = static_cast<unsigned long>(cupilot_index);
// CHECK:   if (i < n)
// CHECK:     atomicAdd(&bins[in[i] & 31], 1);
// CHECK: }
// CHECK: }
// CHECK: end of source

__global__ void barrier(float *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  __syncthreads();
  p[i] = 1;
}
// CHECK-LABEL: kernel: barrier(float *, int)
// CHECK: refused: thread_coarsening: it calls __syncthreads (line 5)

__global__ void usesTicket(int *p, int *next, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    p[i] = atomicAdd(next, 1);
}
// CHECK-LABEL: kernel: usesTicket(int *, int *, int)
// CHECK: refused: thread_coarsening: it calls atomicAdd (line 4)

__global__ void exchanges(int *p, int *q, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicExch(q, i);
}
// CHECK-LABEL: kernel: exchanges(int *, int *, int)
// CHECK: refused: thread_coarsening: it calls atomicExch (line 4)

__global__ void changesParameter(int *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    *p = n;
    n = 0;
  }
}
// CHECK-LABEL: kernel: changesParameter(int *, int)
// CHECK: refused: thread_coarsening: the parameter 'n' is modified

__global__ void lanes(int *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && threadIdx.x % 32 == 0)
    p[i] = 1;
}
// CHECK-LABEL: kernel: lanes(int *, int)
// CHECK: refused: thread_coarsening: thread or block indices are used other than as blockIdx * blockDim + threadIdx (line 3)

__global__ void readsGrid(int *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    p[i] = gridDim.x;
}
// CHECK-LABEL: kernel: readsGrid(int *, int)
// CHECK: refused: thread_coarsening: thread or block indices are used other than as blockIdx * blockDim + threadIdx (line 4)

__global__ void onlyY(int *p, int n) {
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < n)
    p[i] = 1;
}
// CHECK-LABEL: kernel: onlyY(int *, int)
// CHECK: refused: thread_coarsening: the kernel does not use the index in x

__global__ void jumps(int *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    goto end;
  p[i] = 1;
end:;
}
// CHECK-LABEL: kernel: jumps(int *, int)
// CHECK: refused: thread_coarsening: it contains a goto or a label (line 4)

__global__ void keepsSum(float *p, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    sum += p[i];
  atomicAdd(p + n, sum);
}
// CHECK-LABEL: kernel: keepsSum(float *, int)
// CHECK: refused: thread_coarsening: the kernel uses gridDim.x * blockDim.x other than as the step of one loop with independent rounds

__global__ void staticVariable(int *p, int n) {
  static int calls;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    p[i] = calls;
}
// CHECK-LABEL: kernel: staticVariable(int *, int)
// CHECK: refused: thread_coarsening: it has a static variable (line 2)

__global__ void waits(volatile int *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    while (p[i] == 0)
      p[i + 1] = 1;
}
// CHECK-LABEL: kernel: waits(volatile int *, int)
// CHECK: refused: thread_coarsening: it accesses volatile memory (line 4)

__global__ void lambdas(float *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  auto put = [&] { p[i] = 1; };
  if (i < n)
    put();
}
// CHECK-LABEL: kernel: lambdas(float *, int)
// CHECK: refused: thread_coarsening: it contains a lambda expression (line 3)

#define BODY { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] = 1; }
__global__ void fromMacro(float *p, int n) BODY
// CHECK-LABEL: kernel: fromMacro(float *, int)
// CHECK: refused: thread_coarsening: the index at line 3 cannot be edited

#define LEAVE return
__global__ void leavesByMacro(float *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    LEAVE;
  p[i] = 1;
}
// CHECK-LABEL: kernel: leavesByMacro(float *, int)
// CHECK: grid: [gx ceildiv 4] [gy] [gz]
// CHECK: guard: ((gx * bx) * -1) + 2147475455 >= 0
// CHECK: guard: (gx * bx) + (s0 * -1) >= 0
// CHECK: source:
// CHECK: #define LEAVE return
// CHECK: __global__ void leavesByMacro(float *p, int n) {
// CHECK:   for (unsigned int cupilot_round = 0; cupilot_round < 4; ++cupilot_round) {
// CHECK:   const unsigned int cupilot_index = blockIdx.x * blockDim.x + threadIdx.x + cupilot_round * (gridDim.x * blockDim.x);
// CHECK:   int i = cupilot_index;
// CHECK:   if (i >= n)
// CHECK:     continue;
// CHECK:   p[i] = 1;
// CHECK: }
// CHECK: }
// CHECK: end of source

// The index in a sum with others keeps its type.
__global__ void zeroTerm(float *p, int n, int off) {
  long j = off + (int)threadIdx.x + (int)(blockIdx.x * blockDim.x);
  if (j >= 0 && j < n)
    p[j] = 1;
}
// CHECK-LABEL: kernel: zeroTerm(float *, int, int)
// CHECK: grid: [gx ceildiv 4] [gy] [gz]
// CHECK: guard: ((gx * bx) * -1) + 2147475455 >= 0
// CHECK: guard: gx mod 4 == 0
// CHECK: source:
// CHECK: __global__ void zeroTerm(float *p, int n, int off) {
// CHECK:   for (unsigned int cupilot_round = 0; cupilot_round < 4; ++cupilot_round) {
// CHECK:   const unsigned int cupilot_index = blockIdx.x * blockDim.x + threadIdx.x + cupilot_round * (gridDim.x * blockDim.x);
// CHECK:   long j = off + static_cast<int>(0u) + static_cast<int>(cupilot_index);
// CHECK:   if (j >= 0 && j < n)
// CHECK:     p[j] = 1;
// CHECK: }
// CHECK: }
// CHECK: end of source

#define CHECK(c) if (!(c)) return
__global__ void checkMacro(float *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  CHECK(i < n);
  p[i] = 1;
}
// CHECK-LABEL: kernel: checkMacro(float *, int)
// CHECK: refused: thread_coarsening: the return at line 5 cannot be edited

struct Pair {
  int a, b;
};
__global__ void bindings(int *p, int n) {
  auto [a, b] = Pair{0, 1};
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    p[i] = a;
    a += b;
  }
}
// CHECK-LABEL: kernel: bindings(int *, int)
// CHECK: refused: thread_coarsening: it contains a structured binding (line 6)

// FACTOR: refused: thread_coarsening: the factor must be from 2 to 64
