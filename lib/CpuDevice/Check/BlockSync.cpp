//===- BlockSync.cpp - Fences, atomics and named barriers -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CUDA orders threads of different blocks by fences and by atomic or volatile
// accesses (PTX ISA, "Memory Consistency Model", release and acquire patterns).
// The release side is followed to the letter: without a fence nothing is told.
// The acquire side is lenient: every atomic or volatile read learns, with or
// without a fence behind it, for that is how programs are written.
//
//===----------------------------------------------------------------------===//

#include "BlockShadow.h"
#include "Execute/Scheduler.h"

using namespace llvm;

namespace cupilot {

void BlockShadow::learn(uint32_t Index, SyncView View) {
  if (OwnKnown.empty())
    OwnKnown.resize(Threads);
  if (OwnKnown[Index].empty()) {
    Learners.push_back(Index);
    if (Contexts[Index])
      markExtra(*Contexts[Index]);
  }
  OwnKnown[Index].learn(View);
}

void BlockShadow::fence(ThreadContext &T, bool Device) {
  uint32_t Index = T.Linear;
  move(Index, All[Index].Clock + 1);
  Fence F = {All[Index].Clock, BarrierClock, Warps[Index / 32].Settled};
  for (auto *Fences : {&BlockFences, &DeviceFences}) {
    if (Fences == &DeviceFences && !Device)
      continue;
    if (Fences->empty())
      Fences->resize(Threads);
    (*Fences)[Index] = F;
  }
  FencedSince = true;
}

void BlockShadow::tellFence(SyncPoint &Point, uint32_t Index, const Fence &F,
                            bool Device) {
  if (F.Own == 0)
    return;
  Point.tell(Block, Index, F.Own, Device);
  if (F.Barrier > 0)
    Point.tell(Block, SyncPoint::AllThreads, F.Barrier, Device);
  if (F.WarpSettled > F.Barrier)
    for (uint32_t Lane = 0; Lane < 32; ++Lane)
      Point.tell(Block, Index / 32 * 32 + Lane, F.WarpSettled, Device);
}

void BlockShadow::release(ThreadContext &T, uint64_t Address) {
  if (BlockFences.empty())
    return; // No thread of the block has made a fence.
  uint32_t Index = T.Linear, First = Index / 32 * 32;
  const Warp &W = Warps[Index / 32];
  // Lanes that made a fence before they met this one.
  auto LaneFence = [&](const std::vector<Fence> &Fences, uint32_t Lane) {
    uint64_t Met = W.Settled;
    if (W.Rows)
      Met = std::max(Met, (*W.Rows)[Index % 32][Lane]);
    return First + Lane < Fences.size()
               ? std::min(Met, Fences[First + Lane].Own)
               : 0;
  };
  bool Any = BlockFences[Index].Own > 0 || BlockFenced;
  for (uint32_t Lane = 0; Lane < 32 && !Any; ++Lane)
    Any = LaneFence(BlockFences, Lane) > 0;
  if (!Any)
    return;
  std::lock_guard Lock(Launch.Mutex);
  SyncPoint &Point = Launch.at(Address, ownerOf(T, Address));
  for (bool Device : {true, false}) {
    const std::vector<Fence> &Fences = Device ? DeviceFences : BlockFences;
    if (Fences.empty())
      continue;
    tellFence(Point, Index, Fences[Index], Device);
    for (uint32_t Lane = 0; Lane < 32; ++Lane)
      if (uint64_t Clock = LaneFence(Fences, Lane))
        Point.tell(Block, First + Lane, Clock, Device);
    if (const ThreadClocks &Clocks = Device ? DeviceFenced : BlockFenced)
      Point.tell(Block, Clocks, Device);
    if (uint64_t Clock = Device ? DeviceFencedAll : BlockFencedAll)
      Point.tell(Block, SyncPoint::AllThreads, Clock, Device);
  }
  Point.tell(Known);
  if (!OwnKnown.empty())
    Point.tell(OwnKnown[Index]);
}

void BlockShadow::acquire(ThreadContext &T, uint64_t Address) {
  std::lock_guard Lock(Launch.Mutex);
  if (SyncPoint *Point = Launch.findAt(Address, ownerOf(T, Address));
      Point && Point->length() > 0)
    learn(T.Linear, {Point, Point->length()});
}

/// Shared memory of different blocks has, one after the other, the same
/// addresses.
uint64_t BlockShadow::ownerOf(const ThreadContext &T, uint64_t Address) {
  if (const BlockState *Owner = T.Block->sharedOwner(Address))
    return static_cast<BlockShadow &>(*Owner->Observer).Block;
  return LaunchShadow::NoBlock;
}

void BlockShadow::tellAll(SyncPoint &Point, uint32_t Index) {
  move(Index, All[Index].Clock + 1);
  Point.tell(Block, Index, All[Index].Clock, /*Device=*/true);
  if (BarrierClock > 0)
    Point.tell(Block, SyncPoint::AllThreads, BarrierClock, /*Device=*/true);
  const Warp &W = Warps[Index / 32];
  for (uint32_t Lane = 0; Lane < 32; ++Lane) {
    uint64_t Met = W.Settled;
    if (W.Rows)
      Met = std::max(Met, (*W.Rows)[Index % 32][Lane]);
    if (Met > BarrierClock && Lane != Index % 32)
      Point.tell(Block, Index / 32 * 32 + Lane, Met, /*Device=*/true);
  }
  Point.tell(Known);
  if (!OwnKnown.empty())
    Point.tell(OwnKnown[Index]);
}

void BlockShadow::publish(ThreadContext &T, uint64_t Address) {
  std::lock_guard Lock(Launch.Mutex);
  tellAll(Launch.at(Address, ownerOf(T, Address)), T.Linear);
}

void BlockShadow::leave(uint32_t Index, uint32_t Id) {
  noteFences();
  std::lock_guard Lock(Launch.Mutex);
  if (SyncPoint *Point = Launch.findAt(Id, Block))
    learn(Index, {Point, Point->length()});
}

} // namespace cupilot
