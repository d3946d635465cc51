//===- JournalJson.h - What the journal holds as JSON -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The texts of the journal's columns (docs/Evolution.md). Readers also take
// what earlier formats hold; they return nothing for text that is broken.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVOLUTION_JOURNALJSON_H
#define CUPILOT_LIB_EVOLUTION_JOURNALJSON_H

#include "cupilot/Evolution/CandidateRecord.h"

namespace cupilot {

std::string planText(const LaunchPlan &Plan);
std::string guardText(const Guard &When);
std::optional<Translation> readCode(llvm::StringRef Source,
                                    llvm::StringRef Plan, llvm::StringRef Guard,
                                    llvm::StringRef Language);

std::optional<CandidateEvidence> readEvidence(llvm::StringRef Text);

std::string historyText(const CandidateHistory &H);
std::optional<CandidateHistory> readHistory(llvm::StringRef Text);

/// "" for nothing.
std::string openText(const std::optional<TunableCode> &Code);
std::optional<TunableCode> readOpen(llvm::StringRef Text);

std::string callText(const ModelCall &C);
std::optional<ModelCall> readCall(llvm::StringRef Text);

/// Who found what; "" for what is not rejected.
std::string findingText(const OutcomeReason &R);
std::optional<OutcomeReason> readFinding(llvm::StringRef Text);
/// The outcome and the reason of a rejected candidate of format 1, whose reason
/// is a sentence alone.
void readOldFinding(llvm::StringRef Reason, CandidateRecord &R);

} // namespace cupilot

#endif // CUPILOT_LIB_EVOLUTION_JOURNALJSON_H
