//===- Race.h - Candidates timed by successive halving -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Successive halving (Jamieson and Talwalkar, 2016): all candidates get a few
// rounds, the faster half of them twice as many, and so on. What goes on
// follows from the results alone, so that a race that was interrupted goes on
// as it would have.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_RUNNER_RACE_H
#define CUPILOT_LIB_RUNNER_RACE_H

#include "cupilot/Runner/Batch.h"
#include <nlohmann/json_fwd.hpp>

namespace cupilot::runner {

/// The times of one race so far.
class Race {
public:
  /// Whether \p R is to be evaluated: it is of no race or of its first level,
  /// or its candidate was among the faster half on the level before, and not
  /// surely slower than the best there.
  bool goesOn(const Request &R) const;
  void add(const Request &R, const nlohmann::json &Result);

private:
  /// A candidate on a level, by case.
  struct Times {
    struct Ratio {
      double Mid = 0, Low = 0, High = 0;
    };
    std::map<unsigned, Ratio> Ratios;
    bool Failed = false;
  };
  struct Total {
    double Mid = 0, Least = 0, Most = 0; ///< Of the time of all cases.
  };
  Total totalOf(const Times &T) const;

  std::map<unsigned, std::map<std::string, Times>> Levels; ///< By group.
  /// By case: the weighted time of the original.
  std::map<unsigned, double> Originals;
};

} // namespace cupilot::runner

#endif // CUPILOT_LIB_RUNNER_RACE_H
