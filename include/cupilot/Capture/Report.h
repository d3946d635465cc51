//===- Report.h - What a recording shows -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_CAPTURE_REPORT_H
#define CUPILOT_CAPTURE_REPORT_H

#include "cupilot/Capture/Record.h"

namespace cupilot::capture {

/// A kernel in the table.
struct KernelRow {
  std::string Kernel;  ///< Mangled.
  std::string Module;  ///< Digest of the code, if that tells kernels apart.
  std::string Library; ///< That launches it; "" for others.
  uint64_t Calls = 0;
  double Time = 0;  ///< In microseconds.
  double Share = 0; ///< Of all kernel time, 0 to 1.
  /// How many times faster all kernels together become at most, if this one
  /// took no time (Amdahl), or as long as the memory needs to take up the
  /// bytes that it is known to change. 0: not bounded.
  double Amdahl = 1, Roofline = 1;
  size_t Kept = 0;     ///< Launches with data.
  size_t Inferred = 0; ///< Those of them whose ranges are inferred.
  bool KnowsBytes = false;
  std::vector<std::string> Why; ///< Why none or some cannot be replayed.
};

/// What tells kernels apart: the name, and the digest of the code where a
/// recording has it of all launches, which is on the cpu device. There,
/// programs that load their own code may have several kernels of one name.
std::pair<std::string, std::string> kernelKey(const Record &R, const Launch &L);

/// One row per kernel, largest share first.
std::vector<KernelRow> makeRows(const Record &R);

/// The name of a kernel for people.
std::string demangled(const std::string &Symbol);

/// A line that says how far a program is after \p Seconds: "cupilot capture: 10
/// s: 3 kernels, 65 launches, 3 of them kept; running add(float*)".
std::string progressLine(uint64_t Seconds, uint64_t Kernels, uint64_t Launches,
                         uint64_t Kept, const std::string &Doing);

/// The table for people. At most \p Most kernels; those of a library are one
/// line.
std::string printTable(const Record &R, size_t Most = 40);

/// The table for programs; docs/Capture.md says what the keys mean.
nlohmann::json tableJson(const Record &R);

} // namespace cupilot::capture

#endif // CUPILOT_CAPTURE_REPORT_H
