//===- ExecutionCounts.h - What a launch did -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MODEL_EXECUTIONCOUNTS_H
#define CUPILOT_MODEL_EXECUTIONCOUNTS_H

#include "llvm/Support/JSON.h"
#include <cstdint>

namespace cupilot {

/// What the execution of one launch did, as the cost model needs it. A "warp
/// access" is one memory instruction executed by one warp.
struct ExecutionCounts {
  uint64_t Warps = 0, Threads = 0;
  uint64_t GlobalLoads = 0, GlobalStores = 0;             ///< Warp accesses.
  uint64_t GlobalLoadSectors = 0, GlobalStoreSectors = 0; ///< 32-byte sectors.
  uint64_t UniqueSectors = 0;  ///< Distinct sectors touched by the launch ...
  uint64_t ReadSectors = 0;    ///< ... read by it ...
  uint64_t WrittenSectors = 0; ///< ... and written: some are in both.
  uint64_t SharedAccesses = 0; ///< Warp accesses ...
  uint64_t SharedWavefronts =
      0; ///< ... and what they cost with bank conflicts.
  uint64_t LocalAccesses = 0;
  uint64_t AtomicOps = 0;  ///< Thread-level atomics ...
  uint64_t HotAtomics = 0; ///< ... and those on the sector of global memory
                           ///< that gets most of them.
  uint64_t Barriers = 0;   ///< Block barriers, per warp.
  // Thread-level instructions by class.
  uint64_t Fp32 = 0, Fp64 = 0, Fp16 = 0, Integer = 0, Special = 0, Control = 0,
           Conversion = 0, Shuffle = 0;
  uint64_t Tensor = 0; ///< Operations of matrix instructions (a multiplication
                       ///< and an addition are two), as many as of f16 would
                       ///< take that long.
  uint64_t DependentLoads = 0;   ///< Warp accesses whose address follows from
                                 ///< the one before in a loop: a list's.
  uint64_t WarpInstructions = 0; ///< Issued, divergence included.
  // Of all warps together, each as long as it would take alone.
  uint64_t ChainCycles = 0; ///< Of instructions that need each other's results.
  uint64_t Waits = 0;       ///< For global memory, one after the other.
  ExecutionCounts &operator+=(const ExecutionCounts &Other);
  /// Multiplies everything by Numerator / Denominator.
  void scale(uint64_t Numerator, uint64_t Denominator);
};

llvm::json::Object toJSON(const ExecutionCounts &C);
bool fromJSON(const llvm::json::Value &V, ExecutionCounts &C,
              llvm::json::Path P);

} // namespace cupilot

#endif // CUPILOT_MODEL_EXECUTIONCOUNTS_H
