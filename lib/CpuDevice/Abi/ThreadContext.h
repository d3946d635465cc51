//===- ThreadContext.h - What compiled device code and its run time share -*-
// C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_ABI_THREADCONTEXT_H
#define CUPILOT_LIB_CPUDEVICE_ABI_THREADCONTEXT_H

#include "cupilot/Support/DeviceCost.h"
#include <cstdint>
#include <string>
#include <vector>

namespace cupilot {

struct BlockState;
class BlockShadow;

/// The range in which an access site was last found right: an access at A is
/// fine without further looking when A - Lo <= Limit (unsigned). Compiled code
/// knows the size and the first two fields.
struct SiteCache {
  uint64_t Lo = ~0ull;
  uint64_t Limit = 0;
  uint64_t Shadow = 0;    ///< To add to four times an address; 0: no shadow.
  uint32_t Bits = 0;      ///< For shadow words: location, coverage, atomic.
  uint32_t AlignMask = 0; ///< Alignment less one.
};

struct AccessSite;

/// A read of bytes that hold nothing.
struct UnwrittenRead {
  uint64_t Address = 0, Size = 0;
  uint64_t Bytes = 0; ///< A bit each.
  const AccessSite *Site = nullptr;
};

/// One device thread, as compiled code sees it. The layout is repeated in
/// contextType() of Lowering.cpp.
struct ThreadContext {
  uint32_t Tid[3], Ctaid[3], Ntid[3], Nctaid[3];
  char *Shared = nullptr; ///< Static shared variables, then the dynamic part.
  uint32_t DynShared = 0; ///< Bytes of the dynamic part.
  uint32_t Linear = 0;    ///< Linear thread index in the block.
  SiteCache *Sites = nullptr;
  uint64_t *BlockCounts =
      nullptr;        ///< Executions per basic block, when counting.
  int64_t Budget = 0; ///< Instructions left, when limited.
  BlockState *Block = nullptr;
  uint32_t WarpPredicate = 0; ///< Second result of a warp operation.
  uint64_t Changes = 0;       ///< Writes of waiting loops that changed memory.
  char *StackLimit = nullptr; ///< Functions may not need the stack below it.
  char *StackTop = nullptr;

  // For the checks.
  uint64_t Stamp = 0; ///< Segment, thread and clock of a shadow word.
  uint64_t LaunchLowest = 0, LaunchSpan = 0; ///< Stamps of this launch.
  /// Stamps of this segment that a barrier of the block has settled.
  uint64_t SegmentLowest = 0, SettledSpan = 0;
  uint64_t Extra = 0; ///< 1: there is more to know than these two say.
  /// The stamp, or ~0 when there is something extra: for words of this segment
  /// and clock, which nothing orders then.
  uint64_t OpenStamp = 0;

  // Compiled code does not know the rest.
  BlockShadow *Checks = nullptr;
  /// In this segment, accesses of the block, and of the warp, with clocks below
  /// are over. SettledSpan is the first of them as a stamp.
  uint32_t Settled = 0, WarpSettled = 0;
  bool *AtomicLock = nullptr;  ///< Held during an atomic.
  UnwrittenRead LastUnwritten; ///< Of those whose value only goes elsewhere.
  uint64_t RaceWord = 0; ///< What a store ran into, until its value is known.
};

enum class AccessSpace : uint8_t { Generic, Global, Shared, Local, Constant };

/// One memory instruction of a module.
struct AccessSite {
  std::string Kernel, Location; ///< "file.cu:12:3" or "".
  uint32_t Size = 0;            ///< Bytes; 0: known only when it runs.
  uint32_t Align = 1;
  bool IsStore = false, IsAtomic = false;
  AccessSpace Space = AccessSpace::Generic;
  bool IsVolatile = false;
  bool Carries = false;  ///< A load that is only copied elsewhere.
  bool OfGroups = false; ///< A store of cooperative groups' own code.
  uint16_t ReadLocation = 0, WriteLocation = 0; ///< In LoweredKernel's lists.
};

/// Instructions of a basic block by class, for counting.
struct BlockCost : DeviceCost {
  uint32_t DependentLoads = 0; ///< Some of Memory.
  DeviceChain Chain;
};

enum class BarrierKind : uint32_t { Sync, Popc, And, Or };
/// Added to the number that compiled code passes: the barrier has .aligned.
constexpr uint32_t AlignedBarrier = 256;

/// Warp-wide operations; the number is passed by compiled code.
enum class WarpOp : uint32_t {
  Sync,
  ShflIdx,
  ShflUp,
  ShflDown,
  ShflBfly,
  Ballot,
  Any,
  All,
  Uni,
  MatchAny,
  MatchAll,
  ReduceAdd,
  ReduceMin,
  ReduceMax,
  ReduceUMin,
  ReduceUMax,
  ReduceAnd,
  ReduceOr,
  ReduceXor,
  Active, ///< Who else is here? Has no mask: see BlockState::activeLanes.
};

/// Special registers that are read through the run time; the dimension is added
/// to the number.
enum class SpecialRegister : uint32_t {
  ClusterId = 0,        ///< %clusterid
  ClusterCount = 4,     ///< %nclusterid
  BlockInCluster = 8,   ///< %cluster_ctaid
  BlocksInCluster = 12, ///< %cluster_nctaid
  ClusterRank = 16,     ///< %cluster_ctarank
  ClusterSize = 20,     ///< %cluster_nctarank
  ExplicitCluster = 24, ///< %is_explicit_cluster
  SharedBytes = 32,     ///< %total_smem_size
  Workspace = 28, ///< Low (0) and high (1) word of its address: %envreg2, 1.
};

/// Operations whose result the host rounds in a direction of its own.
enum class RoundedOp : uint32_t { Add, Mul, Fma, Div, Rcp, Sqrt, Convert };

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_ABI_THREADCONTEXT_H
