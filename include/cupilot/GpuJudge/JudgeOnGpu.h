//===- JudgeOnGpu.h - Variants that passed, on a GPU -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_GPUJUDGE_JUDGEONGPU_H
#define CUPILOT_GPUJUDGE_JUDGEONGPU_H

#include "cupilot/GpuJudge/JudgementBatch.h"
#include "llvm/Support/JSON.h"

namespace cupilot {

/// A variant that passed the gate, and how it is launched.
struct GpuVariant {
  std::string Name;
  std::string Ptx; ///< Of its kernels alone.
  LaunchPlan Plan;
  Guard When;
  const GateVerdict *Verdict = nullptr; ///< Its launches by workload.
};

/// What a GPU said of one variant on one workload.
struct GpuOutcome {
  std::string Variant, Workload;
  bool Same = false;                ///< Ran, gave the original's results, and
                                    ///< in a time that is possible.
  std::string Text;                 ///< For people.
  llvm::json::Object Compare, Time; ///< The runner's results.
  llvm::json::Object Float64;       ///< Against the cpu device's float64 run.
};

/// What a GPU said of all variants.
struct GpuOutcomes {
  std::vector<GpuOutcome> Launches;
  /// Beside the variants: what was compared beyond the gate's launches.
  std::vector<std::vector<ComparedLaunch>> Large;
  /// Beside the variants: the time of the original over the variant's, on all
  /// workloads together; nothing where one is wrong or was not timed.
  std::vector<std::optional<GpuRatio>> Totals;
  std::string Device; ///< "NVIDIA H200".
};

/// Gate::judgeDeviceResults, of a gate or an evaluator.
using Float64Judge = llvm::function_ref<llvm::Expected<ReferenceVerdict>(
    size_t Workload, const DeviceResults &Original,
    const DeviceResults &Variant)>;

/// Compares each variant with the original on \p Device on every workload that
/// its guard admits, and times it where its results are right. Outputs of small
/// launches are held against float64 runs by \p Float64, times against the
/// GPU's ceilings. ResultsAwaited: what brings results that are not there yet.
llvm::Expected<GpuOutcomes> judgeOnGpu(llvm::StringRef Device, GpuOriginal From,
                                       llvm::ArrayRef<GpuVariant> Variants,
                                       Float64Judge Float64);

} // namespace cupilot

#endif // CUPILOT_GPUJUDGE_JUDGEONGPU_H
