// REQUIRES: cuda-toolkit
//
// block_size: kernels that know the launch by global indices only. The guard asks for a launch that covers the
// bound, or for one that the new size divides.
//
// RUN: cupilot translate %s --genome="block_size{x=192}" -- -O2 \
// RUN:   | FileCheck --match-full-lines %s
// RUN: cupilot translate %s --only=bothDimensions --genome="block_size{x=64, y=4}" -- -O2 | FileCheck %s --check-prefix=BOTH
// RUN: not cupilot translate %s --only=plain --genome="block_size{x=64}, block_size{x=64}" -- -O2 | FileCheck %s --check-prefix=TWICE
// RUN: not cupilot translate %s --only=plain --genome="block_size{x=2048}" -- -O2 | FileCheck %s --check-prefix=LARGE

#include <cstdio>
__global__ void plain(float *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = 1;
}
// CHECK-LABEL: kernel: plain(float *, int)
// CHECK: grid: [(gx * bx) ceildiv 192] [gy] [gz]
// CHECK: block: [192] [by] [bz]
// CHECK: guard: ((gx * bx) * -1) + 2147482623 >= 0
// CHECK: guard: (gx * bx) + (s0 * -1) >= 0
// CHECK: source:
// CHECK: __global__ void plain(float *p, int n) {
// CHECK:   int i = blockIdx.x * blockDim.x + threadIdx.x;
// CHECK:   if (i < n) p[i] = 1;
// CHECK: }
// CHECK: end of source

__global__ void image(float *p, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h) p[y * w + x] = 1;
}
// CHECK-LABEL: kernel: image(float *, int, int)
// CHECK: grid: [(gx * bx) ceildiv 192] [gy] [gz]
// CHECK: block: [192] [by] [bz]
// CHECK: guard: ((gx * bx) * -1) + 2147482623 >= 0
// CHECK: guard: (gx * bx) + (s0 * -1) >= 0
// CHECK: source:
// CHECK: __global__ void image(float *p, int w, int h) {
// CHECK:   int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
// CHECK:   if (x < w && y < h) p[y * w + x] = 1;
// CHECK: }
// CHECK: end of source

__global__ void unchecked(float *p) { p[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
// CHECK-LABEL: kernel: unchecked(float *)
// CHECK: grid: [(gx * bx) ceildiv 192] [gy] [gz]
// CHECK: block: [192] [by] [bz]
// CHECK: guard: ((gx * bx) * -1) + 2147482623 >= 0
// CHECK: guard: (gx * bx) mod 192 == 0
// CHECK: source:
// CHECK: __global__ void unchecked(float *p) { p[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
// CHECK: end of source

__global__ void strided(float *p, long long n) {
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x)
    p[i] += 1;
}
// CHECK-LABEL: kernel: strided(float *, long long)
// CHECK: grid: [(gx * bx) ceildiv 192] [gy] [gz]
// CHECK: block: [192] [by] [bz]
// CHECK: guard: ((gx * bx) * -1) + 2147482623 >= 0
// CHECK: guard: (((gx * bx) + s0) * -1) + 2147482623 >= 0
// CHECK: source:
// CHECK: __global__ void strided(float *p, long long n) {
// CHECK:   for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += (long long)gridDim.x * blockDim.x)
// CHECK:     p[i] += 1;
// CHECK: }
// CHECK: end of source

#define BLOCK 256
__global__ void constants(float *p, int n) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i <= n) p[i] = 1;
}
// CHECK-LABEL: kernel: constants(float *, int)
// CHECK: grid: [(gx * bx) ceildiv 192] [gy] [gz]
// CHECK: block: [192] [by] [bz]
// CHECK: guard: ((gx * bx) * -1) + 2147482623 >= 0
// CHECK: guard: bx + -256 == 0
// CHECK: guard: ((gx * bx) + -1) + (s0 * -1) >= 0
// CHECK: source:
// CHECK: #define BLOCK 256
// CHECK: __global__ void constants(float *p, int n) {
// CHECK:   int i = blockIdx.x * static_cast<int>(blockDim.x) + threadIdx.x;
// CHECK:   if (i <= n) p[i] = 1;
// CHECK: }
// CHECK: end of source

