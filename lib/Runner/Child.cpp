//===- Child.cpp - A worker process, as the runner sees it -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Child.h"
#include "Wire.h"
#include "cupilot/Portable/Failure.h"
#include "cupilot/Runner/Files.h"
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using nlohmann::json;

namespace cupilot::runner {

// Making a context takes 0.2 s, and longer on a machine with many GPUs.
static constexpr int64_t StartMs = 60000;
// A driver needs seconds to stop a kernel that hangs.
static constexpr int EndSeconds = 60;

/// Milliseconds that a driver may take to report, beyond a run's own time. On
/// an H200 a misaligned access was reported after 6.6 seconds.
static int64_t reportMs() {
  const char *Text = std::getenv("CUPILOT_RUNNER_REPORT_MS");
  char *End = nullptr;
  int64_t Given = Text ? std::strtoll(Text, &End, 10) : -1;
  return Text && End != Text && !*End && Given >= 0 ? Given : 12000;
}

Child::Child(const std::string &Program, int Device,
             const std::string &Diagnostics)
    : Diagnostics(Diagnostics), Greeting(std::make_unique<json>()) {
  int Ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, Ends) != 0)
    throw Failure(FailureKind::WorkerLost,
                  std::string("no connection to a worker: ") +
                      std::strerror(errno));
  // What kernels print is nobody's result; asserts are kept for the message.
  posix_spawn_file_actions_t Actions;
  ::posix_spawn_file_actions_init(&Actions);
  ::posix_spawn_file_actions_addopen(&Actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&Actions, 1, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&Actions, 2, Diagnostics.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_adddup2(&Actions, Ends[1], WorkerDescriptor);
  std::string Name = Program, Flag = "--worker";
  char *Arguments[] = {Name.data(), Flag.data(), nullptr};
  int Error = ::posix_spawn(&Pid, Program.c_str(), &Actions, nullptr, Arguments,
                            environ);
  ::posix_spawn_file_actions_destroy(&Actions);
  ::close(Ends[1]);
  FD = Ends[0];
  if (Error != 0) {
    Pid = -1;
    ::close(FD);
    throw Failure(FailureKind::WorkerLost,
                  "'" + Program +
                      "' cannot be started: " + std::strerror(Error));
  }
  json Open = {{"do", "open"}};
  if (Device >= 0)
    Open["device"] = Device;
  try {
    *Greeting = ask(Open, StartMs);
  } catch (...) {
    end();
    throw;
  }
}

Child::~Child() { end(); }

const json &Child::greeting() const { return *Greeting; }

void Child::end() {
  if (FD >= 0)
    ::close(FD);
  FD = -1;
  if (Pid < 0)
    return;
  ::kill(Pid, SIGKILL);
  // Its memory on the GPU is free only when it is gone.
  for (int Tick = 0; Tick < EndSeconds * 100; ++Tick) {
    pid_t Done = ::waitpid(Pid, nullptr, WNOHANG);
    if (Done == Pid || (Done < 0 && errno == ECHILD))
      break;
    std::this_thread::sleep_for(std::chrono::milliseconds(Tick < 50 ? 1 : 10));
  }
  Pid = -1;
}

std::string Child::lastWords() const {
  try {
    std::string Text = readWhole(Diagnostics);
    while (!Text.empty() && Text.back() == '\n')
      Text.pop_back();
    return Text.substr(Text.size() - std::min<size_t>(Text.size(), 300));
  } catch (const Failure &) {
    return "";
  }
}

json Child::ask(const json &Message, int64_t TimeoutMs, int64_t RunMs) {
  json Answer;
  Received R = Received::Closed;
  if (FD >= 0 && sendMessage(FD, Message))
    R = receiveMessage(FD, Answer, TimeoutMs);
  int64_t Waited = TimeoutMs;
  while (R == Received::Message && Answer.contains("progress")) {
    Waited = Answer["progress"] == "running" ? RunMs : TimeoutMs;
    R = receiveMessage(FD, Answer, Waited);
  }
  if (R == Received::Late) {
    // A driver may need seconds to tell of a fault that stopped a kernel at
    // once. What comes now is heard only if it is a failure: a run that ends
    // after its time is late all the same.
    json Late;
    if (receiveMessage(FD, Late, reportMs()) == Received::Message &&
        !Late.contains("progress") && !Late.value("ok", false)) {
      end();
      throw Failure(failureKindOf(Late.value("reason", "")),
                    Late.value("message", ""));
    }
    end();
    throw Failure(FailureKind::Timeout,
                  "nothing came back within " + std::to_string(Waited) + " ms");
  }
  if (R == Received::Closed) {
    end();
    std::string Words = lastWords();
    throw Failure(FailureKind::WorkerLost,
                  "the worker process died" +
                      (Words.empty() ? "" : ": " + Words));
  }
  if (Answer.value("ok", false))
    return Answer;
  std::string Text = Answer.value("message", "");
  end();
  const FailureKind Kind = failureKindOf(Answer.value("reason", ""));
  if (Kind == FailureKind::Assert)
    if (std::string Words = lastWords(); !Words.empty())
      Text += ": " + Words;
  throw Failure(Kind, Text);
}

} // namespace cupilot::runner
