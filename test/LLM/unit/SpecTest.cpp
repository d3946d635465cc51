//===- SpecTest.cpp - What --provider names -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <gtest/gtest.h>

#include "Http.h"
#include "ScriptedServer.h"
#include "cupilot/LLM/Secrets.h"

using namespace llvm;
using namespace cupilot;

static ProviderSpec good(StringRef Text) {
  Expected<ProviderSpec> S = ProviderSpec::parse(Text);
  if (S)
    return *S;
  ADD_FAILURE() << Text.str() << ": " << toString(S.takeError());
  return {};
}

static std::string refused(StringRef Text) {
  Expected<ProviderSpec> S = ProviderSpec::parse(Text);
  if (S) {
    ADD_FAILURE() << Text.str();
    return "";
  }
  Failure F = failureOf(S.takeError());
  EXPECT_EQ(F.Status, 2);
  return F.Text;
}

TEST(Spec, Kinds) {
  ProviderSpec S = good("openai,model=gpt-x");
  EXPECT_EQ(S.Where, "https://api.openai.com/v1");
  EXPECT_EQ(S.KeyVariable, "OPENAI_API_KEY");
  EXPECT_TRUE(S.KeyNeeded);
  EXPECT_TRUE(S.NewTokenLimit);
  EXPECT_EQ(S.name(), "openai gpt-x");
  S = good("2.5*anthropic,model=c,price=3/15,jobs=7,total=0");
  EXPECT_EQ(S.Weight, 2.5);
  EXPECT_EQ(S.Cost->Answer, 15);
  EXPECT_EQ(S.Jobs, 7u);
  EXPECT_GT(S.Total, 1e8);
  EXPECT_EQ(S.Schema, ProviderSpec::SchemaMode::Tool);
  S = good("vllm:http://localhost:9000/v1/,model=org/name:tag");
  EXPECT_EQ(S.Where, "http://localhost:9000/v1");
  EXPECT_EQ(S.Model, "org/name:tag");
  EXPECT_FALSE(S.KeyNeeded);
  S = good("exec:python3 ask.py --a=b,c:d");
  EXPECT_EQ(S.Where, "python3 ask.py --a=b,c:d");
  EXPECT_EQ(S.name(), "exec"); // A command may hold anything.
  S = good("exec,total=5:echo");
  EXPECT_EQ(S.Total, 5);
  EXPECT_EQ(good("spool:a/b,total=3").Where, "a/b");
  EXPECT_TRUE(good("replay:a,changed=stop").StopAtChange);
}

TEST(Spec, KeysGoWhereTheyBelong) {
  // OpenAI's key is not for others, unless the user says so.
  EXPECT_EQ(good("openai:https://else.example/v1,model=m").KeyVariable, "");
  EXPECT_EQ(good("openai:https://else.example/v1,model=m,key=OPENAI_API_KEY")
                .KeyVariable,
            "OPENAI_API_KEY");
  EXPECT_EQ(good("openai:https://api.openai.com/v1,model=m").KeyVariable,
            "OPENAI_API_KEY");
}

TEST(Spec, NoErrorQuotesAKey) {
  for (const char *Text :
       {"openai,model=m,key=sk-Secret123456", "openai,model=m,sk-Secret123456",
        "openai:https://user:Secret@host/v1,model=m",
        "openai:https://host/v1?api_key=Secret123,model=m", "sk-Secret123456",
        "openai,model=m,kye=Secret123", "openai,model=m,total=Secret1"}) {
    std::string Message = refused(Text);
    EXPECT_EQ(Message.find("Secret"), std::string::npos) << Message;
  }
}

TEST(Spec, WrongUse) {
  for (auto [Text, Words] :
       {std::pair("openia,model=m", "unknown kind of provider"),
        {"openai", "no model was given"},
        {"openai,model=", "model= takes"},
        {"openai,model=m,jobs=0", "from 1 to 1000"},
        {"openai,model=m,stream=maybe", "yes or no"},
        {"openai,model=m,inactivity=-1", "seconds"},
        {"openai,model=m,inactivity=nan", "seconds"},
        {"openai,model=m,price=3", "PROMPT/ANSWER"},
        {"openai,model=m,schema=tool", "json_schema, json_object or none"},
        {"anthropic,model=m,schema=json_schema", "tool or none"},
        {"openai:ftp://host,model=m", "not an http://"},
        {"openai:http:///v1,model=m", "does not name a host"},
        {"exec:", "does not name a command"},
        {"spool:", "does not name a folder"},
        {"replay", "does not name a folder"},
        {"0*openai,model=m", "weight"},
        {"x*openai,model=m", "unknown kind of provider"}})
    EXPECT_NE(refused(Text).find(Words), std::string::npos)
        << Text << ": " << refused(Text);
}

