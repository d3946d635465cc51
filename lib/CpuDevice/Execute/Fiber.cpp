//===- Fiber.cpp - Stacks on which device threads run -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scheduler.h"
#include "llvm/Support/ErrorHandling.h"
#include <atomic>
#include <mutex>
#include <sys/mman.h>

using namespace llvm;

namespace cupilot {

static constexpr unsigned ChunkStacks = 64;
static constexpr uint64_t GuardSize = 4096;
/// A guard splits a mapping in two, and a process may have 65,530 (Linux,
/// vm.max_map_count). Beyond that the check at the functions' entry stands
/// alone.
static constexpr unsigned MaxGuarded = 16384;
static std::atomic<unsigned> Guards = 0;

StackChunk::StackChunk(uint64_t StackSize, unsigned Count)
    : StackSize(StackSize), Count(Count) {
  // Pages that are not touched cost nothing.
  void *Map = ::mmap(nullptr, StackSize * Count, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (Map == MAP_FAILED)
    report_fatal_error("the cpu device cannot get memory for its stacks");
  Base = static_cast<char *>(Map);
  if (Guards.fetch_add(Count) + Count > MaxGuarded) {
    Guards -= Count;
    return;
  }
  Guarded = Count;
  for (unsigned I = 0; I < Count; ++I)
    ::mprotect(Base + I * StackSize, GuardSize, PROT_NONE);
}

StackChunk::~StackChunk() {
  ::munmap(Base, StackSize * Count);
  Guards -= Guarded;
}

namespace {
/// Chunks that no launch uses now.
struct ChunkStore {
  /// Stacks of threads that waited hold a few pages each.
  static constexpr size_t MaxKept = 64;
  std::mutex Mutex;
  std::vector<std::unique_ptr<StackChunk>> Kept;
};
} // namespace

static ChunkStore &chunkStore() {
  static auto *Store = new ChunkStore; // Launches may come late in exit().
  return *Store;
}

FiberPool::~FiberPool() {
  ChunkStore &Store = chunkStore();
  std::lock_guard Lock(Store.Mutex);
  for (auto &Chunk : Chunks)
    if (Store.Kept.size() < ChunkStore::MaxKept)
      Store.Kept.push_back(std::move(Chunk));
}

Fiber &FiberPool::take() {
  if (Free.empty()) {
    std::unique_ptr<StackChunk> Chunk;
    {
      ChunkStore &Store = chunkStore();
      std::lock_guard Lock(Store.Mutex);
      auto It = find_if(Store.Kept, [&](const auto &Kept) {
        return Kept->StackSize == StackSize;
      });
      if (It != Store.Kept.end()) {
        Chunk = std::move(*It);
        Store.Kept.erase(It);
      }
    }
    if (!Chunk)
      Chunk = std::make_unique<StackChunk>(StackSize, ChunkStacks);
    auto Batch = std::make_unique<Fiber[]>(Chunk->Count);
    for (unsigned I = Chunk->Count; I-- > 0;) {
      Fiber &F = Batch[I];
      F.Owner = &Owner;
      char *Low = Chunk->Base + I * StackSize;
      // Tops staggered by cache lines, or all would fall into one set.
      F.Thread.StackTop = Low + StackSize - (I % 64) * 64;
      F.Thread.StackLimit = Low + GuardSize + StackReserve;
      Free.push_back(&F);
    }
    Fibers.push_back(std::move(Batch));
    Chunks.push_back(std::move(Chunk));
  }
  Fiber &F = *Free.back();
  Free.pop_back();
  if (!F.Context) {
    char *Low = F.Thread.StackLimit - StackReserve;
    F.Context = boost::context::detail::make_fcontext(
        F.Thread.StackTop, F.Thread.StackTop - Low, Worker::fiberMain);
  }
  return F;
}

} // namespace cupilot
