//===- TimeBudget.h - What keeping launches may take -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_CAPTURE_TIMEBUDGET_H
#define CUPILOT_CAPTURE_TIMEBUDGET_H

#include <atomic>
#include <chrono>
#include <optional>
#include <string>

namespace cupilot::capture {

/// The time that keeping launches costs a program, and the most that it may.
/// Half of that is for the first launch of each kernel: kernels that come late
/// have one, too.
class TimeBudget {
public:
  using Clock = std::chrono::steady_clock;
  /// 0: there is no limit.
  explicit TimeBudget(uint64_t Seconds) : Seconds(Seconds) {}

  /// Why no launch of a kernel may be kept now; \p First: none of it is kept
  /// so far.
  std::optional<std::string> refuses(bool First) const;
  /// Adds what is spent while it lives.
  class Spending {
  public:
    explicit Spending(TimeBudget &Of) : Of(Of), Begin(Clock::now()) {}
    ~Spending() { Of.add(Clock::now() - Begin); }
    Spending(const Spending &) = delete;

  private:
    TimeBudget &Of;
    Clock::time_point Begin;
  };
  void add(Clock::duration Time) {
    Spent +=
        std::chrono::duration_cast<std::chrono::microseconds>(Time).count();
  }

private:
  const uint64_t Seconds;
  std::atomic<int64_t> Spent{0}; ///< In microseconds.
};

} // namespace cupilot::capture

#endif // CUPILOT_CAPTURE_TIMEBUDGET_H
