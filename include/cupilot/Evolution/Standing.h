//===- Standing.h - How far a search is -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What was tried, what came of it, and how far that is from what the GPU can
// do: the agents are told after each generation, and fitness follows from it.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVOLUTION_STANDING_H
#define CUPILOT_EVOLUTION_STANDING_H

#include "cupilot/Evolution/CandidateRecord.h"
#include "cupilot/Evolution/KernelCeiling.h"
#include "cupilot/Roofline/Prophet.h"

namespace cupilot {

class CandidateEvaluator;
struct KernelAdvice;
struct SearchProblem;

/// A variant that was tried, as prompts show it.
struct TriedVariant {
  std::string Name, Genome, Outcome;
};

/// What counters say of a program, by workload.
using LaunchProfiles = std::map<std::string, MeasuredLaunch>;

/// The candidates of a search in the order of their verdicts.
class Scoreboard {
public:
  struct Entry {
    std::string Name; ///< "g1_v3".
    CandidateRecord Record;
  };

  /// All must outlive it.
  Scoreboard(const SearchProblem &P, const CandidateEvaluator &Evaluator,
             const KernelAdvice &Advice, const KernelCeiling &Ceiling,
             const Ceilings &Limits)
      : P(P), Evaluator(Evaluator), Advice(Advice), Ceiling(Ceiling),
        Limits(Limits) {}

  void add(llvm::StringRef Name, const CandidateRecord &R) {
    Entries.push_back({Name.str(), R});
  }
  /// What counters say of the candidate whose genome is \p Genome.
  void addProfile(llvm::StringRef Genome, LaunchProfiles Profile) {
    Profiles[Genome.str()] = std::move(Profile);
  }
  /// Null: it was not profiled.
  const LaunchProfiles *profile(const CandidateRecord &R) const;

  /// The \p Most fastest that are proved, fastest first: accepted ones; where
  /// there are none, those that are right and were timed.
  std::vector<const Entry *> elites(size_t Most) const;
  /// What was tried, the fastest first, then the latest failures.
  std::vector<TriedVariant> tried(size_t Most) const;
  /// What is known of \p R, as sentences: times, the distance to the ceiling,
  /// what ptxas says, counters and counts, what bounds it.
  std::vector<std::string> figures(const CandidateRecord &R) const;
  /// What bounds \p R on the launch that counts most: by counters, else by its
  /// time and its counts.
  Opinion opinion(const CandidateRecord &R) const;

private:
  std::vector<std::string> compilerFigures(const CandidateRecord &R) const;

  const SearchProblem &P;
  const CandidateEvaluator &Evaluator;
  const KernelAdvice &Advice;
  const KernelCeiling &Ceiling;
  const Ceilings &Limits;
  std::vector<Entry> Entries;
  std::map<std::string, LaunchProfiles> Profiles; ///< By genome.
};

/// One that lives on, as the SCE Manager is told.
struct Survivor {
  std::string Name;
  Genome Genes;
  double Ratio = 0;
  bool Proved = false; ///< It is right and faster than the original.
  std::string Outcome;
};

/// What the agents are told after a generation.
struct Standing {
  unsigned Generation = 0;          ///< The one that ended.
  bool Measured = false;            ///< Else times are modelled.
  std::vector<std::string> Best;    ///< Figures of the best.
  std::string BestGenome;           ///< "": none is right and was timed.
  std::optional<Bottleneck> Before; ///< What bound it until now.
  Opinion Now;                      ///< What bounds the best.
  std::vector<TriedVariant> Tried;
  std::vector<Survivor> Population;
};

/// What became of \p R, on one line: "1.83 x", "gate: race (w0): ...".
std::string outcomeText(const CandidateRecord &R);

} // namespace cupilot

#endif // CUPILOT_EVOLUTION_STANDING_H
