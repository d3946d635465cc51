//===- NarrowerDomain.h - A domain beside the original's own ----*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The original judged as its own variant is right wherever it runs: its domain
// ends where the cases do. Another variant's domain has other terms (products
// that its code forms, moduli of its own) and a guard, so the two are compared
// in the terms of the variant's, on launches that its guard and plan admit.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVALUATION_NARROWERDOMAIN_H
#define CUPILOT_EVALUATION_NARROWERDOMAIN_H

#include "cupilot/Evaluation/Gate.h"

namespace cupilot {

/// A launch that lies in the one domain, and not in the other.
struct LostLaunch {
  std::string Case; ///< "w0 n=4096".
  Bindings B;
  ClauseRef Left; ///< The clause of the other that leaves it out.
};

/// What the original's domain is beside a variant's.
struct OriginalDomain {
  /// As the variant's would be if it were right wherever the original is.
  Domain Where;
  std::vector<LostLaunch> Lost; ///< Those of Where that the variant's lacks.
};

/// \p Own is the verdict on the original as its own variant, \p V on a variant
/// that passed with \p Plan under the guard \p When. What these keep out is in
/// neither. Nothing where a verdict was read.
llvm::Expected<std::optional<OriginalDomain>>
originalDomain(const GateVerdict &Own, const GateVerdict &V,
               const LaunchPlan &Plan, const Guard &When);

/// What the verdict names for the clause \p C of its domain: a launch beyond it
/// on which the variant was wrong, as near as there is one, or, with no case,
/// the line that squeezes an integer into fewer bits, or a launch that it was
/// too expensive for; nothing where the variant was not seen to be wrong there.
/// Of a range, on the side on which \p Beyond lies.
std::optional<DomainEnd> endNamedFor(const GateVerdict &V, const ClauseRef &C,
                                     std::optional<int64_t> Beyond);

} // namespace cupilot

#endif // CUPILOT_EVALUATION_NARROWERDOMAIN_H
