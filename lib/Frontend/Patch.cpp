//===- Patch.cpp - Edits as a unified diff -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The edits are known, so nothing is compared but the lines that they touch.
//
//===----------------------------------------------------------------------===//

#include "cupilot/Frontend/Eject.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace cupilot {

std::string applyEdits(StringRef Old, ArrayRef<SourceEdit> Edits) {
  std::string New;
  size_t Done = 0;
  for (const SourceEdit &E : Edits) {
    New += Old.slice(Done, E.Begin);
    New += E.Text;
    Done = E.End;
  }
  return New + Old.drop_front(Done).str();
}

/// Lines with their ends; the last may have none.
static std::vector<StringRef> linesOf(StringRef Text) {
  std::vector<StringRef> Lines;
  while (!Text.empty()) {
    size_t At = Text.find('\n');
    size_t Length = At == StringRef::npos ? Text.size() : At + 1;
    Lines.push_back(Text.take_front(Length));
    Text = Text.drop_front(Length);
  }
  return Lines;
}

namespace {
/// Old lines [Begin, End) become New.
struct LineChange {
  size_t Begin = 0, End = 0;
  std::string Text;
  std::vector<StringRef> New;
};
} // namespace

static void print(raw_ostream &OS, char Mark, StringRef Line) {
  OS << Mark << Line;
  if (!Line.ends_with("\n"))
    OS << "\n\\ No newline at end of file\n";
}

std::string unifiedDiff(StringRef Path, StringRef Old,
                        ArrayRef<SourceEdit> Edits) {
  constexpr size_t Around = 3;
  std::vector<StringRef> Lines = linesOf(Old);
  std::vector<size_t> Starts; // Of each line, and of the end.
  size_t At = 0;
  for (StringRef Line : Lines) {
    Starts.push_back(At);
    At += Line.size();
  }
  Starts.push_back(At);
  auto LineOf = [&](size_t Offset) {
    size_t I =
        static_cast<size_t>(upper_bound(Starts, Offset) - Starts.begin());
    return std::min(I - 1, Lines.empty() ? 0 : Lines.size() - 1);
  };
  std::vector<LineChange> Changes;
  for (size_t I = 0; I < Edits.size();) {
    LineChange C;
    C.Begin = LineOf(Edits[I].Begin);
    size_t First = I;
    do {
      C.End = std::max(C.End, LineOf(Edits[I].End) + 1);
      ++I;
    } while (I < Edits.size() && LineOf(Edits[I].Begin) < C.End);
    size_t From = Starts[C.Begin], To = Starts[std::min(C.End, Lines.size())];
    std::vector<SourceEdit> Own(Edits.begin() + First, Edits.begin() + I);
    for (SourceEdit &E : Own) {
      E.Begin -= From;
      E.End -= From;
    }
    C.Text = applyEdits(Old.slice(From, To), Own);
    Changes.push_back(std::move(C));
  }
  for (LineChange &C : Changes) {
    C.New = linesOf(C.Text);
    while (C.Begin < C.End && !C.New.empty() &&
           Lines[C.Begin] == C.New.front()) {
      ++C.Begin;
      C.New.erase(C.New.begin());
    }
    while (C.Begin < C.End && !C.New.empty() &&
           Lines[C.End - 1] == C.New.back()) {
      --C.End;
      C.New.pop_back();
    }
  }
  if (Changes.empty())
    return "";
  std::string Text;
  raw_string_ostream OS(Text);
  OS << "--- a/" << Path << "\n+++ b/" << Path << "\n";
  ptrdiff_t Shift = 0;
  for (size_t I = 0; I < Changes.size();) {
    size_t Last = I;
    while (Last + 1 < Changes.size() &&
           Changes[Last + 1].Begin <= Changes[Last].End + 2 * Around)
      ++Last;
    size_t Begin = Changes[I].Begin - std::min(Changes[I].Begin, Around),
           End = std::min(Lines.size(), Changes[Last].End + Around);
    size_t OldCount = End - Begin, NewCount = OldCount;
    for (size_t J = I; J <= Last; ++J)
      NewCount += Changes[J].New.size() - (Changes[J].End - Changes[J].Begin);
    OS << "@@ -" << Begin + (OldCount != 0) << "," << OldCount << " +"
       << static_cast<size_t>(static_cast<ptrdiff_t>(Begin) + Shift) +
              (NewCount != 0)
       << "," << NewCount << " @@\n";
    size_t Next = Begin;
    for (size_t J = I; J <= Last; ++J) {
      for (; Next < Changes[J].Begin; ++Next)
        print(OS, ' ', Lines[Next]);
      for (; Next < Changes[J].End; ++Next)
        print(OS, '-', Lines[Next]);
      for (StringRef Line : Changes[J].New)
        print(OS, '+', Line);
    }
    for (; Next < End; ++Next)
      print(OS, ' ', Lines[Next]);
    Shift +=
        static_cast<ptrdiff_t>(NewCount) - static_cast<ptrdiff_t>(OldCount);
    I = Last + 1;
  }
  return Text;
}

} // namespace cupilot
