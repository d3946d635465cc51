//===- ScriptedServer.h - A model's interface with scripted faults -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_TEST_LLM_SCRIPTEDSERVER_H
#define CUPILOT_TEST_LLM_SCRIPTEDSERVER_H

#include "cupilot/LLM/Session.h"
#include "cupilot/Support/File.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

extern "C" char **environ;

/// The server of Inputs/server.py, one for the process.
class ScriptedServer {
public:
  static constexpr const char *Key = "sk-Very/Secret+Key=0123456789";

  static ScriptedServer &get() {
    static ScriptedServer Server;
    return Server;
  }
  /// For --provider: OpenAI's protocol with that fault, short times. Options
  /// that come later win.
  std::string spec(llvm::StringRef Fault, llvm::StringRef Options = "",
                   llvm::StringRef Kind = "openai") {
    return (Kind + ":http://127.0.0.1:" + Port + "/" + Fault + "/" +
            llvm::Twine(++Number) +
            "/v1,model=scripted,key=CUPILOT_TEST_KEY,backoff=0.02,inactivity="
            "0.3,total=5,retries=3,max-bytes=1000000," +
            Options)
        .str();
  }
  /// The requests so far, one JSON object a line.
  std::string log() {
    llvm::Expected<std::string> Text = cupilot::readFile(Log);
    if (Text)
      return *Text;
    llvm::consumeError(Text.takeError());
    return "";
  }
  std::string Port;
  std::string Folder;

private:
  ScriptedServer() {
    setenv("CUPILOT_TEST_KEY", Key, 1);
    llvm::SmallString<128> Path;
    llvm::sys::fs::createUniqueDirectory("cupilot-llm-test", Path);
    Folder = Path.str().str();
    Log = Folder + "/log";
    std::string PortFile = Folder + "/port", Python = TEST_PYTHON,
                Script = TEST_SERVER;
    char *Args[] = {Python.data(), Script.data(), PortFile.data(), Log.data(),
                    nullptr};
    // Its parent's sanitizer is none of its business.
    std::vector<char *> Environment;
    for (char **V = environ; *V; ++V)
      if (!llvm::StringRef(*V).starts_with("LD_PRELOAD="))
        Environment.push_back(*V);
    Environment.push_back(nullptr);
    posix_spawn(&Child, TEST_PYTHON, nullptr, nullptr, Args,
                Environment.data());
    for (int I = 0; I < 600 && Port.empty(); ++I) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      if (llvm::sys::fs::exists(PortFile))
        Port = llvm::cantFail(cupilot::readFile(PortFile));
    }
  }
  ~ScriptedServer() {
    kill(Child, SIGKILL);
    waitpid(Child, nullptr, 0);
    llvm::sys::fs::remove_directories(Folder);
  }
  pid_t Child = 0;
  std::string Log;
  unsigned Number = 0;
};

/// A session with these providers; fails the test when there is none.
inline std::unique_ptr<cupilot::Session>
openSession(std::vector<std::string> Providers,
            cupilot::SessionOptions Options = {}) {
  Options.Providers = std::move(Providers);
  auto S = cupilot::Session::open(Options);
  if (!S) {
    ADD_FAILURE() << llvm::toString(S.takeError());
    return nullptr;
  }
  return std::move(*S);
}

inline cupilot::ChatRequest sampleRequest(std::string Step = "") {
  cupilot::ChatRequest R;
  R.System = "Be short.";
  R.Messages.push_back(
      {cupilot::ChatMessage::Role::User, "Greet in JSON: \"\\ \xc3\xa4 \n"});
  R.Schema = llvm::json::Object{
      {"type", "object"},
      {"properties",
       llvm::json::Object{{"greeting", llvm::json::Object{{"type", "string"}}},
                          {"count", llvm::json::Object{{"type", "integer"}}}}},
      {"required", llvm::json::Array{"greeting", "count"}},
      {"additionalProperties", false}};
  R.MaxTokens = 500;
  R.Step = std::move(Step);
  return R;
}

/// What a call failed with.
struct Failure {
  std::optional<cupilot::ProviderFault> Fault;
  int Status = 0;
  std::string Text;
};
inline Failure failureOf(llvm::Error E) {
  Failure F;
  llvm::handleAllErrors(
      std::move(E),
      [&](const cupilot::ProviderError &P) {
        F = {P.fault(), static_cast<int>(P.code()),
             P.text() + " | " + P.hint()};
      },
      [&](const cupilot::ToolError &T) {
        F = {std::nullopt, static_cast<int>(T.code()),
             T.text() + " | " + T.hint()};
      });
  return F;
}

#endif // CUPILOT_TEST_LLM_SCRIPTEDSERVER_H
