//===- Files.cpp - Whole files, read and written -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Portable/Files.h"
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace cupilot {

static std::error_code lastError() { return {errno, std::generic_category()}; }

std::error_code loadFile(const std::string &Path, std::string &Bytes) {
  std::error_code Bad;
  uintmax_t Size = std::filesystem::file_size(Path, Bad);
  if (Bad)
    return Bad;
  Bytes.resize(Size);
  errno = 0;
  std::ifstream In(Path, std::ios::binary);
  if (!In.read(Bytes.data(), static_cast<std::streamsize>(Bytes.size())))
    Bad = {errno ? errno : EIO, std::generic_category()};
  return Bad;
}

std::error_code replaceFile(const std::string &Path, std::string_view Bytes,
                            bool Flushed) {
  std::string Temporary = Path + "." + std::to_string(getpid()) + ".part";
  int File =
      open(Temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (File < 0)
    return lastError();
  std::error_code Bad;
  while (!Bytes.empty() && !Bad) {
    ssize_t Written = write(File, Bytes.data(), Bytes.size());
    if (Written > 0)
      Bytes.remove_prefix(static_cast<size_t>(Written));
    else if (errno != EINTR)
      Bad = lastError();
  }
  if (!Bad && Flushed && fsync(File) != 0)
    Bad = lastError();
  if (close(File) != 0 && !Bad)
    Bad = lastError();
  if (!Bad && rename(Temporary.c_str(), Path.c_str()) != 0)
    Bad = lastError();
  if (Bad)
    unlink(Temporary.c_str());
  return Bad;
}

} // namespace cupilot
