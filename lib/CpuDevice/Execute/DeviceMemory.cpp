//===- DeviceMemory.cpp - Memory that device code may touch -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceBuffers.h"
#include "cupilot/Support/Pages.h"
#include <mutex>
#include <sys/mman.h>

using namespace llvm;

namespace cupilot {

/// Freed memory that is kept from reuse, in bytes, and how many freed buffers
/// are remembered.
static constexpr uint64_t QuarantineLimit = 64u << 20;
static constexpr size_t FreedLimit = 1u << 16;

DeviceMemory::~DeviceMemory() = default;

std::unique_ptr<DeviceMemory> DeviceMemory::create() {
  return std::make_unique<DeviceBuffers>();
}

DeviceBuffers::~DeviceBuffers() {
  for (auto &[Base, E] : Buffers)
    std::free(E.Shadow);
  for (auto [Shadow, Bytes] : Retired)
    std::free(Shadow);
  for (auto [Base, Size] : Quarantine)
    std::free(Base);
}

DeviceBuffers::Map::const_iterator DeviceBuffers::at(uintptr_t Address) const {
  auto It = Buffers.upper_bound(Address);
  if (It == Buffers.begin())
    return Buffers.end();
  --It;
  return Address - It->first < It->second.Size ? It : Buffers.end();
}

void DeviceBuffers::addBuffer(void *Pointer, uint64_t Size, bool ReadOnly) {
  std::unique_lock Lock(Mutex);
  auto Base = reinterpret_cast<uintptr_t>(Pointer);
  if (auto It = Buffers.find(Base); It != Buffers.end()) {
    if (It->second.Size == Size) {
      It->second.ReadOnly = ReadOnly;
      return;
    }
    remove(It);
  }
  Buffers[Base] = {Size, ReadOnly, {}, nullptr, 0};
  // What was freed in this place is no longer there to be misused.
  auto Old = Freed.lower_bound(Base);
  if (Old != Freed.begin() &&
      std::prev(Old)->first + std::prev(Old)->second > Base)
    --Old;
  while (Old != Freed.end() && Old->first < Base + Size)
    Old = Freed.erase(Old);
}

void DeviceBuffers::remove(Map::iterator It) {
  Entry &E = It->second;
  if (E.Shadow) {
    if (Launches == 0) {
      ShadowBytes -= E.Granules * sizeof(Granule);
      std::free(E.Shadow);
    } else {
      Retired.push_back({E.Shadow, E.Granules * sizeof(Granule)});
    }
  }
  if (E.Size > 0) {
    Freed[It->first] = E.Size;
    FreedOrder.push_back(It->first);
    if (FreedOrder.size() > FreedLimit) {
      Freed.erase(FreedOrder.front());
      FreedOrder.pop_front();
    }
  }
  Buffers.erase(It);
}

void DeviceBuffers::removeBuffer(void *Base) {
  std::unique_lock Lock(Mutex);
  auto It = Buffers.find(reinterpret_cast<uintptr_t>(Base));
  if (It != Buffers.end())
    remove(It);
}

void DeviceBuffers::freeBuffer(void *Base) {
  if (!Base)
    return;
  std::unique_lock Lock(Mutex);
  uint64_t Size = 0;
  if (auto It = Buffers.find(reinterpret_cast<uintptr_t>(Base));
      It != Buffers.end()) {
    Size = It->second.Size;
    remove(It);
  }
  Quarantine.push_back({Base, Size});
  QuarantineBytes += Size;
  while (QuarantineBytes > QuarantineLimit) {
    auto [Oldest, Bytes] = Quarantine.front();
    Quarantine.pop_front();
    QuarantineBytes -= Bytes;
    std::free(Oldest);
  }
}

std::optional<DeviceBuffer> DeviceBuffers::find(const void *Address) const {
  std::shared_lock Lock(Mutex);
  auto It = at(reinterpret_cast<uintptr_t>(Address));
  if (It == Buffers.end())
    return std::nullopt;
  return DeviceBuffer{reinterpret_cast<void *>(It->first), It->second.Size,
                      It->second.ReadOnly};
}

std::optional<DeviceBuffer>
DeviceBuffers::findFreed(const void *Address) const {
  std::shared_lock Lock(Mutex);
  auto Value = reinterpret_cast<uintptr_t>(Address);
  auto It = Freed.upper_bound(Value);
  if (It == Freed.begin())
    return std::nullopt;
  --It;
  if (Value - It->first >= It->second)
    return std::nullopt;
  return DeviceBuffer{reinterpret_cast<void *>(It->first), It->second, false};
}

std::optional<DeviceBuffer> DeviceBuffers::nearest(const void *Address) const {
  std::shared_lock Lock(Mutex);
  if (Buffers.empty())
    return std::nullopt;
  auto Value = reinterpret_cast<uintptr_t>(Address);
  auto It = Buffers.upper_bound(Value);
  if (It == Buffers.end()) {
    --It;
  } else if (It != Buffers.begin()) {
    auto Below = std::prev(It);
    uint64_t End = Below->first + Below->second.Size;
    if (Value < End || Value - End <= It->first - Value)
      It = Below;
  }
  return DeviceBuffer{reinterpret_cast<void *>(It->first), It->second.Size,
                      It->second.ReadOnly};
}

/// What the heap itself keeps for a block, about.
static constexpr uint64_t HeapHeader = 16;

DeviceBuffers::ThreadName DeviceBuffers::nameOf(const DeviceHeapBlock &B) {
  return {B.Block[0],  B.Block[1],  B.Block[2],
          B.Thread[0], B.Thread[1], B.Thread[2]};
}

void DeviceBuffers::heapAllocated(DeviceHeapBlock Block) {
  addBuffer(Block.Base, Block.Size, false);
  setWritten(Block.Base, Block.Size, false);
  std::unique_lock Lock(Mutex);
  ThreadHeap &Own = ThreadHeaps[nameOf(Block)];
  Own.Now += Block.Size + HeapHeader;
  if (Own.Now > Own.Peak) {
    HeapUse.AtOnce += Own.Now - Own.Peak;
    Own.Peak = Own.Now;
  }
  if (!HeapUse.Refused && Block.Size > LargestBlock) {
    LargestBlock = Block.Size;
    HeapUse.Location = Block.Location.empty() ? Block.Kernel : Block.Location;
  }
  HeapBlocks[reinterpret_cast<uintptr_t>(Block.Base)] = std::move(Block);
}

void DeviceBuffers::heapFreed(void *Base) {
  {
    std::unique_lock Lock(Mutex);
    auto It = HeapBlocks.find(reinterpret_cast<uintptr_t>(Base));
    if (It != HeapBlocks.end()) {
      // Whoever frees it, it was held by who asked for it.
      ThreadHeaps[nameOf(It->second)].Now -= It->second.Size + HeapHeader;
      HeapBlocks.erase(It);
    }
  }
  freeBuffer(Base);
}

void DeviceBuffers::heapRefused(uint64_t Size, StringRef Location) {
  std::unique_lock Lock(Mutex);
  if (HeapUse.Refused++ > 0)
    return;
  HeapUse.RefusedBytes = Size;
  HeapUse.Location = Location.str();
}

DeviceHeapUse DeviceBuffers::heapUse() const {
  std::shared_lock Lock(Mutex);
  return HeapUse;
}

std::vector<DeviceHeapBlock> DeviceBuffers::deviceHeap() const {
  std::shared_lock Lock(Mutex);
  std::vector<DeviceHeapBlock> Blocks;
  Blocks.reserve(HeapBlocks.size());
  for (const auto &[Base, Block] : HeapBlocks)
    Blocks.push_back(Block);
  return Blocks;
}

//===----------------------------------------------------------------------===//
// The shadow of buffers
//===----------------------------------------------------------------------===//

/// Four times the memory needs four times the pages, which the processor's
/// tables would not hold. What is not touched still costs nothing.
static void useLargePages(void *Start, uint64_t Size) {
#ifdef MADV_HUGEPAGE
  static constexpr uint64_t Large = 2 << 20;
  uint64_t From = alignTo(reinterpret_cast<uintptr_t>(Start), Large);
  uint64_t To = alignDown(reinterpret_cast<uintptr_t>(Start) + Size, Large);
  if (From < To) // A hint: it may fail.
    ::madvise(reinterpret_cast<void *>(From), To - From, MADV_HUGEPAGE);
#endif
}

bool DeviceBuffers::makeShadow(uintptr_t Base, Entry &E) {
  if (E.Shadow || E.Size == 0)
    return E.Shadow;
  E.Granules = (Base + E.Size - 1) / GranuleBytes - firstGranule(Base) + 1;
  // Pages that no thread touches cost nothing.
  E.Shadow = static_cast<Granule *>(std::calloc(E.Granules, sizeof(Granule)));
  if (!E.Shadow)
    return false;
  useLargePages(E.Shadow, E.Granules * sizeof(Granule));
  ShadowBytes += E.Granules * sizeof(Granule);
  BitVector Unwritten = std::move(E.Unwritten);
  E.Unwritten = BitVector();
  for (unsigned Byte : Unwritten.set_bits()) {
    uint64_t At = Base + Byte;
    E.Shadow[At / GranuleBytes - firstGranule(Base)].Write |=
        uint64_t(1) << (word::UnwrittenShift + At % GranuleBytes);
  }
  return true;
}

std::optional<DeviceBuffers::Shadowed>
DeviceBuffers::findShadowed(const void *Address) {
  auto Value = reinterpret_cast<uintptr_t>(Address);
  auto Result = [&](Map::const_iterator It) -> Shadowed {
    DeviceBuffer Buffer{reinterpret_cast<void *>(It->first), It->second.Size,
                        It->second.ReadOnly};
    uint64_t Offset = reinterpret_cast<uintptr_t>(It->second.Shadow) -
                      firstGranule(It->first) * sizeof(Granule);
    return {Buffer, It->second.Shadow ? Offset : 0};
  };
  {
    std::shared_lock Lock(Mutex);
    auto It = at(Value);
    if (It == Buffers.end())
      return std::nullopt;
    if (It->second.Shadow)
      return Result(It);
  }
  std::unique_lock Lock(Mutex);
  auto It = at(Value);
  if (It == Buffers.end())
    return std::nullopt;
  auto Own = Buffers.find(It->first);
  makeShadow(Own->first, Own->second);
  return Result(It);
}

/// Calls \p Visit with each granule of [From, From + Size) and the bytes of it
/// that are meant.
template <typename FnT>
static void forGranules(uint64_t From, uint64_t Size, FnT Visit) {
  for (uint64_t At = From, End = From + Size; At < End;) {
    uint64_t First = At % GranuleBytes;
    uint64_t Count = std::min(GranuleBytes - First, End - At);
    Visit(At / GranuleBytes, ((uint64_t(1) << Count) - 1) << First);
    At += Count;
  }
}

void DeviceBuffers::mark(uintptr_t Base, Entry &E, uint64_t From, uint64_t Size,
                         bool Written) {
  if (!E.Shadow) {
    if (Written && E.Unwritten.empty())
      return;
    E.Unwritten.resize(E.Size);
    if (Written)
      E.Unwritten.reset(From, From + Size);
    else
      E.Unwritten.set(From, From + Size);
    return;
  }
  forGranules(Base + From, Size, [&](uint64_t Index, uint64_t Bytes) {
    uint64_t &Word = E.Shadow[Index - firstGranule(Base)].Write;
    uint64_t Bits = Bytes << word::UnwrittenShift;
    if (Written && (loadWord(Word) & Bits))
      __atomic_and_fetch(&Word, ~Bits, __ATOMIC_RELAXED);
    else if (!Written)
      __atomic_or_fetch(&Word, Bits, __ATOMIC_RELAXED);
  });
}

void DeviceBuffers::setWritten(const void *Start, uint64_t Size, bool Written) {
  std::unique_lock Lock(Mutex);
  auto From = reinterpret_cast<uintptr_t>(Start);
  auto It = Buffers.upper_bound(From);
  if (It != Buffers.begin())
    --It;
  for (; It != Buffers.end() && It->first < From + Size; ++It) {
    uint64_t Lo = std::max<uint64_t>(From, It->first);
    uint64_t Hi = std::min<uint64_t>(From + Size, It->first + It->second.Size);
    if (Lo < Hi)
      mark(It->first, It->second, Lo - It->first, Hi - Lo, Written);
  }
}

bool DeviceBuffers::isUnwritten(uintptr_t Base, const Entry &E, uint64_t Byte) {
  if (!E.Shadow)
    return !E.Unwritten.empty() && E.Unwritten.test(Byte);
  uint64_t At = Base + Byte;
  return loadWord(E.Shadow[At / GranuleBytes - firstGranule(Base)].Write) >>
             (word::UnwrittenShift + At % GranuleBytes) &
         1;
}

void DeviceBuffers::copyWritten(void *To, const void *From, uint64_t Size) {
  auto Source = reinterpret_cast<uintptr_t>(From);
  BitVector Unwritten;
  {
    std::shared_lock Lock(Mutex);
    auto It = at(Source);
    if (It != Buffers.end() &&
        (It->second.Shadow || !It->second.Unwritten.empty())) {
      uint64_t First = Source - It->first;
      uint64_t Count = std::min(Size, It->second.Size - First);
      Unwritten.resize(Size);
      for (uint64_t I = 0; I < Count; ++I)
        if (isUnwritten(It->first, It->second, First + I))
          Unwritten.set(I);
    }
  }
  setWritten(To, Size, true);
  // Runs of bytes at once.
  for (int I = Unwritten.find_first(); I >= 0;) {
    int End = Unwritten.find_next_unset(I);
    uint64_t Stop = End < 0 ? Size : End;
    setWritten(static_cast<char *>(To) + I, Stop - I, false);
    I = End < 0 ? -1 : Unwritten.find_next(End);
  }
}

std::optional<BufferCoverage> DeviceBuffers::coverage(const void *Base) const {
  std::shared_lock Lock(Mutex);
  auto It = Buffers.find(reinterpret_cast<uintptr_t>(Base));
  if (It == Buffers.end())
    return std::nullopt;
  const Entry &E = It->second;
  BufferCoverage Result{BitVector(E.Size), BitVector(E.Size)};
  if (!E.Shadow)
    return Result;
  // Most of a large buffer is not touched, and looking at its shadow would
  // bring the pages of that.
  const auto Shadow = reinterpret_cast<uintptr_t>(E.Shadow);
  const std::vector<bool> Touched = PageMap().used(
      E.Shadow, E.Granules * sizeof(Granule), PageMap::Use::Touched);
  for (uint64_t Byte = 0, PageEnd = 0; Byte < E.Size;) {
    uint64_t At = It->first + Byte;
    const uint64_t Index = At / GranuleBytes - firstGranule(It->first);
    if (Index >= PageEnd) { // Of its shadow.
      const uint64_t Page = (Shadow + Index * sizeof(Granule)) / pageSize();
      PageEnd = divideCeil((Page + 1) * pageSize() - Shadow, sizeof(Granule));
      if (!Touched[Page - Shadow / pageSize()]) {
        Byte = (firstGranule(It->first) + PageEnd) * GranuleBytes - It->first;
        continue;
      }
    }
    const Granule &G = E.Shadow[Index];
    const uint64_t Read = loadWord(G.Read) & word::Read,
                   Written = loadWord(G.Write) & word::Written;
    const uint64_t Next =
        std::min<uint64_t>(E.Size, Byte + GranuleBytes - At % GranuleBytes);
    if (!(Read | Written))
      Byte = Next;
    for (; Byte < Next; ++Byte) {
      const uint64_t In = (It->first + Byte) % GranuleBytes;
      if (Read >> (word::ReadShift + In) & 1)
        Result.Read.set(Byte);
      if (Written >> (word::WrittenShift + In) & 1)
        Result.Written.set(Byte);
    }
  }
  return Result;
}

void DeviceBuffers::resetCoverage() {
  std::unique_lock Lock(Mutex);
  for (auto &[Base, E] : Buffers)
    for (uint64_t I = 0; E.Shadow && I < E.Granules; ++I) {
      E.Shadow[I].Read &= ~word::Read;
      E.Shadow[I].Write &= ~word::Written;
    }
}

uint64_t DeviceBuffers::checkMemory() const {
  std::shared_lock Lock(Mutex);
  return ShadowBytes + QuarantineBytes;
}

void DeviceBuffers::beginLaunch() {
  std::unique_lock Lock(Mutex);
  ++Launches;
}

void DeviceBuffers::endLaunch() {
  std::unique_lock Lock(Mutex);
  if (--Launches > 0)
    return;
  for (auto [Shadow, Bytes] : Retired) {
    ShadowBytes -= Bytes;
    std::free(Shadow);
  }
  Retired.clear();
}

void DeviceBuffers::forgetRaces() {
  for (auto &[Base, E] : Buffers)
    for (uint64_t I = 0; E.Shadow && I < E.Granules; ++I) {
      E.Shadow[I].Read &= word::LastingRead;
      E.Shadow[I].Write &= word::LastingWrite;
    }
  NextSegment = 1;
}

uint64_t DeviceBuffers::takeSegments(uint64_t Count) {
  std::unique_lock Lock(Mutex);
  // Numbers are used once. When they run out, all shadows are cleared, which no
  // other launch may see.
  if (NextSegment + Count > word::Segments && Launches <= 1)
    forgetRaces();
  if (NextSegment + Count > word::Segments)
    return 0;
  uint64_t First = NextSegment;
  NextSegment += Count;
  return First;
}

void DeviceBuffers::returnSegments(uint64_t First, uint64_t End) {
  std::unique_lock Lock(Mutex);
  if (NextSegment == End)
    NextSegment = First;
}

} // namespace cupilot
