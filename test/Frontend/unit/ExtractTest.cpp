//===- ExtractTest.cpp - Tests for extraction -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Extraction.h"
#include "cupilot/Support/Error.h"

using namespace cupilot;

static bool contains(const std::string &Text, const std::string &Part) {
  return Text.find(Part) != std::string::npos;
}

TEST(Extract, signature) {
  REQUIRE_TOOLKIT();
  Kernel K = extractOne(R"(
namespace app {
struct Inner { short s; float *p; };
struct Shape : Inner { int dims[2]; double d; unsigned long long big; };
static __global__ void run(const float *__restrict__ in, void *out, Shape s,
                           bool flag, unsigned char c, float f) {
  static_cast<float *>(out)[0] = in[0] + s.dims[1] + flag + c + f + s.p[0];
}
}
)");
  EXPECT_EQ(K.Refusal, std::nullopt);
  EXPECT_EQ(K.Name, "app::run(const float *, void *, app::Shape, bool, "
                    "unsigned char, float)");
  EXPECT_EQ(K.Symbol, "_ZN3appL3runEPKfPvNS_5ShapeEbhf");
  EXPECT_EQ(K.Line, 5u);
  ASSERT_EQ(K.Params.size(), 6u);
  EXPECT_EQ(K.Params[0].Type, "const float *");
  EXPECT_TRUE(K.Params[0].IsPointer && K.Params[0].PointeeConst &&
              K.Params[0].Restrict);
  EXPECT_EQ(K.Params[0].Pointee, "float");
  EXPECT_EQ(K.Params[0].PointeeSize, 4u);
  EXPECT_EQ(K.Params[1].PointeeSize, 0u);
  EXPECT_FALSE(K.Params[1].PointeeConst || K.Params[1].Restrict);
  EXPECT_EQ(K.Params[2].Type, "app::Shape");
  EXPECT_EQ(K.Params[2].Size, 40u);
  std::vector<ScalarRef> Scalars = {{2, 0, 16, true},  {2, 16, 32, true},
                                    {2, 20, 32, true}, {2, 32, 64, false},
                                    {3, 0, 8, false},  {4, 0, 8, false}};
  EXPECT_EQ(K.Scalars, Scalars);
  std::vector<PointerRef> Pointers = {{0, 0}, {1, 0}, {2, 8}};
  EXPECT_EQ(K.Pointers, Pointers);
}

/// Kernels of every kind: each slice compiles alone to the unit's device code
/// (extraction compares), and nothing of the host is in it.
TEST(Extract, slicesOfManyKinds) {
  REQUIRE_TOOLKIT();
  const char Header[] = R"(#pragma once
#define SCALE 3.5f
#define MUL(a, b) ((a) * (b) * SCALE)
#define UNUSED 1
namespace lib {
struct __align__(16) Quad {
  float x, y;
  Quad() = default;
  __host__ __device__ Quad(float v) : x(v), y(v) {}
  __device__ float sum() const { return x + y; }
  float onHost() const { return x; }
  friend __device__ Quad operator+(Quad a, Quad b) { return Quad(a.x + b.y); }
};
template <typename T, int N> struct Pack {
  T v[N];
  __device__ T &operator[](int i) { return v[i]; }
  using value = T;
  void onHost() {}
};
template <typename T> struct Traits { using acc = float; };
template <> struct Traits<double> { using acc = double; };
inline __device__ float scaled(float x) { return MUL(x, 2.0f); }
inline int onHost() { return 4; }
}
)";
  const char Unit[] = R"(#include "lib.h"
#include <cuda_fp16.h>
#include <cassert>
#include <vector>
#define BLOCK 128
#define DEFINE(T) __global__ void defined_##T(T *p, int n) { \
    if (threadIdx.x < n) p[threadIdx.x] *= (T)BLOCK; } \
  void onHost_##T(T *p, int n) { defined_##T<<<1, BLOCK>>>(p, n); }
