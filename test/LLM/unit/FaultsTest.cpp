//===- FaultsTest.cpp - Every fault of a model's interface -*- C++ -*-===//
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

namespace {
constexpr const char *Text = "{\"greeting\": \"hello\", \"count\": 3}";

struct Outcome {
  std::optional<ChatAnswer> A;
  Failure F;
  double Seconds = 0;
};

/// One call through a session, with retries and limits as the options say.
Outcome call(std::string Spec) {
  Outcome O;
  auto S = openSession({std::move(Spec)});
  if (!S)
    return O;
  auto Start = std::chrono::steady_clock::now();
  Expected<ChatAnswer> A = S->ask(sampleRequest());
  O.Seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - Start)
          .count();
  if (A)
    O.A = *A;
  else
    O.F = failureOf(A.takeError());
  EXPECT_EQ(O.F.Text.find("Secret"), std::string::npos) << O.F.Text;
  return O;
}

Outcome call(StringRef Fault, StringRef Options, StringRef Kind = "openai") {
  return call(ScriptedServer::get().spec(Fault, Options, Kind));
}

unsigned requestsTo(StringRef Fault) {
  return StringRef(ScriptedServer::get().log())
      .count(("/" + Fault + "/").str());
}

/// All four ways in which an answer may come.
class Ways
    : public testing::TestWithParam<std::pair<const char *, const char *>> {
protected:
  Outcome call(StringRef Fault, StringRef More = "") {
    return ::call(Fault,
                  (Twine("stream=") + GetParam().second + "," + More).str(),
                  GetParam().first);
  }
  bool streams() const { return StringRef(GetParam().second) == "yes"; }
};

void expectAnswer(const Outcome &O, unsigned Attempts = 1) {
  ASSERT_TRUE(O.A) << O.F.Text;
  EXPECT_EQ(O.A->Finish, "stop");
  EXPECT_EQ(O.A->PromptTokens, 11u);
  EXPECT_EQ(O.A->AnswerTokens, 7u);
  EXPECT_FALSE(O.A->TokensEstimated);
  EXPECT_EQ(O.A->Model, "scripted-1");
  EXPECT_EQ(O.A->Attempts, Attempts);
  Expected<json::Value> V = json::parse(O.A->Text);
  ASSERT_TRUE(static_cast<bool>(V)) << O.A->Text;
  EXPECT_EQ(*V, *json::parse(Text));
}

void expectFault(const Outcome &O, ProviderFault Fault, StringRef Words,
                 int Status = 3) {
  EXPECT_FALSE(O.A);
  EXPECT_EQ(O.F.Fault, Fault) << O.F.Text;
  EXPECT_EQ(O.F.Status, Status);
  EXPECT_NE(O.F.Text.find(Words.str()), std::string::npos) << O.F.Text;
}
} // namespace

TEST_P(Ways, Answers) { expectAnswer(call("ok")); }

TEST_P(Ways, SlowOnesAreWaitedFor) { expectAnswer(call("slow")); }

TEST_P(Ways, SilenceIsBound) {
  Outcome O = call("silent", "inactivity=0.3,retries=1");
  expectFault(O, ProviderFault::Inactive, "sent nothing for 0.3 s");
  EXPECT_NE(O.F.Text.find("(2 attempts)"), std::string::npos) << O.F.Text;
  EXPECT_LT(O.Seconds, 9);
}

TEST_P(Ways, StallingIsBound) {
  Outcome O = call("stalled", "inactivity=0.3,retries=0");
  expectFault(O, ProviderFault::Inactive, "sent nothing");
  EXPECT_LT(O.Seconds, 9);
}

TEST_P(Ways, SignsOfLifeAreBoundToo) {
  Outcome O = call("drip", "total=0.8");
  expectFault(O, ProviderFault::OutOfTime, "0.8 s in all");
  EXPECT_LT(O.Seconds, 9);
}

TEST_P(Ways, CutOffAnswersAreNoAnswers) {
  expectFault(call("cut", "retries=0"), ProviderFault::Connection,
              streams() ? "ended before the answer was complete" : "broke");
  expectAnswer(call("cut-once"), 2);
}

TEST_P(Ways, BrokenConnections) {
  Outcome O = call("reset", "retries=2");
  expectFault(O, ProviderFault::Connection, "(3 attempts)");
}

TEST_P(Ways, Malformed) {
  expectFault(call("malformed", "retries=0"), ProviderFault::Malformed,
              "did not send a JSON object");
  expectFault(call("html", "retries=0"), ProviderFault::Malformed,
              "did not send a JSON object: '<html>");
}

