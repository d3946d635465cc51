//===- SceManager.cpp - Models that choose strategies -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/SceManager.h"
#include "cupilot/Evolution/ProposedStrategies.h"
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

static std::string classText(const std::optional<Bottleneck> &Class) {
  return Class ? toString(*Class).str() : "not known";
}

static StringRef basisText(bool Measured) {
  return Measured ? "measured" : "modelled";
}

static std::string timeText(double Microseconds, bool Measured) {
  return Microseconds > 0
             ? formatv("{0:f2} us ({1})", Microseconds, basisText(Measured))
                   .str()
             : "not known";
}

static std::optional<Bottleneck> classNamed(StringRef Word) {
  for (Bottleneck B : {Bottleneck::Compute, Bottleneck::Memory,
                       Bottleneck::Latency, Bottleneck::Middle})
    if (toString(B) == Word)
      return B;
  return std::nullopt;
}

static json::Object standingFacts(const Standing &S) {
  return json::Object{{"generation", S.Generation},
                      {"basis", basisText(S.Measured)},
                      {"has_best", !S.BestGenome.empty()},
                      {"best_genome", S.BestGenome},
                      {"best", textFacts(S.Best)},
                      {"before", classText(S.Before)},
                      {"now", classText(S.Now.Class)},
                      {"grounds", textFacts(S.Now.Grounds)},
                      {"tried", triedFacts(S.Tried)}};
}