using namespace lib;
namespace {
struct Local { int a; };
__device__ float twice(float x) { return x + x; }
__global__ void anonymous(float *p, Local l) { p[0] = twice(p[1]) * l.a; }
template <typename T> __global__ void anonymousTemplate(T *p) { p[0] = T(); }
}
static __constant__ float writtenByHost[8];
static __device__ int writtenElsewhere;
enum class Mode { A, B = 5 };
template <Mode M, typename T, int N = 4>
__global__ __launch_bounds__(BLOCK) void templated(T *p, Pack<T, N> pack) {
  typename Traits<T>::acc a = writtenByHost[threadIdx.x & 7];
  if constexpr (M == Mode::B) a += pack[1];
#if __CUDA_ARCH__ >= 900
  a *= 2;
#else
  a *= 3;
#endif
#pragma unroll
  for (int i = 0; i < N; ++i) a += i;
  p[threadIdx.x] = a;
}
__global__ void reads(int *p) { p[0] = writtenElsewhere; }
__global__ void writes(int *p) { writtenElsewhere = p[0]; }
static __global__ void dynamicShared(float *p) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}
extern "C" __global__ void cName(float *p) { p[0] = scaled(p[1]); }
DEFINE(float)
__global__ void halves(__half *h) { h[0] = __hadd(h[1], h[2]); }
namespace outer { inline namespace v1 { namespace inner {
template <typename... Ts> __global__ void variadic(Ts *...ps) { ((ps[0] = ps[1]), ...); }
template <typename T> struct Holder { static __global__ void member(T *p) { p[0] = Quad(3).sum(); } };
} } }
struct Add { int k; __device__ int operator()(int x) const { return x + k; } };
template <typename F> __global__ void functor(F f, int *p) { p[0] = f(p[1]); }
__global__ void asserts(int *p) { assert(p[0] > 3); p[1] = 2; }
#ifdef FROM_COMMAND_LINE
__global__ void commandLine(int *p) { p[0] = FROM_COMMAND_LINE; }
#endif
int main() {
  anonymous<<<1, 1>>>(nullptr, Local{});
  anonymousTemplate<<<1, 1>>>((Local *)nullptr);
  cudaMemcpyToSymbol(writtenByHost, nullptr, 32);
  templated<Mode::B><<<1, 1>>>((float *)nullptr, Pack<float, 4>());
  templated<Mode::A><<<1, 1>>>((double *)nullptr, Pack<double, 2>());
  outer::inner::variadic<<<1, 1>>>((int *)0, (float *)0);
  outer::inner::Holder<float>::member<<<1, 1>>>(0);
  functor<<<1, 1>>>(Add{3}, (int *)0);
  std::vector<int> v;
  return v.size() + onHost();
}
)";
  auto Kernels = extractSources({{"unit.cu", Unit}, {"include/lib.h", Header}},
                                /*Verify=*/true, {"-DFROM_COMMAND_LINE=12"});
  ASSERT_TRUE(static_cast<bool>(Kernels))
      << llvm::toString(Kernels.takeError());
  EXPECT_EQ(Kernels->size(), 15u);
  for (const Kernel &K : *Kernels) {
    EXPECT_EQ(K.Refusal, std::nullopt) << K.Name;
    for (const char *Other : {"onHost", "main", "<<<", "vector", "UNUSED"})
      EXPECT_FALSE(contains(K.Slice, Other)) << K.Name << ":\n" << K.Slice;
  }
}

static std::string refusalOf(const std::string &Text) {
  Kernel K = extractOne(Text);
  EXPECT_EQ(K.Slice, "");
  EXPECT_NE(K.Digest, "");
  return K.Refusal.value_or("");
}

TEST(Extract, refusals) {
  REQUIRE_TOOLKIT();
  EXPECT_TRUE(contains(refusalOf("extern \"C\" int printf(const char *, ...);\n"
                                 "__global__ void k() { printf(__TIME__); }\n"),
                       "depends on __TIME__"));
  EXPECT_TRUE(contains(
      refusalOf("template <typename F> __global__ void k(F f, int *p) { p[0] = "
                "f(p[1]); }\nauto f = [] __device__(int x) { return x; };\n"
                "void h() { k<<<1, 1>>>(f, nullptr); }\n"),
      "it stands outside of functions"));
  EXPECT_TRUE(contains(
      refusalOf("template <typename F> __global__ void k(F f, int *p) { p[0] = "
                "f.v; }\nvoid h() { struct S { int v; }; k<<<1, 1>>>(S{}, "
                "nullptr); }\n"),
      "type without a name that another file can write"));
  EXPECT_TRUE(contains(refusalOf("__device__ float f(float);\n"
                                 "__global__ void k(float *p) { p[0] = "
                                 "f(p[0]); }\n"),
                       "defined in another unit"));
  EXPECT_TRUE(contains(refusalOf("extern __device__ float v;\n"
                                 "__global__ void k(float *p) { p[0] = v; }\n"),
                       "device variable 'v"));
  EXPECT_TRUE(contains(
      refusalOf(
          "#define BOTH __global__ void k(float *p) { _Pragma(\"unroll\") "
          "for (int i = 0; i < 4; ++i) p[i] = 0; } void h() {}\nBOTH\n"),
      "_Pragma"));
}

TEST(Extract, codeThatDoesNotParseIsAUsageError) {
  REQUIRE_TOOLKIT();
  auto Kernels = extractSources(
      {{"unit.cu", "__global__ void k(float *p) {\n  p[0] = missing;\n}\n"}},
      true);
  ASSERT_FALSE(static_cast<bool>(Kernels));
  llvm::handleAllErrors(Kernels.takeError(), [](const ToolError &E) {
    EXPECT_EQ(E.code(), ExitCode::Usage);
    EXPECT_TRUE(contains(E.text(), "unit.cu:2:10: error: use of undeclared "
                                   "identifier 'missing'"))
        << E.text();
  });
}

TEST(Extract, flagsOfBuildsAreTaken) {
  REQUIRE_TOOLKIT();
  Kernel K = extractOne(
      "__global__ void k(float *p) { p[0] = 1; }\n", true,
      {"-c", "-o", "/nonexistent/out.o", "-MD", "-MF", "/nonexistent/out.d",
       "-fplugin=/nonexistent/cupilot.so", "-fplugin-arg-cupilot-store=x",
       "-Werror", "-Wall", "-g", "--cuda-gpu-arch=sm_80"});
  EXPECT_EQ(K.Refusal, std::nullopt);
  EXPECT_TRUE(contains(K.Slice, "__global__ void k"));
}
