//===- Speedup.h - A speed-up over workloads -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MODEL_SPEEDUP_H
#define CUPILOT_MODEL_SPEEDUP_H

#include "cupilot/Model/Basis.h"
#include "cupilot/Model/Workload.h"

namespace cupilot {

/// Where the times of workloads come from.
enum class TimeBasis { Modelled, Measured };

/// How often the time of each of \p All counts: as often as it was launched. A
/// launch for the gate alone does not count, and one for a GPU alone has no
/// modelled time. Where only a GPU would time anything, the modelled times of
/// the gate's launches stand for the others.
std::vector<double> timeWeights(llvm::ArrayRef<Workload> All, TimeBasis Basis);

/// The one speed-up that variants are accepted, stored and ordered by: the
/// original's time over the variant's, each summed over all workloads.
class Speedup {
public:
  /// One workload's times, each times the workload's weight (timeWeights).
  void add(double Original, double Variant) {
    Before += Original;
    After += Variant;
  }
  /// 0: no time counts.
  double ratio() const { return After > 0 ? Before / After : 0; }

private:
  double Before = 0, After = 0;
};

/// "1.02 to 1.48"; "" where no interval is known, and Low is High.
std::string intervalText(double Low, double High);
/// "1.31 (1.02 to 1.48, modelled)"; "1.31 (modelled)" without an interval.
std::string speedupText(double Ratio, double Low, double High, Basis B);

} // namespace cupilot

#endif // CUPILOT_MODEL_SPEEDUP_H
