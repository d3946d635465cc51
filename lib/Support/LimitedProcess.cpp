//===- LimitedProcess.cpp - Work in processes with limits -----------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Support/LimitedProcess.h"
#include "cupilot/Support/Error.h"
#include "cupilot/Support/Process.h"
#include "cupilot/Support/Toolchain.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <new>
#include <optional>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

extern char **environ;

using namespace llvm;

namespace cupilot {

void addLimits(Parcel &P, const ProcessLimits &Limits) {
  P.push_back(utostr(Limits.CpuSeconds));
  P.push_back(utostr(Limits.AddressBytes));
  P.push_back(utostr(Limits.WallSeconds));
}

ProcessLimits limitsFrom(ParcelReader &P) {
  ProcessLimits Limits;
  Limits.CpuSeconds = unsigned(P.number());
  Limits.AddressBytes = P.number();
  Limits.WallSeconds = unsigned(P.number());
  return Limits;
}

/// Exit status of a copy that got no more memory.
static constexpr int OutOfMemory = 86;

static void setLimit(int What, uint64_t Soft, uint64_t Hard) {
  rlimit L{rlim_t(Soft), rlim_t(Hard)};
  ::setrlimit(__rlimit_resource_t(What), &L);
}

static void restrictSelf(const ProcessLimits &Limits) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  setLimit(RLIMIT_CPU, Limits.CpuSeconds, Limits.CpuSeconds + 2);
#if !__has_feature(address_sanitizer) // Its shadow has more addresses.
  setLimit(RLIMIT_AS, Limits.AddressBytes, Limits.AddressBytes);
#endif
  setLimit(RLIMIT_CORE, 0, 0);
  setLimit(RLIMIT_FSIZE, 0, 0); // It writes to its pipe only.
  std::set_new_handler([] { ::_exit(OutOfMemory); });
  remove_bad_alloc_error_handler();
  install_bad_alloc_error_handler(
      [](void *, const char *, bool) { ::_exit(OutOfMemory); });
}

static double processorSeconds(const rusage &Used) {
  auto Seconds = [](const timeval &T) {
    return double(T.tv_sec) + double(T.tv_usec) / 1e6;
  };
  return Seconds(Used.ru_utime) + Seconds(Used.ru_stime);
}

static bool isKilled(int Status) {
  return WIFSIGNALED(Status) && WTERMSIG(Status) == SIGKILL;
}

static CopyResult fateOf(int Status, const ProcessLimits &Limits) {
  bool Time =
      isKilled(Status) || (WIFSIGNALED(Status) && WTERMSIG(Status) == SIGXCPU);
  if (Time)
    return {.Fate = CopyFate::BeyondLimits,
            .Message = "the compiler was still busy with it after " +
                       utostr(Limits.CpuSeconds) + " s of processor time"};
  if (WIFEXITED(Status) && WEXITSTATUS(Status) == OutOfMemory)
    return {.Fate = CopyFate::BeyondLimits,
            .Message = "the compiler needs more than " +
                       utostr(Limits.AddressBytes >> 20) + " MiB for it"};
  return {.Fate = CopyFate::Crashes};
}

/// Nothing if the machine kept the copy from its work, which says nothing of
/// the request: \p Disturbed then says how.
static Expected<std::optional<CopyResult>>
runOnce(const ProcessLimits &Limits, function_ref<Parcel()> Work,
        function_ref<bool(const Parcel &)> IsAnswer, std::string &Disturbed) {
  int Ends[2];
  if (::pipe2(Ends, O_CLOEXEC))
    return resourceError("no pipe for a process that compiles");
  pid_t Copy = ::fork();
  if (Copy == 0) {
    ::close(Ends[0]);
    restrictSelf(Limits);
    bool Sent = sendParcel(Ends[1], Work());
    ::_exit(Sent ? 0 : 1);
  }
  ::close(Ends[1]);
  if (Copy < 0) {
    ::close(Ends[0]);
    return resourceError("no process to compile in");
  }
  const unsigned Wall =
      Limits.WallSeconds ? Limits.WallSeconds : Limits.CpuSeconds * 10 + 60;
  CopyResult Result;
  ParcelEnd End = receiveParcel(Ends[0], Result.Answer, Wall);
  ::close(Ends[0]);
  if (End == ParcelEnd::Late)
    ::kill(Copy, SIGKILL);
  int Status = 0;
  rusage Used{};
  while (::wait4(Copy, &Status, 0, &Used) < 0 && errno == EINTR)
    ;
  if (End == ParcelEnd::Whole && IsAnswer(Result.Answer))
    return Result;
  // A copy that used its time up is the request's doing, whoever ended it.
  const double Seconds = processorSeconds(Used);
  if ((End == ParcelEnd::Late || isKilled(Status)) &&
      Seconds < Limits.CpuSeconds) {
    raw_string_ostream Says(Disturbed);
    if (End == ParcelEnd::Late)
      Says << format("got %.1f s of processor time in %u s", Seconds, Wall);
    else
      Says << format("was killed after %.1f s of processor time", Seconds);
    return std::nullopt;
  }
  return fateOf(Status, Limits);
}

