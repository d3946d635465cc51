//===- ScoreTest.cpp - Records of mutants -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Mutation/Score.h"
#include "gtest/gtest.h"

using namespace cupilot;
using namespace llvm;

TEST(Score, RecordsSurviveJson) {
  MutantRecord R;
  R.Kernel = "rows";
  R.M.File = "rows.cu";
  R.M.Line = 12;
  R.M.Column = 7;
  R.M.Operator = "compare";
  R.M.Before = "slt";
  R.M.After = "sle";
  R.Outcome = MutantOutcome::Survived;
  R.Differs = true;
  R.Inputs = 17;
  MutantRecord Back;
  json::Path::Root Root;
  ASSERT_TRUE(fromJSON(toJSON(R), Back, Root));
  EXPECT_EQ(Back.key(), "rows rows.cu:12:7 compare: slt -> sle");
  EXPECT_TRUE(Back.Differs && Back.counts() && !Back.found());
  EXPECT_EQ(Back.Inputs, 17u);
  R.M.OfText = true;
  R.Outcome = MutantOutcome::NotCompiled;
  ASSERT_TRUE(fromJSON(toJSON(R), Back, Root));
  EXPECT_EQ(Back.key(), "rows rows.cu:12:7 text: compare: slt -> sle");
  EXPECT_FALSE(Back.counts() || Back.found());
}

TEST(Score, ArgumentsMayGoOn) {
  auto Parsed = parseEquivalents("# Title\n- `a b.cu:1:2 c: d -> e`: because\n"
                                 "  it is so.\n\ntext\n",
                                 "f.md");
  ASSERT_TRUE(static_cast<bool>(Parsed));
  EXPECT_EQ(Parsed->at("a b.cu:1:2 c: d -> e"), "because it is so.");
  EXPECT_TRUE(errorToBool(parseEquivalents("- `key`:\n", "f.md").takeError()));
}
