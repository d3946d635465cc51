//===- GpuStepJudgement.h - How a GPU's answers judge candidates --*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVOLUTION_GPUSTEPJUDGEMENT_H
#define CUPILOT_LIB_EVOLUTION_GPUSTEPJUDGEMENT_H

#include "cupilot/Evolution/GpuStepJudge.h"
#include "cupilot/GpuJudge/JudgementBatch.h"
#include <map>

namespace cupilot {

/// What the workloads of a candidate come to together.
struct GpuTotal {
  double Ratio = 0, Low = 0, High = 0;
  std::string Slower; ///< A workload that has become slower; "" if none.
};

/// By batches of one kernel; see GpuStepJudge. GpuStepJudge.cpp has the
/// batches, GpuVerdict.cpp and GpuAcceptance.cpp what becomes of their answers.
class GpuStepJudgement : public GpuStepJudge {
public:
  GpuStepJudgement(const SearchProblem &P, CandidateEvaluator &E, Journal &J,
                   llvm::StringRef Run, GpuPatience Patience)
      : P(P), E(E), J(J), Run(Run), Patience(std::move(Patience)) {}
  std::unique_ptr<GpuDevice> Device;

  llvm::Error judge(llvm::StringRef Step,
                    std::vector<WaitingCandidate> &Waiting) override;
  llvm::Error accept(CandidateRecord &Record) override;
  const MeasuredFile &measured() const override { return Measured; }

private:
  GpuOriginal original() const;
  llvm::Expected<GpuCandidate> variantOf(WaitingCandidate &W) const;
  llvm::Error prepare(llvm::MutableArrayRef<WaitingCandidate> Waiting) const;
  llvm::Expected<llvm::json::Object>
  answers(llvm::StringRef Step,
          llvm::function_ref<llvm::Error(JudgementBatch &B)> Fill,
          llvm::function_ref<llvm::Error(llvm::json::Object &Results,
                                         llvm::StringRef Folder)>
              Check);
  llvm::Error addReferences(llvm::json::Object &Results, llvm::StringRef Folder,
                            llvm::StringRef Id);
  llvm::Error settle(CandidateRecord &R, const llvm::json::Object &Results);
  std::optional<bool> makesRecorded(const llvm::json::Object &Results,
                                    llvm::StringRef Id, size_t Index) const;
  GpuTotal total(llvm::ArrayRef<GpuLaunch> Launches,
                 const std::map<std::string, double> &OriginalUs) const;
  std::optional<ExecutionCounts> workOf(const llvm::json::Object &Evidence,
                                        size_t Workload) const;
  void note(const CandidateRecord *R, const llvm::json::Object &Evidence,
            const llvm::json::Object &Results);

  const SearchProblem &P;
  CandidateEvaluator &E;
  Journal &J;
  std::string Run;
  GpuPatience Patience;
  MeasuredFile Measured;
  bool OriginalNoted = false;
};

/// Requests are named after the genome: "c" and ten digits.
std::string gpuIdOf(const CandidateRecord &R);

} // namespace cupilot

#endif // CUPILOT_LIB_EVOLUTION_GPUSTEPJUDGEMENT_H
