//===- GateReason.cpp - Why a variant is rejected -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Model/GateReason.h"

using namespace llvm;

namespace cupilot {

namespace {
struct ReasonRow {
  GateReason Reason;
  StringLiteral Word;
};
} // namespace

static constexpr ReasonRow ReasonTable[] = {
#define CUPILOT_GATE_REASON(Name, Word, Meaning) {GateReason::Name, Word},
#include "cupilot/Model/GateReason.def"
};

StringRef wordOf(GateReason R) {
  return ReasonTable[static_cast<size_t>(R)].Word;
}

ArrayRef<GateReason> allReasons() {
  static constexpr GateReason All[] = {
#define CUPILOT_GATE_REASON(Name, Word, Meaning) GateReason::Name,
#include "cupilot/Model/GateReason.def"
  };
  return All;
}

std::optional<GateReason> reasonOf(StringRef Word) {
  for (const ReasonRow &R : ReasonTable)
    if (R.Word == Word)
      return R.Reason;
  return std::nullopt;
}

} // namespace cupilot
