//===- AgentFlags.h - Options of evolve --translator=llm -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_TOOLS_CUPILOT_AGENTFLAGS_H
#define CUPILOT_TOOLS_CUPILOT_AGENTFLAGS_H

#include "ProviderOptions.h"
#include "cupilot/Driver/EvolveAgents.h"

namespace cupilot {

/// How language models take part in a search.
class AgentFlags {
public:
  explicit AgentFlags(llvm::cl::SubCommand &Sub);
  /// Nothing for the translator "rules". Usage errors: an unknown translator,
  /// and options that only models have, without them.
  llvm::Expected<std::optional<AgentSettings>>
  read(llvm::StringRef Translator) const;

private:
  llvm::Error checkUnused() const;

  llvm::cl::OptionCategory Models{"Language models (--translator=llm)"};
  ProviderOptions Providers;
  llvm::cl::opt<std::string> Preset, Crossover, Operator;
  llvm::cl::opt<unsigned> AgentTurns;
  llvm::cl::opt<unsigned long long> AgentTokens;
  llvm::cl::opt<double> AgentGpuSeconds;
  llvm::cl::opt<unsigned> Repairs, KernelCalls;
  llvm::cl::opt<double> Within;
  llvm::cl::opt<bool> DryRun;
  llvm::cl::OptionCategory Comparison{"Comparisons (--translator=llm)"};
  llvm::cl::opt<bool> NoRoofline, NoRetrieval, NoNewStrategies, NoImprove,
      AskOnce, Prose;
};

} // namespace cupilot

#endif // CUPILOT_TOOLS_CUPILOT_AGENTFLAGS_H
