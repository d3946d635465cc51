//===- SceManager.h - Models that choose strategies -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two calls at the beginning of a search: the Roofline Prophet reads the
// figures and names what matters, the SCE Manager proposes genomes to begin
// with. Crossing and mutation are the dialect's passes.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVOLUTION_SCEMANAGER_H
#define CUPILOT_EVOLUTION_SCEMANAGER_H

#include "cupilot/Evolution/Advice.h"
#include "cupilot/Evolution/StrategyTranslator.h"

namespace cupilot {

struct LibraryStrategy;

/// What both are told. What it refers to must outlive it.
struct ChoiceRequest {
  const PromptKernel &Of;
  const KernelAdvice *Advice; ///< Null: no figures.
  llvm::ArrayRef<LibraryStrategy> Library;
  double Within = 0; ///< SearchOptions::Within.
};

/// Asks the Prophet: puts what matters into \p A, and returns the strategies
/// worth trying, with all that they require. An answer that cannot be used is a
/// finding; faults of providers are their own.
llvm::Expected<std::vector<std::string>>
askProphet(Provider &From, const PromptLibrary &Prompts, const ChoiceRequest &R,
           KernelAdvice &A, llvm::StringRef Step,
           AnswerCounts *Counts = nullptr);

/// Asks the SCE Manager for \p Count genomes, as genomeText writes them. What
/// it proposes that the library does not have is left out; integers go to the
/// nearest one of their domain. Errors as above.
llvm::Expected<std::vector<std::string>>
askManager(Provider &From, const PromptLibrary &Prompts, const ChoiceRequest &R,
           unsigned Count, llvm::ArrayRef<PromptExample> Examples,
           llvm::StringRef Step, AnswerCounts *Counts = nullptr);

} // namespace cupilot

#endif // CUPILOT_EVOLUTION_SCEMANAGER_H