Expected<Prophecies> askProphet(Provider &From, const PromptLibrary &Prompts,
                                const ChoiceRequest &R, KernelAdvice &A,
                                StringRef Step, AnswerCounts *Counts) {
  json::Object O = kernelFacts(R.Of);
  json::Array Opinions, Metrics, Standings;
  for (const auto &[Source, Each] : A.Opinions)
    Opinions.push_back(json::Object{{"source", Source},
                                    {"class", classText(Each.Class)},
                                    {"grounds", join(Each.Grounds, "; ")}});
  for (const KernelMetric &M : A.Metrics)
    Metrics.push_back(json::Object{
        {"name", M.Name}, {"value", M.Value}, {"source", M.Source}});
  if (R.So)
    Standings.push_back(standingFacts(*R.So));
  O["standing"] = std::move(Standings);
  O["opinions"] = std::move(Opinions);
  O["metrics"] = std::move(Metrics);
  O["time"] = timeText(A.LaunchUs, A.IsMeasured);
  O["floor"] = timeText(A.LaunchFloorUs, /*Measured=*/false);
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
  Prophecies P;
  P.Class = classNamed(*Said.getString("class"));
  P.Moved = R.So && *Said.getBoolean("moved");
  P.Reason = Said.getString("reason")->str();
  // A class is taken from figures; the model's word counts where there is none.
  if (!A.Class)
    A.Class = P.Class;
  std::set<std::string> Names;
  std::function<void(StringRef)> Add = [&](StringRef Name) {
    const LibraryStrategy *S = find(R.Library, Name.trim(" `@"));
    if (S && Names.insert(S->Info.Name).second)
      for (const std::string &Needed : S->Info.Requires)
        Add(Needed);
  };
  for (const json::Value &Name : *Said.getArray("strategies"))
    Add(*Name.getAsString());
  for (const LibraryStrategy &S : R.Library)
    if (Names.count(S.Info.Name))
      P.Strategies.push_back(S.Info.Name);
  if (P.Strategies.empty())
    return findingError("the Prophet names no strategy of the library");
  return P;
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

static bool inConflict(StringRef A, StringRef B,
                       ArrayRef<LibraryStrategy> Library) {
  auto Excludes = [&](StringRef One, StringRef Other) {
    const LibraryStrategy *S = find(Library, One);
    return S && is_contained(S->Info.Conflicts, Other);
  };
  return Excludes(A, B) || Excludes(B, A);
}

/// Notes the parents of \p P by its description \p O, and puts back what is
/// proved of the fastest and was left out without a reason.
static void addParents(ProposedGenome &P, const json::Object &O,
                       const Standing &So, ArrayRef<LibraryStrategy> Library) {
  const Survivor *Fastest = nullptr;
  for (const json::Value &Name : *O.getArray("parents"))
    for (const Survivor &S : So.Population) {
      if (S.Name != Name.getAsString()->trim(" `@") ||
          is_contained(P.Parents, S.Name))
        continue;
      P.Parents.push_back(S.Name);
      if (!Fastest || S.Ratio > Fastest->Ratio)
        Fastest = &S;
    }
  P.Reason = O.getString("reason")->str();
  if (!Fastest || !Fastest->Proved)
    return;
  std::map<StringRef, StringRef> Dropped;
  for (const json::Value &V : *O.getArray("dropped")) {
    const json::Object &D = *V.getAsObject();
    StringRef Name = D.getString("strategy")
                         ->take_until([](char C) { return C == '{'; })
                         .trim(" `@");
    Dropped[Name] = D.getString("reason")->trim();
  }
  Genome Back;
  for (const Gene &G : Fastest->Genes) {
    if (any_of(P.Genes,
               [&](const Gene &Own) { return Own.Strategy == G.Strategy; }))
      continue;
    auto Reason = Dropped.find(G.Strategy);
    auto Excluding = find_if(P.Genes, [&](const Gene &Own) {
      return inConflict(Own.Strategy, G.Strategy, Library);
    });
    if (Reason != Dropped.end() && !Reason->second.empty())
      P.Reason += "; without " + G.Strategy + ": " + Reason->second.str();
    else if (Excluding != P.Genes.end())
      P.Reason += "; without " + G.Strategy + ": " + Excluding->Strategy +
                  " conflicts with it";
    else
      Back.push_back(G);
  }
  append_range(P.Genes, Back);
}

/// \p Unknown gets the first strategy of a genome that is left out for it.
static ManagerAnswer readAnswer(const json::Value &Answer,
                                const ChoiceRequest &R,
                                std::string *Unknown = nullptr) {
  ManagerAnswer Said;
  std::vector<LibraryStrategy> Library(R.Library.begin(), R.Library.end());
  if (R.MayPropose) {
    const json::Array &Listed =
        *Answer.getAsObject()->getArray("new_strategies");
    Said.New = proposedStrategies(Listed, R.Whole, R.Arch);
    // What it was not shown may be there already.
    for (const json::Value &V : Listed)
      if (const LibraryStrategy *S =
              find(R.Whole, *V.getAsObject()->getString("name"));
          S && !find(Library, S->Info.Name))
        Library.push_back(*S);
  }
  append_range(Library, Said.New);
  std::set<std::string> Texts;
  for (const json::Value &V : *Answer.getAsObject()->getArray("genomes")) {
    const json::Object &O = *V.getAsObject();
    std::optional<Genome> G = genomeOf(O, Library);
    if (!G) {
      for (const json::Value &Each : *O.getArray("genes")) {
        const StringRef Name = *Each.getAsObject()->getString("strategy");
        if (Unknown && Unknown->empty() && !find(ArrayRef(Library), Name))
          *Unknown = Name.str();
      }
      continue;
    }
    ProposedGenome P{std::move(*G), {}, ""};
    if (R.So)
      addParents(P, O, *R.So, Library);
    if (!P.Genes.empty() && Texts.insert(genomeText(P.Genes)).second)
      Said.Genomes.push_back(std::move(P));
  }
  return Said;
}

/// What the Manager is told of those that live on, and of all others.
static void addStanding(json::Object &O, const Standing *S) {
  json::Array Population;
  std::vector<TriedVariant> Others;
  if (S)
    copy_if(S->Tried, std::back_inserter(Others), [&](const TriedVariant &T) {
      return none_of(S->Population,
                     [&](const Survivor &Each) { return Each.Name == T.Name; });
    });
  if (S)
    for (const Survivor &Each : S->Population)
      Population.push_back(
          json::Object{{"name", Each.Name},
                       {"genome", Each.Genes.empty() ? "no strategy"
                                                     : genomeText(Each.Genes)},
                       {"outcome", Each.Outcome}});
  O["has_population"] = !Population.empty();
  O["population"] = std::move(Population);
  O["basis"] = basisText(S && S->Measured);
  O["has_tried"] = !Others.empty();
  O["tried"] = triedFacts(Others);
}

Expected<ManagerAnswer> askManager(Provider &From, const PromptLibrary &Prompts,
                                   const ChoiceRequest &R, unsigned Count,
                                   ArrayRef<PromptExample> Examples,
                                   StringRef Step, AnswerCounts *Counts) {
  json::Object O = kernelFacts(R.Of);
  json::Array ExampleList;
  for (const PromptExample &E : Examples)
    ExampleList.push_back(json::Object{{"example_kernel", E.Kernel},
                                       {"genome", E.Genome},
                                       {"outcome", E.Outcome}});
  O["initial"] = !R.So;
  O["count"] = Count;
  std::optional<Bottleneck> Class;
  std::vector<std::string> Grounds;
  if (R.Advice) {
    Class = R.So && R.So->Now.Class ? R.So->Now.Class : R.Advice->Class;
    Grounds = R.So ? R.So->Best : R.Advice->sentences();
  }
  O["class"] = classText(Class);
  O["grounds"] = textFacts(Grounds);
  O["headroom"] = nullptr; // Stands among the grounds.
  O["strategies"] = strategyFacts(R.Library);
  addStanding(O, R.So);
  O["examples"] = std::move(ExampleList);
  O["may_propose"] = R.MayPropose;
  auto Check = [&](const json::Value &V) -> Error {
    std::string Unknown;
    if (!readAnswer(V, R, &Unknown).Genomes.empty())
      return Error::success();
    return findingError("genomes: none is made of the strategies and values "
                        "that were listed" +
                        (Unknown.empty()
                             ? Twine()
                             : ": there is no '" + Twine(Unknown) +
                                   "', and no usable proposal of it"));
  };
  Expected<StructuredAnswer> A = askStructured(
      From, Prompts, {"sce-manager", O, Step.str(), AnswerTokens, Check},
      Counts);
  if (!A)
    return A.takeError();
  return readAnswer(A->Value, R);
}

} // namespace cupilot
