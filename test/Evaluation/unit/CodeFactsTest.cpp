//===- CodeFactsTest.cpp - What device code does with its input -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluation/CodeFacts.h"
#include "cupilot/Compile/Bitcode.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

using namespace cupilot;
using namespace llvm;

namespace {
/// Kernels take (const float *in, float *out, int n, int w, long long m,
/// float alpha): scalars s0 = n, s1 = w, s2 = m.
class Facts : public testing::Test {
protected:
  static void SetUpTestSuite() {
    auto Tools = Toolchain::find({});
    bool Found = Tools && !Tools->CudaPath.empty();
    if (!Tools)
      consumeError(Tools.takeError());
    if (!Found)
      return;
    TemporaryDirectory Dir = cantFail(TemporaryDirectory::create("facts"));
    cantFail(writeFileAtomic(Dir.file("k.cu"), Source));
    Bitcode = cantFail(compileDeviceBitcode(Dir.file("k.cu"), "sm_90",
                                            {"-O2", "-gline-tables-only"}));
  }
  void SetUp() override {
    if (Bitcode.empty())
      GTEST_SKIP() << "no CUDA toolkit";
    K.Name = K.Symbol = "k";
    K.Params = {{"in", "const float *", 8, true, true, false, "float", 4},
                {"out", "float *", 8, true, false, false, "float", 4},
                {"n", "int", 4, false, false, false, "", 0},
                {"w", "int", 4, false, false, false, "", 0},
                {"m", "long long", 8, false, false, false, "", 0},
                {"alpha", "float", 4, false, false, false, "", 0}};
    K.Scalars = {{2, 0, 32, true}, {3, 0, 32, true}, {4, 0, 64, true}};
    K.Pointers = {{0, 0}, {1, 0}};
  }
  CodeFacts of(std::string Symbol, bool OwnLaunch = true) {
    return cantFail(factsOf(K, Bitcode, {std::move(Symbol)}, OwnLaunch));
  }
  /// "E mod M, ..." in the order that the code has them.
  static std::string moduli(const CodeFacts &F) {
    return join(map_range(F.Moduli,
                          [](const ModulusFact &M) {
                            return M.E.str() + " mod " + itostr(M.Modulus);
                          }),
                "; ");
  }
  static std::string thresholds(const CodeFacts &F) {
    return join(map_range(F.Thresholds,
                          [](const ThresholdFact &T) {
                            return T.E.str() + " ? " + itostr(T.Value);
                          }),
                "; ");
  }
  static std::string products(const CodeFacts &F) {
    return join(map_range(F.Products, [](const Expr &E) { return E.str(); }),
                "; ");
  }
  /// The variant's narrowings: "bits[u|f]: Most" or "bits: memory".
  std::string narrower(std::string Original, std::string Variant) {
    return join(
        map_range(narrowerThan(of(std::move(Original)), of(std::move(Variant))),
                  [](const NarrowingFact &N) {
                    return itostr(N.Bits) +
                           (N.IsFloat  ? "f"
                            : N.Signed ? ""
                                       : "u") +
                           ": " +
                           (N.FromMemory ? "memory"
                            : N.Most     ? N.Most->str()
                                         : "?");
                  }),
        "; ");
  }
  Kernel K;
  static const char Source[];
  static std::string Bitcode;
};
} // namespace

std::string Facts::Bitcode;

const char Facts::Source[] = R"(
#define A const float *in, float *out, int n, int w, long long m, float alpha
#define K extern "C" __global__ void
#define I int i = blockIdx.x * blockDim.x + threadIdx.x;
K plain(A) { I if (i < n) out[i] = in[i] * alpha; }
K seeds(A) { I out[i] = (float)(((unsigned long long)m * 25214903917ull + 11) >> 40) + in[i];
  ((long long *)out)[i] = m * 3; }
K seeds2(A) { I ((long long *)out)[i] = m * 3 + ((long long)w << 5); }
K halves(A) { I ((unsigned *)out)[2 * i] = (unsigned)m * 3; ((unsigned *)out)[2 * i + 1] = (unsigned)(m >> 32) ^ 7; }
__device__ float pick(float v, int flag) { return flag ? v : 2 * v; }
K decides(A) { I out[i] = pick(in[i], w); }
K addresses(A) { I out[i + m] = in[i * w]; }
K turns(A) { I float s = 0; for (int k = 0; k < n; k += 16) s += in[k]; out[i] = s; }
K moduli(A) { I if (n % 4 == 0) out[i] = 1; if ((w & 31) == 1) out[i] = 2; out[w / 12] = 1; out[n >> 5] = in[n & ~7];
  if (i % 6 == 2) out[i] = 3; }
K tile(A) { int i = blockIdx.x * 192 + threadIdx.x; if (i < n) out[i] = in[i]; }
K thresholds(A) { I if (n > 16000) out[0] = 1; if (i < 4096) out[i] = 2; if (w == n) out[1] = 1;
  out[min(n, 777)] = 3; switch (w) { case 5: out[5] = 1; } for (int k = 0; k < n; ++k) if (k == 5000) out[k] = 0; }
