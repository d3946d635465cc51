//===- Breeder.h - Which genomes come next -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The choosing half of the SCE Manager: start population, fitness, selection,
// crossover, mutation. How genomes become code is somebody else's
// (CandidateMaker.h). Everything follows from the seed, what the store knew
// when the search began, and the candidates' records in their order.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVOLUTION_BREEDER_H
#define CUPILOT_EVOLUTION_BREEDER_H

#include "cupilot/Evolution/Candidate.h"
#include "cupilot/Evolution/KernelCeiling.h"
#include "cupilot/Evolution/StrategyRecord.h"
#include "cupilot/Roofline/Ceilings.h"

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace cupilot {

class VariantOp;

struct BreedingOptions {
  unsigned Population = 12;
  unsigned Tournament = 3; ///< Variants that meet for a parent's place.
  unsigned Elite = 2;      ///< That stay in any case.
  unsigned Crowd = 5; ///< Percent, for each variant of the same strategies.
  /// Models take part: what is proved is not taken away by chance.
  bool KeepProved = false;
  /// What full use of the bottleneck's unit adds to the ceiling over the time.
  double UtilisationWeight = 0.2;
  /// Strategies to draw from; all of the library if empty.
  std::vector<std::string> Strategies;
  /// Genomes to begin with, as genomeText writes them.
  std::vector<std::string> Begin;
  /// Genes to draw before others of their strategies, as Gene::str writes them.
  std::vector<std::string> Favoured;
};

/// How much of the time of its launches the unit that limits them is busy, 0 to
/// 1, by the counts and times in the evidence; 0 where there are none.
double utilisationOf(const CandidateRecord &R, const SearchProblem &P,
                     const Ceilings &C);

/// "memory", "compute" or "middle": on which side the original is at the
/// ceilings, by its counts; "middle" without any. Other than a class by times,
/// it does not change with the size of a launch.
std::string recordClass(const SearchProblem &P,
                        const CandidateEvaluator &Evaluator, const Ceilings &C);

/// Which of some genomes fit the kernel (CandidateMaker::fit).
using GenomesFit = llvm::function_ref<llvm::Error(llvm::ArrayRef<Genome>,
                                                  std::vector<bool> &)>;

/// A genome that somebody wants tried.
struct ProposedGenome {
  Genome Genes;
  std::vector<std::string> Parents = {}; ///< Names of variants.
  std::string Reason = {};               ///< For the candidate's history.
};

class Breeder {
public:
  /// \p Prior: what other searches tell of strategies. \p P and \p Ceiling
  /// must outlive it.
  Breeder(const SearchProblem &P, const Ceilings &C,
          const KernelCeiling &Ceiling, BreedingOptions Options,
          StrategyTallies Prior);

  /// Puts the start population into \p M, which holds the library and the
  /// kernel; \p Others of it are there already. What does not fit is drawn
  /// again. Resource error: a pass failed.
  llvm::Error begin(mlir::ModuleOp M, GenomesFit Fit = nullptr,
                    unsigned Others = 0);
  /// Leaves out of the population who has no place in it.
  llvm::Error prune(mlir::ModuleOp M);
  /// Adds \p Offspring variants of a generation, from 1, to what prune() left:
  /// the first of \p Proposed that are valid and new, and for the rest
  /// offspring by crossover and mutation.
  llvm::Error next(mlir::ModuleOp M, unsigned Generation, unsigned Offspring,
                   GenomesFit Fit = nullptr,
                   llvm::ArrayRef<ProposedGenome> Proposed = {});
  /// Notes the outcome of \p V in it, and what its genes have done.
  void judged(VariantOp V, const CandidateRecord &R);
  /// Counters of \p V were read: the share of its time in which the unit that
  /// limits it was busy.
  void measuredUse(llvm::StringRef Variant, double Share);
  /// The strategies to draw from; those of living variants stay.
  void drawFrom(std::vector<std::string> Strategies) {
    Options.Strategies = std::move(Strategies);
  }
  /// Why somebody wanted \p V; "" for offspring. Forgets it.
  static std::string takeReason(VariantOp V);

  /// What this search found out about strategies.
  const StrategyTallies &own() const { return Own; }

private:
  /// What fitness follows from.
  struct Merit {
    double Ratio = 0; ///< 0: it is no good.
    double CeilingShare = 0, Use = 0;
  };
  double fitness(const Merit &M) const;
  void rate(mlir::ModuleOp M);
  void count(VariantOp V, const CandidateRecord &R);
  std::vector<std::string> tallies() const;
  llvm::Error draw(mlir::ModuleOp M, GenomesFit Fit,
                   llvm::function_ref<llvm::Error()> Passes);

  const SearchProblem &P;
  Ceilings C;
  const KernelCeiling &Ceiling;
  BreedingOptions Options;
  std::map<std::string, Merit> Merits; ///< By the variant's name.
  StrategyTallies Prior, Own;
  /// Of no use in this kernel, whatever they do in others.
  StrategyTallies Refused;
  /// Genes and speed-up of each that was judged, by the variant's name.
  std::map<std::string, std::pair<std::vector<std::string>, double>> Judged;
  std::map<std::string, bool> Fits; ///< By genome: what was asked.
};

} // namespace cupilot

#endif // CUPILOT_EVOLUTION_BREEDER_H
