//===- Child.cpp - A process that answers in lines -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Child.h"
#include "cupilot/Capture/Options.h"
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace cupilot::capture {

bool Child::start(const std::vector<std::string> &Command) {
  end();
  std::vector<char *> Args, Environment;
  std::vector<std::string> Copies = Command;
  for (std::string &Arg : Copies)
    Args.push_back(Arg.data());
  Args.push_back(nullptr);
  for (char **E = environ; *E; ++E) {
    std::string_view Text = *E;
    std::string_view Name = Text.substr(0, Text.find('='));
    if (Name != "CUDA_INJECTION64_PATH" && Name != FolderVariable)
      Environment.push_back(*E);
  }
  Environment.push_back(nullptr);
  int In[2], Out[2];
  if (pipe2(In, O_CLOEXEC) != 0)
    return false;
  if (pipe2(Out, O_CLOEXEC) != 0) {
    close(In[0]);
    close(In[1]);
    return false;
  }
  posix_spawn_file_actions_t Actions;
  posix_spawn_file_actions_init(&Actions);
  posix_spawn_file_actions_adddup2(&Actions, In[0], 0);
  posix_spawn_file_actions_adddup2(&Actions, Out[1], 1);
  int Error = posix_spawn(&Pid, Args[0], &Actions, nullptr, Args.data(),
                          Environment.data());
  posix_spawn_file_actions_destroy(&Actions);
  close(In[0]);
  close(Out[1]);
  To = In[1];
  From = Out[0];
  if (Error)
    Pid = -1;
  return !Error;
}

bool Child::say(const std::string &Line) {
  std::string Text = Line + "\n";
  for (size_t Done = 0; Done < Text.size();) {
    ssize_t Wrote = write(To, Text.data() + Done, Text.size() - Done);
    if (Wrote > 0)
      Done += static_cast<size_t>(Wrote);
    else if (errno != EINTR)
      return false;
  }
  return true;
}

std::optional<std::string> Child::hear(uint64_t Milliseconds) {
  const auto Until = std::chrono::steady_clock::now() +
                     std::chrono::milliseconds(Milliseconds);
  for (;;) {
    if (size_t End = Heard.find('\n'); End != Heard.npos) {
      std::string Line = Heard.substr(0, End);
      Heard.erase(0, End + 1);
      return Line;
    }
    auto Left = std::chrono::duration_cast<std::chrono::milliseconds>(
                    Until - std::chrono::steady_clock::now())
                    .count();
    if (Left <= 0)
      return std::nullopt;
    pollfd P{From, POLLIN, 0};
    if (poll(&P, 1, static_cast<int>(Left)) < 0 && errno == EINTR)
      continue;
    char Buffer[4096];
    ssize_t Got = P.revents ? read(From, Buffer, sizeof(Buffer)) : -1;
    if (Got > 0)
      Heard.append(Buffer, static_cast<size_t>(Got));
    else if (Got == 0 || (P.revents && errno != EINTR))
      return std::nullopt;
  }
}

void Child::end() {
  if (Pid > 0) {
    kill(Pid, SIGKILL);
    // The program may wait for all of its children, and so for this one.
    while (waitpid(Pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  for (int *File : {&To, &From}) {
    if (*File >= 0)
      close(*File);
    *File = -1;
  }
  Pid = -1;
  Heard.clear();
}

} // namespace cupilot::capture
