//===- Counters.h - Counters that outlive their process -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_CAPTURE_COUNTERS_H
#define CUPILOT_CAPTURE_COUNTERS_H

#include "cupilot/Capture/Content.h"
#include <atomic>

namespace cupilot::capture {

/// Counts of one class of launches. Lies in a file that is mapped into memory,
/// so that the last value is on disk however the process ends.
struct Counter {
  std::atomic<uint64_t> Count;
  std::atomic<uint64_t> Timed;
  std::atomic<uint64_t> Nanoseconds; ///< Of the timed ones.
  std::atomic<uint64_t> Largest;     ///< In nanoseconds.
};

/// The file counters.PID.
class Counters {
public:
  static constexpr size_t Capacity = 1 << 14; ///< Classes of a process.

  Counters() = default;
  Counters(const Counters &) = delete;
  ~Counters();
  /// Makes the file. Without it the counters are in memory alone.
  std::optional<Failure> create(const std::string &Path);
  /// Opens a file that another process made.
  std::optional<Failure> open(const std::string &Path);

  Counter &operator[](size_t Index) { return Slots[Index]; }
  /// The process came to its end by itself.
  void setEnded();
  bool ended() const;
  /// The process could not write what it recorded.
  void setFailed();
  bool failed() const;

private:
  struct Header;
  Header *Head = nullptr;
  Counter *Slots = nullptr;
};

} // namespace cupilot::capture

#endif // CUPILOT_CAPTURE_COUNTERS_H
