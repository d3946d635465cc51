//===- Schedules.h - In which turns threads run -----------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_SCHEDULES_H
#define CUPILOT_LIB_EVALUATION_SCHEDULES_H

#include "Runner.h"
#include <array>

namespace cupilot {

/// One way in which threads take turns: CpuDeviceOptions::ScheduleSeed.
struct Schedule {
  uint64_t Seed = 0;
  uint64_t ResidentBlocks = 0; ///< 0: what the described GPU holds.
};

/// The schedules that \p C is run under: with several blocks at a time, and
/// with one. \p Seed decides about them, beside the name of the case.
std::array<Schedule, 2> schedulesOf(const GateCase &C, uint64_t Seed);

/// Whether threads of a launch of \p Run, by kernels of \p K, can tell one
/// schedule from another by anything but a race.
llvm::Expected<bool> seesSchedule(const LoadedKernel &K, const PlannedRun &Run);

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_SCHEDULES_H
