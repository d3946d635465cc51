//===- Report.cpp - The roofline as a page -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Report/Report.h"
#include "Chart.h"
#include "ReportTemplate.h"
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
  return O;
}

static json::Object toValues(const ReportKernel &K, const Ceilings &C) {
  json::Array Opinions, Variants;
  std::optional<Bottleneck> Seen;
  bool Disagree = false;
  for (const auto &[Source, O] : K.Opinions) {
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
  size_t Placed = 0;
  for (auto [I, V] : enumerate(K.Variants)) {
    Variants.push_back(toValues(V, I));
    Placed += V.Intensity && *V.Intensity > 0 && V.Operations > 0;
  }
  json::Object O{{"name", K.Name},
                 {"workload", K.Workload},
                 {"opinions", std::move(Opinions)},
                 {"disagree", Disagree},
                 {"variants", std::move(Variants)}};
  if (Placed > 0)
    O["chart"] = drawRoofline(C, K);
  if (Placed < K.Variants.size())
    O["unplaced"] = std::to_string(K.Variants.size() - Placed);
  return O;
}

std::string renderReport(StringRef Title, const Ceilings &C,
                         ArrayRef<ReportKernel> Kernels,
                         ArrayRef<SearchStory> Stories) {
  json::Array List, Searches;
  for (const SearchStory &S : Stories)
    Searches.push_back(toValues(S));
  for (const ReportKernel &K : Kernels)
    List.push_back(toValues(K, C));
  json::Value Values =
      json::Object{{"title", Title},
                   {"card", C.Gpu},
                   {"origin", C.Origin},
                   {"dram", number(C.DramGBs * 1e-3, "{0:f2}")},
                   {"l2", number(C.L2GBs * 1e-3, "{0:f2}")},
                   {"fp32", number(C.Fp32Gops * 1e-3, "{0:f1}")},
                   {"fp64", number(C.Fp64Gops * 1e-3, "{0:f1}")},
                   {"stories", std::move(Searches)},
                   {"kernels", std::move(List)}};
  BumpPtrAllocator Allocator;
  StringSaver Saver(Allocator);
  mustache::MustacheContext Context(Allocator, Saver);
  mustache::Template Page(ReportTemplate, Context);
  Page.registerPartial("story", StoryTemplate);
  std::string Html;
  raw_string_ostream OS(Html);
  Page.render(Values, OS);
  return Html;
}

} // namespace cupilot
