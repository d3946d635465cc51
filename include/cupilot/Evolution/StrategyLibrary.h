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
  bool Evident = false; ///< Code without it does not look so.
  llvm::SmallVector<ReadingAttr> Reads = {}; ///< Parameters that code tells.
  /// How it is written and when it does not pay; "" for those that need no
  /// such text.
  std::string Notes = {};
};

/// All strategies that \p Library defines, in order.
std::vector<LibraryStrategy> libraryStrategies(mlir::Operation *Library);

/// What the operators must know of \p Library.
std::vector<StrategyInfo> infosOf(llvm::ArrayRef<LibraryStrategy> Library);

/// Reads the notes of \p All: NAME.md in the folder \p Strategies, where there
/// is one.
llvm::Error readNotes(llvm::StringRef Strategies,
                      llvm::MutableArrayRef<LibraryStrategy> All);

} // namespace cupilot

#endif // CUPILOT_EVOLUTION_STRATEGYLIBRARY_H
