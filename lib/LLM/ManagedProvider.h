//===- ManagedProvider.h - Calls with retries, limits and a budget -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_LLM_MANAGEDPROVIDER_H
#define CUPILOT_LIB_LLM_MANAGEDPROVIDER_H

#include "Endpoint.h"
#include "cupilot/LLM/Budget.h"
#include <condition_variable>
#include <map>
#include <random>

namespace cupilot {

/// Asks an endpoint again when that may help, holds its calls to a number at
/// once and to the budget, and completes the answer's figures.
class ManagedProvider : public Provider {
public:
  ManagedProvider(ProviderSpec Spec, std::unique_ptr<Endpoint> From,
                  Budget &Purse)
      : Spec(std::move(Spec)), From(std::move(From)), Purse(Purse) {}
  llvm::Expected<ChatAnswer> ask(const ChatRequest &R) override;
  std::string describe(const ChatRequest &R) const override;

private:
  class Slot;
  /// What was seen of the answers to one prompt.
  struct Room {
    unsigned Needed = 0;    ///< Tokens that an answer did not fit into.
    unsigned Allowed = ~0u; ///< More were refused.
  };
  unsigned roomFor(const ChatRequest &R);
  /// Tokens for \p R once more, whose answer was cut off; nothing: it had all.
  std::optional<unsigned> moreRoom(const ChatRequest &R);
  void refuseRoom(const ChatRequest &R, unsigned Had);
  double costOf(uint64_t PromptTokens, uint64_t AnswerTokens) const;
  llvm::Expected<ChatAnswer> attempt(const ChatRequest &R, bool First,
                                     double Seconds);
  double waitBefore(unsigned Retry, const ProviderError &E);

  const ProviderSpec Spec;
  const std::unique_ptr<Endpoint> From;
  Budget &Purse;
  std::mutex Guard;
  std::condition_variable Left;
  unsigned Busy = 0;
  std::map<std::string, Room> Rooms; ///< By the prompt's name.
  std::mt19937_64 Random{std::random_device{}()};
};

} // namespace cupilot

#endif // CUPILOT_LIB_LLM_MANAGEDPROVIDER_H
