//===- AsyncCopy.cpp - Copies that have begun and not landed -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AsyncCopy.h"
#include "Check/Touch.h"
#include "DeviceOps.h"
#include "Mbarrier.h"
#include "OpRuntime.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

using namespace llvm;

namespace cupilot {

void AsyncCopy::land(ThreadContext &T) const {
  for (const AsyncPiece &P : Pieces) {
    touchChecked({*Block, *Op, {}}, T, P.To, P.Size, AccessKind::Write);
    auto *To = reinterpret_cast<char *>(P.To);
    if (Reduction == ReduceOp::None)
      std::memcpy(To, Data.data() + P.From, P.Size);
    else
      reduceInto(To, Data.data() + P.From, P.Size, Reduction, Type);
    noteLanded(T, P.To, P.Size);
  }
}

AsyncBlock &asyncOf(BlockState &Block) {
  if (!Block.Async)
    Block.Async = std::make_unique<AsyncBlock>();
  return static_cast<AsyncBlock &>(*Block.Async);
}

AsyncBlock::PerThread &asyncOf(BlockState &Block, uint32_t Linear) {
  auto &Threads = asyncOf(Block).Threads;
  if (Linear >= Threads.size())
    Threads.resize(Linear + 1);
  auto &Mine = Threads[Linear];
  if (!Mine)
    Mine = std::make_unique<AsyncBlock::PerThread>();
  return *Mine;
}

AsyncBlock::PerThread &asyncOf(const OpCall &Call) {
  return asyncOf(Call.Block, Call.Lanes.front().Thread->Linear);
}

/// Lands a thread's copies while \p Holds, the oldest first.
template <typename HoldsFunction>
static void landWhile(AsyncBlock::PerThread &Whose, ThreadContext &T,
                      HoldsFunction Holds) {
  while (!Whose.Copies.empty() && Holds(Whose.Copies.front())) {
    Whose.Copies.front().land(T); // May leave the kernel.
    Whose.Copies.pop_front();
  }
}

void bindToBarrier(const OpCall &Call, ThreadContext &T, AsyncArrival Arrival) {
  // Whoever lands it does so after what the issuing thread knew.
  publish(T, reinterpret_cast<void *>(Arrival.Barrier));
  BlockState *Owner = sharedOwnerOf(Call.Block, Arrival.Barrier);
  asyncOf(Owner ? *Owner : Call.Block).Arrivals.push_back(std::move(Arrival));
}

void landFor(const OpCall &Call, ThreadContext &T, uint64_t Barrier,
             bool Parity) {
  BlockState *Owner = sharedOwnerOf(Call.Block, Barrier);
  AsyncBlock &Async = asyncOf(Owner ? *Owner : Call.Block);
  for (size_t I = 0; I < Async.Arrivals.size();) {
    const AsyncArrival &A = Async.Arrivals[I];
    if (A.Barrier != Barrier) {
      ++I;
      continue;
    }
    subscribe(T, reinterpret_cast<void *>(Barrier));
    OpCall Issued = {*A.Copy.Block, *A.Copy.Op, {}};
    if (A.Bytes > 0) {
      A.Copy.land(T);
      completeTransaction(Issued, T, Barrier, A.Bytes);
    } else {
      landWhile(
          asyncOf(*A.Copy.Block, A.Copy.Linear), T,
          [&](const AsyncCopy &C) { return C.Sequence < A.Copy.Sequence; });
      arriveAtMbarrier(Issued, T, Barrier, 1);
    }
    Async.Arrivals.erase(Async.Arrivals.begin() + I);
    if (loadMbarrier(Call, T, Barrier).Parity != Parity)
      return;
  }
}

AsyncCopy beginCopy(const OpCall &Call) {
  AsyncCopy Copy;
  Copy.Block = &Call.Block;
  Copy.Linear = Call.Lanes.front().Thread->Linear;
  Copy.Op = &Call.Op;
  return Copy;
}

/// cp.async [dst], [src], cp-size{, src-size}{, cache-policy}
static void runCopy(const OpCall &Call) {
  const OpLane &Lane = Call.Lanes.front();
  ThreadContext &T = *Lane.Thread;
  auto Size = static_cast<uint32_t>(Lane.Inputs[2]);
  uint32_t Given = Size;
  if (Call.Op.Inputs > 3u + Call.Op.Rule.Shape[1])
    Given = static_cast<uint32_t>(Lane.Inputs[3]);
  if ((Size != 16 && (Call.Op.Rule.Shape[0] || (Size != 4 && Size != 8))) ||
      Given > Size)
    fault(Call, T, FaultKind::WrongAsyncCopy, 0,
          "a copy of " + Twine(Given) + " bytes into " + Twine(Size));
  uint64_t To = sharedAddress(T, Lane.Inputs[0]);
  std::array<char, 16> Bytes{};
  if (Given > 0) {
    auto *From = reinterpret_cast<char *>(Lane.Inputs[1]);
    touchChecked(Call, T, Lane.Inputs[1], Given, AccessKind::Read, Size);
    std::memcpy(Bytes.data(), From, Given);
  }
  if (To % Size != 0)
    touchChecked(Call, T, To, Size, AccessKind::Write, Size); // Says so.
  AsyncBlock::PerThread &Mine = asyncOf(Call);
  AsyncCopy Copy = beginCopy(Call);
  Copy.Sequence = Mine.Issued++;
  Copy.Group = Mine.Groups;
  Copy.Data.assign(Bytes.begin(), Bytes.begin() + Size);
  Copy.Pieces.push_back({To, 0, Size});
  Mine.Copies.push_back(std::move(Copy));
}

static void runCommit(const OpCall &Call) { ++asyncOf(Call).Groups; }

/// cp.async.wait_group N: all but the newest N groups have landed.
static void runWaitGroup(const OpCall &Call) {
  AsyncBlock::PerThread &Mine = asyncOf(Call);
  uint64_t Left = static_cast<uint32_t>(Call.Lanes.front().Inputs[0]);
  landWhile(Mine, *Call.Lanes.front().Thread,
            [&](const AsyncCopy &C) { return C.Group + Left < Mine.Groups; });
}

static void runWaitAll(const OpCall &Call) {
  AsyncBlock::PerThread &Mine = asyncOf(Call);
  ++Mine.Groups;
  landWhile(Mine, *Call.Lanes.front().Thread,
            [](const AsyncCopy &) { return true; });
}

/// cp.async.mbarrier.arrive: arrives when the thread's copies have landed.
static void runCopyArrive(const OpCall &Call) {
  const OpLane &Lane = Call.Lanes.front();
  uint64_t Barrier = sharedAddress(*Lane.Thread, Lane.Inputs[0]);
  Mbarrier B = loadMbarrier(Call, *Lane.Thread, Barrier);
  if (!Call.Op.Rule.Shape[0]) {
    // One more arrival is expected in this phase: the one that follows.
    if (B.Pending == Mbarrier::MaxCount)
      fault(Call, *Lane.Thread, FaultKind::WrongMbarrierOperation, Barrier,
            "more than 1048575 arrivals");
    ++B.Pending;
    storeMbarrier(Call, B, Barrier);
  }
  AsyncArrival Arrival;
  Arrival.Copy = beginCopy(Call);
  Arrival.Copy.Sequence = asyncOf(Call).Issued;
  Arrival.Barrier = Barrier;
  bindToBarrier(Call, *Lane.Thread, std::move(Arrival));
}

std::optional<OpRule> findAsyncCopy(ArrayRef<StringRef> Parts) {
  if (Parts.size() < 3 || Parts[0] != "cp" || Parts[1] != "async")
    return std::nullopt;
  ArrayRef<StringRef> Rest = Parts.drop_front(2);
  OpRule Rule;
  if (Rest[0] == "commit_group" || Rest[0] == "wait_all") {
    Rule.Run = Rest[0] == "wait_all" ? runWaitAll : runCommit;
    return Rest.size() == 1 ? std::optional(Rule) : std::nullopt;
  }
  if (Rest[0] == "wait_group") {
    Rule.Run = runWaitGroup;
    Rule.MinInputs = Rule.MaxInputs = 1;
    return Rest.size() == 1 ? std::optional(Rule) : std::nullopt;
  }
  if (Rest[0] == "mbarrier") {
    // cp.async.mbarrier.arrive{.noinc}{.shared}.b64
    if (Rest.size() < 3 || Rest[1] != "arrive" || Rest.back() != "b64")
      return std::nullopt;
    for (StringRef Part : Rest.slice(2, Rest.size() - 3))
      if (Part == "noinc")
        Rule.Shape[0] = 1;
      else if (Part != "shared" && Part != "shared::cta")
        return std::nullopt;
    Rule.Run = runCopyArrive;
    Rule.MinInputs = Rule.MaxInputs = 1;
    Rule.ReadAlign = Rule.WriteAlign = 8;
    return Rule;
  }
  if (Rest[0] != "ca" && Rest[0] != "cg")
    return std::nullopt;
  Rule.Shape[0] = Rest[0] == "cg"; // 16 bytes only.
  if (Rest.size() < 3 || !Rest[1].starts_with("shared") || Rest[2] != "global")
    return std::nullopt;
  for (StringRef Part : Rest.drop_front(3))
    if (Part == "L2::cache_hint")
      Rule.Shape[1] = 1;
    else if (!Part.starts_with("L2::"))
      return std::nullopt;
  Rule.Run = runCopy;
  Rule.MinInputs = 3 + Rule.Shape[1];
  Rule.MaxInputs = Rule.MinInputs + 1;
  return Rule;
}

} // namespace cupilot
