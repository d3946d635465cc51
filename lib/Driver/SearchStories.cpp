//===- SearchStories.cpp - The searches of a journal, for the report ------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/SearchStories.h"
#include "cupilot/Evolution/ModelMaker.h"
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

static StoryCost costOf(const ModelCall &C) {
  return {1, C.PromptTokens, C.AnswerTokens, C.Cost, C.Seconds};
}

/// What \p Made tells: parents' genomes, and what was asked for, by step.
static void addMade(const CandidateHistory &Made,
                    const std::map<std::string, size_t> &Earlier,
                    std::set<std::string> &Steps, StoryCandidate &C) {
  for (const std::string &Parent : Made.Parents)
    if (auto It = Earlier.find(Parent);
        It != Earlier.end() && !is_contained(C.Parents, It->second))
      C.Parents.push_back(It->second);
  for (const CandidateStage &S : Made.Stages)
    for (const ModelCall &Call : S.Calls) {
      C.Asked += costOf(Call);
      Steps.insert(Call.Step);
    }
}

/// Whose question \p Step is, if no candidate of the journal is its reason.
static StoryAgent agentOf(StringRef Step) {
  Step.consume_back("/repair");
  // Behind the name stands the generation that they were asked after.
  return StringSwitch<StoryAgent>(Step.rsplit('/').second.rtrim("0123456789"))
      .Case(ProphetStep, StoryAgent::Prophet)
      .Case(ManagerStep, StoryAgent::Manager)
      .Default(StoryAgent::Unfinished);
}

/// The calls of \p Run but those of \p Steps.
static Expected<std::map<StoryAgent, StoryCost>>
agentsOf(Journal &J, StringRef Run, const std::set<std::string> &Steps) {
  Expected<std::vector<ModelCall>> Calls = J.calls(Run);
  if (!Calls)
    return Calls.takeError();
  std::map<StoryAgent, StoryCost> Agents;
  for (const ModelCall &Call : *Calls)
    if (!Steps.count(Call.Step))
      Agents[agentOf(Call.Step)] += costOf(Call);
  return Agents;
}

static void countGenes(const CandidateRecord &R,
                       std::map<std::string, StoryGene> &Genes) {
  if (R.Outcome == CandidateOutcome::Duplicate ||
      R.Outcome == CandidateOutcome::Unchanged ||
      R.Outcome == CandidateOutcome::Outpaced)
    return;
  for (const Gene &G : carriedGenome(R)) {
    StoryGene &Known = Genes[G.Strategy];
    Known.Strategy = G.Strategy;
    ++Known.Candidates;
    const bool Accepted = R.Outcome == CandidateOutcome::Accepted;
    Known.Passed += Accepted || R.Outcome == CandidateOutcome::Slower;
    Known.Accepted += Accepted;
    if (Accepted)
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
    std::map<std::string, size_t> Earlier;
    std::map<std::string, StoryGene> Genes;
    std::set<std::string> Steps;
    for (const CandidateRecord &R : *All) {
      StoryCandidate C;
      C.Name = variantName(R);
      C.Genome = R.Genome;
      C.Outcome = R.Outcome;
      C.Reason = reasonText(R);
      C.Ratio = R.Ratio;
      if (R.Made)
        addMade(*R.Made, Earlier, Steps, C);
      Earlier[R.Genome] = Story.Candidates.size();
      Story.Candidates.push_back(std::move(C));
      countGenes(R, Genes);
      if (R.Evidence && R.Evidence->Gpu)
        Story.Basis = Basis::Measured;
      for (auto [V, Source] : zip_equal(S.Variants, S.Sources))
        if (V.Name == variantName(R))
          Story.Diffs.push_back(
              {V.Name, unifiedDiff("original", V.Name, S.K.Slice, Source),
               V.Prompts});
    }
    auto Agents = agentsOf(J, Run, Steps);
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
