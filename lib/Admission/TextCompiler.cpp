//===- TextCompiler.cpp - Texts compiled in processes of their own -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Admission/TextCompiler.h"
#include "Parcel.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Process.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

using namespace llvm;

namespace cupilot {

namespace {
/// A running cupilot-compile.
class TextProcess {
public:
  static Expected<std::unique_ptr<TextProcess>> start();
  ~TextProcess();
  std::optional<Parcel> ask(const Parcel &Request);

private:
  pid_t Pid = -1;
  int In = -1, Out = -1; ///< Its standard input and output.
};
} // namespace

struct TextCompiler::Pool {
  std::mutex Mutex;
  std::vector<std::unique_ptr<TextProcess>> Idle;
};

static Expected<std::string> program() {
  std::string Beside = installedPath("bin/cupilot-compile");
  if (sys::fs::can_execute(Beside))
    return Beside;
  if (ErrorOr<std::string> Path = sys::findProgramByName("cupilot-compile"))
    return *Path;
  return resourceError("'" + Beside +
                           "' was not found: it compiles what is to be judged",
                       "install cuPilot as a whole");
}

Expected<std::unique_ptr<TextProcess>> TextProcess::start() {
  Expected<std::string> Program = program();
  if (!Program)
    return Program.takeError();
  // A write to a process that died must not end this one.
  static std::once_flag Once;
  std::call_once(Once, [] {
    struct sigaction Now;
    if (!::sigaction(SIGPIPE, nullptr, &Now) && Now.sa_handler == SIG_DFL)
      ::signal(SIGPIPE, SIG_IGN);
  });
  int To[2], From[2];
  if (::pipe2(To, O_CLOEXEC))
    return resourceError("no pipe to '" + *Program +
                         "': " + std::strerror(errno));
  if (::pipe2(From, O_CLOEXEC)) {
    ::close(To[0]);
    ::close(To[1]);
    return resourceError("no pipe to '" + *Program +
                         "': " + std::strerror(errno));
  }
  posix_spawn_file_actions_t Actions;
  ::posix_spawn_file_actions_init(&Actions);
  ::posix_spawn_file_actions_adddup2(&Actions, To[0], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&Actions, From[1], STDOUT_FILENO);
  // What compilers say there when they crash is nobody's.
  ::posix_spawn_file_actions_addopen(&Actions, STDERR_FILENO, "/dev/null",
                                     O_WRONLY, 0);
  std::string Flag = "--serve";
  char *Arguments[] = {Program->data(), Flag.data(), nullptr};
  auto Made = std::make_unique<TextProcess>();
  int Failed = ::posix_spawn(&Made->Pid, Program->c_str(), &Actions, nullptr,
                             Arguments, environ);
  ::posix_spawn_file_actions_destroy(&Actions);
  ::close(To[0]);
  ::close(From[1]);
  Made->In = To[1];
  Made->Out = From[0];
  if (Failed) {
    Made->Pid = -1;
    return resourceError("cannot run '" + *Program +
                         "': " + std::strerror(Failed));
  }
  return std::move(Made);
}

TextProcess::~TextProcess() {
  ::close(In);
  ::close(Out);
  // It ends where its input does.
  if (Pid > 0)
    while (::waitpid(Pid, nullptr, 0) < 0 && errno == EINTR)
      ;
}

std::optional<Parcel> TextProcess::ask(const Parcel &Request) {
  Parcel Answer;
  if (!sendParcel(In, Request) ||
      receiveParcel(Out, Answer, 0) != ParcelEnd::Whole)
    return std::nullopt;
  return Answer;
}

TextCompiler::TextCompiler(TextLimits Limits)
    : Servers(std::make_unique<Pool>()), Limits(Limits) {}

TextCompiler::~TextCompiler() = default;

Expected<CompiledText> TextCompiler::compile(const TextRequest &Text) {
  std::unique_ptr<TextProcess> Server;
  {
    std::lock_guard Lock(Servers->Mutex);
    if (!Servers->Idle.empty()) {
      Server = std::move(Servers->Idle.back());
      Servers->Idle.pop_back();
    }
  }
  if (!Server)
    if (Error E = TextProcess::start().moveInto(Server))
      return std::move(E);
  std::optional<Parcel> Answer = Server->ask(toParcel(Text, Limits));
  if (!Answer)
    return resourceError("the process that compiles texts (cupilot-compile) "
                         "was lost");
  std::lock_guard Lock(Servers->Mutex);
  Servers->Idle.push_back(std::move(Server));
  if (Answer->size() == 3 && Answer->front() == "fault")
    return resourceError("cupilot-compile: " + (*Answer)[1], Answer->back());
  std::optional<CompiledText> Result = answerFrom(*Answer);
  if (!Result)
    return resourceError("cupilot-compile gives an answer that nobody reads",
                         "install cuPilot as a whole");
  return std::move(*Result);
}

} // namespace cupilot
