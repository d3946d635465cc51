//===- AdmissionTest.cpp - What a variant may hold, rule by rule --------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Judge.h"
#include "cupilot/Support/Toolchain.h"

using namespace cupilot;

/// The rules that \p Text beside a kernel breaks.
static std::string rules(const std::string &Text) {
  return judge(Text + "\nextern \"C\" __global__ void k(float *p, int n) {\n"
                      "  if (n) *p *= 2;\n}\n");
}

/// The same for the body of a kernel.
static std::string body(const std::string &Text) {
  return judge("extern \"C\" __global__ void k(float *p, int n) {\n" + Text +
               "\n}\n");
}

namespace {
/// Tests with the headers of a toolkit.
class Admission : public testing::Test {
protected:
  void SetUp() override {
    auto Tools = Toolchain::find({});
    if (!Tools || Tools->CudaPath.empty()) {
      llvm::consumeError(Tools.takeError());
      GTEST_SKIP() << "no CUDA toolkit";
    }
  }
  std::string admitted(const std::string &Source) {
    auto Findings = admit(Source, {"-O2", "-std=c++20"});
    if (!Findings)
      return "error: " + llvm::toString(Findings.takeError());
    return joined(*Findings);
  }
};
} // namespace

TEST_F(Admission, HeadersForDeviceCodePass) {
  EXPECT_EQ(admitted("#include <cmath>\n#include <cstdint>\n"
                     "#include <cuda_fp16.h>\n#include \"cuda_runtime.h\"\n"
                     "#include <cooperative_groups.h>\n#include <mma.h>\n"
                     "#include <cstdio>\n#include <cassert>\n"
                     "extern __shared__ float dynamic[];\n"
                     "__global__ __launch_bounds__(256, 2)\n"
                     "void k(float *p, int n) {\n"
                     "  assert(n > 0);\n"
                     "  printf(\"%d\\n\", n);\n"
                     "  __shared__ float tile[32];\n"
                     "  tile[threadIdx.x] = expf(p[threadIdx.x]);\n"
                     "  __syncthreads();\n"
                     "  p[0] = __shfl_down_sync(~0u, tile[0], 1);\n}\n"),
            "");
}

TEST_F(Admission, ConstexprOfTheLibraryPasses) {
  EXPECT_EQ(admitted("#include <algorithm>\n#include <array>\n"
                     "#include <functional>\n#include <numeric>\n"
                     "#include <tuple>\n#include <thrust/complex.h>\n"
                     "__global__ void k(int *p, int n) {\n"
                     "  p[0] = std::min(n, 4);\n}\n"),
            "");
  EXPECT_EQ(judge("#include <algorithm>\n__global__ void k() {}\n"
                  "inline int f(int n) { return std::min(n, 4); }\n",
                  {{"/usr/include/algorithm",
                    "namespace std { template <class T> constexpr T min(T a, "
                    "T b) { return b < a ? b : a; } }\n"}}),
            "host-function");
}

TEST_F(Admission, LibrariesForDeviceCodePass) {
  EXPECT_EQ(admitted("#include <cub/cub.cuh>\n#include <cuda/barrier>\n"
                     "#include <cooperative_groups/reduce.h>\n"
                     "#include <cassert>\n"
                     "struct __align__(16) V { float x[4]; };\n"
                     "template <int B> __global__ void __launch_bounds__(B)\n"
                     "k(const float *__restrict__ in, float *out, V v) {\n"
                     "  typedef cub::BlockReduce<float, B> R;\n"
                     "  __shared__ typename R::TempStorage t;\n"
                     "  assert(blockDim.x == B);\n"
                     "  float x = R(t).Sum(in[threadIdx.x]);\n"
                     "  unsigned a = __cvta_generic_to_shared(&t);\n"
                     "  asm volatile(\"cp.async.wait_all;\" ::: \"memory\");\n"
                     "  __nanosleep(20);\n"
                     "  out[0] = x + v.x[0] + a + INFINITY;\n}\n"
                     "template __global__ void k<128>(const float *, float *, "
                     "V);\n"),
            "");
  EXPECT_EQ(admitted("#include <cuda/std/chrono>\n"
                     "__global__ void k(long long *p) {\n  *p = clock64();\n"
                     "  *p += clock();\n"
                     "  *p += cuda::std::chrono::system_clock::now()\n"
                     "      .time_since_epoch().count(); }\n"),
            "timing");
}

