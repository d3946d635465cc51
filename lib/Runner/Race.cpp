//===- Race.cpp - Candidates timed by successive halving -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Race.h"
#include "cupilot/Runner/Statistics.h"
#include <algorithm>
#include <nlohmann/json.hpp>

using nlohmann::json;

namespace cupilot::runner {

static double numberIn(const json &Result, const char *Key) {
  return Result.contains(Key) && Result[Key].is_number()
             ? Result[Key].get<double>()
             : 0;
}

void Race::add(const Request &R, const json &Result) {
  if (!R.Heat || R.Kind != RequestKind::Time)
    return;
  Times &T = Levels[R.Heat->Level][R.Group];
  const Times::Ratio Ratio{numberIn(Result, "ratio"), numberIn(Result, "low"),
                           numberIn(Result, "high")};
  if (Result.value("status", "") != "ok" || !Result.value("same", true) ||
      Result.value("call", "") == wordOf(Call::Invalid) || !(Ratio.Mid > 0)) {
    T.Failed = true;
    return;
  }
  // All are held against one time of the original: it drifts less than the
  // candidates' own times.
  Originals.try_emplace(
      R.Case,
      R.Heat->Weight * Result.at("original").at("median_us").get<double>());
  T.Ratios[R.Case] = Ratio;
}

/// Where a candidate has no time the original runs.
Race::Total Race::totalOf(const Times &T) const {
  Total Sum;
  for (auto [Case, Original] : Originals) {
    auto At = T.Ratios.find(Case);
    const Times::Ratio R =
        At == T.Ratios.end() ? Times::Ratio{1, 1, 1} : At->second;
    Sum.Mid += Original / R.Mid;
    Sum.Least += R.High > 0 ? Original / R.High : 0;
    Sum.Most += R.Low > 0 ? Original / R.Low : 1e300;
  }
  return Sum;
}

bool Race::goesOn(const Request &R) const {
  if (!R.Heat || R.Heat->Level == 0)
    return true;
  auto Before = Levels.find(R.Heat->Level - 1);
  if (Before == Levels.end())
    return false;
  std::vector<std::pair<Total, std::string>> Ranks;
  for (const auto &[Group, T] : Before->second)
    if (!T.Failed)
      Ranks.emplace_back(totalOf(T), Group);
  std::sort(Ranks.begin(), Ranks.end(), [](const auto &A, const auto &B) {
    return std::pair(A.first.Mid, A.second) < std::pair(B.first.Mid, B.second);
  });
  const size_t Most = (Ranks.size() + 1) / 2;
  for (size_t I = 0; I < Most; ++I)
    if (Ranks[I].second == R.Group)
      return Ranks[I].first.Least <= Ranks.front().first.Most;
  return false;
}

} // namespace cupilot::runner
