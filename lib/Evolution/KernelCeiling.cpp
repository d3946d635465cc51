//===- KernelCeiling.cpp - How near variants are to the ceiling -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/KernelCeiling.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace llvm;

namespace cupilot {

static bool isTime(double Microseconds) {
  return Microseconds > 0 && std::isfinite(Microseconds);
}

KernelCeiling::KernelCeiling(ArrayRef<Workload> Workloads,
                             ArrayRef<double> FloorUs) {
  for (auto [W, Floor] : zip_equal(Workloads, FloorUs))
    if (W.isTimed())
      Launches.push_back({W.Name, double(W.Count), Floor});
}

void KernelCeiling::noteOriginal(StringRef Workload, double Microseconds) {
  if (!isTime(Microseconds))
    return;
  for (TimedLaunch &L : Launches)
    if (L.Name == Workload)
      L.OriginalUs = Microseconds;
}

void KernelCeiling::note(const CandidateRecord &R) {
  if (R.Evidence)
    for (const LaunchTimes &T : R.Evidence->times())
      noteOriginal(T.Workload, T.OriginalUs);
}

double KernelCeiling::share(ArrayRef<LaunchTimes> Times) const {
  double Floor = 0, Total = 0;
  for (const TimedLaunch &L : Launches) {
    auto Own = find_if(
        Times, [&](const LaunchTimes &T) { return T.Workload == L.Name; });
    double Time = Own == Times.end() ? L.OriginalUs : Own->VariantUs;
    // A launch that was faster than its least time shows that this is none.
    if (!(L.FloorUs > 0) || !isTime(Time) ||
        (L.OriginalUs > 0 && L.OriginalUs < L.FloorUs))
      return 0;
    Floor += L.FloorUs * L.Count;
    Total += Time * L.Count;
  }
  return Total > 0 ? Floor / Total : 0;
}

double KernelCeiling::share(const CandidateRecord &R) const {
  if (!R.Evidence)
    return 0;
  const std::vector<LaunchTimes> Times = R.Evidence->times();
  return Times.empty() ? 0 : share(Times);
}

double KernelCeiling::originalShare() const {
  return share(ArrayRef<LaunchTimes>());
}

} // namespace cupilot
