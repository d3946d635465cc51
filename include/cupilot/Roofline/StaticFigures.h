//===- StaticFigures.h - What code alone says of its bounds -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_ROOFLINE_STATICFIGURES_H
#define CUPILOT_ROOFLINE_STATICFIGURES_H

#include "cupilot/Roofline/Prophet.h"

namespace cupilot {

/// What a warp does in one turn of a loop, or in the code outside of loops.
struct LoopFigures {
  std::string Where;             ///< "loop 1", "loop 1.1", "outside of loops".
  unsigned Depth = 0;            ///< 0: outside of loops.
  std::optional<uint64_t> Turns; ///< Where the code says how many.
  double Bytes = 0; ///< Of device memory, by how addresses follow from threads.
  double SharedBytes = 0;
  // Operations of all 32 threads, in the classes of ExecutionCounts.
  double Fp32 = 0, Fp64 = 0, Fp16 = 0, Integer = 0, Special = 0, Tensor = 0;
  double Instructions = 0; ///< Of the warp.
  unsigned Barriers = 0, Atomics = 0;
  /// Atomics of which all threads hit one place, and loads whose address
  /// follows from the one before.
  unsigned HotAtomics = 0, DependentLoads = 0;
  unsigned Scattered = 0; ///< Accesses whose addresses data decides.
  bool Ordered = false;   ///< Each turn needs the result of the one before.
  /// Floating-point operations per byte; nothing when no bytes are moved.
  std::optional<double> intensity() const;
};

/// The figures of one kernel.
struct StaticFigures {
  std::vector<LoopFigures> Loops; ///< Outside first, then in program order.
  std::vector<std::string> Unknown;
  /// Of the innermost loops the one whose turn takes longest on a GPU with
  /// these ceilings: what decides if it turns often. The code outside where
  /// there is no loop.
  const LoopFigures &hottest(const Ceilings &C) const;
};

/// Optimises device bitcode as a build does and looks at the kernel \p Symbol;
/// a usage error when there is none.
llvm::Expected<StaticFigures> staticFigures(llvm::StringRef Bitcode,
                                            llvm::StringRef Symbol);

/// From code alone; with \p Shape also from the number of threads.
Opinion opinionOfCode(const StaticFigures &F, const GpuDescription &Gpu,
                      const Ceilings &C, const LaunchShape *Shape);

llvm::json::Object toJSON(const StaticFigures &F);

} // namespace cupilot

#endif // CUPILOT_ROOFLINE_STATICFIGURES_H
