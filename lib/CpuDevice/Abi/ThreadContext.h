//===- ThreadContext.h - A device thread, for code and run time -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_ABI_THREADCONTEXT_H
#define CUPILOT_LIB_CPUDEVICE_ABI_THREADCONTEXT_H

#include "cupilot/Model/FaultKind.h"
#include "cupilot/Support/DeviceCost.h"
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace cupilot {

struct BlockState;
class BlockShadow;

inline uint64_t addressOf(const void *P) {
  return reinterpret_cast<uintptr_t>(P);
}

/// The range in which an access site was last found right: an access at A is
/// fine without further looking when A - Lo <= Limit (unsigned). Compiled code
/// knows the size and the first three fields.
struct SiteCache {
  uint64_t Lo = ~0ull;
  uint64_t Limit = 0;
  uint64_t Shadow = 0;    ///< To add to four times an address; 0: no shadow.
  uint32_t Bits = 0;      ///< For shadow words: location, coverage, atomic.
  uint32_t AlignMask = 0; ///< Alignment less one.
};

/// Bytes below ThreadContext::StackLimit that belong to the run time (printf is
/// what needs most) and to frames whose size is not known before compiling.
inline constexpr uint64_t StackReserve = 64 * 1024;
/// What functions that are not inlined get: recursion ends there.
inline constexpr uint64_t CallStack = 256 * 1024;

struct AccessSite;

/// A read of bytes that hold nothing.
struct UnwrittenRead {
  uint64_t Address = 0, Size = 0;
  uint64_t Bytes = 0; ///< A bit each.
  const AccessSite *Site = nullptr;
};

/// x, y and z of a thread or a block, or of their numbers.
using ThreadIndex = std::array<uint32_t, 3>;

/// One device thread. Compiled code knows the fields of ThreadContext.def, by
/// the type that contextType() makes.
struct ThreadContext {
#define CUPILOT_CONTEXT_FIELD(Type, Name) Type Name{};
#include "ThreadContext.def"

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

/// No access site, and so no source line, is known.
inline constexpr uint32_t NoSite = ~0u;

/// How \p Site touches memory.
inline AccessKind accessOf(const AccessSite &Site) {
  return Site.IsAtomic  ? AccessKind::Atomic
         : Site.IsStore ? AccessKind::Write
                        : AccessKind::Read;
}
/// The faults of such an access: the one of the three that \p Site makes.
inline FaultKind faultOf(const AccessSite &Site, FaultKind Read,
                         FaultKind Write, FaultKind Atomic) {
  return Site.IsAtomic ? Atomic : Site.IsStore ? Write : Read;
}
inline FaultKind outOfBounds(const AccessSite &Site) {
  return faultOf(Site, FaultKind::OutOfBoundsRead, FaultKind::OutOfBoundsWrite,
                 FaultKind::OutOfBoundsAtomic);
}
inline FaultKind misaligned(const AccessSite &Site) {
  return faultOf(Site, FaultKind::MisalignedRead, FaultKind::MisalignedWrite,
                 FaultKind::MisalignedAtomic);
}

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

/// What a volatile or atomic access is besides.
enum ExchangeKind : uint32_t {
  ExchangePolls = 1,  ///< It decides whether a loop ends that waits.
  ExchangeStores = 2, ///< What lay there is lost.
  ExchangeBlind = 4   ///< What lay there decides what lies there now, but
                      ///< nothing else.
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

/// Formats narrower than float64 whose values are kept wide.
enum class FloatFormat : uint32_t { Float, Half, BFloat };

/// Operations whose result the host rounds in a direction of its own.
enum class RoundedOp : uint32_t { Add, Mul, Fma, Div, Rcp, Sqrt, Convert };

/// Approximate instructions (PTX ISA: .approx and .full).
enum class UnitOp : uint32_t {
  Ex2,
  Lg2,
  Rcp,
  Rsqrt,
  Sqrt,
  Sin,
  Cos,
  Tanh,
  Div,
  DivFull
};

/// The numbers of an approximate instruction: .f32, .ftz.f32, and of the
/// shorter types, which go into the unit as float32 and are cut off behind it.
enum class UnitForm : uint32_t { Single, Flushed, Half, BFloat };

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_ABI_THREADCONTEXT_H
