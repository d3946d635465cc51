//===- Compare.h - Two results, number by number -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_RUNNER_COMPARE_H
#define CUPILOT_RUNNER_COMPARE_H

#include "cupilot/Runner/Numbers.h"
#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace cupilot::runner {

/// The 16 bits that memory is filled with where nothing is known of it: a NaN
/// in every floating-point format, and no usual integer.
inline constexpr uint16_t Poison = 0xfff5;

struct Difference {
  uint64_t Element = 0; ///< Its index.
  unsigned Field = 0;
  double Original = 0, Candidate = 0;
};

/// What differs between the bytes of an original and a candidate.
struct Comparison {
  uint64_t Numbers = 0;
  uint64_t Differing = 0; ///< In some bit; two NaN do not differ.
  uint64_t Wrong = 0;     ///< Beyond the tolerance.
  uint64_t Unwritten = 0; ///< Poison in the candidate alone.
  uint64_t NaNs = 0;      ///< NaN in one of them alone.
  double MaxAbsolute = 0, MaxRelative = 0;
  uint64_t MaxUlps = 0;
  /// The largest |candidate - original| / |original| of a field, where the
  /// tolerance has a bound for it, and the fields that are beyond it.
  double NormError = 0;
  uint64_t FarFields = 0;
  /// Where the tolerance has all of the root mean square: how far the errors of
  /// a field lean to one side, sum((candidate - original) * original) /
  /// sum(original^2), and what chance explains of it: four times the field's
  /// |candidate - original| / |original| over the root of its numbers. Of the
  /// field that leans furthest beyond chance.
  double Lean = 0, LeanByChance = 0;
  std::vector<Difference> First; ///< At most eight that are wrong.
  static constexpr size_t MostShown = 8;
  /// What comes behind it.
  void add(const Comparison &Next);
};

/// A number is wrong that is off by more than \p Allowed says. Both texts have
/// the same length; bytes beyond the last whole element are compared as they
/// are.
Comparison compareBytes(std::string_view Original, std::string_view Candidate,
                        const Elements &Holds, const Tolerance &Allowed);

nlohmann::json toJson(const Comparison &C);

} // namespace cupilot::runner

#endif // CUPILOT_RUNNER_COMPARE_H
