//===- LineDiff.cpp - Two texts line by line -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Support/LineDiff.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include <vector>

using namespace llvm;

namespace cupilot {

namespace {
/// A line of both texts together, with its end.
struct DiffLine {
  char Mark; ///< ' ', '-' or '+'.
  StringRef Text;
};
} // namespace

/// Lines with their ends; the last may have none.
static std::vector<StringRef> linesOf(StringRef Text) {
  std::vector<StringRef> Lines;
  while (!Text.empty()) {
    size_t End = std::min(Text.find('\n'), Text.size() - 1) + 1;
    Lines.push_back(Text.take_front(End));
    Text = Text.drop_front(End);
  }
  return Lines;
}

/// The shortest way from \p Old to \p New (Myers, "An O(ND) Difference
/// Algorithm and Its Variations", 1986), last line first; nothing where it has
/// more than
/// \p Most steps.
static std::vector<DiffLine> shortestEdit(ArrayRef<StringRef> Old,
                                          ArrayRef<StringRef> New, int Most) {
  const int N = int(Old.size()), M = int(New.size());
  // Furthest[K + D]: the most old lines after D steps on the diagonal K.
  std::vector<std::vector<int>> Steps;
  std::vector<int> Furthest(2 * size_t(Most) + 3);
  auto At = [&](std::vector<int> &V, int K) -> int & {
    return V[size_t(K + int(V.size()) / 2)];
  };
  for (int D = 0; D <= Most; ++D) {
    for (int K = -D; K <= D; K += 2) {
      bool Down =
          K == -D || (K != D && At(Furthest, K - 1) < At(Furthest, K + 1));
      int X = Down ? At(Furthest, K + 1) : At(Furthest, K - 1) + 1;
      while (X < N && X - K < M && Old[X] == New[X - K])
        ++X;
      At(Furthest, K) = X;
    }
    const size_t Middle = Furthest.size() / 2;
    Steps.emplace_back(Furthest.begin() + long(Middle) - D,
                       Furthest.begin() + long(Middle) + D + 1);
    if (std::abs(N - M) <= D && (N - M - D) % 2 == 0 &&
        At(Furthest, N - M) >= N)
      break;
    if (D == Most)
      return {};
  }
  std::vector<DiffLine> Lines;
  int X = N, K = N - M;
  for (int D = int(Steps.size()) - 1; D > 0; --D) {
    std::vector<int> &V = Steps[size_t(D - 1)];
    auto Before = [&](int Diagonal) {
      return std::abs(Diagonal) < D ? At(V, Diagonal) : -1;
    };
    bool Down = K == -D || (K != D && Before(K - 1) < Before(K + 1));
    int From = Down ? Before(K + 1) : Before(K - 1) + 1;
    for (; X > From; --X)
      Lines.push_back({' ', Old[X - 1]});
    Lines.push_back(Down ? DiffLine{'+', New[X - K - 1]}
                         : DiffLine{'-', Old[X - 1]});
    X -= !Down;
    K += Down ? 1 : -1;
  }
  for (; X > 0; --X)
    Lines.push_back({' ', Old[X - 1]});
  return Lines;
}

static std::vector<DiffLine> compareLines(ArrayRef<StringRef> Old,
                                          ArrayRef<StringRef> New) {
  constexpr int MostSteps = 2000;
  std::vector<DiffLine> All;
  while (!Old.empty() && !New.empty() && Old.front() == New.front()) {
    All.push_back({' ', Old.front()});
    Old = Old.drop_front();
    New = New.drop_front();
  }
  ArrayRef<StringRef> Rest = Old;
  while (!Old.empty() && !New.empty() && Old.back() == New.back()) {
    Old = Old.drop_back();
    New = New.drop_back();
  }
  Rest = Rest.drop_front(Old.size());
  std::vector<DiffLine> Edit = shortestEdit(Old, New, MostSteps);
  if (Edit.empty()) {
    for (StringRef Line : reverse(New))
      Edit.push_back({'+', Line});
    for (StringRef Line : reverse(Old))
      Edit.push_back({'-', Line});
  }
  All.insert(All.end(), Edit.rbegin(), Edit.rend());
  for (StringRef Line : Rest)
    All.push_back({' ', Line});
  // What goes stands before what comes.
  for (auto It = All.begin(); It != All.end();) {
    auto To = It;
    std::vector<DiffLine> Come;
    for (; It != All.end() && It->Mark != ' '; ++It)
      if (It->Mark == '-')
        *To++ = *It;
      else
        Come.push_back(*It);
    copy(Come, To);
    if (It != All.end())
      ++It;
  }
  return All;
}

std::string diffHunks(StringRef Old, StringRef New) {
  constexpr size_t Around = 3;
  std::vector<DiffLine> All = compareLines(linesOf(Old), linesOf(New));
  std::string Text;
  size_t OldLine = 0, NewLine = 0; // Before the hunk.
  for (size_t I = 0; I < All.size();) {
    size_t Change = I;
    while (Change < All.size() && All[Change].Mark == ' ')
      ++Change;
    if (Change == All.size())
      break;
    size_t Begin = std::max(I, Change - std::min(Change, Around)), End = Change;
    // Hunks whose lines around them meet are one.
    for (size_t J = Change; J < All.size() && J <= End + 2 * Around + 1; ++J)
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
      Lines += (Twine(All[J].Mark) + All[J].Text).str();
      if (!All[J].Text.ends_with("\n"))
        Lines += "\n\\ No newline at end of file\n";
    }
    // An empty range is named by the line before it.
    Text += ("@@ -" + Twine(OldLine + (OldCount != 0)) + "," + Twine(OldCount) +
             " +" + Twine(NewLine + (NewCount != 0)) + "," + Twine(NewCount) +
             " @@\n")
                .str() +
            Lines;
    OldLine += OldCount;
    NewLine += NewCount;
    I = End;
  }
  return Text;
}

std::string unifiedDiff(const Twine &OldName, const Twine &NewName,
                        StringRef Old, StringRef New) {
  std::string Hunks = diffHunks(Old, New);
  return Hunks.empty()
             ? ""
             : ("--- " + OldName + "\n+++ " + NewName + "\n" + Hunks).str();
}

} // namespace cupilot
