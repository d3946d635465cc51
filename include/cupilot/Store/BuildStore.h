//===- BuildStore.h - The store as builds see it -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_STORE_BUILDSTORE_H
#define CUPILOT_STORE_BUILDSTORE_H

#include "cupilot/Model/BuildRecord.h"
#include <optional>

namespace cupilot {

/// Read access to a project store, for builds: no MLIR, no writing, no clock.
class BuildStore {
public:
  /// Opens the store in the folder \p Root. A folder that is no store, or one
  /// of a newer format, is a usage error.
  static llvm::Expected<BuildStore> open(llvm::StringRef Root);

  llvm::StringRef root() const { return Root; }
  /// The record for a build identity of the kernel \p Symbol; nothing when the
  /// store has none. Kernels of equal code and other names have their own: the
  /// host goes by names.
  llvm::Expected<std::optional<BuildRecord>>
  lookup(llvm::StringRef Identity, llvm::StringRef Symbol) const;
  /// All records for a kernel of this mangled name, sorted by identity. Serves
  /// stale remarks and the placeholders of other architectures. The files are
  /// read once: a unit has many kernels. Not for several threads at once.
  llvm::Expected<std::vector<BuildRecord>>
  recordsFor(llvm::StringRef Symbol) const;
  /// All records for a build identity, whatever the kernel is called.
  llvm::Expected<std::vector<BuildRecord>>
  recordsWith(llvm::StringRef Identity) const;
  /// All records whose text holds \p Word, for compilers that mangle otherwise;
  /// in the same order, at the same cost.
  llvm::Expected<std::vector<BuildRecord>>
  recordsNaming(llvm::StringRef Word) const;
  /// Absolute path of the source of \p V.
  std::string sourcePath(const BuildVariant &V) const;

private:
  using RecordFiles = std::vector<std::pair<std::string, std::string>>;

  explicit BuildStore(std::string Root) : Root(std::move(Root)) {}
  llvm::Error readAll() const;

  std::string Root;
  mutable std::optional<RecordFiles> Files; ///< Path and text, by path.
};

/// The path of a build record in the store \p Root: builds/, the identity's 64
/// digits, and the name's CRC-32, which keeps kernels of equal code apart.
std::string buildRecordPath(llvm::StringRef Root, llvm::StringRef Identity,
                            llvm::StringRef Symbol);

/// Why \p Text, of the store's file \p Path, is not what it should be: its line
/// ends, else \p What. \p IsRight tells for a text whether it is.
std::string
describeDifference(llvm::StringRef Path, llvm::StringRef Text,
                   llvm::StringRef What,
                   llvm::function_ref<bool(llvm::StringRef)> IsRight);

/// The folder that a build for \p MainFile uses: \p Flag, else CUPILOT_STORE,
/// else the nearest .cupilot upward of \p MainFile, else "". Sets \p Explicit
/// when it was named.
std::string resolveStore(llvm::StringRef Flag, llvm::StringRef MainFile,
                         bool &Explicit);

} // namespace cupilot

#endif // CUPILOT_STORE_BUILDSTORE_H
