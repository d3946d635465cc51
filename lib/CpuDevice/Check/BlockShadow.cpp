//===- BlockShadow.cpp - The race check's view of a launch and a block -*- C++
//-*-===//
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

std::unique_ptr<BlockObserver> LaunchShadow::observeBlocks() {
  return std::make_unique<BlockShadow>(*this);
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

//===----------------------------------------------------------------------===//
// Fences, atomics and named barriers
//
// CUDA orders threads of different blocks by fences and by atomic or volatile
// accesses (PTX ISA, "Memory Consistency Model", release and acquire patterns).
// The release side is followed to the letter: without a fence nothing is told.
// The acquire side is lenient: every atomic or volatile read learns, with or
// without a fence behind it, for that is how programs are written.
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Shared memory that two proxies see
//
// Bulk copies and wgmma read shared memory through the asynchronous proxy. What
// loads and stores wrote there comes to them in order only when a
// fence.proxy.async lies between (PTX ISA, "Async proxy" and "Proxy-preserved
// base causality order"): made by the writing thread before it synchronises
// with the one that issues the copy, or by any thread that has the write behind
// it and the copy before it.
//===----------------------------------------------------------------------===//

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

} // namespace cupilot
