//===- Rules.h - The rules translator -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_FRONTEND_RULES_H
#define CUPILOT_FRONTEND_RULES_H

#include "cupilot/Model/Genome.h"
#include "cupilot/Model/Kernel.h"
#include "cupilot/Model/SourceLanguage.h"

namespace cupilot {

/// What a translator makes of a genome.
struct Translation {
  std::string Source; ///< Self-contained text.
  LaunchPlan Plan;
  Guard When; ///< Arch is left empty; evolution fills it in.
  SourceLanguage Language = SourceLanguage::Cuda;
};

/// The strategies that the rules translator can carry out.
llvm::ArrayRef<llvm::StringRef> ruleStrategies();

/// A launch whose blocks a gene has shaped.
struct ShapedLaunch {
  LaunchShape Shape;
  /// What the code is bound to: threads of a block at most, and blocks that a
  /// multiprocessor shall hold. 0: the gene says nothing of it.
  uint64_t MostThreads = 0, LeastBlocks = 0;
};

/// The launch \p Of as \p G alone shapes its blocks; nothing for strategies
/// that leave them as they are. Whether the rule applies is not asked.
std::optional<ShapedLaunch> shapedBy(const Gene &G, const LaunchShape &Of);

/// Rewrites the slice of \p K on its Clang AST, gene by gene in the order of
/// ruleStrategies(). A gene whose precondition the kernel does not meet is a
/// finding error: "STRATEGY: reason". The result parses. \p Flags are those of
/// the original's compilation.
llvm::Expected<Translation> translateByRules(const Kernel &K, const Genome &G,
                                             llvm::ArrayRef<std::string> Flags);

} // namespace cupilot

#endif // CUPILOT_FRONTEND_RULES_H
