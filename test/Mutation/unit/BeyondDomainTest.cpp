//===- BeyondDomainTest.cpp - Launches that domains leave out -------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Compile/Bitcode.h"
#include "cupilot/Evaluation/Described.h"
#include "cupilot/Mutation/Independent.h"
#include "cupilot/Support/File.h"
#include "cupilot/Support/Toolchain.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace cupilot;

namespace {
/// The kernel k(const int *in, int *out, int nx, int ny): a thread for each
/// element, rows along y.
class BeyondDomainTest : public testing::Test {
protected:
  void SetUp() override {
    auto Tools = Toolchain::find({});
    if (!Tools || Tools->CudaPath.empty()) {
      consumeError(Tools.takeError());
      GTEST_SKIP() << "no CUDA toolkit";
    }
    K.Name = "k(const int *, int *, int, int)";
    K.Symbol = "k";
    K.Params = {{"in", "const int *", 8, true, true, false, "int", 4},
                {"out", "int *", 8, true, false, false, "int", 4},
                {"nx", "int", 4, false, false, false, "", 0},
                {"ny", "int", 4, false, false, false, "", 0}};
    K.Scalars = {{2, 0, 32, true}, {3, 0, 32, true}};
    K.Pointers = {{0, 0}, {1, 0}};
    Recorded = {cantFail(parseWorkload(
        "grid=2x3, block=32x8, args=[buffer i32 n=1000 iota, buffer i32 "
        "n=1000 output, 50, 20]",
        K, "w"))};
    // Up to 2^20 in each direction.
    DomainBox Box;
    for (unsigned Symbol : {0u, 1u})
      Box.Ranges.push_back({Expr::symbol(Symbol), {Interval{1, 1 << 20}}});
    Where.Boxes = {Box};
  }

  static std::string compile(StringRef Row, StringRef Count) {
    TemporaryDirectory Dir = cantFail(TemporaryDirectory::create("beyond"));
    cantFail(writeFileAtomic(
        Dir.file("k.cu"),
        ("extern \"C\" __global__ void k(const int *in, int *out, int nx, "
         "int ny) {\n  int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
         "  int y = blockIdx.y * blockDim.y + threadIdx.y;\n  y = " +
         Row + ";\n  if (x < nx && y < " + Count +
         ")\n    out[y * nx + x] = in[y * nx + x] + 1;\n}")
            .str()));
    return cantFail(compileDeviceBitcode(Dir.file("k.cu"), "sm_90", {"-O2"}));
  }

  IndependentResult beyond(StringRef Row, StringRef Count, unsigned Inputs,
                           ArrayRef<RangeClause> Narrowed = {},
                           unsigned Bits = 24,
                           ArrayRef<RangeClause> Constants = {}) {
    SideVariant V;
    V.Code = compile(Row, Count);
    V.Plan.Launches.push_back({});
    V.Plan.Launches[0].Symbol = "k";
    V.When.Arch = "sm_90";
    IndependentOptions O;
    O.Inputs = Inputs;
    O.Bits = Bits;
    O.Narrowed = Narrowed;
    O.Constants = Constants;
    return cantFail(
        compareBeyond(K, compile("y", "ny"), V, Recorded, Where, O));
  }

  Kernel K;
  std::vector<Workload> Recorded;
  Domain Where;
};
} // namespace

TEST_F(BeyondDomainTest, RowsThatFloatsRoundAreShown) {
  // 65,535 blocks of 256 rows, or of 8, are fewer than 2^24 rows.
  EXPECT_TRUE(beyond("int(float(y))", "ny", 24).Differs);
}

TEST_F(BeyondDomainTest, WhatDoesNotFitIsShownAtOnce) {
  // All rows of the grid together: a launch or two are enough.
  RangeClause Rows{
      Expr::binary(Expr::Kind::Mul, Expr::dim(GridY), Expr::dim(BlockY)),
      {Interval{INT64_MIN, 1 << 24}}};
  EXPECT_TRUE(beyond("int(float(y))", "ny", 2, Rows).Differs);
}

TEST_F(BeyondDomainTest, WhatFitsIsNotShown) {
  RangeClause Rows{
      Expr::binary(Expr::Kind::Mul, Expr::dim(GridY), Expr::dim(BlockY)),
      {Interval{INT64_MIN, 1 << 24}}};
  IndependentResult R = beyond("int(double(y))", "ny", 2, Rows);
  EXPECT_FALSE(R.Differs) << R.Evidence;
  EXPECT_GT(R.Inputs, 0u);
}

TEST_F(BeyondDomainTest, CountsThatFloatsRoundAreShown) {
  EXPECT_TRUE(beyond("y", "int(float(ny))", 24).Differs);
}

TEST_F(BeyondDomainTest, MultiplesAreExactForLonger) {
  // 2^24 rows of eight are not enough.
  RangeClause Rows{Expr::binary(Expr::Kind::Mul,
                                Expr::binary(Expr::Kind::Mul, Expr::dim(GridY),
                                             Expr::dim(BlockY)),
                                Expr::constant(8)),
                   {Interval{INT64_MIN, 1 << 24}}};
  EXPECT_TRUE(beyond("int(float(y * 8)) / 8", "ny", 24, Rows).Differs);
}

TEST_F(BeyondDomainTest, ConstantsOfTheCodeAreTried) {
  Where.Boxes[0].Ranges[0].In = {Interval{1, 300}};
  RangeClause Wide{Expr::symbol(0), {Interval{777, 777}}};
  IndependentResult R = beyond("y", "ny - (nx == 777)", 1, {}, 0, Wide);
  EXPECT_TRUE(R.Differs);
  EXPECT_NE(R.Evidence.find("nx=777"), std::string::npos) << R.Evidence;
}

TEST_F(BeyondDomainTest, WhatIsEqualIsNotShown) {
  IndependentResult R = beyond("int(double(y))", "ny", 2);
  EXPECT_FALSE(R.Differs) << R.Evidence;
  EXPECT_GT(R.Inputs, 0u);
}
