//===- BudgetTest.cpp - What a run may cost -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gtest/gtest.h>

#include "ScriptedServer.h"

using namespace llvm;
using namespace cupilot;

static std::unique_ptr<Budget> budget(BudgetLimits L) {
  return cantFail(Budget::create(L));
}

TEST(Budget, StopsBeforeTheLimit) {
  auto B = budget({.Tokens = 100});
  Spending Most{1, 40, 20, 0};
  EXPECT_FALSE(static_cast<bool>(B->reserve(Most)));
  B->settle(Most, {1, 30, 15, 0});
  EXPECT_EQ(B->spent().tokens(), 45u);
  Failure F = failureOf(B->reserve({1, 50, 6, 0}));
  EXPECT_EQ(F.Fault, ProviderFault::Budget);
  EXPECT_EQ(F.Status, 3);
  EXPECT_NE(F.Text.find("100 tokens (45 used, up to 56 more)"),
            std::string::npos)
      << F.Text;
  EXPECT_FALSE(static_cast<bool>(B->reserve({1, 50, 5, 0})));
}

TEST(Budget, WaitsForCallsUnderWay) {
  auto B = budget({.Cost = 1.0});
  Spending Most{1, 0, 0, 0.9};
  cantFail(B->reserve(Most));
  std::atomic<bool> Through = false;
  std::thread Other([&] {
    cantFail(B->reserve(Most));
    Through = true;
    B->settle(Most, {1, 0, 0, 0.1});
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(Through);
  B->settle(Most, {1, 0, 0, 0.1});
  Other.join();
  EXPECT_TRUE(Through);
  // Refused to those that wait, once it is clear.
  cantFail(B->reserve({1, 0, 0, 0.5}));
  std::optional<ProviderFault> Fault;
  std::thread Third(
      [&] { Fault = failureOf(B->reserve({1, 0, 0, 0.5})).Fault; });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  B->settle({1, 0, 0, 0.5}, {1, 0, 0, 0.5});
  Third.join();
  EXPECT_EQ(Fault, ProviderFault::Budget);
}

TEST(Budget, EndsARunOfCalls) {
  ScriptedServer &Server = ScriptedServer::get();
  SessionOptions O;
  O.Limits.Calls = 3;
  auto S = openSession({Server.spec("ok")}, O);
  for (unsigned I = 0; I < 3; ++I)
    EXPECT_FALSE(errorToBool(S->ask(sampleRequest()).takeError()));
  Failure F = failureOf(S->ask(sampleRequest()).takeError());
  EXPECT_EQ(F.Fault, ProviderFault::Budget);
  EXPECT_NE(F.Text.find("--max-calls"), std::string::npos);

  // 500 tokens of an answer at 10 each, and less than 1000 of the prompt: the
  // second call could pass it, after 7 * 10 + 11 were spent.
  O = {};
  O.Limits.Cost = 0.0060;
  S = openSession({Server.spec("ok", "price=1/10")}, O);
  EXPECT_FALSE(errorToBool(S->ask(sampleRequest()).takeError()));
  EXPECT_NEAR(S->spent().Cost, 81e-6, 1e-9);
  unsigned Good = 1;
  while (!errorToBool(S->ask(sampleRequest()).takeError()))
    ++Good;
  EXPECT_LE(S->spent().Cost, 0.0060);
  EXPECT_GT(Good, 2u);
  EXPECT_NE(S->summary().find("cost 0.00"), std::string::npos) << S->summary();
}

TEST(Budget, RetriesAreOneCallAndBrokenAnswersCost) {
  ScriptedServer &Server = ScriptedServer::get();
  SessionOptions O;
  O.Limits.Calls = 1;
  auto S = openSession({Server.spec("limited")}, O);
  EXPECT_FALSE(errorToBool(S->ask(sampleRequest()).takeError()));
  EXPECT_EQ(S->spent().Calls, 1u);
  EXPECT_EQ(S->spent().tokens(), 18u); // 429 costs nothing.
  S = openSession({Server.spec("cut-once")}, O);
  EXPECT_FALSE(errorToBool(S->ask(sampleRequest()).takeError()));
  EXPECT_GT(S->spent().tokens(), 18u);
}

TEST(Budget, SaysWhatWasReallyUsed) {
  auto S = openSession({ScriptedServer::get().spec("over", "stream=no")},
                       {.Limits = {.Tokens = 100000}});
  EXPECT_FALSE(errorToBool(S->ask(sampleRequest()).takeError()));
  EXPECT_EQ(S->spent().tokens(), 200000u);
  EXPECT_TRUE(errorToBool(S->ask(sampleRequest()).takeError()));
}

TEST(Budget, Prices) {
  std::string Path = ScriptedServer::get().Folder + "/prices";
  cantFail(
      writeFileAtomic(Path, "# of today\n\nbig-* 3 15\n*   0.1 0.2 # rest"));
  PriceTable T = cantFail(PriceTable::load(Path));
  EXPECT_EQ(T.find("big-7b")->Answer, 15);
  EXPECT_EQ(T.find("small")->Prompt, 0.1);
  for (const char *Bad : {"m 1\n", "m 1 x\n", "m -1 2\n", "m 1 2 3\n"}) {
    cantFail(writeFileAtomic(Path, Bad));
    Failure F = failureOf(PriceTable::load(Path).takeError());
    EXPECT_EQ(F.Status, 2);
    EXPECT_NE(F.Text.find("line 1"), std::string::npos);
  }
}
