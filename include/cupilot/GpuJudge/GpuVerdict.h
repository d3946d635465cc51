//===- GpuVerdict.h - What a GPU says of a variant -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_GPUJUDGE_GPUVERDICT_H
#define CUPILOT_GPUJUDGE_GPUVERDICT_H

#include "cupilot/Evaluation/Gate.h"
#include "cupilot/Model/Variant.h"
#include "cupilot/Runner/Statistics.h"
#include <map>

namespace cupilot {

/// Original over variant, with an interval; all 0 where there is no time.
struct GpuRatio {
  double Ratio = 0, Low = 0, High = 0;
  bool isKnown() const { return Ratio > 0 && Low > 0 && High > 0; }
};

/// A variant on one workload that its guard admits.
struct GpuWorkload {
  std::string Workload;
  std::optional<runner::Call> Call; ///< Nothing where it was not timed.
  GpuRatio Ratio;
  double OriginalUs = 0, VariantUs = 0; ///< Medians.
  /// Smaller launches of the same kernel were judged on the cpu device.
  bool GpuOnly = false;
  /// Against float64; nothing where no outputs came back.
  std::optional<ReferenceVerdict> Float64;
  /// Whether the original made what it had made when it was recorded; nothing
  /// where that is not known.
  std::optional<bool> Recorded;
};

/// What compute-sanitizer's tools said on one workload.
struct SanitizerVerdict {
  std::map<std::string, std::string> Tools; ///< "memcheck": "clean".
  std::optional<std::string> NoAnswer;      ///< Why there is none.
};

/// The last checks of a variant that was accepted, by workload.
struct GpuLastChecks {
  std::map<std::string, SanitizerVerdict> Sanitizer;
  std::map<std::string, std::string> Classes; ///< "memory".
  std::vector<ComparedLaunch> Large;          ///< Beyond what the gate runs.
  std::optional<OtherValues> Others; ///< On the launch that counts most.
  std::string Rejected; ///< What they found, in a sentence; "" for nothing.
};

/// What a GPU, and whoever answers for it, says of a variant.
struct GpuVerdict {
  std::string Device;   ///< "NVIDIA H200".
  std::string Ceilings; ///< Where those that times are held against come from.
  unsigned Compared = 0, AgainstFloat64 = 0; ///< Launches.
  std::vector<GpuWorkload> Workloads;
  /// Of all workloads together; nothing where it is wrong or was not timed.
  std::optional<GpuRatio> Total;
  std::optional<GpuLastChecks> LastChecks;
};

} // namespace cupilot

#endif // CUPILOT_GPUJUDGE_GPUVERDICT_H
