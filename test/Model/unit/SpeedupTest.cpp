//===- SpeedupTest.cpp - A speed-up over workloads ------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Model/Speedup.h"
#include "gtest/gtest.h"

using namespace cupilot;

static Workload launched(uint64_t Count, std::optional<Audience> Only = {}) {
  Workload W;
  W.Count = Count;
  W.Only = Only;
  return W;
}

using Weights = std::vector<double>;

TEST(TimeWeights, AreTheLaunchesThatAreTimed) {
  std::vector<Workload> All = {launched(3), launched(5, Audience::Gate),
                               launched(7, Audience::Gpu)};
  EXPECT_EQ(timeWeights(All, TimeBasis::Modelled), (Weights{3, 0, 0}));
  EXPECT_EQ(timeWeights(All, TimeBasis::Measured), (Weights{3, 0, 7}));
}

TEST(TimeWeights, OfTheGateStandInForWhatOnlyAGpuTimes) {
  std::vector<Workload> All = {launched(5, Audience::Gate),
                               launched(7, Audience::Gpu)};
  EXPECT_EQ(timeWeights(All, TimeBasis::Modelled), (Weights{5, 0}));
  EXPECT_EQ(timeWeights(All, TimeBasis::Measured), (Weights{0, 7}));
  EXPECT_EQ(timeWeights(launched(2, Audience::Gate), TimeBasis::Modelled),
            Weights{2});
  EXPECT_EQ(timeWeights(launched(2, Audience::Gate), TimeBasis::Measured),
            Weights{0});
}

TEST(Speedup, IsOfTheSums) {
  Speedup S;
  EXPECT_EQ(S.ratio(), 0);
  S.add(30, 10);
  S.add(10, 10);
  EXPECT_EQ(S.ratio(), 2);
}
