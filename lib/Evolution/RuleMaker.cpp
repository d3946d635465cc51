//===- RuleMaker.cpp - Candidates by rules -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InThreads.h"
#include "cupilot/Dialect/Transforms/Genetics.h"
#include "cupilot/Evolution/CandidateMaker.h"
#include "cupilot/Support/Error.h"
#include <map>
#include <set>

using namespace llvm;

namespace cupilot {

CandidateMaker::~CandidateMaker() = default;

namespace {
class RuleMaker : public CandidateMaker {
public:
  RuleMaker(const CandidateEvaluator &E, unsigned Jobs,
            std::function<void(StringRef)> Refused)
      : E(E), AtOnce(std::max(2u, Jobs)), Width(Jobs > 1 ? 4 * Jobs : 2),
        Refused(std::move(Refused)) {}
  size_t width() const override { return Width; }
  Error fit(ArrayRef<Genome> Genomes, std::vector<bool> &Fits) override;
  std::vector<std::string>
  favoured(ArrayRef<StrategyInfo> Strategies) override {
    return E.favoured(Strategies);
  }
  Error make(ArrayRef<CandidateOrder> Orders,
             std::vector<std::optional<Candidate>> &Made) override;

private:
  const CandidateEvaluator &E;
  size_t AtOnce; ///< Threads.
  /// Who judges several at a time wants a few for each.
  size_t Width;
  /// What the rules made of genomes that fit; each is wanted once.
  std::map<std::string, Translation> Translated;
  std::function<void(StringRef)> Refused;
  std::set<std::string> Told;
};
} // namespace

Error RuleMaker::fit(ArrayRef<Genome> Genomes, std::vector<bool> &Fits) {
  std::vector<std::optional<Expected<Translation>>> Made(Genomes.size());
  inThreads(Genomes.size(), AtOnce,
            [&](size_t I) { Made[I].emplace(E.translate(Genomes[I])); });
  Fits.assign(Genomes.size(), false);
  Error Failure = Error::success();
  for (size_t I = 0; I < Genomes.size(); ++I) {
    if (*Made[I]) {
      Fits[I] = true;
      Translated.insert_or_assign(genomeText(Genomes[I]), std::move(**Made[I]));
    } else {
      auto Tell = [&](StringRef Why) {
        // A gene alone; of others it is the company that does not fit.
        if (Genomes[I].size() == 1 && Told.insert(Why.str()).second && Refused)
          Refused(Why);
      };
      Failure = joinErrors(std::move(Failure),
                           absorbFinding(Made[I]->takeError(), Tell));
    }
  }
  return Failure;
}

Error RuleMaker::make(ArrayRef<CandidateOrder> Orders,
                      std::vector<std::optional<Candidate>> &Made) {
  std::vector<std::optional<Expected<Candidate>>> Prepared(Orders.size());
  inThreads(Orders.size(), AtOnce, [&](size_t I) {
    if (Orders[I].Known)
      return;
    auto Known = Translated.find(genomeText(Orders[I].Genes));
    if (Known == Translated.end())
      Prepared[I].emplace(E.prepare(Orders[I].Genes));
    else if (Prepared[I].emplace(E.prepare(Orders[I].Genes, Known->second)))
      (*Prepared[I])->IsByRules = true;
  });
  Made.resize(Orders.size());
  Error Failure = Error::success();
  for (size_t I = 0; I < Orders.size(); ++I) {
    if (!Prepared[I])
      continue;
    if (*Prepared[I])
      Made[I] = std::move(**Prepared[I]);
    else
      Failure = joinErrors(std::move(Failure), Prepared[I]->takeError());
  }
  return Failure;
}

std::unique_ptr<CandidateMaker>
makeRuleMaker(const CandidateEvaluator &Evaluator, unsigned Jobs,
              std::function<void(StringRef)> Refused) {
  return std::make_unique<RuleMaker>(Evaluator, Jobs, std::move(Refused));
}

} // namespace cupilot
