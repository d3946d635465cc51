//===- ProviderOptions.h - Options for language models -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_TOOLS_CUPILOT_PROVIDEROPTIONS_H
#define CUPILOT_TOOLS_CUPILOT_PROVIDEROPTIONS_H

#include "cupilot/LLM/Prompts.h"
#include "cupilot/LLM/Session.h"
#include "llvm/Support/CommandLine.h"

namespace cupilot {

/// --provider, --record, --resume, the budget and --prompts of a subcommand.
class ProviderOptions {
public:
  /// With \p Resume, --resume is one of them; else the command has its own.
  ProviderOptions(
      llvm::cl::SubCommand &Sub, bool Resume,
      llvm::cl::OptionCategory &Group = llvm::cl::getGeneralCategory());
  bool given() const { return !Providers.empty(); }
  /// What they say, for Session::open or EvolveAgents.
  llvm::Expected<SessionOptions> session() const;
  llvm::Expected<PromptLibrary> prompts() const;
  const std::string &promptFolder() const { return Prompts.getValue(); }

private:
  llvm::cl::list<std::string> Providers;
  llvm::cl::opt<std::string> Record, Prices, Prompts, Cost, Tokens, Calls;
  std::unique_ptr<llvm::cl::opt<bool>> ResumeFlag;
};

} // namespace cupilot

#endif // CUPILOT_TOOLS_CUPILOT_PROVIDEROPTIONS_H