TEST_F(Admission, OtherHeadersDoNot) {
  EXPECT_EQ(admitted("#include <cstdlib>\n#include <iostream>\n"), "include");
  EXPECT_EQ(admitted("__device__ const char *f() { return __FILE__; }"),
            "environment");
}

TEST_F(Admission, LaunchesFromDeviceCode) {
  std::string Got = admitted("__global__ void a() {}\n"
                             "__global__ void b() { a<<<1, 1>>>(); }");
  // Relocatable code alone may do that, so clang refuses it first.
  EXPECT_TRUE(Got == "launch" || Got.find("<<<") != Got.npos) << Got;
}

TEST_F(Admission, TextThatDoesNotParseIsAnError) {
  std::string Got = admitted("__global__ void k() { missing(); }");
  EXPECT_NE(Got.find("error: the variant does not parse"), Got.npos);
  EXPECT_NE(Got.find("missing"), Got.npos);
}

TEST(AdmissionRules, HonestDeviceCodePasses) {
  for (const char *Text : {
           "",
           "template <typename T> __device__ T twice(T x) { return x + x; }\n"
           "template __device__ float twice<float>(float);",
           "__device__ __host__ inline float f(float x) { return x; }",
           "constexpr int f(int x) { return x * 2; }\n"
           "consteval int g(int x) { return x; }",
           "struct P { float x; __device__ P(float x) : x(x) {}\n"
           "  P() = default; P(const P &) = default;\n"
           "  __device__ float operator()(float y) const { return x * y; } };",
           "void f(int) = delete;",
           "namespace a { namespace { __device__ int f() { return 1; } } }",
           "const int N = 4; constexpr float Table[2] = {1, 2};\n"
           "static const float Half = 0.5f; enum { E = N };",
           "__constant__ float c[4]; __device__ int unit_counter;",
           "extern __device__ int elsewhere; extern __constant__ float d[];",
           "extern __shared__ float dynamic[];",
           "extern \"C\" __device__ __attribute__((noinline)) float f(float x) "
           "{\n"
           "  return x; }",
           "#define SQUARE(x) ((x) * (x))\n"
           "__device__ float f(float x) { return SQUARE(x); }",
       })
    EXPECT_EQ(rules(Text), "") << Text;
}

TEST(AdmissionRules, HonestBodiesPass) {
  for (const char *Text : {
           "#pragma unroll\nfor (int i = 0; i < 4; ++i) p[i] = 0;",
           "#pragma nv_diag_suppress 177\n#pragma nv_diagnostic push\np[0] = "
           "0;",
           "#pragma unroll 4\nfor (int i = 0; i < n; ++i) p[i] = 0;",
           "# pragma nounroll\nfor (int i = 0; i < n; ++i) p[i] = 0;",
           "_Pragma(\"unroll 2\") for (int i = 0; i < n; ++i) p[i] = 0;",
           "_Pragma ( \" unroll\") for (int i = 0; i < n; ++i) p[i] = 0;",
           "#define U(n) _Pragma(\"unroll\")\n"
           "U(4) for (int i = 0; i < n; ++i) p[i] = 0;",
           "%:pragma unroll\nfor (int i = 0; i < n; ++i) p[i] = 0;",
           "__shared__ float tile[32]; tile[0] = 1; ",
           "static __shared__ float tile[32]; tile[n] = 1;",
           "static const float t[2] = {1, 2}; p[0] = t[n];",
           "static constexpr int t = 2; p[0] = t;",
           "auto f = [=](float x) { return x * n; }; p[0] = f(1);",
           "asm volatile(\"membar.gl;\" ::: \"memory\");",
           "int l; asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(l)); p[l] = 0;",
           "asm(\"{ .reg .pred q; setp.ne.s32 q, %1, 0; @q add.f32 %0, %0, "
           "%0; }\" : \"+f\"(p[0]) : \"r\"(n));",
           "asm(\"// a note\\n\\t/* .entry } */ membar.cta;\");",
           "asm(\"L%=: bra D%=; D%=: \");",
           "goto end; end: p[0] = 1;",
       })
    EXPECT_EQ(body(Text), "") << Text;
}

