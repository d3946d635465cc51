//===- Access.cpp - Checks of single accesses -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What instrumented code calls before each access. Functions that may leave by
// `escape` hold no objects with destructors at that point.
//
//===----------------------------------------------------------------------===//

#include "Access.h"
#include "Shadow.h"
#include <cstring>

using namespace llvm;
using namespace cupilot;

const char *cupilot::resolveAccess(ThreadContext &T, uint64_t Address,
                                   uint64_t Size, const AccessSite &Site,
                                   SiteCache &Cache) {
  BlockState &B = *T.Block;
  if (Size == 0)
    return nullptr;
  if (Site.Align > 1 && Address % Site.Align != 0)
    return "misaligned";
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
        return nullptr;
      return static_cast<DeviceBuffers &>(B.Memory).findFreed(Pointer)
                 ? "use after free"
                 : "out-of-bounds";
    }
    if (Buffer->ReadOnly && Site.IsStore)
      return "read-only";
    Lo = addressOf(Buffer->Base);
    Length = Buffer->Size;
  }
  if (Address - Lo > Length - std::min(Size, Length) || Size > Length)
    return "out-of-bounds";
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
  return nullptr;
}

static void lockAtomic(ThreadContext &T, uint64_t Address) {
  T.AtomicLock = T.Checks->launch().lockFor(Address);
  while (__atomic_test_and_set(T.AtomicLock, __ATOMIC_ACQUIRE))
    ;
}

static void unlockAtomic(ThreadContext &T) {
  if (T.AtomicLock)
    __atomic_clear(T.AtomicLock, __ATOMIC_RELEASE);
  T.AtomicLock = nullptr;
}

/// After a fault was recorded.
[[noreturn]] static void leave(ThreadContext &T) {
  unlockAtomic(T);
  T.Block->escape(T);
}

/// Whether the access that left \p Word is by another thread of this launch and
/// not settled by a barrier of the block.
static inline bool isSuspicious(const ThreadContext &T, uint64_t Word) {
  if (Word - T.LaunchLowest >= T.LaunchSpan)
    return false;
  uint64_t Differs = Word ^ T.Stamp;
  if (!(Differs >> word::ThreadShift))
    return false;
  return Differs >> word::SegmentShift || word::clock(Word) >= T.Settled;
}

/// The same to the end, for a suspicious word: nothing orders the two.
static inline bool isUnordered(const ThreadContext &T, uint64_t Word) {
  uint64_t Differs = Word ^ T.Stamp;
  if (!(Differs >> (word::ThreadShift + 5)) &&
      word::clock(Word) < T.WarpSettled)
    return false; // A lane of the same warp.
  return !T.Extra || !T.Checks->isOver(T, Word);
}

/// Whether accesses with these low bits make a race when one writes.
static inline bool isConflict(uint64_t A, uint64_t B) {
  return (A & B & word::Bytes) && !(A & B & word::Atomic);
}

namespace {
/// What an access ran into.
struct Race {
  uint64_t Word = 0;
  bool OtherWrote = false, Known = true;
};
} // namespace

/// Notes a read of \p Bytes; returns those that nobody wrote.
static inline uint64_t readGranule(ThreadContext &T, Granule &G, uint64_t Bytes,
                                   uint64_t Bits, Race &Found) {
  uint64_t W = loadWord(G.Write), R = loadWord(G.Read);
  Bits |= Bytes;
  if (isSuspicious(T, W) && isConflict(W, Bits) && isUnordered(T, W))
    Found = {W, true, true};
  uint64_t Cover = Bits & word::Read & (Bytes << word::ReadShift);
  Bits &= ~word::Read;
  uint64_t New = 0;
  if (isSuspicious(T, R) && isUnordered(T, R) &&
      (!(R & word::Atomic) || (Bits & word::Atomic))) {
    // The first of several readers stays: the one who writes is often among the
    // later ones.
    New = R | Cover |
          ((R & Bytes) == Bytes && !((R ^ Bits) & word::Atomic) ? word::Several
                                                                : 0);
  } else {
    New = T.Stamp | Bits | Cover | (R & word::Read);
    if (!((R ^ T.Stamp) >> word::ClockShift) && !((R ^ Bits) & word::Atomic))
      New |= R & (word::Bytes | word::Several);
  }
  if (New != R) {
    if (Cover & ~R)
      while (!__atomic_compare_exchange_n(&G.Read, &R, New | (R & word::Read),
                                          /*weak=*/false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED))
        ;
    else
      storeWord(G.Read, New);
  }
  return W >> word::UnwrittenShift & Bytes;
}

