//===- Story.cpp - What a search did, for the report -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Report/Story.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cmath>
#include <map>

using namespace llvm;

namespace cupilot {

StoryCost &StoryCost::operator+=(const StoryCost &Other) {
  Calls += Other.Calls;
  PromptTokens += Other.PromptTokens;
  AnswerTokens += Other.AnswerTokens;
  Cost += Other.Cost;
  Seconds += Other.Seconds;
  return *this;
}

static std::string number(double Value, const char *Format) {
  return std::isfinite(Value) ? formatv(Format, Value).str() : "";
}

static std::string finitePixels(double Value) {
  return number(Value, "{0:f1}");
}

static std::string ratioText(double Ratio) {
  return Ratio > 0 ? number(Ratio, "{0:f3}x") : "";
}

static constexpr double StoryWidth = 920;

/// Longer lists are folded until a reader asks for them.
static constexpr size_t ShortList = 12, ShortDiff = 60;

/// A mark for each of some candidates, no more than a dozen.
static json::Array orderTicks(size_t Count, function_ref<double(double)> X) {
  size_t Step = 1;
  for (size_t Factor : {2, 5, 10, 20, 50, 100, 200, 500, 1000})
    if (Count / Step > 12)
      Step = Factor;
  json::Array Ticks;
  for (size_t I = Step - 1; I < Count; I += Step)
    Ticks.push_back(json::Object{{"x", finitePixels(X(double(I)))},
                                 {"text", std::to_string(I + 1)}});
  return Ticks;
}

/// 1, 2 or 5 times a power of ten: no more than six of it come to \p Range.
static double roundStep(double Range) {
  double Step = std::pow(10.0, std::floor(std::log10(Range)) - 1);
  for (double Factor : {2.0, 2.5, 2.0, 2.0, 2.5})
    if (Range > 6 * Step)
      Step *= Factor;
  return Step;
}

/// Ratios in the order of evaluation, and the best accepted one so far.
static json::Object drawProgress(const SearchStory &S) {
  constexpr double Height = 280, Left = 64, Right = 24, Top = 14, Bottom = 56;
  double Low = 1, High = 1.1;
  for (const StoryCandidate &C : S.Candidates)
    if (C.Ratio > 0 && std::isfinite(C.Ratio)) {
      Low = std::min(Low, C.Ratio);
      High = std::max(High, C.Ratio);
    }
  const double Step = roundStep(High - Low);
  Low = std::floor(Low / Step) * Step;
  High = std::ceil(High / Step) * Step;
  auto X = [&](double I) {
    double Last = std::max<double>(1, double(S.Candidates.size()) - 1);
    return Left + I / Last * (StoryWidth - Left - Right);
  };
  auto Y = [&](double R) {
    return Height - Bottom - (R - Low) / (High - Low) * (Height - Top - Bottom);
  };
  json::Array Points, Ticks;
  std::string Path;
  double Best = 1;
  for (auto [I, C] : enumerate(S.Candidates)) {
    // What has no time stands below the lines.
    bool Timed = C.Ratio > 0 && std::isfinite(C.Ratio);
    Points.push_back(json::Object{
        {"x", finitePixels(X(double(I)))},
        {"y", finitePixels(Timed ? Y(C.Ratio) : Height - Bottom + 10)},
        {"outcome", wordOf(C.Outcome)},
        {"name", C.Name},
        {"genome", C.Genome},
        {"ratio", ratioText(C.Ratio)}});
    std::string At = finitePixels(X(double(I)));
    Path += (Path.empty() ? "M" : "H") + At +
            (Path.empty() ? " " + finitePixels(Y(Best)) : "");
    if (C.Outcome == CandidateOutcome::Accepted && C.Ratio > Best) {
      Best = C.Ratio;
      Path += "V" + finitePixels(Y(Best));
    }
  }
  for (int I = 0; Low + I * Step < High + Step / 2; ++I) {
    double R = Low + I * Step;
    Ticks.push_back(json::Object{{"y", finitePixels(Y(R))},
                                 {"textY", finitePixels(Y(R) + 4)},
                                 {"text", number(R, "{0:f2}x")}});
  }
  return json::Object{
      {"width", finitePixels(StoryWidth)},
      {"height", finitePixels(Height)},
      {"left", finitePixels(Left - 12)},
      {"right", finitePixels(StoryWidth - Right + 12)},
      {"tickX", finitePixels(Left - 20)},
      {"orderY", finitePixels(Height - Bottom + 28)},
      {"middleX", finitePixels((Left + StoryWidth - Right) / 2)},
      {"baseY", finitePixels(Height - 8)},
      {"order", orderTicks(S.Candidates.size(), X)},
      {"path", Path},
      {"points", std::move(Points)},
      {"ticks", std::move(Ticks)}};
}

/// A column for each generation of descendants; lines lead to parents.
static json::Object drawLineage(const SearchStory &S) {
  // An edge begins behind its parent's name.
  constexpr double Row = 20, Top = 16, Step = 210, Name = 128;
  std::vector<size_t> Depth;
  for (const StoryCandidate &C : S.Candidates) {
    size_t D = 0;
    for (size_t P : C.Parents)
      if (P < Depth.size())
        D = std::max(D, Depth[P] + 1);
    Depth.push_back(D);
  }
  size_t Columns = Depth.empty() ? 1 : *llvm::max_element(Depth) + 1;
  std::map<size_t, size_t> Rows;
  std::vector<std::pair<double, double>> Places;
  size_t Deepest = 0;
  json::Array Nodes, Edges;
  for (auto [I, C] : enumerate(S.Candidates)) {
    size_t At = Rows[Depth[I]]++;
    Deepest = std::max(Deepest, At + 1);
    Places.push_back({20 + double(Depth[I]) * Step, Top + double(At) * Row});
    for (size_t P : C.Parents)
      if (P < I)
        Edges.push_back(
            json::Object{{"x1", finitePixels(Places[P].first + Name)},
                         {"y1", finitePixels(Places[P].second)},
                         {"x2", finitePixels(Places[I].first - 6)},
                         {"y2", finitePixels(Places[I].second)}});
    Nodes.push_back(json::Object{{"x", finitePixels(Places[I].first)},
                                 {"y", finitePixels(Places[I].second)},
                                 {"textX", finitePixels(Places[I].first + 8)},
                                 {"textY", finitePixels(Places[I].second + 4)},
                                 {"outcome", wordOf(C.Outcome)},
                                 {"name", C.Name},
                                 {"genome", C.Genome},
                                 {"ratio", ratioText(C.Ratio)}});
  }
  return json::Object{
      {"width",
       finitePixels(std::max(StoryWidth, 40 + double(Columns) * Step))},
      {"height",
       finitePixels(Top + double(std::max<size_t>(Deepest, 1)) * Row)},
      {"nodes", std::move(Nodes)},
      {"edges", std::move(Edges)}};
}

static json::Array geneRows(const SearchStory &S) {
  json::Array All;
  for (const StoryGene &G : S.Genes)
    All.push_back(json::Object{
        {"strategy", G.Strategy},
        {"candidates", std::to_string(G.Candidates)},
        {"passed", std::to_string(G.Passed)},
        {"accepted", std::to_string(G.Accepted)},
        {"best", ratioText(G.Best)},
        {"record", G.Tried ? formatv("{0} of {1}", G.Helped, G.Tried).str()
                           : std::string()}});
  return All;
}

/// One line of a diff and its kind: "add", "cut", "place" or "".
static json::Array diffLines(StringRef Text) {
  json::Array All;
  while (!Text.empty()) {
    auto [Line, Rest] = Text.split('\n');
    Text = Rest;
    bool Head = Line.starts_with("--- ") || Line.starts_with("+++ ");
    All.push_back(json::Object{{"text", Line},
                               {"kind", Head || Line.starts_with("@") ? "place"
                                        : Line.starts_with("+")       ? "add"
                                        : Line.starts_with("-") ? "cut"
                                                                : "same"}});
  }
  return All;
}

static json::Object costValues(const StoryCost &C) {
  return json::Object{{"calls", std::to_string(C.Calls)},
                      {"prompt", std::to_string(C.PromptTokens)},
                      {"answer", std::to_string(C.AnswerTokens)},
                      {"cost", C.Cost > 0 ? number(C.Cost, "{0:f4}") : ""},
                      {"seconds", number(C.Seconds, "{0:f0}")}};
}

static StringRef nameOf(StoryAgent A) {
  switch (A) {
  case StoryAgent::Prophet:
    return "Roofline Prophet";
  case StoryAgent::Manager:
    return "SCE Manager";
  case StoryAgent::Unfinished:
    return "unfinished candidates";
  }
  llvm_unreachable("unknown agent");
}

/// Who was asked how much, and the sum.
static void addCost(json::Object &O, const SearchStory &S) {
  StoryCost Sum;
  json::Array Rows;
  auto Add = [&](StringRef Name, StringRef Outcome, const StoryCost &C) {
    if (!C.Calls)
      return;
    json::Object Row = costValues(C);
    Row["name"] = Name;
    Row["outcome"] = Outcome;
    Rows.push_back(std::move(Row));
    Sum += C;
  };
  for (const auto &[Agent, Asked] : S.Agents)
    Add(nameOf(Agent), "", Asked);
  for (const StoryCandidate &C : S.Candidates)
    Add(C.Name, wordOf(C.Outcome), C.Asked);
  if (!Sum.Calls)
    return;
  const bool IsShort = Rows.size() <= ShortList;
  O["anyAsked"] = json::Object{{"isShort", IsShort},
                               {"askedRows", std::move(Rows)},
                               {"askedSum", costValues(Sum)}};
}

json::Object toValues(const SearchStory &S) {
  std::map<std::string, unsigned> Outcomes;
  for (const StoryCandidate &C : S.Candidates)
    ++Outcomes[wordOf(C.Outcome).str()];
  std::string Counts;
  for (const auto &[Outcome, Count] : Outcomes)
    Counts +=
        (Counts.empty() ? "" : ", ") + std::to_string(Count) + " " + Outcome;
  json::Array Diffs;
  for (const StoryDiff &D : S.Diffs) {
    json::Array Lines = diffLines(D.Text);
    json::Object Each{{"name", D.Name},
                      {"isShort", Diffs.empty() && Lines.size() <= ShortDiff},
                      {"lines", std::move(Lines)}};
    if (!D.Prompts.empty())
      Each["prompts"] = join(D.Prompts, ", ");
    Diffs.push_back(std::move(Each));
  }
  json::Object O{{"name", S.Kernel},
                 {"run", StringRef(S.Run).take_front(19)},
                 {"basis", wordOf(S.Basis)},
                 {"counts", Counts},
                 {"progress", drawProgress(S)},
                 {"diffs", std::move(Diffs)}};
  auto Fold = [&](json::Object &Part, size_t Size) {
    Part["count"] = std::to_string(Size);
    Part["isShort"] = Size <= ShortList;
  };
  json::Object Lineage = drawLineage(S);
  Fold(Lineage, S.Candidates.size());
  O["lineage"] = std::move(Lineage);
  json::Object Strategies{{"genes", geneRows(S)}};
  Fold(Strategies, S.Genes.size());
  O["strategies"] = std::move(Strategies);
  addCost(O, S);
  return O;
}

} // namespace cupilot
