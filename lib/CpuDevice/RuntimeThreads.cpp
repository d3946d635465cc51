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

/// \p Pointer as block \p Rank of the cluster has it (PTX ISA, "mapa").
char *cupilot_rt_mapa(ThreadContext *T, char *Pointer, uint32_t Rank) {
  BlockState &B = *T->Block;
  BlockState *Owner = B.sharedOwner(reinterpret_cast<uintptr_t>(Pointer));
  if (!Owner || Rank >= B.Cluster.Blocks.size()) {
    B.recordFault(*T, "wrong cluster address",
                  reinterpret_cast<uintptr_t>(Pointer), nullptr,
                  Owner ? "the cluster has " + Twine(B.Cluster.Blocks.size()) +
                              " blocks; none has the rank " + Twine(Rank)
                        : Twine("the address is not in shared memory"));
    B.escape(*T);
  }
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

} // extern "C"