/// Notes a write of \p Bytes.
static inline void writeGranule(ThreadContext &T, Granule &G, uint64_t Bytes,
                                uint64_t Bits, Race &Found) {
  uint64_t W = loadWord(G.Write), R = loadWord(G.Read);
  Bits |= Bytes;
  if (isSuspicious(T, W)) {
    if (isConflict(W, Bits) && isUnordered(T, W))
      Found = {W, true, true};
  }
  if (isSuspicious(T, R)) {
    if (isConflict(R, Bits) && isUnordered(T, R))
      Found = {R, false, true};
  } else if ((R & word::Several) && isConflict(R, Bits) && T.LaunchSpan &&
             !((R ^ T.Stamp) >> word::ClockShift)) {
    // This thread read it, and another that it has not met since.
    Found = {R, false, false};
  }
  Bits &= ~(word::Written ^ (word::Written & Bytes << word::WrittenShift));
  uint64_t Clear = word::Unwritten & ~(Bytes << word::UnwrittenShift);
  auto Next = [&](uint64_t Old) {
    uint64_t New = T.Stamp | Bits | (Old & (word::Written | Clear));
    if (!((Old ^ T.Stamp) >> word::ClockShift) &&
        !((Old ^ Bits) & word::Atomic))
      New |= Old & word::Bytes;
    return New;
  };
  if (Bytes == word::Bytes) {
    if (uint64_t New = Next(W); New != W)
      storeWord(G.Write, New);
    return;
  }
  // Other threads may be about to mark other bytes of the word.
  while (!__atomic_compare_exchange_n(&G.Write, &W, Next(W), /*weak=*/false,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
}

static inline Granule &granuleAt(uint64_t Shadow, uint64_t Address) {
  return *reinterpret_cast<Granule *>(Shadow +
                                      Address / GranuleBytes * sizeof(Granule));
}

/// Calls \p Visit with each granule, the bytes of it, and the number of bytes
/// before it.
template <typename FnT>
static inline void forGranules(uint64_t Shadow, uint64_t Address, uint64_t Size,
                               FnT Visit) {
  for (uint64_t Done = 0; Done < Size;) {
    uint64_t First = (Address + Done) % GranuleBytes;
    uint64_t Count = std::min(GranuleBytes - First, Size - Done);
    Visit(granuleAt(Shadow, Address + Done),
          ((uint64_t(1) << Count) - 1) << First, Done);
    Done += Count;
  }
}

[[noreturn]] static void leaveForRace(ThreadContext &T, uint64_t Address,
                                      uint64_t Size, const AccessSite &Site,
                                      const Race &Found, bool SameValue) {
  recordRace(T, Address, Size, Site, Found.Word, Found.OtherWrote, Found.Known,
             SameValue);
  leave(T);
}

/// Bounds, for a range that the cache does not hold. False: there is nothing
/// more to check.
static bool resolve(ThreadContext &T, uint64_t Address, uint64_t Size,
                    const AccessSite &Site, SiteCache &Cache) {
  SiteCache Fresh;
  const char *Why = resolveAccess(T, Address, Size, Site, Fresh);
  if (Why) {
    if (!T.Block->Options.CheckBounds)
      return false;
    recordMiss(T, Address, Size, Site, Why);
    leave(T);
  }
  Cache = Fresh;
  return Fresh.Shadow != 0;
}

static inline const AccessSite &siteAt(const ThreadContext &T, uint32_t Index) {
  return T.Block->Tables.Sites[Index];
}

/// Reports a read of bytes that hold nothing, if that is asked for.
static void checkWritten(ThreadContext &T, uint64_t Address, uint64_t Size,
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
static uint64_t readRange(ThreadContext &T, uint64_t Address, uint64_t Size,
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
static Race writeRange(ThreadContext &T, uint64_t Address, uint64_t Size,
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

static void atomicRange(ThreadContext &T, uint64_t Address, uint64_t Size,
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

/// The cache of a site when it holds \p Address; else it is looked up. Null:
/// there is nothing more to check.
static inline SiteCache *cacheFor(ThreadContext &T, uint64_t Address,
                                  uint64_t Size, uint32_t Index) {
  SiteCache &Cache = T.Sites[Index];
  if (LLVM_LIKELY(Address - Cache.Lo <= Cache.Limit &&
                  !(Address & Cache.AlignMask)))
    return Cache.Shadow ? &Cache : nullptr;
  return resolve(T, Address, Size, siteAt(T, Index), Cache) ? &Cache : nullptr;
}

/// A load of a whole number of granules, or of one or two bytes of one.
template <unsigned Size>
static inline uint64_t load(ThreadContext *T, void *P, uint32_t Index) {
  uint64_t A = addressOf(P);
  SiteCache *Cache = cacheFor(*T, A, Size, Index);
  if (!Cache)
    return 0;
  if (LLVM_UNLIKELY(A % (Size < 4 ? Size : 4)))
    return readRange(*T, A, Size, siteAt(*T, Index), *Cache);
  Race Found;
  uint64_t Unwritten = 0;
  Granule *G = &granuleAt(Cache->Shadow, A);
  if constexpr (Size < 4)
    Unwritten =
        readGranule(*T, *G, ((1u << Size) - 1) << A % 4, Cache->Bits, Found) >>
        A % 4;
  else
    for (unsigned I = 0; I < Size / 4; ++I)
      Unwritten |= readGranule(*T, G[I], word::Bytes, Cache->Bits, Found)
                   << 4 * I;
  if (LLVM_UNLIKELY(Found.Word))
    leaveForRace(*T, A, Size, siteAt(*T, Index), Found, false);
  if (LLVM_UNLIKELY(Unwritten))
    checkWritten(*T, A, Size, Unwritten, siteAt(*T, Index));
  return Unwritten;
}

/// What is left to do for a store that ran into another: its value decides.
static uint32_t raceOfStore(ThreadContext &T, uint64_t Address, uint64_t Size,
                            const AccessSite &Site, const Race &Found) {
  if (!Found.Word)
    return 0;
  if (!Found.OtherWrote)
    leaveForRace(T, Address, Size, Site, Found, false);
  T.RaceWord = Found.Word;
  return 1;
}

template <unsigned Size>
static inline uint32_t store(ThreadContext *T, void *P, uint32_t Index) {
  uint64_t A = addressOf(P);
  SiteCache *Cache = cacheFor(*T, A, Size, Index);
  if (!Cache)
    return 0;
  Race Found;
  if (LLVM_UNLIKELY(A % (Size < 4 ? Size : 4))) {
    Found = writeRange(*T, A, Size, siteAt(*T, Index), *Cache);
  } else {
    Granule *G = &granuleAt(Cache->Shadow, A);
    if constexpr (Size < 4)
      writeGranule(*T, *G, ((1u << Size) - 1) << A % 4, Cache->Bits, Found);
    else
      for (unsigned I = 0; I < Size / 4; ++I)
        writeGranule(*T, G[I], word::Bytes, Cache->Bits, Found);
  }
  if (LLVM_LIKELY(!Found.Word))
    return 0;
  return raceOfStore(*T, A, Size, siteAt(*T, Index), Found);
}

/// A range whose length is known only now: the cache is not used.
static bool rangeFor(ThreadContext &T, uint64_t Address, uint64_t Size,
                     const AccessSite &Site, SiteCache &Cache) {
  return Size > 0 && resolve(T, Address, Size, Site, Cache);
}

extern "C" {

void cupilot_rt_access(ThreadContext *T, void *Pointer, uint64_t Size,
                       uint32_t Index) {
  const AccessSite &Site = siteAt(*T, Index);
  SiteCache Found;
  resolve(*T, addressOf(Pointer), Size, Site, Found);
  if (Site.Size == Size && Found.Limit + 1 != 0 && Found.Lo != ~0ull)
    T->Sites[Index] = Found;
}

uint64_t cupilot_rt_load1(ThreadContext *T, void *P, uint32_t Site) {
  return load<1>(T, P, Site);
}
uint64_t cupilot_rt_load2(ThreadContext *T, void *P, uint32_t Site) {
  return load<2>(T, P, Site);
}
uint64_t cupilot_rt_load4(ThreadContext *T, void *P, uint32_t Site) {
  return load<4>(T, P, Site);
}
uint64_t cupilot_rt_load8(ThreadContext *T, void *P, uint32_t Site) {
  return load<8>(T, P, Site);
}
uint64_t cupilot_rt_load16(ThreadContext *T, void *P, uint32_t Site) {
  return load<16>(T, P, Site);
}
uint64_t cupilot_rt_read(ThreadContext *T, void *P, uint64_t Size,
                         uint32_t Site) {
  SiteCache Cache;
  return rangeFor(*T, addressOf(P), Size, siteAt(*T, Site), Cache)
             ? readRange(*T, addressOf(P), Size, siteAt(*T, Site), Cache)
             : 0;
}

uint32_t cupilot_rt_store1(ThreadContext *T, void *P, uint32_t Site) {
  return store<1>(T, P, Site);
}
uint32_t cupilot_rt_store2(ThreadContext *T, void *P, uint32_t Site) {
  return store<2>(T, P, Site);
}
uint32_t cupilot_rt_store4(ThreadContext *T, void *P, uint32_t Site) {
  return store<4>(T, P, Site);
}
uint32_t cupilot_rt_store8(ThreadContext *T, void *P, uint32_t Site) {
  return store<8>(T, P, Site);
}
uint32_t cupilot_rt_store16(ThreadContext *T, void *P, uint32_t Site) {
  return store<16>(T, P, Site);
}
uint32_t cupilot_rt_write(ThreadContext *T, void *P, uint64_t Size,
                          uint32_t Index) {
  const AccessSite &Site = siteAt(*T, Index);
  SiteCache Cache;
  if (!rangeFor(*T, addressOf(P), Size, Site, Cache))
    return 0;
  Race Found = writeRange(*T, addressOf(P), Size, Site, Cache);
  return raceOfStore(*T, addressOf(P), Size, Site, Found);
}

void cupilot_rt_store_race(ThreadContext *T, void *P, void *Value,
                           uint64_t Size, uint32_t Site) {
  bool Same = Value && std::memcmp(P, Value, Size) == 0;
  if (Same && !T->Block->Options.CheckSameValueRaces)
    return;
  leaveForRace(*T, addressOf(P), Size, siteAt(*T, Site), {T->RaceWord, true},
               Same);
}

/// Bytes just stored are copies of some that hold nothing.
void cupilot_rt_carry(ThreadContext *T, void *P, uint64_t Size,
                      uint64_t Unwritten, uint32_t Site) {
  SiteCache Cache;
  if (!rangeFor(*T, addressOf(P), Size, siteAt(*T, Site), Cache))
    return;
  forGranules(Cache.Shadow, addressOf(P), Size,
              [&](Granule &G, uint64_t Bytes, uint64_t Done) {
                uint64_t Bits = Done < 64 ? Unwritten >> Done : 0;
                Bits = Bits << llvm::countr_zero(Bytes) & Bytes;
                if (Bits)
                  __atomic_or_fetch(&G.Write, Bits << word::UnwrittenShift,
                                    __ATOMIC_RELAXED);
              });
}

void cupilot_rt_atomic(ThreadContext *T, void *P, uint64_t Size,
                       uint32_t Site) {
  if (SiteCache *Cache = cacheFor(*T, addressOf(P), Size, Site)) {
    lockAtomic(*T, addressOf(P));
    atomicRange(*T, addressOf(P), Size, siteAt(*T, Site), *Cache);
  }
}

/// Something depends on bytes that hold nothing.
void cupilot_rt_unwritten(ThreadContext *T) {
  const UnwrittenRead &Last = T->LastUnwritten;
  recordUnwritten(*T, Last.Address, Last.Size, Last.Bytes, *Last.Site);
  leave(*T);
}

void cupilot_rt_atomic_done(ThreadContext *T) { unlockAtomic(*T); }

/// memcpy and memmove: bytes that hold nothing are copied as such.
void cupilot_rt_copy(ThreadContext *T, void *To, void *From, uint64_t Size,
                     uint32_t ToSite, uint32_t FromSite) {
  cupilot_rt_read(T, From, Size, FromSite);
  if (cupilot_rt_write(T, To, Size, ToSite))
    cupilot_rt_store_race(T, To, From, Size, ToSite);
  for (uint64_t Done = 0; Done < Size; Done += 64) {
    uint64_t Count = std::min<uint64_t>(64, Size - Done), Unwritten = 0;
    SiteCache Cache;
    char *Source = static_cast<char *>(From) + Done;
    if (!rangeFor(*T, addressOf(Source), Count, siteAt(*T, FromSite), Cache))
      return;
    forGranules(Cache.Shadow, addressOf(Source), Count,
                [&](Granule &G, uint64_t Bytes, uint64_t At) {
                  uint64_t Bad =
                      loadWord(G.Write) >> word::UnwrittenShift & Bytes;
                  Unwritten |= (Bad >> llvm::countr_zero(Bytes)) << At;
                });
    if (Unwritten)
      cupilot_rt_carry(T, static_cast<char *>(To) + Done, Count, Unwritten,
                       ToSite);
  }
}

void cupilot_rt_fence(ThreadContext *T, uint32_t Device) {
  T->Checks->fence(*T, Device != 0);
}
void cupilot_rt_release(ThreadContext *T, void *P) {
  T->Checks->release(*T, addressOf(P));
}
void cupilot_rt_acquire(ThreadContext *T, void *P) {
  T->Checks->acquire(*T, addressOf(P));
}

} // extern "C"

void cupilot::touch(ThreadContext &T, const void *Address, uint64_t Size,
                    TouchKind Kind, uint32_t Index) {
  touchAligned(T, Address, Size, /*Align=*/0, Kind, Index);
}

/// The site as \p Kind and \p Align say it is.
static const AccessSite &siteFor(ThreadContext &T, uint64_t Align,
                                 TouchKind Kind, uint32_t Index) {
  bool IsStore = Kind != TouchKind::Read, IsAtomic = Kind == TouchKind::Atomic;
  if (Index != NoSite) {
    const AccessSite &Own = siteAt(T, Index);
    if (Own.IsStore == IsStore && Own.IsAtomic == IsAtomic &&
        (Align == 0 || Own.Align == Align))
      return Own;
  }
  // Nothing may be left to destroy when a fault escapes.
  static thread_local AccessSite Site;
  Site = Index == NoSite ? AccessSite() : siteAt(T, Index);
  Site.Align = static_cast<uint32_t>(std::max<uint64_t>(Align, 1));
  Site.IsStore = IsStore;
  Site.IsAtomic = IsAtomic;
  return Site;
}

void cupilot::touchAligned(ThreadContext &T, const void *Address, uint64_t Size,
                           uint64_t Align, TouchKind Kind, uint32_t Index) {
  if (Size == 0 || (!T.Block->Options.CheckBounds && !T.Checks))
    return;
  uint64_t A = addressOf(Address);
  const AccessSite &Site = siteFor(T, Align, Kind, Index);
  SiteCache Cache;
  if (!resolve(T, A, Size, Site, Cache))
    return;
  if (Kind == TouchKind::Read) {
    readRange(T, A, Size, Site, Cache);
    return;
  }
  if (Kind == TouchKind::Atomic) {
    atomicRange(T, A, Size, Site, Cache);
    return;
  }
  Race Found = writeRange(T, A, Size, Site, Cache);
  if (Found.Word)
    leaveForRace(T, A, Size, Site, Found, false);
}

void cupilot::publish(ThreadContext &T, const void *Address) {
  if (T.Checks)
    T.Checks->publish(T, addressOf(Address));
}

void cupilot::subscribe(ThreadContext &T, const void *Address) {
  if (T.Checks)
    T.Checks->acquire(T, addressOf(Address));
}
