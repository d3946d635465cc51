//===- LocalEndpointsTest.cpp - Commands and spool folders -*- C++ -*-===//
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
class Local : public testing::Test {
protected:
  void SetUp() override {
    SmallString<128> Path;
    sys::fs::createUniqueDirectory("cupilot-local-test", Path);
    Folder = Path.str().str();
  }
  void TearDown() override { sys::fs::remove_directories(Folder); }
  Expected<ChatAnswer> ask(const std::string &Spec) {
    auto S = openSession({Spec});
    if (!S)
      return createStringError("not opened");
    return S->ask(sampleRequest("g1/c2"));
  }
  Failure failure(const std::string &Spec) {
    return failureOf(ask(Spec).takeError());
  }
  std::string Folder;
};
} // namespace

TEST_F(Local, ACommandGetsThePromptAndAnswers) {
  Expected<ChatAnswer> A = ask("exec:cat; echo \"$CUPILOT_REQUEST\" >&2");
  ASSERT_TRUE(static_cast<bool>(A)) << toString(A.takeError());
  EXPECT_TRUE(StringRef(A->Text).starts_with("Be short.\n\nGreet in JSON"))
      << A->Text;
  EXPECT_NE(A->Text.find("\"additionalProperties\": false"), std::string::npos);
  EXPECT_TRUE(A->TokensEstimated);
  A = ask("exec:python3 -c \"import json,os; "
          "print(json.load(open(os.environ['CUPILOT_REQUEST']))['system'])\"");
  ASSERT_TRUE(static_cast<bool>(A)) << toString(A.takeError());
  EXPECT_EQ(A->Text, "Be short.\n");
}

TEST_F(Local, CommandsThatFail) {
  Failure F = failure("exec:echo oh dear >&2; exit 7");
  EXPECT_EQ(F.Fault, ProviderFault::NoAnswer);
  EXPECT_NE(F.Text.find("(status 7): oh dear"), std::string::npos) << F.Text;
  EXPECT_NE(failure("exec:kill -9 $$").Text.find("signal 9"),
            std::string::npos);
  F = failure("exec:/nowhere/program");
  EXPECT_NE(F.Text.find("status 127"), std::string::npos) << F.Text;
  // What a command says of its environment stays there.
  setenv("CUPILOT_TEST_SECRET", "VerySecretValue", 1);
  F = failure("exec:echo \"bad $CUPILOT_TEST_SECRET\" >&2; exit 1");
  EXPECT_NE(F.Text.find("bad [key]"), std::string::npos) << F.Text;
  unsetenv("CUPILOT_TEST_SECRET");
}

TEST_F(Local, CommandsAreBound) {
  auto Start = std::chrono::steady_clock::now();
  EXPECT_EQ(failure("exec,total=0.3:sleep 60").Fault, ProviderFault::OutOfTime);
  EXPECT_EQ(failure("exec,inactivity=0.3,retries=0:echo a; sleep 60").Fault,
            ProviderFault::Inactive);
  EXPECT_EQ(failure("exec,max-bytes=1000:yes").Fault, ProviderFault::TooLarge);
  // Its children end with it, and so does what closed its output only.
  std::string Left = Folder + "/left";
  Failure F = failure("exec,total=5:exec >&-; sleep 30; echo x > " + Left);
  EXPECT_NE(F.Text.find("did not exit"), std::string::npos) << F.Text;
  EXPECT_LT(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - Start)
          .count(),
      10);
  EXPECT_FALSE(sys::fs::exists(Left));
}

TEST_F(Local, ASpoolWaitsAndFindsAnswers) {
  std::string Spec = "spool:" + Folder + "/spool,total=0.4";
  Failure F = failure(Spec);
  EXPECT_EQ(F.Fault, ProviderFault::NoAnswer);
  EXPECT_NE(F.Text.find("g1-c2.answer.txt"), std::string::npos) << F.Text;
  EXPECT_NE(F.Text.find("--resume"), std::string::npos);
  std::string Prompt = cantFail(readFile(Folder + "/spool/g1-c2.prompt.txt"));
  EXPECT_TRUE(StringRef(Prompt).starts_with("Be short."));
  // Another process answers, in two steps; the first is not taken for all.
  std::string Path = Folder + "/spool/g1-c2.answer.txt";
  std::thread Writer([&] {
    std::string Part;
    for (StringRef Piece : {"{\"greeting\": ", "\"a\", ", "\"count\": 1}"}) {
      std::this_thread::sleep_for(std::chrono::milliseconds(150));
      Part += Piece;
      int FD = -1;
      cantFail(errorCodeToError(sys::fs::openFileForWrite(Path, FD)));
      raw_fd_ostream(FD, true) << Part;
    }
  });
  Expected<ChatAnswer> A = ask("spool:" + Folder + "/spool,total=20");
  Writer.join();
  ASSERT_TRUE(static_cast<bool>(A)) << toString(A.takeError());
  EXPECT_EQ(A->Text, "{\"greeting\": \"a\", \"count\": 1}");
  // A run that was killed finds it again, without a wait.
  A = ask(Spec);
  ASSERT_TRUE(static_cast<bool>(A)) << toString(A.takeError());
}
