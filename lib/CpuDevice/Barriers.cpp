//===- Barriers.cpp - Barriers of a block -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scheduler.h"

using namespace llvm;
using State = cupilot::ThreadState::State;

namespace cupilot {

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

/// Counts \p T's arrival. True when it is not the last one.
bool BlockState::arrive(ThreadContext &T, uint32_t Id, uint32_t Count,
                        uint32_t Where) {
  if (Trace)
    Trace->barrier(T.Linear);
  if (Observer)
    Observer->barrierArrived(*this, T, Id, Count);
  BarrierUnit &Unit = Barriers[Id];
  if (Unit.Arrived == 0) {
    Unit.Where = Where;
    Unit.Expected = Count;
  } else if (Unit.Expected != Count) {
    recordFault(T, "divergent barrier", 0, nullptr,
                "threads of the block name different numbers of threads for "
                "barrier " +
                    Twine(Id) + ": " + Twine(Unit.Expected) + " and " +
                    Twine(Count),
                Where);
    escape(T);
  } else if (Unit.Where != Where && Count == 0) {
    const std::string &First = Tables.Places[Unit.Where];
    recordFault(T, "divergent barrier", 0, nullptr,
                Twine("threads of the block wait at different __syncthreads") +
                    (First.empty() ? "" : ", the first at ") + First,
                Where);
    escape(T);
  }
  ++Unit.Arrived;
  return Unit.Arrived < (Count ? Count : live());
}

uint32_t BlockState::barrier(ThreadContext &T, BarrierKind Kind, uint32_t Id,
                             uint32_t Count, uint32_t Predicate,
                             uint32_t Where) {
  ThreadState &S = stateOf(T);
  Id %= 16;
  bool Waits = arrive(T, Id, Count, Where);
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
  if (!arrive(T, Id % 16, Count, Where))
    releaseBarrier(Id % 16);
}

/// A block whose threads all wait for each other cannot be helped by others.
void BlockState::checkStuck() {
  const ThreadState *Stuck = nullptr;
  for (const ThreadState &S : Threads) {
    if (S.Now == State::Done)
      continue;
    if (S.Now != State::AtBarrier && S.Now != State::AtWarp &&
        S.Now != State::AtCollective)
      return;
    if (!Stuck)
      Stuck = &S;
  }
  if (!Stuck || Launch.Stop)
    return;
  const ThreadContext &T = Stuck->On->Thread;
  if (Stuck->Now == State::AtBarrier)
    recordFault(T, "divergent barrier", 0, nullptr,
                "this thread waits at a barrier that others never reach",
                Stuck->Where);
  else if (Stuck->Now == State::AtCollective)
    recordFault(T, "warp operation with a wrong mask", 0, nullptr,
                "other threads of the warp never reach the instruction",
                Stuck->Where);
  else
    recordFault(T, "warp operation with a wrong mask", 0, nullptr,
                "lanes named in the mask 0x" + Twine::utohexstr(Stuck->Mask) +
                    " never reach the operation",
                Stuck->Where);
}

} // namespace cupilot
