//===- ChannelsTest.cpp - Ways out of a kernel, rule by rule --------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Texts by which a variant would see the clock, its machine or its compiler, or
// reach what is not its own; beside each the honest text that looks like it.
//
//===----------------------------------------------------------------------===//

#include "Judge.h"

namespace {
struct Case {
  std::string Text;
  const char *Due; ///< "rule@line"; "" when it is admitted.
};
} // namespace

static void check(llvm::ArrayRef<Case> Cases) {
  for (const Case &C : Cases)
    EXPECT_EQ(judgeWithLines(C.Text), C.Due) << C.Text;
}

TEST(AdmissionChannels, Timing) {
  check({
      {"extern \"C\" __device__ long long clock64();\n"
       "__global__ void k(int *p) {\n  *p = clock64(); }",
       "extern@1+timing@3"},
      {"__global__ void k(unsigned *p) {\n"
       "  *p = __nvvm_read_ptx_sreg_clock(); }",
       "timing@2"},
      {"__global__ void k(unsigned *p) {\n"
       "  *p = __nvvm_read_ptx_sreg_smid(); }",
       "timing@2"},
      {"__global__ void k(unsigned *p) {\n"
       "  *p = __nvvm_read_ptx_sreg_warpid(); }",
       "timing@2"},
      {"__global__ void k(unsigned long long *p) {\n"
       "  *p = __nvvm_read_ptx_sreg_globaltimer(); }",
       "timing@2"},
      {"__global__ void k(unsigned *p) {\n"
       "  asm volatile(\"mov.u32 %0, %%clock;\" : \"=r\"(*p)); }",
       "timing@2"},
      {"__global__ void k(unsigned *p) {\n"
       "  asm(\"{ .reg .u32 t; mov.u32 t, %%smid; mov.u32 %0, t; }\"\n"
       "      : \"=r\"(*p)); }",
       "timing@2"},
      {"__global__ void k(unsigned long long *p) {\n"
       "  asm(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(*p)); }",
       "timing@2"},
      {"namespace cuda { namespace chrono { struct system_clock {\n"
       "  __device__ static int now(); }; } }\n"
       "__global__ void k(int *p) {\n"
       "  *p = cuda::chrono::system_clock::now(); }",
       "extern@2+timing@4"},
      // Its own functions may have any name.
      {"__device__ int clock(int ticks) { return ticks % 12; }\n"
       "__device__ int now() { return 1; }\n"
       "__global__ void k(int *p) { *p = clock(*p) + now(); }",
       ""},
      {"__global__ void k(unsigned *p) {\n"
       "  *p = __nvvm_read_ptx_sreg_laneid() +\n"
       "       __nvvm_read_ptx_sreg_tid_x(); }",
       ""},
      {"__global__ void k(unsigned *p) {\n"
       "  asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(*p));\n"
       "  asm volatile(\"nanosleep.u32 %0;\" :: \"r\"(20)); }",
       ""},
  });
}

