//===- ProphetTest.cpp - Classes, ceilings, impossible times ------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Roofline/Prophet.h"
#include "H200.h"
#include "cupilot/Roofline/CostModel.h"
#include "gtest/gtest.h"

using namespace cupilot;

/// A copy of \p N floats.
static ExecutionCounts copy(uint64_t N) {
  ExecutionCounts K;
  K.Warps = N / 32;
  K.GlobalLoads = K.GlobalStores = K.Warps;
  K.GlobalLoadSectors = K.GlobalStoreSectors = K.ReadSectors =
      K.WrittenSectors = N / 8;
  K.UniqueSectors = N / 4;
  K.WarpInstructions = 6 * K.Warps;
  K.Integer = 3 * N;
  return K;
}

TEST(Prophet, ClassesFollowTheShares) {
  EXPECT_EQ(classify(0.9, 0.2), Bottleneck::Memory);
  EXPECT_EQ(classify(0.2, 0.9), Bottleneck::Compute);
  EXPECT_EQ(classify(0.8, 0.75), Bottleneck::Middle);
  EXPECT_EQ(classify(0.1, 0.05), Bottleneck::Latency);
  EXPECT_EQ(classify(0, 0), Bottleneck::Latency);
}

TEST(Prophet, CeilingTimesAreWorkOverRate) {
  uint64_t N = uint64_t(1) << 28;
  CeilingTimes T = timesAtCeilings(H200Ceilings, copy(N));
  EXPECT_NEAR(T.Dram, double(N) * 8 / H200Ceilings.DramGBs * 1e-3, 1e-6);
  // The L2 may keep 60 MB of what is written.
  EXPECT_LT(T.LeastDram, T.Dram);
  EXPECT_EQ(T.longest(), "dram");
  EXPECT_EQ(T.Tensor, 0);
}

TEST(Prophet, ATimeThatNoGpuCanReachIsAFinding) {
  uint64_t N = uint64_t(1) << 28;
  ExecutionCounts K = copy(N);
  double Floor = timesAtCeilings(H200Ceilings, K).floor();
  EXPECT_FALSE(
      llvm::errorToBool(checkPossible(H200Ceilings, K, Floor, "copy")));
  EXPECT_FALSE(
      llvm::errorToBool(checkPossible(H200Ceilings, K, 2 * Floor, "copy")));
  llvm::Error E = checkPossible(H200Ceilings, K, Floor / 2, "copy");
  ASSERT_TRUE(bool(E));
  std::string Text = llvm::toString(std::move(E));
  for (const char *Part : {"impossible time", "copy", "4300 GB/s", "H200"})
    EXPECT_NE(Text.find(Part), std::string::npos) << Text;
  // So is arithmetic that was skipped.
  ExecutionCounts Sums;
  Sums.Fp32 = 1000000000;
  Text = llvm::toString(checkPossible(H200Ceilings, Sums, 1, "sums"));
  EXPECT_NE(Text.find("fp32 operations"), std::string::npos) << Text;
}

TEST(Prophet, MeasurementGoesByCountersAndElseByTheTime) {
  CeilingTimes T = timesAtCeilings(H200Ceilings, copy(uint64_t(1) << 28));
  MeasuredLaunch M;
  M.Microseconds = T.Dram * 1.1;
  M.NoMetrics = "no rights: x";
  Opinion ByTime = opinionOfMeasurement(M, T);
  EXPECT_EQ(ByTime.Class, Bottleneck::Memory);
  ASSERT_EQ(ByTime.Unknown.size(), 1u);
  EXPECT_NE(ByTime.Unknown[0].find("no rights"), std::string::npos);
  M.Microseconds = T.Dram * 10;
  EXPECT_EQ(opinionOfMeasurement(M, T).Class, Bottleneck::Latency);
  // Counters know better than counts.
  M.Metrics = {{"dramThroughput", 10}, {"smThroughput", 80}};
  EXPECT_EQ(opinionOfMeasurement(M, T).Class, Bottleneck::Compute);
  // Counted over a range of twice the launch's time.
  M.Microseconds = 50;
  M.Metrics = {{"dramThroughput", 40}, {"smThroughput", 10}};
  EXPECT_EQ(opinionOfMeasurement(M, T).Class, Bottleneck::Latency);
  M.Metrics["duration"] = 100000;
  EXPECT_EQ(opinionOfMeasurement(M, T).Class, Bottleneck::Memory);
  EXPECT_EQ(opinionOfMeasurement({}, T).Class, std::nullopt);
}

TEST(Prophet, HeadroomIsTheDistanceToTheCeiling) {
  CeilingTimes T = timesAtCeilings(H200Ceilings, copy(uint64_t(1) << 28));
  EXPECT_NEAR(*headroom(T, 3 * T.Dram), 3, 1e-9);
  EXPECT_EQ(*headroom(T, T.Dram / 2), 1);
  EXPECT_EQ(headroom(CeilingTimes(), 1), std::nullopt);
}

TEST(Ceilings, MeasuredOnesReplaceTheDescribed) {
  Ceilings M = H200Ceilings;
  llvm::json::Value V = llvm::cantFail(llvm::json::parse(
      R"({"copy": {"value": 4.1e12, "unit": "B/s"}, "read": {"value": 4.2e12},
          "fp32": {"value": 6e13, "unit": "FLOP/s"}, "clocks": []})"));
  ASSERT_FALSE(llvm::errorToBool(addMeasured(M, V, "c.json")));
  EXPECT_DOUBLE_EQ(M.DramGBs, 4200); // The better way.
  EXPECT_DOUBLE_EQ(M.Fp32Gops, 30000);
  EXPECT_EQ(M.Fp64Gops, H200Ceilings.Fp64Gops);
  EXPECT_EQ(M.Origin, "c.json");
}

TEST(Ceilings, BrokenFilesAreNamed) {
  for (const char *Text :
       {"{}", "[]", R"({"copy": {"unit": "B/s"}})", R"({"copy": -1})"}) {
    Ceilings M = H200Ceilings;
    std::string Why = llvm::toString(
        addMeasured(M, llvm::cantFail(llvm::json::parse(Text)), "c.json"));
    EXPECT_NE(Why.find("c.json"), std::string::npos) << Text;
  }
}

TEST(CountsJson, WhatIsWrittenIsRead) {
  ExecutionCounts K = copy(1 << 20), Back;
  K.HotAtomics = 7;
  K.Tensor = 9;
  llvm::json::Path::Root Root;
  ASSERT_TRUE(fromJSON(llvm::json::Value(toJSON(K)), Back, Root));
  EXPECT_EQ(llvm::json::Value(toJSON(Back)), llvm::json::Value(toJSON(K)));
  EXPECT_EQ(Back.HotAtomics, 7u);
  EXPECT_FALSE(fromJSON(
      llvm::cantFail(llvm::json::parse(R"({"fp32": "many"})")), Back, Root));
  llvm::consumeError(Root.getError());
  KernelResources R, Again;
  R.Registers = 40;
  R.SpillBytes = 12;
  ASSERT_TRUE(fromJSON(llvm::json::Value(toJSON(R)), Again, Root));
  EXPECT_EQ(Again.Registers, 40u);
  EXPECT_EQ(Again.SpillBytes, 12u);
}
