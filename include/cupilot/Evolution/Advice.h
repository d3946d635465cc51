//===- Advice.h - What the Roofline Prophet tells the agents -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVOLUTION_ADVICE_H
#define CUPILOT_EVOLUTION_ADVICE_H

#include "cupilot/Evolution/Candidate.h"
#include "cupilot/Roofline/StaticFigures.h"

namespace cupilot {

/// A number that says something of a kernel.
struct KernelMetric {
  std::string Name, Value, Source;
};

/// What bounds a kernel, and what of it belongs into prompts.
struct KernelAdvice {
  std::optional<Bottleneck> Class; ///< Nothing: not known.
  std::vector<std::pair<std::string, Opinion>> Opinions; ///< By source.
  std::vector<KernelMetric> Metrics; ///< All that there are.
  /// Names of those that matter for the class.
  std::vector<std::string> Relevant;
  double OriginalUs = 0; ///< Modelled, all workloads with their counts.
  double FloorUs = 0;    ///< At the GPU's ceilings; 0: not known.
  std::string Sample;    ///< The workload that was counted.
  double LaunchUs = 0, LaunchFloorUs = 0; ///< Of one launch of the heaviest.
  bool IsMeasured = false;                ///< LaunchUs; else it is modelled.
  /// As sentences: class with its grounds, headroom, relevant metrics.
  std::vector<std::string> sentences() const;
};

/// The workload that matters most, by its share of the time.
size_t heaviestWorkload(const SearchProblem &P);

/// What a launch of each workload cannot be faster than, in microseconds; 0
/// where that is not known.
std::vector<double> floorsOf(const SearchProblem &P,
                             const CandidateEvaluator &Evaluator,
                             const Ceilings &C);

/// From the code of the original and what it did on the cpu device.
llvm::Expected<KernelAdvice> adviseOn(const SearchProblem &P,
                                      const CandidateEvaluator &Evaluator,
                                      const Ceilings &C);

/// Adds what a GPU says of the original: its times by workload, its counters.
void addMeasurement(KernelAdvice &A, const SearchProblem &P,
                    const CandidateEvaluator &Evaluator, const Ceilings &C,
                    const std::map<std::string, double> &Times,
                    const std::map<std::string, MeasuredLaunch> &Profile);

/// What a judged candidate did, beside the original: sentences with the numbers
/// that matter for \p A's class.
std::vector<std::string> profileOf(const CandidateRecord &R,
                                   const SearchProblem &P,
                                   const CandidateEvaluator &Evaluator,
                                   const KernelAdvice &A);

} // namespace cupilot

#endif // CUPILOT_EVOLUTION_ADVICE_H
