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
#include <condition_variable>
#include <mutex>

namespace cupilot {

/// The order in which questions that are asked beside each other reserve what
/// they may cost, so that no thread's luck decides which of them the end of a
/// budget leaves out.
class AskOrder {
public:
  explicit AskOrder(size_t Count) : Begun(Count) {}
  /// Waits until all before \p Place have reserved or ended. False: the budget
  /// refused one of them.
  bool wait(size_t Place);
  void begin(size_t Place);
  void refuse(size_t Place);

private:
  std::mutex Guard;
  std::condition_variable Changed;
  std::vector<bool> Begun;
  size_t Next = 0, FirstRefused = SIZE_MAX;
};

/// The place of one question.
struct AskPlace {
  AskOrder &Order;
  size_t Index;
};

/// Passes calls on, and notes what the journal keeps of each: step, prompt,
/// digests of request and answer, who answered, tokens, cost, seconds.
class CallLog : public Provider {
public:
  explicit CallLog(Provider &From) : From(From) {}
  /// The next call is that of this question.
  void at(AskPlace Where) { Place.emplace(Where); }
  llvm::Expected<ChatAnswer> ask(const ChatRequest &R) override;
  std::string describe(const ChatRequest &R) const override {
    return From.describe(R);
  }
  /// Counts its calls in \p To, and hands them on to the journal.
  void addTo(CallCount &To) const;
  const std::vector<ModelCall> &notes() const { return Notes; }

private:
  llvm::Expected<ChatAnswer> askInOrder(const ChatRequest &R);

  Provider &From;
  std::optional<AskPlace> Place;
  std::vector<ModelCall> Notes;
};

/// Runs \p One for the places 0 to \p Count - 1 on as many threads as is
/// sensible. Once one has failed no other begins, unless all that lacks is its
/// answer: then the other prompts go out, too. Returns the first error.
llvm::Error askAll(size_t Count, llvm::function_ref<llvm::Error(AskPlace)> One);

} // namespace cupilot

#endif // CUPILOT_LIB_EVOLUTION_AGENTCALLS_H
