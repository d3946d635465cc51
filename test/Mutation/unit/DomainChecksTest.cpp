//===- DomainChecksTest.cpp - Domains that are wrong or narrow ------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Mutation/DomainChecks.h"
#include "cupilot/Compile/Bitcode.h"
#include "cupilot/Evaluation/Described.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace cupilot;

namespace {
/// The kernel k(const float *in, float *out, int n, int twice), and variants of
/// it that have faults for some launches.
class DomainChecksTest : public testing::Test {
protected:
  void SetUp() override {
    auto Tools = Toolchain::find({});
    if (!Tools || Tools->CudaPath.empty()) {
      consumeError(Tools.takeError());
      GTEST_SKIP() << "no CUDA toolkit";
    }
    K.Name = "k(const float *, float *, int, int)";
    K.Symbol = "k";
    K.Params = {{"in", "const float *", 8, true, true, false, "float", 4},
                {"out", "float *", 8, true, false, false, "float", 4},
                {"n", "int", 4, false, false, false, "", 0},
                {"twice", "int", 4, false, false, false, "", 0}};
    K.Scalars = {{2, 0, 32, true}, {3, 0, 32, true}};
    K.Pointers = {{0, 0}, {1, 0}};
    Recorded = {launch(1000, 1)};
    Q.K = &K;
    Q.Inputs = 30;
    Q.Original = compile("out[i] = in[i] * (twice ? 2.0f : 1.0f);");
    Q.Recorded = Recorded;
  }

  Workload launch(int N, int Twice) {
    std::string Size = std::to_string(N);
    return cantFail(parseWorkload(
        "grid=" + std::to_string((N + 127) / 128) +
            ", block=128, args=[buffer f32 n=" + Size +
            " uniform seed=1, buffer f32 n=" + Size + " output, " + Size +
            ", " + std::to_string(Twice) + "]",
        K, "w"));
  }

  static std::string compile(StringRef Body) {
    TemporaryDirectory Dir = cantFail(TemporaryDirectory::create("domain"));
    cantFail(writeFileAtomic(
        Dir.file("k.cu"),
        ("extern \"C\" __global__ void k(const float *in, float *out, int n, "
         "int twice) {\nint i = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "if (i >= n) return;\n" +
         Body + "}")
            .str()));
    return cantFail(compileDeviceBitcode(Dir.file("k.cu"), "sm_90", {"-O2"}));
  }

  static SideVariant variant(StringRef Body) {
    SideVariant V;
    V.Code = compile(Body);
    V.Plan.Launches.push_back({});
    V.Plan.Launches[0].Symbol = "k";
    V.When.Arch = "sm_90";
    return V;
  }

  /// n and twice in these ranges.
  static Domain domain(Interval N, Interval Twice) {
    DomainBox Box;
    Box.Ranges = {{Expr::symbol(0), {N}}, {Expr::symbol(1), {Twice}}};
    Box.Ranges.push_back({Expr::dim(GridX), {{1, 100000}}});
    Box.Ranges.push_back({Expr::dim(BlockX), {{32, 256}}});
    return {{Box}};
  }

  std::string boundedFault(const SideVariant &V, std::optional<Domain> Where,
                           Workload Outside) {
    return cantFail(faultOfBounded(Q, V, Where, Outside)).value_or("");
  }

  Kernel K;
  std::vector<Workload> Recorded;
  DomainQuestion Q;
};
} // namespace

TEST_F(DomainChecksTest, WhatIsWrongOutsideIsBounded) {
  SideVariant V = variant("if (i < 3000) out[i] = in[i] * (twice ? 2 : 1);");
  EXPECT_EQ(boundedFault(V, domain({1, 3000}, {0, 1}), launch(4000, 1)), "");
}

TEST_F(DomainChecksTest, WithoutDomainEverythingCounts) {
  SideVariant V = variant("if (i < 3000) out[i] = in[i] * (twice ? 2 : 1);");
  EXPECT_NE(boundedFault(V, std::nullopt, launch(4000, 1)).find("lies inside"),
            std::string::npos);
}

TEST_F(DomainChecksTest, RandomLaunchesReachTheEnds) {
  // Wrong for one size alone, the last of the domain.
  SideVariant V = variant("out[i] = n == 3000 ? 0 : in[i] * (twice ? 2 : 1);");
  EXPECT_NE(boundedFault(V, domain({1, 3000}, {0, 1}), launch(3000, 1))
                .find("lies inside"),
            std::string::npos);
  SideVariant Far = variant("out[i] = n == 3000 || n == 5000 ? 0 : in[i] * "
                            "(twice ? 2 : 1);");
  EXPECT_NE(boundedFault(Far, domain({1, 3000}, {0, 1}), launch(5000, 1))
                .find("wrong inside its domain"),
            std::string::npos);
}