TEST(AdmissionRules, HostFunctions) {
  for (const char *Text : {
           "int f() { return 1; }",
           "static int f() { return 1; }",
           "__host__ int f();",
           "__host__ constexpr int f() { return 1; }",
           "extern \"C\" { int f() { return 1; } }",
           "namespace n { inline namespace m { int f() { return 1; } } }",
           "template <typename T> T f(T x) { return x; }",
           "struct S { __host__ void f() {} };",
           "struct S { friend int f(S) { return 1; } };",
           "struct S { int f(); }; __host__ int S::f() { return 1; }",
           "#define HOST int f() { return 1; }\nHOST",
           "#define GLUE(a, b) a##b\nint GLUE(ma, in)() { return 0; }",
           "in\\\nt f() <% return 1; %>",
           "int \\u00e4() { return 1; }",
           "__attribute__((host)) int f() { return 1; }",
           "auto f() -> int { return 1; }",
           "extern \"C\" __host__ __device__ int abs(int x) { return x; }",
           "extern \"C\" constexpr int abs(int x) { return x; }",
       })
    EXPECT_EQ(rules(Text), "host-function") << Text;
}

TEST(AdmissionRules, HostVariables) {
  for (const char *Text : {
           "int x;",
           "static float x = 1;",
           "extern int x;",
           "thread_local int x;",
           "namespace { int x; }",
           "inline int x = 1;",
           "template <typename T> T x = T();",
           "struct S { static int x; }; int S::x = 1;",
           "struct S { inline static int x = 1; };",
       })
    EXPECT_EQ(rules(Text), "host-variable") << Text;
}

TEST(AdmissionRules, CodeBeforeAndAfterMain) {
  EXPECT_EQ(rules("constexpr int f(int x) { return x; }\nextern int y;\n"
                  "const int x = f(y);"),
            "dynamic-init+host-variable");
  EXPECT_EQ(rules("struct S { int x; __device__ __host__ S() : x(1) {}\n"
                  "  __device__ __host__ ~S() {} };\nconst S s;"),
            "dynamic-init");
  EXPECT_EQ(rules("struct S { int x; constexpr S() : x(1) {}\n"
                  "  constexpr ~S() {} };\nconst S s;"),
            "dynamic-init");
}

TEST(AdmissionRules, Includes) {
  // Each of these files is there and harmless.
  for (const char *Text : {
           "#include \"/dev/null\"",
           "#include </dev/null>",
           "#include <cuda/../../other.h>",
           "#include \"../other.h\"",
           "#include \"other.h\"",
           "#include_next \"other.h\"",
           "#import \"other.h\"",
           "#include_next <other.h>",
           "%:include \"other.h\"",
           "#inc\\\nlude \"other.h\"",
           "#/**/include \"other.h\"",
           "#define HEADER \"other.h\"\n#include HEADER",
           "#define TEXT(x) #x\n#include TEXT(other.h)",
           "#if 1\n#include \"other.h\"\n#endif",
           "#include \"variant.cu\"",
           // On the list, but found beside the variant.
           "#include \"math.h\"",
           "#define HEADER \"cmath\"\n#include HEADER",
       })
    EXPECT_EQ(judge(std::string("#ifndef ONCE\n#define ONCE\n") + Text +
                        "\n__global__ void k() {}\n#endif\n",
                    {{"/store/other.h", ""},
                     {"/other.h", ""},
                     {"/store/math.h", ""},
                     {"/store/cmath", ""},
                     {"/usr/include/cuda/nothing.h", ""},
                     {"/usr/other.h", ""},
                     {"/usr/include/other.h", ""}}),
              "include")
        << Text;
  EXPECT_EQ(rules("#if __has_include(<cstdlib>)\n#endif"), "environment");
}

