//===- OtherBuild.h - What a search keeps, by another compiler -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVOLUTION_OTHERBUILD_H
#define CUPILOT_LIB_EVOLUTION_OTHERBUILD_H

#include "cupilot/Evolution/BuildProof.h"
#include "cupilot/Evolution/Search.h"

namespace cupilot {

/// What another compiler's code of an accepted candidate passed.
struct OtherProof {
  size_t Index = 0; ///< Of the candidate.
  BuildProof Proof;
};

/// Asks a GPU for a step, by the function that it is given; or finds the answer
/// in a recording.
using GpuAsker = llvm::function_ref<llvm::Error(
    llvm::StringRef Step, llvm::function_ref<llvm::Error()> Ask)>;

/// Judges \p Accepted by the code that P.Nvcc, or clang, makes of them, as the
/// search judged them by its own compiler's: gate, and GPU if there is one.
/// Those that fail are told and left out. \p Run is the key of its batches in
/// the journal. A finding: the original does not bear it.
llvm::Expected<std::vector<OtherProof>>
judgeOtherBuild(const SearchProblem &P,
                llvm::ArrayRef<CandidateRecord> Accepted,
                const SearchOptions &Options, Journal &J, llvm::StringRef Run,
                GpuAsker OnGpu);

} // namespace cupilot

#endif // CUPILOT_LIB_EVOLUTION_OTHERBUILD_H
