//===- Workers.cpp - Tasks that may crash -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Support/Workers.h"
#include "cupilot/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <optional>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace cupilot {

using Clock = std::chrono::steady_clock;

namespace {
/// A process and what it is busy with. It is fed through one pipe and heard
/// through another.
struct Worker {
  pid_t Pid = -1;
  int To = -1, From = -1;
  std::optional<size_t> Busy; ///< Index of its task.
  Clock::time_point Since;
  std::string Heard;
  unsigned Given = 0; ///< Tasks so far.
};
} // namespace

static bool readFully(int From, void *To, size_t Size) {
  auto *At = static_cast<char *>(To);
  while (Size > 0) {
    ssize_t Got = read(From, At, Size);
    if (Got < 0 && errno == EINTR)
      continue;
    if (Got <= 0)
      return false;
    At += Got;
    Size -= Got;
  }
  return true;
}

static bool writeFully(int To, const void *From, size_t Size) {
  auto *At = static_cast<const char *>(From);
  while (Size > 0) {
    ssize_t Put = write(To, At, Size);
    if (Put < 0 && errno == EINTR)
      continue;
    if (Put <= 0)
      return false;
    At += Put;
    Size -= Put;
  }
  return true;
}

/// Answers are a length and the text.
[[noreturn]] static void serve(int From, int To,
                               function_ref<std::string(unsigned)> Job) {
  unsigned Task;
  while (readFully(From, &Task, sizeof(Task))) {
    std::string Answer = Job(Task);
    uint64_t Size = Answer.size();
    if (!writeFully(To, &Size, sizeof(Size)) ||
        !writeFully(To, Answer.data(), Size))
      break;
  }
  _exit(0); // No destructors: they are the parent's.
}

static void closeBoth(Worker &W) {
  for (int *End : {&W.To, &W.From})
    if (*End >= 0)
      close(std::exchange(*End, -1));
}

static int stop(Worker &W, bool Kill) {
  int Status = 0;
  if (Kill && W.Pid > 0)
    kill(W.Pid, SIGKILL);
  closeBoth(W);
  if (W.Pid > 0)
    while (waitpid(W.Pid, &Status, 0) < 0 && errno == EINTR)
      ;
  W = Worker();
  return Status;
}

static Error start(Worker &W, ArrayRef<Worker> All,
                   function_ref<std::string(unsigned)> Job) {
  int Down[2], Up[2];
  if (pipe(Down) != 0)
    return resourceError(Twine("cannot create a pipe: ") +
                         std::strerror(errno));
  if (pipe(Up) != 0) {
    close(Down[0]);
    close(Down[1]);
    return resourceError(Twine("cannot create a pipe: ") +
                         std::strerror(errno));
  }
  outs().flush(); // Or the child would write it again.
  pid_t Parent = getpid();
  pid_t Pid = fork();
  if (Pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != Parent)
      _exit(0);
    for (const Worker &Other : All)
      for (int End : {Other.To, Other.From})
        if (End >= 0)
          close(End);
    close(Down[1]);
    close(Up[0]);
    serve(Down[0], Up[1], Job);
  }
  close(Down[0]);
  close(Up[1]);
  W.To = Down[1];
  W.From = Up[0];
  if (Pid < 0) {
    closeBoth(W);
    return resourceError(Twine("cannot create a process: ") +
                         std::strerror(errno));
  }
  W.Pid = Pid;
  return Error::success();
}

static TaskResult died(int Status) {
  TaskResult R;
  R.K = TaskResult::Kind::Crashed;
  R.Answer = WIFSIGNALED(Status)
                 ? std::string("killed by ") + strsignal(WTERMSIG(Status))
                 : "exit status " + std::to_string(WEXITSTATUS(Status));
  return R;
}

/// Reads what is there. A whole answer, a death, or nothing yet.
static std::optional<TaskResult> hear(Worker &W) {
  char Chunk[65536];
  ssize_t Got = read(W.From, Chunk, sizeof(Chunk));
  if (Got < 0 && errno == EINTR)
    return std::nullopt;
  if (Got <= 0)
    return died(stop(W, /*Kill=*/true));
  W.Heard.append(Chunk, Got);
  uint64_t Size;
  if (W.Heard.size() < sizeof(Size))
    return std::nullopt;
  std::memcpy(&Size, W.Heard.data(), sizeof(Size));
  if (W.Heard.size() - sizeof(Size) < Size)
    return std::nullopt;
  TaskResult R;
  R.Answer = W.Heard.substr(sizeof(Size));
  W.Heard.clear();
  W.Busy.reset();
  return R;
}

Error runTasks(ArrayRef<unsigned> Tasks, const WorkerOptions &Options,
               function_ref<std::string(unsigned)> Job,
               function_ref<bool(size_t, TaskResult)> Done) {
  auto *Old = std::signal(SIGPIPE, SIG_IGN);
  std::vector<Worker> Workers(std::max(1u, Options.Workers));
  std::map<size_t, TaskResult> Ready;
  size_t Next = 0, Told = 0;
  bool Enough = false;
  Error Failure = Error::success();
  auto Finish = [&](size_t Task, TaskResult R) {
    Ready[Task] = std::move(R);
    for (auto It = Ready.find(Told); !Enough && It != Ready.end();
         It = Ready.find(Told)) {
      Enough = !Done(Told, std::move(It->second));
      Ready.erase(It);
      ++Told;
    }
  };
  while (!Enough && Told < Tasks.size()) {
    for (Worker &W : Workers) {
      if (W.Busy || Next == Tasks.size())
        continue;
      if (W.Pid > 0 && W.Given >= Options.TasksPerProcess)
        stop(W, /*Kill=*/false);
      if (W.Pid < 0)
        if (Error E = start(W, Workers, Job)) {
          Failure = joinErrors(std::move(Failure), std::move(E));
          Enough = true;
          break;
        }
      W.Busy = Next;
      W.Since = Clock::now();
      ++W.Given;
      // A worker that is dead already is heard of below.
      (void)writeFully(W.To, &Tasks[Next], sizeof(unsigned));
      ++Next;
    }
    SmallVector<pollfd, 8> Polls;
    for (Worker &W : Workers)
      if (W.Busy)
        Polls.push_back({W.From, POLLIN, 0});
    if (Enough || Polls.empty())
      break;
    poll(Polls.data(), Polls.size(), 500);
    for (Worker &W : Workers) {
      if (!W.Busy)
        continue;
      size_t Task = *W.Busy;
      auto *Poll = find_if(Polls, [&](pollfd &P) { return P.fd == W.From; });
      if (Poll != Polls.end() && Poll->revents) {
        if (std::optional<TaskResult> R = hear(W))
          Finish(Task, std::move(*R));
      } else if (Clock::now() - W.Since >
                 std::chrono::seconds(Options.TimeoutSeconds)) {
        stop(W, /*Kill=*/true);
        Finish(Task, {TaskResult::Kind::TimedOut,
                      "no verdict in " +
                          std::to_string(Options.TimeoutSeconds) + " s"});
      }
    }
  }
  for (Worker &W : Workers)
    stop(W, /*Kill=*/true);
  std::signal(SIGPIPE, Old);
  return Failure;
}

} // namespace cupilot
