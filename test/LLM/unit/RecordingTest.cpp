//===- RecordingTest.cpp - Answers kept and replayed -*- C++ -*-===//
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
class Recordings : public testing::Test {
protected:
  void SetUp() override {
    SmallString<128> Path;
    sys::fs::createUniqueDirectory("cupilot-recording-test", Path);
    Folder = Path.str().str();
  }
  void TearDown() override { sys::fs::remove_directories(Folder); }
  SessionOptions recording(bool Resume = false) {
    SessionOptions O;
    O.Record = Folder;
    O.Resume = Resume;
    O.Notice = [this](StringRef Text) { Told += Text.str() + "\n"; };
    return O;
  }
  /// All files of the folder in one text.
  std::string files() {
    std::string All;
    std::error_code EC;
    for (sys::fs::recursive_directory_iterator It(Folder, EC), End; It != End;
         It.increment(EC))
      if (sys::path::extension(It->path()) == ".json")
        All += cantFail(readFile(It->path()));
    return All;
  }
  std::string Folder, Told;
};
} // namespace

TEST_F(Recordings, ReplayIsWhatWas) {
  ScriptedServer &Server = ScriptedServer::get();
  auto S = openSession({Server.spec("slow", "price=1/2")}, recording());
  ChatAnswer First = cantFail(S->ask(sampleRequest("a/1")));
  ChatAnswer NoStep = cantFail(S->ask(sampleRequest()));
  auto Bad = openSession({Server.spec("unauthorized")}, recording());
  std::string Failed =
      failureOf(Bad->ask(sampleRequest("a/2")).takeError()).Text;
  // No network: the server is not even named.
  S = openSession({"replay:" + Folder}, {.Notice = recording().Notice});
  EXPECT_EQ(cantFail(S->ask(sampleRequest("a/1"))), First);
  EXPECT_EQ(cantFail(S->ask(sampleRequest())), NoStep);
  Failure F = failureOf(S->ask(sampleRequest("a/2")).takeError());
  EXPECT_EQ(F.Fault, ProviderFault::Refused);
  EXPECT_EQ(F.Text, Failed);
  EXPECT_EQ(S->spent().Calls, 0u);
  EXPECT_EQ(Told, "");
  F = failureOf(S->ask(sampleRequest("a/3")).takeError());
  EXPECT_EQ(F.Fault, ProviderFault::NoAnswer);
  EXPECT_NE(F.Text.find("no answer to 'a/3'"), std::string::npos);
}

TEST_F(Recordings, NoKeyIsInThem) {
  ScriptedServer &Server = ScriptedServer::get();
  for (const char *Fault : {"echo", "unauthorized"})
    for (const char *Kind : {"openai", "anthropic"}) {
      auto S = openSession({Server.spec(Fault, "", Kind)}, recording());
      consumeError(
          S->ask(sampleRequest(std::string(Fault) + Kind)).takeError());
    }
  std::string All = files();
  EXPECT_NE(All.find("[key]"), std::string::npos);
  EXPECT_EQ(All.find("Secret"), std::string::npos) << All;
}

TEST_F(Recordings, ChangedPromptsAreTold) {
  auto S = openSession({ScriptedServer::get().spec("ok")}, recording());
  ChatAnswer First = cantFail(S->ask(sampleRequest("a/1")));
  ChatRequest Changed = sampleRequest("a/1");
  Changed.System = "Be very short.";
  S = openSession({"replay:" + Folder}, {.Notice = recording().Notice});
  EXPECT_EQ(cantFail(S->ask(Changed)), First);
  EXPECT_NE(Told.find("'a/1' would now be asked differently"),
            std::string::npos);
  EXPECT_NE(Told.find("-Be short.\n+Be very short.\n"), std::string::npos)
      << Told;
  S = openSession({"replay:" + Folder + ",changed=stop"});
  Failure F = failureOf(S->ask(Changed).takeError());
  EXPECT_EQ(F.Fault, ProviderFault::NoAnswer);
  EXPECT_NE(F.Text.find("+Be very short."), std::string::npos) << F.Text;
}