TEST_F(DomainChecksTest, FlagsOfADomainAreTried) {
  SideVariant V = variant("out[i] = n > 4000 ? 0 : in[i] * 2;");
  EXPECT_NE(boundedFault(V, domain({1, 4000}, {0, 1}), launch(5000, 1))
                .find("wrong inside its domain"),
            std::string::npos);
  EXPECT_EQ(boundedFault(V, domain({1, 4000}, {1, 1}), launch(5000, 1)), "");
}

TEST_F(DomainChecksTest, ALaunchThatShowsNothingIsNoProof) {
  SideVariant V = variant("out[i] = n == 7 ? 0 : in[i] * (twice ? 2 : 1);");
  EXPECT_NE(boundedFault(V, domain({8, 3000}, {0, 1}), launch(4000, 1))
                .find("does not show"),
            std::string::npos);
}

TEST_F(DomainChecksTest, HonestDomainsHoldTheLaunches) {
  Guard Always, Small;
  Always.Arch = Small.Arch = "sm_90";
  // 2000 - n >= 0.
  Small.Constraints = {{Expr::binary(
      Expr::Kind::Add, Expr::constant(2000),
      Expr::binary(Expr::Kind::Mul, Expr::symbol(0), Expr::constant(-1)))}};
  Domain Wide = domain({1, 100000}, {0, 1}), Narrow = domain({1, 2000}, {0, 1});
  Workload Far = launch(3000, 1);
  auto Fault = [&](const Guard &When, const Domain &Mine, const Domain &Own) {
    return cantFail(faultOfHonest(K, When, Mine, Own, Far)).value_or("");
  };
  EXPECT_EQ(Fault(Always, Wide, Wide), "");
  EXPECT_EQ(Fault(Always, Narrow, Wide),
            "its domain leaves out launch w: range of n 1..2000");
  EXPECT_EQ(Fault(Always, Wide, Narrow),
            "the original's own domain leaves out launch w: range of n "
            "1..2000");
  // What the guard keeps out is the author's choice.
  EXPECT_EQ(Fault(Small, Narrow, Narrow), "");
}

TEST_F(DomainChecksTest, ExtentsAreComparedByLogarithm) {
  Domain Own = domain({1, 1 << 20}, {0, 1});
  EXPECT_EQ(narrowerExtent(K, domain({1, 1 << 10}, {0, 1}), Own, 0.5),
            std::nullopt);
  EXPECT_EQ(narrowerExtent(K, domain({1, 1 << 9}, {0, 1}), Own, 0.5),
            "n: 1..512 of 1..1048576");
  // A flag is no extent.
  EXPECT_EQ(narrowerExtent(K, domain({1, 1 << 20}, {1, 1}), Own, 0.5),
            std::nullopt);
  // A product has no least value of its own: it counts from 0 on.
  auto Product = [](int64_t Least, int64_t Most) {
    DomainBox Box;
    Box.Ranges.push_back(
        {Expr::binary(Expr::Kind::Mul, Expr::dim(GridX), Expr::dim(BlockX)),
         {Interval{Least, Most}}});
    return Domain{{Box}};
  };
  EXPECT_EQ(
      narrowerExtent(K, Product(65, 35328), Product(INT64_MIN, 35328), 0.5),
      std::nullopt);
  EXPECT_NE(narrowerExtent(K, Product(INT64_MIN, 128),
                           Product(INT64_MIN, 35328), 0.5),
            std::nullopt);
}

TEST_F(DomainChecksTest, TheScoreTakesWhatIsRightAndWide) {
  SideVariant V = variant("if (i < 3000) out[i] = in[i] * (twice ? 2 : 1);");
  Domain Own = domain({1, 100000}, {0, 1});
  BoundedVerdict Right =
      cantFail(judgeBounded(Q, V, domain({1, 3000}, {0, 1}), Own));
  EXPECT_TRUE(Right.Caught) << Right.Why;
  EXPECT_EQ(Right.Inputs, Q.Inputs);
  BoundedVerdict Small =
      cantFail(judgeBounded(Q, V, domain({990, 1010}, {0, 1}), Own));
  EXPECT_FALSE(Small.Caught);
  EXPECT_FALSE(Small.Differs);
  EXPECT_EQ(Small.Why, "its domain is too small, n: 990..1010 of 1..100000");
  BoundedVerdict Wrong =
      cantFail(judgeBounded(Q, V, domain({1, 20000}, {0, 1}), Own));
  EXPECT_TRUE(Wrong.Differs);
  // Where not even the original was proved, one may differ.
  Domain Short = domain({1, 60000}, {0, 1});
  BoundedVerdict Beyond = cantFail(
      judgeBounded(Q,
                   variant("out[(unsigned short)i] = in[(unsigned short)i] * "
                           "(twice ? 2 : 1);"),
                   Short, Short));
  EXPECT_TRUE(Beyond.Caught) << Beyond.Why;
  // An equivalent one shows nothing anywhere.
  BoundedVerdict Same = cantFail(
      judgeBounded(Q, variant("out[i] = in[i] * (twice ? 2 : 1);"), Own, Own));
  EXPECT_FALSE(Same.Caught);
}
