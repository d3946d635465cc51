//===- LaunchCount.h - What a program says of its launches ------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds give each counter of a program its record, and what reads the file
// that CUPILOT_STATS_FILE names gets it back. docs/HostRuntime.md describes the
// file.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MODEL_LAUNCHCOUNT_H
#define CUPILOT_MODEL_LAUNCHCOUNT_H

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace cupilot {

enum class LaunchCountKind {
  Variant,  ///< Launches that took a variant.
  Outside,  ///< Launches that a clause of a variant's domain kept out.
  Original, ///< Launches of the original instead of any of its variants.
  Begin,    ///< A unit of the program counts.
  End       ///< It has said all that it counted.
};

struct LaunchCount {
  LaunchCountKind Kind;
  std::string Kernel; ///< As people read it.
  std::string Symbol; ///< Mangled.
  std::string Variant = {};
  std::string Clause = {}; ///< Of Variant's domain; of Outside alone.
  /// The kernels that the variant launches, mangled; of Variant alone.
  std::vector<std::string> VariantSymbols = {};
  uint64_t Launches = 0;
  int64_t Process = 0; ///< Of Begin and End.
};

/// "k(int) v_1", "k(int) outside of the domain of v_1: n <= 4", "originals
/// instead of variants of k(int)".
std::string textOf(const LaunchCount &C);

/// The object that a line of the file holds, but for what the program adds:
/// "launches" or "process".
llvm::json::Value toJSON(const LaunchCount &C);

/// Reads a line of the file.
llvm::Expected<LaunchCount> parseLaunchCount(llvm::StringRef Line);

} // namespace cupilot

#endif // CUPILOT_MODEL_LAUNCHCOUNT_H
