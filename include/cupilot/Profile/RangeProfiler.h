//===- RangeProfiler.h - Counters around a launch -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CUPTI's range profiler (CUPTI 13.0) with user replay. For programs on GPU
// machines: no LLVM, CUPTI is loaded when it is used. Where it is missing, too
// old, or not permitted, a reason is returned and nothing else changes.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_PROFILE_RANGEPROFILER_H
#define CUPILOT_PROFILE_RANGEPROFILER_H

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cupilot {

/// What profiling one launch gave.
struct ProfileResult {
  std::map<std::string, double> Values; ///< By CUPTI's metric name.
  std::vector<std::string> Unknown;     ///< Asked for, and not known here.
  unsigned Passes = 0;                  ///< Launches that it took.
  /// Why there are no values: "no CUPTI: ...", "no rights: ...", "...".
  std::optional<std::string> Reason;
};

/// Loads CUPTI once per process. Not thread-safe: one launch at a time.
class RangeProfiler {
public:
  /// \p Library: path or name of libcupti; empty: the toolkit's usual places.
  /// Null with \p Reason when it cannot be had.
  static std::unique_ptr<RangeProfiler> open(const std::string &Library,
                                             std::string &Reason);
  virtual ~RangeProfiler();

  /// The metrics of \p Names that the chip \p Chip ("GH100") does not have.
  /// Needs no GPU.
  virtual std::vector<std::string>
  unknownMetrics(const std::string &Chip,
                 const std::vector<std::string> &Names) = 0;

  /// Runs \p Launch once for each pass with the counters of \p Names, in the
  /// current CUDA context of device \p Device. Before each, uncounted,
  /// \p Prepare restores what the launch changes and empties caches. Either
  /// returns false when it fails. Counters are off before and after.
  virtual ProfileResult collect(int Device,
                                const std::vector<std::string> &Names,
                                const std::function<bool()> &Prepare,
                                const std::function<bool()> &Launch) = 0;
};

} // namespace cupilot

#endif // CUPILOT_PROFILE_RANGEPROFILER_H
