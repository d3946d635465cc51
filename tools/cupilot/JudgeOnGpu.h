//===- JudgeOnGpu.h - Variants that passed, on a card -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_TOOLS_CUPILOT_JUDGEONGPU_H
#define CUPILOT_TOOLS_CUPILOT_JUDGEONGPU_H

#include "cupilot/Evaluation/Workload.h"
#include "cupilot/Frontend/Kernel.h"
#include "llvm/Support/JSON.h"

namespace cupilot {

/// A variant and how it is launched.
struct GpuVariant {
  std::string Name;
  std::string Bitcode; ///< Of its kernels alone.
  LaunchPlan Plan;
};

/// What the variants are compared with.
struct GpuOriginal {
  const Kernel *K = nullptr;
  llvm::StringRef Bitcode; ///< Of the kernel alone.
  llvm::ArrayRef<Workload> Workloads;
  std::string DataFolder, Arch;
};

/// What a card said of one variant on one workload.
struct GpuOutcome {
  std::string Variant, Workload;
  bool Same = false;                ///< Ran, and gave the original's results.
  std::string Text;                 ///< For people.
  llvm::json::Object Compare, Time; ///< The runner's results.
};

/// Compares each variant with the original on \p Device on every workload that
/// the guard admits, and times it where its results are right. A resource error
/// says what brings results that are not there yet.
llvm::Expected<std::vector<GpuOutcome>>
judgeOnGpu(llvm::StringRef Device, const GpuOriginal &From,
           llvm::ArrayRef<GpuVariant> Variants, const Guard &When,
           llvm::ArrayRef<std::string> Flags);

} // namespace cupilot

#endif // CUPILOT_TOOLS_CUPILOT_JUDGEONGPU_H
