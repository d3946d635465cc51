//===- FindDomain.h - How far a variant is right -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_FINDDOMAIN_H
#define CUPILOT_LIB_EVALUATION_FINDDOMAIN_H

#include "Variant.h"

namespace cupilot {

/// What a domain was derived from.
struct DomainBasis {
  DomainFrame Frame;
  std::vector<TriedLaunch> Tried;
  std::vector<NarrowingFact> Narrowings;
  BranchCoverage Taken;
  std::vector<MissingSide> Missing; ///< Sides that no launch took.
  /// Launches that a variant which costs what the original does had run.
  std::vector<TriedLaunch> TooDear;
};

/// What the variant squeezes into fewer bits than the original must fit.
void boundNarrowings(llvm::ArrayRef<NarrowingFact> Narrowings,
                     llvm::ArrayRef<TriedLaunch> Tried, Domain &D);

/// Whether a domain in which \p M may happen is a reason to reject a variant.
bool isReason(const MissingSide &M);

/// Runs \p V, which is right near the recorded launches, on those further away,
/// and fills in Verdict.Where, Ends and Outside. Where no domain is left, or
/// code in it was never run, Verdict gets a finding.
llvm::Error findDomain(OriginalRuns &O, VariantRuns &V, const GateCode &Code,
                       const LaunchPlan &Plan, GateDepth Depth,
                       GateVerdict &Verdict);

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_FINDDOMAIN_H