__global__ void __launch_bounds__(128) bounded(float *p, int n) {
  int t = threadIdx.x, b = blockIdx.x;
  int i = t + b * blockDim.x;
  if (!(i < n)) return;
  p[i] = 1;
}
// CHECK-LABEL: kernel: bounded(float *, int)
// CHECK: grid: [(gx * bx) ceildiv 192] [gy] [gz]
// CHECK: block: [192] [by] [bz]
// CHECK: guard: ((gx * bx) * -1) + 2147482623 >= 0
// CHECK: guard: (gx * bx) + (s0 * -1) >= 0
// CHECK: guard: (((by * 192) * bz) * -1) + 192 >= 0
// CHECK: source:
// CHECK: __global__ void __launch_bounds__(192) bounded(float *p, int n) {
// CHECK:   int t = threadIdx.x, b = blockIdx.x;
// CHECK:   int i = t + b * blockDim.x;
// CHECK:   if (!(i < n)) return;
// CHECK:   p[i] = 1;
// CHECK: }
// CHECK: end of source

template <int N> __global__ void __launch_bounds__(N) boundedBy(float *p, int n) {
  int i = threadIdx.x + blockIdx.x * N;
  if (i >= n) return;
  p[i] = 1;
}
template __global__ void boundedBy<64>(float *, int);
// CHECK-LABEL: kernel: boundedBy<64>(float *, int)
// CHECK: grid: [(gx * bx) ceildiv 192] [gy] [gz]
// CHECK: block: [192] [by] [bz]
// CHECK: guard: ((gx * bx) * -1) + 2147482623 >= 0
// CHECK: guard: bx + -64 == 0
// CHECK: guard: (gx * bx) + (s0 * -1) >= 0
// CHECK: guard: (((by * 192) * bz) * -1) + 192 >= 0
// CHECK: source:
// CHECK: template <int N> __global__ void __launch_bounds__(192) boundedBy(float *p, int n) {
// CHECK:   int i = threadIdx.x + blockIdx.x * static_cast<int>(blockDim.x);
// CHECK:   if (i >= n) return;
// CHECK:   p[i] = 1;
// CHECK: }
// CHECK: template __global__ void boundedBy<64>(float *, int);
// CHECK: end of source

__global__ void counted(float *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = gridDim.x * blockDim.x;
}
// CHECK-LABEL: kernel: counted(float *, int)
// CHECK: grid: [(gx * bx) ceildiv 192] [gy] [gz]
// CHECK: block: [192] [by] [bz]
// CHECK: guard: ((gx * bx) * -1) + 2147482623 >= 0
// CHECK: guard: (gx * bx) mod 192 == 0
// CHECK: source:
// CHECK: __global__ void counted(float *p, int n) {
// CHECK:   int i = blockIdx.x * blockDim.x + threadIdx.x;
// CHECK:   if (i < n) p[i] = gridDim.x * blockDim.x;
// CHECK: }
// CHECK: end of source

// refused
__global__ void warps(float *p) {
  int tile = blockIdx.x * 256, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  p[tile + warp * 32 + lane] = 1;
}
// CHECK-LABEL: kernel: warps(float *)
// CHECK: refused: block_size: thread or block indices are used other than as blockIdx * blockDim + threadIdx (line 3)

__global__ void firstOfBlock(float *p, int n) {
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  if (i < n && t == 0) p[i] = 1;
}
// CHECK-LABEL: kernel: firstOfBlock(float *, int)
// CHECK: refused: block_size: thread or block indices are used other than as blockIdx * blockDim + threadIdx (line 3)

__global__ void first(float *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && threadIdx.x == 0) p[i] = 1;
}
// CHECK-LABEL: kernel: first(float *, int)
// CHECK: refused: block_size: thread or block indices are used other than as blockIdx * blockDim + threadIdx (line 3)

__global__ void perBlock(float *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = blockIdx.x;
}
// CHECK-LABEL: kernel: perBlock(float *, int)
// CHECK: refused: block_size: thread or block indices are used other than as blockIdx * blockDim + threadIdx (line 3)

__global__ void grid(float *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = gridDim.x;
}
// CHECK-LABEL: kernel: grid(float *, int)
// CHECK: refused: block_size: thread or block indices are used other than as blockIdx * blockDim + threadIdx (line 3)

