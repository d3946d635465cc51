//===- DeriveDomainTest.cpp - Boxes around launches -----------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluation/DeriveDomain.h"
#include "cupilot/Model/DomainText.h"
#include "gtest/gtest.h"
#include <cstring>

using namespace cupilot;

namespace {

/// Launches of "k(const float *x, float *y, int n, int mode, float alpha)".
class DeriveDomainTest : public testing::Test {
protected:
  DeriveDomainTest() {
    K.Params = {{"x", "const float *", 8, true, true, false, "float", 4},
                {"y", "float *", 8, true, false, false, "float", 4},
                {"n", "int", 4, false, false, false, "", 0},
                {"mode", "int", 4, false, false, false, "", 0},
                {"alpha", "float", 4, false, false, false, "", 0}};
    K.Scalars = {{2, 0, 32, true}, {3, 0, 32, true}};
    K.Pointers = {{0, 0}, {1, 0}};
    F.K = &K;
    const ValueUse Size{true, true, true, false},
        Mode{true, true, false, false};
    F.Facts.Scalars = {Size, Mode};
    F.Facts.Pointers = {{true, false, true, false}, {true, false, true, false}};
    F.Facts.Floats = {
        {FloatRef{4, 0, FloatRef::Format::Float}, {true, false, false, false}}};
    for (unsigned D : {GridX, BlockX})
      F.Facts.Dims[D].Used = true;
    F.Flags = {1};
    F.Pairs = {{0, 1}};
    Expr Bytes =
        Expr::binary(Expr::Kind::Mul, Expr::symbol(0), Expr::constant(4));
    F.Touched = {Extents{Expr::constant(0), Bytes},
                 Extents{Expr::constant(0), Bytes}};
    F.Natural = {4, 4};
  }

  struct Change {
    uint64_t X = uint64_t(1) << 40, Y = uint64_t(2) << 40;
    int32_t Mode = 0;
    float Alpha = 2;
    uint64_t Block = 256;
    uint64_t Misaligned = 0;
  };

  /// A launch with size \p N; the first is recorded.
  TriedLaunch &launch(int32_t N, bool Right, Change C) {
    TriedLaunch L;
    L.Case = "n=" + std::to_string(N);
    L.Recorded = Tried.empty();
    L.Misaligned = C.Misaligned;
    C.X += C.Misaligned;
    if (C.Y)
      C.Y += C.Misaligned;
    auto Bytes = [](auto V) {
      std::vector<uint8_t> B(sizeof(V));
      std::memcpy(B.data(), &V, sizeof(V));
      return B;
    };
    L.Args = {Bytes(C.X), Bytes(C.Y), Bytes(N), Bytes(C.Mode), Bytes(C.Alpha)};
    LaunchShape S;
    S.Grid[0] = N > 0 ? (N + C.Block - 1) / C.Block : 1;
    S.Block[0] = C.Block;
    L.B = llvm::cantFail(bindLaunch(S, K.Scalars, L.Args));
    if (!Right)
      L.Wrong = GateReason::Mismatch;
    Tried.push_back(std::move(L));
    return Tried.back();
  }
  TriedLaunch &launch(int32_t N, bool Right = true) {
    return launch(N, Right, Change());
  }

  std::string derived() {
    Ends.clear();
    Where = deriveDomain(F, Tried, Ends);
    return domainText(Where, launchNames(K));
  }
  bool admits(const TriedLaunch &L) { return contains(Where, L.B, L.Args); }

  Kernel K;
  DomainFrame F;
  std::vector<TriedLaunch> Tried;
  std::vector<DomainEnd> Ends;
  Domain Where;
};

} // namespace

static bool has(const std::string &Text, const char *Part) {
  return Text.find(Part) != std::string::npos;
}

TEST_F(DeriveDomainTest, HullOfWhatWasRight) {
  launch(1000);
  launch(1);
  launch(5000);
  std::string Text = derived();
  EXPECT_TRUE(has(Text, "1 <= n <= 5000")) << Text;
  EXPECT_TRUE(has(Text, "bx == 256")) << Text;
  EXPECT_TRUE(has(Text, "mode == 0")) << Text;
  EXPECT_TRUE(admits(launch(4321)));
  EXPECT_FALSE(admits(launch(5001)));
  EXPECT_FALSE(admits(launch(0)));
}

