//===- Pages.cpp - Pages of this process that are in use -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Support/Pages.h"
#include <algorithm>
#include <fcntl.h>
#include <unistd.h>

namespace cupilot {

uint64_t pageSize() {
  static const auto Size = uint64_t(::sysconf(_SC_PAGESIZE));
  return Size;
}

PageMap::PageMap() : File(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {}

PageMap::~PageMap() {
  if (File >= 0)
    ::close(File);
}

std::vector<bool> PageMap::used(const void *Start, uint64_t Size,
                                Use How) const {
  const auto From = reinterpret_cast<uintptr_t>(Start);
  const uint64_t First = From / pageSize(),
                 Count = Size ? (From + Size - 1) / pageSize() - First + 1 : 0;
  std::vector<bool> Used(Count, true);
  std::vector<uint64_t> Entries(std::min<uint64_t>(Count, 1 << 16));
  for (uint64_t Page = 0; File >= 0 && Page < Count;) {
    const size_t Bytes =
        std::min<uint64_t>(Entries.size(), Count - Page) * sizeof(uint64_t);
    const ssize_t Got = ::pread(File, Entries.data(), Bytes,
                                off_t((First + Page) * sizeof(uint64_t)));
    if (Got < ssize_t(sizeof(uint64_t)))
      break;
    for (size_t I = 0; I < size_t(Got) / sizeof(uint64_t); ++I, ++Page) {
      constexpr unsigned Present = 63, Swapped = 62, OfFile = 61;
      const uint64_t E = Entries[I];
      Used[Page] = ((E >> Present | E >> Swapped) & 1) != 0 &&
                   (How == Use::Touched || (E >> OfFile & 1) == 0);
    }
  }
  return Used;
}

} // namespace cupilot