__global__ void sums(float *p, int n) {
  __shared__ float s[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = p[i];
  __syncthreads();
  p[i] = s[0];
}
// CHECK-LABEL: kernel: sums(float *, int)
// CHECK: refused: block_size: it calls __syncthreads (line 5)

__global__ void sync(float *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __syncthreads();
  p[i] = 1;
}
// CHECK-LABEL: kernel: sync(float *, int)
// CHECK: refused: block_size: it calls __syncthreads (line 4)

__global__ void shuffles(int *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  p[i] = __shfl_xor_sync(~0u, i, 1);
}
// CHECK-LABEL: kernel: shuffles(int *, int)
// CHECK: refused: block_size: it calls __shfl_xor_sync (line 3)

__global__ void lane(int *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = i % warpSize;
}
// CHECK-LABEL: kernel: lane(int *, int)
// CHECK: refused: block_size: it uses warpSize (line 3)

__device__ int index() { return blockIdx.x * blockDim.x + threadIdx.x; }
__global__ void called(float *p, int n) { if (index() < n) p[index()] = 1; }
// CHECK-LABEL: kernel: called(float *, int)
// CHECK: refused: block_size: it reads threadIdx, blockIdx, blockDim or gridDim in 'index'

__global__ void assembly(unsigned *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned l; asm("mov.u32 %0, %%laneid;" : "=r"(l));
  if (i < n) p[i] = l;
}
// CHECK-LABEL: kernel: assembly(unsigned int *, int)
// CHECK: refused: block_size: it contains inline assembly (line 3)

__global__ void clocks(long long *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = clock64();
}
// CHECK-LABEL: kernel: clocks(long long *, int)
// CHECK: refused: block_size: it calls __nvvm_read_ptx_sreg_clock64

__global__ void fences(int *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = 1;
  __threadfence();
}
// CHECK-LABEL: kernel: fences(int *, int)
// CHECK: refused: block_size: it calls __threadfence (line 4)

__global__ void prints(int *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) printf("%d", p[i]);
}
// CHECK-LABEL: kernel: prints(int *, int)
// CHECK: refused: block_size: it calls printf (line 3)

__global__ void wrongFactor(float *p, int n) {
  int i = blockIdx.x * 1024 + threadIdx.x * 4;
  if (i < n) p[i] = 1;
}
// CHECK-LABEL: kernel: wrongFactor(float *, int)
// CHECK: refused: block_size: the block size that the source assumes cannot be edited everywhere

__global__ void dims(float *p, dim3 d) {
  dim3 t = threadIdx;
  p[blockIdx.x * blockDim.x + t.x] = 1;
}
// CHECK-LABEL: kernel: dims(float *, dim3)
// CHECK: refused: block_size: it reads threadIdx, blockIdx, blockDim or gridDim

__global__ void hides(float *p, int blockDim, int n) {
  int i = blockIdx.x * blockDim + threadIdx.x;
  if (i < n) p[i] = 1;
}
// CHECK-LABEL: kernel: hides(float *, int, int)
// CHECK: refused: the kernel has a variable 'blockDim' of its own

__global__ void divides(float *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int q = 100 / (n - i);
  if (i < n) p[i] = q;
}
// CHECK-LABEL: kernel: divides(float *, int)
// CHECK: grid: [(gx * bx) ceildiv 192] [gy] [gz]
// CHECK: block: [192] [by] [bz]
// CHECK: guard: ((gx * bx) * -1) + 2147482623 >= 0
// CHECK: guard: (gx * bx) mod 192 == 0
// CHECK: source:
// CHECK: __global__ void divides(float *p, int n) {
// CHECK:   int i = blockIdx.x * blockDim.x + threadIdx.x;
// CHECK:   int q = 100 / (n - i);
// CHECK:   if (i < n) p[i] = q;
// CHECK: }
// CHECK: end of source

__global__ void __launch_bounds__(128, 1, 2) clusterBounds(float *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = 1;
}
// CHECK-LABEL: kernel: clusterBounds(float *, int)
// CHECK: refused: block_size: the kernel's __launch_bounds__ limits clusters

__global__ void __cluster_dims__(2, 1, 1) clusters(float *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = 1;
}
// CHECK-LABEL: kernel: clusters(float *, int)
// CHECK: refused: block_size: the kernel has a cluster shape