TEST_F(DeriveDomainTest, WhatWasWrongIsCutOff) {
  launch(1000);
  launch(2000);
  launch(3000, false);
  launch(70000); // By chance.
  std::string Text = derived();
  EXPECT_TRUE(has(Text, "1000 <= n <= 2000")) << Text;
  ASSERT_EQ(Ends.size(), 1u);
  EXPECT_EQ(Ends[0].Case, "n=3000");
}

TEST_F(DeriveDomainTest, MoreBlocksThanCoverASize) {
  F.Surplus = {Expr::binary(
      Expr::Kind::Add, Expr::dim(GridX),
      Expr::binary(Expr::Kind::Mul,
                   Expr::binary(Expr::Kind::CeilDiv, Expr::symbol(0),
                                Expr::constant(256)),
                   Expr::constant(-1)))};
  auto WithBlocks = [&](int32_t N, int64_t Blocks,
                        bool Right) -> TriedLaunch & {
    TriedLaunch &L = launch(N, Right);
    L.B.Dims[GridX] = Blocks;
    return L;
  };
  launch(1000);
  launch(5000);
  WithBlocks(1000, 9, true);
  // They bound nothing where none was wrong.
  EXPECT_FALSE(has(derived(), "ceildiv"));
  EXPECT_TRUE(admits(WithBlocks(1000, 20, true)));
  Tried.pop_back();
  // Else larger sizes keep the blocks that they need.
  WithBlocks(1000, 20, false);
  std::string Text = derived();
  EXPECT_TRUE(has(Text, "1000 <= n <= 5000")) << Text;
  EXPECT_TRUE(has(Text, "ceildiv")) << Text;
  EXPECT_FALSE(admits(WithBlocks(1000, 10, true)));
  EXPECT_TRUE(admits(WithBlocks(1000, 9, true)));
  EXPECT_TRUE(admits(launch(5000)));
}

TEST_F(DeriveDomainTest, RecordedLaunchesStay) {
  launch(1000);
  launch(1000, false);
  derived();
  EXPECT_TRUE(Where.Boxes.empty());
}

TEST_F(DeriveDomainTest, BlocksAreListedWhereOthersAreWrong) {
  launch(1000);
  for (uint64_t Block : {64, 128, 512}) {
    Change C;
    C.Block = Block;
    launch(1000, true, C);
  }
  Change C;
  C.Block = 96;
  launch(1000, false, C);
  std::string Text = derived();
  EXPECT_TRUE(has(Text, "bx in {64, 128, 256, 512}")) << Text;
}

TEST_F(DeriveDomainTest, BlocksAreToBlameWhereRecordedOnesAreRight) {
  Change Small;
  Small.Block = 64;
  launch(1000);
  launch(1);
  for (int32_t N : {1001, 2000, 3000})
    launch(N, true, Small);
  launch(90, false, Small);
  launch(100, false, Small); // In two blocks.
  // One block of the recorded width may be right because it is one.
  launch(100);
  derived();
  EXPECT_TRUE(admits(launch(1500, true, Small)));
  Tried.pop_back();
  launch(100).B.Dims[GridX] = 2;
  std::string Text = derived();
  EXPECT_TRUE(has(Text, "bx == 256")) << Text;
  EXPECT_TRUE(has(Text, "1 <= n <= 1000")) << Text;
}

TEST_F(DeriveDomainTest, FlagsHaveBoxesOfTheirOwn) {
  launch(1000);
  launch(9000);
  Change On;
  On.Mode = 1;
  TriedLaunch Far = launch(9000, true, On);
  Tried.pop_back();
  launch(1000, true, On);
  derived();
  EXPECT_EQ(Where.Boxes.size(), 2u);
  EXPECT_FALSE(admits(Far)); // It was not tried at that size.
  launch(9000, true, On);
  std::string Text = derived();
  EXPECT_EQ(Where.Boxes.size(), 1u) << Text;
  EXPECT_TRUE(admits(Far)) << Text;
  On.Mode = 2;
  EXPECT_FALSE(admits(launch(1000, true, On)));
}

