//===- ExecEndpoint.cpp - Any command as a model -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The prompt is the command's standard input, its standard output the answer.
// It runs in a process group of its own, which ends with the call.
//
//===----------------------------------------------------------------------===//

#include "Endpoint.h"
#include "cupilot/LLM/Quote.h"
#include "cupilot/Support/File.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FormatVariadic.h"
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" char **environ;

using namespace llvm;

namespace cupilot {

namespace {
using Clock = std::chrono::steady_clock;

class ExecEndpoint : public Endpoint {
public:
  explicit ExecEndpoint(const ProviderSpec &Spec) : Spec(Spec) {
    Hidden.addEnvironment();
  }
  Expected<ChatAnswer> attempt(const ChatRequest &R, double Seconds) override;
  std::string describe(const ChatRequest &R) const override {
    return "command: " + Hidden.scrub(Spec.Where) +
           "\nstandard input: the prompt as one text\n";
  }

private:
  Error watch(pid_t Child, int Out, int Err, double Seconds,
              std::string &Answer, std::string &Complaint) const;
  const ProviderSpec Spec;
  Secrets Hidden; ///< Commands may print what they were given.
};

/// A file descriptor that is closed with the object.
struct Descriptor {
  int FD = -1;
  ~Descriptor() { close(); }
  void close() {
    if (FD >= 0)
      ::close(FD);
    FD = -1;
  }
};
} // namespace

static Error failed(const Twine &What) {
  return resourceError("cannot run the provider's command: " + What + ": " +
                       sys::StrError());
}

/// Reads what there is; false at the end.
static bool readSome(int FD, std::string &Into, size_t Most) {
  char Buffer[1 << 16];
  ssize_t Got = sys::RetryAfterSignal(
      -1, [&] { return ::read(FD, Buffer, sizeof(Buffer)); });
  if (Got <= 0)
    return false;
  if (Into.size() <= Most)
    Into.append(Buffer, static_cast<size_t>(Got));
  return true;
}

Error ExecEndpoint::watch(pid_t Child, int Out, int Err, double Seconds,
                          std::string &Answer, std::string &Complaint) const {
  auto After = [](Clock::time_point T, double S) {
    return T + std::chrono::duration_cast<Clock::duration>(
                   std::chrono::duration<double>(std::min(S, 1e9)));
  };
  Clock::time_point End = After(Clock::now(), Seconds);
  Clock::time_point Silent = After(Clock::now(), Spec.Inactivity);
  pollfd Files[] = {{Out, POLLIN, 0}, {Err, POLLIN, 0}};
  // A child of the command may keep the second one open for ever.
  while (Files[0].fd >= 0) {
    Clock::time_point Now = Clock::now();
    if (Now >= End)
      return providerError(
          ProviderFault::OutOfTime,
          formatv("the command did not end within {0:f1} s in all", Spec.Total),
          "set a larger limit with total=SECONDS: exec,total=3600:CMD");
    if (Now >= Silent)
      return providerError(
          ProviderFault::Inactive,
          formatv("the command printed nothing for {0:f1} s", Spec.Inactivity),
          "set a larger limit with inactivity=SECONDS: "
          "exec,inactivity=3600:CMD");
    auto Wait = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::min(End, Silent) - Now);
    int Ready = ::poll(
        Files, 2, static_cast<int>(std::min<int64_t>(Wait.count() + 1, 1000)));
    if (Ready < 0 && errno != EINTR)
      return failed("waiting for it");
    if (Ready <= 0)
      continue;
    Silent = After(Clock::now(), Spec.Inactivity);
    if (Files[0].revents && !readSome(Files[0].fd, Answer, Spec.MaxBytes))
      Files[0].fd = -1;
    if (Files[1].revents && !readSome(Files[1].fd, Complaint, 1 << 16))
      Files[1].fd = -1;
    if (Answer.size() > Spec.MaxBytes)
      return providerError(
          ProviderFault::TooLarge,
          formatv("the command printed more than {0} bytes", Spec.MaxBytes),
          "set a larger limit with max-bytes=N: exec,max-bytes=100000000:CMD");
  }
  // The rest of its complaints, as far as it is there.
  while (Files[1].fd >= 0 && ::poll(&Files[1], 1, 0) > 0)
    if (!readSome(Files[1].fd, Complaint, 1 << 16))
      break;
  return Error::success();
}

