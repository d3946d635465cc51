//===- RecordStory.h - What a record tells a model -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVOLUTION_RECORDSTORY_H
#define CUPILOT_LIB_EVOLUTION_RECORDSTORY_H

#include "cupilot/Dialect/Conversion.h"
#include "cupilot/Evolution/Journal.h"

namespace cupilot {

/// The calls of the stage \p Stage that \p R tells of.
unsigned callsOf(const CandidateRecord &R, llvm::StringRef Stage);

/// Name, version and digest of each prompt that a model was asked with for
/// \p R, repairs included, in the order of the questions.
std::vector<std::string> promptsOf(const CandidateRecord &R);
/// Whom they were put to; of several the last, whose text it is.
Author authorOf(const CandidateRecord &R);

/// What is wrong with \p R, as the end of a sentence about its code.
std::string troubleOf(const CandidateRecord &R);

/// All that the gate found, not its first finding alone.
std::string verdictOf(const CandidateRecord &R);

/// What was said of the stages before.
std::vector<std::string> earlierOf(const CandidateRecord &R);

} // namespace cupilot

#endif // CUPILOT_LIB_EVOLUTION_RECORDSTORY_H