TEST_F(DeriveDomainTest, ACombinationThatIsWrongAsItIsHasNoBox) {
  launch(1000);
  Change On;
  On.Mode = 1;
  launch(1000, false, On);
  launch(1, true, On); // Where the mode makes no difference.
  derived();
  EXPECT_EQ(Where.Boxes.size(), 1u);
  On.Mode = 1;
  EXPECT_FALSE(admits(launch(1, true, On)));
  ASSERT_FALSE(Ends.empty());
  EXPECT_EQ(Ends.front().Case, "n=1000");
}

TEST_F(DeriveDomainTest, AnEndOfAProductAloneIsNamed) {
  F.Facts.Products = {
      Expr::binary(Expr::Kind::Mul, Expr::dim(GridX), Expr::dim(BlockX))};
  launch(1000);
  Change Narrow, Wide;
  Narrow.Block = 64;
  Wide.Block = 1024;
  launch(4000, true, Narrow);
  launch(200, true, Wide);
  derived();
  EXPECT_TRUE(Ends.empty());
  // Each of its numbers is among the right ones.
  EXPECT_FALSE(admits(launch(4000, false, Wide)));
  derived();
  ASSERT_EQ(Ends.size(), 1u);
  EXPECT_EQ(Ends[0].Case, "n=4000");
}

TEST_F(DeriveDomainTest, PointersAreNullEqualOrApart) {
  launch(1000);
  Change Same;
  Same.Y = Same.X;
  TriedLaunch Equal = launch(1000, true, Same);
  Tried.pop_back();
  Change Near;
  Near.Y = Near.X + 2000;
  TriedLaunch Overlapping = launch(1000, true, Near);
  Tried.pop_back();
  Near.Y = Near.X + 4000;
  TriedLaunch Behind = launch(1000, true, Near);
  Tried.pop_back();
  Change None;
  None.Y = 0;
  TriedLaunch Null = launch(1000, true, None);
  Tried.pop_back();
  derived();
  EXPECT_FALSE(admits(Equal));
  EXPECT_FALSE(admits(Overlapping));
  EXPECT_TRUE(admits(Behind));
  EXPECT_FALSE(admits(Null));
  launch(1000, true, Same);
  launch(1000, true, None);
  derived();
  EXPECT_TRUE(admits(Equal));
  EXPECT_FALSE(admits(Overlapping));
  EXPECT_TRUE(admits(Null));
}

TEST_F(DeriveDomainTest, BytesOfAllRightLaunches) {
  // A polynomial that holds stays, whatever else is known.
  launch(1000).Touched = {{{0, 4000}}, {{0, 3990}}};
  launch(70000).Touched = {{{0, 280000}}, std::nullopt};
  std::string Text = derived();
  EXPECT_TRUE(has(Text, "do not overlap (n * 4 bytes)")) << Text;
  // One that does not hold makes room for a bound that does.
  launch(500).Touched = {{{0, 2012}}, {{-8, 2000}}};
  Text = derived();
  ASSERT_EQ(Where.Boxes.size(), 1u);
  const PairClause &Pair = Where.Boxes[0].Pairs.at(0);
  EXPECT_FALSE(has(Text, "x: n * 4 bytes,")) << Text;
  for (const TriedLaunch &L : Tried) {
    EXPECT_GE(evaluate(Pair.OfA.End, L.B), L.Touched[0]->Most) << Text;
    EXPECT_EQ(evaluate(Pair.OfA.Begin, L.B), 0) << Text;
    EXPECT_LE(evaluate(Pair.OfB.Begin, L.B), -8) << Text;
  }
  // It stays near to the recorded one.
  EXPECT_LE(evaluate(Pair.OfA.End, Tried[0].B), 4012) << Text;
  // Those that were wrong do not count.
  TriedLaunch &Wrong = launch(600, false);
  Wrong.Touched = {{{0, 1 << 20}}, std::nullopt};
  derived();
  EXPECT_LT(evaluate(Where.Boxes.at(0).Pairs.at(0).OfA.End, Tried[0].B), 5000);
}