TEST(AdmissionRules, HeadersMayIncludeByMacrosOfTheirOwn) {
  clang::tooling::FileContentMappings Header = {
      {"/usr/include/cuda/chooses.h", "#include CHOICE\n"},
      {"/usr/include/cuda/pastes.h",
       "#define TEXT(x) #x\n#define NAME(x) TEXT(cuda/x.h)\n"
       "#define PATH(x) TEXT(x)\n#ifdef ROOT\n#include PATH(ROOT/other.h)\n"
       "#else\n#include NAME(other)\n#endif\n"},
      {"/usr/include/cuda/other.h", ""},
      {"/store/other.h", ""}};
  EXPECT_EQ(judge("#define CHOICE \"/store/other.h\"\n"
                  "#include <cuda/chooses.h>\n",
                  Header),
            "include+macro");
  EXPECT_EQ(judge("#define ROOT /store\n#include <cuda/pastes.h>\n", Header),
            "include+macro");
  EXPECT_EQ(judge("#define ROOT cuda\n#include <cuda/pastes.h>\n", Header),
            "macro");
  EXPECT_EQ(judge("#include <cuda/pastes.h>\n", Header), "");
  EXPECT_EQ(judge("#include <cuda/chooses.h>\n__global__ void k() {}\n",
                  {{"/usr/include/cuda/chooses.h",
                    "#define CHOICE \"/store/other.h\"\n#include CHOICE\n"},
                   {"/store/other.h", ""}}),
            "");
}

TEST(AdmissionRules, Embed) {
  for (const char *Text :
       {"#embed \"data\"", "%:embed \"data\"", "#em\\\nbed \"data\" limit(1)",
        "#define DATA \"data\"\n#embed DATA"})
    EXPECT_EQ(judge(std::string("const char x[] = {\n") + Text + "\n};\n",
                    {{"/store/data", "1234"}}),
              "embed")
        << Text;
  EXPECT_EQ(rules("#if __has_embed(\"data\")\n#endif"), "embed");
}

TEST(AdmissionRules, Pragmas) {
  for (const char *Text : {
           "#pragma clang optimize off",
           "#pragma clang fp contract(fast)",
           "#pragma STDC FP_CONTRACT ON",
           "#pragma clang force_cuda_host_device begin\n"
           "#pragma clang force_cuda_host_device end",
           "#pragma message \"hello\"",
           "#pragma GCC diagnostic ignored \"-Wall\"",
           "#pragma weak k",
           "#pragma comment(lib, \"m\")",
           "#pragma redefine_extname f g",
           "#pragma push_macro(\"x\")",
           "%:pragma clang optimize off",
           "#/* unroll */ pragma clang optimize off",
           "#pra\\\ngma clang optimize off",
           "_Pragma(\"clang optimize off\")",
           "_Pragma(L\"clang optimize off\")",
           "_Pragma(R\"(clang optimize off)\")",
           "#define P(x) _Pragma(#x)\nP(clang optimize off)",
           "#define UNROLL \"clang optimize off\"\n"
           "#define unroll(x) _Pragma(x)\nunroll(\"clang optimize off\")",
           "#pragma unrollx",
           "#ident \"mine\"",
       })
    EXPECT_EQ(rules(Text), "pragma") << Text;
}

TEST(AdmissionRules, AssemblyOutsideOfFunctions) {
  for (const char *Text : {
           "asm(\".global .u32 x;\");",
           "__asm__(\"\");",
           "__asm(\"\");",
           "namespace n { asm(\"\"); }",
           "extern \"C\" { asm(\"\"); }",
           "#define A a##sm\n#define B(x, y) x##y\nB(as, m)(\"\");",
       })
    EXPECT_EQ(rules(Text), "file-asm") << Text;
}

