//===- Speedup.cpp - A speed-up over workloads ----------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Model/Speedup.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot {

std::vector<double> timeWeights(ArrayRef<Workload> All, TimeBasis Basis) {
  auto HasTime = [&](const Workload &W) {
    return Basis == TimeBasis::Measured || !W.isForGpuAlone();
  };
  bool Any =
      any_of(All, [&](const Workload &W) { return W.isTimed() && HasTime(W); });
  bool GateStandsIn = !Any && Basis == TimeBasis::Modelled;
  std::vector<double> Weights;
  for (const Workload &W : All)
    Weights.push_back(
        HasTime(W) && (W.isTimed() || GateStandsIn) ? double(W.Count) : 0);
  return Weights;
}

std::string intervalText(double Low, double High) {
  return Low < High ? formatv("{0:f2} to {1:f2}", Low, High).str() : "";
}

std::string speedupText(double Ratio, double Low, double High, Basis B) {
  const std::string Interval = intervalText(Low, High);
  return formatv("{0:f2} ({1}{2}{3})", Ratio, Interval,
                 Interval.empty() ? "" : ", ", wordOf(B));
}

} // namespace cupilot
