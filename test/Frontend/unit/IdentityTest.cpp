//===- IdentityTest.cpp - Tests for the source identity -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Extraction.h"

using namespace cupilot;

static const char Header[] = R"(#pragma once
#include <cstdint>
#define GAIN 3
#define APPLY(x) ((x) * GAIN)
namespace deep {
constexpr int kOffset = 7;
struct Pair { int a; float b; };
enum Level { Low = 1, High = 2 };
__device__ float third(float x) { return APPLY(x) + kOffset; }
__device__ inline float second(float x) { return third(x) + High; }
template <typename T> __device__ T first(T x, T bias = 1) { return second(x) + bias; }
template <typename T> struct Traits { static constexpr int width = 4; };
template <> struct Traits<float> { static constexpr int width = 8; };
__device__ float pick(int) { return 1.0f; }
}
)";

static const char Unit[] = R"(#include "deep.h"
#include <cstdio>
using deep::first;
__constant__ float table[4] = {1, 2, 3, 4};
__device__ float unrelated(float x) { return x * 100; }
template <typename T, int N>
__global__ void kernel(T *out, const deep::Pair *in, int n) {
  int i = threadIdx.x; // the thread
  if (i < n)
    out[i] = first(in[i].b) + table[i & 3] + N + deep::Traits<T>::width + deep::pick(in[i].a);
#pragma unroll 4
  for (int j = 0; j < n; ++j)
    out[j] += 1;
}
int main() {
  kernel<float, 2><<<1, 32>>>(nullptr, nullptr, 0);
  printf("%d\n", __LINE__);
}
)";

/// The digest of the unit after replacing \p From by \p To in header and unit.
static std::string digestWith(const std::string &From, const std::string &To,
                              std::vector<std::string> Flags = {}) {
  std::string H = Header, U = Unit;
  unsigned Count = 0;
  for (std::string *Text : {&H, &U})
    for (size_t At = 0;
         !From.empty() && (At = Text->find(From, At)) != std::string::npos;
         At += To.size(), ++Count)
      Text->replace(At, From.size(), To);
  EXPECT_TRUE(From.empty() || Count > 0) << "nothing to replace: " << From;
  auto Kernels = extractSources({{"unit.cu", U}, {"include/deep.h", H}},
                                /*Verify=*/false, std::move(Flags));
  if (!Kernels) {
    ADD_FAILURE() << From << ": " << llvm::toString(Kernels.takeError());
    return "";
  }
  EXPECT_EQ(Kernels->size(), 1u);
  return Kernels->front().Digest;
}

static const std::string &baseDigest() {
  static const std::string Digest = digestWith("", "");
  return Digest;
}

class SameIdentity
    : public ::testing::TestWithParam<std::pair<const char *, const char *>> {};
TEST_P(SameIdentity, holds) {
  REQUIRE_TOOLKIT();
  EXPECT_EQ(baseDigest(), digestWith(GetParam().first, GetParam().second));
}
INSTANTIATE_TEST_SUITE_P(
    Identity, SameIdentity,
    ::testing::Values(
        std::pair("  int i = threadIdx.x; // the thread",
                  "\n\n\tint  i=threadIdx.x;/* other */"),
        std::pair("return x * 100;", "return x * 101;"),
        // Moved lines and other order of declarations.
        std::pair("__constant__ float table[4] = {1, 2, 3, 4};\n__device__ "
                  "float unrelated(float x) { return x * 100; }",
                  "\n\n__device__ int more() { return 1; }\n#define OTHER "
                  "5\n__constant__ float table[4] = {1, 2, 3, 4};"),
        std::pair("constexpr int kOffset = 7;\nstruct Pair { int a; float b; "
                  "};",
                  "struct Pair { int a; float b; };\nconstexpr int kOffset = "
                  "7;"),
        // A member that the kernel does not use, an overload not chosen.
        std::pair("int a; float b; };",
                  "int a; float b; float sum() const { return a + b; } };"),
        std::pair("__device__ float pick(int)",
                  "__device__ float pick(double) { return 2.0f; }\n"
                  "__device__ float pick(int)"),
        std::pair("width = 4", "width = 5"), // of the primary template
        std::pair("#include <cstdio>", "#include <cstdio>\n#include <cmath>")));

class OtherIdentity
    : public ::testing::TestWithParam<std::pair<const char *, const char *>> {};
TEST_P(OtherIdentity, holds) {
  REQUIRE_TOOLKIT();
  EXPECT_NE(baseDigest(), digestWith(GetParam().first, GetParam().second));
}
INSTANTIATE_TEST_SUITE_P(
    Identity, OtherIdentity,
    ::testing::Values(
        std::pair("out[j] += 1", "out[j] += 2"), // body
        std::pair("return second(x) + bias", "return second(x) - bias"),
        std::pair("return APPLY(x) +", "return APPLY(x) -"), // three calls on
        std::pair("kOffset = 7", "kOffset = 8"),             // constant
        std::pair("High = 2", "High = 3"),                   // enumerator
        std::pair("define GAIN 3", "define GAIN 4"),         // macro
        std::pair("T bias = 1", "T bias = 2"),               // default
        std::pair("width = 8", "width = 9"),                 // specialisation
        std::pair("kernel<float, 2>", "kernel<float, 3>"),   // argument
        std::pair("int a; float b;", "int a; int pad; float b;"),
        std::pair("{1, 2, 3, 4}", "{1, 2, 3, 5}"), // device variable
        std::pair("#pragma unroll 4", "#pragma unroll 2"),
        std::pair("template <> struct Traits<float> { static constexpr int "
                  "width = 8; };",
                  ""), // the primary template instead
        // Another overload is the better one now.
        std::pair("float pick(int) { return 1.0f; }",
                  "float pick(long) { return 1.0f; }"),
        std::pair("struct Pair {", "struct alignas(16) Pair {")));

TEST(Identity, overloadThatIsChosenCounts) {
  REQUIRE_TOOLKIT();
  // The text of the kernel is the same; what a name means is not.
  const char *Kernel = "__global__ void k(float *p) { p[0] = f(1); }\n";
  std::string Long = "__device__ float f(long x) { return x; }\n";
  std::string Int = "__device__ float f(int x) { return x + 1; }\n";
  std::string A = extractOne(Long + Int + Kernel, false).Digest;
  std::string B = extractOne(Long + Kernel + Int, false).Digest;
  EXPECT_NE(A, B);
}

TEST(Identity, commandLineMacroCounts) {
  REQUIRE_TOOLKIT();
  std::string Text = "__global__ void k(float *p) { p[0] = WIDTH; }\n";
  std::string A = extractOne(Text, false, {"-DWIDTH=1"}).Digest;
  EXPECT_NE(A, extractOne(Text, false, {"-DWIDTH=2"}).Digest);
  EXPECT_EQ(A,
            extractOne(Text, false, {"-DWIDTH=1", "-DOTHER=2", "-g"}).Digest);
}
