//===- Access.h - Checks of single accesses -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_CHECK_ACCESS_H
#define CUPILOT_LIB_CPUDEVICE_CHECK_ACCESS_H

#include "BlockShadow.h"
#include "Execute/Scheduler.h"

namespace cupilot {

/// What is wrong with an access, if anything. Fills \p Cache with the range in
/// which \p Site is right, and the shadow there.
std::optional<FaultKind> resolveAccess(ThreadContext &T, uint64_t Address,
                                       uint64_t Size, const AccessSite &Site,
                                       SiteCache &Cache);

// Each records the fault; the caller leaves by BlockState::escape.
void recordMiss(ThreadContext &T, uint64_t Address, uint64_t Size,
                const AccessSite &Site, FaultKind Kind);
/// Bytes \p Unwritten (a bit each) of the \p Size at \p Address hold nothing.
void recordUnwritten(ThreadContext &T, uint64_t Address, uint64_t Size,
                     uint64_t Unwritten, const AccessSite &Site);
/// \p Word is what the other thread left: in the write word if \p OtherWrote.
/// Without \p Known it stands for some other thread.
void recordRace(ThreadContext &T, FaultKind Kind, uint64_t Address,
                uint64_t Size, const AccessSite &Site, uint64_t Word,
                bool OtherWrote, bool Known, bool SameValue);

/// What \p Site did at \p Address breaks \p Rule, with what \p By did in the
/// thread whose stamp is \p Word.
void recordExchange(ThreadContext &T, uint64_t Address, const AccessSite &Site,
                    uint64_t Word, const AccessSite &By, RaceRule Rule);

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_CHECK_ACCESS_H
