//===- Mbarrier.cpp - Barrier objects in shared memory -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Mbarrier.h"
#include "AsyncCopy.h"
#include "Check/Touch.h"
#include "DeviceOps.h"
#include "OpRuntime.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace llvm;

namespace cupilot {

static constexpr FaultKind Misuse = FaultKind::WrongMbarrierOperation;
static constexpr int32_t Bias = 1 << 20;

uint64_t Mbarrier::encode() const {
  return uint64_t(Pending) | uint64_t(Expected) << 20 |
         static_cast<uint64_t>(Transactions + Bias) << 40 |
         uint64_t(Parity) << 61 | uint64_t(2) << 62;
}

std::optional<Mbarrier> Mbarrier::decode(uint64_t Bits) {
  Mbarrier B;
  B.Pending = Bits & MaxCount;
  B.Expected = Bits >> 20 & MaxCount;
  B.Transactions = static_cast<int32_t>(Bits >> 40 & 0x1fffff) - Bias;
  B.Parity = Bits >> 61 & 1;
  if (Bits >> 62 != 2)
    return std::nullopt;
  return B;
}

Mbarrier loadMbarrier(const OpCall &Call, ThreadContext &T, uint64_t Address) {
  touchChecked(Call, T, Address, 8, AccessKind::Atomic, 8);
  uint64_t Bits = 0;
  std::memcpy(&Bits, reinterpret_cast<void *>(Address), 8);
  std::optional<Mbarrier> B = Mbarrier::decode(Bits);
  if (!B)
    fault(Call, T, Misuse, Address, "no mbarrier is initialised there");
  return *B;
}

void storeMbarrier(const OpCall &Call, Mbarrier B, uint64_t Address) {
  Call.Block.Host.Progress = true;
  if (B.Pending == 0 && B.Transactions == 0) {
    B.Parity = !B.Parity;
    B.Pending = B.Expected;
  }
  uint64_t Bits = B.encode();
  std::memcpy(reinterpret_cast<void *>(Address), &Bits, 8);
}

static void subtract(const OpCall &Call, ThreadContext &T, uint64_t Address,
                     Mbarrier &B, uint32_t Count) {
  if (Count == 0 || Count > B.Pending)
    fault(Call, T, Misuse, Address,
          Twine(Count) + " arrivals, but the phase waits for " +
              Twine(B.Pending));
  B.Pending -= Count;
}

static void addTransactions(const OpCall &Call, ThreadContext &T,
                            uint64_t Address, Mbarrier &B, int64_t Bytes) {
  int64_t Sum = B.Transactions + Bytes;
  if (Sum >= Bias || Sum <= -Bias)
    fault(Call, T, Misuse, Address,
          "more than 1048575 bytes are expected in one phase");
  B.Transactions = static_cast<int32_t>(Sum);
}

void arriveAtMbarrier(const OpCall &Call, ThreadContext &T, uint64_t Address,
                      uint32_t Count) {
  Mbarrier B = loadMbarrier(Call, T, Address);
  subtract(Call, T, Address, B, Count);
  publish(T, reinterpret_cast<void *>(Address));
  storeMbarrier(Call, B, Address);
}

void completeTransaction(const OpCall &Call, ThreadContext &T, uint64_t Address,
                         uint32_t Bytes) {
  Mbarrier B = loadMbarrier(Call, T, Address);
  addTransactions(Call, T, Address, B, -int64_t(Bytes));
  publish(T, reinterpret_cast<void *>(Address));
  storeMbarrier(Call, B, Address);
}

namespace {
/// Order of the numbers in OpRule::Shape.
enum ArriveField : unsigned { Expects, Drops, Incomplete };
enum WaitField : unsigned { ByParity, Waits };
} // namespace

static void runInit(const OpCall &Call) {
  const OpLane &Lane = Call.Lanes.front();
  uint64_t Address = sharedAddress(*Lane.Thread, Lane.Inputs[0]);
  auto Count = static_cast<uint32_t>(Lane.Inputs[1]);
  touchChecked(Call, *Lane.Thread, Address, 8, AccessKind::Write, 8);
  if (Count == 0 || Count > Mbarrier::MaxCount)
    fault(Call, *Lane.Thread, Misuse, Address,
          "a count of " + Twine(Count) + "; it must be 1 to 1048575");
  Mbarrier B;
  B.Pending = B.Expected = Count;
  uint64_t Bits = B.encode();
  std::memcpy(reinterpret_cast<void *>(Address), &Bits, 8);
}

static void runInvalidate(const OpCall &Call) {
  const OpLane &Lane = Call.Lanes.front();
  uint64_t Address = sharedAddress(*Lane.Thread, Lane.Inputs[0]);
  loadMbarrier(Call, *Lane.Thread, Address);
  std::memset(reinterpret_cast<void *>(Address), 0xff, 8);
}

/// mbarrier.arrive and arrive_drop, with or without expect_tx.
static void runArrive(const OpCall &Call) {
  const OpLane &Lane = Call.Lanes.front();
  ThreadContext &T = *Lane.Thread;
  const auto &S = Call.Op.Rule.Shape;
  uint64_t Address = sharedAddress(T, Lane.Inputs[0]);
  Mbarrier B = loadMbarrier(Call, T, Address);
  uint32_t Count = 1;
  if (S[Expects])
    addTransactions(Call, T, Address, B, static_cast<uint32_t>(Lane.Inputs[1]));
  else if (Call.Op.Inputs > 1)
    Count = static_cast<uint32_t>(Lane.Inputs[1]);
  if (!Call.Op.Rule.Results.empty())
    Lane.Results[0] = B.encode();
  subtract(Call, T, Address, B, Count);
  if (S[Incomplete] && B.Pending == 0)
    fault(Call, T, Misuse, Address,
          "an arrival with .noComplete completes the phase");
  if (S[Drops])
    B.Expected -= Count;
  publish(T, reinterpret_cast<void *>(Address));
  storeMbarrier(Call, B, Address);
}

static void runExpect(const OpCall &Call) {
  const OpLane &Lane = Call.Lanes.front();
  uint64_t Address = sharedAddress(*Lane.Thread, Lane.Inputs[0]);
  Mbarrier B = loadMbarrier(Call, *Lane.Thread, Address);
  addTransactions(Call, *Lane.Thread, Address, B,
                  static_cast<uint32_t>(Lane.Inputs[1]));
  storeMbarrier(Call, B, Address);
}

static void runComplete(const OpCall &Call) {
  const OpLane &Lane = Call.Lanes.front();
  completeTransaction(Call, *Lane.Thread,
                      sharedAddress(*Lane.Thread, Lane.Inputs[0]),
                      static_cast<uint32_t>(Lane.Inputs[1]));
}

static void runWait(const OpCall &Call) {
  const OpLane &Lane = Call.Lanes.front();
  ThreadContext &T = *Lane.Thread;
  const auto &S = Call.Op.Rule.Shape;
  uint64_t Address = sharedAddress(T, Lane.Inputs[0]);
  bool Parity = Lane.Inputs[1] & 1;
  if (!S[ByParity]) {
    std::optional<Mbarrier> Token = Mbarrier::decode(Lane.Inputs[1]);
    if (!Token)
      fault(Call, T, Misuse, Address, "the state operand is no mbarrier state");
    Parity = Token->Parity;
  }
  auto Complete = [&] {
    if (loadMbarrier(Call, T, Address).Parity != Parity)
      return true;
    // Copies land no sooner than somebody waits for them.
    landFor(Call, T, Address, Parity);
    return loadMbarrier(Call, T, Address).Parity != Parity;
  };
  bool Done = Complete();
  // Others must get their turn, also when the program only looks. A potentially
  // blocking wait may end without success, after a while.
  for (unsigned Turn = 0; !Done && Turn < (S[Waits] ? 8 : 1); ++Turn) {
    waitForMbarrier(Call, T);
    Done = Complete();
  }
  if (Done) {
    Call.Block.waitEnded(T);
    subscribe(T, reinterpret_cast<void *>(Address));
  }
  Lane.Results[0] = Done;
}

static void runPendingCount(const OpCall &Call) {
  const OpLane &Lane = Call.Lanes.front();
  std::optional<Mbarrier> B = Mbarrier::decode(Lane.Inputs[0]);
  if (!B)
    fault(Call, *Lane.Thread, Misuse, 0,
          "the state operand is no mbarrier state");
  Lane.Results[0] = B->Pending;
}

/// mbarrier.operation{.modifiers}.b64
std::optional<OpRule> findMbarrier(ArrayRef<StringRef> Parts) {
  if (Parts.size() < 3 || Parts[0] != "mbarrier" || Parts.back() != "b64")
    return std::nullopt;
  StringRef Name = Parts[1];
  bool Expect = false, Parity = false, Incomplete = false;
  for (StringRef Part : Parts.slice(2, Parts.size() - 3)) {
    if (Part == "expect_tx")
      Expect = true;
    else if (Part == "parity")
      Parity = true;
    else if (Part == "noComplete")
      Incomplete = true;
    else if (!is_contained(
                 ArrayRef<StringRef>({"shared", "shared::cta",
                                      "shared::cluster", "release", "acquire",
                                      "relaxed", "cta", "cluster"}),
                 Part))
      return std::nullopt;
  }
  OpRule Rule;
  Rule.WriteAlign = Rule.ReadAlign = 8;
  Rule.MinInputs = Rule.MaxInputs = 2;
  if (Name == "init") {
    Rule.Run = runInit;
  } else if (Name == "inval") {
    Rule.Run = runInvalidate;
    Rule.MinInputs = Rule.MaxInputs = 1;
  } else if (Name == "expect_tx") {
    Rule.Run = runExpect;
  } else if (Name == "complete_tx") {
    Rule.Run = runComplete;
  } else if (Name == "arrive" || Name == "arrive_drop") {
    Rule.Run = runArrive;
    Rule.Shape[Expects] = Expect;
    Rule.Shape[Drops] = Name == "arrive_drop";
    Rule.Shape[ArriveField::Incomplete] = Incomplete;
    Rule.MinInputs = Expect || Incomplete ? 2 : 1;
    Rule.Results.assign(1, 64);
    return Rule;
  } else if (Name == "test_wait" || Name == "try_wait") {
    Rule.Run = runWait;
    Rule.Shape[ByParity] = Parity;
    Rule.Shape[Waits] = Name == "try_wait";
    Rule.MaxInputs += Name == "try_wait"; // The time limit.
    Rule.Results.assign(1, 1);
    return Expect || Incomplete ? std::nullopt : std::optional(Rule);
  } else if (Name == "pending_count") {
    Rule.Run = runPendingCount;
    Rule.MinInputs = Rule.MaxInputs = 1;
    Rule.Results.assign(1, 32);
  } else {
    return std::nullopt;
  }
  if (Expect || Parity || Incomplete)
    return std::nullopt;
  return Rule;
}

} // namespace cupilot
