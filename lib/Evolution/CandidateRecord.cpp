//===- CandidateRecord.cpp - A candidate and what became of it -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/CandidateRecord.h"
#include "cupilot/Portable/Digest.h"

using namespace llvm;

namespace cupilot {

std::vector<LaunchTimes> CandidateEvidence::times() const {
  if (!Gpu)
    return Modelled;
  std::vector<LaunchTimes> All;
  for (const GpuWorkload &W : Gpu->Workloads)
    All.push_back({W.Workload, W.OriginalUs, W.VariantUs});
  return All;
}

unsigned CandidateHistory::callsOf(StringRef Stage) const {
  size_t Count = 0;
  for (const CandidateStage &S : Stages)
    if (S.Name == Stage)
      Count += S.Calls.size();
  return unsigned(Count);
}

std::vector<std::string> CandidateHistory::prompts() const {
  std::vector<std::string> All;
  for (const CandidateStage &S : Stages)
    for (const ModelCall &C : S.Calls)
      if (!C.Prompt.empty() && !is_contained(All, C.Prompt))
        All.push_back(C.Prompt);
  return All;
}

const ModelCall *CandidateHistory::lastCall() const {
  for (const CandidateStage &S : reverse(Stages))
    if (!S.Calls.empty())
      return &S.Calls.back();
  return nullptr;
}

void CandidateRecord::reject(FoundBy By, const GateFinding &Finding) {
  Outcome = CandidateOutcome::Rejected;
  Reason = {Finding.Evidence, By, Finding.Reason, Finding.Workload};
}

std::string reasonText(const CandidateRecord &R) {
  const OutcomeReason &Why = R.Reason;
  if (!Why.Found)
    return Why.Text;
  const std::string Where =
      Why.Workload.empty() ? "" : " (" + Why.Workload + ")";
  switch (Why.By) {
  case FoundBy::Gate:
    return (wordOf(*Why.Found) + Where + ": " + Why.Text).str();
  case FoundBy::Gpu:
    return Why.Workload.empty()
               ? "GPU: " + Why.Text
               : "GPU (" + Why.Workload + ": " + Why.Text + ")";
  case FoundBy::Sanitizer:
    return "sanitizer" + Where + ": " + Why.Text;
  }
  llvm_unreachable("nobody else finds anything");
}

std::string variantName(const CandidateRecord &R) {
  return "v_" + shortDigest(digest(R.Genome), 8);
}

/// No symbol of MLIR has a hyphen, so no strategy is called that.
static constexpr StringRef Improvement = "improve-on", Submission = "handed-in";

Genome improvementOf(const CandidateRecord &Elite, unsigned Generation,
                     unsigned Number) {
  return {{Improvement.str(),
           {{"variant", 0, variantName(Elite)},
            {"generation", Generation, ""},
            {"number", Number, ""}}}};
}

/// Begins the names of settings; the elite's stands behind it.
static constexpr StringRef Tuned = "tune-";

Genome settingOf(const CandidateRecord &Elite, const Setting &To) {
  Gene G{(Tuned + variantName(Elite)).str(), {}};
  for (auto [T, Value] : zip_equal(Elite.Open->Numbers, To))
    G.Params.push_back({T.Name, Value, ""});
  return {std::move(G)};
}

Genome submissionOf(StringRef Digest) {
  return {{Submission.str(), {{"text", 0, "t_" + shortDigest(Digest, 16)}}}};
}

bool isSubmission(const Genome &G) {
  return G.size() == 1 && G.front().Strategy == Submission;
}

bool isName(const Genome &G) {
  return isSubmission(G) ||
         (G.size() == 1 && (G.front().Strategy == Improvement ||
                            StringRef(G.front().Strategy).starts_with(Tuned)));
}

Genome carriedGenome(const CandidateRecord &R) {
  return parseGenome(R.Carried).value_or(Genome());
}

bool isSameCode(const CandidateRecord &A, const CandidateRecord &B) {
  return !A.DeviceDigest.empty() && A.DeviceDigest == B.DeviceDigest &&
         A.Code && B.Code && A.Code->Plan == B.Code->Plan;
}

} // namespace cupilot