K floats(A) { I if (alpha > 1.5f) out[i] = 1; if (-alpha >= 2.0f) out[i] = 2; if (fabsf(alpha) < 8) out[i] = 3;
  if (in[i] > 77.0f) out[i] = 4; out[i] = fmaxf(alpha, 0.25f); }
K floatData(A) { I out[i] = in[i] * alpha; }
K rows(A) { for (int r = 0; r < n; ++r) for (int c = threadIdx.x; c < w; c += blockDim.x) out[r * w + c] = in[r * w + c]; }
K wide(A) { size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; if (i < m) out[i] = in[i]; }
K wideNarrow(A) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < m) out[i] = in[i]; }
K blockInShort(A) { unsigned short b = blockIdx.x; size_t i = (size_t)b * blockDim.x + threadIdx.x; if (i < m) out[i] = in[i]; }
K large(A) { size_t i = threadIdx.x; out[(size_t)n * w * 1000 + i] = 1; }
K largeNarrow(A) { size_t i = threadIdx.x; out[n * w * 1000 + i] = 1; }
K third(A) { unsigned i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = in[i / 3]; }
K thirdByMultiply(A) { unsigned i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = in[(i * 0xAAABu) >> 17]; }
K byFloat(A) { unsigned i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = in[(int)((float)i / w)]; }
K counts(A) { int c = 0; for (int k = 0; k < n; ++k) if (in[k] > 0) ++c; ((int *)out)[0] = c; }
K countsInFloat(A) { float c = 0; for (int k = 0; k < n; ++k) if (in[k] > 0) c += 1; ((int *)out)[0] = (int)c; }
K countsInShort(A) { unsigned short c = 0; for (int k = 0; k < n; ++k) if (in[k] > 0) ++c; ((int *)out)[0] = c; }
K gather(A) { const int *at = (const int *)in; I if (i < n) out[(size_t)at[i] * w] = 1; }
K gatherNarrow(A) { const int *at = (const int *)in; I if (i < n) out[at[i] * w] = 1; }
K gatherShort(A) { const int *at = (const int *)in; I if (i < n) out[(size_t)(short)at[i] * w] = 1; }
K beside(A) { const int *at = (const int *)in; I if (i < n) out[at[i] + (long long)n * w] = 1; }
K besideNarrow(A) { const int *at = (const int *)in; I if (i < n) out[at[i] + n * w] = 1; }
K histogram(A) { const int *at = (const int *)in; I if (i < n) atomicAdd((int *)out + at[i], 1); }
K histogramShared(A) { __shared__ int h[4 * 64]; const int *at = (const int *)in; I
  if (i < n) atomicAdd(&h[at[i] + threadIdx.x / 32 * 64], 1); __syncthreads(); atomicAdd((int *)out + threadIdx.x, h[threadIdx.x]); }
K signOr(A) { I if (i < n) out[(unsigned)(n | -n) >> 20] = in[i]; }
K signOrShort(A) { I if (i < n) { unsigned short o = (unsigned)(n | -n) >> 8; out[o >> 12] = in[i]; } }
K quantise(A) { I if (i < n) ((signed char *)out)[i] = (signed char)rintf(in[i] * alpha); }
)";

TEST_F(Facts, WhatIsUsedAndForWhat) {
  CodeFacts F = of("plain");
  EXPECT_TRUE(F.Scalars[0].Decides);
  EXPECT_FALSE(F.Scalars[0].isData());
  EXPECT_FALSE(F.Scalars[1].Used);
  EXPECT_TRUE(F.Pointers[0].Addresses);
  ASSERT_EQ(F.Floats.size(), 1u);
  EXPECT_TRUE(F.Floats[0].first == (FloatRef{5, 0, FloatRef::Format::Float}));
  EXPECT_TRUE(F.Floats[0].second.isData());
  EXPECT_TRUE(F.Dims[GridX].Decides && F.Dims[BlockX].Addresses);
  EXPECT_FALSE(F.Dims[GridY].Used);
  EXPECT_EQ(products(F), "gx * bx");
  F = of("decides");
  EXPECT_TRUE(F.Scalars[1].Decides);
  EXPECT_FALSE(F.Scalars[1].Addresses);
  F = of("addresses");
  EXPECT_TRUE(F.Scalars[1].Addresses && F.Scalars[2].Addresses);
  EXPECT_FALSE(F.Scalars[1].Decides || F.Scalars[2].Narrowed);
  F = of("turns");
  EXPECT_TRUE(F.Scalars[0].Decides);
}

TEST_F(Facts, SeedsAreData) {
  EXPECT_TRUE(of("seeds2").Scalars[2].isData());
  EXPECT_TRUE(of("seeds2").Scalars[1].isData());
  EXPECT_TRUE(of("halves").Scalars[2].isData());
  // 64 bits become a float.
  EXPECT_TRUE(of("seeds").Scalars[2].Narrowed);
  EXPECT_FALSE(both(of("seeds2"), of("seeds")).Scalars[2].isData());
}