TEST_P(Ways, RefusalsAreNotRepeated) {
  for (auto [Fault, Words] :
       {std::pair("unauthorized", "is the key in CUPILOT_TEST_KEY right"),
        {"forbidden", "no access to this model"},
        {"bad-request", "max_tokens is too large"},
        {"not-found", "has the model 'scripted'"},
        {"quota", "no credit left"}}) {
    unsigned Before = requestsTo(Fault);
    expectFault(call(Fault), ProviderFault::Refused, Words, 2);
    EXPECT_EQ(requestsTo(Fault), Before + 1) << Fault;
  }
}

TEST_P(Ways, LimitsAreWaitedFor) {
  expectAnswer(call("limited"), 3);
  Outcome O = call("retry-after");
  expectAnswer(O, 2);
  EXPECT_GE(O.Seconds, 1);
  expectFault(call("limited-for-ever"), ProviderFault::Limited,
              "status 429: slow down (4 attempts)");
  // Hours do not fit into the call's time: nobody waits for nothing.
  O = call("retry-after-hours");
  expectFault(O, ProviderFault::Limited, "another attempt after 7200");
  EXPECT_LT(O.Seconds, 9);
}

TEST_P(Ways, ServersFaultsAreRepeated) {
  expectAnswer(call("broken"), 3);
  expectFault(call("broken-for-ever"), ProviderFault::Server, "status 503");
}

TEST_P(Ways, RedirectsAreNotFollowed) {
  expectFault(call("redirect"), ProviderFault::Redirect, "it redirects to");
  EXPECT_EQ(requestsTo("stolen"), 0u);
}

TEST_P(Ways, HugeAnswersAreBound) {
  expectFault(call("huge"), ProviderFault::TooLarge, "more than 1000000 bytes");
  expectFault(call("huge-line"), ProviderFault::TooLarge, "more than");
  expectFault(call("huge-error", "retries=0"), ProviderFault::Server, "500");
  expectFault(call("headers", "retries=0"), ProviderFault::Malformed,
              "an endless header");
}

TEST_P(Ways, BrokenUtf8IsMended) {
  Outcome O = call("utf8");
  ASSERT_TRUE(O.A) << O.F.Text;
  EXPECT_TRUE(json::isUTF8(O.A->Text));
  Expected<json::Value> V = json::parse(O.A->Text);
  ASSERT_TRUE(static_cast<bool>(V)) << O.A->Text;
  EXPECT_EQ(*V->getAsObject()->getString("greeting"),
            "h\xef\xbf\xbd\xef\xbf\xbd");
}

TEST_P(Ways, LimitOfTokens) {
  Outcome O = call("length", "schema=none,max-tokens=500");
  ASSERT_TRUE(O.A) << O.F.Text;
  EXPECT_EQ(O.A->Finish, "length");
  EXPECT_EQ(O.A->Attempts, 1u);
  // 500, 2,000, 6,000: each was paid for.
  O = call("length", "schema=none,max-tokens=6000");
  ASSERT_TRUE(O.A) << O.F.Text;
  EXPECT_EQ(O.A->Finish, "length");
  EXPECT_EQ(O.A->Attempts, 3u);
  EXPECT_EQ(O.A->Limit, 6000u);
  EXPECT_EQ(O.A->PromptTokens, 33u);
}

/// Thoughts count as the answer, and must leave room for it.
TEST_P(Ways, ThoughtsGetRoom) {
  Outcome O = call("thinks");
  ASSERT_TRUE(O.A) << O.F.Text;
  EXPECT_EQ(O.A->Finish, "stop");
  EXPECT_EQ(O.A->Attempts, 3u);
  EXPECT_EQ(O.A->Limit, 8000u);
  EXPECT_EQ(O.A->AnswerTokens, 500u + 2000u + 3007u);
  EXPECT_GT(O.A->ThinkingTokens, 0u);
  // Room from the first: nothing is asked twice.
  O = call("thinks", "thinking-tokens=4000,effort=high");
  ASSERT_TRUE(O.A) << O.F.Text;
  EXPECT_EQ(O.A->Attempts, 1u);
  EXPECT_EQ(O.A->Limit, 4500u);
  EXPECT_EQ(O.A->Effort, "high");
  // 32,000 are refused, and 16,000 not enough: what was cut off is the answer.
  O = call("thinks-too-long");
  ASSERT_TRUE(O.A) << O.F.Text;
  EXPECT_EQ(O.A->Finish, "length");
  EXPECT_EQ(O.A->Limit, 16000u);
}

TEST_P(Ways, EffortIsSent) {
  call("ok", "effort=low");
  std::string Log = ScriptedServer::get().log();
  StringRef Last = StringRef(Log).rtrim().rsplit('\n').second;
  if (StringRef(GetParam().first) == "openai") {
    EXPECT_NE(Last.find("\"reasoning_effort\": \"low\""), StringRef::npos);
  } else {
    EXPECT_NE(Last.find("\"output_config\": {\"effort\": \"low\"}"),
              StringRef::npos);
    EXPECT_NE(Last.find("\"tool_choice\": {\"type\": \"auto\"}"),
              StringRef::npos);
  }
}

