//===- Report.h - The roofline as a page -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_REPORT_REPORT_H
#define CUPILOT_REPORT_REPORT_H

#include "cupilot/Report/Story.h"
#include "cupilot/Roofline/Prophet.h"

namespace cupilot {

/// One variant, or the original, of a kernel.
struct ReportVariant {
  std::string Name, Genome;
  std::string Verdict; ///< "original", "accepted", "slower", "gate" ...
  std::string Reason;
  std::string Domain; ///< Where it runs; "" where that is not known.
  std::optional<double> Intensity; ///< Operations per byte.
  double Operations = 0;           ///< In one launch.
  std::optional<double> Modelled;  ///< Microseconds of a launch ...
  std::optional<double> Measured;  ///< ... and those that were measured.
  std::optional<double> Headroom;  ///< Time over that at the ceilings.
  std::optional<double> Ratio;     ///< Of the original's time to its own.
  std::string Class;               ///< Of its counts; "" where unknown.
};

/// One kernel on one workload.
struct ReportKernel {
  std::string Name, Workload; ///< "w0: grid 16x1x1, block 256x1x1".
  /// The original's class by "code", "counts", "measured".
  std::vector<std::pair<std::string, Opinion>> Opinions;
  std::vector<ReportVariant> Variants; ///< The original first.
};

/// One HTML file with drawings (log-log SVG) and tables; it loads nothing.
std::string renderReport(llvm::StringRef Title, const Ceilings &C,
                         llvm::ArrayRef<ReportKernel> Kernels,
                         llvm::ArrayRef<SearchStory> Stories = {});

} // namespace cupilot

#endif // CUPILOT_REPORT_REPORT_H
