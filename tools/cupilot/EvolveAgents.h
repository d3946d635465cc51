//===- EvolveAgents.h - Options of evolve --translator llm -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_TOOLS_CUPILOT_EVOLVEAGENTS_H
#define CUPILOT_TOOLS_CUPILOT_EVOLVEAGENTS_H

#include "ProviderOptions.h"
#include "cupilot/Evolution/ModelMaker.h"
#include "cupilot/Evolution/Search.h"
#include "cupilot/Evolution/Seeds.h"

namespace cupilot {

/// The models of one run of `cupilot evolve`, for all its kernels.
class EvolveAgents {
public:
  /// The preset's sizes and the models, for one kernel's search. \p Options
  /// refers to this object.
  void apply(SearchOptions &Options) const;
  /// Variants of kernels like the next one, for its prompts.
  void setExamples(llvm::ArrayRef<SeedGenome> Seeds);
  /// Of a dry run that ended with \p E: prints what would have been asked.
  llvm::Error printPrompts(llvm::Error E);
  /// Calls, tokens, cost, and answers that could not be used.
  std::string summary() const;

  std::unique_ptr<Session> Models; ///< Null: a dry run without --provider.
  std::unique_ptr<Provider> Shown; ///< Of a dry run: takes the prompts.
  std::unique_ptr<PromptLibrary> Prompts;
  AnswerCounts Counts;
  AgentOptions Options;
  unsigned Population = 0, Generations = 0, Offspring = 0;
  double Within = 0;
};

/// The options. One static object.
class AgentFlags {
public:
  explicit AgentFlags(llvm::cl::SubCommand &Sub);
  /// Usage errors: options that only models have, without them.
  llvm::Error check(bool Models) const;
  /// Opens providers and prompts. Calls are kept in the store's folder, where
  /// --record names no other.
  llvm::Expected<std::unique_ptr<EvolveAgents>> open(llvm::StringRef StoreDir,
                                                     bool Resume) const;
  bool retrieval() const { return !NoRetrieval; }
  bool dryRun() const { return DryRun; }

private:
  ProviderOptions Providers;
  llvm::cl::opt<std::string> Preset, Crossover;
  llvm::cl::opt<unsigned> Repairs, KernelCalls;
  llvm::cl::opt<double> Within;
  llvm::cl::opt<bool> NoRoofline, NoRetrieval, Prose, DryRun;
};

} // namespace cupilot

#endif // CUPILOT_TOOLS_CUPILOT_EVOLVEAGENTS_H