extern __shared__ float outside[];
__global__ void externShared(float *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = outside[0];
}
// CHECK-LABEL: kernel: externShared(float *, int)
// CHECK: refused: block_size: it uses shared memory (line 5)

__global__ void spins(volatile int *flag, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) while (flag[i] == 0) ;
}
// CHECK-LABEL: kernel: spins(volatile int *, int)
// CHECK: refused: block_size: it accesses volatile memory (line 3)

struct Pair { int a, b; };
__device__ int slot(int t = threadIdx.x) { return t; }
__global__ void defaultArgument(float *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    p[i] = slot();
}
// CHECK-LABEL: kernel: defaultArgument(float *, int)
// CHECK: refused: block_size: it reads threadIdx, blockIdx, blockDim or gridDim (line 1)

struct Place {
  int t = threadIdx.x;
};
__global__ void defaultMember(float *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    p[i] = Place{}.t;
}
// CHECK-LABEL: kernel: defaultMember(float *, int)
// CHECK: refused: block_size: it reads threadIdx, blockIdx, blockDim or gridDim (line 2)

__global__ void bindings(int *p, int n) {
  auto [a, b] = Pair{0, 1};
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    p[i] = a;
    a += b;
  }
}
// CHECK-LABEL: kernel: bindings(int *, int)
// CHECK: grid: [(gx * bx) ceildiv 192] [gy] [gz]
// CHECK: block: [192] [by] [bz]
// CHECK: guard: ((gx * bx) * -1) + 2147482623 >= 0
// CHECK: guard: (gx * bx) mod 192 == 0
// CHECK: source:
// CHECK: struct Pair { int a, b; };
// CHECK: __global__ void bindings(int *p, int n) {
// CHECK:   auto [a, b] = Pair{0, 1};
// CHECK:   for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
// CHECK:     p[i] = a;
// CHECK:     a += b;
// CHECK:   }
// CHECK: }
// CHECK: end of source

static __global__ void internal(float *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    p[i] = 1;
}
// CHECK-LABEL: kernel: internal(float *, int)
// CHECK: grid: [(gx * bx) ceildiv 192] [gy] [gz]
// CHECK: block: [192] [by] [bz]
// CHECK: guard: ((gx * bx) * -1) + 2147482623 >= 0
// CHECK: guard: (gx * bx) + (s0 * -1) >= 0
// CHECK: source:
// CHECK: static __global__ void internal(float *p, int n) {
// CHECK:   int i = blockIdx.x * blockDim.x + threadIdx.x;
// CHECK:   if (i < n)
// CHECK:     p[i] = 1;
// CHECK: }
// CHECK: end of source

namespace {
__global__ void anonymous(float *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    p[i] = 1;
}
// CHECK-LABEL: kernel: (anonymous namespace)::anonymous(float *, int)
// CHECK: grid: [(gx * bx) ceildiv 192] [gy] [gz]
// CHECK: block: [192] [by] [bz]
// CHECK: guard: ((gx * bx) * -1) + 2147482623 >= 0
// CHECK: guard: (gx * bx) + (s0 * -1) >= 0
// CHECK: source:
// CHECK: namespace {
// CHECK: __global__ void anonymous(float *p, int n) {
// CHECK:   int i = blockIdx.x * blockDim.x + threadIdx.x;
// CHECK:   if (i < n)
// CHECK:     p[i] = 1;
// CHECK: }
// CHECK: }
// CHECK: end of source
}
extern "C" __global__ void cName(float *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    p[i] = 1;
}
// CHECK-LABEL: kernel: cName(float *, int)
// CHECK: grid: [(gx * bx) ceildiv 192] [gy] [gz]
// CHECK: block: [192] [by] [bz]
// CHECK: guard: ((gx * bx) * -1) + 2147482623 >= 0
// CHECK: guard: (gx * bx) + (s0 * -1) >= 0
// CHECK: source:
// CHECK: extern "C" __global__ void cName(float *p, int n) {
// CHECK:   int i = blockIdx.x * blockDim.x + threadIdx.x;
// CHECK:   if (i < n)
// CHECK:     p[i] = 1;
// CHECK: }
// CHECK: end of source

