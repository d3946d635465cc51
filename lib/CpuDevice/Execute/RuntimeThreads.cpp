//===- RuntimeThreads.cpp - Threads, clusters and calls for device code -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// C functions with the prefix cupilot_rt_. Functions that may leave by `escape`
// hold no objects with destructors at that point.
//
//===----------------------------------------------------------------------===//

#include "Scheduler.h"

using namespace llvm;
using namespace cupilot;

extern "C" {

void cupilot_rt_yield(ThreadContext *T, uint32_t Where) {
  T->Block->yield(*T, Where);
}

void cupilot_rt_turn(ThreadContext *T, uint32_t Looks) {
  T->Block->takeTurn(*T, Looks != 0);
}

void cupilot_rt_barrier_arrive(ThreadContext *T, uint32_t Id, uint32_t Count,
                               uint32_t Where) {
  T->Block->barrierArrive(*T, Id, Count, Where);
}

/// Special registers that are read rarely.
uint32_t cupilot_rt_special(ThreadContext *T, uint32_t Register) {
  const BlockState &B = *T->Block;
  const LaunchShape &S = B.Launch.Shape;
  unsigned Dim = Register & 3;
  switch (static_cast<SpecialRegister>(Register & ~3u)) {
  case SpecialRegister::ClusterId:
    return B.Block[Dim] / S.Cluster[Dim];
  case SpecialRegister::ClusterCount:
    return S.Grid[Dim] / S.Cluster[Dim];
  case SpecialRegister::BlockInCluster:
    return B.Block[Dim] % S.Cluster[Dim];
  case SpecialRegister::BlocksInCluster:
    return S.Cluster[Dim];
  case SpecialRegister::ClusterRank:
    return B.Rank;
  case SpecialRegister::ClusterSize:
    return B.Launch.ClusterBlocks;
  case SpecialRegister::ExplicitCluster:
    return B.Launch.ClusterBlocks > 1;
  case SpecialRegister::SharedBytes:
    return B.SharedSize;
  case SpecialRegister::Workspace:
    return reinterpret_cast<uintptr_t>(B.Launch.Workspace) >>
           (Dim == 1 ? 32 : 0);
  }
  return 0;
}

/// \p Pointer as block \p Rank of the cluster has it (PTX ISA, "mapa"). It may
/// be computed without being used, so what has no meaning gives an address that
/// is refused where it is used.
char *cupilot_rt_mapa(ThreadContext *T, char *Pointer, uint32_t Rank) {
  BlockState &B = *T->Block;
  BlockState *Owner = B.sharedOwner(reinterpret_cast<uintptr_t>(Pointer));
  if (!Owner || Rank >= B.Cluster.Blocks.size())
    return nullptr;
  return B.Cluster.Blocks[Rank]->Shared + (Pointer - Owner->Shared);
}

/// Rank of the block whose shared memory \p Pointer lies in (PTX ISA,
/// "getctarank").
uint32_t cupilot_rt_getctarank(ThreadContext *T, void *Pointer) {
  BlockState *Owner =
      T->Block->sharedOwner(reinterpret_cast<uintptr_t>(Pointer));
  return Owner ? Owner->Rank : T->Block->Rank;
}

void cupilot_rt_cluster_arrive(ThreadContext *T) {
  T->Block->Cluster.arrive(*T);
}

void cupilot_rt_cluster_wait(ThreadContext *T, uint32_t Where) {
  T->Block->Cluster.wait(*T, Where);
}

/// The dynamic part of the block's shared memory.
char *cupilot_rt_dynamic_shared(ThreadContext *T) {
  return T->Shared + T->Block->Kernel.StaticShared;
}

/// \p Pointer, once it is known to be a device function of type \p Type.
void *cupilot_rt_callee(ThreadContext *T, void *Pointer, uint32_t Type,
                        uint32_t Where) {
  BlockState &B = *T->Block;
  auto It = B.Tables.TypeAt.find(reinterpret_cast<uintptr_t>(Pointer));
  if (LLVM_LIKELY(It != B.Tables.TypeAt.end() && It->second == Type))
    return Pointer;
  B.recordFault(*T, FaultKind::WrongCallee,
                reinterpret_cast<uintptr_t>(Pointer), nullptr,
                !Pointer ? "the pointer is null"
                : It == B.Tables.TypeAt.end()
                    ? "no device function of this module lies there"
                    : "the function there has another type",
                Where);
  B.escape(*T);
}

void cupilot_rt_stack(ThreadContext *T, uint32_t Where) {
  T->Block->recordFault(
      *T, FaultKind::StackOverflow, 0, nullptr,
      "calls or local variables need more than the thread's " +
          Twine((T->Block->Launch.StackSize - StackReserve) / 1024) + " KiB",
      Where);
  T->Block->escape(*T);
}

void cupilot_rt_unsupported(ThreadContext *T, uint32_t Function) {
  const LoweredModule::DeviceFunction &F = T->Block->Tables.Functions[Function];
  T->Block->recordFault(*T, FaultKind::Unsupported, 0, nullptr,
                        "the cpu device cannot run " + F.Unsupported +
                            " in function '" + F.Symbol + "'");
  T->Block->escape(*T);
}

void cupilot_rt_unreachable(ThreadContext *T, uint32_t Where) {
  T->Block->recordFault(*T, FaultKind::UndefinedBehaviour, 0, nullptr,
                        "the thread came to code that the compiler took for "
                        "unreachable",
                        Where);
  T->Block->escape(*T);
}

void cupilot_rt_uninitialized(ThreadContext *T, uint32_t Where, uint32_t What) {
  static constexpr const char *Uses[] = {
      "a branch depends on a local variable that nobody has set",
      "an address depends on a local variable that nobody has set",
      "what is stored was computed with a local variable that nobody has set"};
  T->Block->recordFault(*T, FaultKind::UnwrittenRead, 0, nullptr, Uses[What],
                        Where);
  T->Block->escape(*T);
}

} // extern "C"
