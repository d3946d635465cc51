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

#include "AccessRanges.h"
#include <cstring>

using namespace llvm;
using namespace cupilot;

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

/// The shadow of a group of accesses, when all are inside and allowed; else 0,
/// and each is looked at by itself.
uint64_t cupilot_rt_group(ThreadContext *T, uint64_t Start, uint32_t Index) {
  SiteCache Found;
  if (resolveAccess(*T, Start, siteAt(*T, Index).Size, siteAt(*T, Index),
                    Found) ||
      Found.Shadow == 0)
    return 0;
  T->Sites[Index] = Found;
  return Found.Shadow;
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
  // Each lane of a warp stores what the warp agreed on.
  if (Same && siteAt(*T, Site).OfGroups &&
      word::thread(T->RaceWord) / 32 == T->Linear / 32 &&
      T->Checks->isOwnBlock(T->RaceWord))
    return;
  leaveForRace(*T, addressOf(P), Size, siteAt(*T, Site),
               {T->RaceWord, true, (T->RaceWord & word::Bytes) != 0}, Same);
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
  T->Block->escape(*T);
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
void cupilot_rt_proxy_fence(ThreadContext *T) {
  if (T->Checks)
    T->Checks->proxyFence(*T);
}

} // extern "C"
