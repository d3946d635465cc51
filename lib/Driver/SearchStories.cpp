//===- SearchStories.cpp - The searches of a journal, for the report ------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/SearchStories.h"
#include "cupilot/Evolution/CandidateMaker.h"
#include "cupilot/Evolution/StrategyRecord.h"
#include "cupilot/Support/LineDiff.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <set>

using namespace llvm;

namespace cupilot {

Expected<std::vector<std::string>> runsOf(Journal &J, StringRef Identity) {
  Expected<std::vector<std::string>> All = J.runs();
  if (!All)
    return All.takeError();
  std::vector<std::string> Mine;
  for (std::string &Run : *All) {
    auto Last = J.lastGeneration(Run);
    if (!Last)
      return Last.takeError();
    if (*Last && StringRef((*Last)->second).contains(Identity))
      Mine.push_back(std::move(Run));
  }
  return Mine;
}

static StoryCost costOf(const json::Object &Call) {
  return {1, uint64_t(Call.getInteger("prompt_tokens").value_or(0)),
          uint64_t(Call.getInteger("answer_tokens").value_or(0)),
          Call.getNumber("cost").value_or(0),
          Call.getNumber("seconds").value_or(0)};
}

/// What \p Made tells: parents' genomes, and what was asked for, by step.
static void readMade(StringRef Made,
                     const std::map<std::string, size_t> &Earlier,
                     std::set<std::string> &Steps, StoryCandidate &C) {
  Expected<json::Value> Parsed = json::parse(Made);
  if (!Parsed) { // Journals of earlier versions have none.
    consumeError(Parsed.takeError());
    return;
  }
  const json::Object *O = Parsed->getAsObject();
  const json::Array *Parents = O ? O->getArray("parents") : nullptr;
  const json::Array *Stages = O ? O->getArray("stages") : nullptr;
  if (Parents)
    for (const json::Value &P : *Parents)
      if (auto It = Earlier.find(P.getAsString().value_or("").str());
          It != Earlier.end() && !is_contained(C.Parents, It->second))
        C.Parents.push_back(It->second);
  if (!Stages)
    return;
  for (const json::Value &S : *Stages) {
    const json::Object *Stage = S.getAsObject();
    const json::Array *Calls = Stage ? Stage->getArray("calls") : nullptr;
    if (!Calls)
      continue;
    for (const json::Value &V : *Calls)
      if (const json::Object *Call = V.getAsObject()) {
        C.Asked += costOf(*Call);
        Steps.insert(Call->getString("step").value_or("").str());
      }
  }
}

/// Whose question \p Step is, if no candidate of the journal is its reason.
static StringRef agentOf(StringRef Step) {
  Step.consume_back("/repair");
  return StringSwitch<StringRef>(Step.rsplit('/').second)
      .Case("prophet", "Roofline Prophet")
      .Case("manager", "SCE Manager")
      .Default("for what was not finished");
}

/// The calls of \p Run but those of \p Steps.
static Expected<std::vector<StoryAgent>>
agentsOf(Journal &J, StringRef Run, const std::set<std::string> &Steps) {
  Expected<std::vector<std::string>> Notes = J.calls(Run);
  if (!Notes)
    return Notes.takeError();
  std::vector<StoryAgent> Agents;
  for (const std::string &Note : *Notes) {
    Expected<json::Value> Parsed = json::parse(Note);
    if (!Parsed) {
      consumeError(Parsed.takeError());
      continue;
    }
    const json::Object *Call = Parsed->getAsObject();
    if (!Call || Steps.count(Call->getString("step").value_or("").str()))
      continue;
    StringRef Name = agentOf(Call->getString("step").value_or(""));
    auto Found =
        find_if(Agents, [&](const StoryAgent &A) { return A.Name == Name; });
    if (Found == Agents.end())
      Found = Agents.insert(Agents.end(), {Name.str(), {}});
    Found->Asked += costOf(*Call);
  }
  return Agents;
}

static void countGenes(const CandidateRecord &R,
                       std::map<std::string, StoryGene> &Genes) {
  if (R.Outcome == "duplicate")
    return;
  for (const Gene &G : carriedGenome(R)) {
    StoryGene &Known = Genes[G.Strategy];
    Known.Strategy = G.Strategy;
    ++Known.Candidates;
    Known.Passed += R.Outcome == "accepted" || R.Outcome == "slower";
    Known.Accepted += R.Outcome == "accepted";
    if (R.Outcome == "accepted")
      Known.Best = std::max(Known.Best, R.Ratio);
  }
}

Expected<std::vector<SearchStory>> storiesOf(const StoredKernel &S, Journal &J,
                                             StringRef Root) {
  Expected<std::vector<std::string>> Runs = runsOf(J, S.K.Digest);
  if (!Runs)
    return Runs.takeError();
  Expected<std::vector<StrategyRecord>> Records = strategyRecords(Root);
  if (!Records)
    return Records.takeError();
  std::vector<SearchStory> Stories;
  for (const std::string &Run : *Runs) {
    Expected<std::vector<CandidateRecord>> All = J.candidates(Run);
    if (!All)
      return All.takeError();
    SearchStory Story;
    Story.Kernel = S.K.Name;
    Story.Run = Run;
    Story.Basis = "modelled";
    std::map<std::string, size_t> Earlier;
    std::map<std::string, StoryGene> Genes;
    std::set<std::string> Steps;
    for (const CandidateRecord &R : *All) {
      StoryCandidate C;
      C.Name = variantName(R);
      C.Genome = R.Genome;
      C.Outcome = R.Outcome;
      C.Reason = R.Reason;
      C.Ratio = R.Ratio;
      readMade(R.Made, Earlier, Steps, C);
      Earlier[R.Genome] = Story.Candidates.size();
      Story.Candidates.push_back(std::move(C));
      countGenes(R, Genes);
      if (R.Evidence.find("\"card\":") != std::string::npos)
        Story.Basis = "measured";
      for (auto [V, Source] : zip_equal(S.Variants, S.Sources))
        if (V.Name == variantName(R))
          Story.Diffs.push_back(
              {V.Name, unifiedDiff("original", V.Name, S.K.Slice, Source),
               V.Prompts});
    }
    Expected<std::vector<StoryAgent>> Agents = agentsOf(J, Run, Steps);
    if (!Agents)
      return Agents.takeError();
    Story.Agents = std::move(*Agents);
    auto Own = find_if(
        *Records, [&](const StrategyRecord &R) { return R.Search == Run; });
    for (auto &[Name, G] : Genes) {
      if (Own != Records->end()) {
        for (const StrategyRecord &R : *Records)
          if (R.Class == Own->Class && R.Gpu == Own->Gpu)
            if (auto It = R.Tallies.find(Name); It != R.Tallies.end()) {
              G.Tried += It->second.Tried;
              G.Helped += It->second.Helped;
            }
      }
      Story.Genes.push_back(std::move(G));
    }
    llvm::sort(Story.Genes, [](const StoryGene &A, const StoryGene &B) {
      return std::tie(B.Best, A.Strategy) < std::tie(A.Best, B.Strategy);
    });
    Stories.push_back(std::move(Story));
  }
  return Stories;
}

} // namespace cupilot
