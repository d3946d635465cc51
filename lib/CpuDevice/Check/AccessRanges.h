//===- AccessRanges.h - Checks of ranges of memory -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_CHECK_ACCESSRANGES_H
#define CUPILOT_LIB_CPUDEVICE_CHECK_ACCESSRANGES_H

#include "Access.h"
#include "Granules.h"

namespace cupilot {

inline const AccessSite &siteAt(const ThreadContext &T, uint32_t Index) {
  return T.Block->Tables.Sites[Index];
}

// All may leave by BlockState::escape: their callers hold no objects with
// destructors.

[[noreturn]] void leaveForRace(ThreadContext &T, uint64_t Address,
                               uint64_t Size, const AccessSite &Site,
                               const Race &Found, bool SameValue);
/// Bounds, for a range that the cache does not hold. False: there is nothing
/// more to check.
bool resolve(ThreadContext &T, uint64_t Address, uint64_t Size,
             const AccessSite &Site, SiteCache &Cache);
/// Reports a read of bytes that hold nothing, if that is asked for.
void checkWritten(ThreadContext &T, uint64_t Address, uint64_t Size,
                  uint64_t Unwritten, const AccessSite &Site);
/// The part of a read behind the bounds. Returns the bytes read that hold
/// nothing, of the first 64.
uint64_t readRange(ThreadContext &T, uint64_t Address, uint64_t Size,
                   const AccessSite &Site, const SiteCache &Cache);
/// The same of a write. Returns what another write left, if that makes a race.
Race writeRange(ThreadContext &T, uint64_t Address, uint64_t Size,
                const AccessSite &Site, const SiteCache &Cache);
/// The same of an atomic.
void atomicRange(ThreadContext &T, uint64_t Address, uint64_t Size,
                 const AccessSite &Site, const SiteCache &Cache);
/// What is left to do for a store that ran into another: 1 when its value
/// decides.
uint32_t raceOfStore(ThreadContext &T, uint64_t Address, uint64_t Size,
                     const AccessSite &Site, const Race &Found);
/// An atomic is done under a lock from its check to its end.
void lockAtomic(ThreadContext &T, uint64_t Address);
void unlockAtomic(ThreadContext &T);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_CHECK_ACCESSRANGES_H
