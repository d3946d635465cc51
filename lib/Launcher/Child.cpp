//===- Child.cpp - The compiler as a child process -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Launcher/Child.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Program.h"
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

using namespace llvm;

namespace cupilot {

static constexpr int Forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static volatile sig_atomic_t Child = 0, Caught = 0;
static struct sigaction Before[std::size(Forwarded)];

static void forward(int Signal) {
  Caught = Signal;
  if (Child > 0)
    kill(static_cast<pid_t>(Child), Signal);
}

Expected<std::string> findProgram(StringRef Name) {
  ErrorOr<std::string> Path = sys::findProgramByName(Name);
  if (!Path)
    return resourceError("cannot run '" + Name +
                         "': " + Path.getError().message());
  return *Path;
}

namespace {
/// Arguments and environment as the system takes them.
struct Image {
  Image(ArrayRef<std::string> Command, ArrayRef<std::string> Changes) {
    for (const std::string &Arg : Command)
      Args.push_back(const_cast<char *>(Arg.c_str()));
    Args.push_back(nullptr);
    for (char **Var = environ; *Var; ++Var) {
      StringRef Name = StringRef(*Var).split('=').first;
      if (none_of(Changes, [&](StringRef Change) {
            return Change.split('=').first == Name;
          }))
        Environment.push_back(*Var);
    }
    for (const std::string &Change : Changes)
      if (StringRef(Change).contains('='))
        Environment.push_back(const_cast<char *>(Change.c_str()));
    Environment.push_back(nullptr);
  }
  std::vector<char *> Args, Environment;
};
} // namespace

Error replaceProcess(ArrayRef<std::string> Command,
                     ArrayRef<std::string> Environment) {
  Expected<std::string> Program = findProgram(Command.front());
  if (!Program)
    return Program.takeError();
  Image I(Command, Environment);
  execve(Program->c_str(), I.Args.data(), I.Environment.data());
  return resourceError("cannot run '" + Twine(*Program) +
                       "': " + std::strerror(errno));
}

Expected<ChildEnd> runChild(ArrayRef<std::string> Command,
                            ArrayRef<std::string> Environment) {
  Expected<std::string> Program = findProgram(Command.front());
  if (!Program)
    return Program.takeError();
  Image I(Command, Environment);
  pid_t Pid = 0;
  int Failed = posix_spawn(&Pid, Program->c_str(), nullptr, nullptr,
                           I.Args.data(), I.Environment.data());
  int Status = 0;
  if (!Failed) {
    Child = Pid;
    if (Caught)
      kill(Pid, Caught); // It came before the child was there.
    while (waitpid(Pid, &Status, 0) < 0 && errno == EINTR)
      ;
    Child = 0;
  }
  if (Failed)
    return resourceError("cannot run '" + Twine(*Program) +
                         "': " + std::strerror(Failed));
  ChildEnd End;
  if (WIFSIGNALED(Status))
    End.Signal = WTERMSIG(Status);
  else
    End.Status = WEXITSTATUS(Status);
  return End;
}

SignalGuard::SignalGuard() {
  for (auto [Signal, Old] : zip(Forwarded, Before)) {
    struct sigaction New = {};
    New.sa_handler = forward;
    sigaction(Signal, nullptr, &Old);
    if (Old.sa_handler != SIG_IGN)
      sigaction(Signal, &New, nullptr);
  }
}

SignalGuard::~SignalGuard() {
  for (auto [Signal, Old] : zip(Forwarded, Before))
    sigaction(Signal, &Old, nullptr);
}

int SignalGuard::caught() const { return Caught; }

void endBySignal(int Signal) {
  signal(Signal, SIG_DFL);
  raise(Signal);
  _exit(128 + Signal); // A signal that is blocked.
}

} // namespace cupilot
