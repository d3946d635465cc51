//===- FaultKind.h - What can go wrong in device code -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MODEL_FAULTKIND_H
#define CUPILOT_MODEL_FAULTKIND_H

#include "cupilot/Model/GateReason.h"

namespace cupilot {

/// Faults of device code, a row each in FaultKind.def.
enum class FaultKind : uint8_t {
#define CUPILOT_FAULT_KIND(Name, Words, Error, Reason) Name,
#include "cupilot/Model/FaultKind.def"
};

/// "out-of-bounds read".
llvm::StringRef wordsOf(FaultKind K);
/// Why the gate rejects a variant with this fault.
GateReason reasonOf(FaultKind K);
/// All of them, in the order of the table.
llvm::ArrayRef<FaultKind> allFaultKinds();

/// How memory is touched.
enum class AccessKind : uint8_t {
  Read,
  Write,
  Atomic, ///< Reads and writes.
  VolatileRead,
  AtomicWrite, ///< Or a volatile one.
};

/// "atomic or volatile write".
llvm::StringRef wordsOf(AccessKind K);

} // namespace cupilot

#endif // CUPILOT_MODEL_FAULTKIND_H
