//===- AgentCallsTest.cpp -------------------------------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evolution/AgentCalls.h"
#include "cupilot/LLM/Budget.h"
#include "gtest/gtest.h"
#include <chrono>
#include <thread>

using namespace llvm;
using namespace cupilot;

namespace {
/// Answers with the request's step, at the cost of a call.
class Echo : public Provider {
public:
  explicit Echo(Budget &Purse) : Purse(Purse) {}
  Expected<ChatAnswer> ask(const ChatRequest &R) override {
    Spending One{1, 0, 0, 0};
    if (Error E = Purse.reserve(One))
      return std::move(E);
    if (R.Reserved)
      R.Reserved();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    Purse.settle(One, One);
    ChatAnswer A;
    A.Text = R.Step;
    return A;
  }
  std::string describe(const ChatRequest &) const override { return ""; }

private:
  Budget &Purse;
};

/// The question of \p Place, whose answer goes to its place in \p Answers.
Error askAt(Provider &From, AskPlace Place, std::vector<std::string> &Answers) {
  CallLog Log(From);
  Log.at(Place);
  ChatRequest R;
  R.Step = std::to_string(Place.Index);
  Expected<ChatAnswer> A = Log.ask(R);
  if (!A)
    return A.takeError();
  Answers[Place.Index] = A->Text;
  return Error::success();
}
} // namespace

// Later questions come sooner, and are not answered all the same.
TEST(AgentCallsTest, TheEndOfABudgetLeavesOutTheLastQuestions) {
  constexpr size_t Count = 8, Paid = 3;
  auto Purse = Budget::create({Paid, std::nullopt, std::nullopt});
  ASSERT_TRUE(bool(Purse));
  Echo From(**Purse);
  std::vector<std::string> Answers(Count);
  Error Failed = askAll(Count, [&](AskPlace Place) -> Error {
    std::this_thread::sleep_for(
        std::chrono::milliseconds(5 * (Count - Place.Index)));
    return askAt(From, Place, Answers);
  });
  EXPECT_TRUE(Failed.isA<ProviderError>());
  EXPECT_NE(toString(std::move(Failed)).find("could pass 3 calls"),
            std::string::npos);
  EXPECT_EQ(Answers,
            (std::vector<std::string>{"0", "1", "2", "", "", "", "", ""}));
}

// Who asks nothing holds up nobody.
TEST(AgentCallsTest, QuestionsWithoutACallAreNotWaitedFor) {
  auto Purse = Budget::create({});
  ASSERT_TRUE(bool(Purse));
  Echo From(**Purse);
  std::vector<std::string> Answers(3);
  EXPECT_FALSE(bool(askAll(3, [&](AskPlace Place) -> Error {
    if (Place.Index == 0)
      return Error::success();
    return askAt(From, Place, Answers);
  })));
  EXPECT_EQ(Answers, (std::vector<std::string>{"", "1", "2"}));
}
