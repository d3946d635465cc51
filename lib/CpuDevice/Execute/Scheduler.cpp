//===- Scheduler.cpp - Blocks of threads on one host thread -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scheduler.h"
#include "cupilot/Portable/Random.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/xxhash.h"
#include <thread>

using namespace llvm;
using boost::context::detail::jump_fcontext;
using boost::context::detail::transfer_t;
using State = cupilot::ThreadState::State;

namespace cupilot {

Worker::Worker(LaunchState &Launch, unsigned Number)
    : Launch(Launch), Number(Number), Fibers(*this, Launch.StackSize),
      Random(~Launch.Options.ScheduleSeed.value_or(0)) {}

uint64_t Worker::draw() { return splitMix64(Random); }

/// Idle rounds after which threads that wait no longer give way in between.
static constexpr uint64_t CalmRounds = 16;

bool Worker::switches(bool Looks) {
  if (Looks && IdleRounds >= CalmRounds)
    return false;
  return draw() & 1;
}

void Worker::fiberMain(transfer_t From) {
  auto *F = static_cast<Fiber *>(From.data);
  Worker &Host = *F->Owner;
  Host.Context = From.fctx;
  for (;;) {
    BlockState &B = *F->Thread.Block;
    B.Launch.Entry(&F->Thread, B.Launch.Args);
    B.threadEnded(F->Thread);
    if (B.nextOn(*F))
      continue;
    // Resumed with another thread, already prepared.
    transfer_t Back = jump_fcontext(Host.Context, nullptr);
    Host.Context = Back.fctx;
  }
}

bool Worker::start(bool Idle) {
  uint64_t Index = 0;
  if (!Launch.takeCluster(Idle, Index))
    return false;
  std::unique_ptr<ClusterState> Cluster;
  if (Spare.empty()) {
    Cluster = std::make_unique<ClusterState>(*this);
  } else {
    Cluster = std::move(Spare.back());
    Spare.pop_back();
  }
  Cluster->begin(Index);
  Resident.push_back(std::move(Cluster));
  return true;
}

void Worker::run() {
  while (!Launch.Stop) {
    while (Resident.size() < Launch.Together && start(/*Idle=*/false))
      ;
    if (Resident.empty())
      break;
    round();
  }
  for (const auto &Cluster : Resident)
    Cluster->end();
  Launch.IdleIn[Number] = LaunchState::Finished;
  ++Launch.Epoch;
}

void Worker::round() {
  const uint64_t Epoch = Launch.Epoch;
  Progress = false;
  for (size_t I = 0; I < Resident.size() && !Launch.Stop;) {
    ClusterState &Cluster = *Resident[I];
    for (const auto &Block : Cluster.Blocks)
      if (!Block->done() && !Launch.Stop)
        Block->pass();
    if (!Cluster.done() || Launch.Stop) {
      ++I;
      continue;
    }
    Cluster.end();
    Launch.clusterEnded();
    Progress = true;
    Spare.push_back(std::move(Resident[I]));
    Resident.erase(Resident.begin() + I);
  }
  if (Launch.Stop)
    return;
  if (!Progress) {
    idle(Epoch);
    return;
  }
  IdleRounds = IdleYields = 0;
  if (CountedIdle) {
    CountedIdle = false;
    --Launch.Idle;
  }
  if (Launch.Workers > 1) {
    // What the round wrote must be seen before it is known that nobody waits.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (Launch.Idle.load() > 0)
      ++Launch.Epoch;
  }
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

ClusterState::ClusterState(Worker &Host) {
  for (unsigned I = 0; I < Host.Launch.ClusterBlocks; ++I)
    Blocks.push_back(std::make_unique<BlockState>(Host, *this, I));
}

void ClusterState::begin(uint64_t NewIndex) {
  Index = NewIndex;
  Used = false;
  Phase = 1;
  for (const auto &Block : Blocks)
    Block->begin(Index);
}

void ClusterState::end() {
  for (const auto &Block : Blocks)
    Block->end();
}

bool ClusterState::done() const {
  return all_of(Blocks, [](const auto &Block) { return Block->done(); });
}

unsigned ClusterState::live() const {
  unsigned Live = 0;
  for (const auto &Block : Blocks)
    Live += Block->live();
  return Live;
}

void ClusterState::arrive(ThreadContext &T) {
  if (!Used) {
    Used = true;
    Pending = live();
  }
  Fiber &F = fiberOf(T);
  if (F.ClusterPhase == Phase) {
    T.Block->recordFault(T, FaultKind::WrongClusterBarrier, 0, nullptr,
                         "the thread arrives twice without waiting");
    T.Block->escape(T);
  }
  F.ClusterPhase = Phase;
  if (--Pending == 0)
    release();
}

void ClusterState::wait(ThreadContext &T, uint32_t Where) {
  uint64_t Mine = fiberOf(T).ClusterPhase;
  if (Mine == 0) {
    T.Block->recordFault(T, FaultKind::WrongClusterBarrier, 0, nullptr,
                         "the thread waits without having arrived");
    T.Block->escape(T);
  }
  T.Block->waitUntil(
      T, [&] { return Phase > Mine; }, "the cluster's barrier", Where);
}

void ClusterState::leave(ThreadContext &T) {
  if (Used && fiberOf(T).ClusterPhase != Phase && --Pending == 0)
    release();
}

void ClusterState::release() {
  for (const auto &Block : Blocks)
    if (Block->Observer)
      Block->Observer->clusterReleased(*Block);
  ++Phase;
  Pending = live();
}

//===----------------------------------------------------------------------===//
// When no thread gets any further
//
// A thread that looks at memory in a loop cannot be told from one that computes
// for long by looking at it from outside, but it can by its state: when a whole
// round of the scheduler leaves every waiting thread with the stack that it had
// before (or, for loops that yield in several places, a few rounds before), and
// none of their writes changed memory, then no later round will
// differ, unless another host thread changes memory. Rounds are therefore
// numbered by an epoch that counts changes, and the launch is stuck when all
// host threads found nothing to do in the same epoch.
//===----------------------------------------------------------------------===//

/// Idle rounds before the states are compared.
static constexpr uint64_t FirstComparison = 32;
/// Rounds after which a waiting loop is where it was, at most.
static constexpr unsigned MaxPeriod = 8;
/// Threads that count while they wait never repeat a state. They are given up
/// after so many rounds and looks at memory.
static constexpr uint64_t MaxRounds = uint64_t(1) << 20;
static constexpr uint64_t MbarrierRounds = 4096;
static constexpr uint64_t MaxYields = uint64_t(1) << 30;

/// The registers and stacks of all threads that look at memory, and how often
/// they have changed it.
uint64_t Worker::waitingState() const {
  uint64_t Hash = 0;
  auto Add = [&](uint64_t Value) {
    Hash = (Hash ^ Value) * 0x9e3779b97f4a7c15ull;
    Hash ^= Hash >> 32;
  };
  for (const auto &Cluster : Resident)
    for (const auto &Block : Cluster->Blocks)
      for (const ThreadState &S : Block->threads())
        if (S.Now == State::Yielded) {
          const auto *Low = static_cast<const uint8_t *>(S.On->Context);
          const ThreadContext &T = S.On->Thread;
          Add(xxh3_64bits(ArrayRef(
              Low, reinterpret_cast<const uint8_t *>(T.StackTop) - Low)));
          Add(T.Changes);
        }
  return Hash;
}

/// Whether the round that has just ended shows that no further one differs.
bool Worker::nothingChanges() {
  uint64_t Yielding = 0, ForMbarrier = 0;
  for (const auto &Cluster : Resident)
    for (const auto &Block : Cluster->Blocks)
      for (const ThreadState &S : Block->threads())
        if (S.Now == State::Yielded) {
          ++Yielding;
          ForMbarrier += S.Why != nullptr;
        }
  IdleYields += Yielding;
  if (Yielding == 0)
    return true; // Conditions and barriers have just been looked at.
  // Programs measure time while they look at an mbarrier, so that no state
  // repeats; but what changes an mbarrier is progress.
  if (Yielding == ForMbarrier && IdleRounds > MbarrierRounds)
    return true;
  if (IdleRounds > MaxRounds && IdleYields > MaxYields)
    return true;
  // At growing distances: comparing costs more than a round. A loop may take a
  // few rounds until it is where it was.
  if (IdleRounds >= FirstComparison && isPowerOf2_64(IdleRounds)) {
    State = waitingState();
    Comparisons = MaxPeriod;
  } else if (Comparisons > 0) {
    --Comparisons;
    return State == waitingState();
  }
  return false;
}

void Worker::idle(uint64_t Epoch) {
  if (!CountedIdle) {
    CountedIdle = true;
    ++Launch.Idle;
  }
  // As many clusters again as there are, so that grids whose blocks all wait
  // for each other are complete soon.
  bool Started = false;
  for (size_t More = std::max<size_t>(Resident.size(), 1); More > 0; --More)
    if (!start(/*Idle=*/true))
      break;
    else
      Started = true;
  if (Started || Epoch != LastEpoch) {
    IdleRounds = IdleYields = 0;
    LastEpoch = Epoch;
    Comparisons = 0;
    return;
  }
  ++IdleRounds;
  if (nothingChanges()) {
    Launch.IdleIn[Number] = Epoch;
    bool All = Launch.Epoch == Epoch;
    for (const std::atomic<uint64_t> &In : Launch.IdleIn) {
      uint64_t Value = In;
      All &= Value == Epoch || Value == LaunchState::Finished;
    }
    if (All)
      deadlock();
    else
      IdleRounds = 0; // Soon again.
  }
  if (Launch.Workers > 1 && IdleRounds % 16 == 0)
    std::this_thread::yield();
}

void Worker::deadlock() {
  // Threads by what they wait for, in the order in which they are found.
  struct Group {
    unsigned Threads = 0;
    std::string What;
  };
  MapVector<std::pair<unsigned, uint32_t>, Group> Groups;
  BlockState *FirstBlock = nullptr;
  const ThreadState *First = nullptr;
  for (const auto &Cluster : Resident)
    for (const auto &Block : Cluster->Blocks) {
      for (const ThreadState &S : Block->threads()) {
        if (S.Now == State::Done)
          continue;
        bool Active = S.Now == State::Yielded || S.Now == State::Waiting;
        if (!First || (Active && First->Now != State::Yielded &&
                       First->Now != State::Waiting)) {
          First = &S;
          FirstBlock = Block.get();
        }
        Group &G = Groups[{static_cast<unsigned>(S.Now), S.Where}];
        if (G.Threads++ > 0)
          continue;
        switch (S.Now) {
        case State::Yielded:
          G.What = S.Why ? std::string("in a loop that waits for ") + S.Why
                         : "in a loop that waits for memory to change";
          break;
        case State::Waiting:
          G.What = std::string("for ") + S.Why;
          break;
        case State::AtBarrier:
          G.What = "at a barrier";
          break;
        default:
          G.What = "in a warp operation";
        }
        const std::string &Place = Block->Tables.Places[S.Where];
        if (!Place.empty())
          G.What += " (" + Place + ")";
      }
    }
  if (!First) {
    Launch.Stop = true; // Without threads there is nothing to be stuck.
    return;
  }
  std::string Detail = "threads wait for each other: ";
  unsigned Listed = 0;
  for (const auto &[Key, G] : Groups) {
    if (Listed++ == 6)
      break;
    if (Listed > 1)
      Detail += "; ";
    Detail += std::to_string(G.Threads) + " " + G.What;
  }
  if (Groups.size() > 6)
    Detail += "; others elsewhere";
  uint64_t Left = Launch.Runs - std::min<uint64_t>(Launch.Begun, Launch.Runs);
  if (Left > 0)
    Detail += "; blocks that have not begun, because " +
              std::string(Launch.Options.ResidentBlocks ? "this schedule"
                                                        : "the GPU") +
              " holds no more than " +
              std::to_string(Launch.MaxResident * Launch.ClusterBlocks) +
              " at a time: " + std::to_string(Left * Launch.ClusterBlocks);
  // The other reasons may be its consequences.
  bool Mbarrier = First->Now == State::Yielded && First->Why;
  FirstBlock->recordFault(First->On->Thread,
                          Mbarrier ? FaultKind::BarrierNeverCompletes
                                   : FaultKind::Deadlock,
                          0, nullptr, Detail, First->Where);
}

} // namespace cupilot
