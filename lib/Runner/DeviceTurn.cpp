//===- DeviceTurn.cpp - Runners take turns on a GPU -----------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceTurn.h"
#include "cupilot/Portable/Failure.h"
#include "cupilot/Runner/Files.h"
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace cupilot::runner {

/// CUPILOT_CACHE_DIR, XDG_CACHE_HOME, ~/.cache.
std::string cacheFolder() {
  auto Value = [](const char *Name) {
    const char *V = std::getenv(Name);
    return std::string(V ? V : "");
  };
  if (std::string V = Value("CUPILOT_CACHE_DIR"); !V.empty())
    return V;
  if (std::string V = Value("XDG_CACHE_HOME"); !V.empty())
    return V + "/cupilot";
  if (std::string V = Value("HOME"); !V.empty())
    return V + "/.cache/cupilot";
  return "";
}

DeviceTurn::DeviceTurn(const std::string &Uuid) {
  std::string Folder = cacheFolder();
  if (Folder.empty())
    return;
  Folder += "/turns";
  try {
    makeFolder(Folder);
  } catch (const Failure &) {
    return; // A cache that cannot be written is no reason to fail.
  }
  FD =
      ::open((Folder + "/" + Uuid).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  while (FD >= 0 && ::flock(FD, LOCK_EX) != 0 && errno == EINTR)
    ;
}

DeviceTurn::~DeviceTurn() {
  if (FD >= 0)
    ::close(FD);
}

} // namespace cupilot::runner
