//===- KernelCeiling.h - How near variants are to the ceiling -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVOLUTION_KERNELCEILING_H
#define CUPILOT_EVOLUTION_KERNELCEILING_H

#include "cupilot/Evolution/CandidateRecord.h"
#include "cupilot/Model/Workload.h"

namespace cupilot {

/// What the timed launches of a kernel cannot be faster than on a GPU, and how
/// near to that variants are. Times are measured or modelled, as the evidence
/// has them.
class KernelCeiling {
public:
  KernelCeiling() = default;
  /// \p FloorUs: the least time of each workload, in microseconds; 0: not
  /// known.
  KernelCeiling(llvm::ArrayRef<Workload> Workloads,
                llvm::ArrayRef<double> FloorUs);

  /// Takes the times of the original from \p R.
  void note(const CandidateRecord &R);
  /// The time of the original on \p Workload.
  void noteOriginal(llvm::StringRef Workload, double Microseconds);

  /// The ceiling over the time of all launches together: 1 at the ceiling. The
  /// original runs where a guard keeps a launch out. 0: not known, or the
  /// original is faster than what is called the least time.
  double share(const CandidateRecord &R) const;
  /// The same of the original.
  double originalShare() const;

private:
  struct TimedLaunch {
    std::string Name;
    double Count, FloorUs;
    double OriginalUs = 0;
  };
  double share(llvm::ArrayRef<LaunchTimes> Times) const;
  std::vector<TimedLaunch> Launches;
};

} // namespace cupilot

#endif // CUPILOT_EVOLUTION_KERNELCEILING_H
