//===- Session.cpp - The providers of a run, as one -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/LLM/Session.h"
#include "ManagedProvider.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace cupilot {

Session::~Session() = default;

std::string Session::summary() const {
  Spending S = spent();
  std::string Text = formatv("{0} calls, {1} + {2} tokens", S.Calls,
                             S.PromptTokens, S.AnswerTokens)
                         .str();
  if (S.Cost > 0)
    Text += formatv(", cost {0:f4}", S.Cost).str();
  return Text;
}

namespace {
/// Chooses among providers.
class Pool : public Provider {
public:
  explicit Pool(std::function<void(StringRef)> Notice)
      : Notice(std::move(Notice)) {}
  void add(const ProviderSpec &Spec, std::unique_ptr<Provider> P) {
    Members.push_back({Spec.name(), Spec.Weight, std::move(P)});
  }
  Expected<ChatAnswer> ask(const ChatRequest &R) override;
  std::string describe(const ChatRequest &R) const override {
    return Members[chosen(R)].P->describe(R);
  }

private:
  struct Member {
    std::string Name;
    double Weight;
    std::unique_ptr<Provider> P;
  };
  size_t chosen(const ChatRequest &R) const;
  std::vector<Member> Members;
  const std::function<void(StringRef)> Notice;
};

class OpenSession : public Session {
public:
  Expected<ChatAnswer> ask(const ChatRequest &R) override {
    return Top->ask(R);
  }
  std::string describe(const ChatRequest &R) const override {
    return Top->describe(R);
  }
  Spending spent() const override { return Purse->spent(); }
  Recording *recording() override { return Record.get(); }
  Recording *replayed() override { return Replay.get(); }

  Secrets Hidden;
  std::unique_ptr<Budget> Purse;
  std::unique_ptr<Recording> Record, Replay;
  std::unique_ptr<Provider> Base, Recorded;
  Provider *Top = nullptr;
};
} // namespace

size_t Pool::chosen(const ChatRequest &R) const {
  double Total = 0;
  for (const Member &M : Members)
    Total += M.Weight;
  // Not by chance: a run that is resumed asks the same ones.
  uint64_t Hash = xxh3_64bits(R.Step.empty() ? digestOf(R) : R.Step);
  double At = static_cast<double>(Hash >> 11) * 0x1p-53 * Total;
  for (auto [I, M] : enumerate(Members)) {
    if (At < M.Weight)
      return I;
    At -= M.Weight;
  }
  return Members.size() - 1;
}

Expected<ChatAnswer> Pool::ask(const ChatRequest &R) {
  size_t First = chosen(R);
  for (size_t I = 0;; ++I) {
    const Member &M = Members[(First + I) % Members.size()];
    Expected<ChatAnswer> A = M.P->ask(R);
    if (A || I + 1 == Members.size())
      return A;
    bool Another = false;
    std::string Why;
    // A refusal is the user's to mend; a fault of the moment is not.
    Error E = handleErrors(
        A.takeError(), [&](std::unique_ptr<ProviderError> P) -> Error {
          Another = P->worthAnother() || P->fault() == ProviderFault::OutOfTime;
          Why = P->text();
          return Another ? Error::success() : Error(std::move(P));
        });
    if (!Another)
      return std::move(E);
    consumeError(std::move(E));
    if (Notice)
      Notice(Why + "; " + Members[(First + I + 1) % Members.size()].Name +
             " is used instead");
  }
}

static Error findPrice(ProviderSpec &Spec, const PriceTable *Prices,
                       const BudgetLimits &Limits) {
  if (!Spec.Cost && Prices)
    Spec.Cost = Prices->find(Spec.Model.empty() ? Spec.Kind : Spec.Model);
  if (!Spec.Cost && Limits.Cost && !Spec.Free)
    return usageError("the cost is limited, and there is no price for " +
                          Spec.name(),
                      "add price=PROMPT/ANSWER (of a million tokens) to "
                      "--provider, or a line to --prices FILE");
  return Error::success();
}

static Expected<std::unique_ptr<Endpoint>>
makeEndpoint(const ProviderSpec &Spec, Secrets &Hidden,
             const SessionOptions &Options) {
  switch (Spec.P) {
  case ProviderSpec::Protocol::Exec:
    return makeExecEndpoint(Spec);
  case ProviderSpec::Protocol::Spool:
    return makeSpoolEndpoint(Spec, Options.Notice);
  default:
    return makeHttpEndpoint(Spec, Hidden, Options.DryRun);
  }
}

Expected<std::unique_ptr<Session>>
Session::open(const SessionOptions &Options) {
  auto S = std::make_unique<OpenSession>();
  if (Options.Providers.empty())
    return usageError("no provider was given",
                      "--provider openai,model=NAME; others: deepseek, "
                      "anthropic, vllm, llamacpp, ollama, exec:CMD, spool:DIR, "
                      "replay:DIR");
  Expected<std::unique_ptr<Budget>> Purse = Budget::create(Options.Limits);
  if (!Purse)
    return Purse.takeError();
  S->Purse = std::move(*Purse);
  std::optional<PriceTable> Prices;
  if (!Options.Prices.empty()) {
    Expected<PriceTable> Loaded = PriceTable::load(Options.Prices);
    if (!Loaded)
      return Loaded.takeError();
    Prices = std::move(*Loaded);
  }
  auto Members = std::make_unique<Pool>(Options.Notice);
  for (const std::string &Text : Options.Providers) {
    Expected<ProviderSpec> Spec = ProviderSpec::parse(Text);
    if (!Spec)
      return Spec.takeError();
    if (Spec->P == ProviderSpec::Protocol::Replay) {
      if (Options.Providers.size() > 1)
        return usageError("replay:DIR answers every call and cannot be "
                          "combined with other providers",
                          "remove the other --provider");
      if (!Options.Record.empty())
        return usageError("a replay cannot be recorded", "remove --record");
      Expected<std::unique_ptr<Recording>> R =
          Recording::open(Spec->Where, /*Create=*/false);
      if (!R)
        return R.takeError();
      S->Replay = std::move(*R);
      ChangeNotice Changed;
      if (Options.Notice)
        Changed = [Notice = Options.Notice](StringRef Step, StringRef Diff) {
          Notice("'" + Step.str() +
                 "' would now be asked differently than recorded:\n" +
                 Diff.str());
        };
      S->Base = replayCalls(*S->Replay, Spec->StopAtChange, Changed);
      S->Top = S->Base.get();
      return std::move(S);
    }
    if (Error E = findPrice(*Spec, Prices ? &*Prices : nullptr, Options.Limits))
      return std::move(E);
    Expected<std::unique_ptr<Endpoint>> From =
        makeEndpoint(*Spec, S->Hidden, Options);
    if (!From)
      return From.takeError();
    Members->add(*Spec, std::make_unique<ManagedProvider>(
                            *Spec, std::move(*From), *S->Purse));
  }
  S->Base = std::move(Members);
  S->Top = S->Base.get();
  if (!Options.Record.empty() && !Options.DryRun) {
    Expected<std::unique_ptr<Recording>> R =
        Recording::open(Options.Record, /*Create=*/true);
    if (!R)
      return R.takeError();
    S->Record = std::move(*R);
    if (Options.Resume)
      S->Purse->charge(S->Record->spent(Options.StepsOf));
    S->Recorded = recordCalls(*S->Base, *S->Record, Options.Resume);
    S->Top = S->Recorded.get();
  }
  return std::move(S);
}

} // namespace cupilot
