//===- AccessRanges.cpp - Checks of ranges of memory -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AccessRanges.h"

using namespace llvm;

namespace cupilot {

std::optional<FaultKind> resolveAccess(ThreadContext &T, uint64_t Address,
                                       uint64_t Size, const AccessSite &Site,
                                       SiteCache &Cache) {
  BlockState &B = *T.Block;
  if (Size == 0)
    return std::nullopt;
  if (Site.Align > 1 && Address % Site.Align != 0)
    return misaligned(Site);
  uint64_t Lo = 0, Length = 0, Offset = 0;
  auto *Pointer = reinterpret_cast<void *>(Address);
  if (const BlockState *Owner = B.sharedOwner(Address)) {
    Lo = addressOf(Owner->Shared);
    Length = Owner->SharedSize;
    if (T.Checks)
      Offset = static_cast<BlockShadow &>(*Owner->Observer).sharedOffset();
  } else {
    std::optional<DeviceBuffer> Buffer;
    if (T.Checks) {
      if (auto Found = T.Checks->launch().find(Pointer)) {
        Buffer = Found->Buffer;
        Offset = Found->Offset;
      }
    } else {
      Buffer = B.Memory.find(Pointer);
    }
    if (!Buffer) {
      if (ownSpace(T, Address))
        return std::nullopt;
      return static_cast<DeviceBuffers &>(B.Memory).findFreed(Pointer)
                 ? FaultKind::UseAfterFree
                 : outOfBounds(Site);
    }
    if (Buffer->ReadOnly && Site.IsStore)
      return Site.IsAtomic ? FaultKind::ReadOnlyAtomic
                           : FaultKind::ReadOnlyWrite;
    Lo = addressOf(Buffer->Base);
    Length = Buffer->Size;
  }
  if (Address - Lo > Length - std::min(Size, Length) || Size > Length)
    return outOfBounds(Site);
  uint64_t Bits = Site.IsAtomic || Site.IsVolatile ? word::Atomic : 0;
  bool Coverage = B.Options.Coverage;
  if (Site.IsStore)
    Bits |= uint64_t(Site.WriteLocation) << word::WriteLocationShift |
            (Coverage ? word::Written : 0);
  else
    Bits |= uint64_t(Site.ReadLocation) << word::ReadLocationShift |
            (Coverage ? word::Read : 0);
  Cache = {Lo, Length - Size, Offset, static_cast<uint32_t>(Bits),
           Site.Align - 1};
  return std::nullopt;
}

void lockAtomic(ThreadContext &T, uint64_t Address) {
  T.AtomicLock = T.Checks->launch().lockFor(Address);
  while (__atomic_test_and_set(T.AtomicLock, __ATOMIC_ACQUIRE))
    ;
}

void unlockAtomic(ThreadContext &T) {
  if (T.AtomicLock)
    __atomic_clear(T.AtomicLock, __ATOMIC_RELEASE);
  T.AtomicLock = nullptr;
}

/// After a fault was recorded.
[[noreturn]] static void leave(ThreadContext &T) {
  unlockAtomic(T);
  T.Block->escape(T);
}

void leaveForRace(ThreadContext &T, uint64_t Address, uint64_t Size,
                  const AccessSite &Site, const Race &Found, bool SameValue) {
  recordRace(T, FaultKind::DataRace, Address, Size, Site, Found.Word,
             Found.OtherWrote, Found.Known, SameValue);
  leave(T);
}

/// Bounds, for a range that the cache does not hold. False: there is nothing
/// more to check.
bool resolve(ThreadContext &T, uint64_t Address, uint64_t Size,
             const AccessSite &Site, SiteCache &Cache) {
  SiteCache Fresh;
  if (std::optional<FaultKind> Kind =
          resolveAccess(T, Address, Size, Site, Fresh)) {
    if (!T.Block->Options.CheckBounds)
      return false;
    recordMiss(T, Address, Size, Site, *Kind);
    leave(T);
  }
  Cache = Fresh;
  return Fresh.Shadow != 0;
}

/// Reports a read of bytes that hold nothing, if that is asked for.
void checkWritten(ThreadContext &T, uint64_t Address, uint64_t Size,
                  uint64_t Unwritten, const AccessSite &Site) {
  if (Site.Carries) // What depends on it will say.
    T.LastUnwritten = {Address, Size, Unwritten, &Site};
  if (!T.Block->Options.CheckWritten || Site.Carries)
    return;
  recordUnwritten(T, Address, Size, Unwritten, Site);
  leave(T);
}

/// The part of an access behind the bounds. Returns the bytes read that hold
/// nothing, of the first 64.
uint64_t readRange(ThreadContext &T, uint64_t Address, uint64_t Size,
                   const AccessSite &Site, const SiteCache &Cache) {
  uint64_t Unwritten = 0, FirstBad = ~0ull;
  forGranules(Cache.Shadow, Address, Size,
              [&](Granule &G, uint64_t Bytes, uint64_t Done) {
                Race Found;
                uint64_t Bad = readGranule(T, G, Bytes, Cache.Bits, Found);
                if (Found.Word)
                  leaveForRace(T, Address, Size, Site, Found, false);
                if (Bad) {
                  FirstBad = std::min(FirstBad, Done);
                  Bad >>= llvm::countr_zero(Bytes);
                  if (Done < 64)
                    Unwritten |= Bad << Done;
                }
              });
  if (FirstBad != ~0ull) {
    if (FirstBad >= 64)
      checkWritten(T, Address + FirstBad, Size - FirstBad, 1, Site);
    else
      checkWritten(T, Address, Size, Unwritten, Site);
  }
  return Unwritten;
}

/// Returns what another write left, if that makes a race.
Race writeRange(ThreadContext &T, uint64_t Address, uint64_t Size,
                const AccessSite &Site, const SiteCache &Cache) {
  Race Writes;
  forGranules(Cache.Shadow, Address, Size,
              [&](Granule &G, uint64_t Bytes, uint64_t) {
                Race Found;
                writeGranule(T, G, Bytes, Cache.Bits, Found);
                if (!Found.Word)
                  return;
                if (!Found.OtherWrote)
                  leaveForRace(T, Address, Size, Site, Found, false);
                Writes = Found;
              });
  return Writes;
}

void atomicRange(ThreadContext &T, uint64_t Address, uint64_t Size,
                 const AccessSite &Site, const SiteCache &Cache) {
  bool Coverage = (Cache.Bits & word::Written) != 0;
  uint64_t Unwritten = 0;
  forGranules(Cache.Shadow, Address, Size,
              [&](Granule &G, uint64_t Bytes, uint64_t Done) {
                Race Found;
                uint64_t Bad =
                    loadWord(G.Write) >> word::UnwrittenShift & Bytes;
                Unwritten |= (Bad >> llvm::countr_zero(Bytes)) << Done;
                writeGranule(T, G, Bytes, Cache.Bits, Found);
                if (Coverage)
                  __atomic_or_fetch(&G.Read, Bytes << word::ReadShift,
                                    __ATOMIC_RELAXED);
                if (Found.Word)
                  leaveForRace(T, Address, Size, Site, Found, false);
              });
  if (Unwritten)
    checkWritten(T, Address, Size, Unwritten, Site);
}

uint32_t raceOfStore(ThreadContext &T, uint64_t Address, uint64_t Size,
                     const AccessSite &Site, const Race &Found) {
  if (!Found.Word)
    return 0;
  if (!Found.OtherWrote)
    leaveForRace(T, Address, Size, Site, Found, false);
  // Without bytes: it was some lane of its warp.
  T.RaceWord = Found.Known ? Found.Word : Found.Word & ~word::Bytes;
  return 1;
}

} // namespace cupilot
