//===- LaunchPlanTest.cpp - Plans and guards in numbers -------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Model/LaunchPlan.h"
#include "gtest/gtest.h"
#include <limits>

using namespace cupilot;
using K = Expr::Kind;

static Bindings bindings(std::vector<int64_t> Symbols) {
  Bindings B;
  B.Dims = {8, 1, 1, 256, 1, 1, 0};
  B.Symbols = std::move(Symbols);
  return B;
}

TEST(LaunchPlan, DivisionRoundsAsInMlir) {
  Bindings B = bindings({-7});
  Expr S = Expr::symbol(0), Two = Expr::constant(2);
  EXPECT_EQ(evaluate(Expr::binary(K::FloorDiv, S, Two), B), -4);
  EXPECT_EQ(evaluate(Expr::binary(K::CeilDiv, S, Two), B), -3);
  EXPECT_EQ(evaluate(Expr::binary(K::Mod, S, Two), B), 1);
  EXPECT_EQ(evaluate(Expr::binary(K::Mod, S, Expr::constant(0)), B),
            std::nullopt);
}

TEST(LaunchPlan, OverflowHasNoValueAndFailsTheGuard) {
  Bindings B = bindings({std::numeric_limits<int64_t>::max()});
  Expr Sum = Expr::binary(K::Add, Expr::symbol(0), Expr::constant(1));
  EXPECT_EQ(evaluate(Sum, B), std::nullopt);
  Guard G;
  G.Constraints.push_back({Sum, false});
  EXPECT_FALSE(admits(G, B, {}));
}

TEST(LaunchPlan, ScalarsKeepTheirSign) {
  std::vector<std::vector<uint8_t>> Args = {{0xff, 0xff, 0xff, 0xff},
                                            {0xff, 0xff, 0xff, 0xff}};
  auto B = bindLaunch({}, {{0, 0, 32, true}, {1, 0, 32, false}}, Args);
  ASSERT_TRUE(static_cast<bool>(B));
  EXPECT_EQ(B->Symbols[0], -1);
  EXPECT_EQ(B->Symbols[1], 4294967295);
}

TEST(LaunchPlan, DisjointCountsBytesHalfOpen) {
  auto Pointer = [](uint64_t Address) {
    std::vector<uint8_t> Bytes(8);
    std::memcpy(Bytes.data(), &Address, 8);
    return Bytes;
  };
  Guard G;
  G.Disjoints.push_back({{0, 0}, {1, 0}, Expr::symbol(0), Expr::symbol(0)});
  std::vector<std::vector<uint8_t>> Touching = {Pointer(4096),
                                                Pointer(4096 + 64)};
  EXPECT_TRUE(admits(G, bindings({64}), Touching));
  EXPECT_FALSE(admits(G, bindings({65}), Touching));
  EXPECT_FALSE(admits(G, bindings({-1}), Touching));
}

TEST(LaunchPlan, ShapesOutsideTheHardwareHaveNoPlan) {
  Launch L;
  L.Block[0] = Expr::constant(2048);
  EXPECT_EQ(planShape(L, bindings({})), std::nullopt);
  L.Block[0] = Expr::constant(128);
  L.Grid[0] = Expr::binary(
      K::CeilDiv, Expr::binary(K::Mul, Expr::dim(GridX), Expr::dim(BlockX)),
      Expr::constant(128));
  auto Shape = planShape(L, bindings({}));
  ASSERT_TRUE(Shape);
  EXPECT_EQ(Shape->Grid[0], 16u);
}

TEST(LaunchPlan, IndicesOutOfRangeHaveNoValue) {
  for (Expr E : {Expr::dim(NumLaunchDims), Expr::dim(~0u), Expr::symbol(0)}) {
    EXPECT_EQ(evaluate(E, bindings({})), std::nullopt);
    EXPECT_FALSE(E.str().empty());
  }
}

TEST(LaunchPlan, JsonRoundTrip) {
  Guard G;
  G.Arch = "sm_90";
  G.Constraints.push_back(
      {Expr::binary(K::Mod, Expr::symbol(0), Expr::constant(4)), true});
  G.Alignments.push_back({{1, 8}, 16});
  G.Disjoints.push_back({{0, 0}, {1, 8}, Expr::dim(GridX), Expr::constant(4)});
  Guard Back;
  llvm::json::Path::Root Root;
  ASSERT_TRUE(fromJSON(toJSON(G), Back, Root));
  EXPECT_EQ(G, Back);
  LaunchPlan Plan, PlanBack;
  Plan.Launches.push_back({});
  Plan.Launches[0].Symbol = "_Z1kv";
  ASSERT_TRUE(fromJSON(toJSON(Plan), PlanBack, Root));
  EXPECT_EQ(Plan, PlanBack);
}
