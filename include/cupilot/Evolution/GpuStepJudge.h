//===- GpuStepJudge.h - Candidates of a search on a GPU -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_EVOLUTION_GPUSTEPJUDGE_H
#define CUPILOT_EVOLUTION_GPUSTEPJUDGE_H

#include "cupilot/Evolution/Candidate.h"
#include "cupilot/Evolution/Standing.h"
#include "cupilot/GpuJudge/GpuDevice.h"
#include "cupilot/GpuJudge/JudgementBatch.h"
#include "cupilot/Roofline/MeasuredFile.h"

namespace cupilot {

/// A candidate on its way to a GPU, and its code once it is needed.
struct WaitingCandidate {
  CandidateRecord Record;
  std::optional<Candidate> Made = std::nullopt;
};

/// What a GPU says of the original before there are candidates.
struct GpuOriginalFigures {
  std::map<std::string, double> Times; ///< Microseconds, by workload.
  LaunchProfiles Profile;
  Ceilings Limits;
};

/// Has the survivors of each step of a search judged on a GPU, as one batch.
/// The journal keeps the batch and its results: what was answered once is never
/// asked or counted again.
class GpuStepJudge {
public:
  /// All must outlive it. \p Device as for GpuDevice. Usage error: no such one.
  static llvm::Expected<std::unique_ptr<GpuStepJudge>>
  create(const SearchProblem &P, CandidateEvaluator &E, Journal &J,
         llvm::StringRef Run, llvm::StringRef Device, GpuPatience Patience);
  virtual ~GpuStepJudge();

  /// Whether candidates are worth a batch of their own before the gate: where
  /// nobody has to carry it.
  virtual bool mayScreen() const = 0;
  /// Compares and times all of \p Waiting, which the gate has yet to see, in
  /// one batch. What is wrong or not faster there gets its outcome; the others
  /// are as before. Errors as of judge().
  virtual llvm::Error screen(llvm::StringRef Step,
                             std::vector<WaitingCandidate> &Waiting) = 0;
  /// Compares and times all of \p Waiting in one batch; fills in outcome
  /// (accepted, slower or rejected), ratio and evidence. Nothing of them is
  /// saved. Resource errors leave the step open.
  virtual llvm::Error judge(llvm::StringRef Step,
                            std::vector<WaitingCandidate> &Waiting) = 0;
  /// Compares all of \p Waiting, which the gate has yet to see, and times them
  /// against each other by successive halving, in one batch. By candidate, how
  /// far it came; none of that is evidence. Errors as of judge().
  virtual llvm::Expected<std::vector<GpuRank>>
  race(llvm::StringRef Step, std::vector<WaitingCandidate> &Waiting) = 0;
  /// What a GPU says of the original, for the agents. Errors as of judge();
  /// counters that cannot be read are none.
  virtual llvm::Expected<GpuOriginalFigures> originalFigures() = 0;
  /// Counters of \p Best, in its order, on the launches that count, in one
  /// batch: the sets for a kernel that \p Class bounds, or all.
  virtual llvm::Expected<std::vector<LaunchProfiles>>
  profile(llvm::StringRef Step, std::vector<WaitingCandidate> &Best,
          std::optional<Bottleneck> Class) = 0;
  /// The last checks of one that was accepted: compute-sanitizer, where there
  /// is one, against the original; and counters. May reject it.
  virtual llvm::Error accept(CandidateRecord &Record) = 0;
  /// The step of that.
  static std::string finalStep(const CandidateRecord &Record);
  /// The step of originalFigures().
  static constexpr llvm::StringLiteral FirstStep = "begin";
  /// The launches of the original and of what was accepted, as measured.
  virtual const MeasuredFile &measured() const = 0;
};

} // namespace cupilot

#endif // CUPILOT_EVOLUTION_GPUSTEPJUDGE_H
