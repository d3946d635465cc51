//===- ModelMaker.h - Candidates by language models -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Strategy Translator and Kernel Revisor as a maker of candidates. All prompts
// of a round are sent at once, as many as the providers take; a round is over
// when all answers are there. So the same answers give the same search, however
// fast each comes (docs/Evolution.md).
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVOLUTION_MODELMAKER_H
#define CUPILOT_EVOLUTION_MODELMAKER_H

#include "cupilot/Evolution/Advice.h"
#include "cupilot/Evolution/CandidateMaker.h"
#include "cupilot/Evolution/GpuStepJudge.h"
#include "cupilot/Evolution/StrategyTranslator.h"
#include "cupilot/LLM/Recording.h"

namespace cupilot {

struct LibraryStrategy;

/// What a dialogue may use until it hands something in.
struct DialogueBudget {
  unsigned Turns = 12;      ///< 2 at least.
  uint64_t Tokens = 300000; ///< Of all prompts and answers.
  double GpuSeconds = 60;   ///< Batches of several are shared out.
};

/// How models take part in a search. What it points to must outlive it.
struct AgentOptions {
  Provider *From = nullptr;
  const PromptLibrary *Prompts = nullptr;
  AnswerCounts *Counts = nullptr; ///< May be null.
  /// What a GPU answers goes there, and comes from there; may be null.
  Recording *Keep = nullptr, *Replayed = nullptr;
  unsigned Rounds = 2;    ///< Repairs of a candidate at most.
  unsigned MostCalls = 0; ///< For a kernel; 0: no limit.
  // What may be left out, for comparison (docs/Evolution.md).
  bool Roofline = true;      ///< Figures of the Roofline Prophet in prompts.
  bool Prose = false;        ///< Strategies as sentences, not as typed genes.
  bool CrossCode = false;    ///< Offspring from two parents' code.
  bool NewStrategies = true; ///< The Manager may propose some.
  bool Improve = true;       ///< Offspring from the code of the fastest.
  bool AskAgain = true;  ///< Prophet and Manager after each generation, too.
  bool Tunables = false; ///< Code may leave numbers open (Tunables.h).
  bool DryRun = false;   ///< Nobody answers; prompts go out all the same.
  /// Improvements are dialogues with the bench's tools; nothing: an answer is
  /// one.
  std::optional<DialogueBudget> Dialogue;
  /// Passages of texts that hold words, as the tool `knowledge` tells them.
  std::function<llvm::json::Array(llvm::StringRef Words, size_t Most)> LookUp;
  std::vector<PromptExample> Examples; ///< Variants of similar kernels.
};

/// The calls of one search of a kernel, counted. Not for several threads.
struct CallCount {
  unsigned Used = 0, Most = 0; ///< Most 0: no limit.
  /// What the journal does not have yet (Journal::saveCall).
  std::vector<ModelCall> Notes;
  bool room(unsigned Calls) const { return Most == 0 || Used + Calls <= Most; }
};

/// The most calls that a question takes: an answer and its repair. Dialogues
/// take as many as they have turns.
constexpr unsigned CallsOfQuestion = 2;

/// What dialogues need of the search that they are part of.
class DialogueHost {
public:
  virtual ~DialogueHost();
  /// A candidate that was judged, by its name; null: there is none.
  virtual const CandidateRecord *variant(llvm::StringRef Name) const = 0;
  /// CandidateEvaluator::judgeQuickly.
  virtual llvm::Error judgeQuickly(Candidate &C) = 0;
  /// GpuStepJudge::judge and profile; the seconds that the batch took, the same
  /// where it was answered before.
  virtual llvm::Expected<double>
  time(llvm::StringRef Step, std::vector<WaitingCandidate> &Waiting) = 0;
  virtual llvm::Expected<double>
  profile(llvm::StringRef Step, std::vector<WaitingCandidate> &Waiting,
          std::vector<LaunchProfiles> &Profiles) = 0;
};

/// "scale-1a2b3c4d/": the beginning of the steps of a search's calls.
std::string stepPrefix(const Kernel &K);
/// How the steps of the agents end that are asked for a whole generation; the
/// number of the generation that ended stands behind it.
constexpr llvm::StringLiteral ProphetStep = "prophet", ManagerStep = "manager";

/// All must outlive it. \p Library is the strategies that genomes are made of,
/// to which some may be added; \p Advice is the Prophet's.
std::unique_ptr<CandidateMaker> makeModelMaker(
    const SearchProblem &P, const CandidateEvaluator &Evaluator,
    const AgentOptions &Options, const std::vector<LibraryStrategy> &Library,
    const KernelAdvice &Advice, CallCount &Calls, DialogueHost &Host);

} // namespace cupilot

#endif // CUPILOT_EVOLUTION_MODELMAKER_H
