//===- Story.h - What a search did, for the report -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_REPORT_STORY_H
#define CUPILOT_REPORT_STORY_H

#include "cupilot/Model/Basis.h"
#include "cupilot/Model/CandidateOutcome.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cupilot {

/// What language models were asked for.
struct StoryCost {
  unsigned Calls = 0;
  uint64_t PromptTokens = 0, AnswerTokens = 0;
  double Cost = 0; ///< In the unit of the prices given.
  double Seconds = 0;
  StoryCost &operator+=(const StoryCost &Other);
};

/// A candidate, in the order of evaluation.
struct StoryCandidate {
  std::string Name, Genome, Reason;
  CandidateOutcome Outcome = CandidateOutcome::Unjudged;
  double Ratio = 0;            ///< 0: no time.
  std::vector<size_t> Parents; ///< Earlier ones.
  StoryCost Asked;
};

/// Whose calls belong to no candidate.
enum class StoryAgent { Prophet, Manager, Unfinished };

/// What a strategy did in the search, and in all of the store.
struct StoryGene {
  std::string Strategy;
  unsigned Candidates = 0, Passed = 0, Accepted = 0;
  double Best = 0; ///< Largest ratio of an accepted one; 0: none.
  /// Tried and helped, in all searches of the class and GPU.
  unsigned Tried = 0, Helped = 0;
};

/// A kept variant's text against the original's.
struct StoryDiff {
  std::string Name, Text;
  std::vector<std::string> Prompts; ///< That it was written with.
};

/// One search of one kernel.
struct SearchStory {
  std::string Kernel, Run;
  cupilot::Basis Basis = Basis::Modelled; ///< Or Measured.
  std::vector<StoryCandidate> Candidates;
  std::map<StoryAgent, StoryCost> Agents;
  std::vector<StoryGene> Genes;
  std::vector<StoryDiff> Diffs;
};

/// Texts, lines and points for the report's template.
llvm::json::Object toValues(const SearchStory &S);

} // namespace cupilot

#endif // CUPILOT_REPORT_STORY_H
