//===- DomainPolicy.cpp - Which domains a build takes ---------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Model/DomainText.h"
#include "cupilot/Substitute/Substitute.h"

using namespace llvm;

namespace cupilot {

std::optional<SubstitutionOutcome> whyNotBuilt(StringRef Kernel,
                                               const BuildVariant &V,
                                               const DomainPolicy &P,
                                               StringRef Root) {
  if (!V.Where && !P.TakeLegacy)
    return SubstitutionOutcome{Kernel.str(),
                               SubstitutionResult::VariantStale,
                               {BuildReason::NoDomain, {Root}},
                               V.Name};
  if (V.Where && P.ProvedOnly && !provedPart(*V.Where))
    return SubstitutionOutcome{Kernel.str(), SubstitutionResult::NotChosen,
                               BuildReason::ComparedOnly, V.Name};
  return std::nullopt;
}

void restrictDomain(BuildVariant &V, const DomainPolicy &P) {
  if (V.Where && P.ProvedOnly)
    V.Where = provedPart(*V.Where);
}

BuildNote noteOfApplied(const BuildVariant &V, const std::string &About) {
  return {V.Where ? BuildReason::Applied : BuildReason::AppliedWithoutDomain,
          {V.Name, About}};
}

std::string conditionsOf(const BuildVariant &V, const BuildRecord &R) {
  std::string Text = guardText(V.When, R.names());
  if (V.Where)
    Text += (Text.empty() ? "domain: " : "; domain: ") +
            domainText(*V.Where, R.names());
  return Text;
}

} // namespace cupilot
