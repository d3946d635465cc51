//===- BenchAnswers.h - What the bench's tools take and tell -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One form for all who use the tools: coding agents by `cupilot mcp`, and the
// dialogues of `cupilot evolve` (docs/Agents.md).
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVOLUTION_BENCHANSWERS_H
#define CUPILOT_EVOLUTION_BENCHANSWERS_H

#include "cupilot/Evolution/Advice.h"
#include "cupilot/Evolution/Search.h"

namespace cupilot {

struct LibraryStrategy;

/// The translation in \p Arguments ("source", and "plan", "guard", "tunables"
/// as in prompts/strategy-translator.schema.json; without a plan and a guard
/// those of the original). Numbers stay open where \p Library is given.
/// Findings say what is wrong with it.
llvm::Expected<SubmittedVariant>
submittedIn(const llvm::json::Object &Arguments, const Kernel &K,
            llvm::StringRef Arch, llvm::ArrayRef<LibraryStrategy> Library = {});

/// The same, with the numbers of "tunables" open; \p Strategies is the folder
/// of the library, whose parameters they are.
llvm::Expected<SubmittedVariant>
openSubmissionIn(const llvm::json::Object &Arguments, const Kernel &K,
                 llvm::StringRef Arch, llvm::StringRef Strategies);

/// What launches took.
llvm::json::Array timesJson(llvm::ArrayRef<LaunchTimes> Times);
/// Adds outcome, reason, what the gate found, ratio and times of \p R to \p O.
void addVerdict(llvm::json::Object &O, const SearchProblem &P,
                const CandidateRecord &R);
/// What ptxas says of each kernel of \p C, by symbol.
llvm::json::Object resourcesJson(const SearchProblem &P, const Candidate &C);
/// Of a compiled candidate: errors, or resources and facts of the code.
llvm::json::Object compiledJson(const SearchProblem &P, const Candidate &C);
/// Of a quick verdict nothing is kept, and the word in \p O says no more than
/// it knows.
void markQuick(llvm::json::Object &O, CandidateOutcome Outcome);
llvm::json::Object adviceJson(const KernelAdvice &A);
/// Counters by workload.
llvm::json::Object countersJson(llvm::ArrayRef<LaunchProfiles> Profiles);
/// \p Code of \p K: plan and guard in the form that submittedIn() takes; the
/// guard as text, too, and alone where a pointer is not an argument.
llvm::json::Object variantJson(llvm::StringRef Name, const Translation &Code,
                               const Kernel &K);

} // namespace cupilot

#endif // CUPILOT_EVOLUTION_BENCHANSWERS_H
