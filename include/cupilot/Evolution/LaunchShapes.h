//===- LaunchShapes.h - Blocks that fill a GPU -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVOLUTION_LAUNCHSHAPES_H
#define CUPILOT_EVOLUTION_LAUNCHSHAPES_H

#include "cupilot/Dialect/Transforms/Genetics.h"
#include "cupilot/Model/GpuDescription.h"
#include "cupilot/Model/KernelResources.h"
#include "cupilot/Model/Workload.h"

namespace cupilot {

struct SearchProblem;

/// Judges genes that shape blocks by how many of these a multiprocessor holds:
/// by the registers and shared memory of the original, before anything is made.
class LaunchShapes {
public:
  /// \p Bitcode: of the original.
  LaunchShapes(const SearchProblem &P, const KernelResources &R,
               llvm::StringRef Bitcode);

  /// A finding where the GPU, or the architecture that is compiled for, cannot
  /// hold what \p G asks for.
  llvm::Error check(const Genome &G) const;
  /// Of the genes of each of \p Strategies, those with the best share() and
  /// those near it, as Gene::str writes them; none where all are.
  std::vector<std::string>
  favoured(llvm::ArrayRef<StrategyInfo> Strategies) const;
  /// How well the recorded launches fill the GPU as \p G shapes them, 0 to 1:
  /// resident threads of a multiprocessor, over what it could hold of the grid,
  /// times how evenly the blocks spread. Nothing for a gene that shapes no
  /// blocks.
  std::optional<double> share(const Gene &G) const;

private:
  GpuDescription Gpu;
  std::string Arch;
  std::vector<Workload> Workloads; ///< That count for times.
  KernelResources Resources;
  bool Bounded; ///< The original has bounds of its own.
};

} // namespace cupilot

#endif // CUPILOT_EVOLUTION_LAUNCHSHAPES_H
