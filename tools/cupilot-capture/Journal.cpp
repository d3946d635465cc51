//===- Journal.cpp - What the recorded process writes down -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Journal.h"
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

using nlohmann::json;

namespace cupilot::capture {

static std::string text(const json &J) {
  return J.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::optional<Failure> Journal::open(const std::string &Path) {
  File = ::open(Path.c_str(),
                O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
  if (File < 0)
    return Failure(FailureKind::Disk,
                   "cannot write '" + Path + "': " + std::strerror(errno),
                   "name another folder with -o");
  return std::nullopt;
}

void Journal::line(const std::string &Text) {
  if (File < 0 || Failed)
    return;
  size_t Done = 0;
  while (Done < Text.size()) {
    ssize_t Written = write(File, Text.data() + Done, Text.size() - Done);
    if (Written > 0) {
      Done += static_cast<size_t>(Written);
    } else if (errno != EINTR) {
      // Nothing may follow a torn line.
      Failed = true;
      std::fprintf(stderr, "cupilot: error: capture: cannot write on: %s\n",
                   std::strerror(errno));
      return;
    }
  }
}

void Journal::launch(uint32_t Class, const Launch &L) {
  std::lock_guard<std::mutex> Guard(Lock);
  line(text({{"class", Class}, {"launch", toJson(L)}}));
}

void Journal::device(const DeviceFacts &D) {
  std::lock_guard<std::mutex> Guard(Lock);
  line(text(
      {{"device",
        {{"name", D.Name}, {"arch", D.Arch}, {"bandwidth", D.Bandwidth}}}}));
}

void Journal::note(const std::string &Text) {
  std::lock_guard<std::mutex> Guard(Lock);
  if (std::ranges::find(Said, Text) != Said.end())
    return;
  Said.push_back(Text);
  line(text({{"note", Text}}));
}

void Journal::failure(const std::string &Text) {
  std::lock_guard<std::mutex> Guard(Lock);
  if (std::ranges::find(Said, Text) != Said.end())
    return;
  Said.push_back(Text);
  std::fprintf(stderr, "cupilot: error: capture: %s\n", Text.c_str());
  line(text({{"failure", Text}}));
}

} // namespace cupilot::capture
