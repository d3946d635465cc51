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

namespace cupilot {

/// What a translator makes of a genome.
struct Translation {
  std::string Source; ///< Self-contained .cu.
  LaunchPlan Plan;
  Guard When; ///< Arch is left empty; evolution fills it in.
};

/// The strategies that the rules translator can carry out.
llvm::ArrayRef<llvm::StringRef> ruleStrategies();

/// Rewrites the slice of \p K on its Clang AST, gene by gene in the order of
/// ruleStrategies(). A gene whose precondition the kernel does not meet is a
/// finding error: "STRATEGY: reason". The result parses. \p Flags are those of
/// the original's compilation.
llvm::Expected<Translation> translateByRules(const Kernel &K, const Genome &G,
                                             llvm::ArrayRef<std::string> Flags);

} // namespace cupilot

#endif // CUPILOT_FRONTEND_RULES_H
