//===- Statistics.h - Which of two programs is faster -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ratio of two times is judged by the median of the logarithms of the
// rounds' ratios. Its confidence interval is that of the sign test: two order
// statistics, whose coverage is exact for any distribution, however heavy its
// tails (David & Nagaraja, Order Statistics, 7.1). docs/Runner.md says more.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_RUNNER_STATISTICS_H
#define CUPILOT_RUNNER_STATISTICS_H

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace cupilot::runner {

/// Logarithms of ratios; infinite ends where too little is known.
struct Interval {
  double Low, Mid, High;
};

/// The median of \p Values and an interval that misses the true one with
/// probability \p Error at most.
Interval medianInterval(std::vector<double> Values, double Error);

/// The numbers of rounds after which one looks at the interval. Each look may
/// spend an equal part of the error, so that stopping early costs nothing.
class Looks {
public:
  static constexpr unsigned Count = 8;
  static constexpr size_t First = 12;
  static size_t roundsAt(unsigned Look) { return First << Look; }
  static double errorOf(double Error) { return Error / Count; }
};

/// Invalid: the clocks contradict each other.
enum class Call { Faster, Slower, Equal, Undecided, Invalid };
/// "faster" when all of \p I (of log(original / candidate)) lies beyond the
/// margin (0.02 for 2 %), "slower" likewise, "equal" when all of it lies
/// within.
Call callOf(const Interval &I, double Margin);
std::string wordOf(Call C);
/// The reverse; nothing for other words.
std::optional<Call> callNamed(const std::string &Word);

/// Values further than five robust standard deviations from the median.
size_t countOutliers(const std::vector<double> &Values);
double medianOf(std::vector<double> Values);

} // namespace cupilot::runner

#endif // CUPILOT_RUNNER_STATISTICS_H
