//===- Submit.h - A variant that somebody hands in -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_DRIVER_SUBMIT_H
#define CUPILOT_DRIVER_SUBMIT_H

#include "cupilot/Driver/SearchPlan.h"
#include "cupilot/Evolution/CandidateRecord.h"

namespace cupilot {

struct SubmittedVariant;

/// What became of a submission.
struct Submission {
  std::optional<CandidateRecord> Judged; ///< Nothing: Row.Why says why.
  bool IsKept = false;                   ///< It is in the store.
  SearchRow Row;
};

/// Judges \p S as a search's candidate for \p Item, and puts it into the store
/// of \p R where it passes: this is a search with one candidate. Waits for
/// another search of the kernel for R.LockWait. What the same submission came
/// to before holds.
llvm::Expected<Submission>
submitVariant(EvolveRequest R, const WorkloadSet &Recorded, SearchItem &Item,
              const SubmittedVariant &S, llvm::raw_ostream &Log);

} // namespace cupilot

#endif // CUPILOT_DRIVER_SUBMIT_H