TEST_P(Ways, KeysAreTakenOutOfAnswers) {
  Outcome O = call("echo");
  ASSERT_TRUE(O.A) << O.F.Text;
  EXPECT_NE(O.A->Text.find("[key]"), std::string::npos) << O.A->Text;
  EXPECT_EQ(O.A->Text.find("Secret"), std::string::npos) << O.A->Text;
}

INSTANTIATE_TEST_SUITE_P(
    All, Ways,
    testing::Values(std::pair("openai", "yes"), std::pair("openai", "no"),
                    std::pair("anthropic", "yes"),
                    std::pair("anthropic", "no")),
    [](const testing::TestParamInfo<Ways::ParamType> &I) {
      return std::string(I.param.first) +
             (StringRef(I.param.second) == "yes" ? "Streamed" : "Whole");
    });

TEST(Faults, WhatCameWholeIsNotLost) {
  for (const char *Kind : {"openai", "anthropic"}) {
    expectAnswer(call("cut-late", "", Kind));
    Outcome O = call("hang-late", "", Kind);
    expectAnswer(O);
    EXPECT_LT(O.Seconds, 9); // The end was not waited for.
    O = call("no-done", "", Kind);
    expectAnswer(O);
    EXPECT_LT(O.Seconds, 9);
    expectAnswer(call("crlf", "", Kind));
  }
}

TEST(Faults, ErrorsInStreams) {
  expectFault(call("stream-error", "retries=1"), ProviderFault::Server,
              "Overloaded");
  expectFault(call("stream-refusal", ""), ProviderFault::Refused,
              "prompt is too long", 2);
}

TEST(Faults, RetryAfterADate) {
  Outcome O = call("retry-after-date", "");
  expectAnswer(O, 2);
  EXPECT_GE(O.Seconds, 0.9);
}

TEST(Faults, NoUsageIsEstimated) {
  Outcome O = call("no-usage", "stream=no");
  ASSERT_TRUE(O.A) << O.F.Text;
  EXPECT_TRUE(O.A->TokensEstimated);
  EXPECT_GT(O.A->PromptTokens, 0u);
  EXPECT_GT(O.A->AnswerTokens, 0u);
}

TEST(Faults, NobodyListens) {
  Outcome O = call("openai:http://127.0.0.1:1/v1,model=m,retries=0");
  expectFault(O, ProviderFault::Connection, "is the server running");
}

namespace {
/// The last request that the server got.
json::Object lastRequest() {
  SmallVector<StringRef> Lines;
  std::string Log = ScriptedServer::get().log();
  StringRef(Log).trim().split(Lines, '\n');
  return *cantFail(json::parse(Lines.back())).getAsObject();
}
} // namespace

TEST(Faults, TheWireOfOpenAI) {
  ASSERT_TRUE(call("ok", "temperature=0.5").A);
  json::Object Got = lastRequest();
  const json::Object *Body = Got.getObject("body");
  EXPECT_EQ(Got.getObject("headers")->getString("Authorization"),
            std::string("Bearer ") + ScriptedServer::Key);
  EXPECT_EQ(Body->getString("model"), "scripted");
  EXPECT_EQ(Body->getNumber("temperature"), 0.5);
  EXPECT_EQ(Body->getInteger("max_completion_tokens"), 500);
  EXPECT_FALSE(Body->get("max_tokens"));
  const json::Array &Messages = *Body->getArray("messages");
  ASSERT_EQ(Messages.size(), 2u);
  EXPECT_EQ(Messages[0].getAsObject()->getString("role"), "system");
  EXPECT_EQ(Messages[1].getAsObject()->getString("content"),
            "Greet in JSON: \"\\ \xc3\xa4 \n");
  const json::Object *Format = Body->getObject("response_format");
  EXPECT_EQ(Format->getString("type"), "json_schema");
  EXPECT_EQ(*Format->getObject("json_schema")->get("schema"),
            *sampleRequest().Schema);
  ASSERT_TRUE(call("ok", "schema=json_object,limit-field=max_tokens").A);
  Got = lastRequest();
  Body = Got.getObject("body");
  EXPECT_EQ(Body->getObject("response_format")->getString("type"),
            "json_object");
  EXPECT_EQ(Body->getInteger("max_tokens"), 500);
  // No field has the schema: the text does.
  auto System = [&] {
    return (*Body->getArray("messages"))[0].getAsObject()->getString("content");
  };
  EXPECT_TRUE(System()->starts_with("Be short.\n\nThe JSON schema"));
  EXPECT_TRUE(System()->contains("\"additionalProperties\": false"));
  ASSERT_TRUE(call("ok", "schema=none").A);
  Got = lastRequest();
  Body = Got.getObject("body");
  EXPECT_TRUE(System()->contains("\"additionalProperties\": false"));
  EXPECT_FALSE(Body->get("response_format"));
  ASSERT_TRUE(call("ok", "key=none").A);
  EXPECT_FALSE(lastRequest().getObject("headers")->get("Authorization"));
}

