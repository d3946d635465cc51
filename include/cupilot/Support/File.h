//===- File.h - Whole files in, whole files out -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SUPPORT_FILE_H
#define CUPILOT_SUPPORT_FILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace cupilot {

/// The whole content of \p Path. A missing file is a usage error, an unreadable
/// one a resource error; both name the path.
llvm::Expected<std::string> readFile(llvm::StringRef Path);

/// Replaces \p Path by \p Content in one step (temporary file in the same
/// folder, written out, renamed), so that a kill or a full disk leaves the old
/// file or the new one. Creates missing folders. Devices and pipes are written
/// to, not replaced.
llvm::Error writeFileAtomic(llvm::StringRef Path, llvm::StringRef Content);

/// writeFileAtomic, but leaves the file and its time alone when it already
/// holds \p Content, so that builds that depend on it do not run again.
llvm::Error updateFile(llvm::StringRef Path, llvm::StringRef Content);

/// One of many locks that one file stands for, held as long as the object
/// lives. The system gives it back when the process ends, however it ends.
class FileLock {
public:
  /// Takes the lock \p Place of the file \p Path, which is made if need be;
  /// nothing when another holder has it.
  static llvm::Expected<std::optional<FileLock>> tryLock(llvm::StringRef Path,
                                                         uint64_t Place);
  /// Tries again while another holder has it, at most for \p MostWait.
  static llvm::Expected<std::optional<FileLock>>
  lockWithin(llvm::StringRef Path, uint64_t Place,
             std::chrono::milliseconds MostWait);
  FileLock(FileLock &&Other) noexcept : FD(Other.FD) { Other.FD = -1; }
  FileLock &operator=(FileLock &&) = delete;
  ~FileLock();

private:
  explicit FileLock(int FD) : FD(FD) {}
  int FD;
};

llvm::Error ensureDirectory(llvm::StringRef Path);

/// The paths of what lies in \p Folder with names that end in \p Ending, in
/// order. A folder that does not exist has nothing; one that cannot be read is
/// a resource error.
llvm::Expected<std::vector<std::string>> filesIn(llvm::StringRef Folder,
                                                 llvm::StringRef Ending = "");

/// The nearest folder called \p Name in the folder of \p File or above it; ""
/// when there is none.
std::string findUpward(llvm::StringRef File, llvm::StringRef Name);

/// A folder that is removed with the object, with all it holds.
class TemporaryDirectory {
public:
  static llvm::Expected<TemporaryDirectory> create(llvm::StringRef Prefix);
  /// The same path for the same \p Content, for compilers that make names of
  /// paths. Waits while somebody else has it, and takes another one after
  /// \p MostWait.
  static llvm::Expected<TemporaryDirectory>
  createFor(llvm::StringRef Prefix, llvm::StringRef Content,
            std::chrono::milliseconds MostWait = std::chrono::minutes(2));
  TemporaryDirectory(TemporaryDirectory &&Other) noexcept
      : Path(std::move(Other.Path)), Owned(std::move(Other.Owned)) {
    Other.Path.clear();
  }
  TemporaryDirectory &operator=(TemporaryDirectory &&) = delete;
  ~TemporaryDirectory();
  llvm::StringRef path() const { return Path; }
  /// The path of \p Name in this folder.
  std::string file(llvm::StringRef Name) const;

private:
  explicit TemporaryDirectory(std::string Path,
                              std::optional<FileLock> Owned = {})
      : Path(std::move(Path)), Owned(std::move(Owned)) {}
  std::string Path;
  std::optional<FileLock> Owned; ///< Until the folder is removed.
};

} // namespace cupilot

#endif // CUPILOT_SUPPORT_FILE_H
