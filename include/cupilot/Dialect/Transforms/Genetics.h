//===- Genetics.h - Crossover and mutation of strategies -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The genetic operators on plain genomes. The SCE passes apply them to
// cupilot.variant operations. Strategies are crossed, never code (cuPilot
// paper, section on strategy-coordinated evolution).
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DIALECT_TRANSFORMS_GENETICS_H
#define CUPILOT_DIALECT_TRANSFORMS_GENETICS_H

#include "cupilot/Model/Genome.h"
#include "llvm/ADT/ArrayRef.h"
#include <map>
#include <random>
#include <set>

namespace cupilot {

/// Random numbers that are the same on every machine: the engine is fixed by
/// the standard, and the standard's distributions, which are not, are not used.
class Random {
public:
  /// A stream of its own for each (seed, purpose, generation).
  Random(uint64_t Seed, llvm::StringRef Purpose, uint64_t Generation);
  /// Uniform in [0, Bound); Bound > 0.
  uint64_t below(uint64_t Bound);
  /// True with a probability of \p Percent.
  bool chance(unsigned Percent) { return below(100) < Percent; }

private:
  std::mt19937_64 Engine;
};

/// What the operators must know of a strategy.
struct StrategyInfo {
  struct Param {
    std::string Name;
    std::vector<int64_t> Values;    ///< The domain; for words: empty.
    std::vector<std::string> Words; ///< The domain; for integers: empty.
  };
  std::string Name;
  std::vector<Param> Params;
  std::vector<std::string> Requires, Conflicts;

  /// Its genes, one for each combination of values, the first parameter's
  /// slowest; no more than \p Most.
  std::vector<Gene> genes(size_t Most) const;
};

/// How often a strategy was tried, and how often it helped.
struct StrategyTally {
  unsigned Tried = 0, Helped = 0;
};
/// "vectorized_access:5:2": tried five times, helped twice. Nothing for other
/// text.
std::optional<std::pair<std::string, StrategyTally>>
parseTally(llvm::StringRef Text);
std::string tallyText(llvm::StringRef Strategy, const StrategyTally &T);

/// The strategies that a search may draw from, in library order.
class GenePool {
public:
  /// \p Refused: genes that cannot be made, as Gene::str writes them. They are
  /// not drawn, and strategies that have no others are not in the pool.
  /// \p Favoured: of their strategies, genes to be drawn before others.
  explicit GenePool(std::vector<StrategyInfo> Strategies,
                    std::map<std::string, StrategyTally> Tallies = {},
                    std::set<std::string> Refused = {},
                    const std::set<std::string> &Favoured = {});

  /// One to try. Without tallies any is as good; with them, by Thompson
  /// sampling: the largest of a number for each strategy, drawn from the Beta
  /// distribution of how likely it is to help (Thompson, 1933).
  const StrategyInfo &pick(Random &R) const;

  bool empty() const { return Strategies.empty(); }
  llvm::ArrayRef<StrategyInfo> strategies() const { return Strategies; }

  /// Genes in library order, each strategy once (the first wins): the form in
  /// which genomes are compared and crossed.
  Genome align(Genome G) const;
  /// Makes \p G keep every `requires` and `conflicts`: missing required genes
  /// are added with random values, of two in conflict a random one goes.
  Genome repair(Random &R, Genome G) const;
  /// A gene of \p S with random values; four of five times a favoured one, if
  /// there is one.
  Gene randomGene(Random &R, const StrategyInfo &S) const;
  /// A valid genome of at least one and about \p Genes genes.
  Genome random(Random &R, unsigned Genes) const;
  /// Genes that both parents have are kept, with either's values; others come
  /// along with even odds. With \p KeepA all strategies of \p A stay, and what
  /// conflicts with them does not come. Never empty when a parent is not.
  Genome crossover(Random &R, const Genome &A, const Genome &B,
                   bool KeepA = false) const;
  /// One change: a gene more, a gene less, or another value. The strategies
  /// \p Kept do not go.
  Genome mutate(Random &R, Genome G,
                const std::set<std::string> &Kept = {}) const;

private:
  const StrategyInfo *find(llvm::StringRef Name) const;
  bool inConflict(llvm::StringRef A, llvm::StringRef B) const;
  std::vector<StrategyInfo> Strategies;
  std::map<std::string, StrategyTally> Tallies;
  std::set<std::string> Refused;
  /// By strategy: the favoured genes that are not refused.
  std::map<std::string, std::vector<Gene>> Favoured;
};

} // namespace cupilot

#endif // CUPILOT_DIALECT_TRANSFORMS_GENETICS_H
