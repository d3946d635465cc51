//===- MachineCache.h - What can be made again -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SUPPORT_MACHINECACHE_H
#define CUPILOT_SUPPORT_MACHINECACHE_H

#include "cupilot/Portable/Digest.h"
#include "llvm/ADT/ArrayRef.h"
#include <optional>
#include <string>
#include <vector>

namespace cupilot {

/// The machine cache: CUPILOT_CACHE_DIR, else cupilot in the user's cache
/// folder; "" when neither exists (a build then does without).
std::string machineCacheDirectory();

/// What an entry of the machine cache holds.
struct CachedBytes {
  std::string Bytes;
  std::vector<std::string> Notes; ///< Lines that belong to the bytes.
};

/// One entry of the machine cache: bytes, and the files that they were made of
/// with size and time. An entry that is damaged, or whose files changed, is
/// none. The user's own, as a compiler cache is: whoever may write there may
/// write the user's objects too.
class MachineCacheEntry {
public:
  /// Keeps nothing.
  MachineCacheEntry() = default;
  /// In the folder \p Kind of the cache, with the ending \p Ending (".bc").
  /// \p Key covers all that decides about the bytes but the files. Without a
  /// cache it keeps nothing.
  MachineCacheEntry(llvm::StringRef Kind, llvm::StringRef Ending,
                    const DigestBuilder &Key);

  /// Whether there is a place for it.
  explicit operator bool() const { return !Path.empty(); }
  /// Whether that place, which is made if need be, may be written to.
  bool isWritable() const;
  /// The file of the bytes.
  std::string file() const { return Path + Ending; }
  std::optional<CachedBytes> load() const;
  /// A cache that cannot be written is no reason to fail: then false. Names
  /// that are no files, as compilers give to what they make up, are left out.
  bool store(const CachedBytes &What, llvm::ArrayRef<std::string> Files) const;
  /// Removes all entries of its kind but the \p Count youngest.
  void keepYoungest(unsigned Count) const;

  /// "SIZE TIME FILE", by which a change of \p File is seen; "" when there is
  /// no such file.
  static std::string describe(llvm::StringRef File);

private:
  std::string Path, Ending;
};

} // namespace cupilot

#endif // CUPILOT_SUPPORT_MACHINECACHE_H
