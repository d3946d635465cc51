//===- CompareTest.cpp - Outputs and launches of programs -------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Compare/Compare.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace cupilot;
using namespace llvm;

namespace {

bool near(StringRef A, StringRef B, double Tolerance = 0.01) {
  double Largest = 0;
  return numbersAgree(A, B, Tolerance, Largest);
}

TEST(Numbers, DifferByAShareOfTheLarger) {
  EXPECT_TRUE(near("sum 100", "sum 101"));
  EXPECT_FALSE(near("sum 100", "sum 102"));
  EXPECT_TRUE(near("sum -1.00e+5,", "sum -100500,"));
  EXPECT_FALSE(near("sum -100", "sum 100"));
  EXPECT_FALSE(near("0", "1e-30"));
  EXPECT_TRUE(near("0", "-0.0"));
  EXPECT_TRUE(near("1e308 and 1", "1.001e308 and 1"));
  EXPECT_FALSE(near("1e308", "-1e308"));
  EXPECT_TRUE(near("loss 1.0.", "loss 1.001."));
  double Largest = 0.001;
  EXPECT_TRUE(numbersAgree("1 2 200", "1 2 201", 0.01, Largest));
  EXPECT_NEAR(Largest, 1 / 201.0, 1e-9);
  EXPECT_FALSE(numbersAgree("100.9 x", "100 y", 0.01, Largest));
  EXPECT_NEAR(Largest, 1 / 201.0, 1e-9); // Of lines that agree.
}

TEST(Numbers, ThatAreNone) {
  EXPECT_TRUE(near("nan -nan", "nan nan"));
  EXPECT_TRUE(near("inf", "inf"));
  EXPECT_FALSE(near("inf", "-inf"));
  EXPECT_FALSE(near("inf", "1e308"));
  EXPECT_FALSE(near("nan", "1"));
  EXPECT_FALSE(near("nancy 1", "infant 1"));
}

TEST(Numbers, WordsAreEqual) {
  EXPECT_FALSE(near("v100 1", "v101 1"));
  EXPECT_FALSE(near("sm_900", "sm_901"));
  EXPECT_FALSE(near("0x1000", "0x1001"));
  EXPECT_FALSE(near("a 1", "b 1"));
  EXPECT_FALSE(near("1", "1 2"));
  EXPECT_FALSE(near("1 ms", "1 s"));
  EXPECT_TRUE(near("1000ms", "1001ms"));
}

TEST(Numbers, ColumnsGetWider) {
  EXPECT_TRUE(near("  9.999 x", " 10.001 x"));
  EXPECT_TRUE(near("t:  9.999\n", "t: 10.001\r\n"));
  EXPECT_TRUE(near("a: 9.999", "a:10.001"));
  EXPECT_FALSE(near("a b", "ab"));
}

class Outputs : public testing::Test {
protected:
  LineRules Rules;
  OutputComparison O{"out", Rules};

