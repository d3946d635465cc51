//===- Metrics.h - What is asked of a GPU's counters -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The metric sets of the bottleneck classes, for the Prophet and for what runs
// on GPU machines: neither LLVM nor CUDA is needed here.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_PROFILE_METRICS_H
#define CUPILOT_PROFILE_METRICS_H

#include <cstring>
#include <vector>

namespace cupilot {

/// One metric of Metrics.def.
struct ProfileMetric {
  const char *Set;  ///< "common", "compute", "memory", "latency".
  const char *Key;  ///< What cuPilot calls it: "dramThroughput".
  const char *Name; ///< What CUPTI calls it.
  const char *Unit; ///< "%", "ns", "bytes", "sectors", "warps", "threads".
  const char *Text; ///< What it says.
};

inline constexpr ProfileMetric ProfileMetrics[] = {
#define CUPILOT_METRIC(SET, KEY, NAME, UNIT, TEXT)                             \
  {#SET, KEY, NAME, UNIT, TEXT},
#include "cupilot/Profile/Metrics.def"
#undef CUPILOT_METRIC
};

/// The metrics to collect for a kernel of the class \p Set ("compute",
/// "memory", "latency"): the common ones and its own. Any other word: all.
inline std::vector<ProfileMetric> profileSet(const char *Set) {
  bool Known = false;
  for (const ProfileMetric &M : ProfileMetrics)
    Known |= !std::strcmp(M.Set, Set);
  std::vector<ProfileMetric> Result;
  for (const ProfileMetric &M : ProfileMetrics)
    if (!Known || !std::strcmp(M.Set, Set) || !std::strcmp(M.Set, "common"))
      Result.push_back(M);
  return Result;
}

} // namespace cupilot

#endif // CUPILOT_PROFILE_METRICS_H