static std::string notOpened(SessionOptions Options) {
  auto S = Session::open(Options);
  if (S) {
    ADD_FAILURE() << "opened";
    return "";
  }
  Failure F = failureOf(S.takeError());
  EXPECT_EQ(F.Status, 2);
  return F.Text;
}

TEST(Spec, SessionsThatCannotBe) {
  auto Expect = [](SessionOptions O, const char *Words) {
    std::string Text = notOpened(std::move(O));
    EXPECT_NE(Text.find(Words), std::string::npos) << Text;
  };
  unsetenv("CUPILOT_NO_KEY");
  Expect({}, "no provider was given");
  Expect({.Providers = {"openai,model=m,key=CUPILOT_NO_KEY"}},
         "CUPILOT_NO_KEY is not set");
  setenv("CUPILOT_NO_KEY", "  \n", 1);
  Expect({.Providers = {"openai,model=m,key=CUPILOT_NO_KEY"}}, "is not set");
  setenv("CUPILOT_NO_KEY", "Secret\r\nX-Evil: 1", 1);
  Expect({.Providers = {"openai,model=m,key=CUPILOT_NO_KEY"}}, "is not a key");
  EXPECT_EQ(notOpened({.Providers = {"openai,model=m,key=CUPILOT_NO_KEY"}})
                .find("Secret"),
            std::string::npos);
  setenv("CUPILOT_NO_KEY", "SecretSecret", 1);
  Expect({.Providers = {"openai:http://far.example/v1,model=m,key=CUPILOT_NO_"
                        "KEY"}},
         "without encryption");
  Expect({.Providers = {"exec:true"}, .Limits = {.Calls = 0}}, "budget of 0");
  Expect({.Providers = {"exec:true"}, .Limits = {.Tokens = 0}}, "budget of 0");
  Expect({.Providers = {"exec:true"}, .Limits = {.Cost = 0.0}}, "budget of 0");
  Expect({.Providers = {"exec:true"}, .Limits = {.Cost = 1.0}},
         "no price for exec");
  Expect({.Providers = {"replay:/nowhere"}}, "there is no recording");
  Expect({.Providers = {"replay:/nowhere", "exec:true"}}, "cannot be combined");
}

TEST(Spec, RetryAfter) {
  EXPECT_EQ(parseRetryAfter("120"), 120);
  EXPECT_EQ(parseRetryAfter(" 0.5 "), 0.5);
  EXPECT_EQ(parseRetryAfter("Thu, 01 Jan 1970 00:00:10 GMT"), 0);
  EXPECT_EQ(parseRetryAfter("soon"), std::nullopt);
  EXPECT_EQ(parseRetryAfter(""), std::nullopt);
  EXPECT_EQ(parseRetryAfter("-5"), std::nullopt);
}

TEST(Spec, Scrubbing) {
  Secrets S;
  S.add("ab/cd+\"ef\"12");
  S.add("none"); // No key.
  EXPECT_EQ(S.scrub("x ab/cd+\"ef\"12 ab%2Fcd%2B%22ef%2212 "
                    "ab/cd+\\\"ef\\\"12 ab\\/cd+\\\"ef\\\"12 none"),
            "x [key] [key] [key] [key] none");
  EXPECT_EQ(excerpt("  a\n\tb\x01\xff ", 20), "a b \xef\xbf\xbd");
  EXPECT_EQ(excerpt("abcdef", 3), "abcd...");
}

TEST(Spec, RoomForAnswers) {
  ProviderSpec S = good("openai,model=m");
  EXPECT_EQ(S.firstTokens("sce-manager", 8192), 8192u);
  EXPECT_EQ(S.mostTokens("sce-manager"), 65536u);
  S = good("openai,model=m,effort=high,max-tokens=30000,"
           "max-tokens=strategy-translator:100000");
  EXPECT_EQ(S.firstTokens("sce-manager", 8192), 30000u);
  EXPECT_EQ(S.firstTokens("strategy-translator", 16384), 16384u + 32768u);
  EXPECT_EQ(S.mostTokens("strategy-translator"), 100000u);
  S = good("anthropic,model=m,effort=low,thinking-tokens=0");
  EXPECT_EQ(S.firstTokens("sce-manager", 8192), 8192u);
  refused("openai,model=m,max-tokens=");
  refused("openai,model=m,max-tokens=A:5");
  refused("openai,model=m,max-tokens=translator:many");
  refused("openai,model=m,effort=HIGH");
  refused("spool:a,effort=high");
}
