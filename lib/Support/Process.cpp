//===- Process.cpp - Running other programs -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Support/Process.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/File.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <cstdlib>

extern "C" char **environ;

using namespace llvm;

namespace cupilot {

Expected<ProcessResult> runProcess(ArrayRef<std::string> Args,
                                   unsigned TimeoutSeconds,
                                   ArrayRef<std::string> Environment,
                                   unsigned MemoryMiB) {
  ErrorOr<std::string> Program = sys::findProgramByName(Args.front());
  if (!Program)
    return resourceError("cannot run '" + Twine(Args.front()) +
                         "': " + Program.getError().message());
  Expected<TemporaryDirectory> Dir = TemporaryDirectory::create("cupilot-run");
  if (!Dir)
    return Dir.takeError();
  std::string OutPath = Dir->file("out"), ErrPath = Dir->file("err");
  std::optional<StringRef> Redirects[] = {StringRef(""), StringRef(OutPath),
                                          StringRef(ErrPath)};

  std::optional<SmallVector<StringRef, 0>> Env;
  if (!Environment.empty()) {
    Env.emplace();
    for (char **Var = environ; *Var; ++Var) {
      StringRef Name = StringRef(*Var).split('=').first;
      if (none_of(Environment,
                  [&](StringRef New) { return New.split('=').first == Name; }))
        Env->push_back(*Var);
    }
    for (const std::string &New : Environment)
      Env->push_back(New);
  }

  SmallVector<StringRef, 16> Argv(Args.begin(), Args.end());
  std::string Message;
  std::optional<ArrayRef<StringRef>> EnvRef;
  if (Env)
    EnvRef = ArrayRef<StringRef>(*Env);
  ProcessResult Result;
  Result.Status = sys::ExecuteAndWait(*Program, Argv, EnvRef, Redirects,
                                      TimeoutSeconds, MemoryMiB, &Message);
  if (Result.Status == -1)
    return resourceError("cannot run '" + Twine(Args.front()) +
                         "': " + Message);
  Result.TimedOut =
      Result.Status == -2 && StringRef(Message).contains("timed out");
  for (auto [Path, Text] :
       {std::pair(&OutPath, &Result.Out), {&ErrPath, &Result.Err}}) {
    Expected<std::string> Content = readFile(*Path);
    if (!Content)
      return Content.takeError();
    *Text = std::move(*Content);
  }
  return Result;
}

ProcessDeadline::ProcessDeadline(unsigned Seconds) {
  if (Seconds == 0)
    return;
  sigevent Event = {};
  Event.sigev_notify = SIGEV_SIGNAL;
  Event.sigev_signo = Signal;
  timer_t Made;
  // Without a timer there is no limit, which is no reason to fail.
  if (::timer_create(CLOCK_MONOTONIC, &Event, &Made) != 0)
    return;
  Timer = Made;
  itimerspec When = {};
  When.it_value.tv_sec = Seconds;
  ::timer_settime(Made, 0, &When, nullptr);
}

ProcessDeadline::~ProcessDeadline() {
  if (Timer)
    ::timer_delete(*Timer);
}

std::string shellQuoted(ArrayRef<std::string> Args) {
  auto Quote = [](StringRef Arg) {
    bool Plain = !Arg.empty() && all_of(Arg, [](char C) {
      return isAlnum(C) || StringRef("_-+=./:,@%").contains(C);
    });
    if (Plain)
      return Arg.str();
    std::string Quoted = "'";
    for (char C : Arg)
      Quoted += C == '\'' ? std::string("'\\''") : std::string(1, C);
    return Quoted + "'";
  };
  return join(map_range(Args, [&](const std::string &A) { return Quote(A); }),
              " ");
}

std::string installedPath(StringRef Name) {
  std::string Self = sys::fs::getMainExecutable(
      nullptr, reinterpret_cast<void *>(&installedPath));
  SmallString<256> Path(sys::path::parent_path(sys::path::parent_path(Self)));
  sys::path::append(Path, Name);
  return Path.str().str();
}

} // namespace cupilot
