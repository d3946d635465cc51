//===- BisectionTest.cpp - Bisection finds what breaks -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Store/Bisection.h"
#include "llvm/Support/MathExtras.h"
#include "gtest/gtest.h"
#include <random>
#include <set>

using namespace llvm;
using namespace cupilot;

namespace {

/// Bad where all of \p Needed are there.
auto needs(BitVector Needed) {
  return [Needed](const BitVector &Set, unsigned) -> Expected<BisectAnswer> {
    BitVector Missing = Needed;
    Missing.reset(Set);
    return Missing.any() ? BisectAnswer::Good : BisectAnswer::Bad;
  };
}

TEST(BisectionTest, FindsExactlyWhatIsNeeded) {
  std::mt19937 Random(1);
  for (unsigned Round = 0; Round < 2000; ++Round) {
    unsigned Count = 1 + Random() % 100, Culprits = 1 + Random() % 4;
    BitVector Needed(Count);
    for (unsigned I = 0; I < Culprits; ++I)
      Needed.set(Random() % Count);
    Expected<BisectResult> R = bisect(Count, needs(Needed));
    ASSERT_TRUE(bool(R));
    ASSERT_EQ(R->K, BisectResult::Kind::Found);
    ASSERT_EQ(R->Culprits, Needed) << "of " << Count;
    // All, none, a bisection and a check for each culprit, the same again.
    ASSERT_LE(R->Tests, 3 + Needed.count() * (Log2_32_Ceil(Count) + 3));
  }
}

TEST(BisectionTest, WhatIsSkippedHidesNoMoreThanItMust) {
  std::mt19937 Random(2);
  for (unsigned Round = 0; Round < 2000; ++Round) {
    unsigned Count = 2 + Random() % 60, Culprit = Random() % Count;
    BitVector Needed(Count);
    Needed.set(Culprit);
    std::set<unsigned> Skipped;
    for (unsigned I = 0; I < Random() % 20; ++I)
      Skipped.insert(1 + Random() % Count);
    auto Test = needs(Needed);
    Expected<BisectResult> R =
        bisect(Count, [&](const BitVector &Set, unsigned Left) {
          // Prefixes of some lengths cannot be tested.
          if (!Set.all() && Set.any() && Set.find_first_unset() > 0 &&
              Skipped.contains(unsigned(Set.find_first_unset())))
            return Expected<BisectAnswer>(BisectAnswer::Skip);
          return Test(Set, Left);
        });
    ASSERT_TRUE(bool(R));
    ASSERT_TRUE(R->K == BisectResult::Kind::Found ||
                R->K == BisectResult::Kind::Undecidable);
    ASSERT_TRUE(R->Culprits.test(Culprit));
    if (R->K == BisectResult::Kind::Found)
      ASSERT_EQ(R->Culprits, Needed);
  }
}

TEST(BisectionTest, TellsWhenNoneIsToBlame) {
  for (bool Bad : {false, true}) {
    Expected<BisectResult> R =
        bisect(8, [&](const BitVector &, unsigned) -> Expected<BisectAnswer> {
          return Bad ? BisectAnswer::Bad : BisectAnswer::Good;
        });
    ASSERT_TRUE(bool(R));
    EXPECT_EQ(R->K, Bad ? BisectResult::Kind::AlwaysBad
                        : BisectResult::Kind::NothingBad);
    EXPECT_EQ(R->Tests, Bad ? 2u : 1u);
  }
}

TEST(BisectionTest, ErrorsOfTheTestEndIt) {
  unsigned Tests = 0;
  Expected<BisectResult> R =
      bisect(8, [&](const BitVector &, unsigned) -> Expected<BisectAnswer> {
        ++Tests;
        return createStringError("gone");
      });
  ASSERT_FALSE(bool(R));
  EXPECT_EQ(toString(R.takeError()), "gone");
  EXPECT_EQ(Tests, 1u);
}

} // namespace