TEST(AdmissionRules, AssemblyThatLeavesItsFunction) {
  for (const char *Text : {
           "asm(\"} .visible .entry evil() {\");",
           "asm(\".visible .global .u32 x;\");",
           "asm(\"ret; .global .u32 x;\");",
           "asm(\"{ .shared .b8 hidden[1024]; }\");",
           "asm(\"/* { */ } .entry evil() {\");",
           "asm(\"{\");",
           "asm(\"// } \\n } .entry evil() { \");",
           "asm(\".pragma \\\"nounroll\\\";\");",
           "asm(\"L: .extern .func f;\");",
       })
    EXPECT_EQ(body(Text), "asm") << Text;
  EXPECT_EQ(rules("template <int N> __device__ void f() {\n"
                  "  asm(\"} .entry evil() {\");\n}"),
            "asm");
  EXPECT_EQ(rules("__device__ auto f = [] { asm(\"}\"); };"), "asm");
}

TEST(AdmissionRules, AttributesThatReachOut) {
  for (const char *Text : {
           "__attribute__((used)) __device__ int x;",
           "[[gnu::used]] __device__ void f() {}",
           "__attribute__((retain)) __device__ int x;",
           "__attribute__((section(\"a\"))) __device__ int x;",
           "__attribute__((weak)) __device__ int x;",
           "__attribute__((annotate(\"a\"))) __device__ void f() {}",
           "__device__ int f() __asm__(\"other\");",
           "extern __device__ int x asm(\"other\");",
           "struct S { __attribute__((used)) __device__ void f() {} };",
           "#define KEEP __attribute__((used))\nKEEP __device__ int x;",
       })
    EXPECT_EQ(rules(Text), "attribute") << Text;
}

TEST(AdmissionRules, ConstructorsAndDestructors) {
  // On device functions clang itself refuses them.
  for (const char *Text : {
           "__attribute__((constructor)) void f() {}",
           "[[gnu::constructor]] static void f() {}",
           "__attribute__((__destructor__)) void f() {}",
           "extern \"C\" [[gnu::destructor(101)]] void f() {}",
       })
    EXPECT_EQ(rules(Text), "attribute+host-function") << Text;
}

TEST(AdmissionRules, StateThatOutlivesALaunch) {
  EXPECT_EQ(body("static int calls; p[0] = ++calls;"), "state");
  EXPECT_EQ(rules("__device__ int f() { static __device__ int calls = 1;\n"
                  "  return ++calls; }"),
            "state");
  EXPECT_EQ(rules("template <typename T> __device__ T *f() {\n"
                  "  static T cache[4]; return cache; }"),
            "state");
}

// As glibc 2.39 has it: no __FILE__ is spelled anywhere.
TEST(AdmissionRules, AssertsOfNewerLibraries) {
  const clang::tooling::FileContentMappings Header = {
      {"/usr/include/assert.h",
       "__device__ void __assert_fail(const char *, const char *, unsigned);\n"
       "#define __ASSERT_FILE __builtin_FILE()\n"
       "#define assert(E) \\\n"
       "  ((E) ? void(0) : __assert_fail(#E, __ASSERT_FILE, 0))\n"
       "#define FILE_OF __ASSERT_FILE\n"}};
  auto Of = [&](const std::string &Body) {
    return judge("#include <assert.h>\n__device__ const char *f(int n) {\n" +
                     Body + "}\n",
                 Header);
  };
  EXPECT_EQ(Of("assert(n > 0); return 0;"), "");
  EXPECT_EQ(Of("return FILE_OF;"), "environment");
  EXPECT_EQ(Of("return __ASSERT_FILE;"), "environment");
  EXPECT_EQ(Of("assert(__builtin_FILE()[n]); return 0;"), "environment");
}

TEST(AdmissionRules, WhereAndWhen) {
  for (const char *Text :
       {"__device__ const char *f() { return __FILE__; }",
        "__device__ const char *f() { return __DATE__; }",
        "__device__ const char *f() { return __TIME__; }",
        "__device__ const char *f() { return __TIMESTAMP__; }",
        "__device__ const char *f() { return __BASE_FILE__; }",
        "__device__ const char *f() { return __FILE_NAME__; }",
        "__device__ int f() { return __COUNTER__; }",
        "#define WHERE __FILE__\n"
        "__device__ const char *f() { return WHERE; }",
        "__device__ const char *f() { return __builtin_FILE(); }",
        "__device__ const char *f(const char *p = __builtin_FILE()) {\n"
        "  return p; }"})
    EXPECT_EQ(rules(Text), "environment") << Text;
}