TEST(Faults, TheWireOfAnthropic) {
  ASSERT_TRUE(call("ok", "", "anthropic").A);
  json::Object Got = lastRequest();
  const json::Object *Body = Got.getObject("body");
  EXPECT_EQ(Got.getObject("headers")->getString("x-api-key"),
            ScriptedServer::Key);
  EXPECT_EQ(Got.getObject("headers")->getString("anthropic-version"),
            "2023-06-01");
  EXPECT_EQ(Body->getString("system"), "Be short.");
  EXPECT_EQ(Body->getObject("tool_choice")->getString("name"), "answer");
  EXPECT_EQ(Body->getInteger("max_tokens"), 500);
  ASSERT_TRUE(call("ok", "schema=none", "anthropic").A);
  Got = lastRequest();
  EXPECT_TRUE(Got.getObject("body")->getString("system")->contains("schema"));
  EXPECT_FALSE(Got.getObject("body")->get("tools"));
}

TEST(Faults, ProxiesGetNoLocalRequests) {
  std::string Proxy = "http://127.0.0.1:" + ScriptedServer::get().Port;
  // This host exists nowhere: only the proxy can answer.
  setenv("http_proxy", Proxy.c_str(), 1);
  Outcome O =
      call("openai:http://model.invalid/ok/proxied/v1,model=m,retries=0");
  EXPECT_TRUE(O.A) << O.F.Text;
  EXPECT_EQ(lastRequest().getString("path"),
            "http://model.invalid/ok/proxied/v1/chat/completions");
  ASSERT_TRUE(call("ok", "").A);
  EXPECT_TRUE(lastRequest().getString("path")->starts_with("/ok/"));
  unsetenv("http_proxy");
}

TEST(Faults, AnotherStandsIn) {
  ScriptedServer &Server = ScriptedServer::get();
  std::vector<std::string> Told;
  SessionOptions Options;
  Options.Notice = [&](StringRef Text) { Told.push_back(Text.str()); };
  auto S =
      openSession({"1000000*" + Server.spec("broken-for-ever", "retries=0"),
                   Server.spec("ok")},
                  Options);
  ASSERT_TRUE(S);
  Expected<ChatAnswer> A = S->ask(sampleRequest());
  ASSERT_TRUE(static_cast<bool>(A)) << toString(A.takeError());
  ASSERT_EQ(Told.size(), 1u);
  EXPECT_NE(Told[0].find("is used instead"), std::string::npos);
  // A wrong key is no fault of the moment.
  S = openSession({"1000000*" + Server.spec("unauthorized"), Server.spec("ok")},
                  Options);
  A = S->ask(sampleRequest());
  ASSERT_FALSE(static_cast<bool>(A));
  EXPECT_EQ(failureOf(A.takeError()).Fault, ProviderFault::Refused);
}

TEST(Faults, WeightsShareTheCalls) {
  ScriptedServer &Server = ScriptedServer::get();
  auto S = openSession({"3*" + Server.spec("ok", "model=heavy"),
                        Server.spec("ok", "model=light")});
  ASSERT_TRUE(S);
  unsigned Heavy = 0;
  for (unsigned I = 0; I < 200; ++I)
    Heavy += StringRef(S->describe(sampleRequest("g/" + utostr(I))))
                 .contains("heavy");
  EXPECT_GT(Heavy, 120u);
  EXPECT_LT(Heavy, 180u);
}

TEST(Faults, ManyCallsAtOnce) {
  auto S = openSession({ScriptedServer::get().spec("slow", "jobs=3,total=30")});
  ASSERT_TRUE(S);
  std::vector<std::thread> Threads;
  std::atomic<unsigned> Good = 0;
  for (unsigned I = 0; I < 12; ++I)
    Threads.emplace_back([&, I] {
      Expected<ChatAnswer> A = S->ask(sampleRequest("s" + utostr(I)));
      Good += static_cast<bool>(A);
      if (!A)
        consumeError(A.takeError());
    });
  for (std::thread &T : Threads)
    T.join();
  EXPECT_EQ(Good, 12u);
  EXPECT_EQ(S->spent().Calls, 12u);
  EXPECT_EQ(S->spent().PromptTokens, 132u);
}
