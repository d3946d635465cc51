//===- EvolveAgents.h - The models of a search -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DRIVER_EVOLVEAGENTS_H
#define CUPILOT_DRIVER_EVOLVEAGENTS_H

#include "cupilot/Evolution/ModelMaker.h"
#include "cupilot/Evolution/Search.h"
#include "cupilot/Evolution/Seeds.h"
#include "cupilot/LLM/Prompts.h"
#include "cupilot/LLM/Session.h"

namespace cupilot {

/// Sizes of a search that models carry.
struct SearchPreset {
  unsigned Population, Generations, Offspring, Repairs;
  unsigned KernelCalls; ///< 0: no limit.
};
/// With "frugal" 2 + 1 + 2 calls choose at least, 4 translate, 4 + 3 improve or
/// cross, and the rest is for repairs. "paper": section 4 of the paper, a start
/// population and two epochs.
inline constexpr SearchPreset FrugalPreset = {4, 3, 4, 2, 20},
                              PaperPreset = {50, 3, 50, 3, 0};

/// How models take part in the searches of one run.
struct AgentSettings {
  SessionOptions Session;
  std::string Prompts; ///< Folder of the user's own; "": none.
  SearchPreset Preset = FrugalPreset;
  /// Instead of the preset's.
  std::optional<unsigned> Repairs, KernelCalls;
  /// A kernel is done this near to the GPU's ceiling; 0: never.
  double Within = 0.05;
  // What may be left out, for comparison (docs/Evolution.md).
  bool CrossCode = false, Roofline = true, Retrieval = true, Prose = false,
       NewStrategies = true, Improve = true, AskAgain = true;
  bool Tunables = true; ///< Code may leave numbers open.
  /// AgentOptions::Dialogue.
  std::optional<DialogueBudget> Dialogue;
  bool DryRun = false; ///< Nobody is asked; the first prompts are printed.

  /// Shares and numbers that are out of range are usage errors.
  llvm::Error check() const;
  /// Calls for a kernel at most; 0: no limit.
  unsigned usualCalls() const;
};

/// The models of one run of `cupilot evolve`, for all its kernels.
class EvolveAgents {
public:
  /// Opens providers and prompts. Calls are kept in the store's folder, where
  /// no other recording is named.
  static llvm::Expected<std::unique_ptr<EvolveAgents>>
  open(AgentSettings Settings, llvm::StringRef StoreDir, bool Resume,
       SearchTurns Turns = {});
  /// The preset's sizes and the models, for one kernel's search. \p Options
  /// refers to this object.
  void apply(SearchOptions &Options) const;
  /// Variants of kernels like the next one, for its prompts.
  void setExamples(llvm::ArrayRef<SeedGenome> Seeds);
  /// For the next kernel, if fewer than its settings allow.
  void setMostCalls(std::optional<unsigned> Most);
  /// Of a dry run that ended with \p E: prints what would have been asked.
  llvm::Error printPrompts(llvm::Error E, llvm::raw_ostream &OS);
  /// Calls, tokens, cost, and answers that could not be used.
  std::string summary() const;

  std::unique_ptr<Session> Models; ///< Null: a dry run without --provider.

private:
  AgentSettings Settings;
  std::unique_ptr<Provider> Shown; ///< Of a dry run: takes the prompts.
  std::unique_ptr<Provider> Waits; ///< For the turns of Models.
  std::unique_ptr<PromptLibrary> Prompts;
  AnswerCounts Counts;
  AgentOptions Options;
};

} // namespace cupilot

#endif // CUPILOT_DRIVER_EVOLVEAGENTS_H