TEST(AdmissionChannels, ConditionsOnTheCompiler) {
  check({
      {"#ifdef __NVCC__\n#endif\n__global__ void k() {}", "conditional@1"},
      {"__global__ void k(int *p) {\n#ifndef __clang__\n  *p = 1;\n#endif\n}",
       "conditional@2"},
      {"\n#if defined(__CUDACC_VER_MAJOR__) && 1\n#endif\n"
       "__global__ void k() {}",
       "conditional@2"},
      {"#if __has_builtin(__nvvm_barrier0)\n#endif\n__global__ void k() {}",
       "conditional@1"},
      {"#define HERE defined(__NVCC__)\n#define IT HERE\n"
       "#if IT\n#endif\n__global__ void k() {}",
       "conditional@3+environment@1"},
      {"#if 0\n#elif __GNUC__ > 4\n#endif\n__global__ void k() {}",
       "conditional@2"},
      {"#if 0\n#elifdef __clang__\n#endif\n__global__ void k() {}",
       "conditional@2"},
      {"#ifdef linux\n#endif\n__global__ void k() {}", "conditional@1"},
      {"#if CUDART_VERSION > 12000\n#endif\n__global__ void k() {}",
       "conditional@1"},
      {"#ifdef __CUPILOT_GATE__\n#endif\n__global__ void k() {}",
       "conditional@1"},
      // In what is skipped here, too.
      {"#if 0\n#ifdef __NVCC__\n#endif\n#endif\n__global__ void k() {}",
       "conditional@2"},
      {"%:ifdef __NV\\\nCC__\n#endif\n__global__ void k() {}", "conditional@1"},
      // The text's own choices, and such as are the same everywhere.
      {"#define TILE 8\n#if TILE > 4\n#define WIDTH 2\n#else\n#define WIDTH 1\n"
       "#endif\n#ifndef UNSET_BY_ALL\n#endif\n"
       "__global__ void k(int *p) { *p = WIDTH; }",
       ""},
      {"__global__ void k(int *p) {\n#ifndef NDEBUG\n  *p = 1;\n#endif\n"
       "#if defined(_WIN32) || __cplusplus < 201103L\n  *p = 2;\n#endif\n}",
       ""},
      {"/* #ifdef __NVCC__ */ // #if __clang__\n"
       "__global__ void k() {}",
       ""},
  });
}

TEST(AdmissionChannels, WordsThatAskForTheCompiler) {
  const std::string Join = "#define C(a, b) a##b\n#define J(a, b) C(a, b)\n"
                           "#define S(x) #x\n#define T(x) S(x)\n";
  check({
      {"__global__ void k(int *p) { *p = __GNUC__ > 4; }", "environment@1"},
      {"__global__ void k(int *p) {\n  *p = __clang_major__; }",
       "environment@2"},
      {"__global__ void k(int *p) { *p = sizeof(__VERSION__); }",
       "environment@1"},
      {"__global__ void k(int *p) { *p = __has_builtin(__nvvm_barrier0); }",
       "environment@1"},
      {"__global__ void k(int *p) { *p = __is_identifier(other); }",
       "environment@1"},
      {"__global__ void k(int *p) { *p = __cpp_structured_bindings; }",
       "environment@1"},
      {"__global__ void k(int *p) { *p = __SIZEOF_LONG_DOUBLE__; }",
       "environment@1"},
      {"__global__ void k(int *p) { *p = sizeof(__INT_FAST16_TYPE__); }",
       "environment@1"},
      {"__global__ void k(int *p) { *p = __INCLUDE_LEVEL__ + __x86_64__; }",
       "environment@1"},
      {"#define OF_GCC (__GNUC__ > 4)\n__global__ void k(int *p) {\n"
       "  *p = OF_GCC; }",
       "environment@1"},
      // Names that the compiler which parses does not know.
      {Join + "__global__ void k(int *p) { *p = sizeof(T(__NVCC__)); }",
       "environment@5"},
      {Join + "__global__ void k(int *p) { *p = sizeof(T(C(__NV,CC__))); }",
       "environment@5"},
      {Join + "#define IS_1 0, 1\n#define SECOND(a, b, ...) b\n"
              "#define ASK(x) SECOND(x, 0)\n__global__ void k(int *p) {\n"
              "  *p = ASK(J(IS_, C(__NV,CC__))); }",
       "environment@9"},
      {"__global__ void k(int __EDG_VERSION__) {}", "environment@1"},
      {"#if 0\nint x = __NVCC__;\n#endif\n__global__ void k() {}",
       "environment@2"},
      // What is the same for all, and the text's own.
      {"#define __CUDA_TILE 4\n__global__ void k() {}", "macro@1"},
      {Join + "#define GCC_LIKE 3\n__global__ void k(float *p) {\n"
              "  const char *s = T(GCC_LIKE);\n"
              "  p[0] = __CUDA_ARCH__ >= 900 ? J(GCC_, LIKE) : s[0];\n"
              "  p[1] = __FLT_MAX__ + __INT_MAX__ + __CHAR_BIT__ +\n"
              "         (__SIZE_TYPE__)__cplusplus + __DBL_EPSILON__; }",
       ""},
      {"// __GNUC__\n__global__ void k(const char **p) { *p = \"__NVCC__\"; }",
       ""},
  });
  // Headers may ask, and what they make of it may be used.
  EXPECT_EQ(judge("#include <cuda/limit.h>\n"
                  "__global__ void k(int *p) { *p = LIMIT + NEW; }\n",
                  {{"/usr/include/cuda/limit.h",
                    "#define LIMIT __GNUC__\n#if __has_builtin(__nvvm_x)\n"
                    "#define NEW 1\n#else\n#define NEW 0\n#endif\n"}}),
            "");
}

