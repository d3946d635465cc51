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

/// The format of project stores that this cupilot writes. FORMAT says
/// "cupilot-store 7"; that of formats 1 to 5, which were told apart by their
/// modules, says "cupilot-store 1". In format 6 variants have no domains; else
/// it is the same, and a store of it that is written becomes one of format 7.
inline constexpr unsigned StoreFormat = 7;
/// From here on, everything lies in files of its own.
inline constexpr unsigned FirstSplitFormat = 6;
/// What FORMAT says of \p Format, one of 6 and later.
std::string formatText(unsigned Format);

/// Read access to a project store, for builds: no MLIR, no writing, no clock.
class BuildStore {
public:
  /// Opens the store in the folder \p Root. A folder that is no store, or one
  /// of a newer format, is a usage error. Older formats are read.
  static llvm::Expected<BuildStore> open(llvm::StringRef Root);

  llvm::StringRef root() const { return Root; }
  /// What FORMAT says: 1 stands for formats 1 to 5.
  unsigned format() const { return Format; }
  /// Whether it is of a format before 6: it can be read and not be written.
  bool isOld() const { return Format < FirstSplitFormat; }
  /// The files that decide what builds take: the store's format, its records,
  /// and the folder of these, whose time tells of records that come and go.
  llvm::Expected<std::vector<std::string>> decidingFiles() const;
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

  BuildStore(std::string Root, unsigned Format)
      : Root(std::move(Root)), Format(Format) {}
  llvm::Error readAll() const;
  llvm::Expected<std::vector<BuildRecord>> read(
      llvm::function_ref<bool(llvm::StringRef Path, llvm::StringRef Text)> Take)
      const;

  std::string Root;
  unsigned Format;
  mutable std::optional<RecordFiles> Files; ///< Path and text, by path.
};

/// The path of a build record in the store \p Root: builds/, the identity's 64
/// digits, the name's CRC-32, which keeps kernels of equal code apart, and the
/// digits \p Of of the variant's file; none in stores of formats before 6.
std::string buildRecordPath(llvm::StringRef Root, llvm::StringRef Identity,
                            llvm::StringRef Symbol, llvm::StringRef Of = "");
/// Whether \p Name, of a file in builds/, is that of a record of a format
/// before 6, and of 6.
bool isOldRecordName(llvm::StringRef Name);
bool isRecordName(llvm::StringRef Name);

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