TEST_F(Facts, Moduli) {
  EXPECT_EQ(moduli(of("moduli")),
            "s0 mod 4; s1 mod 32; s1 mod 12; s0 mod 8; s0 mod 32; "
            "gx * bx mod 6");
  EXPECT_EQ(moduli(of("tile")), "s0 mod 192");
  EXPECT_EQ(moduli(of("turns")), "s0 mod 16");
}

TEST_F(Facts, Thresholds) {
  EXPECT_EQ(thresholds(of("thresholds")),
            "s0 ? 16000; gx * bx ? 4096; (s0 * -1) + s1 ? 0; s0 ? 777; "
            "s1 ? 5; s0 ? 5000");
  CodeFacts F = of("floats");
  std::vector<double> Values;
  for (const FloatThresholdFact &T : F.FloatThresholds)
    Values.push_back(T.Value);
  EXPECT_EQ(Values, (std::vector<double>{1.5, -2, 8, -8, 0.25}));
  EXPECT_TRUE(F.Floats[0].second.Decides);
}

TEST_F(Facts, Products) { EXPECT_EQ(products(of("rows")), "s0 * s1"); }

TEST_F(Facts, NarrowerIndices) {
  EXPECT_EQ(narrower("wide", "wide"), "");
  EXPECT_EQ(narrower("wideNarrow", "wide"), "");
  EXPECT_EQ(narrower("wide", "wideNarrow"), "32: (gx * bx) + -1");
  EXPECT_EQ(narrower("wide", "blockInShort"), "16u: gx + -1");
  EXPECT_EQ(narrower("large", "large"), "");
  EXPECT_EQ(narrower("large", "largeNarrow"), "32: (s0 * s1) * 1000");
  EXPECT_EQ(narrower("third", "third"), "");
  EXPECT_EQ(narrower("third", "thirdByMultiply"),
            "32u: ((gx * bx) * 43691) + -43691");
  EXPECT_EQ(narrower("third", "byFloat"), "24f: (gx * bx) + -1; 24f: s1");
}

TEST_F(Facts, NarrowerResults) {
  EXPECT_EQ(narrower("counts", "counts"), "");
  EXPECT_EQ(narrower("counts", "countsInFloat"), "24f: s0");
  EXPECT_EQ(narrower("counts", "countsInShort"), "16u: s0 + 1");
  EXPECT_EQ(narrower("quantise", "quantise"), "");
}

TEST_F(Facts, BitsOfWhatMayBeNegative) {
  // Nothing is known of them: their sum would be 0.
  EXPECT_NE(narrower("signOr", "signOrShort"), "");
}

TEST_F(Facts, NarrowedValuesFromMemory) {
  EXPECT_EQ(narrower("gather", "gather"), "");
  EXPECT_EQ(narrower("gather", "gatherNarrow"), "32: memory");
  EXPECT_EQ(narrower("gather", "gatherShort"), "16: memory");
  // What is known of a sum can be bounded.
  EXPECT_EQ(narrower("beside", "besideNarrow"), "32: s0 * s1");
  EXPECT_EQ(narrower("besideNarrow", "besideNarrow"), "");
  EXPECT_EQ(narrower("histogram", "histogramShared"), "");
}

TEST_F(Facts, ABoundForTheDomain) {
  std::vector<NarrowingFact> Found =
      narrowerThan(of("large"), of("largeNarrow"));
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_NE(Found[0].Location.find("k.cu:"), std::string::npos);
  std::optional<RangeClause> Clause = fits(Found[0]);
  ASSERT_TRUE(Clause);
  EXPECT_EQ(Clause->In.front().Most, INT32_MAX);
  // Of an argument itself, from both ends.
  Found = narrowerThan(of("counts"), of("countsInFloat"));
  ASSERT_EQ(Found.size(), 1u);
  Clause = fits(Found[0]);
  ASSERT_TRUE(Clause);
  EXPECT_EQ(Clause->In.front().Least, -(1 << 24));
}

TEST_F(Facts, APlanIsReadInTermsOfTheOriginal) {
  // Each thread's index is that of the plan's launch.
  LaunchPlan Plan;
  Plan.Launches.push_back({});
  Plan.Launches[0].Symbol = "thresholds";
  Plan.Launches[0].Grid[0] =
      Expr::binary(Expr::Kind::CeilDiv, Expr::symbol(0), Expr::constant(256));
  Plan.Launches[0].Block[0] = Expr::constant(256);
  CodeFacts F = cantFail(factsOf(K, Bitcode, Plan));
  EXPECT_NE(thresholds(F).find("(s0 ceildiv 256) * 256 ? 4096"),
            std::string::npos)
      << thresholds(F);
  EXPECT_FALSE(F.Dims[GridX].Used);
  // Without one, they say nothing.
  F = of("thresholds", /*OwnLaunch=*/false);
  EXPECT_EQ(thresholds(F).find("4096"), std::string::npos) << thresholds(F);
  EXPECT_FALSE(F.Dims[BlockX].Used);
}

TEST_F(Facts, AnUnknownKernelIsAnError) {
  Expected<CodeFacts> F = factsOf(K, Bitcode, {"none"}, true);
  ASSERT_FALSE(static_cast<bool>(F));
  EXPECT_EQ(toString(F.takeError()), "the device code has no kernel 'none'");
}
