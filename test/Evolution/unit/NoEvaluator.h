//===- NoEvaluator.h - An evaluator that knows nothing -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_TEST_EVOLUTION_NOEVALUATOR_H
#define CUPILOT_TEST_EVOLUTION_NOEVALUATOR_H

#include "cupilot/Evolution/Candidate.h"
#include "cupilot/Support/Error.h"

namespace cupilot {

/// Tests say what they know.
class NoEvaluator : public CandidateEvaluator {
public:
  llvm::Error judge(Candidate &) override { return findingError(""); }
  llvm::Error judgeQuickly(Candidate &) override { return findingError(""); }
  llvm::Error runOriginalQuickly(double) override {
    return llvm::Error::success();
  }
  llvm::StringRef originalDigest() const override { return ""; }
  double originalTime() const override { return 0; }
  llvm::Expected<Translation> translate(const Genome &) const override {
    return findingError("");
  }
  std::vector<std::string>
  favoured(llvm::ArrayRef<StrategyInfo>) const override {
    return {};
  }
  llvm::Expected<Candidate> prepare(const Genome &) const override {
    return findingError("");
  }
  llvm::Expected<Candidate> prepare(const Genome &,
                                    Translation) const override {
    return findingError("");
  }
  llvm::Expected<GateVerdict> verdict(const Candidate &) override {
    return findingError("");
  }
  llvm::Error judgeToKeep(Candidate &, bool) override {
    return findingError("");
  }
  llvm::Expected<bool> isAdmitted(const Translation &) const override {
    return findingError("");
  }
  llvm::Error estimate(Candidate &) override { return findingError(""); }
  llvm::Expected<std::optional<Domain>>
  domain(const Candidate &, const GateVerdict &, llvm::ArrayRef<std::string>,
         llvm::ArrayRef<ComparedLaunch>) override {
    return findingError("");
  }
  llvm::Expected<std::vector<LargeLaunch>> largeLaunches() override {
    return findingError("");
  }
  llvm::StringRef originalBitcode() const override { return ""; }
  llvm::StringRef originalPtx() const override { return ""; }
  llvm::ArrayRef<bool> gpuOnly() const override { return {}; }
  const ExecutionCounts *originalCounts(size_t) const override {
    return nullptr;
  }
  llvm::Expected<ReferenceVerdict>
  judgeDeviceResults(size_t, const DeviceResults &,
                     const DeviceResults &) override {
    return findingError("");
  }
};

} // namespace cupilot

#endif // CUPILOT_TEST_EVOLUTION_NOEVALUATOR_H
