//===- StatisticsTest.cpp - Tests of the comparison of times -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Runner/Statistics.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace cupilot::runner;

namespace {
/// Times as GPUs give them: noise of 1 %, a clock that drifts, and now and then
/// a run that takes far longer.
class Machine {
public:
  explicit Machine(uint64_t Seed) : Random(Seed) {}
  double time(double Microseconds) {
    Drift = 0.999 * Drift + 0.002 * Normal(Random);
    double T = Microseconds * std::exp(Drift + 0.01 * Normal(Random));
    if (Random() % 40 == 0)
      T *= 1 + 3 * std::fabs(Normal(Random) / Normal(Random));
    return std::round(T * 2) / 2; // A clock of half a microsecond.
  }
  /// log(original / candidate) of a round, in either order.
  double round(double Original, double Candidate) {
    bool CandidateFirst = Random() & 1;
    double Sum = 0;
    for (int Slot = 0; Slot < 4; ++Slot) {
      bool Outer = Slot == 0 || Slot == 3,
           IsCandidate = Outer == CandidateFirst;
      double L = std::log(time(IsCandidate ? Candidate : Original));
      Sum += IsCandidate ? -L : L;
    }
    return Sum / 2;
  }

private:
  std::mt19937_64 Random;
  std::normal_distribution<double> Normal;
  double Drift = 0;
};

struct Outcome {
  Interval I;
  size_t Rounds;
};
} // namespace

/// As the runner looks: until the interval is narrow, at most eight times.
static Outcome compare(uint64_t Seed, double Original, double Candidate,
                       double Error, double Precision) {
  Machine M(Seed);
  std::vector<double> Logs;
  for (unsigned Look = 0; Look < Looks::Count; ++Look) {
    while (Logs.size() < Looks::roundsAt(Look))
      Logs.push_back(M.round(Original, Candidate));
    Interval I = medianInterval(Logs, Looks::errorOf(Error));
    if (I.High - I.Low <= 2 * Precision)
      return {I, Logs.size()};
  }
  return {medianInterval(Logs, Looks::errorOf(Error)), Logs.size()};
}

TEST(Statistics, MedianIntervalIsThatOfTheSignTest) {
  // P(Binomial(12, 1/2) = 0) = 1/4096: the ends are the extremes, and for less
  // than twice that there is no interval.
  std::vector<double> V;
  for (int I = 12; I >= 1; --I)
    V.push_back(I);
  Interval A = medianInterval(V, 2.0 / 4096 + 1e-9);
  EXPECT_EQ(A.Low, 1);
  EXPECT_EQ(A.High, 12);
  EXPECT_EQ(A.Mid, 6.5);
  EXPECT_TRUE(std::isinf(medianInterval(V, 2.0 / 4096 - 1e-9).High));
  // P(Binomial(12, 1/2) <= 2) = 79/4096.
  Interval B = medianInterval(V, 2 * 79.0 / 4096 + 1e-9);
  EXPECT_EQ(B.Low, 3);
  EXPECT_EQ(B.High, 10);
}

TEST(Statistics, NothingIsKnownOfNothing) {
  EXPECT_TRUE(std::isinf(medianInterval({}, 0.01).Low));
  EXPECT_TRUE(std::isinf(medianInterval({1}, 0.01).Low));
  EXPECT_EQ(callOf(medianInterval({1, 1}, 0.01), 0.02), Call::Undecided);
}

TEST(Statistics, ConfidenceHoldsWhereTheRunnerStopsByItself) {
  // Of 2000 comparisons of a program with itself, 1 % may exclude 1 although no
  // margin helps; 35 is what chance exceeds once in ten thousand times.
  int Wrong = 0, Called = 0;
  for (uint64_t Seed = 0; Seed < 2000; ++Seed) {
    Interval I = compare(Seed, 80, 80, 0.01, 0.004).I;
    Wrong += I.Low > 0 || I.High < 0;
    Call C = callOf(I, 0.02);
    Called += C == Call::Faster || C == Call::Slower;
  }
  EXPECT_LE(Wrong, 35);
  EXPECT_LE(Called, 2);
}

TEST(Statistics, TrueDifferencesAreFound) {
  int Faster = 0, Slower = 0;
  for (uint64_t Seed = 0; Seed < 200; ++Seed) {
    Outcome O = compare(Seed, 105, 100, 0.01, 0.005);
    Faster += callOf(O.I, 0.02) == Call::Faster;
    Slower +=
        callOf(compare(Seed, 100, 105, 0.01, 0.005).I, 0.02) == Call::Slower;
    EXPECT_NEAR(std::exp(O.I.Mid), 1.05, 0.01);
  }
  EXPECT_GE(Faster, 198);
  EXPECT_GE(Slower, 198);
}

TEST(Statistics, WhatLiesWithinTheMarginIsEqual) {
  int Equal = 0;
  for (uint64_t Seed = 0; Seed < 200; ++Seed)
    Equal +=
        callOf(compare(Seed, 100.5, 100, 0.01, 0.005).I, 0.02) == Call::Equal;
  EXPECT_GE(Equal, 195);
}

TEST(Statistics, Outliers) {
  EXPECT_EQ(countOutliers({1, 1.1, 0.9, 1, 1.05, 9}), 1u);
  EXPECT_EQ(countOutliers({1, 2, 3, 4, 5}), 0u);
}
