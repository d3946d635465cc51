//===- Story.cpp - What a search did, for the report -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Roofline/Story.h"
#include "llvm/ADT/STLExtras.h"
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

static std::string pixels(double Value) { return number(Value, "{0:f1}"); }

static std::string ratioText(double Ratio) {
  return Ratio > 0 ? number(Ratio, "{0:f3}x") : "";
}

static constexpr double Width = 920;

/// Ratios in the order of evaluation, and the best accepted one so far.
static json::Object drawProgress(const SearchStory &S) {
  constexpr double Height = 260, Left = 52, Right = 16, Top = 14, Bottom = 34;
  double Low = 1, High = 1.1;
  for (const StoryCandidate &C : S.Candidates)
    if (C.Ratio > 0 && std::isfinite(C.Ratio)) {
      Low = std::min(Low, C.Ratio);
      High = std::max(High, C.Ratio);
    }
  auto X = [&](double I) {
    double Last = std::max<double>(1, double(S.Candidates.size()) - 1);
    return Left + I / Last * (Width - Left - Right);
  };
  auto Y = [&](double R) {
    return Height - Bottom - (R - Low) / (High - Low) * (Height - Top - Bottom);
  };
  json::Array Points, Ticks;
  std::string Path;
  double Best = 1;
  for (auto [I, C] : enumerate(S.Candidates)) {
    if (C.Ratio > 0 && std::isfinite(C.Ratio))
      Points.push_back(json::Object{{"x", pixels(X(double(I)))},
                                    {"y", pixels(Y(C.Ratio))},
                                    {"outcome", C.Outcome},
                                    {"name", C.Name},
                                    {"genome", C.Genome},
                                    {"ratio", ratioText(C.Ratio)}});
    std::string At = pixels(X(double(I)));
    Path += (Path.empty() ? "M" : "H") + At +
            (Path.empty() ? " " + pixels(Y(Best)) : "");
    if (C.Outcome == "accepted" && C.Ratio > Best) {
      Best = C.Ratio;
      Path += "V" + pixels(Y(Best));
    }
  }
  for (int I = 0; I <= 4; ++I) {
    double R = Low + (High - Low) * I / 4;
    Ticks.push_back(
        json::Object{{"y", pixels(Y(R))}, {"text", number(R, "{0:f2}x")}});
  }
  return json::Object{{"width", pixels(Width)},
                      {"height", pixels(Height)},
                      {"left", pixels(Left)},
                      {"right", pixels(Width - Right)},
                      {"path", Path},
                      {"points", std::move(Points)},
                      {"ticks", std::move(Ticks)}};
}

/// A column for each generation of descendants; lines lead to parents.
static json::Object drawLineage(const SearchStory &S) {
  constexpr double Row = 20, Top = 16, Most = 210;
  std::vector<size_t> Depth;
  for (const StoryCandidate &C : S.Candidates) {
    size_t D = 0;
    for (size_t P : C.Parents)
      if (P < Depth.size())
        D = std::max(D, Depth[P] + 1);
    Depth.push_back(D);
  }
  size_t Columns =
      Depth.empty() ? 1 : *std::max_element(Depth.begin(), Depth.end()) + 1;
  double Step = std::min(Most, (Width - 40) / double(Columns));
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
        Edges.push_back(json::Object{{"x1", pixels(Places[P].first)},
                                     {"y1", pixels(Places[P].second)},
                                     {"x2", pixels(Places[I].first)},
                                     {"y2", pixels(Places[I].second)}});
    Nodes.push_back(json::Object{{"x", pixels(Places[I].first)},
                                 {"y", pixels(Places[I].second)},
                                 {"textX", pixels(Places[I].first + 8)},
                                 {"textY", pixels(Places[I].second + 4)},
                                 {"outcome", C.Outcome},
                                 {"name", C.Name},
                                 {"genome", C.Genome},
                                 {"ratio", ratioText(C.Ratio)}});
  }
  return json::Object{
      {"width", pixels(Width)},
      {"height", pixels(Top + double(std::max<size_t>(Deepest, 1)) * Row)},
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

json::Object toValues(const SearchStory &S) {
  StoryCost Sum;
  std::map<std::string, unsigned> Outcomes;
  json::Array Asked;
  for (const StoryCandidate &C : S.Candidates) {
    Sum += C.Asked;
    ++Outcomes[C.Outcome];
    if (C.Asked.Calls) {
      json::Object Row = costValues(C.Asked);
      Row["name"] = C.Name;
      Row["outcome"] = C.Outcome;
      Asked.push_back(std::move(Row));
    }
  }
  std::string Counts;
  for (const auto &[Outcome, Count] : Outcomes)
    Counts +=
        (Counts.empty() ? "" : ", ") + std::to_string(Count) + " " + Outcome;
  json::Array Diffs;
  for (const StoryDiff &D : S.Diffs)
    Diffs.push_back(
        json::Object{{"name", D.Name}, {"lines", diffLines(D.Text)}});
  json::Object O{{"name", S.Kernel},
                 {"run", StringRef(S.Run).take_front(19)},
                 {"basis", S.Basis},
                 {"counts", Counts},
                 {"progress", drawProgress(S)},
                 {"lineage", drawLineage(S)},
                 {"genes", geneRows(S)},
                 {"diffs", std::move(Diffs)}};
  O["asked"] =
      Sum.Calls == 0
          ? std::string("No language model was asked for candidates.")
          : formatv("{0} calls of language models for candidates, {1} + {2} "
                    "tokens, {3:f0} s{4}.",
                    Sum.Calls, Sum.PromptTokens, Sum.AnswerTokens, Sum.Seconds,
                    Sum.Cost > 0 ? ", cost " + number(Sum.Cost, "{0:f4}") : "")
                .str();
  O["askedRows"] = std::move(Asked);
  return O;
}

} // namespace cupilot