TEST_F(DeriveDomainTest, BytesWithoutAPolynomialGrowWithSizes) {
  F.Touched[0] = std::nullopt;
  // Quarters, rounded up, of 16 bytes each.
  for (int32_t N : {1000, 1, 3, 6, 999, 70001})
    launch(N).Touched = {{{0, (N + 3) / 4 * 16}}, {{0, 4 * N}}};
  std::string Text = derived();
  EXPECT_TRUE(has(Text, "x: n * 4 + 12 bytes")) << Text;
  // A size of the block alone, as far as it was tried.
  Tried.clear();
  for (uint64_t Block : {64, 32, 1024}) {
    Change C;
    C.Block = Block;
    launch(1000, true, C).Touched = {{{0, int64_t(Block) * 16}}, std::nullopt};
  }
  Text = derived();
  EXPECT_TRUE(has(Text, "x: bx * 16 bytes")) << Text;
}

TEST_F(DeriveDomainTest, NumbersByTheirClass) {
  launch(1000);
  auto WithAlpha = [&](float A, bool Right) -> TriedLaunch & {
    Change C;
    C.Alpha = A;
    return launch(1000, Right, C);
  };
  WithAlpha(8, true);
  WithAlpha(-1, true);
  TriedLaunch Between = WithAlpha(5, true);
  Tried.pop_back();
  TriedLaunch Zero = WithAlpha(0, true);
  Tried.pop_back();
  derived();
  EXPECT_TRUE(admits(Between));
  EXPECT_FALSE(admits(Zero)); // A class of its own, and not tried.
  WithAlpha(6, false);
  derived();
  EXPECT_FALSE(admits(Between)); // Below what is wrong, nothing above 2 was.
  F.Facts.FloatThresholds = {{F.Facts.Floats[0].first, 4.0, ""}};
  Tried.pop_back();
  derived();
  EXPECT_FALSE(admits(Between)); // Beyond the constant only 8 was tried.
}

TEST_F(DeriveDomainTest, NumbersAreNotToBlameForSizes) {
  Change Eight, Five, Six;
  Eight.Alpha = 8;
  Five.Alpha = 5;
  Six.Alpha = 6;
  launch(1000);
  launch(1000, true, Eight);
  TriedLaunch Between = launch(1000, true, Five);
  Tried.pop_back();
  launch(2000, false, Six);
  derived();
  EXPECT_FALSE(admits(Between)); // Perhaps it is the number.
  launch(2000, false);
  derived();
  EXPECT_TRUE(admits(Between)); // With the recorded one it is as wrong.
}

TEST_F(DeriveDomainTest, Residues) {
  F.Facts.Moduli = {{Expr::symbol(0), 32, ""}};
  launch(1024);
  launch(2048);
  std::string Text = derived();
  EXPECT_TRUE(has(Text, "n mod 32 == 0")) << Text;
  for (int N : {1025, 1055, 1040})
    launch(N);
  Text = derived();
  EXPECT_FALSE(has(Text, " mod ")) << Text;
}

TEST_F(DeriveDomainTest, AlignmentUntilItIsTriedWithout) {
  launch(1000);
  std::string Text = derived();
  EXPECT_FALSE(Where.Boxes[0].Alignments.empty()) << Text;
  Change Off;
  Off.Misaligned = 4;
  launch(1000, true, Off);
  Text = derived();
  EXPECT_TRUE(Where.Boxes[0].Alignments.empty()) << Text;
}

TEST_F(DeriveDomainTest, DataIsNotBounded) {
  F.Flags.clear();
  F.Facts.Scalars[1] = {true, false, false, false};
  launch(1000);
  for (int32_t Seed : {1, 2, -7, 123456}) {
    Change C;
    C.Mode = Seed;
    launch(1000, true, C);
  }
  std::string Text = derived();
  EXPECT_FALSE(has(Text, "mode")) << Text;
}

