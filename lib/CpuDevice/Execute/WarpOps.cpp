//===- WarpOps.cpp - What the lanes of a warp do together -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scheduler.h"
#include "llvm/ADT/bit.h"

using namespace llvm;
using State = cupilot::ThreadState::State;

namespace cupilot {

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

uint64_t BlockState::warp(ThreadContext &T, WarpOp Op, uint32_t Mask,
                          uint64_t Value, uint32_t LaneArg, uint32_t Clamp,
                          uint32_t Where) {
  if (!(Mask >> (T.Linear % 32) & 1)) {
    recordFault(T, "warp operation with a wrong mask", 0, nullptr,
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

} // namespace cupilot
