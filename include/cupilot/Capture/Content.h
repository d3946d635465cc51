//===- Content.h - Contents of buffers by digest -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_CAPTURE_CONTENT_H
#define CUPILOT_CAPTURE_CONTENT_H

#include "cupilot/Portable/Failure.h"
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace cupilot::capture {

// Failures are returned here and not thrown: the recording library runs between
// a program and its driver, where an exception would end the program.

/// Writes \p Bytes to \p Path so that the file is there whole or not at all.
std::optional<Failure> writeWhole(const std::string &Path,
                                  std::string_view Bytes);

/// A folder of contents, each in a file named by its digest: as it is (.bin),
/// or compressed by zstd (.bin.zst) where that saves something.
class ContentStore {
public:
  /// At most \p Limit bytes are written.
  ContentStore(std::string Folder, uint64_t Limit)
      : Folder(std::move(Folder)), Limit(Limit) {}

  /// Keeps \p Bytes once more and returns their digest. An empty digest means
  /// that the limit is reached.
  std::optional<Failure> put(std::string_view Bytes, std::string &Digest);
  /// Undoes one put(); the last one removes the file.
  void drop(const std::string &Digest);
  /// Bytes that are on disk because of put().
  uint64_t stored() const { return Stored; }
  uint64_t limit() const { return Limit; }

private:
  struct Entry {
    uint64_t Uses = 0;
    uint64_t Bytes = 0; ///< On disk.
    std::string File;
  };
  std::string Folder;
  uint64_t Limit;
  uint64_t Stored = 0;
  std::map<std::string, Entry> Entries;
};

/// Whether \p Folder has the content \p Digest.
bool hasContent(const std::string &Folder, const std::string &Digest);

/// Reads the content \p Digest of \p Folder and checks size and digest.
std::optional<Failure> readContent(const std::string &Folder,
                                   const std::string &Digest, uint64_t Size,
                                   std::string &Bytes);

} // namespace cupilot::capture

#endif // CUPILOT_CAPTURE_CONTENT_H
