//===- Session.h - The providers of a run, as one -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LLM_SESSION_H
#define CUPILOT_LLM_SESSION_H

#include "cupilot/LLM/Recording.h"
#include <memory>

namespace cupilot {

struct SessionOptions {
  std::vector<std::string> Providers = {}; ///< As --provider names them.
  BudgetLimits Limits = {};
  std::string Prices = ""; ///< A PriceTable's file; "" for none.
  std::string Record = ""; ///< Folder of the recording to write; "" for none.
  bool Resume = false;     ///< Answers that it has already are not asked again.
  /// The steps whose earlier calls count in the limits begin so.
  std::string StepsOf = "";
  /// Nothing is asked, only described: no key is needed, nothing recorded.
  bool DryRun = false;
  /// Told what people should know: which answer is waited for, which prompt
  /// differs from the recorded one, which provider stands in for another.
  std::function<void(llvm::StringRef)> Notice = nullptr;
};

/// Shares the calls out to the providers by their weights, the same call to the
/// same provider each time; where one fails for a while, the next stands in.
class Session : public Provider {
public:
  /// No provider, no key, no price where money is limited, a budget of zero:
  /// usage errors.
  static llvm::Expected<std::unique_ptr<Session>>
  open(const SessionOptions &Options);
  ~Session() override;
  virtual Spending spent() const = 0;
  /// What is written, and what answers instead of providers; null where there
  /// is none.
  virtual Recording *recording() = 0;
  virtual Recording *replayed() = 0;
  /// "12 calls, 34567 + 8901 tokens, cost 0.1234".
  std::string summary() const;
};

} // namespace cupilot

#endif // CUPILOT_LLM_SESSION_H
