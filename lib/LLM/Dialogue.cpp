//===- Dialogue.cpp - A prompt, a structured answer, one repair -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/LLM/Dialogue.h"
#include "cupilot/LLM/JsonAnswer.h"

using namespace llvm;

namespace cupilot {

void AnswerCounts::add(StringRef Prompt, const Counts &C) {
  std::lock_guard Lock(Guard);
  Counts &All = ByPrompt[Prompt.str()];
  All.Asked += C.Asked;
  All.Repaired += C.Repaired;
  All.Failed += C.Failed;
}

std::map<std::string, AnswerCounts::Counts> AnswerCounts::all() const {
  std::lock_guard Lock(Guard);
  return ByPrompt;
}

/// The value that the answer holds; a finding when it is none that fits.
static Expected<json::Value> valueOf(const ChatAnswer &A, const ChatRequest &R,
                                     const Question &Q) {
  if (!R.Schema)
    return json::Value(json::fixUTF8(A.Text));
  Expected<json::Value> V = readAnswer(A.Text, *R.Schema);
  if (!V) {
    if (A.Finish != "length")
      return V.takeError();
    return findingError("the answer was cut off at the limit of " +
                        Twine(A.Limit ? A.Limit : R.MaxTokens) + " tokens (" +
                        toString(V.takeError()) + ")");
  }
  if (Q.Check)
    if (Error E = Q.Check(*V))
      return std::move(E);
  return V;
}

static Expected<ChatRequest> repairOf(const ChatRequest &R, const ChatAnswer &A,
                                      StringRef Why,
                                      const PromptLibrary &Prompts) {
  Expected<ChatRequest> Repair =
      Prompts.render("repair", json::Object{{"problem", json::fixUTF8(Why)},
                                            {"cut", A.Finish == "length"}});
  if (!Repair)
    return Repair.takeError();
  ChatRequest Second = R;
  if (!R.Step.empty())
    Second.Step += "/repair";
  // A provider may refuse a message that is empty.
  Second.Messages.push_back(
      {ChatMessage::Role::Assistant,
       StringRef(A.Text).trim().empty() ? "(nothing)" : A.Text});
  Second.Messages.push_back(Repair->Messages.front());
  return Second;
}

Expected<StructuredAnswer> askStructured(Provider &From,
                                         const PromptLibrary &Prompts,
                                         const Question &Q,
                                         AnswerCounts *Counts) {
  Expected<ChatRequest> R = Prompts.render(Q.Prompt, Q.Facts);
  if (!R)
    return R.takeError();
  R->Step = Q.Step;
  R->MaxTokens = Q.MaxTokens;
  StructuredAnswer Result;
  Result.Prompt = R->Prompt;
  AnswerCounts::Counts Count{1, 0, 0};
  std::string Why;
  for (unsigned Round = 0; Round < 2; ++Round) {
    Expected<ChatAnswer> A = From.ask(*R);
    if (!A)
      return A.takeError();
    Result.Rounds.push_back(*A);
    if (A->Finish == "refused") {
      Why = "the model declined to answer";
      break;
    }
    Expected<json::Value> V = valueOf(*A, *R, Q);
    if (V) {
      Count.Repaired = Round;
      if (Counts)
        Counts->add(Q.Prompt, Count);
      Result.Value = std::move(*V);
      return Result;
    }
    if (Error E = absorbFinding(V.takeError(),
                                [&](StringRef Text) { Why = Text.str(); }))
      return std::move(E);
    if (Round == 0) {
      Expected<ChatRequest> Second = repairOf(*R, *A, Why, Prompts);
      if (!Second)
        return Second.takeError();
      R = std::move(Second);
    }
  }
  Count.Failed = 1;
  if (Counts)
    Counts->add(Q.Prompt, Count);
  return findingError(
      "no usable answer to '" + Q.Prompt + "'" +
          (Result.Rounds.size() > 1 ? ", nor after a repair" : "") + ": " + Why,
      "the recording of the run (--record) contains the answers");
}

} // namespace cupilot
