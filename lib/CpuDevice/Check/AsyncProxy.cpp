//===- AsyncProxy.cpp - Shared memory that two proxies see -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bulk copies and wgmma read shared memory through the asynchronous proxy. What
// loads and stores wrote there comes to them in order only when a
// fence.proxy.async lies between (PTX ISA, "Async proxy" and "Proxy-preserved
// base causality order"): made by the writing thread before it synchronises
// with the one that issues the copy, or by any thread that has the write behind
// it and the copy before it.
//
//===----------------------------------------------------------------------===//

#include "Access.h"
#include "Hopper/OpRuntime.h"

using namespace llvm;

namespace cupilot {

/// Fences of a thread that are remembered: it may be that far ahead of the one
/// that issues a copy.
static constexpr size_t MostFences = 32;

void BlockShadow::proxyFence(ThreadContext &T) {
  uint32_t Index = T.Linear;
  move(Index, All[Index].Clock + 1);
  if (ProxyFences.empty())
    ProxyFences.resize(Threads);
  auto &Mine = ProxyFences[Index];
  if (Mine.size() == MostFences)
    Mine.pop_front();
  const Warp &W = Warps[Index / 32];
  ProxyFence &F = Mine.emplace_back();
  F.Made = {All[Index].Clock, BarrierClock, W.Settled};
  if (W.Rows)
    F.Met.assign((*W.Rows)[Index % 32].begin(), (*W.Rows)[Index % 32].end());
  F.Known = Known;
  if (!OwnKnown.empty())
    F.Known.learn(OwnKnown[Index]);
}

/// Whether the fence of thread \p By has the write of \p Writer at \p Clock
/// behind it.
bool BlockShadow::isBehind(const ProxyFence &F, uint32_t By, uint32_t Writer,
                           uint64_t Clock) const {
  if (By == Writer)
    return Clock < F.Made.Own;
  if (Clock < F.Made.Barrier)
    return true;
  if (By / 32 == Writer / 32 &&
      (Clock < F.Made.WarpSettled ||
       (!F.Met.empty() && Clock < F.Met[Writer % 32])))
    return true;
  if (F.Known.empty())
    return false;
  std::lock_guard Lock(Launch.Mutex);
  return F.Known.covers(Block, Block, Writer, Clock);
}

/// Whether a fence of thread \p By has that write behind it, and what \p T does
/// now before it.
bool BlockShadow::liesBetween(const ThreadContext &T, uint32_t By,
                              uint32_t Writer, uint64_t Clock) const {
  // The first behind which the write lies is the first that T may know.
  for (const ProxyFence &F : ProxyFences[By])
    if (isBehind(F, By, Writer, Clock))
      return By == T.Linear || isOver(T, Block, By, F.Made.Own);
  return false;
}

bool BlockShadow::isFenced(const ThreadContext &T, uint64_t Word) const {
  if (Word - Launch.lowest() >= Launch.span())
    return true; // Of no thread of this launch.
  LaunchShadow::Segment S = Launch.segment(word::segment(Word));
  if (S.Block != Block)
    return true; // What another block of the cluster wrote is not followed.
  if (ProxyFences.empty())
    return false;
  uint64_t Clock = S.Base + word::clock(Word);
  uint32_t Writer = word::thread(Word);
  if (liesBetween(T, Writer, Writer, Clock) ||
      liesBetween(T, T.Linear, Writer, Clock))
    return true;
  for (uint32_t By = 0; By < Threads; ++By)
    if (liesBetween(T, By, Writer, Clock))
      return true;
  return false;
}

/// What is not compared when a write word is found again.
static constexpr uint64_t Passing = word::Written;

/// The number, among all of the address space, of the first of SharedShadow.
uint64_t BlockShadow::firstGranule() const {
  return (reinterpret_cast<uintptr_t>(SharedShadow.data()) - SharedOffset) /
         sizeof(Granule);
}

void BlockShadow::noteLanded(uint64_t Address, uint64_t Size) {
  Landed.resize(SharedShadow.size());
  uint64_t First = firstGranule();
  for (uint64_t At = Address / GranuleBytes;
       At <= (Address + Size - 1) / GranuleBytes; ++At)
    Landed[At - First] = loadWord(SharedShadow[At - First].Write) & ~Passing;
}

uint64_t BlockShadow::findUnfenced(const ThreadContext &T, uint64_t &Address,
                                   uint64_t Size) const {
  uint64_t First = firstGranule();
  uint64_t Last = 0;
  for (uint64_t At = Address / GranuleBytes;
       At <= (Address + Size - 1) / GranuleBytes; ++At) {
    uint64_t Word = loadWord(SharedShadow[At - First].Write);
    if (!(Word & word::Bytes) || Word == Last ||
        (!Landed.empty() && Landed[At - First] == (Word & ~Passing)))
      continue;
    Last = Word;
    if (isFenced(T, Word))
      continue;
    Address = At * GranuleBytes;
    return Word;
  }
  return 0;
}

void noteLanded(ThreadContext &T, uint64_t Address, uint64_t Size) {
  if (T.Checks && T.Block->Options.CheckRaces)
    if (BlockState *Owner = T.Block->sharedOwner(Address))
      static_cast<BlockShadow &>(*Owner->Observer).noteLanded(Address, Size);
}

void touchThroughProxy(const OpCall &Call, ThreadContext &T, uint64_t Address,
                       uint64_t Size) {
  touchChecked(Call, T, Address, Size, TouchKind::Read);
  if (!T.Checks || !T.Block->Options.CheckRaces ||
      T.Block->sharedOwner(Address) != T.Block)
    return;
  uint64_t Word = T.Checks->findUnfenced(T, Address, Size);
  if (!Word)
    return;
  recordRace(T, Address, GranuleBytes,
             Call.Block.Tables.Sites[Call.Op.ReadSite], Word,
             /*OtherWrote=*/true, /*Known=*/true, /*SameValue=*/false);
  DeviceFault &F = *T.Block->Fault;
  F.Kind = "data race between proxies";
  F.Detail += ", by the asynchronous proxy without a fence.proxy.async";
  T.Block->escape(T);
}

} // namespace cupilot

using namespace cupilot;

extern "C" void cupilot_rt_proxy_fence(ThreadContext *T) {
  if (T->Checks)
    T->Checks->proxyFence(*T);
}
