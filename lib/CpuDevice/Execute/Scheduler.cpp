//===- Scheduler.cpp - Blocks of threads on one host thread -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scheduler.h"
#include "llvm/Support/ErrorHandling.h"

using namespace llvm;
using boost::context::detail::jump_fcontext;
using boost::context::detail::transfer_t;

namespace cupilot {

Worker::Worker(LaunchState &Launch, unsigned Number)
    : Launch(Launch), Number(Number), Fibers(*this, Launch.StackSize) {}

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
    if (Resident.empty() && !start(/*Idle=*/false))
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
    T.Block->recordFault(T, "wrong cluster barrier", 0, nullptr,
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
    T.Block->recordFault(T, "wrong cluster barrier", 0, nullptr,
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

} // namespace cupilot
