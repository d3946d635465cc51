//===- AgentCalls.h - Calls of agents, beside each other -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVOLUTION_AGENTCALLS_H
#define CUPILOT_LIB_EVOLUTION_AGENTCALLS_H

#include "cupilot/Evolution/ModelMaker.h"
#include "cupilot/LLM/Provider.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace cupilot {

/// Passes calls on, and notes what the journal keeps of each: step, prompt,
/// digests of request and answer, who answered, tokens, cost, seconds.
class CallLog : public Provider {
public:
  explicit CallLog(Provider &From) : From(From) {}
  llvm::Expected<ChatAnswer> ask(const ChatRequest &R) override;
  std::string describe(const ChatRequest &R) const override {
    return From.describe(R);
  }
  /// Counts its calls in \p To, and hands them on to the journal.
  void addTo(CallCount &To) const;
  const std::vector<ModelCall> &notes() const { return Notes; }

private:
  Provider &From;
  std::vector<ModelCall> Notes;
};

/// Runs \p One for 0 to \p Count - 1 on as many threads as is sensible. Once
/// one has failed no other begins, unless all that lacks is its answer: then
/// the other prompts go out, too. Returns the first error.
llvm::Error askAll(size_t Count, llvm::function_ref<llvm::Error(size_t)> One);

} // namespace cupilot

#endif // CUPILOT_LIB_EVOLUTION_AGENTCALLS_H