Expected<ChatAnswer> ExecEndpoint::attempt(const ChatRequest &R,
                                           double Seconds) {
  Expected<TemporaryDirectory> Dir = TemporaryDirectory::create("cupilot-ask");
  if (!Dir)
    return Dir.takeError();
  std::string Prompt = Dir->file("prompt.txt"),
              Json = Dir->file("request.json");
  if (Error E = writeFileAtomic(Prompt, plainText(R)))
    return std::move(E);
  if (Error E = writeFileAtomic(Json, formatv("{0:2}\n", toJSON(R)).str()))
    return std::move(E);

  Descriptor Out[2], Err[2];
  for (auto *Pair : {Out, Err}) {
    int Ends[2];
    if (::pipe2(Ends, O_CLOEXEC) != 0)
      return failed("pipe");
    Pair[0].FD = Ends[0];
    Pair[1].FD = Ends[1];
  }
  posix_spawn_file_actions_t Actions;
  posix_spawnattr_t Attributes;
  posix_spawn_file_actions_init(&Actions);
  posix_spawnattr_init(&Attributes);
  scope_exit Free([&] {
    posix_spawn_file_actions_destroy(&Actions);
    posix_spawnattr_destroy(&Attributes);
  });
  posix_spawn_file_actions_addopen(&Actions, 0, Prompt.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&Actions, Out[1].FD, 1);
  posix_spawn_file_actions_adddup2(&Actions, Err[1].FD, 2);
  posix_spawnattr_setflags(&Attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&Attributes, 0);

  std::string Variable = "CUPILOT_REQUEST=" + Json;
  std::vector<char *> Environment;
  for (char **V = environ; *V; ++V)
    if (!StringRef(*V).starts_with("CUPILOT_REQUEST="))
      Environment.push_back(*V);
  Environment.push_back(Variable.data());
  Environment.push_back(nullptr);
  std::string Shell = "sh", Dash = "-c", Command = Spec.Where;
  char *Argv[] = {Shell.data(), Dash.data(), Command.data(), nullptr};
  pid_t Child = 0;
  if (int Code = posix_spawn(&Child, "/bin/sh", &Actions, &Attributes, Argv,
                             Environment.data())) {
    errno = Code;
    return failed("/bin/sh");
  }
  Out[1].close();
  Err[1].close();
  ChatAnswer A;
  std::string Complaint;
  Error Watched =
      watch(Child, Out[0].FD, Err[0].FD, Seconds, A.Text, Complaint);
  int Status = 0;
  bool Ended = !Watched && sys::RetryAfterSignal(-1, ::waitpid, Child, &Status,
                                                 WNOHANG) == Child;
  // It has closed its output, so it is about to end, unless it hangs.
  for (unsigned I = 0; !Watched && !Ended && I < 100; ++I) {
    ::usleep(10000);
    Ended = ::waitpid(Child, &Status, WNOHANG) == Child;
  }
  ::kill(-Child, SIGKILL); // Whatever it left behind, too.
  if (!Ended)
    sys::RetryAfterSignal(-1, ::waitpid, Child, &Status, 0);
  if (Watched)
    return std::move(Watched);
  if (Ended && WIFEXITED(Status) && WEXITSTATUS(Status) == 0) {
    A.TokensEstimated = true;
    A.Text = json::fixUTF8(A.Text);
    return A;
  }
  std::string How = !Ended ? "it closed its output, but did not exit"
                    : WIFSIGNALED(Status)
                        ? formatv("signal {0}", WTERMSIG(Status)).str()
                        : formatv("status {0}", WEXITSTATUS(Status)).str();
  std::string Said = excerpt(Hidden.scrub(Complaint));
  return providerError(
      ProviderFault::NoAnswer,
      "the provider's command failed (" + How + ")" +
          (Said.empty() ? "" : ": " + Said),
      "the command reads the prompt from standard input and prints the answer; "
      "try it with the output of cupilot ask --dry-run");
}

std::unique_ptr<Endpoint> makeExecEndpoint(const ProviderSpec &Spec) {
  return std::make_unique<ExecEndpoint>(Spec);
}

} // namespace cupilot