TEST_F(Recordings, AResumedRunAsksOnlyWhatIsNew) {
  ScriptedServer &Server = ScriptedServer::get();
  SessionOptions O = recording();
  O.Limits.Calls = 2;
  std::string Spec = Server.spec("ok");
  auto S = openSession({Spec}, O);
  cantFail(S->ask(sampleRequest("a/1")).takeError());
  cantFail(S->ask(sampleRequest("a/2")).takeError());
  size_t Before = StringRef(Server.log()).count('\n');
  O.Resume = true;
  O.Limits.Calls = 3;
  S = openSession({Spec}, O);
  EXPECT_EQ(S->spent().Calls, 2u); // The run's, not the process's.
  cantFail(S->ask(sampleRequest("a/1")).takeError());
  cantFail(S->ask(sampleRequest("a/2")).takeError());
  EXPECT_EQ(StringRef(Server.log()).count('\n'), Before);
  // Another request of that step is another question.
  ChatRequest Other = sampleRequest("a/2");
  Other.MaxTokens = 501;
  cantFail(S->ask(Other).takeError());
  EXPECT_EQ(StringRef(Server.log()).count('\n'), Before + 1);
  EXPECT_EQ(failureOf(S->ask(sampleRequest("a/4")).takeError()).Fault,
            ProviderFault::Budget);
  // What failed is asked again.
  O = recording(true);
  S = openSession({Server.spec("broken-for-ever", "retries=0")}, O);
  EXPECT_TRUE(errorToBool(S->ask(sampleRequest("a/9")).takeError()));
  S = openSession({Spec}, O);
  EXPECT_FALSE(errorToBool(S->ask(sampleRequest("a/9")).takeError()));
}

TEST_F(Recordings, AnyChannel) {
  json::Value Request = json::Object{{"batch", "b3:1"}, {"text", "a\nb\n"}};
  // Objects that look like the file's own form of lines stay what they are.
  json::Value Answer = json::Object{
      {"times", json::Array{1.5, 2, "x\n\ny"}},
      {"odd", json::Object{{"lines", json::Array{"p", "q"}}}},
      {"odder", json::Object{{"object", json::Object{{"lines", 1}}}}},
      {"deep", json::Object{{"lines", json::Array{"p\nq"}}}}};
  {
    auto R = cantFail(Recording::open(Folder, true));
    cantFail(R->put({"device", "g1/time", Request, Answer}));
    cantFail(R->put({"device", "", Request, 1}));
    cantFail(R->put({"device", "", Request, 2}));
    EXPECT_FALSE(R->find("llm", "g1/time", Request));
  }
  auto R = cantFail(Recording::open(Folder, false));
  EXPECT_EQ(R->size(), 3u);
  auto M = R->find("device", "g1/time", Request);
  ASSERT_TRUE(M);
  EXPECT_FALSE(M->Changed);
  EXPECT_EQ(M->Answer, Answer);
  // Without steps the same question has its answers in order.
  EXPECT_EQ(R->find("device", "", Request)->Answer, json::Value(1));
  EXPECT_EQ(R->unused("device").size(), 1u);
  EXPECT_EQ(R->find("device", "", Request)->Answer, json::Value(2));
  EXPECT_FALSE(R->find("device", "", Request));
  EXPECT_TRUE(R->unused("device").empty());
  EXPECT_TRUE(sys::fs::exists(Folder + "/device/g1-time.json"));
}

TEST_F(Recordings, BrokenOnesAreNamed) {
  {
    auto R = cantFail(Recording::open(Folder, true));
    cantFail(R->put({"device", "s", "what\nwas asked", "answer"}));
  }
  std::string Path = Folder + "/device/s.json", Good = cantFail(readFile(Path));
  auto Opened = [&](const std::string &Text) {
    cantFail(writeFileAtomic(Path, Text));
    auto R = Recording::open(Folder, false);
    if (R)
      return std::string();
    Failure F = failureOf(R.takeError());
    EXPECT_EQ(F.Status, 2);
    EXPECT_NE(F.Text.find(Path), std::string::npos) << F.Text;
    return F.Text;
  };
  EXPECT_EQ(Opened(Good), "");
  EXPECT_NE(Opened(""), "");
  EXPECT_NE(Opened("[]"), "");
  EXPECT_NE(Opened(Good.substr(0, Good.size() / 2)), "");
  std::string Other = Good;
  Other.replace(Other.find("was asked"), 3, "WAS");
  EXPECT_NE(Opened(Other).find("the digest of its request does not match"),
            std::string::npos);
  Other = Good;
  Other.replace(Other.find("\"format\": 1"), 11, "\"format\": 9");
  EXPECT_NE(Opened(Other).find("newer"), std::string::npos);
}

TEST(Recording, FileNames) {
  EXPECT_EQ(stepFileName("g1/c2/x_y.z", ""), "g1-c2-x_y.z");
  EXPECT_NE(stepFileName("a/b-c", ""), stepFileName("a-b/c", ""));
  for (const char *Odd : {"../../etc/passwd", ".hidden", "a b", "\xff\n"}) {
    std::string Name = stepFileName(Odd, "");
    EXPECT_EQ(Name.find('/'), std::string::npos);
    EXPECT_NE(Name.front(), '.');
  }
  EXPECT_LT(stepFileName(std::string(1000, 'x'), "").size(), 120u);
  EXPECT_NE(stepFileName(std::string(1000, 'x'), ""),
            stepFileName(std::string(1001, 'x'), ""));
}
