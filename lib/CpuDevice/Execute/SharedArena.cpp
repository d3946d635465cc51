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

static char *tryToMapPages(uint64_t Size) {
  void *Map =
      ::mmap(nullptr, Size, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_32BIT, -1, 0);
  return Map == MAP_FAILED ? nullptr : static_cast<char *>(Map);
}

static char *mapPages(uint64_t Size) {
  char *Map = tryToMapPages(Size);
  if (!Map)
    report_fatal_error("the cpu device cannot get memory for shared memory");
  return Map;
}

/// Whole pages: the system's part, the window, and a page before and after.
static uint64_t mappedSize(uint64_t Capacity) {
  return SharedWindow::SystemSize + Capacity + 2 * Page;
}

/// The pages of \p Base, which a window of \p Capacity begins.
static char *mappingOf(char *Base) {
  return Base - SharedWindow::SystemSize - Page;
}

/// A window that begins a span, but for the system's part; anywhere if it does
/// not fit into one.
static char *mapWindow(uint64_t Capacity) {
  const uint64_t Whole = mappedSize(Capacity);
  if (SharedWindow::SystemSize + Capacity > SharedWindow::Span)
    return mapPages(Whole) + Page + SharedWindow::SystemSize;
  char *Map = tryToMapPages(Whole + SharedWindow::Span);
  if (!Map) // A window lies where each span begins, so none lies across.
    return mapPages(Whole) + Page + SharedWindow::SystemSize;
  // What is left of the rest is given back.
  uint64_t At = reinterpret_cast<uintptr_t>(Map) + Page;
  char *First = Map + (alignTo(At, SharedWindow::Span) - At);
  char *End = Map + Whole + SharedWindow::Span;
  if (First > Map)
    ::munmap(Map, First - Map);
  if (End > First + Whole)
    ::munmap(First + Whole, End - (First + Whole));
  return First + Page + SharedWindow::SystemSize;
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
    ::munmap(mappingOf(Base), mappedSize(Capacity));
}

char *SharedWindow::reserve(uint64_t Size) {
  if (Base && Capacity >= Size)
    return Base;
  this->~SharedWindow();
  Base = nullptr;
  Capacity =
      alignTo(SystemSize + std::max<uint64_t>(Size, 1), Page) - SystemSize;
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
