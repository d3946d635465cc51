//===- Compare.h - A program with originals and with variants ---*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One binary holds both: CUPILOT_RUNTIME=off launches its originals. docs/
// Compare.md says in which order it runs, and what is made of it.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_COMPARE_COMPARE_H
#define CUPILOT_COMPARE_COMPARE_H

#include "cupilot/Capture/Run.h"
#include "cupilot/Compare/Outputs.h"
#include "cupilot/Model/LaunchCount.h"
#include "cupilot/Runner/Statistics.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

namespace cupilot {

struct CompareRequest {
  std::vector<std::string> Program; ///< And its arguments.
  std::string Input = "/dev/null";  ///< Standard input of each run.
  /// Files that the program writes. Removed before each run.
  std::vector<std::string> Outputs;
  LineRules Rules;
  unsigned Pairs = 0;     ///< Timed runs with originals, and with variants.
  unsigned Warmup = 0;    ///< Pairs before them that do not count.
  bool OnCpu = false;     ///< Without a GPU: the cpu device runs the kernels.
  std::string CudaFolder; ///< See cudaFolderFor.
  std::string Recorder;   ///< libcupilot-capture.so; "" where there is none.
  std::string Cupti;      ///< See capture::Options.
};

enum class LaunchMode { Originals, Variants };

/// How runs of a mode ended: the first that ended in another way than the
/// first run of all, else the last.
struct ModeEnding {
  bool Ran = false;
  capture::Ending End;
  std::string Errors; ///< The last lines of standard error.
};

/// Time of one kernel in one run of each mode, with the kernels of its
/// variants.
struct KernelTimes {
  std::string Symbol; ///< Mangled.
  uint64_t OriginalCalls = 0, VariantCalls = 0;
  double Originals = 0, Variants = 0; ///< Microseconds, of all launches.
  bool HasVariants = false;
};

struct CompareResult {
  std::vector<OutputComparison> Outputs; ///< Standard output first.
  ModeEnding Originals, Variants;
  /// A run was ended by a signal, or with another status than the first:
  /// nothing was run after it. OriginalsVary: two runs with originals ended in
  /// different ways.
  bool Stopped = false, OriginalsVary = false;

  /// Of one run with variants: counts of one thing are added up over its units
  /// and processes.
  std::vector<LaunchCount> Launches;
  bool LaunchesComplete = true; ///< No process ended before it said its counts.

  /// Seconds of the runs of a mode, by pair; log(originals / variants) of the
  /// pairs: the median and its interval at 95 %.
  std::vector<double> OriginalSeconds, VariantSeconds;
  runner::Interval LogRatio{0, 0, 0};

  std::vector<KernelTimes> Kernels; ///< Largest time of the originals first.
  bool KernelsMeasured = false;     ///< Else they are modelled.
  std::vector<std::string> Notes;   ///< What is missing, and why.

  uint64_t launchesOf(LaunchCountKind Kind) const;
  /// All runs ended in the same way, and outputs are the same.
  bool isSame() const;
};

/// Runs the program. \p Progress gets a line about what begins, and the share
/// of the runs that is done. Errors: a program that cannot be run; one that
/// launches no kernel with variants (usage); an output that no run writes
/// (usage); SIGINT.
llvm::Expected<CompareResult> compareProgram(
    const CompareRequest &Request,
    llvm::function_ref<void(unsigned Run, unsigned Of, const llvm::Twine &)>
        Progress);

/// What a run wrote into the file that CUPILOT_STATS_FILE named, added up.
llvm::Expected<std::vector<LaunchCount>>
readLaunchCounts(llvm::StringRef Text, bool &Complete, bool &Any);

/// "ends with status 1", "is ended by signal 11 (Segmentation fault)".
std::string textOf(const capture::Ending &End);

/// The result for people, and for programs (docs/Compare.md, "JSON").
std::string printResult(const CompareRequest &Request, const CompareResult &R);
llvm::json::Value toJSON(const CompareRequest &Request, const CompareResult &R);

} // namespace cupilot

#endif // CUPILOT_COMPARE_COMPARE_H
