// All the forms in which kernels are written: each has a slice, and the slice
// alone has the build identity that the kernel has in the unit.
// REQUIRES: cuda-toolkit
// RUN: rm -rf %t && mkdir -p %t/include
// RUN: cp %S/Inputs/forms.h %t/include/
// RUN: cupilot extract %s -o %t/k.mlir --json=%t/k.json -- -O2 --cuda-gpu-arch=sm_90 -std=c++17 -I%t/include > %t/said 2>&1
// RUN: FileCheck %s < %t/said
// RUN: FileCheck %s --check-prefix=JSON < %t/k.json
// RUN: cupilot-opt %t/k.mlir -o /dev/null
// CHECK-NOT: remark
// CHECK: cupilot extract: 30 kernel(s), 30 slice(s)
// JSON-COUNT-30: "slice":
// JSON-NOT: "refusal"
// CUB asks for a macro that clang's driver defines by itself: no slice does.
// RUN: not grep -r __CUDA_ARCH_LIST__ %t/k.slices

// The same again for one of each kind, not by extraction: the slices know nothing of the header.
// RUN: cupilot identify %s -- -O2 --cuda-gpu-arch=sm_90 -std=c++17 -I%t/include | sort > %t/unit
// RUN: sh -c 'for k in rows member nested internal byMacro variables architecture traces reduces apply; do for f in %t/k.slices/$k.*.cu; do cupilot identify $f -- -O2 --cuda-gpu-arch=sm_90 -std=c++17; break; done; done' | sort > %t/slices
// RUN: grep -c "b3:" %t/slices | FileCheck %s --check-prefix=TEN
// TEN: {{^10$}}
// RUN: comm -23 %t/slices %t/unit | count 0

// Relocatable device code, where the unit defines all that a kernel calls.
// RUN: cupilot extract %s -- -O2 --cuda-gpu-arch=sm_90 -std=c++17 -fgpu-rdc -DSMALL -I%t/include 2>&1 >/dev/null | FileCheck %s --check-prefix=RDC
// RDC-NOT: remark
// RDC: cupilot extract: 27 kernel(s), 27 slice(s)

#include "forms.h"
using namespace later;
#ifndef SMALL
#include <cooperative_groups.h>
#include <cub/block/block_reduce.cuh>
#include <cuda/barrier>
#endif

// Templates, of functions and of classes.
template <typename T, int N> __global__ void rows(T *p) { p[N] = twice<T>(p[0]); }
template <> __global__ void rows<double, 3>(double *p) { p[3] = -1; }
template <typename... T> __global__ void pack(T... all) { ((all[0] = 1), ...); }
template <typename T> struct Rows {
  enum { Padding = Power<sizeof(T)>::value };
  static __global__ void member(T *p) { p[Padding] = T(); }
};

template <typename T> __device__ void store(T *p) { *p = T(2); }
template <void (*Store)(int *)> __global__ void calls(int *p) { Store(p); }
template <typename T, int N> __device__ void put(T *p) { *p = T(N); }
template <typename T, void (*Put)(T *)> struct Op {
  __device__ void operator()(T *p) const { Put(p); }
};
template <typename O> __global__ void nested(int *p, O op) { op(p); }

namespace later {
__global__ void inNamespace(int *p) { *p = 8; }
} // namespace later

// Names: static, without, C's, by a macro.
static __global__ void internal(int *p) { *p = 1; }
namespace {
__global__ void anonymous(int *p) { *p = 2; }
}
extern "C" __global__ void plain(int *p) { *p = 3; }
#define KERNEL(name, type, ...)                                                \
  __global__ void name(type *p) { __VA_ARGS__; }
KERNEL(byMacro, float, p[0] = 2; p[1] = 4)

// Bounds, constants, arguments.
template <int Threads>
__global__ void __launch_bounds__(Threads, 2) bounded(int *p) { *p = Threads; }
__global__ void grid(const __grid_constant__ Large large, int *p) { *p = large.v[3]; }
template <typename T = float> __global__ void defaults(T *p, int n = 4) { p[n] = 1; }
__global__ void __cluster_dims__(2, 1, 1) cluster(int *p) {
  *p = 7;
}

// Variables.
__constant__ float table[4];
__device__ int counter;
static __device__ int hidden = 5;
__global__ void variables(float *p) { p[0] = table[1] + atomicAdd(&counter, 1) + hidden; }
__global__ void other() { hidden = 6; }
__global__ void dynamic(float *p) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = tile[0];
}
__global__ void textures(cudaTextureObject_t t, cudaSurfaceObject_t s, float *p) {
  p[0] = tex2D<float>(t, 1.0f, 2.0f);
}

#ifndef SMALL
// For a cooperative launch: it has no build identity, but a slice.
__global__ void gridWide(int *p) {
  cooperative_groups::this_grid().sync();
  *p = 1;
}
#endif

// The architecture decides about the text.
__global__ void architecture(int *p) {
#if __CUDA_ARCH__ >= 800
  *p = perArchitecture(*p);
#else
  *p = 1;
#endif
}
__global__ void asserts(int *p) { assert(*p > 3); }
__global__ void traces(int *p) { TRACE(p, *p > 3); }

#ifndef SMALL
// Libraries.
__global__ void reduces(int *p) {
  using Reduce = cub::BlockReduce<int, 128>;
  __shared__ typename Reduce::TempStorage storage;
  int sum = Reduce(storage).Sum(p[threadIdx.x]);
  if (threadIdx.x == 0)
    p[0] = sum;
}
__global__ void waits(int *p) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ alignas(Barrier) char raw[sizeof(Barrier)];
  auto *barrier = reinterpret_cast<Barrier *>(raw);
  if (threadIdx.x == 0)
    init(barrier, blockDim.x);
  __syncthreads();
  barrier->arrive_and_wait();
  auto tile = cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
  p[threadIdx.x] = tile.shfl_down(p[threadIdx.x], 1);
}

#endif

// Functors and lambdas.
struct Scale {
  float by;
  __device__ float operator()(float x) const { return x * by; }
};
template <typename F> __global__ void apply(F f, float *p) { p[0] = f(p[0]); }
namespace deep {
template <typename T> void inTemplate(T *p, T a) {
  auto first = [=] __device__(T x) { return x + a; };
  apply<<<1, 1>>>(first, p);
  apply<<<1, 1>>>([=] __device__(T x) { return x * a; }, p);
}
} // namespace deep

int main(int argc, char **) {
  constexpr int Width = 4;
  float *p = nullptr;
  cudaMalloc(&p, 64);
  rows<float, 2><<<1, 1>>>(p);
  pack<<<1, 1>>>(p, (int *)nullptr);
  Rows<float>::member<<<1, 1>>>(p);
  calls<store<int>><<<1, 1>>>(nullptr);
  nested<<<1, 1>>>(nullptr, Op<int, put<int, 3>>());
  bounded<128><<<1, 128>>>(nullptr);
  defaults<<<1, 1>>>(p);
  apply<<<1, 1>>>(Scale{2}, p);
  apply<<<1, 1>>>([=] __device__(float x) { return x + argc + Width; }, p);
  deep::inTemplate(p, 3.0f);
  cudaMemcpyToSymbol(table, p, 16);
}
