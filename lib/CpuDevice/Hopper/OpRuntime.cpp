//===- OpRuntime.cpp - Device operations while they run -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpRuntime.h"
#include "Check/Access.h"
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
                  uint64_t Size, AccessKind Kind, uint64_t Align) {
  auto *Pointer = reinterpret_cast<char *>(Address);
  uint32_t Site =
      Kind == AccessKind::Read ? Call.Op.ReadSite : Call.Op.WriteSite;
  Align = std::max<uint64_t>(Align, Call.Block.Tables.Sites[Site].Align);
  if (Call.Block.Options.CheckBounds && Address % Align != 0)
    fault(Call, T,
          Kind == AccessKind::Read ? FaultKind::MisalignedRead
                                   : FaultKind::MisalignedWrite,
          Address,
          Twine(Call.Op.Name) + " needs an address that is a multiple of " +
              Twine(Align));
  touch(T, Pointer, Size, Kind, Site);
  // Copies that land for a thread of another block are that block's.
  if (Call.Block.Trace && Kind != AccessKind::Atomic && T.Block == &Call.Block)
    Call.Block.Trace->access(T.Linear, Site, Address, Size,
                             Call.Block.sharedOwner(Address)
                                 ? AccessSpace::Shared
                                 : AccessSpace::Global);
}

char *readable(const OpCall &Call, ThreadContext &T, uint64_t Address,
               uint64_t Size) {
  touchChecked(Call, T, Address, Size, AccessKind::Read);
  return reinterpret_cast<char *>(Address);
}

char *writable(const OpCall &Call, ThreadContext &T, uint64_t Address,
               uint64_t Size) {
  touchChecked(Call, T, Address, Size, AccessKind::Write);
  return reinterpret_cast<char *>(Address);
}

void fault(const OpCall &Call, ThreadContext &T, FaultKind Kind,
           uint64_t Address, const Twine &Detail) {
  Call.Block.recordFault(T, Kind, Address,
                         &Call.Block.Tables.Sites[Call.Op.ReadSite], Detail);
  Call.Block.escape(T);
}

void noteLanded(ThreadContext &T, uint64_t Address, uint64_t Size) {
  if (T.Checks && T.Block->Options.CheckRaces)
    if (BlockState *Owner = T.Block->sharedOwner(Address))
      static_cast<BlockShadow &>(*Owner->Observer).noteLanded(Address, Size);
}

void touchThroughProxy(const OpCall &Call, ThreadContext &T, uint64_t Address,
                       uint64_t Size) {
  touchChecked(Call, T, Address, Size, AccessKind::Read);
  if (!T.Checks || !T.Block->Options.CheckRaces ||
      T.Block->sharedOwner(Address) != T.Block)
    return;
  uint64_t Word = T.Checks->findUnfenced(T, Address, Size);
  if (!Word)
    return;
  recordRace(T, FaultKind::ProxyRace, Address, GranuleBytes,
             Call.Block.Tables.Sites[Call.Op.ReadSite], Word,
             /*OtherWrote=*/true, /*Known=*/true, /*SameValue=*/false);
  T.Block->escape(T);
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
    fault(Call, T, FaultKind::WrongAsyncCopy, Address,
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
