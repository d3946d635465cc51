//===- CodeCrossover.h - Two variants' code as one -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What cuPilot does not do, to compare with what it does: models merge the code
// of two variants. Strategies take no part.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVOLUTION_CODECROSSOVER_H
#define CUPILOT_EVOLUTION_CODECROSSOVER_H

#include "cupilot/Evolution/StrategyTranslator.h"
#include "cupilot/Model/CandidateOutcome.h"

namespace cupilot {

/// A variant whose code is crossed.
struct CodeParent {
  Translation Code;
  CandidateOutcome Outcome;
  double Ratio = 0; ///< 0 where it has no time.
};

/// Asks for the offspring of two variants. Errors as with translateByModel.
llvm::Expected<ModelTranslation>
crossCodeByModel(Provider &From, const PromptLibrary &Prompts,
                 const PromptKernel &P, llvm::ArrayRef<CodeParent> Parents,
                 llvm::ArrayRef<std::string> Facts, llvm::StringRef Step,
                 AnswerCounts *Counts = nullptr);

} // namespace cupilot

#endif // CUPILOT_EVOLUTION_CODECROSSOVER_H
