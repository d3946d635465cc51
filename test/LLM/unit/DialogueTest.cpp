//===- DialogueTest.cpp - Structured answers and their repair -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gtest/gtest.h>

#include "AgentFacts.h"
#include "ScriptedServer.h"
#include "cupilot/LLM/Dialogue.h"

using namespace llvm;
using namespace cupilot;

namespace {
/// Says what it was told to say, and keeps what it was asked.
class Parrot : public Provider {
public:
  explicit Parrot(std::vector<ChatAnswer> Answers)
      : Answers(std::move(Answers)) {}
  Expected<ChatAnswer> ask(const ChatRequest &R) override {
    Asked.push_back(R);
    if (Asked.size() > Answers.size())
      return providerError(ProviderFault::Server, "no more");
    return Answers[Asked.size() - 1];
  }
  std::string describe(const ChatRequest &) const override { return ""; }
  std::vector<ChatAnswer> Answers;
  std::vector<ChatRequest> Asked;
};

const char *Good =
    R"({"class": "memory", "moved": false, "reason": "r", "metrics": ["dram"],
                       "strategies": [], "stop": false})";

ChatAnswer says(std::string Text, std::string Finish = "stop") {
  ChatAnswer A;
  A.Text = std::move(Text);
  A.Finish = std::move(Finish);
  return A;
}

struct Asked {
  std::optional<StructuredAnswer> A;
  Failure F;
  AnswerCounts::Counts C;
};

Asked ask(Parrot &P, function_ref<Error(const json::Value &)> Check = nullptr) {
  PromptLibrary L =
      cantFail(PromptLibrary::open(PromptLibrary::shippedFolder(), ""));
  AnswerCounts Counts;
  json::Object Facts = agentFacts("__global__ void k() {}").back().second;
  Expected<StructuredAnswer> A = askStructured(
      P, L, {"roofline-prophet", Facts, "g1/p", 100, Check}, &Counts);
  Asked Result;
  if (A)
    Result.A = std::move(*A);
  else
    Result.F = failureOf(A.takeError());
  Result.C = Counts.all()["roofline-prophet"];
  return Result;
}
} // namespace

TEST(Dialogue, AGoodAnswer) {
  Parrot P({says(std::string("Here: ") + Good)});
  Asked R = ask(P);
  ASSERT_TRUE(R.A) << R.F.Text;
  EXPECT_EQ(R.A->Value.getAsObject()->getString("class"), "memory");
  EXPECT_TRUE(StringRef(R.A->Prompt).starts_with("roofline-prophet 3 b3:"));
  EXPECT_EQ(R.C.Asked, 1u);
  EXPECT_EQ(R.C.Repaired + R.C.Failed, 0u);
  EXPECT_EQ(P.Asked[0].MaxTokens, 100u);
}

TEST(Dialogue, OneRepair) {
  Parrot P({says("{\"class\": \"storage\"}"), says(Good)});
  Asked R = ask(P);
  ASSERT_TRUE(R.A) << R.F.Text;
  EXPECT_EQ(R.A->Rounds.size(), 2u);
  EXPECT_EQ(R.C.Repaired, 1u);
  ASSERT_EQ(P.Asked.size(), 2u);
  const ChatRequest &Second = P.Asked[1];
  EXPECT_EQ(Second.Step, "g1/p/repair");
  ASSERT_EQ(Second.Messages.size(), 3u);
  EXPECT_EQ(Second.Messages[0], P.Asked[0].Messages[0]);
  EXPECT_EQ(Second.Messages[1].Text, "{\"class\": \"storage\"}");
  EXPECT_NE(Second.Messages[2].Text.find("the answer: there is no 'moved'"),
            std::string::npos)
      << Second.Messages[2].Text;
  EXPECT_TRUE(Second.Schema == P.Asked[0].Schema);
}

TEST(Dialogue, ThenACountedFailure) {
  Parrot P({says("rubbish"), says("more rubbish"), says(Good)});
  Asked R = ask(P);
  EXPECT_FALSE(R.A);
  EXPECT_EQ(P.Asked.size(), 2u);
  EXPECT_EQ(R.C.Failed, 1u);
  EXPECT_EQ(R.F.Status, 1);
  EXPECT_FALSE(R.F.Fault);
  EXPECT_NE(R.F.Text.find("nor after a repair: the answer has no JSON object"),
            std::string::npos)
      << R.F.Text;
}

TEST(Dialogue, DeclinedAndCutAnswers) {
  Parrot Declines({says("I cannot help with that.", "refused"), says(Good)});
  Asked R = ask(Declines);
  EXPECT_EQ(Declines.Asked.size(), 1u);
  EXPECT_NE(R.F.Text.find("declined"), std::string::npos);
  Parrot Cut({says("{\"class\": \"mem", "length"), says(Good)});
  R = ask(Cut);
  ASSERT_TRUE(R.A);
  EXPECT_NE(Cut.Asked[1].Messages[2].Text.find("limit of 100 tokens"),
            std::string::npos);
  EXPECT_NE(Cut.Asked[1].Messages[2].Text.find("be shorter"),
            std::string::npos);
  Parrot Empty({says(""), says(Good)});
  ASSERT_TRUE(ask(Empty).A);
  EXPECT_EQ(Empty.Asked[1].Messages[1].Text, "(nothing)");
}

TEST(Dialogue, WhatTheSchemaCannotSay) {
  Parrot P({says(Good), says(Good)});
  unsigned Calls = 0;
  auto Check = [&](const json::Value &) {
    return ++Calls == 1 ? findingError("there is no metric 'dram'")
                        : Error::success();
  };
  Asked R = ask(P, Check);
  ASSERT_TRUE(R.A);
  EXPECT_NE(P.Asked[1].Messages[2].Text.find("no metric 'dram'"),
            std::string::npos);
  // Other errors are no answers' fault.
  Parrot Q({says(Good), says(Good)});
  R = ask(Q, [](const json::Value &) { return resourceError("disk"); });
  EXPECT_EQ(Q.Asked.size(), 1u);
  EXPECT_EQ(R.F.Status, 3);
}

TEST(Dialogue, FaultsOfProvidersAreTheirs) {
  Parrot P({});
  Asked R = ask(P);
  EXPECT_EQ(R.F.Fault, ProviderFault::Server);
  EXPECT_EQ(R.C.Asked, 0u);
}
