//===- GateReason.h - Why a variant is rejected -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MODEL_GATEREASON_H
#define CUPILOT_MODEL_GATEREASON_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace cupilot {

/// The gate's reasons, a row each in GateReason.def.
enum class GateReason {
#define CUPILOT_GATE_REASON(Name, Word, Meaning) Name,
#include "cupilot/Model/GateReason.def"
};

/// "unwritten-output".
llvm::StringRef wordOf(GateReason R);
std::optional<GateReason> reasonOf(llvm::StringRef Word);
/// All of them, in order.
llvm::ArrayRef<GateReason> allReasons();

} // namespace cupilot

#endif // CUPILOT_MODEL_GATEREASON_H
