//===- StrategyLibrary.h - Strategies as the agents see them -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVOLUTION_STRATEGYLIBRARY_H
#define CUPILOT_EVOLUTION_STRATEGYLIBRARY_H

#include "cupilot/Dialect/Cupilot.h"
#include "cupilot/Dialect/Transforms/Genetics.h"

namespace cupilot {

/// A strategy as the agents see it.
struct LibraryStrategy {
  StrategyInfo Info;
  std::string Summary;    ///< A sentence.
  std::string Bottleneck; ///< "memory", "compute", "latency".
  int64_t MinArch = 0;    ///< Compute capability times ten.
  /// How it shows in code: all of these must be there.
  llvm::SmallVector<SignAttr> ShownBy = {};
};

/// All strategies that \p Library defines, in order.
std::vector<LibraryStrategy> libraryStrategies(mlir::Operation *Library);

} // namespace cupilot

#endif // CUPILOT_EVOLUTION_STRATEGYLIBRARY_H
