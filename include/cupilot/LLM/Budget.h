//===- Budget.h - What a run may cost -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LLM_BUDGET_H
#define CUPILOT_LLM_BUDGET_H

#include "cupilot/LLM/ProviderSpec.h"
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

namespace cupilot {

/// Tokens and money of some calls.
struct Spending {
  uint64_t Calls = 0, PromptTokens = 0, AnswerTokens = 0;
  double Cost = 0;
  uint64_t tokens() const { return PromptTokens + AnswerTokens; }
  Spending &operator+=(const Spending &S);
};

struct BudgetLimits {
  std::optional<uint64_t> Calls = std::nullopt, Tokens = std::nullopt;
  std::optional<double> Cost = std::nullopt;
};

/// Holds calls to limits before they are sent: each reserves the most that it
/// can cost, and gives back what it did not. May be used by several threads.
class Budget {
public:
  /// A limit of zero allows no call, and is a usage error.
  static llvm::Expected<std::unique_ptr<Budget>>
  create(const BudgetLimits &Limits);
  /// What was spent before, by an earlier part of the same run.
  void charge(const Spending &S);
  /// Sets \p Most aside, once the calls under way leave room for it; a
  /// ProviderError (Budget) when it could pass a limit. Each successful one is
  /// followed by one `settle`.
  llvm::Error reserve(const Spending &Most);
  void settle(const Spending &Reserved, const Spending &Real);
  Spending spent() const;

private:
  explicit Budget(const BudgetLimits &Limits) : Limits(Limits) {}
  const BudgetLimits Limits;
  mutable std::mutex Guard;
  std::condition_variable Settled;
  Spending Spent, Reserved;
  unsigned Open = 0; ///< Reservations.
};

/// Prices by model, from a file of lines "MODEL PROMPT ANSWER" for a million
/// tokens each; MODEL may hold '*', the first that fits counts, '#' begins a
/// comment.
class PriceTable {
public:
  static llvm::Expected<PriceTable> load(llvm::StringRef Path);
  std::optional<Price> find(llvm::StringRef Model) const;

private:
  std::vector<std::pair<std::string, Price>> Entries;
};

} // namespace cupilot

#endif // CUPILOT_LLM_BUDGET_H
