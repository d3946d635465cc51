//===- FaultKind.cpp - What can go wrong in device code -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Model/FaultKind.h"

using namespace llvm;

namespace cupilot {

StringRef wordsOf(FaultKind K) {
  static constexpr StringRef Words[] = {
#define CUPILOT_FAULT_KIND(Name, Words, Error, Reason) Words,
#include "cupilot/Model/FaultKind.def"
  };
  return Words[static_cast<size_t>(K)];
}

GateReason reasonOf(FaultKind K) {
  static constexpr GateReason Reasons[] = {
#define CUPILOT_FAULT_KIND(Name, Words, Error, Reason) GateReason::Reason,
#include "cupilot/Model/FaultKind.def"
  };
  return Reasons[static_cast<size_t>(K)];
}

ArrayRef<FaultKind> allFaultKinds() {
  static constexpr FaultKind All[] = {
#define CUPILOT_FAULT_KIND(Name, Words, Error, Reason) FaultKind::Name,
#include "cupilot/Model/FaultKind.def"
  };
  return All;
}

StringRef wordsOf(AccessKind K) {
  switch (K) {
  case AccessKind::Read:
    return "read";
  case AccessKind::Write:
    return "write";
  case AccessKind::Atomic:
    return "atomic";
  case AccessKind::VolatileRead:
    return "volatile read";
  case AccessKind::AtomicWrite:
    return "atomic or volatile write";
  }
  llvm_unreachable("not an access");
}

} // namespace cupilot
