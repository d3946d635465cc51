//===- LineDiff.cpp - Two texts as a unified diff -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Report/Story.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;

namespace cupilot {

static std::vector<StringRef> linesOf(StringRef Text) {
  std::vector<StringRef> Lines;
  while (!Text.empty()) {
    auto [Line, Rest] = Text.split('\n');
    Lines.push_back(Line);
    Text = Rest;
  }
  return Lines;
}

namespace {
/// A line of both texts together.
struct DiffLine {
  char Mark; ///< ' ', '-' or '+'.
  StringRef Text;
};
} // namespace

/// The longest common subsequence keeps its place. Where a table of all pairs
/// would be large, everything between equal beginnings and ends is replaced.
static std::vector<DiffLine> compared(ArrayRef<StringRef> Old,
                                      ArrayRef<StringRef> New) {
  std::vector<DiffLine> All, End;
  while (!Old.empty() && !New.empty() && Old.front() == New.front()) {
    All.push_back({' ', Old.front()});
    Old = Old.drop_front();
    New = New.drop_front();
  }
  while (!Old.empty() && !New.empty() && Old.back() == New.back()) {
    End.push_back({' ', Old.back()});
    Old = Old.drop_back();
    New = New.drop_back();
  }
  constexpr size_t MostPairs = 4'000'000;
  const size_t N = Old.size(), M = New.size(), Stride = M + 1;
  std::vector<unsigned> Common; // Of what is behind each pair.
  if (N * M <= MostPairs) {
    Common.resize((N + 1) * Stride);
    for (size_t I = N; I-- > 0;)
      for (size_t J = M; J-- > 0;)
        Common[I * Stride + J] = Old[I] == New[J]
                                     ? Common[(I + 1) * Stride + J + 1] + 1
                                     : std::max(Common[(I + 1) * Stride + J],
                                                Common[I * Stride + J + 1]);
  }
  size_t I = 0, J = 0;
  while (I < N || J < M) {
    bool Cut = J == M || Common.empty() ? I < N
               : I == N ? false
                        : Old[I] != New[J] && Common[(I + 1) * Stride + J] >=
                                                  Common[I * Stride + J + 1];
    if (Cut)
      All.push_back({'-', Old[I++]});
    else if (I < N && !Common.empty() && Old[I] == New[J]) {
      All.push_back({' ', Old[I++]});
      ++J;
    } else
      All.push_back({'+', New[J++]});
  }
  All.insert(All.end(), End.rbegin(), End.rend());
  return All;
}

std::string lineDiff(StringRef Name, StringRef Old, StringRef New) {
  constexpr size_t Around = 3;
  std::vector<DiffLine> All = compared(linesOf(Old), linesOf(New));
  std::string Text;
  size_t OldLine = 1, NewLine = 1;
  for (size_t I = 0; I < All.size();) {
    size_t Change = I;
    while (Change < All.size() && All[Change].Mark == ' ')
      ++Change;
    if (Change == All.size())
      break;
    size_t Begin = std::max(I, Change - std::min(Change, Around)), End = Change;
    for (size_t J = Change; J < All.size() && J <= End + 2 * Around; ++J)
      if (All[J].Mark != ' ')
        End = J;
    End = std::min(All.size(), End + 1 + Around);
    OldLine += Begin - I;
    NewLine += Begin - I;
    size_t OldCount = 0, NewCount = 0;
    std::string Lines;
    for (size_t J = Begin; J < End; ++J) {
      OldCount += All[J].Mark != '+';
      NewCount += All[J].Mark != '-';
      Lines += (Twine(All[J].Mark) + All[J].Text + "\n").str();
    }
    Text += ("@@ -" + Twine(OldLine) + "," + Twine(OldCount) + " +" +
             Twine(NewLine) + "," + Twine(NewCount) + " @@\n")
                .str() +
            Lines;
    OldLine += OldCount;
    NewLine += NewCount;
    I = End;
  }
  if (Text.empty())
    return "";
  return ("--- original\n+++ " + Name + "\n").str() + Text;
}

} // namespace cupilot
