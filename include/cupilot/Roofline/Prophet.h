//===- Prophet.h - What bounds a kernel, from three sources -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The numeric half of the Roofline Prophet: the class of a kernel (compute,
// memory, middle, latency) from its code alone, from what it did on the cpu
// device, and from measurement; each with its grounds. docs/Roofline.md.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_ROOFLINE_PROPHET_H
#define CUPILOT_ROOFLINE_PROPHET_H

#include "cupilot/Roofline/Ceilings.h"
#include <map>

namespace cupilot {

/// How long a GPU takes at its ceilings for each part of a launch's work, in
/// microseconds.
struct CeilingTimes {
  double Dram = 0; ///< Each sector read, and written, once.
  double L2 = 0;   ///< The sectors that stores and first loads move.
  double Shared = 0, Fp32 = 0, Fp64 = 0, Fp16 = 0, Integer = 0, Special = 0,
         Tensor = 0, Issue = 0;
  /// What must go through device memory even if the L2 keeps all it can of
  /// what is written, in microseconds.
  double LeastDram = 0;
  double memory() const { return std::max(Dram, L2); }
  double compute() const;
  /// No launch with this work can be faster.
  double floor() const;
  /// Of the part that takes longest.
  double longestUs() const { return std::max(memory(), compute()); }
  /// "dram", "fp32" ...: the part that takes longest.
  llvm::StringRef longest() const;
};

CeilingTimes timesAtCeilings(const Ceilings &C, const ExecutionCounts &Counts);

/// A finding when \p Microseconds is less than the work can take, with the
/// numbers: "impossible time".
llvm::Error checkPossible(const Ceilings &C, const ExecutionCounts &Counts,
                          double Microseconds, llvm::StringRef What);

/// A launch that was counted, and the bytes of all its buffers.
struct CountedSample {
  const ExecutionCounts *Counts;
  uint64_t Bytes;
};

/// What a launch with buffers of \p Bytes cannot be faster than, in
/// microseconds, if it reads and writes them as \p Samples do theirs: nearly
/// all. 0: they do not, or there are none.
double leastTimeLike(const Ceilings &C, llvm::ArrayRef<CountedSample> Samples,
                     uint64_t Bytes);

/// checkPossible() for a launch that was not counted.
llvm::Error checkPossibleLike(const Ceilings &C,
                              llvm::ArrayRef<CountedSample> Samples,
                              uint64_t Bytes, double Microseconds,
                              llvm::StringRef What);

/// What one source says of a kernel.
struct Opinion {
  std::optional<Bottleneck> Class;  ///< Nothing: it cannot say.
  std::vector<std::string> Grounds; ///< Sentences with the numbers.
  std::vector<std::string> Unknown; ///< What this source cannot know.
};

/// From the share of a launch's time that each side would take at its ceiling.
Bottleneck classify(double MemoryShare, double ComputeShare);

/// From counts and the cost model.
Opinion opinionOfCounts(const ModelledTime &T, const CeilingTimes &Times);

/// A measured launch.
struct MeasuredLaunch {
  double Microseconds = 0;
  /// By the keys of Profile/Metrics.def; empty where there were no counters.
  std::map<std::string, double> Metrics;
  std::string NoMetrics; ///< Why there are none.
};

/// From a measured time, by counters where there are some, else by the counts.
Opinion opinionOfMeasurement(const MeasuredLaunch &M,
                             const CeilingTimes &Times);

/// The share of its time, 0 to 1, in which the busiest unit of a launch works,
/// by counters; nothing without any.
std::optional<double> busiestShare(const MeasuredLaunch &M);

/// Seconds that could be gained at most: \p Microseconds over the time at the
/// ceilings, at least 1; nothing where there is no work to compare with.
std::optional<double> headroom(const CeilingTimes &Times, double Microseconds);

llvm::json::Object toJSON(const CeilingTimes &T);
llvm::json::Object toJSON(const Opinion &O);

} // namespace cupilot

#endif // CUPILOT_ROOFLINE_PROPHET_H
