//===- DealerTest.cpp - Groups dealt to GPUs ------------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dealer.h"
#include "gtest/gtest.h"
#include <thread>

using namespace cupilot::runner;

static Request request(RequestKind K, unsigned Case) {
  Request R;
  R.Kind = K;
  R.Case = Case;
  return R;
}

TEST(Dealer, TheLongestFirstOnceLengthsAreKnown) {
  const Request Short = request(RequestKind::Compare, 0),
                Long = request(RequestKind::Time, 0),
                Other = request(RequestKind::Time, 1);
  Dealer D({{&Short}, {&Long}, {&Short}, {&Short, &Long}, {&Other}});
  // As they come, while nothing is known.
  EXPECT_EQ(*D.take(), Dealer::Group{&Short});
  D.note(Short, 1);
  EXPECT_EQ(*D.take(), Dealer::Group{&Long});
  D.note(Long, 3);
  // What is like nothing before may be long.
  EXPECT_EQ(*D.take(), Dealer::Group{&Other});
  EXPECT_EQ(*D.take(), (Dealer::Group{&Short, &Long}));
  EXPECT_EQ(*D.take(), Dealer::Group{&Short});
  for (int I = 0; I < 5; ++I)
    D.end();
  EXPECT_FALSE(D.take());
}

TEST(Dealer, WhatAGpuLeavesBehindGoesToTheOthers) {
  const Request R = request(RequestKind::Compare, 0);
  Dealer D({{&R}});
  Dealer::Group Taken = *D.take();
  std::thread Other([&] {
    std::optional<Dealer::Group> Mine = D.take(); // Waits.
    EXPECT_TRUE(Mine);
    D.end();
    EXPECT_FALSE(D.take());
  });
  D.giveBack(std::move(Taken));
  Other.join();
}
