//===- RecordStory.cpp - What a record tells a model -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RecordStory.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace cupilot {

/// Tells \p Each of the stages that \p R was made in, the first one first.
static void forEachStage(const CandidateRecord &R,
                         function_ref<void(const json::Object &)> Each) {
  Expected<json::Value> V = json::parse(R.Made);
  if (!V) { // Journals of earlier versions have none.
    consumeError(V.takeError());
    return;
  }
  if (const json::Object *O = V->getAsObject())
    if (const json::Array *Stages = O->getArray("stages"))
      for (const json::Value &Stage : *Stages)
        if (const json::Object *S = Stage.getAsObject())
          Each(*S);
}

unsigned callsOf(const CandidateRecord &R, StringRef Stage) {
  unsigned Count = 0;
  forEachStage(R, [&](const json::Object &S) {
    if (S.getString("stage").value_or("") == Stage)
      if (const json::Array *List = S.getArray("calls"))
        Count += List->size();
  });
  return Count;
}

std::vector<std::string> promptsOf(const CandidateRecord &R) {
  std::vector<std::string> All;
  forEachStage(R, [&](const json::Object &S) {
    if (const json::Array *List = S.getArray("calls"))
      for (const json::Value &Call : *List)
        if (const json::Object *O = Call.getAsObject())
          if (std::string Prompt = O->getString("prompt").value_or("").str();
              !Prompt.empty() && !is_contained(All, Prompt))
            All.push_back(std::move(Prompt));
  });
  return All;
}

Author authorOf(const CandidateRecord &R) {
  Author By;
  forEachStage(R, [&](const json::Object &S) {
    if (const json::Array *List = S.getArray("calls"))
      for (const json::Value &Call : *List)
        if (const json::Object *O = Call.getAsObject()) {
          By.Provider = O->getString("provider").value_or("").str();
          By.Model = O->getString("model").value_or("").str();
        }
  });
  return By;
}

std::string troubleOf(const CandidateRecord &R) {
  return StringSwitch<std::string>(R.Outcome)
      .Case("compile-error", "does not compile")
      .Case("inadmissible", "holds what a variant must not hold")
      .Case("gate", "was rejected by the gate")
      .Default("is correct, but not faster than the original by enough");
}

std::string verdictOf(const CandidateRecord &R) {
  static constexpr size_t MostFindings = 6;
  std::string Text = R.Reason;
  Expected<json::Value> V = json::parse(R.Evidence);
  if (!V) {
    consumeError(V.takeError());
    return Text;
  }
  const json::Object *O = V->getAsObject();
  const json::Array *Findings = O ? O->getArray("findings") : nullptr;
  for (size_t I = 1; Findings && I < std::min(Findings->size(), MostFindings);
       ++I)
    if (const json::Object *F = (*Findings)[I].getAsObject())
      Text += ("\n" + F->getString("reason").value_or("") + " (" +
               F->getString("workload").value_or("") +
               "): " + F->getString("evidence").value_or(""))
                  .str();
  return Text;
}

std::vector<std::string> earlierOf(const CandidateRecord &R) {
  std::vector<std::string> All;
  forEachStage(R, [&](const json::Object &S) {
    if (auto Trouble = S.getString("trouble"); Trouble && !Trouble->empty())
      All.push_back(Trouble->str());
  });
  return All;
}

} // namespace cupilot
