//===- Reason.h - Why a variant is rejected -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVALUATION_REASON_H
#define CUPILOT_EVALUATION_REASON_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace cupilot {

/// The gate's reasons. Their words are stable: evidence, journals and the
/// store's counts hold them. docs/Gate.md says how each is found.
enum class GateReason {
  Inadmissible,       ///< The text holds more than device code.
  CannotRun,          ///< The cpu device cannot run it.
  Plan,               ///< The launch plan is no legal launch where the guard
                      ///< admits it.
  NarrowerArithmetic, ///< It computes in less than the original.
  NeverAdmitted,      ///< The guard keeps out every workload.
  Bounds,             ///< Access outside of buffers, or misaligned.
  UseAfterFree,
  UnwrittenRead, ///< Reads memory that nobody wrote.
  Race,
  Barrier, ///< Divergent or missing barrier, deadlock, wrong warp mask.
  Runaway, ///< Does not end within its budget of instructions.
  Fault,   ///< Any other fault: trap, assert, stack, division by zero.
  Leak,    ///< Device memory that it does not free.
  MemoryBudget,
  GuardBand,       ///< Memory outside of all buffers was written.
  InputChanged,    ///< A buffer that the original leaves alone.
  UnwrittenOutput, ///< Part of an output is not written.
  ExtraOutput,     ///< More is written than the original writes.
  ExtraRead,       ///< A buffer is read that the original does not touch.
  DeviceVariable,  ///< A device variable ends with another content.
  IgnoredInput,    ///< An input that matters to the original is not read.
  Mismatch,        ///< Other results than the contract allows.
  Nondeterministic ///< Other results in another order; the original's stay.
};

/// "unwritten-output".
llvm::StringRef wordOf(GateReason R);
std::optional<GateReason> reasonOf(llvm::StringRef Word);
/// All of them, in order.
llvm::ArrayRef<GateReason> allReasons();

} // namespace cupilot

#endif // CUPILOT_EVALUATION_REASON_H
