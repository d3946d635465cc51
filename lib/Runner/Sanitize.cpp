//===- Sanitize.cpp - Requests for compute-sanitizer -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluator.h"
#include "cupilot/Portable/Failure.h"
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using nlohmann::json;

namespace cupilot::runner {

namespace {
struct Ended {
  bool Late = false;
  int Status = 0; ///< As waitpid says.
};
} // namespace

/// Runs \p Command in a process group of its own, all of which is killed when
/// it is late.
static std::optional<Ended> runCommand(std::vector<std::string> Command,
                                       const std::string &Log, int64_t Ms) {
  std::vector<char *> Arguments;
  Arguments.reserve(Command.size() + 1);
  for (std::string &A : Command)
    Arguments.push_back(A.data());
  Arguments.push_back(nullptr);
  posix_spawn_file_actions_t Actions;
  ::posix_spawn_file_actions_init(&Actions);
  ::posix_spawn_file_actions_addopen(&Actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&Actions, 1, Log.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_adddup2(&Actions, 1, 2);
  posix_spawnattr_t Attributes;
  ::posix_spawnattr_init(&Attributes);
  ::posix_spawnattr_setflags(&Attributes, POSIX_SPAWN_SETPGROUP);
  ::posix_spawnattr_setpgroup(&Attributes, 0);
  pid_t Pid = -1;
  int Error = ::posix_spawnp(&Pid, Arguments[0], &Actions, &Attributes,
                             Arguments.data(), environ);
  ::posix_spawnattr_destroy(&Attributes);
  ::posix_spawn_file_actions_destroy(&Actions);
  if (Error != 0)
    return std::nullopt;
  Ended E;
  auto End = std::chrono::steady_clock::now() + std::chrono::milliseconds(Ms);
  while (::waitpid(Pid, &E.Status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > End) {
      E.Late = true;
      ::kill(-Pid, SIGKILL);
      ::waitpid(Pid, &E.Status, 0);
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return E;
}

/// The lines of \p Text that compute-sanitizer wrote of what it found.
static json findings(const std::string &Text) {
  json Lines = json::array();
  for (size_t At = 0; At < Text.size() && Lines.size() < 20;) {
    size_t End = std::min(Text.find('\n', At), Text.size());
    std::string Line = Text.substr(At, End - At);
    At = End + 1;
    if (Line.starts_with("========= ") && Line.size() > 11 &&
        Line.find("COMPUTE-SANITIZER") == std::string::npos)
      Lines.push_back(Line.substr(10));
  }
  return Lines;
}

json Evaluator::sanitize(const Request &R) {
  static constexpr int Found = 86;
  std::vector<std::string> Tools = R.Tools;
  if (Tools.empty())
    Tools = {"memcheck", "racecheck", "initcheck", "synccheck"};
  const char *Given = std::getenv("CUPILOT_COMPUTE_SANITIZER");
  std::string Sanitizer = Given && *Given ? Given : "compute-sanitizer";
  const bool IsCandidate = R.Candidate.has_value();
  Blame = IsCandidate ? "candidate" : "original";
  json Replay = {
      {"device", Device},
      {"timeout_ms", R.TimeoutMs},
      {"do", "run"},
      {"case", toJson(B.Cases[R.Case])},
      {"program", toJson(IsCandidate ? *R.Candidate : *R.Original)},
      {"images", In.images(IsCandidate ? *R.Candidate : *R.Original)},
      {"files", In.buffers(B.Cases[R.Case])},
      {"variables", In.variables(B.Cases[R.Case])},
      {"save", ""},
      {"skew", 0}};
  std::string Path = Scratch.fresh("replay");
  writeWhole(Path, Replay.dump());
  json Result = {{"tools", json::object()}};
  for (const std::string &Tool : Tools) {
    std::string Log = Scratch.fresh(Tool);
    // Far slower is usual for it.
    std::optional<Ended> E =
        runCommand({Sanitizer, "--tool", Tool, "--error-exitcode",
                    std::to_string(Found), Executable, "--replay", Path},
                   Log, int64_t(R.TimeoutMs) * 10 + 20000);
    int Status = E && WIFEXITED(E->Status) ? WEXITSTATUS(E->Status) : -1;
    if (!E || Status == 127)
      throw Failure(FailureKind::NoSanitizer,
                    "'" + Sanitizer +
                        "' cannot be started; it is part of the "
                        "CUDA toolkit");
    std::string Text = readWhole(Log);
    json &J = Result["tools"][Tool];
    J["outcome"] = E->Late           ? "timeout"
                   : Status == 0     ? "clean"
                   : Status == Found ? "found"
                                     : "failed";
    if (Status != 0)
      J["lines"] = findings(Text);
    if (Status != 0 && Status != Found)
      J["output"] = Text.substr(0, 1000);
    ::unlink(Log.c_str());
  }
  ::unlink(Path.c_str());
  return Result;
}

} // namespace cupilot::runner
