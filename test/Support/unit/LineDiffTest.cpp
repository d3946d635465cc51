//===- LineDiffTest.cpp - Tests of differences between texts ------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Support/LineDiff.h"
#include "llvm/ADT/SmallVector.h"
#include "gtest/gtest.h"
#include <random>
#include <vector>

using namespace cupilot;
using llvm::StringRef;

TEST(LineDiff, HunksHaveThreeLinesAround) {
  EXPECT_EQ(diffHunks("a\n", "a\n"), "");
  EXPECT_EQ(diffHunks("", ""), "");
  EXPECT_EQ(diffHunks("a\nb\nc\n", "a\nX\nc\n"),
            "@@ -1,3 +1,3 @@\n a\n-b\n+X\n c\n");
  EXPECT_EQ(
      diffHunks("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\nX\n3\n4\n5\n6\n7\n8\nY\n"),
      "@@ -1,9 +1,9 @@\n 1\n-2\n+X\n 3\n 4\n 5\n 6\n 7\n 8\n-9\n+Y\n");
  EXPECT_EQ(diffHunks("0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n",
                      "X\n1\n2\n3\n4\n5\n6\n7\n8\nY\n"),
            "@@ -1,4 +1,4 @@\n-0\n+X\n 1\n 2\n 3\n"
            "@@ -7,4 +7,4 @@\n 6\n 7\n 8\n-9\n+Y\n");
}

TEST(LineDiff, EndsOfTextsAreNamed) {
  EXPECT_EQ(unifiedDiff("a/x", "b/x", "", "1\n"),
            "--- a/x\n+++ b/x\n@@ -0,0 +1,1 @@\n+1\n");
  EXPECT_EQ(diffHunks("1\n", "1"),
            "@@ -1,1 +1,1 @@\n-1\n+1\n\\ No newline at end of file\n");
}

/// \p Old with the hunks of \p Diff, and how many lines differ.
static std::string patched(StringRef Old, StringRef Diff, size_t &Changed) {
  llvm::SmallVector<StringRef> Lines, Marked;
  Old.split(Lines, '\n');
  Diff.split(Marked, '\n');
  std::string New;
  size_t Next = 0;
  auto Keep = [&] { New += (Lines[Next++] + "\n").str(); };
  for (StringRef Line : Marked) {
    if (Line.consume_front("@@ -")) {
      size_t Begin = 0, Count = 0;
      Line.consumeInteger(10, Begin);
      Line.consume_front(",");
      Line.consumeInteger(10, Count);
      while (Next + (Count != 0) < Begin)
        Keep();
    } else if (Line.consume_front("+")) {
      New += (Line + "\n").str();
      ++Changed;
    } else if (Line.consume_front("-")) {
      EXPECT_EQ(Lines[Next++], Line);
      ++Changed;
    } else if (Line.consume_front(" ")) {
      EXPECT_EQ(Lines[Next], Line);
      Keep();
    }
  }
  while (Next + 1 < Lines.size())
    Keep();
  return New;
}

TEST(LineDiff, RandomTextsArePatchedWithTheFewestLines) {
  std::mt19937 Random(7);
  for (int Try = 0; Try < 500; ++Try) {
    std::vector<int> A(Random() % 40), B(Random() % 40);
    std::string Old, New;
    for (auto *Side : {&A, &B})
      for (int &Line : *Side) {
        Line = int(Random() % 5);
        (Side == &A ? Old : New) += std::to_string(Line) + "\n";
      }
    std::vector<std::vector<size_t>> Common(A.size() + 1,
                                            std::vector<size_t>(B.size() + 1));
    for (size_t I = A.size(); I-- > 0;)
      for (size_t J = B.size(); J-- > 0;)
        Common[I][J] = A[I] == B[J]
                           ? Common[I + 1][J + 1] + 1
                           : std::max(Common[I + 1][J], Common[I][J + 1]);
    size_t Changed = 0;
    ASSERT_EQ(patched(Old, diffHunks(Old, New), Changed), New);
    ASSERT_EQ(Changed, A.size() + B.size() - 2 * Common[0][0]);
  }
}

TEST(LineDiff, WhatDiffersInThousandsOfLinesIsReplaced) {
  std::string Old = "same\n", New = "same\n";
  for (int I = 0; I < 3000; ++I) {
    Old += "a" + std::to_string(I) + "\n";
    New += "b" + std::to_string(I) + "\n";
  }
  size_t Changed = 0;
  EXPECT_EQ(patched(Old, diffHunks(Old, New), Changed), New);
  EXPECT_EQ(Changed, 6000u);
}
