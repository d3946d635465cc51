//===- ProviderOptions.h - Options of commands that ask language models -*- C++
//-*-===//
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
/// One static object per command.
class ProviderOptions {
public:
  /// With \p Resume, --resume is one of them; else the command has its own.
  ProviderOptions(llvm::cl::SubCommand &Sub, bool Resume);
  bool given() const { return !Providers.empty(); }
  /// \p RecordTo: where calls are kept without --record; "": nowhere. A replay
  /// keeps none.
  llvm::Expected<std::unique_ptr<Session>>
  open(bool Resumed, bool DryRun = false, llvm::StringRef RecordTo = "") const;
  llvm::Expected<PromptLibrary> prompts() const;
  bool resume() const { return ResumeFlag && *ResumeFlag; }

private:
  llvm::cl::list<std::string> Providers;
  llvm::cl::opt<std::string> Record, Prices, Prompts, Cost, Tokens, Calls;
  std::unique_ptr<llvm::cl::opt<bool>> ResumeFlag;
};

} // namespace cupilot

#endif // CUPILOT_TOOLS_CUPILOT_PROVIDEROPTIONS_H