TEST_F(DeriveDomainTest, ProductsBoundWhatFactorsDoNot) {
  Expr Product =
      Expr::binary(Expr::Kind::Mul, Expr::symbol(0), Expr::dim(BlockX));
  F.Facts.Products = {Product};
  launch(1000);
  Change Small;
  Small.Block = 32;
  launch(100000, true, Small);
  derived();
  TriedLaunch Both = launch(100000);
  EXPECT_FALSE(admits(Both));
  EXPECT_TRUE(admits(launch(12000)));
}

/// A launch may be kept out by nothing but a product that is too small.
TEST_F(DeriveDomainTest, ProductsAreBoundedBelowWhereSmallerOnesAreWrong) {
  F.Flags = {};
  F.Facts.Scalars[1] = F.Facts.Scalars[0];
  F.Facts.Products = {
      Expr::binary(Expr::Kind::Mul, Expr::symbol(0), Expr::symbol(1))};
  Change Mode;
  Mode.Mode = 1;
  launch(100, true, Mode);
  Mode.Mode = -3;
  launch(1, true, Mode);
  Mode.Mode = -1;
  TriedLaunch Wrong = launch(100, false, Mode);
  std::string Text = derived();
  EXPECT_FALSE(admits(Wrong)) << Text;
  EXPECT_TRUE(admits(Tried[0]) && admits(Tried[1])) << Text;
  EXPECT_TRUE(has(Text, "-3 <= n * mode <= 100")) << Text;
}

/// That more blocks make a small size right was not seen: the launches that
/// have both have a single slice.
TEST_F(DeriveDomainTest, ProductsExcuseWhatWasSeen) {
  F.Facts.Products = {
      Expr::binary(Expr::Kind::Mul, Expr::symbol(0), Expr::dim(GridY))};
  F.Facts.Dims[GridY].Used = F.Facts.Dims[GridZ].Used = true;
  auto At = [&](int32_t N, int64_t Y, int64_t Z, bool Right) -> TriedLaunch & {
    TriedLaunch &L = launch(N, Right);
    L.B.Dims[GridY] = Y;
    L.B.Dims[GridZ] = Z;
    return L;
  };
  At(36, 1, 2, true);
  At(16, 1, 1, true);
  At(4, 9, 1, true);
  At(16, 1, 2, false);
  std::string Text = derived();
  EXPECT_TRUE(has(Text, "n == 36")) << Text;
  At(16, 9, 2, true); // Now it is seen.
  Text = derived();
  EXPECT_TRUE(has(Text, "4 <= n <= 36")) << Text;
  EXPECT_TRUE(has(Text, "36 <= n * gy")) << Text;
}

/// Quotients and remainders by positive numbers are bounded by their operands.
TEST(RangeInTest, FollowsFromOperands) {
  DomainBox Box;
  const Expr N = Expr::symbol(0), M = Expr::symbol(1);
  Box.Ranges = {{N, {{1, 300}}}, {M, {{-7, 2}}}};
  auto Of = [](Expr::Kind K, Expr L, int64_t R) {
    return Expr::binary(K, std::move(L), Expr::constant(R));
  };
  auto Is = [&](const Expr &E, int64_t Least, int64_t Most) {
    std::optional<Interval> In = rangeIn(E, Box);
    return In && *In == Interval{Least, Most};
  };
  EXPECT_TRUE(Is(Of(Expr::Kind::CeilDiv, N, 128), 1, 3));
  EXPECT_TRUE(Is(Of(Expr::Kind::FloorDiv, M, 2), -4, 1));
  EXPECT_TRUE(Is(Of(Expr::Kind::Mod, M, 8), 0, 7));
  EXPECT_FALSE(rangeIn(Expr::binary(Expr::Kind::FloorDiv, N, M), Box));
  // A product that a clause bounds above alone.
  const Expr Product = Expr::binary(Expr::Kind::Mul, N, N);
  Box.Ranges.push_back({Product, {{std::numeric_limits<int64_t>::min(), 400}}});
  EXPECT_TRUE(Is(Product, 1, 400));
}
