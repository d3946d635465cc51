//===- OpRuntime.cpp - Device operations while they run -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpRuntime.h"

using namespace llvm;
using namespace cupilot;

extern "C" void cupilot_rt_access(ThreadContext *T, void *Pointer,
                                  uint64_t Size, uint32_t Site);

namespace cupilot {

uint64_t sharedAddress(const ThreadContext &T, uint64_t Operand) {
  if (Operand >> 32)
    return Operand;
  auto Base = reinterpret_cast<uintptr_t>(T.Shared);
  return Base +
         static_cast<int64_t>(static_cast<int32_t>(
             static_cast<uint32_t>(Operand) - static_cast<uint32_t>(Base)));
}

static char *checked(const OpCall &Call, ThreadContext &T, uint64_t Address,
                     uint64_t Size, uint32_t Site) {
  auto *Pointer = reinterpret_cast<char *>(Address);
  if (Call.Block.Options.CheckBounds)
    cupilot_rt_access(&T, Pointer, Size, Site);
  return Pointer;
}

char *readable(const OpCall &Call, ThreadContext &T, uint64_t Address,
               uint64_t Size) {
  return checked(Call, T, Address, Size, Call.Op.ReadSite);
}

char *writable(const OpCall &Call, ThreadContext &T, uint64_t Address,
               uint64_t Size) {
  return checked(Call, T, Address, Size, Call.Op.WriteSite);
}

void fault(const OpCall &Call, ThreadContext &T, StringRef Kind,
           uint64_t Address, const Twine &Detail) {
  Call.Block.recordFault(T, Kind, Address,
                         &Call.Block.Tables.Sites[Call.Op.ReadSite], Detail);
  Call.Block.escape(T);
}

void waitForMbarrier(const OpCall &Call, ThreadContext &T) {
  Call.Block.yieldForMbarrier(T);
}

BlockState *sharedOwnerOf(BlockState &Block, uint64_t) { return &Block; }

uint64_t sharedInBlock(const OpCall &, ThreadContext &, uint64_t Address,
                       unsigned) {
  return Address;
}

bool isLaunchArgument(const OpCall &Call, uint64_t Address, uint64_t Size) {
  return true;
}

/// The last lane to arrive runs the instruction for all, and all go on.
void BlockState::collective(ThreadContext &T, const DeviceOp &Op,
                            const uint64_t *Words) {
  const uint32_t Group = Op.Rule.Group, First = T.Linear / Group * Group;
  Fiber &Self = Fibers[T.Linear];
  static constexpr char Kind[] = "warp operation with a wrong mask";
  const AccessSite *Site = &Tables.Sites[Op.ReadSite];
  if (First + Group > Fibers.size()) {
    recordFault(T, Kind, 0, Site,
                Twine(Op.Name) + " needs " + Twine(Group) +
                    " threads, but the block's last " +
                    (Group == 32 ? "warp" : "warpgroup") + " has " +
                    Twine(Fibers.size() - First));
    escape(T);
  }
  MutableArrayRef<Fiber> Lanes = MutableArrayRef(Fibers).slice(First, Group);
  Self.Now = Fiber::State::AtCollective;
  Self.Mask = Group;
  Self.LaneArg = Op.Key;
  Self.Value = reinterpret_cast<uintptr_t>(Words);
  uint32_t There = 0;
  for (const Fiber &F : Lanes) {
    if (F.Now == Fiber::State::AtCollective && F.Mask == Group &&
        F.LaneArg == Op.Key) {
      ++There;
      continue;
    }
    bool Ended = F.Now == Fiber::State::Done;
    if (!Ended && F.Now != Fiber::State::AtCollective)
      continue;
    recordFault(T, Kind, 0, Site,
                Twine("thread ") + Twine(&F - Fibers.data()) + " of the " +
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
    All.push_back(
        {&Contexts[First + I], In, const_cast<uint64_t *>(In) + Op.Inputs});
  }
  // The operation may leave the kernel for one of them.
  Op.Rule.Run({*this, Op, All});
  for (Fiber &F : Lanes)
    F.Now = Fiber::State::Ready;
}

} // namespace cupilot

extern "C" void cupilot_rt_op(ThreadContext *T, uint32_t Index,
                              uint64_t *Words) {
  BlockState &B = *T->Block;
  const DeviceOp &Op = B.Tables.Ops[Index];
  if (Words[0] == 0)
    return;
  if (Op.Rule.Group > 1)
    return B.collective(*T, Op, Words);
  OpLane Lane = {T, Words + 1, Words + 1 + Op.Inputs};
  Op.Rule.Run({B, Op, Lane});
}
