//===- AgentFlags.cpp - Options of evolve --translator=llm ----------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AgentFlags.h"
#include "cupilot/Support/Error.h"

using namespace llvm;

namespace cupilot {

AgentFlags::AgentFlags(cl::SubCommand &Sub)
    : Providers(Sub, /*Resume=*/false, Models),
      Preset("preset", cl::sub(Sub), cl::cat(Models), cl::init("frugal"),
             cl::value_desc("frugal|paper"),
             cl::desc("At most 20 calls for a kernel (default), or a "
                      "population of 50 for 2 epochs")),
      Crossover("crossover", cl::sub(Sub), cl::cat(Comparison),
                cl::init("strategies"), cl::value_desc("strategies|code"),
                cl::desc("Merge the strategies of two parents (default), or "
                         "their code")),
      Operator("operator", cl::sub(Sub), cl::cat(Models), cl::init("answer"),
               cl::value_desc("answer|agent"),
               cl::desc("Improve a variant by one answer (default), or by a "
                        "dialogue in which the model has the tools of cupilot "
                        "mcp")),
      AgentTurns("agent-turns", cl::sub(Sub), cl::cat(Models), cl::init(12),
                 cl::value_desc("N"),
                 cl::desc("Turns of a dialogue at most (default 12)")),
      AgentTokens("agent-tokens", cl::sub(Sub), cl::cat(Models),
                  cl::init(300000), cl::value_desc("N"),
                  cl::desc("Tokens of a dialogue at most, all prompts and "
                           "answers together (default 300000)")),
      AgentGpuSeconds("agent-gpu-seconds", cl::sub(Sub), cl::cat(Models),
                      cl::init(60), cl::value_desc("N"),
                      cl::desc("GPU time of a dialogue at most (default 60)")),
      Repairs("repairs", cl::sub(Sub), cl::cat(Models), cl::value_desc("N"),
              cl::desc("Most repairs of one candidate (default 2; paper: 3)")),
      KernelCalls(
          "kernel-calls", cl::sub(Sub), cl::cat(Models), cl::value_desc("N"),
          cl::desc(
              "Most calls for one kernel; 0: no limit (default 20; paper: 0)")),
      Within("within", cl::sub(Sub), cl::cat(Models), cl::init(0.05),
             cl::value_desc("SHARE"),
             cl::desc("Stop when a kernel is within this share of the GPU's "
                      "ceiling; 0: never (default 0.05)")),
      DryRun("dry-run", cl::sub(Sub), cl::cat(Models),
             cl::desc("Print the first prompts without sending them")),
      NoRoofline("no-roofline", cl::sub(Sub), cl::cat(Comparison),
                 cl::desc("Leave roofline figures out of the prompts")),
      NoRetrieval("no-retrieval", cl::sub(Sub), cl::cat(Comparison),
                  cl::desc("Leave similar kernels out of the prompts")),
      NoNewStrategies("no-new-strategies", cl::sub(Sub), cl::cat(Comparison),
                      cl::desc("Use the strategies of the library alone, not "
                               "those that models propose")),
      NoImprove("no-improve", cl::sub(Sub), cl::cat(Comparison),
                cl::desc("Improve no variant: all offspring are crossed")),
      AskOnce("ask-once", cl::sub(Sub), cl::cat(Comparison),
              cl::desc("Ask Prophet and Manager at the beginning only")),
      Prose("prose", cl::sub(Sub), cl::cat(Comparison),
            cl::desc("Describe strategies in sentences without parameters, and "
                     "do not check which ones the code has")) {}

Error AgentFlags::checkUnused() const {
  for (auto [Given, Name] :
       {std::pair(Providers.given(), "provider"),
        {Preset.getNumOccurrences() > 0, "preset"},
        {Crossover.getNumOccurrences() > 0, "crossover"},
        {Operator.getNumOccurrences() > 0, "operator"},
        {AgentTurns.getNumOccurrences() > 0, "agent-turns"},
        {AgentTokens.getNumOccurrences() > 0, "agent-tokens"},
        {AgentGpuSeconds.getNumOccurrences() > 0, "agent-gpu-seconds"},
        {Repairs.getNumOccurrences() > 0, "repairs"},
        {KernelCalls.getNumOccurrences() > 0, "kernel-calls"},
        {Within.getNumOccurrences() > 0, "within"},
        {NoRoofline.getValue(), "no-roofline"},
        {NoRetrieval.getValue(), "no-retrieval"},
        {NoNewStrategies.getValue(), "no-new-strategies"},
        {NoImprove.getValue(), "no-improve"},
        {AskOnce.getValue(), "ask-once"},
        {Prose.getValue(), "prose"},
        {DryRun.getValue(), "dry-run"}})
    if (Given)
      return usageError(Twine("--") + Name + " applies to language models only",
                        "--translator=llm");
  return Error::success();
}

Expected<std::optional<AgentSettings>>
AgentFlags::read(StringRef Translator) const {
  if (Translator == "rules") {
    if (Error E = checkUnused())
      return std::move(E);
    return std::nullopt;
  }
  if (Translator != "llm")
    return usageError("unknown translator '" + Translator + "'",
                      "--translator=rules or --translator=llm");
  AgentSettings S;
  if (Preset == "paper")
    S.Preset = PaperPreset;
  else if (Preset != "frugal")
    return usageError("unknown preset '" + Preset + "'",
                      "--preset=frugal or --preset=paper");
  S.CrossCode = Crossover == "code";
  if (!S.CrossCode && Crossover != "strategies")
    return usageError("unknown crossover '" + Crossover + "'",
                      "--crossover=strategies or --crossover=code");
  if (Operator == "agent")
    S.Dialogue = {AgentTurns, AgentTokens, AgentGpuSeconds};
  else if (Operator != "answer")
    return usageError("unknown operator '" + Operator + "'",
                      "--operator=answer or --operator=agent");
  else if (AgentTurns.getNumOccurrences() || AgentTokens.getNumOccurrences() ||
           AgentGpuSeconds.getNumOccurrences())
    return usageError("--agent-turns, --agent-tokens and --agent-gpu-seconds "
                      "are limits of dialogues",
                      "--operator=agent");
  Expected<SessionOptions> Session = Providers.session();
  if (!Session)
    return Session.takeError();
  S.Session = std::move(*Session);
  S.Prompts = Providers.promptFolder();
  if (Repairs.getNumOccurrences())
    S.Repairs = Repairs;
  if (KernelCalls.getNumOccurrences())
    S.KernelCalls = KernelCalls;
  S.Within = Within;
  S.Roofline = !NoRoofline;
  S.Retrieval = !NoRetrieval;
  S.NewStrategies = !NoNewStrategies && !Prose;
  S.Improve = !NoImprove;
  S.AskAgain = !AskOnce;
  S.Prose = Prose;
  S.DryRun = DryRun;
  return S;
}

} // namespace cupilot