Expected<CopyResult> runInCopy(const ProcessLimits &Limits,
                               function_ref<Parcel()> Work,
                               function_ref<bool(const Parcel &)> IsAnswer) {
  std::string First, Second;
  for (std::string *Disturbed : {&First, &Second}) {
    Expected<std::optional<CopyResult>> Result =
        runOnce(Limits, Work, IsAnswer, *Disturbed);
    if (!Result)
      return Result.takeError();
    if (*Result)
      return std::move(**Result);
  }
  return resourceError(
      "a process that compiles a text " + First +
          ", and when it was tried again, " + Second,
      "this machine has too much to do, or too little memory; end other "
      "programs, and run the command again");
}

/// A message for a machine that cannot do it; no answer.
static Parcel faultOf(Error E) {
  Parcel Fault = {"fault", "", ""};
  handleAllErrors(
      std::move(E),
      [&](const ToolError &T) { Fault = {"fault", T.text(), T.hint()}; },
      [&](const ErrorInfoBase &Other) { Fault[1] = Other.message(); });
  return Fault;
}

int serveRequests(
    function_ref<Expected<std::optional<Parcel>>(const Parcel &)> Answer) {
  ::signal(SIGPIPE, SIG_IGN);
  Parcel Request;
  while (receiveParcel(STDIN_FILENO, Request, 0) == ParcelEnd::Whole) {
    Expected<std::optional<Parcel>> Is = Answer(Request);
    if (Is && !*Is)
      return int(ExitCode::Usage);
    if (!sendParcel(STDOUT_FILENO, Is ? **Is : faultOf(Is.takeError())))
      break;
  }
  return int(ExitCode::Done);
}

namespace {
/// A running cupilot-compile.
class ServerProcess {
public:
  static Expected<std::unique_ptr<ServerProcess>> start(std::string Flag);
  ~ServerProcess();
  std::optional<Parcel> ask(const Parcel &Request);

private:
  pid_t Pid = -1;
  int In = -1, Out = -1; ///< Its standard input and output.
};
} // namespace

struct RequestServers::Pool {
  std::string Flag;
  std::mutex Mutex;
  pid_t Owner = ::getpid(); ///< Who has started those that are idle.
  std::vector<std::unique_ptr<ServerProcess>> Idle;
};

static Expected<std::string> compilingProgram() {
  std::string Beside = installedPath("bin/cupilot-compile");
  if (sys::fs::can_execute(Beside))
    return Beside;
  if (ErrorOr<std::string> Path = sys::findProgramByName("cupilot-compile"))
    return *Path;
  return resourceError("'" + Beside +
                           "' was not found: it compiles what is to be judged",
                       "install cuPilot as a whole");
}

Expected<std::unique_ptr<ServerProcess>>
ServerProcess::start(std::string Flag) {
  Expected<std::string> Program = compilingProgram();
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
  char *Arguments[] = {Program->data(), Flag.data(), nullptr};
  auto Made = std::make_unique<ServerProcess>();
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

ServerProcess::~ServerProcess() {
  ::close(In);
  ::close(Out);
  // It ends where its input does.
  if (Pid > 0)
    while (::waitpid(Pid, nullptr, 0) < 0 && errno == EINTR)
      ;
}

std::optional<Parcel> ServerProcess::ask(const Parcel &Request) {
  Parcel Answer;
  if (!sendParcel(In, Request) ||
      receiveParcel(Out, Answer, 0) != ParcelEnd::Whole)
    return std::nullopt;
  return Answer;
}

RequestServers::RequestServers(std::string Flag)
    : Servers(std::make_unique<Pool>()) {
  Servers->Flag = std::move(Flag);
}

RequestServers::~RequestServers() = default;

Expected<Parcel> RequestServers::ask(const Parcel &Request) {
  std::unique_ptr<ServerProcess> Server;
  {
    std::lock_guard Lock(Servers->Mutex);
    // A copy of a process has none: the original talks to them.
    if (std::exchange(Servers->Owner, ::getpid()) != ::getpid())
      Servers->Idle.clear();
    if (!Servers->Idle.empty()) {
      Server = std::move(Servers->Idle.back());
      Servers->Idle.pop_back();
    }
  }
  if (!Server)
    if (Error E = ServerProcess::start(Servers->Flag).moveInto(Server))
      return std::move(E);
  std::optional<Parcel> Answer = Server->ask(Request);
  if (!Answer)
    return resourceError("the process that compiles texts (cupilot-compile) "
                         "was lost");
  {
    std::lock_guard Lock(Servers->Mutex);
    Servers->Idle.push_back(std::move(Server));
  }
  if (Answer->size() == 3 && Answer->front() == "fault")
    return resourceError("cupilot-compile: " + (*Answer)[1], Answer->back());
  return std::move(*Answer);
}

} // namespace cupilot
