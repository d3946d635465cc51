//===- Gate.h - The checks before the store -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVALUATION_GATE_H
#define CUPILOT_EVALUATION_GATE_H

#include "cupilot/CpuDevice/CpuDevice.h"
#include "cupilot/Evaluation/Workload.h"
#include "cupilot/Frontend/Kernel.h"

namespace cupilot {

/// Version of the set of checks; evidence carries it.
constexpr int GateVersion = 1;

/// What the gate judges.
struct GateRequest {
  const Kernel *Original = nullptr;
  std::string OriginalBitcode; ///< Device bitcode of the slice.
  std::string VariantBitcode;  ///< Device bitcode of the variant.
  LaunchPlan Plan;
  Guard When;
  llvm::ArrayRef<Workload> Workloads;
  std::string DataFolder; ///< Where the workloads' files lie.
  std::string Arch = "sm_90";
  uint64_t Seed = 1;
};

/// One check's outcome.
struct GateFinding {
  std::string
      Reason; ///< Stable word: "bounds", "unwritten-output", "mismatch", ...
  std::string Workload; ///< "w0", "w0 x3", "w0 n=1021" ...
  std::string Evidence; ///< A sentence with the numbers.
};

struct GateVerdict {
  bool Passed = false;
  std::vector<GateFinding> Findings; ///< Empty when passed.
  unsigned Checks = 0;               ///< Launches compared.
  unsigned GuardMisses = 0; ///< Cases that the guard kept out (original runs).
  double MaxError = 0;      ///< Largest error against the float64 reference ...
  double OriginalError = 0; ///< ... and the original's own.
  ExecutionCounts VariantCounts, OriginalCounts; ///< Of the captured workloads,
                                                 ///< weighted by Count.
};

/// Runs every check on the cpu device. Errors are for broken input; a variant
/// that fails is a verdict.
llvm::Expected<GateVerdict> runGate(const GateRequest &Request);

} // namespace cupilot

#endif // CUPILOT_EVALUATION_GATE_H
