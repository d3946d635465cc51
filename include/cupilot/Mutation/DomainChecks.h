//===- DomainChecks.h - Whether a domain is right and wide -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MUTATION_DOMAINCHECKS_H
#define CUPILOT_MUTATION_DOMAINCHECKS_H

#include "cupilot/Mutation/Independent.h"

namespace cupilot {

/// What a verdict's domain is held against. The gate has no part in it.
struct DomainQuestion {
  const Kernel *K = nullptr;
  GateCode Original; ///< Its device code.
  llvm::ArrayRef<Workload> Recorded;
  unsigned Inputs = 50;                    ///< Random launches inside a domain.
  unsigned Bits = 0;                       ///< See IndependentOptions.
  std::vector<RangeClause> Narrowed = {};  ///< Likewise ...
  std::vector<RangeClause> Constants = {}; ///< ... and likewise.
  uint64_t Seed = 1;
  std::string Arch = "sm_90";
};

/// For a variant \p V that is wrong somewhere, and passed with the domain
/// \p Where (nothing: everywhere): why that is no right verdict. Inside, random
/// launches must equal the original. Of \p Outside, on each of which the
/// variant must show that it is wrong, none may lie inside. Nothing where all
/// of that is so.
llvm::Expected<std::optional<std::string>>
faultOfBounded(const DomainQuestion &Q, const SideVariant &V,
               const std::optional<Domain> &Where,
               llvm::ArrayRef<Workload> Outside);

/// For a right variant under the guard \p When: which of \p Launches its domain
/// \p Where leaves out, or why the original's own, \p OfOriginal, does.
llvm::Expected<std::optional<std::string>> faultOfHonest(
    const Kernel &K, const Guard &When, const std::optional<Domain> &Where,
    const std::optional<Domain> &OfOriginal, llvm::ArrayRef<Workload> Launches);

/// What a clause that keeps launches out is about: "range of n 1..4096".
std::string clauseText(const Kernel &K, const Domain &D, const ClauseRef &C);

/// The first range of \p Own, as "n: 1..4096 of 1..1048576", of which \p Mine
/// has less than \p Share by the logarithm of its length. Short ranges, as of
/// flags, do not count. Nothing where \p Mine is wide enough.
std::optional<std::string> narrowerExtent(const Kernel &K, const Domain &Mine,
                                          const Domain &Own, double Share);

/// What a domain lacks of its original's.
struct DomainLoss {
  std::string Extent; ///< "n below", "bx * by above", "rest of n mod 4".
  std::string Text;   ///< "n: 1..4096 of 1..1048576", or a launch that is lost.
  /// What the verdict names for it (endNamedFor); "" where it names nothing.
  std::string Named;
  bool NotRun = false; ///< As DomainEnd's.
};

/// What the domain of a right variant, which passed with \p V and \p Plan under
/// the guard \p When, lacks of that of the original, which passed as its own
/// variant with \p Own. What plan and guard keep out is no loss. Of those that
/// the same launch made, the first stands for all.
llvm::Expected<std::vector<DomainLoss>>
lossesOf(const Kernel &K, const GateVerdict &V, const LaunchPlan &Plan,
         const Guard &When, const GateVerdict &Own);

/// What bounded variants must show in a score.
struct BoundedVerdict {
  bool Caught = false;
  bool Differs = false; ///< Inside its domain: a miss.
  unsigned Inputs = 0;  ///< Compared inside.
  std::string Why;      ///< The launch that differs, or what is lacking.
};

/// Whether \p V, wrong on some launch, was proved only where it is right:
/// Q.Inputs launches inside \p Where equal the original, one outside differs,
/// and each extent is at least half of that of \p Own, by logarithm.
llvm::Expected<BoundedVerdict> judgeBounded(const DomainQuestion &Q,
                                            const SideVariant &V,
                                            const Domain &Where,
                                            const Domain &Own);

} // namespace cupilot

#endif // CUPILOT_MUTATION_DOMAINCHECKS_H
