//===- CandidateMaker.h - From genomes to candidates -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The border between the choice of genomes (the SCE operators, which see
// records) and their making. The search asks for a generation at a time, judges
// what comes, and asks for repairs of what failed.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVOLUTION_CANDIDATEMAKER_H
#define CUPILOT_EVOLUTION_CANDIDATEMAKER_H

#include "cupilot/Evolution/Candidate.h"
#include "cupilot/Evolution/Standing.h"

namespace cupilot {

struct LibraryStrategy;
struct SubmittedVariant;

/// What is to be known for improving a variant.
struct ImproveOrder {
  unsigned Number = 1, Count = 1; ///< Of so many that begin with this variant.
  std::vector<std::string> Figures; ///< Of the variant, as sentences.
  std::vector<TriedVariant> Tried;  ///< What all others came to.
};

/// A genome that the search wants as a candidate.
struct CandidateOrder {
  std::string Name; ///< "g1_v3": unique in its run.
  Genome Genes;     ///< Of an improvement its name (improvementOf).
  std::vector<CandidateRecord> Parents; ///< As they were judged.
  /// What the journal has of it: nothing is made, only counted.
  const CandidateRecord *Known = nullptr;
  /// The one parent's code is to be improved, by whatever strategies.
  std::optional<ImproveOrder> Improve = std::nullopt;
  std::string Reason = {}; ///< CandidateHistory::Reason.
  /// There is its code: it is neither made nor repaired.
  const SubmittedVariant *Stored = nullptr;
};

/// A candidate that was judged and may be repaired.
struct RevisionOrder {
  const CandidateOrder *Order = nullptr;
  /// Its latest state; nothing to make where Order->Known is set.
  const CandidateRecord *Judged = nullptr;
  std::string Stage;  ///< "repair1", "card2": unique for the candidate.
  unsigned Round = 1; ///< Of rounds(), repairs of all stages counted.
};

/// What came of an order for a repair.
struct Revision {
  std::optional<Candidate> Made; ///< Nothing: it gave up, or could not.
  /// CandidateRecord::Made, this stage included; nothing where none began.
  std::optional<CandidateHistory> History = std::nullopt;
};

/// Makes candidates of genomes. Only broken tools and providers are errors: a
/// genome that fails has an outcome. What it does with the same orders, in the
/// same order, is the same, whatever the journal knows of them.
class CandidateMaker {
public:
  virtual ~CandidateMaker();
  /// How many orders it takes at once.
  virtual size_t width() const = 0;
  /// Which of \p Genomes fit the kernel, as far as can be known before they are
  /// made.
  virtual llvm::Error fit(llvm::ArrayRef<Genome> Genomes,
                          std::vector<bool> &Fits) {
    Fits.assign(Genomes.size(), true);
    return llvm::Error::success();
  }
  /// Genes of \p Strategies to draw before others, as Gene::str writes them.
  virtual std::vector<std::string>
  favoured(llvm::ArrayRef<StrategyInfo> Strategies) {
    return {};
  }
  /// \p Made gets the candidates, in the order of \p Orders, compiled or with
  /// an outcome; nothing where the order is known, or where exhausted() or a
  /// budget's end, which is the error then, came before it.
  virtual llvm::Error make(llvm::ArrayRef<CandidateOrder> Orders,
                           std::vector<std::optional<Candidate>> &Made) = 0;
  /// One more try of each; nothing, where nothing is repaired.
  virtual llvm::Error revise(llvm::ArrayRef<RevisionOrder> Orders,
                             std::vector<Revision> &Made) {
    Made.resize(Orders.size());
    return llvm::Error::success();
  }
  /// Reads which genes \p C has, a setting of the numbers of \p Elite. Where
  /// code is made of genes, they are what it was made of.
  virtual llvm::Error readGenes(Candidate &C, const CandidateRecord &Elite) {
    return llvm::Error::success();
  }
  /// The most repairs of a candidate.
  virtual unsigned rounds() const { return 0; }
  /// True when the calls for the kernel are used up: nothing more can be made.
  virtual bool exhausted() const { return false; }
};

/// By rules, \p Jobs beside each other, and at least two; nothing is repaired.
/// \p Refused, which may be empty, is told once why a rule does not apply.
std::unique_ptr<CandidateMaker>
makeRuleMaker(const CandidateEvaluator &Evaluator, unsigned Jobs,
              std::function<void(llvm::StringRef)> Refused = {});

/// The candidate \p Name with the code of \p S; its genome is read from the
/// code. \p Stage says how it came: "submit", "store".
llvm::Expected<Candidate> submitted(const SearchProblem &P,
                                    const CandidateEvaluator &Evaluator,
                                    const SubmittedVariant &S,
                                    const Genome &Name, llvm::StringRef Stage,
                                    llvm::ArrayRef<LibraryStrategy> Library);

/// The maker of what was handed in. All must outlive it.
std::unique_ptr<CandidateMaker>
makeSubmissionMaker(const SearchProblem &P, const CandidateEvaluator &Evaluator,
                    const SubmittedVariant &Submitted,
                    llvm::ArrayRef<LibraryStrategy> Library);

} // namespace cupilot

#endif // CUPILOT_EVOLUTION_CANDIDATEMAKER_H
