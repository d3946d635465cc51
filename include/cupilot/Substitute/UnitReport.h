//===- UnitReport.h - What a build did with one unit -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_SUBSTITUTE_UNITREPORT_H
#define CUPILOT_SUBSTITUTE_UNITREPORT_H

#include "cupilot/Substitute/Substitute.h"
#include "llvm/Support/JSON.h"

namespace cupilot {

/// What of a unit a report is of; nvcc's objects are both halves at once.
enum class UnitHalf { Device, Host, Object };

/// What became of one unit, or of one half of it.
struct UnitReport {
  /// Of the JSON; docs/Tools.md describes it.
  static constexpr int Version = 1;

  std::string Source;
  std::string Compiler; ///< "clang-22" or "nvcc".
  UnitHalf Half = UnitHalf::Object;
  std::string Target; ///< "sm_90", "sm_80,sm_90"; "" when it is not known.
  unsigned Kernels = 0;
  std::vector<SubstitutionOutcome> Outcomes;
  std::vector<LaunchSite> Launches = {}; ///< Of the host half.
  /// Where the outcomes' functions are; null when there is no such module.
  const llvm::Module *Module = nullptr;
};

/// For people: a line for the unit, and one for each outcome.
std::string toText(const UnitReport &R);
llvm::json::Value toJSON(const UnitReport &R);
/// A launch as the report's "launches" hold it.
llvm::json::Object toJSON(const LaunchSite &S);

/// Appends \p R to CUPILOT_LOG and to the file \p Path ("-": standard error;
/// "": none): as JSON on one line when it ends in .json or .jsonl. A report
/// that cannot be written is a resource error.
llvm::Error writeReport(llvm::StringRef Path, const UnitReport &R);

} // namespace cupilot

#endif // CUPILOT_SUBSTITUTE_UNITREPORT_H
