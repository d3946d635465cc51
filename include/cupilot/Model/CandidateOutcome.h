//===- CandidateOutcome.h - What became of a candidate -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MODEL_CANDIDATEOUTCOME_H
#define CUPILOT_MODEL_CANDIDATEOUTCOME_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace cupilot {

/// What became of a candidate of a search, a row each in CandidateOutcome.def.
enum class CandidateOutcome {
#define CUPILOT_CANDIDATE_OUTCOME(Name, Word, Progress, Final, Repairable,     \
                                  Meaning)                                     \
  Name,
#include "cupilot/Model/CandidateOutcome.def"
};

/// "compile-error".
llvm::StringRef wordOf(CandidateOutcome O);
/// "does not compile": the end of a sentence about the candidate's code.
llvm::StringRef meaningOf(CandidateOutcome O);
/// How far the candidate came: more is further.
unsigned progressOf(CandidateOutcome O);
/// Whether nothing is left to be judged.
bool isFinal(CandidateOutcome O);
/// Whether another version of the same code may do better.
bool isRepairable(CandidateOutcome O);
std::optional<CandidateOutcome> candidateOutcomeOf(llvm::StringRef Word);
/// All of them, in the order of the table.
llvm::ArrayRef<CandidateOutcome> allCandidateOutcomes();

} // namespace cupilot

#endif // CUPILOT_MODEL_CANDIDATEOUTCOME_H
