//===- OpRuntime.cpp - Device operations while they run -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpRuntime.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace cupilot;

namespace cupilot {

uint64_t sharedAddress(const ThreadContext &T, uint64_t Operand) {
  if (Operand >> 32)
    return Operand;
  auto Base = reinterpret_cast<uintptr_t>(T.Shared);
  return Base +
         static_cast<int64_t>(static_cast<int32_t>(
             static_cast<uint32_t>(Operand) - static_cast<uint32_t>(Base)));
}

void touchChecked(const OpCall &Call, ThreadContext &T, uint64_t Address,
                  uint64_t Size, TouchKind Kind, uint64_t Align) {
  auto *Pointer = reinterpret_cast<char *>(Address);
  uint32_t Site =
      Kind == TouchKind::Read ? Call.Op.ReadSite : Call.Op.WriteSite;
  Align = std::max<uint64_t>(Align, Call.Block.Tables.Sites[Site].Align);
  if (Call.Block.Options.CheckBounds && Address % Align != 0)
    fault(Call, T,
          Kind == TouchKind::Read ? "misaligned read" : "misaligned write",
          Address,
          Twine(Call.Op.Name) + " needs an address that is a multiple of " +
              Twine(Align));
  touch(T, Pointer, Size, Kind, Site);
  // Copies that land for a thread of another block are that block's.
  if (Call.Block.Trace && Kind != TouchKind::Atomic && T.Block == &Call.Block)
    Call.Block.Trace->access(T.Linear, Site, Address, Size,
                             Call.Block.sharedOwner(Address)
                                 ? AccessSpace::Shared
                                 : AccessSpace::Global);
}

char *readable(const OpCall &Call, ThreadContext &T, uint64_t Address,
               uint64_t Size) {
  touchChecked(Call, T, Address, Size, TouchKind::Read);
  return reinterpret_cast<char *>(Address);
}

char *writable(const OpCall &Call, ThreadContext &T, uint64_t Address,
               uint64_t Size) {
  touchChecked(Call, T, Address, Size, TouchKind::Write);
  return reinterpret_cast<char *>(Address);
}

void fault(const OpCall &Call, ThreadContext &T, StringRef Kind,
           uint64_t Address, const Twine &Detail) {
  Call.Block.recordFault(T, Kind, Address,
                         &Call.Block.Tables.Sites[Call.Op.ReadSite], Detail);
  Call.Block.escape(T);
}

void waitForMbarrier(const OpCall &Call, ThreadContext &T) {
  Call.Block.yield(T, Call.Op.Where, "an mbarrier");
}

BlockState *sharedOwnerOf(BlockState &Block, uint64_t Address) {
  return Block.sharedOwner(Address);
}

uint64_t sharedInBlock(const OpCall &Call, ThreadContext &T, uint64_t Address,
                       unsigned Rank) {
  BlockState *Owner = Call.Block.sharedOwner(Address);
  const auto &Blocks = Call.Block.Cluster.Blocks;
  if (!Owner || Rank >= Blocks.size())
    fault(Call, T, "wrong asynchronous copy", Address,
          "block " + Twine(Rank) + " of a cluster of " +
              Twine(static_cast<uint64_t>(Blocks.size())) + " is named");
  return reinterpret_cast<uintptr_t>(Blocks[Rank]->Shared) +
         (Address - reinterpret_cast<uintptr_t>(Owner->Shared));
}

bool isLaunchArgument(const OpCall &Call, uint64_t Address, uint64_t Size) {
  const LoweredKernel &K = Call.Block.Kernel;
  auto Args = reinterpret_cast<uintptr_t>(Call.Block.Launch.Args);
  for (auto [Offset, Param] : zip(K.ParamOffsets, K.ParamSizes))
    if (Address - (Args + Offset) < Param &&
        Address - (Args + Offset) + Size <= Param)
      return true;
  return false;
}

/// The last lane to arrive runs the instruction for all, and all go on.
void BlockState::collective(ThreadContext &T, const DeviceOp &Op,
                            const uint64_t *Words) {
  const uint32_t Group = Op.Rule.Group, First = T.Linear / Group * Group;
  ThreadState &Self = stateOf(T);
  static constexpr char Kind[] = "warp operation with a wrong mask";
  const AccessSite *Site = &Tables.Sites[Op.ReadSite];
  if (First + Group > Threads.size()) {
    recordFault(T, Kind, 0, Site,
                Twine(Op.Name) + " needs " + Twine(Group) +
                    " threads, but the block's last " +
                    (Group == 32 ? "warp" : "warpgroup") + " has " +
                    Twine(Threads.size() - First));
    escape(T);
  }
  MutableArrayRef<ThreadState> Lanes =
      MutableArrayRef(Threads).slice(First, Group);
  Self.Now = ThreadState::State::AtCollective;
  Self.Mask = Group;
  Self.LaneArg = Op.Key;
  Self.Value = reinterpret_cast<uintptr_t>(Words);
  uint32_t There = 0;
  for (const ThreadState &F : Lanes) {
    if (F.Now == ThreadState::State::AtCollective && F.Mask == Group &&
        F.LaneArg == Op.Key) {
      ++There;
      continue;
    }
    bool Ended = F.Now == ThreadState::State::Done;
    if (!Ended && (F.Now != ThreadState::State::AtCollective || F.Mask < Group))
      continue; // It may still come, also after it has met its warp.
    recordFault(T, Kind, 0, Site,
                Twine("thread ") + Twine(&F - Threads.data()) + " of the " +
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
    All.push_back({&F.On->Thread, In, const_cast<uint64_t *>(In) + Op.Inputs});
  }
  if (Observer)
    Observer->collectiveCompleted(*this, First, Group);
  if (Trace)
    Trace->Counts.Tensor += Op.Rule.TensorWork;
  // The operation may leave the kernel for one of them.
  Op.Rule.Run({*this, Op, All});
  for (ThreadState &F : Lanes)
    F.Now = ThreadState::State::Ready;
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
