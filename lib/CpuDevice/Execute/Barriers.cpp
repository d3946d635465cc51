//===- Barriers.cpp - Barriers of a block -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scheduler.h"
#include "llvm/Support/FormatVariadic.h"

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
    recordFault(T, "divergent barrier", 0, nullptr,
                "threads of the block name different numbers of threads for "
                "barrier " +
                    Twine(Id) + ": " + Twine(Unit.Expected) + " and " +
                    Twine(Count) + firstAt(Tables, Unit.Where),
                Where);
    return true;
  }
  if (Unit.Arrived > 0 && Unit.Kind != Kind) {
    recordFault(T, "divergent barrier", 0, nullptr,
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
      recordFault(T, "barrier in divergent code", 0, nullptr,
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
    recordFault(T, "divergent barrier", 0, nullptr,
                "this thread waits at a barrier that others never reach" +
                    Elsewhere,
                Stuck->Where);
  else if (Stuck->Now == State::AtCollective)
    recordFault(T, "warp operation with a wrong mask", 0, nullptr,
                "other threads of the warp never reach the instruction" +
                    Elsewhere,
                Stuck->Where);
  else
    recordFault(T, "warp operation with a wrong mask", 0, nullptr,
                "lanes named in the mask 0x" + Twine::utohexstr(Stuck->Mask) +
                    " never reach the operation" + Elsewhere,
                Stuck->Where);
}

} // namespace cupilot
