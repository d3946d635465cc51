//===- JudgeAhead.h - Candidates judged beside each other -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVOLUTION_JUDGEAHEAD_H
#define CUPILOT_LIB_EVOLUTION_JUDGEAHEAD_H

#include "cupilot/Evolution/Candidate.h"
#include "cupilot/Evolution/SearchScheduler.h"
#include <chrono>

namespace cupilot {

/// What judge() changes of a record, as JSON.
std::string verdictText(const CandidateRecord &R);
/// Puts it into a record; false where it cannot be read.
bool readVerdict(llvm::StringRef Text, CandidateRecord &R);

/// Judges \p Candidates, \p Jobs of them at a time, each when it is its turn,
/// in processes that are copies of this one. By candidate: its record as
/// judge() makes it, as far as the journal holds it; nothing where that failed,
/// so that judge() can say why, and where there was no verdict when \p Until
/// came.
std::vector<std::optional<CandidateRecord>>
judgeAhead(CandidateEvaluator &Evaluator,
           llvm::ArrayRef<const Candidate *> Candidates, unsigned Jobs,
           const SearchTurns &Turns,
           std::optional<std::chrono::steady_clock::time_point> Until = {});

} // namespace cupilot

#endif // CUPILOT_LIB_EVOLUTION_JUDGEAHEAD_H
