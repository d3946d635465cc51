//===- Pages.h - Pages of this process that are in use ----------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SUPPORT_PAGES_H
#define CUPILOT_SUPPORT_PAGES_H

#include <cstdint>
#include <vector>

namespace cupilot {

/// Bytes of a page of memory.
uint64_t pageSize();

/// Looks up pages in the page map of this process (Linux,
/// Documentation/admin-guide/mm/pagemap.rst). Where there is none, all pages
/// count as used.
class PageMap {
public:
  PageMap();
  PageMap(const PageMap &) = delete;
  PageMap &operator=(const PageMap &) = delete;
  ~PageMap();
  enum class Use {
    Touched, ///< Read or written at some time, and now in memory or swapped.
    Written  ///< Likewise, and no longer a page of the mapped file.
  };
  /// A flag for each page of [Start, Start + Size).
  std::vector<bool> used(const void *Start, uint64_t Size, Use How) const;

private:
  int File;
};

} // namespace cupilot

#endif // CUPILOT_SUPPORT_PAGES_H
