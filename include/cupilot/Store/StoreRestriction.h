//===- StoreRestriction.h - A store with fewer variants -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_STORE_STORERESTRICTION_H
#define CUPILOT_STORE_STORERESTRICTION_H

#include "cupilot/Support/File.h"
#include "llvm/ADT/BitVector.h"
#include <vector>

namespace cupilot {

/// One variant's text, whatever number of records name it.
struct OfferedVariant {
  std::string Kernel; ///< For people.
  std::string Symbol; ///< Mangled name of the original.
  std::string Name;   ///< "v_1a2b3c4d".
  std::string Source; ///< Relative to the store.
  std::string Genome;
  bool operator==(const OfferedVariant &) const = default;
};

/// Takes variants out of what a store offers to builds, for a time. The build
/// records themselves change, so every build sees it: depfiles name them, and
/// caches hash them. Their saved text lies in the store until it is put back:
/// by restore(), by the destructor, or, after a kill, by the next cuPilot that
/// writes this store (repairStore).
class StoreRestriction {
public:
  /// Takes the store in \p Root for itself, repairs it if need be, and saves
  /// its records. A store that somebody else restricts or writes is a resource
  /// error; a broken record is a usage error that names it.
  static llvm::Expected<StoreRestriction> begin(llvm::StringRef Root);
  StoreRestriction(StoreRestriction &&Other) noexcept = default;
  StoreRestriction &operator=(StoreRestriction &&) = delete;
  ~StoreRestriction();

  /// All variants, sorted by kernel and name.
  const std::vector<OfferedVariant> &variants() const { return Variants; }
  /// Offers those of variants() whose bit is set.
  llvm::Error offer(const llvm::BitVector &Kept);
  /// Puts the records back as they were.
  llvm::Error restore();

private:
  StoreRestriction(std::string Root, FileLock Lock)
      : Root(std::move(Root)), Lock(std::move(Lock)) {}
  std::string Root;
  /// Empty once restored, or moved from.
  std::vector<std::pair<std::string, std::string>> Records; ///< Path, text.
  std::vector<OfferedVariant> Variants;
  FileLock Lock;
};

/// Puts back what a restriction that was killed left; nothing while one is at
/// work. True when there was something to put back.
llvm::Expected<bool> repairStore(llvm::StringRef Root);

/// Keeps restrictions out while a store is written: waits for another writer,
/// and is a resource error when the store is restricted.
llvm::Expected<FileLock> lockForWriting(llvm::StringRef Root);

} // namespace cupilot

#endif // CUPILOT_STORE_STORERESTRICTION_H
