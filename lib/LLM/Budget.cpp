//===- Budget.cpp - What a run may cost -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/LLM/Budget.h"
#include "cupilot/LLM/Provider.h"
#include "cupilot/Support/File.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/GlobPattern.h"

using namespace llvm;

namespace cupilot {

Spending &Spending::operator+=(const Spending &S) {
  Calls += S.Calls;
  PromptTokens += S.PromptTokens;
  AnswerTokens += S.AnswerTokens;
  Cost += S.Cost;
  return *this;
}

Expected<std::unique_ptr<Budget>> Budget::create(const BudgetLimits &Limits) {
  const char *Way = "replay:DIR answers from a recording, at no cost";
  if (Limits.Calls == 0)
    return usageError("a budget of 0 calls does not allow any call", Way);
  if (Limits.Tokens == 0)
    return usageError("a budget of 0 tokens does not allow any call", Way);
  if (Limits.Cost && !(*Limits.Cost > 0))
    return usageError("a budget of 0 does not allow any call", Way);
  return std::unique_ptr<Budget>(new Budget(Limits));
}

void Budget::charge(const Spending &S) {
  std::lock_guard Lock(Guard);
  Spent += S;
}

/// What would be passed if \p S were spent, and the option that allows more.
static std::optional<std::pair<std::string, const char *>>
passed(const BudgetLimits &L, const Spending &Spent, const Spending &S) {
  using Result = std::pair<std::string, const char *>;
  if (L.Calls && S.Calls > *L.Calls)
    return Result(formatv("{0} calls", *L.Calls).str(), "--max-calls");
  if (L.Tokens && S.tokens() > *L.Tokens)
    return Result(formatv("{0} tokens ({1} used, up to {2} more)", *L.Tokens,
                          Spent.tokens(), S.tokens() - Spent.tokens())
                      .str(),
                  "--max-tokens");
  if (L.Cost && S.Cost > *L.Cost)
    return Result(formatv("a cost of {0:f4} ({1:f4} spent, up to {2:f4} more)",
                          *L.Cost, Spent.Cost, S.Cost - Spent.Cost)
                      .str(),
                  "--max-cost");
  return std::nullopt;
}

Error Budget::reserve(const Spending &Most) {
  std::unique_lock Lock(Guard);
  for (;;) {
    Spending Alone = Spent;
    Alone += Most;
    if (auto What = passed(Limits, Spent, Alone))
      return providerError(ProviderFault::Budget,
                           "the budget is spent: the next call could pass " +
                               What->first,
                           Twine("a larger ") + What->second +
                               " and --resume continue from here");
    Spending All = Alone;
    All += Reserved;
    if (!passed(Limits, Spent, All))
      break;
    // Calls under way may give back enough.
    Settled.wait(Lock);
  }
  Reserved += Most;
  ++Open;
  return Error::success();
}

void Budget::settle(const Spending &Set, const Spending &Real) {
  {
    std::lock_guard Lock(Guard);
    Reserved.Calls -= Set.Calls;
    Reserved.PromptTokens -= Set.PromptTokens;
    Reserved.AnswerTokens -= Set.AnswerTokens;
    // Sums of fractions leave a rest, which would grow.
    Reserved.Cost = --Open ? Reserved.Cost - Set.Cost : 0;
    Spent += Real;
  }
  Settled.notify_all();
}

Spending Budget::spent() const {
  std::lock_guard Lock(Guard);
  return Spent;
}

Expected<PriceTable> PriceTable::load(StringRef Path) {
  Expected<std::string> Text = readFile(Path);
  if (!Text)
    return Text.takeError();
  PriceTable Table;
  unsigned Number = 0;
  for (StringRef Line : split(*Text, '\n')) {
    ++Number;
    Line = Line.split('#').first.trim();
    if (Line.empty())
      continue;
    SmallVector<StringRef, 3> Words;
    SplitString(Line, Words);
    Price P;
    if (Words.size() != 3 || Words[1].getAsDouble(P.Prompt) ||
        Words[2].getAsDouble(P.Answer) || !(P.Prompt >= 0) || !(P.Answer >= 0))
      return usageError("'" + Path + "', line " + Twine(Number) +
                            ": not a price",
                        "a line is MODEL PROMPT ANSWER, the prices of a "
                        "million tokens: some-model-* 3 15");
    if (Expected<GlobPattern> Glob = GlobPattern::create(Words[0]); !Glob) {
      consumeError(Glob.takeError());
      return usageError("'" + Path + "', line " + Twine(Number) + ": '" +
                        Words[0] + "' is not a pattern");
    }
    Table.Entries.push_back({Words[0].str(), P});
  }
  return Table;
}

std::optional<Price> PriceTable::find(StringRef Model) const {
  for (const auto &[Pattern, P] : Entries) {
    Expected<GlobPattern> Glob = GlobPattern::create(Pattern);
    if (!Glob) {
      consumeError(Glob.takeError());
      continue;
    }
    if (Glob->match(Model))
      return P;
  }
  return std::nullopt;
}

} // namespace cupilot
