//===- Report.cpp - Kernels and what was won, as a page -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Report/Report.h"
#include "Chart.h"
#include "ReportTemplate.h"
#include "cupilot/Model/Speedup.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Mustache.h"
#include <cmath>

using namespace llvm;

namespace cupilot {

static std::string number(std::optional<double> Value, const char *Format) {
  if (!Value || !std::isfinite(*Value))
    return "";
  return formatv(Format, *Value).str();
}

static std::string joined(ArrayRef<std::string> Texts) {
  return join(Texts, "; ");
}

static json::Object toValues(const ReportVariant &V, size_t Number) {
  json::Object O{{"number", std::to_string(Number)},
                 {"name", V.Name},
                 {"genome", V.Genome.empty() ? V.Name : V.Genome},
                 {"verdict", V.Verdict},
                 {"reason", V.Reason},
                 {"class", V.Class},
                 {"intensity", number(V.Intensity, "{0:f3}")},
                 {"modelled", number(V.Modelled, "{0:f2}")},
                 {"measured", number(V.Measured, "{0:f2}")},
                 {"ratio", number(V.Ratio, "{0:f2}x")},
                 {"headroom", number(V.Headroom, "{0:f2}x")}};
  if (!V.Domain.empty())
    O["domain"] = V.Domain;
  if (V.IsOutside)
    O["outside"] = true;
  return O;
}

/// Rows of a list that is not worth folding.
static constexpr size_t FewCandidates = 8;

static json::Object toValues(const ReportRoofline &R, const Ceilings &C) {
  json::Array Opinions, Variants, More;
  std::optional<Bottleneck> Seen;
  bool Disagree = false;
  for (const auto &[Source, O] : R.Opinions) {
    if (O.Class) {
      Disagree |= Seen && *Seen != *O.Class;
      Seen = O.Class;
    }
    StringRef Class = O.Class ? toString(*O.Class) : "unknown";
    Opinions.push_back(json::Object{{"source", Source},
                                    {"class", Class},
                                    {"grounds", joined(O.Grounds)},
                                    {"unknown", joined(O.Unknown)}});
  }
  // What the user has comes first; candidates fold where they are many.
  size_t Placed = 0, Tried = 0;
  for (const ReportVariant &V : R.Variants)
    Tried += V.IsCandidate;
  for (auto [I, V] : enumerate(R.Variants)) {
    (!V.IsCandidate || Tried <= FewCandidates ? Variants : More)
        .push_back(toValues(V, I));
    Placed += V.Intensity && *V.Intensity > 0 && V.Operations > 0;
  }
  json::Object O{{"workload", R.Workload},
                 {"opinions", std::move(Opinions)},
                 {"disagree", Disagree},
                 {"variants", std::move(Variants)}};
  if (!More.empty())
    O["folded"] = json::Object{{"count", std::to_string(More.size())},
                               {"rows", std::move(More)}};
  if (Placed > 0)
    O["chart"] = drawRoofline(C, R);
  if (!R.Unplaced.empty())
    O["noPoint"] = R.Unplaced;
  if (Placed < R.Variants.size())
    O["unplaced"] = std::to_string(R.Variants.size() - Placed);
  return O;
}

static std::string percent(std::optional<double> Share) {
  return Share ? formatv("{0:f0} %", *Share * 100).str() : "";
}

/// "31 % → 78 %", or what is known of it.
static std::string ceilingText(const ReportBest &B) {
  std::string Before = percent(B.OriginalAtCeiling),
              After = percent(B.VariantAtCeiling);
  return Before.empty() || After.empty() ? After : Before + " \u2192 " + After;
}

static bool hasSection(const ReportKernel &K) {
  return !K.Rooflines.empty() || !K.Stories.empty();
}

/// The rows of the first table: one for each compiler.
static json::Array answerRows(const ReportKernel &K, size_t Number) {
  json::Object First{
      {"name", K.Name},
      {"contract", K.Contract},
      {"rows", std::to_string(std::max<size_t>(1, K.Best.size()))},
      {"share",
       K.Share ? formatv("{0:f1} %", *K.Share * 100).str() : "not known"}};
  if (hasSection(K))
    First["at"] = std::to_string(Number);
  json::Array Rows;
  for (const ReportBest &B : K.Best) {
    json::Object Row{{"original", number(B.OriginalUs, "{0:f2}")},
                     {"best", number(B.VariantUs, "{0:f2}")},
                     {"ratio", number(B.Ratio, "{0:f2}x")},
                     {"basis", wordOf(B.Basis)},
                     {"device", B.Device},
                     {"ceiling", ceilingText(B)},
                     {"gate", B.Gate},
                     {"variant", B.Variant},
                     {"compiler", B.Compiler},
                     {"arch", B.Arch}};
    if (std::string Interval = intervalText(B.Low, B.High); !Interval.empty())
      Row["interval"] = std::move(Interval);
    Rows.push_back(json::Object{{"known", std::move(Row)}});
  }
  if (Rows.empty())
    Rows.push_back(json::Object{{"none", K.Why}});
  (*Rows.front().getAsObject())["first"] = std::move(First);
  return Rows;
}

static json::Object toValues(const ReportKernel &K, const Ceilings &C,
                             size_t Number) {
  json::Array Rooflines, More, Stories;
  for (const ReportRoofline &R : K.Rooflines)
    (Rooflines.empty() ? Rooflines : More).push_back(toValues(R, C));
  for (const SearchStory &S : K.Stories)
    Stories.push_back(toValues(S));
  json::Object O{{"name", K.Name},
                 {"at", std::to_string(Number)},
                 {"rooflines", std::move(Rooflines)},
                 {"more", std::move(More)},
                 {"stories", std::move(Stories)}};
  if (!K.Why.empty())
    O["why"] = K.Why;
  return O;
}

std::string renderReport(StringRef Title, const Ceilings &C,
                         ArrayRef<ReportKernel> Kernels,
                         const ReportProgram &Program) {
  constexpr size_t MostKernels = 20; // Of a table that does not fold.
  json::Array Sections, Answers, More, Sentences;
  for (auto [I, K] : enumerate(Kernels)) {
    if (hasSection(K))
      Sections.push_back(toValues(K, C, I + 1));
    for (json::Value &Row : answerRows(K, I + 1))
      (I < MostKernels ? Answers : More).push_back(std::move(Row));
  }
  for (const std::string &Text : Program.Gains)
    Sentences.push_back(Text);
  json::Object O{{"title", Title},
                 {"card", C.Gpu},
                 {"origin", C.Origin},
                 {"dram", number(C.DramGBs * 1e-3, "{0:f2}")},
                 {"l2", number(C.L2GBs * 1e-3, "{0:f2}")},
                 {"fp32", number(C.Fp32Gops * 1e-3, "{0:f1}")},
                 {"fp64", number(C.Fp64Gops * 1e-3, "{0:f1}")},
                 {"program", std::move(Sentences)},
                 {"kernels", std::move(Sections)}};
  if (!Answers.empty()) {
    json::Object Answer{{"answers", std::move(Answers)}};
    if (!More.empty())
      Answer["folded"] =
          json::Object{{"count", std::to_string(Kernels.size() - MostKernels)},
                       {"answers", std::move(More)}};
    if (!Program.Caveat.empty())
      Answer["caveat"] = Program.Caveat;
    O["answer"] = std::move(Answer);
  }
  json::Value Values(std::move(O));
  BumpPtrAllocator Allocator;
  StringSaver Saver(Allocator);
  mustache::MustacheContext Context(Allocator, Saver);
  mustache::Template Page(ReportTemplate, Context);
  Page.registerPartial("story", StoryTemplate);
  Page.registerPartial("answers", AnswersTemplate);
  Page.registerPartial("roofline", RooflineTemplate);
  Page.registerPartial("variant", VariantTemplate);
  std::string Html;
  raw_string_ostream OS(Html);
  Page.render(Values, OS);
  return Html;
}

} // namespace cupilot
