//===- Reason.cpp - Why a variant is rejected -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evaluation/Reason.h"
#include "llvm/Support/ErrorHandling.h"

using namespace llvm;

namespace cupilot {

StringRef wordOf(GateReason R) {
  switch (R) {
  case GateReason::Inadmissible:
    return "inadmissible";
  case GateReason::CannotRun:
    return "cannot-run";
  case GateReason::Plan:
    return "plan";
  case GateReason::NarrowerArithmetic:
    return "narrower-arithmetic";
  case GateReason::NeverAdmitted:
    return "never-admitted";
  case GateReason::Bounds:
    return "bounds";
  case GateReason::UseAfterFree:
    return "use-after-free";
  case GateReason::UnwrittenRead:
    return "unwritten-read";
  case GateReason::Race:
    return "race";
  case GateReason::Barrier:
    return "barrier";
  case GateReason::Runaway:
    return "runaway";
  case GateReason::Fault:
    return "fault";
  case GateReason::Leak:
    return "leak";
  case GateReason::MemoryBudget:
    return "memory-budget";
  case GateReason::GuardBand:
    return "guard-band";
  case GateReason::InputChanged:
    return "input-changed";
  case GateReason::UnwrittenOutput:
    return "unwritten-output";
  case GateReason::ExtraOutput:
    return "extra-output";
  case GateReason::ExtraRead:
    return "extra-read";
  case GateReason::DeviceVariable:
    return "device-variable";
  case GateReason::IgnoredInput:
    return "ignored-input";
  case GateReason::Mismatch:
    return "mismatch";
  case GateReason::Nondeterministic:
    return "nondeterministic";
  }
  llvm_unreachable("no other reasons");
}

ArrayRef<GateReason> allReasons() {
  static constexpr GateReason All[] = {GateReason::Inadmissible,
                                       GateReason::CannotRun,
                                       GateReason::Plan,
                                       GateReason::NarrowerArithmetic,
                                       GateReason::NeverAdmitted,
                                       GateReason::Bounds,
                                       GateReason::UseAfterFree,
                                       GateReason::UnwrittenRead,
                                       GateReason::Race,
                                       GateReason::Barrier,
                                       GateReason::Runaway,
                                       GateReason::Fault,
                                       GateReason::Leak,
                                       GateReason::MemoryBudget,
                                       GateReason::GuardBand,
                                       GateReason::InputChanged,
                                       GateReason::UnwrittenOutput,
                                       GateReason::ExtraOutput,
                                       GateReason::ExtraRead,
                                       GateReason::DeviceVariable,
                                       GateReason::IgnoredInput,
                                       GateReason::Mismatch,
                                       GateReason::Nondeterministic};
  return All;
}

std::optional<GateReason> reasonOf(StringRef Word) {
  for (GateReason R : allReasons())
    if (wordOf(R) == Word)
      return R;
  return std::nullopt;
}

} // namespace cupilot
