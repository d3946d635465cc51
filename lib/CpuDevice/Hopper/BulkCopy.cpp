//===- BulkCopy.cpp - Bulk copies of Hopper -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cp.async.bulk and cp.reduce.async.bulk (PTX ISA, "Non-tensor copy" and "Data
// Movement and Conversion Instructions: Asynchronous copy"). What goes into
// shared memory lands when its mbarrier is waited for. What goes out is read
// when a wait for its group demands it, not before: a kernel that reuses the
// source too early writes wrong data here. Its destination is written by a full
// wait, or when the block ends.
//
//===----------------------------------------------------------------------===//

#include "BulkCopy.h"
#include "Check/Touch.h"
#include "DeviceOps.h"
#include "Mbarrier.h"
#include "OpRuntime.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

using namespace llvm;

namespace cupilot {

void BulkStore::read(ThreadContext &T) {
  if (Read)
    return;
  const OpCall Issued = {*Copy.Block, *Copy.Op, {}};
  std::vector<char> &Data = Copy.Data;
  Data.resize(DataSize);
  for (const AsyncPiece &P : Sources) {
    touchChecked(Issued, T, P.To, P.Size, AccessKind::Read);
    std::memcpy(Data.data() + P.From, reinterpret_cast<char *>(P.To), P.Size);
  }
  AccessKind Kind =
      Copy.Reduction == ReduceOp::None ? AccessKind::Write : AccessKind::Atomic;
  for (const AsyncPiece &P : Copy.Pieces)
    touchChecked(Issued, T, P.To, P.Size, Kind);
  Read = true;
}

void BulkStore::write() const {
  for (const AsyncPiece &P : Copy.Pieces) {
    auto *To = reinterpret_cast<char *>(P.To);
    if (Copy.Reduction == ReduceOp::None)
      std::memcpy(To, Copy.Data.data() + P.From, P.Size);
    else
      reduceInto(To, Copy.Data.data() + P.From, P.Size, Copy.Reduction,
                 Copy.Type);
  }
}

void AsyncBlock::finish() {
  for (auto &Thread : Threads)
    if (Thread)
      for (const BulkStore &Store : Thread->Stores)
        if (Store.Read)
          Store.write();
  Threads.clear();
  Arrivals.clear();
}

void addStore(const OpCall &Call, BulkStore Store) {
  AsyncBlock::PerThread &Mine = asyncOf(Call);
  Store.Copy.Group = Mine.StoreGroups;
  const auto &S = Call.Op.Rule.Shape;
  Store.Copy.Reduction = static_cast<ReduceOp>(S[BulkReduction]);
  Store.Copy.Type = static_cast<ReduceType>(S[BulkType]);
  Mine.Stores.push_back(std::move(Store));
}

void sendToBarrier(const OpCall &Call, AsyncCopy Copy, uint64_t Bytes,
                   uint64_t Barrier, std::optional<uint32_t> Mask) {
  ThreadContext &T = *Call.Lanes.front().Thread;
  AsyncArrival Arrival;
  Arrival.Bytes = static_cast<uint32_t>(Bytes);
  if (!Mask) {
    Arrival.Barrier = Barrier;
    Arrival.Copy = std::move(Copy);
    bindToBarrier(Call, T, std::move(Arrival));
    return;
  }
  // The same place in each block, and the barrier at the same place.
  for (unsigned Rank = 0; Rank < 16; ++Rank) {
    if (!(*Mask >> Rank & 1))
      continue;
    Arrival.Copy = Copy;
    for (AsyncPiece &P : Arrival.Copy.Pieces)
      P.To = sharedInBlock(Call, T, P.To, Rank);
    Arrival.Barrier = sharedInBlock(Call, T, Barrier, Rank);
    bindToBarrier(Call, T, Arrival);
  }
}

/// [dst], [src], size, [mbar]{, mask}{, policy}
static void runLoad(const OpCall &Call) {
  const OpLane &Lane = Call.Lanes.front();
  ThreadContext &T = *Lane.Thread;
  const auto &S = Call.Op.Rule.Shape;
  uint64_t To = sharedAddress(T, Lane.Inputs[0]), From = Lane.Inputs[1];
  if (S[BulkNaturalSource])
    From = sharedAddress(T, From);
  auto Size = static_cast<uint32_t>(Lane.Inputs[2]);
  uint64_t Barrier = sharedAddress(T, Lane.Inputs[3]);
  if (Size % 16 != 0)
    fault(Call, T, FaultKind::WrongAsyncCopy, 0,
          "a bulk copy of " + Twine(Size) + " bytes, not a multiple of 16");
  if (To % 16 != 0)
    fault(Call, T, FaultKind::MisalignedWrite, To,
          "a bulk copy needs an address that is a multiple of 16");
  if (Size == 0)
    return;
  touchChecked(Call, T, From, Size, AccessKind::Read, 16);
  if (S[BulkNaturalSource])
    touchThroughProxy(Call, T, From, Size);
  loadMbarrier(Call, T, Barrier);
  AsyncCopy Copy = beginCopy(Call);
  auto *Begin = reinterpret_cast<const char *>(From);
  Copy.Data.assign(Begin, Begin + Size);
  Copy.Pieces.push_back({To, 0, Size});
  std::optional<uint32_t> Mask;
  if (S[BulkMulticast])
    Mask = static_cast<uint32_t>(Lane.Inputs[4] & 0xffff);
  sendToBarrier(Call, std::move(Copy), Size, Barrier, Mask);
}

/// [dst], [src], size{, policy}
static void runStore(const OpCall &Call) {
  const OpLane &Lane = Call.Lanes.front();
  ThreadContext &T = *Lane.Thread;
  uint64_t From = sharedAddress(T, Lane.Inputs[1]);
  auto Size = static_cast<uint32_t>(Lane.Inputs[2]);
  for (uint64_t Address : {Lane.Inputs[0], From})
    if (Address % 16 != 0 || Size % 16 != 0)
      fault(Call, T, FaultKind::WrongAsyncCopy, Address,
            "a bulk copy of " + Twine(Size) +
                " bytes; size and addresses must be multiples of 16");
  if (Size == 0)
    return;
  touchThroughProxy(Call, T, From, Size);
  BulkStore Store;
  Store.Copy = beginCopy(Call);
  Store.Copy.Pieces.push_back({Lane.Inputs[0], 0, Size});
  Store.Sources.push_back({From, 0, Size});
  Store.DataSize = Size;
  addStore(Call, std::move(Store));
}

static void runPrefetch(const OpCall &) {}

static void runBulkCommit(const OpCall &Call) { ++asyncOf(Call).StoreGroups; }

/// cp.async.bulk.wait_group{.read} N: of all but the newest N groups, the
/// sources have been read, or the destinations written.
static void runBulkWait(const OpCall &Call) {
  AsyncBlock::PerThread &Mine = asyncOf(Call);
  uint64_t Left = static_cast<uint32_t>(Call.Lanes.front().Inputs[0]);
  for (BulkStore &Store : Mine.Stores)
    if (Store.Copy.Group + Left < Mine.StoreGroups)
      Store.read(*Call.Lanes.front().Thread);
  if (Call.Op.Rule.Shape[0])
    return;
  while (!Mine.Stores.empty() &&
         Mine.Stores.front().Copy.Group + Left < Mine.StoreGroups) {
    Mine.Stores.front().write();
    Mine.Stores.pop_front();
  }
}

/// commit_group, wait_group{.read}
static std::optional<OpRule> findBulkGroup(ArrayRef<StringRef> Rest) {
  OpRule Rule;
  if (Rest[0] == "commit_group" && Rest.size() == 1) {
    Rule.Run = runBulkCommit;
    return Rule;
  }
  if (Rest[0] != "wait_group" || Rest.size() > 2 ||
      (Rest.size() == 2 && Rest[1] != "read"))
    return std::nullopt;
  Rule.Run = runBulkWait;
  Rule.Shape[0] = Rest.size() == 2;
  Rule.MinInputs = Rule.MaxInputs = 1;
  return Rule;
}

namespace {
/// The modifiers of a bulk copy, taken apart.
struct BulkForm {
  SmallVector<StringRef, 2> Spaces; ///< Destination, source.
  bool Prefetch = false, Barrier = false, Group = false;
  OpRule Rule;
  bool parse(ArrayRef<StringRef> Rest, bool Reduce);
};
} // namespace

bool BulkForm::parse(ArrayRef<StringRef> Rest, bool Reduce) {
  auto &S = Rule.Shape;
  bool Typed = false;
  for (StringRef Part : Rest) {
    unsigned Rank = 0;
    if (Part == "tensor" || Part == "tile" || Part == "noftz" || Part == "L2")
      continue;
    if (Part == "prefetch") {
      Prefetch = true;
    } else if (Part.size() == 2 && Part[1] == 'd' &&
               !Part.take_front(1).getAsInteger(10, Rank) && Rank >= 1 &&
               Rank <= 5) {
      S[BulkRank] = Rank;
    } else if (Part == "global" || Part == "shared::cta" ||
               Part == "shared::cluster") {
      Spaces.push_back(Part);
    } else if (Part == "mbarrier::complete_tx::bytes") {
      Barrier = true;
    } else if (Part == "bulk_group") {
      Group = true;
    } else if (Part == "multicast::cluster") {
      S[BulkMulticast] = 1;
    } else if (Part == "L2::cache_hint") {
      S[BulkHint] = 1;
    } else if (auto Op = reduceOp(Part); Op && Reduce) {
      S[BulkReduction] = static_cast<uint32_t>(*Op);
    } else if (auto Type = reduceType(Part); Type && Reduce) {
      S[BulkType] = static_cast<uint32_t>(*Type);
      Typed = true;
    } else {
      return false; // im2col, cta_group, cp_mask ...
    }
  }
  bool Tensor = is_contained(Rest, "tensor");
  if (Tensor != (S[BulkRank] > 0) || Reduce != (S[BulkReduction] > 0))
    return false;
  return !Reduce || Tensor != Typed;
}

std::optional<OpRule> findBulkCopy(ArrayRef<StringRef> Parts) {
  bool Reduce = Parts.size() > 3 && Parts[0] == "cp" && Parts[1] == "reduce";
  ArrayRef<StringRef> Rest = Parts.drop_front(Reduce ? 2 : 1);
  if (Parts[0] != "cp" || Rest.size() < 3 || Rest[0] != "async" ||
      Rest[1] != "bulk")
    return std::nullopt;
  Rest = Rest.drop_front(2);
  if (!Reduce)
    if (std::optional<OpRule> Rule = findBulkGroup(Rest))
      return Rule;
  BulkForm Form;
  if (!Form.parse(Rest, Reduce))
    return std::nullopt;
  OpRule Rule = Form.Rule;
  auto &S = Rule.Shape;
  uint32_t Rank = S[BulkRank], Hint = S[BulkHint];
  auto Takes = [&](uint32_t Inputs) {
    Rule.MinInputs = Rule.MaxInputs = Inputs + Hint + S[BulkMulticast];
    return Rule;
  };
  if (Form.Prefetch) {
    Rule.Run = Rank ? runTensorPrefetch : runPrefetch;
    return Takes(Rank ? 1 + Rank : 2);
  }
  if (Form.Spaces.size() != 2)
    return std::nullopt;
  if (Form.Barrier && !Form.Group && Form.Spaces[0] != "global" && !Reduce) {
    S[BulkNaturalSource] = Form.Spaces[1] == "shared::cta";
    if (Rank && S[BulkNaturalSource])
      return std::nullopt;
    Rule.Run = Rank ? runTensorLoad : runLoad;
    return Takes(Rank ? 3 + Rank : 4);
  }
  if (!Form.Group || Form.Barrier || Form.Spaces[0] != "global" ||
      Form.Spaces[1] != "shared::cta" || S[BulkMulticast])
    return std::nullopt;
  if (Reduce && !Rank &&
      !canReduce(static_cast<ReduceOp>(S[BulkReduction]),
                 static_cast<ReduceType>(S[BulkType])))
    return std::nullopt;
  Rule.Run = Rank ? runTensorStore : runStore;
  return Takes(Rank ? 2 + Rank : 3);
}

} // namespace cupilot
