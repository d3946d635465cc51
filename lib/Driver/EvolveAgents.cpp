//===- EvolveAgents.cpp - The models of a search
//-----------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/EvolveAgents.h"
#include "cupilot/Driver/Knowledge.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <mutex>

using namespace llvm;

namespace cupilot {

namespace {
/// Notes what it is asked, and never answers.
class PromptPrinter : public Provider {
public:
  explicit PromptPrinter(const Provider *Would) : Would(Would) {}
  Expected<ChatAnswer> ask(const ChatRequest &R) override {
    std::lock_guard Lock(Guard);
    Prompts[R.Step] = "step: " + R.Step + "\nprompt: " + R.Prompt + "\n" +
                      describe(R) + textOf(R);
    return providerError(ProviderFault::NoAnswer, "a dry run asks nobody");
  }
  std::string describe(const ChatRequest &R) const override {
    return Would ? Would->describe(R) : "";
  }
  std::map<std::string, std::string> Prompts; ///< By step.

private:
  const Provider *Would;
  std::mutex Guard;
};
} // namespace

namespace {
/// Asks when it is this search's turn.
class InTurn : public Provider {
public:
  InTurn(Provider &From, SearchTurns Turns) : From(From), Turns(Turns) {}
  Expected<ChatAnswer> ask(const ChatRequest &R) override {
    const Turn Mine = Turns.wait(SharedResource::Call);
    return From.ask(R);
  }
  std::string describe(const ChatRequest &R) const override {
    return From.describe(R);
  }

private:
  Provider &From;
  SearchTurns Turns;
};
} // namespace

Error AgentSettings::check() const {
  if (!(Within >= 0 && Within < 1))
    return usageError("--within must be at least 0 and less than 1",
                      "for 5 %, use --within=0.05");
  if (Repairs.value_or(0) > 20)
    return usageError("--repairs must be at most 20");
  if (Dialogue && (Dialogue->Turns < 2 || Dialogue->Turns > 1000))
    return usageError("--agent-turns must be between 2 and 1000");
  if (Dialogue && (Prose || CrossCode || !Improve))
    return usageError("--operator=agent improves variants, with strategies "
                      "that have names",
                      "without --prose, --no-improve and --crossover=code");
  return Error::success();
}

unsigned AgentSettings::usualCalls() const {
  if (KernelCalls)
    return *KernelCalls;
  // Each improvement may take its turns.
  if (!Dialogue || Preset.KernelCalls == 0)
    return Preset.KernelCalls;
  return Preset.KernelCalls +
         (Preset.Generations - 1) * Preset.Offspring * Dialogue->Turns;
}

Expected<std::unique_ptr<EvolveAgents>>
EvolveAgents::open(AgentSettings Settings, StringRef StoreDir, bool Resume,
                   SearchTurns Turns) {
  auto A = std::make_unique<EvolveAgents>();
  SessionOptions &Calls = Settings.Session;
  Calls.Resume = Resume;
  Calls.DryRun = Settings.DryRun;
  // Of what the journal's ignored files are: the store stays reviewable.
  if (Calls.Record.empty() && none_of(Calls.Providers, [](StringRef Spec) {
        return Spec.starts_with("replay:");
      }))
    Calls.Record = (StoreDir + "/journal.sqlite.calls").str();
  if (!Calls.Providers.empty() || !Settings.DryRun) {
    Expected<std::unique_ptr<Session>> S = Session::open(Calls);
    if (!S)
      return S.takeError();
    A->Models = std::move(*S);
  }
  Expected<PromptLibrary> Prompts =
      PromptLibrary::open(PromptLibrary::shippedFolder(), Settings.Prompts);
  if (!Prompts)
    return Prompts.takeError();
  A->Prompts = std::make_unique<PromptLibrary>(std::move(*Prompts));
  A->Options.From = A->Models.get();
  A->Options.DryRun = Settings.DryRun;
  if (A->Models) {
    A->Waits = std::make_unique<InTurn>(*A->Models, Turns);
    A->Options.From = A->Waits.get();
    A->Options.Keep = A->Models->recording();
    A->Options.Replayed = A->Models->replayed();
  }
  if (Settings.DryRun) {
    A->Shown = std::make_unique<PromptPrinter>(A->Models.get());
    A->Options.From = A->Shown.get();
  }
  A->Options.Prompts = A->Prompts.get();
  A->Options.Counts = &A->Counts;
  A->Options.Rounds = Settings.Repairs.value_or(Settings.Preset.Repairs);
  A->Options.MostCalls = Settings.usualCalls();
  A->Options.Roofline = Settings.Roofline;
  A->Options.Prose = Settings.Prose;
  A->Options.NewStrategies = Settings.NewStrategies;
  A->Options.Improve = Settings.Improve;
  A->Options.AskAgain = Settings.AskAgain;
  A->Options.CrossCode = Settings.CrossCode;
  A->Options.Dialogue = Settings.Dialogue;
  if (Settings.Dialogue) {
    auto Known = std::make_shared<Knowledge>(Knowledge::shipped());
    A->Options.LookUp = [Known](StringRef Words, size_t Most) {
      return Known->passages(Words, Most);
    };
  }
  // Of genes that nobody types there is no parameter.
  A->Options.Tunables =
      Settings.Tunables && !Settings.Prose && !Settings.CrossCode;
  A->Settings = std::move(Settings);
  return A;
}

void EvolveAgents::apply(SearchOptions &Options) const {
  Options.Population = Settings.Preset.Population;
  Options.Generations = Settings.Preset.Generations;
  Options.Offspring = Settings.Preset.Offspring;
  Options.Within = Settings.Within;
  Options.Agents = &this->Options;
}

void EvolveAgents::setMostCalls(std::optional<unsigned> Most) {
  const unsigned Usual = Settings.usualCalls();
  Options.MostCalls = !Most ? Usual : Usual ? std::min(Usual, *Most) : *Most;
}

void EvolveAgents::setExamples(ArrayRef<SeedGenome> Seeds) {
  // Code is long, and the second one teaches less than the first. Of what is
  // too long, the Manager learns that it helped.
  constexpr size_t MostExamples = 2, MostBytes = 32768;
  Options.Examples.clear();
  size_t WithCode = 0, Bytes = 0;
  for (const SeedGenome &S : Seeds) {
    bool Short = Bytes + S.Source.size() <= MostBytes;
    if (Short ? WithCode == MostExamples
              : Options.Examples.size() >= MostExamples)
      continue;
    WithCode += Short;
    Bytes += Short ? S.Source.size() : 0;
    Options.Examples.push_back(
        {S.Kernel, S.Genome,
         formatv("{0:f2} times as fast as it was, {1}", S.Ratio, S.Provenance)
             .str(),
         Short ? S.Source : ""});
  }
}

Error EvolveAgents::printPrompts(Error E, raw_ostream &OS) {
  auto &Printer = static_cast<PromptPrinter &>(*Shown);
  for (const auto &[Step, Text] : Printer.Prompts)
    OS << Text << "\n";
  Printer.Prompts.clear();
  return handleErrors(std::move(E),
                      [](std::unique_ptr<ProviderError> P) -> Error {
                        if (P->fault() == ProviderFault::NoAnswer)
                          return Error::success();
                        return Error(std::move(P));
                      });
}

std::string EvolveAgents::summary() const {
  std::string Text = Models->summary();
  for (const auto &[Prompt, C] : Counts.all())
    if (C.Failed || C.Repaired)
      Text += formatv("; {0}: {1} of {2} answers repaired, {3} unusable",
                      Prompt, C.Repaired, C.Asked, C.Failed)
                  .str();
  return Text;
}

} // namespace cupilot
