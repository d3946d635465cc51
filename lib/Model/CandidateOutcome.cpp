//===- CandidateOutcome.cpp - What became of a candidate -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Model/CandidateOutcome.h"

using namespace llvm;

namespace cupilot {

namespace {
struct OutcomeRow {
  CandidateOutcome Outcome;
  StringLiteral Word;
  unsigned Progress;
  bool Final, Repairable;
  StringLiteral Meaning;
};
} // namespace

static constexpr OutcomeRow OutcomeTable[] = {
#define CUPILOT_CANDIDATE_OUTCOME(Name, Word, Progress, Final, Repairable,     \
                                  Meaning)                                     \
  {CandidateOutcome::Name, Word, Progress, Final, Repairable, Meaning},
#include "cupilot/Model/CandidateOutcome.def"
};

static const OutcomeRow &rowOf(CandidateOutcome O) {
  return OutcomeTable[static_cast<size_t>(O)];
}

StringRef wordOf(CandidateOutcome O) { return rowOf(O).Word; }
StringRef meaningOf(CandidateOutcome O) { return rowOf(O).Meaning; }
unsigned progressOf(CandidateOutcome O) { return rowOf(O).Progress; }
bool isFinal(CandidateOutcome O) { return rowOf(O).Final; }
bool isRepairable(CandidateOutcome O) { return rowOf(O).Repairable; }

std::optional<CandidateOutcome> candidateOutcomeOf(StringRef Word) {
  for (const OutcomeRow &R : OutcomeTable)
    if (R.Word == Word)
      return R.Outcome;
  return std::nullopt;
}

ArrayRef<CandidateOutcome> allCandidateOutcomes() {
  static constexpr CandidateOutcome All[] = {
#define CUPILOT_CANDIDATE_OUTCOME(Name, Word, Progress, Final, Repairable,     \
                                  Meaning)                                     \
  CandidateOutcome::Name,
#include "cupilot/Model/CandidateOutcome.def"
  };
  return All;
}

} // namespace cupilot
