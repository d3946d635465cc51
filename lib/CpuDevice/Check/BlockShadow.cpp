//===- BlockShadow.cpp - The race check's view of a block -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockShadow.h"
#include "Execute/Scheduler.h"

using namespace llvm;

namespace cupilot {

/// Segments of a launch beyond one for each block. A thread needs another after
/// 1023 synchronisations.
static constexpr uint64_t MoreSegments = 1u << 20;

LaunchShadow::LaunchShadow(DeviceBuffers &Buffers, const LaunchShape &Shape,
                           const LoweredKernel &Kernel,
                           const CpuDeviceOptions &Options,
                           ArrayRef<DeviceBuffer> Objects)
    : Buffers(Buffers), Shape(Shape), Kernel(Kernel), Options(Options) {
  Buffers.beginLaunch();
  for (const DeviceBuffer &Object : Objects)
    if (!Buffers.find(Object.Base))
      this->Objects.addBuffer(Object.Base, Object.Size, Object.ReadOnly);
  if (!Options.CheckRaces)
    return;
  // Blocks beyond the numbers that there are go unchecked.
  Blocks = std::min(Shape.Grid[0] * Shape.Grid[1] * Shape.Grid[2],
                    word::Segments - MoreSegments - 1);
  Count = Blocks + MoreSegments;
  First = Buffers.takeSegments(Count);
  if (First == 0)
    Count = 0;
}

LaunchShadow::~LaunchShadow() {
  if (First)
    Buffers.returnSegments(First + Blocks + More.size(), First + Count);
  Buffers.endLaunch();
}

std::optional<DeviceBuffers::Shadowed> LaunchShadow::find(const void *Address) {
  if (auto Found = Buffers.findShadowed(Address))
    return Found;
  return Objects.findShadowed(Address);
}

uint64_t LaunchShadow::newSegment(uint64_t Block, uint64_t Base) {
  std::lock_guard Lock(SegmentMutex);
  if (!First || Blocks + More.size() == Count)
    return 0;
  More.push_back({Block, Base});
  return First + Blocks + More.size() - 1;
}

LaunchShadow::Segment LaunchShadow::segment(uint64_t Number) const {
  uint64_t Index = Number - First;
  if (Index < Blocks)
    return {Index, 0};
  std::lock_guard Lock(SegmentMutex);
  return More[Index - Blocks];
}

SyncPoint &LaunchShadow::at(uint64_t Address, uint64_t Block) {
  std::unique_ptr<SyncPoint> &Point = Points[{Address, Block}];
  if (!Point)
    Point = std::make_unique<SyncPoint>();
  return *Point;
}

SyncPoint *LaunchShadow::findAt(uint64_t Address, uint64_t Block) {
  auto It = Points.find({Address, Block});
  return It == Points.end() ? nullptr : It->second.get();
}

void BlockShadow::blockBegins(BlockState &B) {
  const LaunchShape &S = Launch.Shape;
  Block = B.Block[0] + S.Grid[0] * (B.Block[1] + S.Grid[1] * B.Block[2]);
  Threads = S.Block[0] * S.Block[1] * S.Block[2];
  Contexts.assign(Threads, nullptr);
  // A block finds nothing that is written in its shared memory, but for what
  // the system keeps there for cooperative groups, somewhere in it.
  SharedShadow.assign(
      B.SharedSize / GranuleBytes + 1,
      {Launch.Kernel.ReservedShared > 0 ? 0 : word::Unwritten, 0});
  SharedOffset = reinterpret_cast<uintptr_t>(SharedShadow.data()) -
                 reinterpret_cast<uintptr_t>(B.Shared) * ShadowFactor;
  All.assign(Threads, {0, Launch.segmentOf(Block), 0});
  Warps.clear();
  Warps.resize((Threads + 31) / 32);
  BarrierClock = 0;
  Split = Extra = Moved = FencedSince = false;
  Known.clear();
  OwnKnown.clear();
  Learners.clear();
  DeviceFences.clear();
  BlockFences.clear();
  ProxyFences.clear();
  Landed.clear();
  DeviceFenced = BlockFenced = nullptr;
  DeviceFencedAll = BlockFencedAll = 0;
}

void BlockShadow::threadBegins(BlockState &, ThreadContext &T) {
  Contexts[T.Linear] = &T;
  T.Checks = this;
  T.LaunchLowest = Launch.lowest();
  T.Extra = Extra;
  restamp(T.Linear);
}

void BlockShadow::threadEnds(BlockState &, ThreadContext &T) {
  Contexts[T.Linear] = nullptr;
}

void BlockShadow::barrierArrived(BlockState &, ThreadContext &T, uint32_t Id,
                                 uint32_t Count) {
  if (Count == 0)
    return; // All come, and wait. With a number, some may only arrive.
  std::lock_guard Lock(Launch.Mutex);
  tellAll(Launch.at(Id, Block), T.Linear);
}

void BlockShadow::barrierReleased(BlockState &B, uint32_t Id) {
  auto Waits = [&](const ThreadState &S) {
    return S.Now == ThreadState::State::AtBarrier && S.BarrierId == Id;
  };
  if (static_cast<unsigned>(count_if(B.threads(), Waits)) == B.live()) {
    blockBarrier();
    return;
  }
  for (auto [Index, S] : enumerate(B.threads()))
    if (Waits(S))
      leave(Index, Id);
}

void BlockShadow::warpCompleted(BlockState &B, unsigned Index, uint32_t Lanes) {
  uint32_t Alive = 0;
  for (uint32_t L = 0; L < 32 && Index * 32 + L < B.threads().size(); ++L)
    if (B.threads()[Index * 32 + L].Now != ThreadState::State::Done)
      Alive |= 1u << L;
  warpSync(Index, Lanes, Alive);
}

void BlockShadow::collectiveCompleted(BlockState &, unsigned First,
                                      unsigned Count) {
  for (unsigned Index = First; Index < First + Count; Index += 32)
    warpSync(Index / 32, ~0u, ~0u);
}

void BlockShadow::clusterReleased(BlockState &B) {
  if (B.Rank != 0)
    return; // The first block does it for all.
  std::lock_guard Lock(Launch.Mutex);
  SyncPoint &Point = Launch.at(1000, Block);
  auto ForBlocks = [&](auto Visit) {
    for (const auto &Other : B.Cluster.Blocks)
      Visit(static_cast<BlockShadow &>(*Other->Observer));
  };
  ForBlocks([&](BlockShadow &Each) {
    Each.blockBarrier();
    Point.tell(Each.Block, SyncPoint::AllThreads, Each.BarrierClock,
               /*Device=*/true);
    Point.tell(Each.Known);
  });
  ForBlocks([&](BlockShadow &Each) {
    Each.Known.learn({&Point, Point.length()});
    Each.setExtra();
  });
}

static uint32_t relative(uint64_t Clock, uint64_t Base) {
  return Clock > Base ? std::min<uint64_t>(Clock - Base, word::ClockMask + 1)
                      : 0;
}

void BlockShadow::restamp(uint32_t Index) {
  if (!Contexts[Index])
    return;
  ThreadContext &T = *Contexts[Index];
  const Thread &Own = All[Index];
  T.LaunchSpan = Own.Segment ? Launch.span() : 0;
  T.Stamp = word::stamp(Own.Segment, Index, Own.Clock - Own.Base);
  T.OpenStamp = T.Extra ? ~uint64_t(0) : T.Stamp;
  T.Settled = relative(BarrierClock, Own.Base);
  T.SegmentLowest = word::stamp(Own.Segment, 0, 0);
  T.SettledSpan = uint64_t(T.Settled) << word::ClockShift;
  T.WarpSettled = relative(Warps[Index / 32].Settled, Own.Base);
}

void BlockShadow::move(uint32_t Index, uint64_t Clock) {
  Thread &Own = All[Index];
  Own.Clock = Clock;
  Moved = true;
  if (Clock - Own.Base > word::ClockMask) {
    Own.Segment = Launch.newSegment(Block, Clock);
    Own.Base = Clock;
    Split = true;
    setExtra();
  }
  restamp(Index);
}

void BlockShadow::setExtra() {
  Extra = Moved = true;
  for (ThreadContext *T : Contexts)
    if (T)
      markExtra(*T);
}

bool BlockShadow::isOver(const ThreadContext &T, uint64_t Word) const {
  if (Word - Launch.lowest() >= Launch.span())
    return true; // An earlier launch.
  LaunchShadow::Segment S = Launch.segment(word::segment(Word));
  return isOver(T, S.Block, word::thread(Word), S.Base + word::clock(Word));
}

bool BlockShadow::isOver(const ThreadContext &T, uint64_t OtherBlock,
                         uint32_t Other, uint64_t Clock) const {
  if (OtherBlock == Block) {
    if (Other == T.Linear || Clock < BarrierClock)
      return true;
    if (Other / 32 == T.Linear / 32) {
      const Warp &W = Warps[Other / 32];
      if (Clock < W.Settled ||
          (W.Rows && Clock < (*W.Rows)[T.Linear % 32][Other % 32]))
        return true;
    }
  }
  if (Known.empty() && (OwnKnown.empty() || OwnKnown[T.Linear].empty()))
    return false;
  std::lock_guard Lock(Launch.Mutex);
  return Known.covers(Block, OtherBlock, Other, Clock) ||
         (!OwnKnown.empty() &&
          OwnKnown[T.Linear].covers(Block, OtherBlock, Other, Clock));
}

/// Barriers carry over what fences of all threads had behind them: a thread
/// that stores after the barrier releases that too.
void BlockShadow::noteFences() {
  if (!FencedSince)
    return;
  FencedSince = false;
  auto Note = [&](const std::vector<Fence> &Fences, ThreadClocks &Clocks,
                  uint64_t &Barrier) {
    if (Fences.empty())
      return;
    std::vector<uint64_t> Now;
    for (const Fence &F : Fences) {
      Now.push_back(F.Own);
      Barrier = std::max(Barrier, F.Barrier);
    }
    Clocks = std::make_shared<const std::vector<uint64_t>>(std::move(Now));
  };
  Note(DeviceFences, DeviceFenced, DeviceFencedAll);
  Note(BlockFences, BlockFenced, BlockFencedAll);
}

void BlockShadow::blockBarrier() {
  Moved = true;
  noteFences();
  uint64_t Clock = 0;
  for (const Thread &Each : All)
    Clock = std::max(Clock, Each.Clock);
  BarrierClock = ++Clock;
  if (Split || Clock - All[0].Base > word::ClockMask) {
    // All are at one clock now, and can have one segment.
    uint64_t Segment = Launch.newSegment(Block, Clock);
    for (Thread &Each : All)
      Each = {Clock, Segment, Clock};
    Split = false;
    setExtra();
  }
  if (!Learners.empty()) {
    for (uint32_t Index : Learners) {
      Known.learn(OwnKnown[Index]);
      OwnKnown[Index].clear();
    }
    Learners.clear();
    setExtra();
  }
  for (uint32_t I = 0; I < Threads; ++I) {
    All[I].Clock = Clock;
    restamp(I);
  }
}

void BlockShadow::warpSync(unsigned Index, uint32_t Mask, uint32_t Alive) {
  Moved = true;
  Warp &W = Warps[Index];
  uint32_t First = Index * 32;
  auto Each = [&](auto Visit) {
    for (uint32_t Lane = 0; Lane < 32; ++Lane)
      if (Mask >> Lane & 1)
        Visit(Lane);
  };
  uint64_t Clock = 0;
  Each([&](uint32_t L) { Clock = std::max(Clock, All[First + L].Clock); });
  ++Clock;
  if ((Mask & Alive) == Alive) {
    W.Settled = Clock;
  } else {
    if (!W.Rows) {
      W.Rows = std::make_unique<std::array<std::array<uint64_t, 32>, 32>>();
      setExtra();
    }
    std::array<uint64_t, 32> Row{};
    Each([&](uint32_t L) {
      for (unsigned K = 0; K < 32; ++K)
        Row[K] = std::max(Row[K], (*W.Rows)[L][K]);
    });
    Each([&](uint32_t L) { Row[L] = Clock; });
    Each([&](uint32_t L) { (*W.Rows)[L] = Row; });
  }
  if (!Learners.empty()) {
    Knowledge Joint;
    Each([&](uint32_t L) { Joint.learn(OwnKnown[First + L]); });
    if (!Joint.empty())
      Each([&](uint32_t L) {
        for (SyncView View : Joint.views())
          learn(First + L, View);
      });
  }
  // One segment for all of them, when one overflows.
  uint64_t Segment = 0;
  bool Made = false;
  Each([&](uint32_t L) {
    Thread &Own = All[First + L];
    Own.Clock = Clock;
    if (Clock - Own.Base > word::ClockMask) {
      if (!Made)
        Segment = Launch.newSegment(Block, Clock);
      Made = true;
      Own.Segment = Segment;
      Own.Base = Clock;
    }
    restamp(First + L);
  });
  if (Made) {
    Split = true;
    setExtra();
  }
}

} // namespace cupilot
