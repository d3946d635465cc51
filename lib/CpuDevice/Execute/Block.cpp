//===- Block.cpp - The threads of a block -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Check/BlockShadow.h"
#include "Hopper/OpRuntime.h"
#include "llvm/Support/ErrorHandling.h"
#include <cstring>

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
  if (Launch.Shadow)
    Observer = std::make_unique<BlockShadow>(*Launch.Shadow);
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
    finishAsync(*this);
  if (Observer)
    Observer->blockEnds(*this);
  if (Trace)
    Trace->endBlock();
  if (Options.MaxLaunchInstructions && !Launch.Stop && !Launch.spend(Spent)) {
    ThreadContext T;
    prepare(T, 0);
    recordFault(T, "runaway launch", 0, nullptr,
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
  if (!Kernel.NeedsFibers && !Kernel.Calls && !Trace && !Options.Reverse) {
    auto *Shadow = static_cast<BlockShadow *>(Observer.get());
    const EntryFunction Entry = Launch.Entry;
    const int64_t Budget = Launch.FirstBudget;
    while (Threads.empty() && Begun < NumThreads &&
           !Launch.Stop.load(std::memory_order_relaxed)) {
      ++Begun;
      F.Granted = 0;
      step(T);
      T.Budget = Budget;
      if (Shadow)
        Shadow->nextBegins(T);
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
  for (unsigned Turn = 0; Turn < Threads.size() && !Launch.Stop; ++Turn) {
    ThreadState &S = Threads[linearOf(Turn)];
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

void BlockState::waitEnded(ThreadContext &T) {
  if (!Threads.empty())
    Threads[T.Linear].Why = nullptr;
}

void BlockState::budget(ThreadContext &T) {
  Fiber &F = fiberOf(T);
  uint64_t All = Launch.FirstBudget + F.Granted;
  if (Options.MaxInstructions && All >= Options.MaxInstructions) {
    recordFault(T, "runaway thread", 0, nullptr,
                "more than " + Twine(Options.MaxInstructions) +
                    " instructions without an end");
    escape(T);
  }
  static constexpr int64_t More = 1 << 20;
  if (!Launch.spend(More)) {
    recordFault(T, "runaway launch", 0, nullptr,
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

void BlockState::recordFault(const ThreadContext &T, StringRef Kind,
                             uint64_t Address, const AccessSite *Site,
                             const Twine &Detail, uint32_t Where) {
  DeviceFault New;
  New.Kind = Kind.str();
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

} // namespace cupilot
