//===- ProfileTest.cpp - The metrics that profiles ask for --------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CUPTI's host library knows every chip's metrics without a GPU. Counters
// themselves are read on a GPU by benchmarks/calibration.
//
//===----------------------------------------------------------------------===//

#include "cupilot/Profile/Metrics.h"
#include "cupilot/Profile/RangeProfiler.h"
#include "gtest/gtest.h"
#include <set>

using namespace cupilot;

TEST(Profile, EachClassHasItsOwnMetricsAndTheCommonOnes) {
  for (const char *Set : {"compute", "memory", "latency"}) {
    std::set<std::string> Sets;
    for (const ProfileMetric &M : profileSet(Set))
      Sets.insert(M.Set);
    EXPECT_EQ(Sets, (std::set<std::string>{"common", Set}));
    EXPECT_GT(profileSet(Set).size(), profileSet("common").size());
  }
  EXPECT_EQ(profileSet("all").size(), std::size(ProfileMetrics));
}

TEST(Profile, KeysAndNamesAreUnique) {
  std::set<std::string> Keys, Names;
  for (const ProfileMetric &M : ProfileMetrics) {
    EXPECT_TRUE(Keys.insert(M.Key).second) << M.Key;
    EXPECT_TRUE(Names.insert(M.Name).second) << M.Name;
  }
}

TEST(Profile, AMissingLibraryIsAReason) {
  std::string Reason;
  EXPECT_EQ(RangeProfiler::open("/nowhere/libcupti.so.13", Reason), nullptr);
  EXPECT_NE(Reason.find("no CUPTI"), std::string::npos) << Reason;
}

#ifdef CUPILOT_HAVE_CUPTI
static std::unique_ptr<RangeProfiler> profiler() {
  std::string Reason;
  auto P =
      RangeProfiler::open(CUPILOT_CUDA_LIBRARIES "/libcupti.so.13", Reason);
  return P ? std::move(P) : RangeProfiler::open("", Reason);
}

TEST(Profile, HopperHasEveryMetric) {
  auto P = profiler();
  if (!P)
    GTEST_SKIP() << "the headers of CUPTI are here, its library is not";
  std::vector<std::string> Names;
  for (const ProfileMetric &M : ProfileMetrics)
    Names.push_back(M.Name);
  EXPECT_EQ(P->unknownMetrics("GH100", Names), std::vector<std::string>());
  // That would be worth nothing if everything were known.
  std::vector<std::string> Wrong = {"dram__bytes_read.middle",
                                    "sm__nothing.sum"};
  EXPECT_EQ(P->unknownMetrics("GH100", Wrong), Wrong);
}

TEST(Profile, WithoutAContextThereIsAReasonAndNoLaunch) {
  auto P = profiler();
  if (!P)
    GTEST_SKIP() << "the headers of CUPTI are here, its library is not";
  unsigned Launches = 0;
  auto Count = [&] {
    ++Launches;
    return true;
  };
  ProfileResult R = P->collect(0, {"dram__bytes_read.sum"}, Count, Count);
  EXPECT_EQ(Launches, 0u);
  EXPECT_TRUE(R.Values.empty());
  EXPECT_TRUE(R.Reason);
}
#endif
