//===- Search.h - The loop of strategy-coordinated evolution -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVOLUTION_SEARCH_H
#define CUPILOT_EVOLUTION_SEARCH_H

#include "cupilot/Evolution/GpuStepJudge.h"
#include "cupilot/Evolution/SearchScheduler.h"
#include "cupilot/Evolution/StrategyRecord.h"
#include "cupilot/Slurm/SlurmOptions.h"
#include "cupilot/Store/ProjectStore.h"
#include <chrono>
#include <functional>

namespace cupilot {

struct AgentOptions;

/// How searches go. Journals and recordings of another version are not gone on
/// with, as they would lead elsewhere.
constexpr unsigned SearchVersion = 2;

/// A variant that somebody hands in.
struct SubmittedVariant {
  Translation Code;
  std::string Digest;                    ///< Of all that was handed in.
  std::vector<std::string> CarriedOut;   ///< Strategies, by its author.
  std::string Notes;                     ///< Its author's.
  Author By;                             ///< For the store.
  Genome Genes = {};                     ///< With parameters, where known.
  std::vector<std::string> Prompts = {}; ///< As Variant has them.
  /// The code with its numbers open: other settings are tried, too
  /// (SearchOptions::Tune), also where this one is not faster.
  std::optional<TunableCode> Open = std::nullopt;
};

struct SearchOptions {
  unsigned Population = 12;
  unsigned Generations = 3;
  unsigned Offspring = 8;
  /// Candidates that are judged beside each other, each in a process; the same
  /// verdicts, whatever the number.
  unsigned Jobs = 1;
  /// The cluster whose nodes judge candidates (ClusterGate.h); nothing: here.
  std::optional<SlurmOptions> Cluster;
  SearchTurns Turns; ///< Among searches that run at the same time.
  unsigned Keep = 1; ///< Variants that enter the store at most.
  /// Settings of a variant's tunables (Tunables.h) that are tried at most, once
  /// after each generation; 0: none.
  unsigned Tune = 0;
  bool Resume = false;
  std::string Strategies; ///< Folder of the library.
  /// A project store whose records of strategies steer the choice; "": none.
  std::string Store;
  /// Genomes to begin with, as genomeText writes them: seedGenomes.
  std::vector<std::string> Begin;
  /// "cpu", where times are modelled, or a GPU as for GpuDevice, where the
  /// survivors of each generation are compared and timed as one batch.
  std::string Device = "cpu";
  GpuPatience Patience; ///< With a GPU elsewhere.
  /// Models that turn genomes into code (ModelMaker.h); null: rules do.
  const AgentOptions *Agents = nullptr;
  /// The only candidate: nothing is bred, and Agents is null. It passes what
  /// all others pass.
  const SubmittedVariant *Submitted = nullptr;
  /// Variants that a store has of the kernel (storedVariants), with which the
  /// search begins: no model is asked for them. Nothing: it begins anew.
  std::optional<std::vector<SubmittedVariant>> Stored;
  /// Nothing is begun from then on, but the last checks of what was accepted.
  std::optional<std::chrono::steady_clock::time_point> Until;
  /// A kernel is done when its best time is this near to the GPU's ceiling:
  /// 0.05 for 5 %. 0: never.
  double Within = 0;
  /// What is kept passes all of it by their code as well, or is not for them.
  std::vector<BuildCompiler> Others;
  /// Told what people should know of the agents.
  std::function<void(llvm::StringRef)> Tell;
  /// Why a rule does not apply to the kernel; its genes are not drawn.
  std::function<void(llvm::StringRef)> TellRefused;
  /// Told after each candidate: generation, outcome, best ratio so far.
  std::function<void(unsigned, const CandidateRecord &, double)> Progress;
};

/// Why a search ended before its last generation.
struct EarlyEnd {
  enum class Cause { Budget, Time, NearCeiling, CallsMade } Why;
  std::string Text; ///< For people.
};

/// What a search ended with.
struct SearchResult {
  std::vector<Variant> Variants;    ///< Accepted ones, best first.
  std::vector<std::string> Sources; ///< Theirs.
  /// The first so many are by the search's compiler; behind them are those
  /// that others' code proved on another domain.
  size_t Kept = 0;
  bool OtherFailed = false; ///< Another compiler could not be run.
  std::vector<CandidateRecord> All;
  MeasuredFile Measured; ///< What a GPU said of the original and those kept.
  std::string Run;       ///< Digest of everything that decides how it went.
  std::optional<EarlyEnd> Ended;
  StrategyRecord Strategies; ///< For the store (strategyFile).
  /// Files for the store, with strategies that models proposed and that the
  /// variants have (proposedFile).
  std::vector<std::pair<std::string, std::string>> Proposed;

  bool isOverBudget() const {
    return Ended && Ended->Why == EarlyEnd::Cause::Budget;
  }
  /// Whether the same search goes on from here where it gets more.
  bool isCutShort() const {
    return isOverBudget() || (Ended && Ended->Why == EarlyEnd::Cause::Time);
  }
};

/// Searches for variants of the problem's kernel. Every step is in the journal
/// before the next begins: a search that was killed and resumed ends like one
/// that was not.
llvm::Expected<SearchResult> search(const SearchProblem &Problem,
                                    const SearchOptions &Options, Journal &J);

} // namespace cupilot

#endif // CUPILOT_EVOLUTION_SEARCH_H
