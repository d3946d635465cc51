//===- Files.h - Files of a batch -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_RUNNER_FILES_H
#define CUPILOT_RUNNER_FILES_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cupilot::runner {

/// Failures: missing-file, unreadable-file.
std::string readWhole(const std::string &Path);
/// In one step: written beside it, flushed to the disk, renamed. Failure: disk.
void writeWhole(const std::string &Path, std::string_view Bytes);
bool exists(const std::string &Path);
void makeFolder(const std::string &Path);

/// A file in memory, read-only.
class MappedFile {
public:
  explicit MappedFile(const std::string &Path);
  MappedFile(MappedFile &&Other) noexcept;
  MappedFile(const MappedFile &) = delete;
  ~MappedFile();
  std::string_view bytes() const { return {Begin, Size}; }

private:
  const char *Begin = nullptr;
  size_t Size = 0;
};

/// A new file in memory, of zeros, to be filled. Failure: disk.
class NewFile {
public:
  NewFile(const std::string &Path, uint64_t Size);
  NewFile(const NewFile &) = delete;
  ~NewFile();
  uint8_t *bytes() const { return Begin; }

private:
  uint8_t *Begin = nullptr;
  uint64_t Size;
};

/// A folder for what passes between processes, in memory where there is room;
/// removed with the object.
class ScratchFolder {
public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder &) = delete;
  const std::string &path() const { return Path; }
  /// A name that was not given before.
  std::string fresh(std::string_view Hint);

private:
  std::string Path;
  uint64_t Next = 0;
};

/// Bytes that the file system of \p Path has left for users; 0 if nobody knows.
uint64_t freeBytes(const std::string &Path);

/// What zlib made of \p Size bytes. Failure: data-damaged.
std::string inflated(std::string_view Packed, uint64_t Size);

} // namespace cupilot::runner

#endif // CUPILOT_RUNNER_FILES_H