__global__ void wrapped(float *p, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n - 1u)
    p[i] = 1;
}
// CHECK-LABEL: kernel: wrapped(float *, unsigned int)
// CHECK: grid: [(gx * bx) ceildiv 192] [gy] [gz]
// CHECK: block: [192] [by] [bz]
// CHECK: guard: ((gx * bx) * -1) + 2147482623 >= 0
// CHECK: guard: s0 + -1 >= 0
// CHECK: guard: (s0 * -1) + 4294967296 >= 0
// CHECK: guard: ((gx * bx) + 1) + (s0 * -1) >= 0
// CHECK: source:
// CHECK: __global__ void wrapped(float *p, unsigned n) {
// CHECK:   unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
// CHECK:   if (i < n - 1u)
// CHECK:     p[i] = 1;
// CHECK: }
// CHECK: end of source

__global__ void carried(int *p, int n) {
  int k = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    p[i] = k++;
}
// CHECK-LABEL: kernel: carried(int *, int)
// CHECK: grid: [(gx * bx) ceildiv 192] [gy] [gz]
// CHECK: block: [192] [by] [bz]
// CHECK: guard: ((gx * bx) * -1) + 2147482623 >= 0
// CHECK: guard: (gx * bx) mod 192 == 0
// CHECK: source:
// CHECK: __global__ void carried(int *p, int n) {
// CHECK:   int k = 0;
// CHECK:   for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
// CHECK:     p[i] = k++;
// CHECK: }
// CHECK: end of source

__global__ void zeroTerm(float *p, int n, int off) {
  long j = off + (int)threadIdx.x + (int)(blockIdx.x * blockDim.x);
  if (j >= 0 && j < n)
    p[j] = 1;
}
// CHECK-LABEL: kernel: zeroTerm(float *, int, int)
// CHECK: grid: [(gx * bx) ceildiv 192] [gy] [gz]
// CHECK: block: [192] [by] [bz]
// CHECK: guard: ((gx * bx) * -1) + 2147482623 >= 0
// CHECK: guard: (gx * bx) mod 192 == 0
// CHECK: source:
// CHECK: __global__ void zeroTerm(float *p, int n, int off) {
// CHECK:   long j = off + (int)threadIdx.x + (int)(blockIdx.x * blockDim.x);
// CHECK:   if (j >= 0 && j < n)
// CHECK:     p[j] = 1;
// CHECK: }
// CHECK: end of source

#define CHECK(c) if (!(c)) return
__global__ void checkMacro(float *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  CHECK(i < n);
  p[i] = 1;
}
// CHECK-LABEL: kernel: checkMacro(float *, int)
// CHECK: grid: [(gx * bx) ceildiv 192] [gy] [gz]
// CHECK: block: [192] [by] [bz]
// CHECK: guard: ((gx * bx) * -1) + 2147482623 >= 0
// CHECK: guard: (gx * bx) + (s0 * -1) >= 0
// CHECK: source:
// CHECK: #define CHECK(c) if (!(c)) return
// CHECK: __global__ void checkMacro(float *p, int n) {
// CHECK:   int i = blockIdx.x * blockDim.x + threadIdx.x;
// CHECK:   CHECK(i < n);
// CHECK:   p[i] = 1;
// CHECK: }
// CHECK: end of source

__global__ void unsignedLong(float *p, unsigned long n) {
  unsigned long i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    p[i] = 1;
}
// CHECK-LABEL: kernel: unsignedLong(float *, unsigned long)
// CHECK: grid: [(gx * bx) ceildiv 192] [gy] [gz]
// CHECK: block: [192] [by] [bz]
// CHECK: guard: ((gx * bx) * -1) + 2147482623 >= 0
// CHECK: guard: s0 >= 0
// CHECK: guard: (gx * bx) + (s0 * -1) >= 0
// CHECK: source:
// CHECK: __global__ void unsignedLong(float *p, unsigned long n) {
// CHECK:   unsigned long i = blockIdx.x * blockDim.x + threadIdx.x;
// CHECK:   if (i < n)
// CHECK:     p[i] = 1;
// CHECK: }
// CHECK: end of source

