//===- Exchanges.cpp - What threads exchange without a lock -----*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Exchanges.h"
#include "AccessRanges.h"
#include <cstring>

using namespace llvm;
using namespace cupilot;

static bool isWatched(const ThreadContext &T, uint64_t Address,
                      const AccessSite &Site) {
  return Site.Size > 0 && Site.Size <= 16 &&
         ownSpace(T, Address) != AccessSpace::Local;
}

void Exchanges::begin(const ThreadContext &T, uint64_t Address,
                      const AccessSite &Site) {
  if (isWatched(T, Address, Site))
    std::memcpy(Before.data(), reinterpret_cast<void *>(Address), Site.Size);
}

void Exchanges::leave(ThreadContext &T, uint64_t Address,
                      const AccessSite &Site, const Place &P, RaceRule Rule) {
  recordExchange(T, Address, Site, P.Word, *P.By, Rule);
  T.Block->escape(T);
}

/// The thread has read and changed nothing.
void Exchanges::look(ThreadContext &T, uint64_t Address, const AccessSite &Site,
                     uint32_t Kind, Place &P, View &Mine) {
  const CpuDeviceOptions &Options = T.Block->Options;
  bool Polls = (Kind & ExchangePolls) != 0;
  P.Orders |= Polls || Site.IsAtomic;
  if (Options.CheckVolatileOrder && !P.Orders && P.Changes > 0 &&
      !T.Checks->isOver(T, P.Word))
    leave(T, Address, Site, P, RaceRule::VolatileOrder);
  Mine.Read = P.Changes + 1;
  Mine.Loaded = !Polls;
  if (Polls)
    Mine.Polled = Mine.Read;
}

void Exchanges::end(ThreadContext &T, uint64_t Address, const AccessSite &Site,
                    uint32_t Kind) {
  if (!isWatched(T, Address, Site))
    return;
  const uint64_t Owner = BlockShadow::ownerOf(T, Address);
  auto [It, New] = Numbers.try_emplace({Address, Owner}, Places.size());
  if (New)
    Places.emplace_back();
  Place &P = Places[It->second];
  View &Mine = Views[{It->second, T.Checks->blockNumber() << 10 | T.Linear}];
  const bool Stores = (Kind & ExchangeStores) != 0;
  const bool Changes =
      std::memcmp(Before.data(), reinterpret_cast<void *>(Address),
                  Site.Size) != 0;
  if (!Changes) {
    // Storing what lies there loses nothing.
    P.Orders |= Site.IsAtomic;
    if (Stores)
      Mine = View();
    else if (!(Kind & ExchangeBlind))
      look(T, Address, Site, Kind, P, Mine);
    return;
  }
  const bool Waited = Mine.Polled == P.Changes + 1;
  if (T.Block->Options.CheckLostUpdates && P.Changes > 0 &&
      !T.Checks->isOver(T, P.Word)) {
    const bool Late = Mine.Read > 0 && Mine.Read <= P.Changes;
    if (Stores ? Late || (Mine.Loaded && !Waited) : P.Update && !Waited)
      leave(T, Address, Site, P, RaceRule::LostUpdate);
  }
  P.Update = Stores && Mine.Loaded;
  P.Word = T.Stamp;
  P.By = &Site;
  P.Orders |= Site.IsAtomic;
  ++P.Changes;
  Mine = View();
  if (!Stores) // It has seen what it changed.
    Mine.Read = Mine.Polled = P.Changes + 1;
}

extern "C" {

void cupilot_rt_exchange_begin(ThreadContext *T, void *P, uint32_t Site) {
  T->Checks->launch().exchanges().begin(*T, addressOf(P), siteAt(*T, Site));
}

void cupilot_rt_exchange_end(ThreadContext *T, void *P, uint32_t Site,
                             uint32_t Kind) {
  T->Checks->launch().exchanges().end(*T, addressOf(P), siteAt(*T, Site), Kind);
}

} // extern "C"
