//===- JudgeAnswersTest.cpp - What a GPU answers about variants -----------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/GpuJudge/JudgementBatch.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace cupilot;

/// A launch with one buffer of \p Bytes.
static Workload launch(StringRef Name, uint64_t Bytes, Audience Only) {
  Workload W;
  W.Name = Name.str();
  W.Buffers.emplace_back().Size = Bytes;
  W.Only = Only;
  return W;
}

/// The answers of a GPU that times a variant on the launch "large".
static json::Object answers(double Microseconds) {
  const json::Object Same{{"status", "ok"}, {"same", true}};
  json::Object Time = Same;
  Time["call"] = "faster";
  Time["ratio"] = 2;
  Time["low"] = 1.9;
  Time["high"] = 2.1;
  Time["original"] = json::Object{{"median_us", 2 * Microseconds}};
  Time["candidate"] = json::Object{{"median_us", Microseconds}};
  return json::Object{{"v-small-compare", json::Object(Same)},
                      {"v-large-compare", json::Object(Same)},
                      {"v-large-time", std::move(Time)}};
}

// A launch that only the GPU runs cannot be faster than its buffers take, if
// the variant is seen to read and write them where it was counted.
TEST(JudgeAnswers, FasterThanTheBuffersIsImpossible) {
  Kernel K;
  GpuOriginal From;
  From.K = &K;
  From.Workloads = {launch("small", 32000, Audience::Gate),
                    launch("large", 1000000000, Audience::Gpu)};
  From.GpuOnly = {false, true};
  Ceilings C;
  C.DramGBs = 1000; // A millisecond.
  ExecutionCounts All;
  All.ReadSectors = 600;
  All.WrittenSectors = 400;
  auto Reason = [&](double Microseconds,
                    const ExecutionCounts &Small) -> std::string {
    std::vector<std::optional<ExecutionCounts>> Work = {Small, std::nullopt};
    GpuJudgement J =
        cantFail(judgeAnswers(answers(Microseconds), From, "v", C, Work, 1.02));
    if (!J.Wrong)
      return "";
    EXPECT_EQ(J.Wrong->Reason, GateReason::ImpossibleTime);
    return J.Wrong->Evidence;
  };
  EXPECT_EQ(Reason(1000, All), "");
  EXPECT_EQ(Reason(960, All), ""); // Clocks differ.
  EXPECT_NE(Reason(900, All).find("large in 900.00 us, but the 1000.0 MB of "
                                  "its buffers at 1000 GB/s take 1000.00 us"),
            std::string::npos)
      << Reason(900, All);
  // What it leaves out where it was counted, it need not read there.
  ExecutionCounts Half = All;
  Half.ReadSectors = 100;
  EXPECT_EQ(Reason(400, Half), "");
  // What is written may stay in the L2.
  C.L2Bytes = 200000000;
  EXPECT_EQ(Reason(900, All), "");
  EXPECT_NE(Reason(700, All), "");
}

static json::Object heat(double Ratio, StringRef Status = "ok") {
  return json::Object{{"status", Status},
                      {"same", true},
                      {"call", "faster"},
                      {"ratio", Ratio},
                      {"low", Ratio},
                      {"high", Ratio},
                      {"original", json::Object{{"median_us", 30.0}}},
                      {"candidate", json::Object{{"median_us", 30 / Ratio}}}};
}

// Who came how far in a race, by the latest of its times.
TEST(JudgeAnswers, RacesRank) {
  Kernel K;
  GpuOriginal From;
  From.K = &K;
  From.Workloads = {launch("a", 100, Audience::Gpu),
                    launch("b", 100, Audience::Gpu)};
  From.GpuOnly = {true, true};
  const json::Object Same{{"status", "ok"}, {"same", true}};
  json::Object Wrong = Same;
  Wrong["same"] = false;
  json::Object Results;
  for (StringRef Id : {"v", "half", "lost", "bad"})
    for (StringRef W : {"a", "b"})
      if (Id != "half" || W == "a")
        Results[(Id + "-" + W + "-compare").str()] =
            json::Object(Id == "bad" && W == "b" ? Wrong : Same);
  for (StringRef W : {"a", "b"}) {
    Results[("v-" + W + "-time0").str()] = heat(5);
    Results[("v-" + W + "-time1").str()] = heat(2);
    Results[("lost-" + W + "-time0").str()] = heat(1.5);
    Results[("lost-" + W + "-time1").str()] = heat(9, "skipped");
    Results[("bad-" + W + "-time0").str()] = heat(9, "skipped");
  }
  Results["half-a-time0"] = heat(3);
  Results["half-a-time1"] = heat(3);
  const std::vector<GpuRank> Ranks = cantFail(
      readRace(Results, From, {"v", "half", "lost", "bad", "unknown"}));
  ASSERT_EQ(Ranks.size(), 5u);
  EXPECT_EQ(Ranks[0].Levels, 2u);
  EXPECT_DOUBLE_EQ(Ranks[0].Ratio, 2);
  // Where the guard keeps it out, the original runs.
  EXPECT_EQ(Ranks[1].Levels, 2u);
  EXPECT_DOUBLE_EQ(Ranks[1].Ratio, 1.5);
  EXPECT_EQ(Ranks[2].Levels, 1u);
  EXPECT_DOUBLE_EQ(Ranks[2].Ratio, 1.5);
  ASSERT_TRUE(Ranks[3].Wrong);
  EXPECT_EQ(Ranks[3].Wrong->Workload, "b");
  EXPECT_EQ(Ranks[3].Ratio, 0);
  EXPECT_EQ(Ranks[4].Levels, 0u);
  EXPECT_EQ(Ranks[4].Ratio, 0);
}
