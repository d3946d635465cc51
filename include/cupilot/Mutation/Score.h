//===- Score.h - How many faults the gate finds -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MUTATION_SCORE_H
#define CUPILOT_MUTATION_SCORE_H

#include "cupilot/Mutation/MutantMaker.h"
#include "llvm/Support/JSON.h"
#include <functional>
#include <map>

namespace cupilot {

/// What became of a mutant.
enum class MutantOutcome {
  Open,     ///< Not judged yet.
  SameCode, ///< Its optimised device code equals the original's.
  Killed,   ///< The gate rejected it.
  Survived,
  Crashed, ///< The process of the gate ended without a verdict.
  TimedOut,
  Bounded,    ///< Accepted only where it is right: judgeBounded().
  NotCompiled ///< The compiler refuses it.
};
/// "same-code"; "" of an open one.
llvm::StringRef wordOf(MutantOutcome O);

/// A mutant and what became of it.
struct MutantRecord {
  std::string Kernel; ///< Name without parameters.
  Mutation M;
  MutantOutcome Outcome = MutantOutcome::Open;
  std::string Reason, Evidence; ///< Of the gate, for killed ones.
  unsigned Inputs = 0;  ///< Independent ones that a survivor was run on.
  bool Differs = false; ///< One of these shows a difference: a miss.
  std::string Difference;
  double Seconds = 0;        ///< For all of it,
  double VerdictSeconds = 0; ///< and for the gate alone.
  std::string Domain;        ///< In words, of accepted ones.

  bool counts() const {
    return Outcome != MutantOutcome::SameCode &&
           Outcome != MutantOutcome::NotCompiled;
  }
  bool found() const { return counts() && Outcome != MutantOutcome::Survived; }
  /// "rows kernels.cu:12:7 compare: slt -> sle": the key in lists of survivors.
  std::string key() const { return Kernel + " " + M.str(); }
};

llvm::json::Value toJSON(const MutantRecord &R);
bool fromJSON(const llvm::json::Value &V, MutantRecord &R, llvm::json::Path P);

/// A kernel to make mutants of.
struct MutationSubject {
  const Kernel *K = nullptr; ///< With its contract.
  std::string Name;
  std::shared_ptr<MutantMaker> Mutants;
  std::vector<Workload> Workloads;
  std::string Arch = "sm_90";
  bool MayApproximate = false; ///< GateSetup's.
};

struct ScoreOptions {
  uint64_t Seed = 1;
  unsigned Limit = 0; ///< Mutants that count; 0: all.
  unsigned Workers = 2;
  /// Of several processes that share the mutants, this one judges those whose
  /// place is Part modulo Parts, about as many as the limit asks for.
  unsigned Part = 0, Parts = 1;
  unsigned TimeoutSeconds = 600; ///< Of one mutant, in wall time.
  unsigned Independent = 0;      ///< Inputs for each survivor.
  /// What an earlier run knows, by key() and M.Index with a space between.
  std::map<std::string, MutantRecord> Known;
  std::function<void(const MutantRecord &, bool New)> Progress;
};

/// Makes mutants of \p Subject in an order that depends on the seed alone and
/// has the gate judge them, each in a process that may crash.
llvm::Expected<std::vector<MutantRecord>>
scoreKernel(const MutationSubject &Subject, const ScoreOptions &Options);

/// Survivors that somebody has shown to be equivalent: key to argument. Read
/// from lines "- `KEY`: argument". Keys without an argument are a usage error.
llvm::Expected<std::map<std::string, std::string>>
parseEquivalents(llvm::StringRef Text, llvm::StringRef File);

} // namespace cupilot

#endif // CUPILOT_MUTATION_SCORE_H