TEST(AdmissionChannels, ConditionsOnTheArchitecture) {
  check({
      {"#ifndef __CUDA_ARCH__\nint host;\n#endif\n__global__ void k() {}",
       "conditional@1"},
      {"#define PASS __CUDA_ARCH__\n#if PASS\nasm(\"\");\n#endif\n"
       "__global__ void k() {}",
       "conditional@2+file-asm@3"},
      {"__global__ void k(int *p) {\n#ifndef __CUDA_ARCH__\n}\n"
       "void host() {\n#endif\n}",
       "conditional@2"},
      {"__global__ void k(int *p) {\n#ifdef __CUDA_ARCH__\n  *p = 1;\n#else\n"
       "}\nstatic int hidden = 1;\nvoid host() {\n#endif\n}",
       "conditional@4"},
      // Conditions that all passes decide alike may choose between braces.
      {"__global__ void k(int *p) {\n#ifdef OTHER_GPU\n  if (*p) {\n"
       "#elif defined(__GFX9__)\n  while (*p) {\n#else\n  {\n#endif\n"
       "    *p = 2;\n  }\n#if __CUDA_ARCH__ >= 900\n  *p = 1;\n#endif\n}",
       ""},
      // But not by way of a macro that they do not define alike.
      {"__global__ void k(int *p) {\n#if __CUDA_ARCH__ >= 900\n#define NEW\n"
       "#endif\n#define FAR NEW\n#ifndef NEW\n}\nvoid host() {\n#endif\n}",
       "conditional@6"},
      {"__global__ void k(int *p) {\n#define OLD 1\n#ifdef __CUDA_ARCH__\n"
       "#undef OLD\n#endif\n#ifdef OLD\n}\nvoid host() {\n#endif\n}",
       "conditional@6"},
      {"__global__ void k(int *p) {\n#if __CUDA_ARCH__ >= 900\n  *p = 1;\n"
       "#else\n  if (*p) {\n    *p = 2;\n  }\n#endif\n}",
       ""},
      {"__global__ void k(int *p) { *p = __CUDA_ARCH__ / 10; }", ""},
  });
  // A header's macro may drop what it is given.
  clang::tooling::FileContentMappings Header = {
      {"/usr/include/cuda/choose.h",
       "#define HOST_ONLY(x)\n#define DEVICE_ONLY(x) x\n"}};
  std::string Include = "#include <cuda/choose.h>\n";
  EXPECT_EQ(judge(Include + "DEVICE_ONLY(int host;)\n", Header),
            "conditional+host-variable");
  EXPECT_EQ(judge(Include + "HOST_ONLY(int host;)\n", Header), "conditional");
  EXPECT_EQ(
      judge(Include + "__global__ void k(int *p) { HOST_ONLY(*p = 1;) }\n",
            Header),
      "");
}

