//===- Statistics.cpp - Which of two programs is faster -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Runner/Statistics.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace cupilot::runner {

double medianOf(std::vector<double> Values) {
  if (Values.empty())
    return std::numeric_limits<double>::quiet_NaN();
  std::sort(Values.begin(), Values.end());
  size_t N = Values.size();
  return N % 2 ? Values[N / 2] : (Values[N / 2 - 1] + Values[N / 2]) / 2;
}

/// The largest K with P(Binomial(N, 1/2) < K) <= Error / 2; 0: there is none.
static size_t rankFor(size_t N, double Error) {
  double Sum = 0, Limit = Error / 2;
  for (size_t K = 0; K < N / 2; ++K) {
    double LogTerm = std::lgamma(double(N) + 1) - std::lgamma(double(K) + 1) -
                     std::lgamma(double(N - K) + 1) - double(N) * std::log(2.0);
    Sum += std::exp(LogTerm);
    if (Sum > Limit)
      return K;
  }
  return N / 2;
}

Interval medianInterval(std::vector<double> Values, double Error) {
  constexpr double Infinity = std::numeric_limits<double>::infinity();
  std::sort(Values.begin(), Values.end());
  size_t N = Values.size(), K = rankFor(N, Error);
  double Mid = medianOf(Values);
  if (K == 0)
    return {-Infinity, Mid, Infinity};
  return {Values[K - 1], Mid, Values[N - K]};
}

Call callOf(const Interval &I, double Margin) {
  double M = std::log1p(Margin);
  if (I.Low > M)
    return Call::Faster;
  if (I.High < -M)
    return Call::Slower;
  if (I.Low >= -M && I.High <= M)
    return Call::Equal;
  return Call::Undecided;
}

static constexpr std::pair<Call, const char *> CallWords[] = {
    {Call::Faster, "faster"},
    {Call::Slower, "slower"},
    {Call::Equal, "equal"},
    {Call::Undecided, "undecided"},
    {Call::Invalid, "invalid"}};

std::string wordOf(Call C) { return CallWords[size_t(C)].second; }

std::optional<Call> callNamed(const std::string &Word) {
  for (const auto &[C, Its] : CallWords)
    if (Word == Its)
      return C;
  return std::nullopt;
}

size_t countOutliers(const std::vector<double> &Values) {
  double Mid = medianOf(Values);
  std::vector<double> Away;
  Away.reserve(Values.size());
  for (double V : Values)
    Away.push_back(std::fabs(V - Mid));
  double Limit = 5 * 1.4826 * medianOf(Away);
  return size_t(
      std::ranges::count_if(Away, [&](double A) { return A > Limit; }));
}

} // namespace cupilot::runner
