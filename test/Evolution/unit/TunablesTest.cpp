//===- TunablesTest.cpp - Numbers that code leaves open -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Dialect/Transforms/Genetics.h"
#include "cupilot/Evolution/PlanText.h"
#include "cupilot/Evolution/StrategyLibrary.h"
#include "cupilot/Evolution/StrategyTranslator.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <gtest/gtest.h>

using namespace llvm;
using namespace cupilot;

namespace {
/// scale(float *p, int n)
Kernel tunedKernel() {
  Kernel K;
  K.Name = "scale(float *, int)";
  K.Symbol = "_Z5scalePfi";
  KernelParam P, N;
  P.Name = "p";
  P.Size = 8;
  P.IsPointer = true;
  P.PointeeSize = 4;
  N.Name = "n";
  N.Size = 4;
  K.Params = {P, N};
  K.Scalars.push_back({1, 0, 32, true});
  K.Pointers = {{0, 0}};
  return K;
}

std::vector<LibraryStrategy> tunedLibrary() {
  std::vector<LibraryStrategy> All(3);
  All[0].Info = {"tiling", {{"tile", {16, 32, 64}, {}}}, {}, {}};
  All[1].Info = {"unroll", {{"factor", {2, 4, 8}, {}}}, {}, {}};
  All[2].Info = {"hints", {{"policy", {}, {"streaming"}}}, {}, {}};
  return All;
}

Tunable tile() { return {"TILE", "tiling", "tile", {16, 32, 64}, 32}; }

std::string tuningFault(std::vector<Tunable> Numbers) {
  std::string Text = "nothing";
  handleAllErrors(checkTunables(Numbers, tunedKernel(), tunedLibrary()),
                  [&](const ToolError &E) {
                    EXPECT_EQ(E.code(), ExitCode::Finding);
                    Text = E.text();
                  });
  return Text;
}

/// tile() with one thing changed.
template <typename T> std::string tuningFaultWith(T Tunable::*Member, T Value) {
  Tunable Changed = tile();
  Changed.*Member = std::move(Value);
  return tuningFault({Changed});
}

/// 64 values.
std::vector<int64_t> many() {
  std::vector<int64_t> All;
  for (int64_t V = 0; V < 64; ++V)
    All.push_back(V);
  return All;
}
} // namespace

TEST(Tunables, WhatCannotBeTunedIsNamed) {
  using List = std::vector<int64_t>;
  EXPECT_EQ(tuningFault({tile()}), "nothing");
  EXPECT_EQ(tuningFaultWith(&Tunable::Values, List()),
            "tunables: 'TILE': it has no values");
  EXPECT_EQ(tuningFaultWith(&Tunable::Values, List{-1, 32}),
            "tunables: 'TILE': -1 is no number from 0 to 2^31 - 1");
  EXPECT_EQ(tuningFaultWith(&Tunable::Value, int64_t(5)),
            "tunables: 'TILE': 5 is none of its values");
  EXPECT_EQ(tuningFaultWith(&Tunable::Strategy, std::string("tyling")),
            "tunables: 'TILE': there is no strategy 'tyling'");
  EXPECT_EQ(tuningFaultWith(&Tunable::Param, std::string("size")), "nothing");
  EXPECT_EQ(tuningFault({{"P", "hints", "policy", {0, 1}, 0}}),
            "tunables: 'P': the parameter 'policy' of 'hints' is no number");
  for (StringRef Taken : {"n", "p", "gx", "floordiv"})
    EXPECT_EQ(
        tuningFaultWith(&Tunable::Name, Taken.str()),
        ("tunables: '" + Taken + "': the name means something else").str());
  Tunable Twice = tile();
  Twice.Name = "OTHER";
  EXPECT_EQ(tuningFault({tile(), Twice}), "nothing");
}

TEST(Tunables, ProductsOfDomainsAreBounded) {
  const Tunable A{"A", "tiling", "tile", many(), 0},
      B{"B", "unroll", "factor", many(), 0};
  EXPECT_EQ(tuningFault({A, B}), "nothing"); // 4096.
  Tunable More = B;
  for (int64_t V = 64; V < 200; ++V)
    More.Values.push_back(V);
  EXPECT_EQ(tuningFault({A, More}),
            "tunables: their domains have more than 10000 "
            "settings together");
  // Nothing overflows.
  EXPECT_EQ(countSettings(std::vector<Tunable>(64, A)), MostSettings + 1);
}

