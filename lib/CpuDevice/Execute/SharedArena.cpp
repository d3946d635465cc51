//===- SharedArena.cpp - Shared memory of resident blocks -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SharedArena.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <vector>

using namespace llvm;

namespace cupilot {

static constexpr uint64_t Page = 4096;

namespace {
/// Windows that no block uses now, by size: a launch takes and returns one per
/// resident block.
struct WindowStore {
  static constexpr size_t MaxKept = 256;
  std::mutex Mutex;
  std::multimap<uint64_t, char *> Kept;
};
} // namespace

static char *mapPages(uint64_t Size) {
  void *Map =
      ::mmap(nullptr, Size, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_32BIT, -1, 0);
  if (Map == MAP_FAILED)
    report_fatal_error("the cpu device cannot get memory for shared memory");
  return static_cast<char *>(Map);
}

/// A window with a page around it, within one span where it fits into one.
static char *mapWindow(uint64_t Capacity) {
  const uint64_t Whole = Capacity + 2 * Page;
  char *Map = mapPages(Whole);
  uint64_t At = reinterpret_cast<uintptr_t>(Map) + Page;
  if (At % SharedWindow::Span + Capacity <= SharedWindow::Span ||
      Capacity > SharedWindow::Span)
    return Map + Page;
  ::munmap(Map, Whole);
  // Such that it begins a span, and what is left of the rest given back.
  Map = mapPages(Whole + SharedWindow::Span);
  At = reinterpret_cast<uintptr_t>(Map) + Page;
  char *Base = Map + Page + (alignTo(At, SharedWindow::Span) - At);
  char *End = Map + Whole + SharedWindow::Span;
  if (Base - Page > Map)
    ::munmap(Map, Base - Page - Map);
  if (End > Base + Capacity + Page)
    ::munmap(Base + Capacity + Page, End - (Base + Capacity + Page));
  return Base;
}

static WindowStore &store() {
  static auto *Store = new WindowStore; // Launches may come late in exit().
  return *Store;
}

SharedWindow::~SharedWindow() {
  if (!Base)
    return;
  WindowStore &Store = store();
  std::lock_guard Lock(Store.Mutex);
  if (Store.Kept.size() < WindowStore::MaxKept)
    Store.Kept.emplace(Capacity, Base);
  else
    ::munmap(Base - Page, Capacity + 2 * Page);
}

char *SharedWindow::reserve(uint64_t Size) {
  if (Base && Capacity >= Size)
    return Base;
  this->~SharedWindow();
  Base = nullptr;
  Capacity = alignTo(std::max<uint64_t>(Size, 1), Page);
  WindowStore &Store = store();
  {
    std::lock_guard Lock(Store.Mutex);
    auto It = Store.Kept.lower_bound(Capacity);
    if (It != Store.Kept.end()) {
      Capacity = It->first;
      Base = It->second;
      Store.Kept.erase(It);
      return Base;
    }
  }
  Base = mapWindow(Capacity);
  return Base;
}

} // namespace cupilot