  void ignore(StringRef Text) { Rules.Ignore.emplace_back(Text); }
};

TEST_F(Outputs, SameBytes) {
  O.addOriginals("a\nb\n");
  O.addOriginals("a\nb\n");
  O.addVariants("a\nb\n");
  EXPECT_EQ(O.compared(), 2u);
  EXPECT_EQ(O.differing(), 0u);
  O.addVariants("a\nb"); // Each byte counts, the last one, too.
  EXPECT_EQ(O.differing(), 1u);
  O.addVariants("a\nc\n");
  ASSERT_EQ(O.differing(), 1u);
  EXPECT_EQ(O.differences(9).front().Line, 2u);
}

TEST_F(Outputs, WhatVariesIsLeftOut) {
  O.addOriginals("a\ntime 1\nc\nd\n");
  O.addOriginals("a\ntime 2\nc\nd\n");
  O.addVariants("a\ntime 3\nx\nd\n");
  EXPECT_EQ(O.compared(), 3u);
  EXPECT_EQ(O.leftOut(), 1u);
  ASSERT_EQ(O.differing(), 1u);
  LineDifference D = O.differences(9).front();
  EXPECT_EQ(D.Line, 3u);
  EXPECT_EQ(D.Originals, "c\n");
  EXPECT_EQ(D.Variants, "x\n");
  // A later run with originals shows that this line says nothing.
  O.addOriginals("a\ntime 4\ny\nd\n");
  EXPECT_EQ(O.leftOut(), 2u);
  EXPECT_EQ(O.differing(), 0u);
  EXPECT_TRUE(O.differences(9).empty());
}

TEST_F(Outputs, OtherNumbersOfLines) {
  O.addOriginals("a\nb\nc\n");
  O.addVariants("a\nb\nc\nd\n");
  ASSERT_EQ(O.differing(), 1u);
  EXPECT_EQ(O.differences(9).front().Line, 0u);
  EXPECT_EQ(O.differences(9).front().Originals, "3 lines");
  EXPECT_EQ(O.differences(9).front().Variants, "4 lines");
  // Originals that do the same.
  O.addOriginals("a\nx\nb\nc\n");
  EXPECT_EQ(O.differing(), 0u);
  EXPECT_EQ(O.compared(), 3u);
  O.addVariants("a\nanything\nand\nmore\nb\nc\n");
  EXPECT_EQ(O.differing(), 0u);
  O.addVariants("a\nx\nb\nd\n");
  ASSERT_EQ(O.differing(), 1u);
  EXPECT_EQ(O.differences(9).front().Line, 3u);
  O.addVariants("a\n");
  EXPECT_EQ(O.differing(), 2u);
  EXPECT_EQ(O.differences(9).front().Originals, "at least 3 lines");
}

TEST_F(Outputs, Ignored) {
  ignore("^time");
  O.addOriginals("time 1\na\n");
  O.addOriginals("a\n");
  O.addVariants("time 1\ntime 2\nb\n");
  EXPECT_EQ(O.ignored(), 1u);
  EXPECT_EQ(O.compared(), 1u);
  ASSERT_EQ(O.differing(), 1u);
  EXPECT_EQ(O.differences(9).front().Line, 2u); // As the user sees it.
}

TEST_F(Outputs, Tolerance) {
  Rules.Tolerance = 0.01;
  O.addOriginals("sum 1000\nn 5\n");
  O.addOriginals("sum 1001\nn 5\n"); // Not left out: it agrees.
  EXPECT_EQ(O.leftOut(), 0u);
  EXPECT_EQ(O.largest(), 0);
  O.addVariants("sum 1002\nn 5\n");
  EXPECT_EQ(O.differing(), 0u);
  EXPECT_NEAR(O.largest(), 2 / 1002.0, 1e-9);
  O.addVariants("sum 1100\nn 5\n");
  EXPECT_EQ(O.differing(), 1u);
}

TEST_F(Outputs, Bytes) {
  O.addOriginals(std::string("a\0b", 3));
  O.addVariants(std::string("a\0c", 3));
  EXPECT_TRUE(O.isBinary());
  EXPECT_EQ(O.compared(), 3u);
  ASSERT_EQ(O.differing(), 1u);
  LineDifference D = O.differences(9).front();
  EXPECT_EQ(D.Line, 3u);
  EXPECT_EQ(D.Originals, "0x62");
  EXPECT_EQ(D.Variants, "0x63");
  O.addVariants(std::string("a\0b\0", 4));
  EXPECT_EQ(O.differing(), 2u);
  EXPECT_EQ(O.differences(9).front().Variants, "4 bytes");
  O.addOriginals(std::string("b\0b", 3));
  EXPECT_EQ(O.differing(), 0u);
  EXPECT_EQ(O.compared(), 0u);
  EXPECT_EQ(O.leftOut(), 3u);
}

TEST_F(Outputs, Missing) {
  O.addOriginals("a\n");
  O.addVariants(std::nullopt);
  ASSERT_EQ(O.differing(), 1u);
  EXPECT_EQ(O.differences(9).front().Variants, "no such file");
  O.addOriginals(std::nullopt); // Sometimes it is not there.
  EXPECT_EQ(O.differing(), 0u);
  EXPECT_EQ(O.compared(), 0u);

  OutputComparison Never("never", Rules);
  Never.addOriginals(std::nullopt);
  Never.addVariants(std::nullopt);
  EXPECT_TRUE(Never.isMissing());
  EXPECT_EQ(Never.differing(), 0u);
  Never.addVariants("a\n");
  EXPECT_EQ(Never.differing(), 1u);
}

TEST_F(Outputs, Moved) {
  std::vector<OutputComparison> All;
  All.emplace_back("out", Rules).addOriginals("a\n");
  for (int I = 0; I < 20; ++I)
    All.emplace_back("other", Rules);
  All.front().addVariants("b\n");
  EXPECT_EQ(All.front().differences(9).front().Originals, "a\n");
}

TEST(ShownLine, FitsATerminal) {
  EXPECT_EQ(shownLine("a\x1b[1m\n", ""), "a\\x1b[1m");
  std::string Long(1000, 'x'), Other = Long;
  Other[500] = 'y';
  std::string Shown = shownLine(Other, Long);
  EXPECT_NE(Shown.find('y'), std::string::npos);
  EXPECT_LT(Shown.size(), 140u);
}

TEST(Launches, AreAddedUp) {
  LaunchCount Variant{LaunchCountKind::Variant, "k(int)", "_Z1ki", "v_1"};
  Variant.VariantSymbols = {"__cupilot_1__Z1ki"};
  LaunchCount Outside{LaunchCountKind::Outside, "k(int)", "_Z1ki", "v_1"};
  Outside.Clause = "n <= \"4\"";
  auto Line = [](const LaunchCount &C, StringRef Count) {
    // As State.c does it.
    std::string Text = formatv("{0}", toJSON(C)).str();
    return StringRef(Text).drop_back().str() + ",\"launches\":" + Count.str() +
           "}\n";
  };
  std::string Unit = "{\"kind\":\"begin\",\"process\":7}\n" +
                     Line(Variant, "3") + Line(Outside, "2") +
                     "{\"kind\":\"end\",\"process\":7}\n";
  bool Complete = false, Any = false;
  auto Counts = readLaunchCounts(Unit + Unit, Complete, Any);
  ASSERT_TRUE(static_cast<bool>(Counts)) << toString(Counts.takeError());
  EXPECT_TRUE(Complete);
  EXPECT_TRUE(Any);
  ASSERT_EQ(Counts->size(), 2u);
  EXPECT_EQ((*Counts)[0].Launches, 6u);
  EXPECT_EQ((*Counts)[0].VariantSymbols.size(), 1u);
  EXPECT_EQ((*Counts)[1].Kind, LaunchCountKind::Outside);
  EXPECT_EQ((*Counts)[1].Clause, Outside.Clause);

  // A process that was ended, and text that is none.
  consumeError(
      readLaunchCounts("{\"kind\":\"begin\"}\n", Complete, Any).takeError());
  EXPECT_FALSE(Complete);
  EXPECT_TRUE(Any);
  consumeError(readLaunchCounts("", Complete, Any).takeError());
  EXPECT_FALSE(Any);
  for (StringRef Broken : {"{\"kind\":\"other\"}\n", "x\n", "[]\n", "\n"}) {
    auto Read = readLaunchCounts(Broken, Complete, Any);
    EXPECT_FALSE(static_cast<bool>(Read)) << Broken.str();
    consumeError(Read.takeError());
  }
}

} // namespace
