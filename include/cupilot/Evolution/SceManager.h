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
#include "cupilot/Evolution/Breeder.h"
#include "cupilot/Evolution/Standing.h"
#include "cupilot/Evolution/StrategyLibrary.h"
#include "cupilot/Evolution/StrategyTranslator.h"

namespace cupilot {

/// What both are told. What it refers to must outlive it.
struct ChoiceRequest {
  const PromptKernel &Of;
  const KernelAdvice *Advice; ///< Null: no figures.
  llvm::ArrayRef<LibraryStrategy> Library;
  double Within = 0;            ///< SearchOptions::Within.
  const Standing *So = nullptr; ///< Null: nothing was tried yet.
  /// Whether the Manager may propose strategies; then, for which GPUs (compute
  /// capability times ten), and what there is beside Library.
  bool MayPropose = false;
  unsigned Arch = 0;
  llvm::ArrayRef<LibraryStrategy> Whole = {};
};

/// What the Manager says.
struct ManagerAnswer {
  std::vector<ProposedGenome> Genomes;
  /// Strategies that it proposes, some of them in these genomes.
  std::vector<LibraryStrategy> New;
};

/// What the Prophet says.
struct Prophecies {
  /// Worth trying, with all that they require, in library order.
  std::vector<std::string> Strategies;
  std::optional<Bottleneck> Class;
  bool Moved = false; ///< What bounds the best has changed.
  std::string Reason;
};

/// Asks the Prophet: puts what matters into \p A. An answer that cannot be
/// used is a finding; faults of providers are their own.
llvm::Expected<Prophecies> askProphet(Provider &From,
                                      const PromptLibrary &Prompts,
                                      const ChoiceRequest &R, KernelAdvice &A,
                                      llvm::StringRef Step,
                                      AnswerCounts *Counts = nullptr);

/// Asks the SCE Manager for \p Count genomes. What it proposes that the library
/// does not have is left out; integers go to the nearest one of their domain.
/// After a generation they are made of those that live on: a gene of the
/// fastest parent, if that one is proved, is missing only for a reason that the
/// Manager names, or because it conflicts with one that it chose. Where it may,
/// it proposes strategies that the library lacks (proposedStrategies). Errors
/// as above.
llvm::Expected<ManagerAnswer>
askManager(Provider &From, const PromptLibrary &Prompts, const ChoiceRequest &R,
           unsigned Count, llvm::ArrayRef<PromptExample> Examples,
           llvm::StringRef Step, AnswerCounts *Counts = nullptr);

} // namespace cupilot

#endif // CUPILOT_EVOLUTION_SCEMANAGER_H
