//===- SceManager.cpp - Models that choose strategies -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/SceManager.h"
#include "cupilot/Evolution/StrategyLibrary.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <set>

using namespace llvm;

namespace cupilot {

static constexpr unsigned AnswerTokens = 8192;

static const LibraryStrategy *find(ArrayRef<LibraryStrategy> Library,
                                   StringRef Name) {
  for (const LibraryStrategy &S : Library)
    if (S.Info.Name == Name)
      return &S;
  return nullptr;
}

static std::string valuesText(const StrategyInfo::Param &P) {
  if (!P.Words.empty())
    return "[" + join(P.Words, ", ") + "]";
  return "[" +
         join(map_range(P.Values, [](int64_t V) { return std::to_string(V); }),
              ", ") +
         "]";
}

static json::Array textsOf(ArrayRef<std::string> Texts) {
  json::Array List;
  for (const std::string &Text : Texts)
    List.push_back(Text);
  return List;
}

static json::Array strategyFacts(ArrayRef<LibraryStrategy> Library) {
  json::Array All;
  for (const LibraryStrategy &S : Library) {
    json::Array Params;
    for (const StrategyInfo::Param &P : S.Info.Params)
      Params.push_back(
          json::Object{{"name", P.Name}, {"values", valuesText(P)}});
    All.push_back(json::Object{{"name", S.Info.Name},
                               {"bottleneck", S.Bottleneck},
                               {"summary", S.Summary},
                               {"params", std::move(Params)},
                               {"requires", textsOf(S.Info.Requires)},
                               {"conflicts", textsOf(S.Info.Conflicts)},
                               {"record", nullptr}});
  }
  return All;
}

static std::string classText(const std::optional<Bottleneck> &Class) {
  return Class ? toString(*Class).str() : "not known";
}

static std::string timeText(double Microseconds) {
  return Microseconds > 0 ? formatv("{0:f2} us (modelled)", Microseconds).str()
                          : "not known";
}

Expected<std::vector<std::string>>
askProphet(Provider &From, const PromptLibrary &Prompts, const ChoiceRequest &R,
           KernelAdvice &A, StringRef Step, AnswerCounts *Counts) {
  json::Object O = kernelFacts(R.Of);
  json::Array Opinions, Metrics;
  for (const auto &[Source, Each] : A.Opinions)
    Opinions.push_back(json::Object{{"source", Source},
                                    {"class", classText(Each.Class)},
                                    {"grounds", join(Each.Grounds, "; ")}});
  for (const KernelMetric &M : A.Metrics)
    Metrics.push_back(json::Object{
        {"name", M.Name}, {"value", M.Value}, {"source", M.Source}});
  O["opinions"] = std::move(Opinions);
  O["metrics"] = std::move(Metrics);
  O["time"] = timeText(A.LaunchUs);
  O["floor"] = timeText(A.LaunchFloorUs);
  O["headroom"] = nullptr;
  if (A.LaunchUs > 0 && A.LaunchFloorUs > 0)
    O["headroom"] =
        formatv("{0:f2}", std::max(1.0, A.LaunchUs / A.LaunchFloorUs)).str();
  O["distance"] = formatv("{0:P0}", R.Within).str();
  O["strategies"] = strategyFacts(R.Library);
  Expected<StructuredAnswer> Answer = askStructured(
      From, Prompts, {"roofline-prophet", O, Step.str(), AnswerTokens, nullptr},
      Counts);
  if (!Answer)
    return Answer.takeError();
  const json::Object &Said = *Answer->Value.getAsObject();
  std::vector<std::string> Relevant;
  for (const json::Value &Name : *Said.getArray("metrics"))
    if (any_of(A.Metrics, [&](const KernelMetric &M) {
          return M.Name == *Name.getAsString();
        }))
      Relevant.push_back(Name.getAsString()->str());
  if (!Relevant.empty())
    A.Relevant = std::move(Relevant);
  // A class is taken from figures; the model's word counts where there is none.
  if (!A.Class)
    for (Bottleneck B : {Bottleneck::Compute, Bottleneck::Memory,
                         Bottleneck::Latency, Bottleneck::Middle})
      if (toString(B) == *Said.getString("class"))
        A.Class = B;
  std::set<std::string> Names;
  std::function<void(StringRef)> Add = [&](StringRef Name) {
    const LibraryStrategy *S = find(R.Library, Name.trim(" `@"));
    if (S && Names.insert(S->Info.Name).second)
      for (const std::string &Needed : S->Info.Requires)
        Add(Needed);
  };
  for (const json::Value &Name : *Said.getArray("strategies"))
    Add(*Name.getAsString());
  std::vector<std::string> Chosen; // In library order.
  for (const LibraryStrategy &S : R.Library)
    if (Names.count(S.Info.Name))
      Chosen.push_back(S.Info.Name);
  if (Chosen.empty())
    return findingError("the Prophet names no strategy of the library");
  return Chosen;
}

/// The genome that \p V stands for; nothing where the library lacks a strategy,
/// a parameter or a word of it.
static std::optional<Genome> genomeOf(const json::Object &V,
                                      ArrayRef<LibraryStrategy> Library) {
  Genome G;
  for (const json::Value &Each : *V.getArray("genes")) {
    const json::Object &O = *Each.getAsObject();
    const LibraryStrategy *S = find(Library, *O.getString("strategy"));
    if (!S)
      return std::nullopt;
    if (any_of(G, [&](const Gene &Other) {
          return Other.Strategy == S->Info.Name;
        }))
      continue;
    Gene New{S->Info.Name, {}};
    for (const StrategyInfo::Param &P : S->Info.Params) {
      GeneParam Value{P.Name, P.Values.empty() ? 0 : P.Values.front(),
                      P.Words.empty() ? "" : P.Words.front()};
      for (const json::Value &Given : *O.getArray("params")) {
        const json::Object &Pair = *Given.getAsObject();
        if (*Pair.getString("name") != P.Name)
          continue;
        StringRef Text = Pair.getString("value")->trim(" \"'");
        int64_t Number;
        if (!P.Words.empty()) {
          if (!is_contained(P.Words, Text))
            return std::nullopt;
          Value.Word = Text.str();
        } else if (Text.getAsInteger(10, Number)) {
          return std::nullopt;
        } else {
          auto Far = [&](int64_t V) {
            return V > Number ? V - Number : Number - V;
          };
          Value.Value = *llvm::min_element(
              P.Values, [&](int64_t A, int64_t B) { return Far(A) < Far(B); });
        }
      }
      New.Params.push_back(std::move(Value));
    }
    G.push_back(std::move(New));
  }
  return G;
}

static std::vector<std::string> genomesOf(const json::Value &Answer,
                                          ArrayRef<LibraryStrategy> Library) {
  std::vector<std::string> Texts;
  for (const json::Value &V : *Answer.getAsObject()->getArray("genomes"))
    if (std::optional<Genome> G = genomeOf(*V.getAsObject(), Library))
      if (std::string Text = genomeText(*G);
          !Text.empty() && !is_contained(Texts, Text))
        Texts.push_back(std::move(Text));
  return Texts;
}

Expected<std::vector<std::string>>
askManager(Provider &From, const PromptLibrary &Prompts, const ChoiceRequest &R,
           unsigned Count, ArrayRef<PromptExample> Examples, StringRef Step,
           AnswerCounts *Counts) {
  json::Object O = kernelFacts(R.Of);
  json::Array ExampleList;
  for (const PromptExample &E : Examples)
    ExampleList.push_back(json::Object{{"example_kernel", E.Kernel},
                                       {"genome", E.Genome},
                                       {"outcome", E.Outcome}});
  O["initial"] = true;
  O["count"] = Count;
  O["class"] =
      classText(R.Advice ? R.Advice->Class : std::optional<Bottleneck>());
  O["grounds"] =
      textsOf(R.Advice ? R.Advice->sentences() : std::vector<std::string>());
  O["headroom"] = nullptr; // Stands among the grounds.
  O["strategies"] = strategyFacts(R.Library);
  O["has_population"] = false;
  O["population"] = json::Array();
  O["examples"] = std::move(ExampleList);
  O["may_propose"] = false;
  auto Check = [&](const json::Value &V) -> Error {
    if (!genomesOf(V, R.Library).empty())
      return Error::success();
    return findingError("genomes: none is made of the strategies and values "
                        "that were listed");
  };
  Expected<StructuredAnswer> A = askStructured(
      From, Prompts, {"sce-manager", O, Step.str(), AnswerTokens, Check},
      Counts);
  if (!A)
    return A.takeError();
  return genomesOf(A->Value, R.Library);
}

} // namespace cupilot
