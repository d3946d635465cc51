//===- Touch.cpp - Checks of what the run time does to memory -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Touch.h"
#include "AccessRanges.h"

using namespace llvm;
using namespace cupilot;

void cupilot::touch(ThreadContext &T, const void *Address, uint64_t Size,
                    AccessKind Kind, uint32_t Index) {
  touchAligned(T, Address, Size, /*Align=*/0, Kind, Index);
}

/// The site as \p Kind and \p Align say it is.
static const AccessSite &siteFor(ThreadContext &T, uint64_t Align,
                                 AccessKind Kind, uint32_t Index) {
  bool IsStore = Kind != AccessKind::Read,
       IsAtomic = Kind == AccessKind::Atomic;
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
                           uint64_t Align, AccessKind Kind, uint32_t Index) {
  if (Size == 0 || (!T.Block->Options.CheckBounds && !T.Checks))
    return;
  uint64_t A = addressOf(Address);
  const AccessSite &Site = siteFor(T, Align, Kind, Index);
  SiteCache Cache;
  if (!resolve(T, A, Size, Site, Cache))
    return;
  if (Kind == AccessKind::Read) {
    readRange(T, A, Size, Site, Cache);
    return;
  }
  if (Kind == AccessKind::Atomic) {
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
