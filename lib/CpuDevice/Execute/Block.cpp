//===- Block.cpp - The threads of a block -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scheduler.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstring>
#include <numeric>

using namespace llvm;
using boost::context::detail::jump_fcontext;
using boost::context::detail::transfer_t;
using State = cupilot::ThreadState::State;

namespace cupilot {

BlockState::BlockState(Worker &Host, ClusterState &Cluster, unsigned Rank)
    : Host(Host), Launch(Host.Launch), Tables(Launch.Tables),
      Kernel(Launch.Kernel), Memory(Launch.Memory), Options(Launch.Options),
      Cluster(Cluster), Rank(Rank), Sites(Tables.Sites.size()) {
  if (Options.Count)
    Trace = std::make_unique<WarpTrace>(Tables, Kernel);
  if (Launch.Wide)
    Wide = std::make_unique<WideBlock>(*Launch.Wide);
  if (Launch.Observer)
    Observer = Launch.Observer->observeBlocks();
}

void BlockState::begin(uint64_t Index) {
  const LaunchShape &S = Launch.Shape;
  // Cluster and block in it, x fastest in both.
  uint64_t Within = Rank;
  for (unsigned I = 0; I < 3; ++I) {
    uint64_t Across = S.Grid[I] / S.Cluster[I];
    Block[I] = Index % Across * S.Cluster[I] + Within % S.Cluster[I];
    Index /= Across;
    Within /= S.Cluster[I];
  }
  NumThreads = S.Block[0] * S.Block[1] * S.Block[2];
  Begun = Ended = InWarpOps = InActive = 0;
  Spent = 0;
  Threads.clear();
  if (Options.ScheduleSeed) {
    Order.resize(NumThreads);
    std::iota(Order.begin(), Order.end(), 0u);
    for (unsigned I = NumThreads; I > 1; --I)
      std::swap(Order[I - 1], Order[Host.draw() % I]);
  }
  Barriers.fill(BarrierUnit());
  Async.reset();
  SharedSize = Kernel.StaticShared + S.Shared;
  Shared = SharedStore.reserve(SharedSize);
  // What a block finds there is undefined; a NaN shows who relies on it.
  std::memset(Shared, 0xff, SharedSize);
  if (Launch.ClusterBlocks > 1) // The neighbours lie elsewhere each time.
    Sites.assign(Sites.size(), SiteCache());
  if (Wide)
    Wide->setShared(Shared, SharedSize);
  if (Trace)
    Trace->beginBlock(NumThreads);
  if (Observer)
    Observer->blockBegins(*this);
}

void BlockState::end() {
  if (Async)
    Async->finish();
  if (Observer)
    Observer->blockEnds(*this);
  if (Trace)
    Trace->endBlock();
  if (Options.MaxLaunchInstructions && !Launch.Stop && !Launch.spend(Spent)) {
    ThreadContext T;
    prepare(T, 0);
    recordFault(T, FaultKind::RunawayLaunch, 0, nullptr,
                "more than " + Twine(Options.MaxLaunchInstructions) +
                    " instructions in all threads");
  }
}

void BlockState::prepare(ThreadContext &T, unsigned Linear) {
  const LaunchShape &S = Launch.Shape;
  T.Tid[0] = Linear % S.Block[0];
  T.Tid[1] = Linear / S.Block[0] % S.Block[1];
  T.Tid[2] = Linear / (S.Block[0] * S.Block[1]);
  for (unsigned I = 0; I < 3; ++I) {
    T.Ctaid[I] = Block[I];
    T.Ntid[I] = S.Block[I];
    T.Nctaid[I] = S.Grid[I];
  }
  T.Shared = Shared;
  T.DynShared = S.Shared;
  T.Linear = Linear;
  T.Sites = Sites.data();
  T.BlockCounts = Trace ? Trace->blockCounts(Linear) : nullptr;
  T.Budget = Launch.FirstBudget;
  T.Block = this;
}

/// The next thread in linear order.
static void step(ThreadContext &T) {
  ++T.Linear;
  if (++T.Tid[0] < T.Ntid[0])
    return;
  T.Tid[0] = 0;
  if (++T.Tid[1] < T.Ntid[1])
    return;
  T.Tid[1] = 0;
  ++T.Tid[2];
}

bool BlockState::nextOn(Fiber &F) {
  ThreadContext &T = F.Thread;
  // Nothing is to be done between threads that do not wait: a plain loop.
  if (!Kernel.NeedsFibers && !Kernel.Calls && !Trace && !Options.Reverse &&
      Order.empty()) {
    BlockObserver *const Watcher = Observer.get();
    const EntryFunction Entry = Launch.Entry;
    const int64_t Budget = Launch.FirstBudget;
    while (Threads.empty() && Begun < NumThreads &&
           !Launch.Stop.load(std::memory_order_relaxed)) {
      ++Begun;
      F.Granted = 0;
      step(T);
      T.Budget = Budget;
      if (Watcher)
        Watcher->nextBegins(T);
      Entry(&T, Launch.Args);
      if (LLVM_UNLIKELY(!Threads.empty())) {
        threadEnded(T);
        break;
      }
      ++Ended;
      Spent += Budget - T.Budget + Kernel.EntryInstructions;
    }
  }
  // Once a thread has waited, the scheduler goes round.
  if (Begun == NumThreads || Launch.Stop.load(std::memory_order_relaxed))
    return false;
  unsigned Linear = linearOf(Begun++);
  F.ClusterPhase = F.Granted = 0;
  if (Linear != T.Linear + 1) {
    prepare(T, Linear);
  } else {
    step(T);
    T.Budget = Launch.FirstBudget;
    if (Trace)
      T.BlockCounts = Trace->blockCounts(Linear);
  }
  if (Observer)
    Observer->threadBegins(*this, T);
  if (!Threads.empty()) {
    Threads[Linear].Now = State::Ready;
    Threads[Linear].On = &F;
  }
  return true;
}

void BlockState::threadEnded(ThreadContext &T) {
  if (Observer)
    Observer->threadEnds(*this, T);
  ++Ended;
  Host.Progress = true;
  Spent += Launch.FirstBudget - T.Budget + Kernel.EntryInstructions;
  Cluster.leave(T);
  if (Threads.empty())
    return;
  Threads[T.Linear].Now = State::Done;
  Threads[T.Linear].On = nullptr;
  // It may have been the one that others waited for.
  if (InWarpOps > 0)
    completeWarp(T.Linear / 32);
}

ThreadState &BlockState::stateOf(ThreadContext &T) {
  if (Threads.empty()) {
    // The first to wait: those that began before it have ended.
    Threads.resize(NumThreads);
    for (unsigned Turn = 0; Turn < Begun; ++Turn)
      Threads[linearOf(Turn)].Now = State::Done;
    Threads[T.Linear].Now = State::Ready;
    Threads[T.Linear].On = &fiberOf(T);
  }
  return Threads[T.Linear];
}

void BlockState::suspend(ThreadContext &T) {
  Worker &W = Host;
  ++Switches;
  transfer_t Back = jump_fcontext(W.Context, nullptr);
  W.Context = Back.fctx;
}

void BlockState::escape(ThreadContext &T) {
  threadEnded(T);
  Host.Abandoned = true;
  jump_fcontext(Host.Context, nullptr);
  llvm_unreachable("a fiber that was abandoned was resumed");
}

/// Runs \p F until its thread waits or ends; the fiber of one that has ended is
/// free again.
void BlockState::resume(Fiber &F) {
  Host.Abandoned = false;
  transfer_t Back = jump_fcontext(F.Context, &F);
  F.Context = Back.fctx;
  if (Host.Abandoned)
    Host.Fibers.abandon(F);
  else if (Threads.empty() || Threads[F.Thread.Linear].Now == State::Done)
    Host.Fibers.giveBack(F);
}

void BlockState::startThreads() {
  while (Begun < NumThreads && !Launch.Stop) {
    Fiber &F = Host.Fibers.take();
    unsigned Linear = linearOf(Begun++);
    F.ClusterPhase = F.Granted = 0;
    F.Thread.Changes = 0;
    prepare(F.Thread, Linear);
    if (Observer)
      Observer->threadBegins(*this, F.Thread);
    if (!Threads.empty()) {
      Threads[Linear].Now = State::Ready;
      Threads[Linear].On = &F;
    }
    Host.Progress = true;
    resume(F);
  }
}

void BlockState::pass() {
  startThreads();
  // With a ScheduleSeed, each pass begins elsewhere.
  const auto First =
      static_cast<unsigned>(Order.empty() ? 0 : Host.draw() % Order.size());
  for (unsigned Turn = 0; Turn < Threads.size() && !Launch.Stop; ++Turn) {
    ThreadState &S = Threads[linearOf(
        Turn + First < NumThreads ? Turn + First : Turn + First - NumThreads)];
    switch (S.Now) {
    case State::Ready:
      Host.Progress = true;
      resume(*S.On);
      break;
    case State::Yielded: {
      Fiber &F = *S.On;
      S.Now = State::Ready;
      resume(F);
      // Looking at memory once more is no progress.
      if (S.Now != State::Yielded)
        Host.Progress = true;
      break;
    }
    case State::Waiting:
      if (!(*S.Condition)())
        break;
      S.Now = State::Ready;
      Host.Progress = true;
      resume(*S.On);
      break;
    default:
      break;
    }
  }
  if (Threads.empty() || Launch.Stop)
    return;
  if (tryReleaseBarriers())
    Host.Progress = true;
  if (InActive > 0)
    for (unsigned Warp = 0; Warp * 32 < NumThreads; ++Warp)
      if (releaseActive(Warp))
        Host.Progress = true;
  checkStuck();
}

void BlockState::waitUntil(ThreadContext &T, function_ref<bool()> Condition,
                           const char *Why, uint32_t Where) {
  if (Condition())
    return;
  ThreadState &S = stateOf(T);
  S.Condition = &Condition;
  S.Why = Why;
  S.Where = Where;
  S.Now = State::Waiting;
  suspend(T);
  waitEnded(T);
}

void BlockState::yield(ThreadContext &T, uint32_t Where, const char *Why) {
  ThreadState &S = stateOf(T);
  if (Why)
    S.Why = Why;
  S.Where = Where;
  S.Now = State::Yielded;
  suspend(T);
}

void BlockState::takeTurn(ThreadContext &T, bool Looks) {
  if (!Host.switches(Looks))
    return;
  stateOf(T).Now = Looks ? State::Yielded : State::Ready;
  suspend(T);
}

void BlockState::waitEnded(ThreadContext &T) {
  if (!Threads.empty())
    Threads[T.Linear].Why = nullptr;
}

void BlockState::budget(ThreadContext &T) {
  Fiber &F = fiberOf(T);
  uint64_t All = Launch.FirstBudget + F.Granted;
  if (Options.MaxInstructions && All >= Options.MaxInstructions) {
    recordFault(T, FaultKind::RunawayThread, 0, nullptr,
                "more than " + Twine(Options.MaxInstructions) +
                    " instructions without an end");
    escape(T);
  }
  static constexpr int64_t More = 1 << 20;
  if (!Launch.spend(More)) {
    recordFault(T, FaultKind::RunawayLaunch, 0, nullptr,
                "more than " + Twine(Options.MaxLaunchInstructions) +
                    " instructions in all threads");
    escape(T);
  }
  F.Granted += More;
  T.Budget += More; // threadEnded() counts what was used beyond all of it.
}

BlockState *BlockState::sharedOwner(uint64_t Address) {
  for (const auto &Other : Cluster.Blocks)
    if (Address - reinterpret_cast<uintptr_t>(Other->Shared) <
        Other->SharedSize)
      return Other.get();
  return nullptr;
}

void BlockState::recordFault(const ThreadContext &T, FaultKind Kind,
                             uint64_t Address, const AccessSite *Site,
                             const Twine &Detail, uint32_t Where) {
  DeviceFault New;
  New.Kind = Kind;
  New.Kernel = Kernel.Name;
  for (unsigned I = 0; I < 3; ++I) {
    New.Block[I] = T.Ctaid[I];
    New.Thread[I] = T.Tid[I];
  }
  New.Address = Address;
  if (Site)
    New.Location = Site->Location;
  else if (Where < Tables.Places.size())
    New.Location = Tables.Places[Where];
  New.Detail = Detail.str();
  Fault = std::move(New);
  Launch.Stop = true;
}

//===----------------------------------------------------------------------===//
// Barriers of a block
//===----------------------------------------------------------------------===//

void BlockState::releaseBarrier(uint32_t Id) {
  if (Observer)
    Observer->barrierReleased(*this, Id);
  BarrierUnit Unit = Barriers[Id];
  Barriers[Id] = BarrierUnit();
  for (ThreadState &S : Threads)
    if (S.Now == State::AtBarrier && S.BarrierId == Id) {
      auto Kind = static_cast<BarrierKind>(S.BarrierResult);
      S.BarrierResult = Kind == BarrierKind::Popc  ? Unit.Popc
                        : Kind == BarrierKind::And ? Unit.And
                                                   : Unit.Or;
      S.Now = State::Ready;
    }
}

/// Barriers that all threads which live have come to, some having ended since.
bool BlockState::tryReleaseBarriers() {
  bool Any = false;
  for (uint32_t Id = 0; Id < Barriers.size(); ++Id) {
    const BarrierUnit &Unit = Barriers[Id];
    if (Unit.Arrived > 0 &&
        Unit.Arrived >= (Unit.Expected ? Unit.Expected : live())) {
      releaseBarrier(Id);
      Any = true;
    }
  }
  return Any;
}

static const char *nameOf(BarrierKind Kind) {
  switch (Kind) {
  case BarrierKind::Sync:
    return "__syncthreads()";
  case BarrierKind::Popc:
    return "__syncthreads_count()";
  case BarrierKind::And:
    return "__syncthreads_and()";
  case BarrierKind::Or:
    return "__syncthreads_or()";
  }
  return "";
}

/// ", the first at FILE:LINE", as far as it is known.
static std::string firstAt(const LoweredModule &Tables, uint32_t Where) {
  const std::string &Place = Tables.Places[Where];
  return Place.empty() ? "" : ", the first at " + Place;
}

/// Arrivals are counted, whatever instruction of the program they come from
/// (PTX ISA, "barrier{.cta}"): warps may take different branches to one
/// barrier. The lanes of one warp may not when it has .aligned, as
/// __syncthreads() has; an H200 hangs.
bool BlockState::wrongArrival(ThreadContext &T, BarrierKind Kind, uint32_t Id,
                              uint32_t Count, bool Aligned, uint32_t Where) {
  const BarrierUnit &Unit = Barriers[Id];
  if (Unit.Arrived > 0 && Unit.Expected != Count) {
    recordFault(T, FaultKind::DivergentBarrier, 0, nullptr,
                "threads of the block name different numbers of threads for "
                "barrier " +
                    Twine(Id) + ": " + Twine(Unit.Expected) + " and " +
                    Twine(Count) + firstAt(Tables, Unit.Where),
                Where);
    return true;
  }
  if (Unit.Arrived > 0 && Unit.Kind != Kind) {
    recordFault(T, FaultKind::DivergentBarrier, 0, nullptr,
                Twine("threads of the block meet at barrier ") + Twine(Id) +
                    " in " + nameOf(Unit.Kind) + " and in " + nameOf(Kind) +
                    firstAt(Tables, Unit.Where),
                Where);
    return true;
  }
  if (!Options.CheckDivergence || !Aligned || Unit.Arrived == 0 ||
      Threads.empty())
    return false;
  for (const ThreadState &S : lanesOf(T.Linear / 32))
    if (S.Now == State::AtBarrier && S.BarrierId == Id && S.Where != Where) {
      recordFault(T, FaultKind::BarrierInDivergentCode, 0, nullptr,
                  "lanes of one warp come to barrier " + Twine(Id) +
                      " in different places" + firstAt(Tables, S.Where),
                  Where);
      return true;
    }
  return false;
}

/// Counts \p T's arrival. True when it is not the last one.
bool BlockState::arrive(ThreadContext &T, BarrierKind Kind, uint32_t Id,
                        uint32_t Count, bool Aligned, uint32_t Where) {
  if (Trace)
    Trace->barrier(T.Linear);
  if (Observer)
    Observer->barrierArrived(*this, T, Id, Count);
  if (wrongArrival(T, Kind, Id, Count, Aligned, Where))
    escape(T);
  BarrierUnit &Unit = Barriers[Id];
  if (Unit.Arrived == 0) {
    Unit.Where = Where;
    Unit.Expected = Count;
    Unit.Kind = Kind;
  }
  ++Unit.Arrived;
  return Unit.Arrived < (Count ? Count : live());
}

uint32_t BlockState::barrier(ThreadContext &T, BarrierKind Kind, bool Aligned,
                             uint32_t Id, uint32_t Count, uint32_t Predicate,
                             uint32_t Where) {
  ThreadState &S = stateOf(T);
  Id %= 16;
  bool Waits = arrive(T, Kind, Id, Count, Aligned, Where);
  BarrierUnit &Unit = Barriers[Id];
  Unit.Popc += Predicate != 0;
  Unit.And &= Predicate != 0;
  Unit.Or |= Predicate != 0;
  S.BarrierId = Id;
  S.BarrierResult = static_cast<uint32_t>(Kind); // Until it is released.
  S.Where = Where;
  S.Now = State::AtBarrier;
  if (Waits)
    suspend(T);
  else
    releaseBarrier(Id);
  return S.BarrierResult;
}

void BlockState::barrierArrive(ThreadContext &T, uint32_t Id, uint32_t Count,
                               uint32_t Where) {
  stateOf(T);
  if (!arrive(T, BarrierKind::Sync, Id % 16, Count, /*Aligned=*/false, Where))
    releaseBarrier(Id % 16);
}

/// A block whose threads all wait for each other cannot be helped by others.
void BlockState::checkStuck() {
  // Two that wait for different things.
  const ThreadState *Stuck = nullptr, *Other = nullptr;
  for (const ThreadState &S : Threads) {
    if (S.Now == State::Done)
      continue;
    if (S.Now != State::AtBarrier && S.Now != State::AtWarp &&
        S.Now != State::AtCollective)
      return;
    if (!Stuck)
      Stuck = &S;
    else if (!Other && (S.Now != Stuck->Now || S.Where != Stuck->Where))
      Other = &S;
  }
  if (!Stuck || Launch.Stop)
    return;
  const ThreadContext &T = Stuck->On->Thread;
  std::string Elsewhere;
  if (Other) {
    const ThreadContext &O = Other->On->Thread;
    Elsewhere = formatv("; thread ({0},{1},{2}) waits {3}", O.Tid[0], O.Tid[1],
                        O.Tid[2],
                        Other->Now == State::AtBarrier ? "at a barrier"
                                                       : "in a warp operation")
                    .str();
    if (const std::string &Place = Tables.Places[Other->Where]; !Place.empty())
      Elsewhere += " at " + Place;
  }
  if (Stuck->Now == State::AtBarrier)
    recordFault(T, FaultKind::DivergentBarrier, 0, nullptr,
                "this thread waits at a barrier that others never reach" +
                    Elsewhere,
                Stuck->Where);
  else if (Stuck->Now == State::AtCollective)
    recordFault(T, FaultKind::WrongWarpMask, 0, nullptr,
                "other threads of the warp never reach the instruction" +
                    Elsewhere,
                Stuck->Where);
  else
    recordFault(T, FaultKind::WrongWarpMask, 0, nullptr,
                "lanes named in the mask 0x" + Twine::utohexstr(Stuck->Mask) +
                    " never reach the operation" + Elsewhere,
                Stuck->Where);
}

//===----------------------------------------------------------------------===//
// What the lanes of a warp do together
//===----------------------------------------------------------------------===//

MutableArrayRef<ThreadState> BlockState::lanesOf(unsigned Warp) {
  return MutableArrayRef(Threads).slice(
      Warp * 32, std::min<size_t>(32, Threads.size() - Warp * 32));
}

uint32_t BlockState::activeLanes(ThreadContext &T, uint32_t Where) {
  ThreadState &S = stateOf(T);
  S.Op = WarpOp::Active;
  S.Mask = 0;
  S.LaneArg = S.Where = Where;
  S.Now = State::AtWarp;
  ++InActive;
  suspend(T);
  return static_cast<uint32_t>(S.Result);
}

bool BlockState::releaseActive(unsigned Warp) {
  MutableArrayRef<ThreadState> Lanes = lanesOf(Warp);
  if (any_of(Lanes, [](const ThreadState &S) { return S.Now == State::Ready; }))
    return false;
  auto Waits = [](const ThreadState &S) {
    return S.Now == State::AtWarp && S.Op == WarpOp::Active;
  };
  for (ThreadState &S : Lanes) {
    if (!Waits(S))
      continue;
    S.Result = 0;
    for (unsigned I = 0; I < Lanes.size(); ++I)
      if (Waits(Lanes[I]) && Lanes[I].LaneArg == S.LaneArg)
        S.Result |= uint64_t(1) << I;
  }
  bool Any = false;
  for (ThreadState &S : Lanes)
    if (Waits(S)) {
      S.Now = State::Ready;
      --InActive;
      Any = true;
    }
  return Any;
}

/// Whether \p Lane of \p Linear's warp is one of \p Mask's, lives, and has come
/// to no operation of the warp.
bool BlockState::laneIsMissing(unsigned Linear, uint32_t Mask,
                               unsigned Lane) const {
  unsigned Thread = Linear / 32 * 32 + Lane;
  return Lane < 32 && (Mask >> Lane & 1) && Thread < Threads.size() &&
         Threads[Thread].Now != State::Done &&
         Threads[Thread].Now != State::AtWarp;
}

uint64_t BlockState::warp(ThreadContext &T, WarpOp Op, uint32_t Mask,
                          uint64_t Value, uint32_t LaneArg, uint32_t Clamp,
                          uint32_t Where) {
  if (!(Mask >> (T.Linear % 32) & 1)) {
    recordFault(T, FaultKind::WrongWarpMask, 0, nullptr,
                "the mask 0x" + Twine::utohexstr(Mask) +
                    " does not name this lane",
                Where);
    escape(T);
  }
  ThreadState &S = stateOf(T);
  S.Op = Op;
  S.Mask = Mask;
  S.Value = Value;
  S.LaneArg = LaneArg;
  S.Clamp = Clamp;
  S.Where = Where;
  S.Now = State::AtWarp;
  ++InWarpOps;
  // Mostly a neighbour is still to come, whichever way lanes take turns; to
  // look at all of them for each that comes would be most of the work.
  if (!laneIsMissing(T.Linear, Mask, T.Linear % 32 + 1) &&
      !laneIsMissing(T.Linear, Mask, T.Linear % 32 - 1))
    completeWarp(T.Linear / 32);
  if (S.Now == State::AtWarp)
    suspend(T);
  T.WarpPredicate = S.Predicate;
  return S.Result;
}

/// What one lane gets, when the lanes of \p Mask (of those that live) are
/// there.
static void finishLane(MutableArrayRef<ThreadState> Warp, unsigned Lane,
                       uint32_t Present) {
  ThreadState &F = Warp[Lane];
  F.Predicate = 0;
  auto Each = [&](auto Visit) {
    for (unsigned I = 0; I < Warp.size(); ++I)
      if (Present >> I & 1)
        Visit(I, Warp[I]);
  };
  auto Reduce = [&](auto Combine) {
    bool First = true;
    Each([&](unsigned, ThreadState &Other) {
      F.Result = First ? Other.Value : Combine(F.Result, Other.Value);
      First = false;
    });
  };
  auto Signed = [](uint64_t V) { return static_cast<int32_t>(V); };
  switch (F.Op) {
  case WarpOp::Sync:
  case WarpOp::Active: // Never finished here.
    break;
  case WarpOp::ShflIdx:
  case WarpOp::ShflUp:
  case WarpOp::ShflDown:
  case WarpOp::ShflBfly: {
    // PTX ISA, "shfl.sync": the clamp operand holds the segment mask too.
    int Segment = static_cast<int>(F.Clamp >> 8 & 31),
        Bound = static_cast<int>(F.Clamp & 31);
    int Arg = static_cast<int>(F.LaneArg & 31), Self = static_cast<int>(Lane);
    int Max = (Self & Segment) | (Bound & ~Segment), Min = Self & Segment;
    int Source = 0;
    bool Inside = false;
    if (F.Op == WarpOp::ShflUp) {
      Source = Self - Arg;
      Inside = Source >= Max;
    } else if (F.Op == WarpOp::ShflDown) {
      Source = Self + Arg;
      Inside = Source <= Max;
    } else if (F.Op == WarpOp::ShflBfly) {
      Source = Self ^ Arg;
      Inside = Source <= Max;
    } else {
      Source = Min | (Arg & ~Segment);
      Inside = Source <= Max;
    }
    if (!Inside)
      Source = Self;
    F.Predicate = Inside;
    // Reading a lane that takes no part is undefined: a NaN shows it.
    F.Result = Source < 32 && (Present >> Source & 1) ? Warp[Source].Value
                                                      : 0xffffffffu;
    break;
  }
  case WarpOp::Ballot:
    F.Result = 0;
    Each([&](unsigned I, ThreadState &Other) {
      F.Result |= uint64_t(Other.Value != 0) << I;
    });
    break;
  case WarpOp::Any:
    Reduce(
        [](uint64_t A, uint64_t B) -> uint64_t { return (A != 0) | (B != 0); });
    break;
  case WarpOp::All:
    Reduce(
        [](uint64_t A, uint64_t B) -> uint64_t { return (A != 0) & (B != 0); });
    break;
  case WarpOp::Uni: {
    bool Same = true;
    Each([&](unsigned, ThreadState &Other) {
      Same &= (Other.Value != 0) == (F.Value != 0);
    });
    F.Result = Same;
    break;
  }
  case WarpOp::MatchAny:
  case WarpOp::MatchAll: {
    uint32_t Equal = 0;
    Each([&](unsigned I, ThreadState &Other) {
      Equal |= uint32_t(Other.Value == F.Value) << I;
    });
    F.Predicate = Equal == Present;
    F.Result = F.Op == WarpOp::MatchAny || F.Predicate ? Equal : 0;
    break;
  }
  case WarpOp::ReduceAdd:
    Reduce([](uint64_t A, uint64_t B) { return (A + B) & 0xffffffffu; });
    break;
  case WarpOp::ReduceMin:
    Reduce(
        [&](uint64_t A, uint64_t B) { return Signed(A) < Signed(B) ? A : B; });
    break;
  case WarpOp::ReduceMax:
    Reduce(
        [&](uint64_t A, uint64_t B) { return Signed(A) > Signed(B) ? A : B; });
    break;
  case WarpOp::ReduceUMin:
    Reduce([](uint64_t A, uint64_t B) { return std::min(A, B); });
    break;
  case WarpOp::ReduceUMax:
    Reduce([](uint64_t A, uint64_t B) { return std::max(A, B); });
    break;
  case WarpOp::ReduceAnd:
    Reduce([](uint64_t A, uint64_t B) { return A & B; });
    break;
  case WarpOp::ReduceOr:
    Reduce([](uint64_t A, uint64_t B) { return A | B; });
    break;
  case WarpOp::ReduceXor:
    Reduce([](uint64_t A, uint64_t B) { return A ^ B; });
    break;
  }
}

void BlockState::completeWarp(unsigned Warp) {
  MutableArrayRef<ThreadState> Lanes = lanesOf(Warp);
  uint32_t Alive = 0, Open = 0;
  for (unsigned I = 0; I < Lanes.size(); ++I) {
    if (Lanes[I].Now != State::Done)
      Alive |= 1u << I;
    if (Lanes[I].Now == State::AtWarp && Lanes[I].Op != WarpOp::Active)
      Open |= 1u << I;
  }
  while (Open) {
    const ThreadState &F = Lanes[llvm::countr_zero(Open)];
    uint32_t Wanted = F.Mask & Alive, There = 0;
    for (unsigned I = 0; I < Lanes.size(); ++I) {
      const ThreadState &S = Lanes[I];
      if ((Open >> I & 1) && S.Mask == F.Mask && S.Op == F.Op)
        There |= 1u << I;
    }
    Open &= ~There;
    if (There != Wanted)
      continue;
    if (Observer)
      Observer->warpCompleted(*this, Warp, There);
    for (unsigned I = 0; I < Lanes.size(); ++I)
      if (There >> I & 1)
        finishLane(Lanes, I, There);
    for (unsigned I = 0; I < Lanes.size(); ++I)
      if (There >> I & 1) {
        Lanes[I].Now = State::Ready;
        --InWarpOps;
      }
  }
}

/// The last lane to arrive runs the instruction for all, and all go on.
void BlockState::collective(ThreadContext &T, const DeviceOp &Op,
                            const uint64_t *Words) {
  const uint32_t Group = Op.Rule.Group, First = T.Linear / Group * Group;
  ThreadState &Self = stateOf(T);
  const AccessSite *Site = &Tables.Sites[Op.ReadSite];
  if (First + Group > Threads.size()) {
    recordFault(T, FaultKind::WrongWarpMask, 0, Site,
                Twine(Op.Name) + " needs " + Twine(Group) +
                    " threads, but the block's last " +
                    (Group == 32 ? "warp" : "warpgroup") + " has " +
                    Twine(Threads.size() - First));
    escape(T);
  }
  MutableArrayRef<ThreadState> Lanes =
      MutableArrayRef(Threads).slice(First, Group);
  Self.Now = ThreadState::State::AtCollective;
  Self.Mask = Group;
  Self.LaneArg = Op.Key;
  Self.Value = reinterpret_cast<uintptr_t>(Words);
  uint32_t There = 0;
  for (const ThreadState &F : Lanes) {
    if (F.Now == ThreadState::State::AtCollective && F.Mask == Group &&
        F.LaneArg == Op.Key) {
      ++There;
      continue;
    }
    bool Ended = F.Now == ThreadState::State::Done;
    if (!Ended && (F.Now != ThreadState::State::AtCollective || F.Mask < Group))
      continue; // It may still come, also after it has met its warp.
    recordFault(T, FaultKind::WrongWarpMask, 0, Site,
                Twine("thread ") + Twine(&F - Threads.data()) + " of the " +
                    (Group == 32 ? "warp" : "warpgroup") +
                    (Ended ? " has ended before "
                           : " executes another instruction than ") +
                    Op.Name);
    escape(T);
  }
  if (There < Group) {
    suspend(T);
    return;
  }
  SmallVector<OpLane, 128> All;
  for (auto [I, F] : enumerate(Lanes)) {
    const auto *In = reinterpret_cast<const uint64_t *>(F.Value) + 1;
    All.push_back({&F.On->Thread, In, const_cast<uint64_t *>(In) + Op.Inputs});
  }
  if (Observer)
    Observer->collectiveCompleted(*this, First, Group);
  if (Trace)
    Trace->Counts.Tensor += Op.Rule.TensorWork;
  // The operation may leave the kernel for one of them.
  Op.Rule.Run({*this, Op, All});
  for (ThreadState &F : Lanes)
    F.Now = ThreadState::State::Ready;
}

} // namespace cupilot
