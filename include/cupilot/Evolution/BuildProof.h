//===- BuildProof.h - What one build's code passed --------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is judged is what is built: each compiler's own code has its evidence,
// its time and its domain.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVOLUTION_BUILDPROOF_H
#define CUPILOT_EVOLUTION_BUILDPROOF_H

#include "cupilot/Evolution/Candidate.h"
#include "cupilot/Model/Variant.h"

namespace cupilot {

/// What the code that one build makes of a variant passed, as a store keeps it.
struct BuildProof {
  double Ratio = 0; ///< The original's time over the variant's.
  Measurement Evidence;
  Domain Where;
};

/// The evidence in the store's form. On a GPU with a launch that the cpu
/// device cannot run, no version of the gate was passed: it is 0.
Measurement measurementOf(const CandidateEvidence &E, double Ratio,
                          const SearchProblem &P);

/// Judges \p T, which is called \p G, by the code that \p On makes of it for
/// \p P: the gate with the largest launches, and the modelled time. Nothing
/// where it is not kept, and \p Why says the reason. \p EvenSlower keeps what
/// is right and not faster, too.
llvm::Expected<std::optional<BuildProof>>
proveBuild(CandidateEvaluator &On, const SearchProblem &P, const Genome &G,
           Translation T, bool EvenSlower, std::string &Why);

} // namespace cupilot

#endif // CUPILOT_EVOLUTION_BUILDPROOF_H
