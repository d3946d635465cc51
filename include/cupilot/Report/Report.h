//===- Report.h - Kernels and what was won, as a page -*- C++ -*-===//
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
  std::optional<double> FloorUs;   ///< What it takes at the ceilings.
  std::optional<double> Headroom;  ///< Time over that at the ceilings.
  std::optional<double> Ratio;     ///< Of the original's time to its own.
  std::string Class;               ///< Of its counts; "" where unknown.
  bool IsOutside = false;   ///< Its guard keeps the launch for the original.
  bool IsCandidate = false; ///< Of a search; else what a build may run.
};

/// One kernel on one workload.
struct ReportRoofline {
  std::string Workload; ///< "w0: grid 16x1x1, block 256x1x1".
  /// The original's class by "code", "counts", "measured".
  std::vector<std::pair<std::string, Opinion>> Opinions;
  std::vector<ReportVariant> Variants; ///< The original first.
  std::string Unplaced;                ///< Why the original has no point.
};

/// The best variant that builds by one compiler have.
struct ReportBest {
  std::string Compiler, Arch, Device;
  std::string Variant;
  double Ratio = 0;
  double Low = 0, High = 0; ///< Its interval; Low is High if none is known.
  cupilot::Basis Basis = Basis::Modelled; ///< Of ratio and times.
  /// Microseconds that the recorded launches of the kernel take together.
  std::optional<double> OriginalUs, VariantUs;
  /// Time at the GPU's ceilings over time, 0 to 1.
  std::optional<double> OriginalAtCeiling, VariantAtCeiling;
  std::string Gate; ///< "proved": how it is known to be right.
};

/// One kernel: its row of the first table and its section.
struct ReportKernel {
  std::string Name, Contract;
  std::optional<double> Share; ///< Of the program's kernel time, 0 to 1.
  cupilot::Basis ShareBasis = Basis::Modelled;
  std::vector<ReportBest> Best; ///< By compiler; none: nothing was kept.
  std::string Why;              ///< Why nothing was, or has no figures.
  std::vector<ReportRoofline> Rooflines; ///< The heaviest workload first.
  std::vector<SearchStory> Stories;
};

/// What all kernels of the program win together.
struct ReportProgram {
  std::vector<std::string> Gains; ///< Sentences, one for each compiler.
  std::string Caveat;             ///< What the gains leave out, or why none is
                                  ///< known.
};

/// One HTML file that loads nothing: a table of all kernels, \p Program,
/// and a section for each with drawings
/// (log-log SVG) and tables. What is long folds.
std::string renderReport(llvm::StringRef Title, const Ceilings &C,
                         llvm::ArrayRef<ReportKernel> Kernels,
                         const ReportProgram &Program = {});

} // namespace cupilot

#endif // CUPILOT_REPORT_REPORT_H
