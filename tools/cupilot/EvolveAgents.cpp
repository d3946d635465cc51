//===- EvolveAgents.cpp - Options of evolve --translator llm -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EvolveAgents.h"
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

/// Sizes of a search that models carry.
struct SearchPreset {
  StringRef Name;
  unsigned Population, Generations, Offspring, Repairs, KernelCalls;
};
} // namespace

/// "paper": section 4 of the paper, a start population and two epochs. With
/// "frugal" 2 calls choose, 8 + 6 + 6 translate, and 8 are left for repairs.
static constexpr SearchPreset Presets[] = {{"frugal", 8, 3, 6, 2, 30},
                                           {"paper", 50, 3, 50, 3, 0}};

AgentFlags::AgentFlags(cl::SubCommand &Sub)
    : Providers(Sub, /*Resume=*/false),
      Preset("preset", cl::sub(Sub), cl::init("frugal"),
             cl::value_desc("frugal|paper"),
             cl::desc("With llm: at most 30 calls for a kernel (default), or "
                      "a population of 50 for 2 epochs")),
      Crossover("crossover", cl::sub(Sub), cl::init("strategies"),
                cl::value_desc("strategies|code"),
                cl::desc("With llm, to compare: models merge the code of two "
                         "parents, not strategies")),
      Repairs("repairs", cl::sub(Sub), cl::value_desc("N"),
              cl::desc("With llm: repairs of a candidate at most (default 2; "
                       "paper 3)")),
      KernelCalls("kernel-calls", cl::sub(Sub), cl::value_desc("N"),
                  cl::desc("With llm: calls for a kernel at most; 0: no limit "
                           "(default 30; paper 0)")),
      Within("within", cl::sub(Sub), cl::init(0.05), cl::value_desc("SHARE"),
             cl::desc("With llm: a kernel is done this near to the GPU's "
                      "ceiling; 0: never (default 0.05)")),
      NoRoofline("no-roofline", cl::sub(Sub),
                 cl::desc("With llm, to compare: no figures in prompts")),
      NoRetrieval("no-retrieval", cl::sub(Sub),
                  cl::desc("With llm, to compare: nothing of similar kernels")),
      Prose("prose", cl::sub(Sub),
            cl::desc("With llm, to compare: strategies as sentences without "
                     "parameters, and no check which ones the code has")),
      DryRun("dry-run", cl::sub(Sub),
             cl::desc("With llm: print the first prompts, and send nothing")) {}

Error AgentFlags::check(bool Models) const {
  auto Only = [&](bool Given, StringRef Name) -> Error {
    if (Models || !Given)
      return Error::success();
    return usageError("--" + Name + " is for models", "--translator=llm");
  };
  for (auto [Given, Name] :
       {std::pair(Providers.given(), "provider"),
        {Preset.getNumOccurrences() > 0, "preset"},
        {Crossover.getNumOccurrences() > 0, "crossover"},
        {Repairs.getNumOccurrences() > 0, "repairs"},
        {KernelCalls.getNumOccurrences() > 0, "kernel-calls"},
        {Within.getNumOccurrences() > 0, "within"},
        {NoRoofline.getValue(), "no-roofline"},
        {NoRetrieval.getValue(), "no-retrieval"},
        {Prose.getValue(), "prose"},
        {DryRun.getValue(), "dry-run"}})
    if (Error E = Only(Given, Name))
      return E;
  if (none_of(Presets, [&](const SearchPreset &P) { return P.Name == Preset; }))
    return usageError("there is no preset '" + Preset + "'",
                      "--preset=frugal or --preset=paper");
  if (Crossover != "strategies" && Crossover != "code")
    return usageError("there is no crossover of '" + Crossover + "'",
                      "--crossover=strategies or --crossover=code");
  if (!(Within >= 0 && Within < 1))
    return usageError("--within takes a share from 0 to below 1",
                      "--within=0.05 for 5 %");
  if (Repairs > 20)
    return usageError("--repairs takes a number up to 20");
  return Error::success();
}

Expected<std::unique_ptr<EvolveAgents>> AgentFlags::open(StringRef StoreDir,
                                                         bool Resume) const {
  auto A = std::make_unique<EvolveAgents>();
  // Of what the journal's ignored files are: the store stays reviewable.
  if (Providers.given() || !DryRun) {
    Expected<std::unique_ptr<Session>> S = Providers.open(
        Resume, DryRun, (StoreDir + "/journal.sqlite.calls").str());
    if (!S)
      return S.takeError();
    A->Models = std::move(*S);
  }
  Expected<PromptLibrary> Prompts = Providers.prompts();
  if (!Prompts)
    return Prompts.takeError();
  A->Prompts = std::make_unique<PromptLibrary>(std::move(*Prompts));
  const SearchPreset &P = *find_if(
      Presets, [&](const SearchPreset &Each) { return Each.Name == Preset; });
  A->Population = P.Population;
  A->Generations = P.Generations;
  A->Offspring = P.Offspring;
  A->Within = Within;
  A->Options.From = A->Models.get();
  A->Options.DryRun = DryRun;
  if (A->Models) {
    A->Options.Keep = A->Models->recording();
    A->Options.Replayed = A->Models->replayed();
  }
  if (DryRun) {
    A->Shown = std::make_unique<PromptPrinter>(A->Models.get());
    A->Options.From = A->Shown.get();
  }
  A->Options.Prompts = A->Prompts.get();
  A->Options.Counts = &A->Counts;
  A->Options.Rounds = Repairs.getNumOccurrences() ? Repairs : P.Repairs;
  A->Options.MostCalls =
      KernelCalls.getNumOccurrences() ? KernelCalls : P.KernelCalls;
  A->Options.Roofline = !NoRoofline;
  A->Options.Prose = Prose;
  A->Options.CrossCode = Crossover == "code";
  return std::move(A);
}

void EvolveAgents::apply(SearchOptions &Options) const {
  Options.Population = Population;
  Options.Generations = Generations;
  Options.Offspring = Offspring;
  Options.Within = Within;
  Options.Agents = &this->Options;
}

void EvolveAgents::setExamples(ArrayRef<SeedGenome> Seeds) {
  // Code is long, and the second one teaches less than the first. Of what is
  // too long, the Manager learns that it helped.
  constexpr size_t MostExamples = 2, MostBytes = 32768;
  Options.Examples.clear();
  size_t WithCode = 0;
  for (const SeedGenome &S : Seeds) {
    bool Short = S.Source.size() <= MostBytes;
    if (Short ? WithCode == MostExamples
              : Options.Examples.size() >= MostExamples)
      continue;
    WithCode += Short;
    Options.Examples.push_back(
        {S.Kernel, S.Genome,
         formatv("{0:f2} times as fast as it was", S.Ratio).str(),
         Short ? S.Source : ""});
  }
}

Error EvolveAgents::printPrompts(Error E) {
  auto &Printer = static_cast<PromptPrinter &>(*Shown);
  for (const auto &[Step, Text] : Printer.Prompts)
    outs() << Text << "\n";
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
      Text += formatv("; {0}: {1} of {2} answers repaired, {3} of no use",
                      Prompt, C.Repaired, C.Asked, C.Failed)
                  .str();
  return Text;
}

} // namespace cupilot