__global__ void narrow(float *p, int n) {
  short i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    p[i] = 1;
}
// CHECK-LABEL: kernel: narrow(float *, int)
// CHECK: grid: [(gx * bx) ceildiv 192] [gy] [gz]
// CHECK: block: [192] [by] [bz]
// CHECK: guard: ((gx * bx) * -1) + 2147482623 >= 0
// CHECK: guard: (gx * bx) mod 192 == 0
// CHECK: source:
// CHECK: __global__ void narrow(float *p, int n) {
// CHECK:   short i = blockIdx.x * blockDim.x + threadIdx.x;
// CHECK:   if (i < n)
// CHECK:     p[i] = 1;
// CHECK: }
// CHECK: end of source

__global__ void either(float *p, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n || m)
    p[i] = 1;
}
// CHECK-LABEL: kernel: either(float *, int, int)
// CHECK: grid: [(gx * bx) ceildiv 192] [gy] [gz]
// CHECK: block: [192] [by] [bz]
// CHECK: guard: ((gx * bx) * -1) + 2147482623 >= 0
// CHECK: guard: (gx * bx) mod 192 == 0
// CHECK: source:
// CHECK: __global__ void either(float *p, int n, int m) {
// CHECK:   int i = blockIdx.x * blockDim.x + threadIdx.x;
// CHECK:   if (i < n || m)
// CHECK:     p[i] = 1;
// CHECK: }
// CHECK: end of source

__global__ void both(float *p, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n && m)
    return;
  p[i] = 1;
}
// CHECK-LABEL: kernel: both(float *, int, int)
// CHECK: grid: [(gx * bx) ceildiv 192] [gy] [gz]
// CHECK: block: [192] [by] [bz]
// CHECK: guard: ((gx * bx) * -1) + 2147482623 >= 0
// CHECK: guard: (gx * bx) mod 192 == 0
// CHECK: source:
// CHECK: __global__ void both(float *p, int n, int m) {
// CHECK:   int i = blockIdx.x * blockDim.x + threadIdx.x;
// CHECK:   if (i >= n && m)
// CHECK:     return;
// CHECK:   p[i] = 1;
// CHECK: }
// CHECK: end of source

__global__ void movesIndex(float *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int &r = i;
  r += 3;
  if (i < n)
    p[i] = 1;
}
// CHECK-LABEL: kernel: movesIndex(float *, int)
// CHECK: grid: [(gx * bx) ceildiv 192] [gy] [gz]
// CHECK: block: [192] [by] [bz]
// CHECK: guard: ((gx * bx) * -1) + 2147482623 >= 0
// CHECK: guard: (gx * bx) mod 192 == 0
// CHECK: source:
// CHECK: __global__ void movesIndex(float *p, int n) {
// CHECK:   int i = blockIdx.x * blockDim.x + threadIdx.x;
// CHECK:   int &r = i;
// CHECK:   r += 3;
// CHECK:   if (i < n)
// CHECK:     p[i] = 1;
// CHECK: }
// CHECK: end of source

__global__ void bothDimensions(float *p, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * 8 + threadIdx.y;
  if (x < w && y < h)
    p[y * w + x] = 1;
}
// CHECK-LABEL: kernel: bothDimensions(float *, int, int)
// CHECK: grid: [(gx * bx) ceildiv 192] [gy] [gz]
// CHECK: block: [192] [by] [bz]
// CHECK: guard: ((gx * bx) * -1) + 2147482623 >= 0
// CHECK: guard: (gx * bx) + (s0 * -1) >= 0
// CHECK: source:
// CHECK: __global__ void bothDimensions(float *p, int w, int h) {
// CHECK:   int x = blockIdx.x * blockDim.x + threadIdx.x;
// CHECK:   int y = blockIdx.y * 8 + threadIdx.y;
// CHECK:   if (x < w && y < h)
// CHECK:     p[y * w + x] = 1;
// CHECK: }
// CHECK: end of source

// LARGE: refused: block_size: a block has 1 to 1024 threads

// TWICE: refused: block_size: the plan already launches such blocks

// BOTH: grid: [(gx * bx) ceildiv 64] [(gy * by) ceildiv 4] [gz]
// BOTH-NEXT: block: [64] [4] [bz]
// BOTH: guard: by + -8 == 0
// BOTH: guard: (gy * by) + (s1 * -1) >= 0
// BOTH: int y = blockIdx.y * static_cast<int>(blockDim.y) + threadIdx.y;