TEST(AdmissionChannels, MacrosOfOthers) {
  check({
      {"#define float double\n__global__ void k() {}", "macro@1"},
      {"\n#undef __CUDA_ARCH__\n__global__ void k() {}", "macro@2"},
      {"#define __CUDA_ARCH__ 100\n__global__ void k() {}", "macro@1"},
      {"#define __NVCC__\n__global__ void k() {}", "macro@1"},
      {"#undef __OPTIMIZE__\n#undef __clang__\n__global__ void k() {}",
       "macro@2"},
      {"#define __LINE__ 7\n__global__ void k() {}", "macro@1"},
      {"#define CCCL_DISABLE_EXCEPTIONS\n__global__ void k() {}", "macro@1"},
      {"#define restrict __restrict__\n#define N 4\n#undef N\n#define N 8\n"
       "__global__ void k(float *restrict p) { *p = N; }",
       ""},
  });
  EXPECT_EQ(judge("#include <cuda/limit.h>\n#undef LIMIT\n#define LIMIT 2\n"
                  "__global__ void k() {}\n",
                  {{"/usr/include/cuda/limit.h", "#define LIMIT 1\n"}}),
            "macro");
}

TEST(AdmissionChannels, OtherPlaces) {
  check({
      {"__global__ void k() {}\n#line 1 \"/usr/include/math.h\"\n", "line@3"},
      {"# 1 \"other.cu\" 3\n__global__ void k() {}", "line@2"},
      {"__global__ void k(const char **p) {\n  *p = __PRETTY_FUNCTION__; }",
       "environment@2"},
      {"__global__ void k(const char **p) { *p = __func__; }", ""},
      {"__global__ void k(int *p) { *p = __LINE__; }", ""},
  });
}

TEST(AdmissionChannels, FunctionsFromElsewhere) {
  check({
      {"extern \"C\" __device__ int original(int);\n"
       "__global__ void k(int *p) { *p = original(1); }",
       "extern@1"},
      {"extern \"C\" __device__ int cudaLaunchDevice(void *);\n"
       "__global__ void k(int *p) {\n  *p = cudaLaunchDevice(p); }",
       "extern@1+launch@3"},
      {"__device__ int later(int);\n"
       "__global__ void k(int *p) { *p = later(1); }\n"
       "__device__ int later(int x) { return x; }",
       ""},
      {"extern \"C\" __device__ int printf(const char *, ...);\n"
       "__global__ void k(int *p) { printf(\"%d\", *p); }",
       ""},
      {"extern \"C\" __device__ int unused(int);\n"
       "template <typename T> __device__ T any();\n"
       "__global__ void k(int *p) { *p = sizeof(any<int>()); }",
       ""},
  });
}

TEST(AdmissionChannels, AttributesByName) {
  check({
      // Those that this compiler knows, ignores, or has never heard of.
      {"\n__attribute__((device_builtin)) __device__ int f() { return 1; }\n",
       "attribute@2"},
      {"__attribute__((nv_weak)) __device__ int f() { return 1; }",
       "attribute@1"},
      {"__attribute__((symver(\"a@b\"))) __device__ int f() { return 1; }",
       "attribute@1"},
      {"__attribute__((noinline, __weak__)) __device__ int f() { return 1; }",
       "attribute@1"},
      {"__attribute__((visibility(\"default\"))) __device__ int x;",
       "attribute@1"},
      {"__attribute__((alias(\"k\"))) __device__ int f();", "attribute@1"},
      {"__attribute__((nvptx_kernel)) __device__ void f() {}", "attribute@1"},
      {"[[clang::optnone]] __device__ void f() {}", "attribute@1"},
      {"[[using gnu: unused, used]] __device__ int x;", "attribute@1"},
      {"[[nvcc::strange(\"x\"), gnu::unused]] __device__ int x;",
       "attribute@1"},
      {"#define A(x) __attribute__((x))\n\n"
       "__device__ void f() {}\nA(retain) __device__ int x;",
       "attribute@4"},
      {"__device__ int x __asm__(\"y\");", "attribute@1"},
      {"struct __attribute__((aligned(16), __packed__)) S { int a[4]; };\n"
       "typedef float F __attribute__((ext_vector_type(4)));\n"
       "[[gnu::always_inline]] inline __device__ int f([[maybe_unused]] int x) "
       "{\n"
       "  switch (x) { case 1: [[fallthrough]]; default: return 2; } }\n"
       "__attribute__((launch_bounds(128))) __global__ void k(int *p) {\n"
       "  if (*p) [[likely]] *p = f(1); }",
       ""},
  });
}
