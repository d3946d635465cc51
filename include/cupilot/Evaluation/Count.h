//===- Count.h - What launches do, counted but not judged -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVALUATION_COUNT_H
#define CUPILOT_EVALUATION_COUNT_H

#include "cupilot/Evaluation/Gate.h"

namespace cupilot {

/// Counts the launches of one kernel's variants on its workloads, on the cpu
/// device. Contents of buffers are read once.
class LaunchCounter {
public:
  /// Launches for a GPU alone are counted, too, if their buffers have at most
  /// \p GpuBytes together and their data is there. Errors: broken workloads,
  /// data that is missing (usage).
  static llvm::Expected<std::unique_ptr<LaunchCounter>>
  create(GateSetup Setup, uint64_t GpuBytes = 0);
  virtual ~LaunchCounter();
  /// Whether this launch can be counted.
  virtual bool has(size_t Index) const = 0;
  /// What \p Plan launches for workload \p Index with the kernels in
  /// \p Bitcode, from some of the blocks where there are many; nothing where
  /// \p When does not admit it or has() does not. Code that faults or that the
  /// cpu device cannot run is a finding error, and so is a launch for a GPU
  /// alone that takes too long here.
  virtual llvm::Expected<std::optional<std::vector<CountedLaunch>>>
  count(llvm::StringRef Bitcode, const LaunchPlan &Plan, const Guard &When,
        size_t Index) = 0;
};

/// The plan that launches \p K as it is.
LaunchPlan originalPlan(const Kernel &K);

} // namespace cupilot

#endif // CUPILOT_EVALUATION_COUNT_H