TEST(Tunables, SettingsAreTriedNearFirst) {
  const Tunable F{"F", "unroll", "factor", {2, 4, 8}, 2};
  Random R(1, "tune", 0);
  const std::vector<Setting> All = settingsToTry({tile(), F}, R);
  ASSERT_EQ(All.size(), 8u); // All but the present one.
  EXPECT_EQ(All[0], (Setting{64, 2}));
  EXPECT_EQ(All[1], (Setting{16, 2}));
  EXPECT_EQ(All[2], (Setting{32, 4}));
  for (size_t I = 0; I < All.size(); ++I)
    for (size_t J = 0; J < I; ++J)
      EXPECT_NE(All[I], All[J]);
  // The same again, and others with another seed.
  Random Same(1, "tune", 0);
  EXPECT_EQ(settingsToTry({tile(), F}, Same), All);
  unsigned Different = 0;
  for (uint64_t Seed = 2; Seed < 6; ++Seed) {
    Random Other(Seed, "tune", 0);
    Different += settingsToTry({tile(), F}, Other) != All;
  }
  EXPECT_GT(Different, 0u);
}

TEST(Tunables, GenomesFollow) {
  const std::vector<StrategyInfo> Strategies = infosOf(tunedLibrary());
  const Genome G = *parseGenome("tiling{tile=32}, hints{policy=streaming}");
  auto Text = [&](int64_t Tile) {
    return genomeText(withSetting(G, {tile()}, {Tile}, Strategies));
  };
  EXPECT_EQ(Text(64), "tiling{tile=64}, hints{policy=streaming}");
  // The nearest of the strategy's own domain.
  EXPECT_EQ(Text(50), "tiling{tile=64}, hints{policy=streaming}");
  // Of two that are one parameter, the first counts.
  Tunable Width = tile();
  Width.Name = "WIDTH";
  EXPECT_EQ(genomeText(withSetting(G, {tile(), Width}, {16, 64}, Strategies)),
            "tiling{tile=16}, hints{policy=streaming}");
  // By rules the parameters themselves are open; words are none.
  const std::vector<Tunable> Open = tunablesOf(G, Strategies);
  ASSERT_EQ(Open.size(), 1u);
  EXPECT_EQ(tunablesText(Open),
            "tiling.tile = 32 of [16, 32, 64] (tiling.tile)");
}

TEST(Tunables, AnswersNameThemInPlanAndGuard) {
  const char *Text = R"json({
    "source": "__global__ void scale(float *p, int n) {}",
    "plan": {"launches": [{"kernel": "scale",
      "grid": ["n ceildiv (TILE * 4)", "1", "1"], "block": ["TILE", "1", "1"],
      "shared": "TILE * 8", "cluster": []}], "scratch": [],
      "tensor_maps": ["p f32 extents(n, 4) strides(n * 4) box(TILE, 4)"]},
    "guard": {"conditions": ["n mod TILE == 0"], "align": [], "disjoint": []},
    "tunables": [{"name": "TILE", "value": 32, "values": [16, 32, 64, 32],
      "strategy": "`tiling`", "param": "tile"}],
    "carried_out": ["tiling{tile=32}"], "notes": ""})json";
  json::Value Answer = cantFail(json::parse(Text));
  const Kernel K = tunedKernel();
  const std::vector<LibraryStrategy> Library = tunedLibrary();
  ModelTranslation T = cantFail(translationFrom(Answer, K, "sm_90", Library));
  ASSERT_TRUE(T.Open);
  EXPECT_EQ(T.Open->Numbers, std::vector<Tunable>{tile()});
  EXPECT_EQ(T.Code.Source, "constexpr int TILE = 32;\n"
                           "__global__ void scale(float *p, int n) {}");
  Translation Other = cantFail(codeWith(*T.Open, {64}, K, "sm_90"));
  EXPECT_TRUE(
      StringRef(Other.Source).starts_with("constexpr int TILE = 64;\n"));
  LaunchPlan Plan = cantFail(
      parsePlan("tensormap=p f32 extents(n, 4) strides(n * 4) box(64, 4); "
                "launch scale: grid=(n ceildiv 256, 1, 1); block=(64, 1, 1); "
                "shared=512",
                K));
  EXPECT_TRUE(Other.Plan == Plan);
  EXPECT_TRUE(Other.When == cantFail(parseGuard("n mod 64 == 0", K, "sm_90")));

  // Without strategies whose parameters they are, nothing is open, and the
  // names mean nothing.
  EXPECT_TRUE(errorToBool(translationFrom(Answer, K, "sm_90").takeError()));
  // A gene that the code does not have is named.
  (*Answer.getAsObject())["carried_out"] = json::Array{"unroll"};
  EXPECT_EQ(toString(translationFrom(Answer, K, "sm_90", Library).takeError()),
            "tunables: 'TILE': carried_out does not name its strategy "
            "'tiling'");
}
