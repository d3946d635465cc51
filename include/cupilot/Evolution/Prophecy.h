//===- Prophecy.h - Figures of a kernel and its variants -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVOLUTION_PROPHECY_H
#define CUPILOT_EVOLUTION_PROPHECY_H

#include "cupilot/Evaluation/Count.h"
#include "cupilot/Evolution/Candidate.h"
#include "cupilot/Roofline/StaticFigures.h"

namespace cupilot {

/// What one workload comes to for one piece of code.
struct WorkloadFigures {
  ExecutionCounts Counts; ///< Of all launches of the plan.
  ModelledTime Time;      ///< Their sum; the class is the longest one's.
  CeilingTimes Ceiling;   ///< Of the sum.
  KernelResources Resources;
  LaunchShape Shape; ///< Of the longest launch, as the resources.
  /// Floating-point operations, those on matrices included; of a kernel that
  /// has none, its integer ones.
  double operations() const;
  /// Operations per byte that the launch must move; nothing when it moves none.
  std::optional<double> intensity() const;
  /// In operations per microsecond.
  double rate(double Microseconds) const;
};

/// What one piece of code comes to.
struct CodeFigures {
  std::optional<StaticFigures> Static; ///< Of its first kernel.
  std::string NoStatic;                ///< Why there are none.
  /// In the order of the problem's workloads; nothing where the guard keeps
  /// the launch out, or where it could not be counted.
  std::vector<std::optional<WorkloadFigures>> Workloads;
  /// Why a launch has no figures; "" where the guard keeps it out.
  std::vector<std::string> NoFigures = {};
};

/// Launches for a GPU alone that are counted on the cpu device, from some of
/// their blocks, if their buffers have no more bytes together.
enum class GpuLaunches : uint64_t { LeftOut = 0, Counted = 512ull << 20 };

/// Makes the figures of one kernel's code. The problem must outlive it.
class Prophecy {
public:
  static llvm::Expected<std::unique_ptr<Prophecy>>
  create(const SearchProblem &Problem, const Ceilings &C,
         GpuLaunches Large = GpuLaunches::LeftOut);
  virtual ~Prophecy();
  /// Of the kernel as it is.
  virtual llvm::Expected<CodeFigures> original() = 0;
  /// Of a variant. Code that does not compile or run is a finding or usage
  /// error; a launch for a GPU alone that does not run here has no figures.
  virtual llvm::Expected<CodeFigures>
  of(llvm::StringRef Source, const LaunchPlan &Plan, const Guard &When,
     GpuLaunches Large = GpuLaunches::Counted) = 0;
};

} // namespace cupilot

#endif // CUPILOT_EVOLUTION_PROPHECY_H
