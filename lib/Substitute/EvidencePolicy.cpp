//===- EvidencePolicy.cpp - Which evidence a build takes ------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Model/BuildRecord.h"
#include "cupilot/Model/DomainText.h"
#include "cupilot/Model/Speedup.h"
#include "cupilot/Substitute/Substitute.h"

using namespace llvm;

namespace cupilot {

static std::string speedupOf(const BuildVariant &V) {
  // Records of before know the lower bound alone.
  return V.Ratio > 0 ? speedupText(V.Ratio, V.Low, V.High, Basis::Modelled)
                     : speedupText(V.Low, V.Low, V.Low, Basis::Modelled);
}

std::optional<SubstitutionOutcome> whyNotBuilt(StringRef Kernel,
                                               const BuildVariant &V,
                                               const EvidencePolicy &P,
                                               StringRef Root) {
  if (!V.Where && !P.TakeLegacy)
    return SubstitutionOutcome{Kernel.str(),
                               SubstitutionResult::VariantStale,
                               {BuildReason::NoDomain, {verifyCommand(Root)}},
                               V.Name};
  if (V.Basis == Basis::Modelled && !P.TakeModelled)
    return SubstitutionOutcome{Kernel.str(),
                               SubstitutionResult::NotChosen,
                               {BuildReason::ModelledOnly, {speedupOf(V)}},
                               V.Name};
  if (V.Where && P.ProvedOnly && !provedPart(*V.Where))
    return SubstitutionOutcome{Kernel.str(), SubstitutionResult::NotChosen,
                               BuildReason::ComparedOnly, V.Name};
  return std::nullopt;
}

void restrictDomain(BuildVariant &V, const EvidencePolicy &P) {
  if (V.Where && P.ProvedOnly)
    V.Where = provedPart(*V.Where);
}

BuildNote noteOfApplied(const BuildVariant &V, const std::string &About) {
  std::string Text = About;
  if (V.Basis == Basis::Modelled)
    Text += ", " + speedupOf(V);
  return {V.Where ? BuildReason::Applied : BuildReason::AppliedWithoutDomain,
          {V.Name, std::move(Text)}};
}

std::string conditionsOf(const BuildVariant &V, const BuildRecord &R) {
  std::string Text = guardText(V.When, R.names());
  if (V.Where)
    Text += (Text.empty() ? "domain: " : "; domain: ") +
            domainText(*V.Where, R.names());
  return Text;
}

} // namespace cupilot
