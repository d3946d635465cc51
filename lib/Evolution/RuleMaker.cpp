//===- RuleMaker.cpp - Candidates by rules -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Dialect/Transforms/Genetics.h"
#include "cupilot/Evolution/CandidateMaker.h"
#include "cupilot/Support/Error.h"
#include <thread>

using namespace llvm;

namespace cupilot {

CandidateMaker::~CandidateMaker() = default;

namespace {
class RuleMaker : public CandidateMaker {
public:
  explicit RuleMaker(const CandidateEvaluator &E) : E(E) {}
  size_t width() const override { return 2; }
  Expected<std::vector<std::optional<Candidate>>>
  make(ArrayRef<CandidateOrder> Orders) override;
  Expected<std::vector<Revision>>
  revise(ArrayRef<RevisionOrder> Orders) override {
    return std::vector<Revision>(Orders.size());
  }

private:
  const CandidateEvaluator &E;
};
} // namespace

Expected<std::vector<std::optional<Candidate>>>
RuleMaker::make(ArrayRef<CandidateOrder> Orders) {
  std::vector<std::optional<Expected<Candidate>>> Prepared(Orders.size());
  std::vector<std::thread> Threads;
  for (size_t I = 0; I < Orders.size(); ++I)
    if (!Orders[I].Known)
      Threads.emplace_back(
          [&, I] { Prepared[I].emplace(E.prepare(Orders[I].Genes)); });
  for (std::thread &T : Threads)
    T.join();
  std::vector<std::optional<Candidate>> Made(Orders.size());
  Error Failure = Error::success();
  for (size_t I = 0; I < Orders.size(); ++I) {
    if (!Prepared[I])
      continue;
    if (*Prepared[I])
      Made[I] = std::move(**Prepared[I]);
    else
      Failure = joinErrors(std::move(Failure), Prepared[I]->takeError());
  }
  if (Failure)
    return std::move(Failure);
  return Made;
}

std::unique_ptr<CandidateMaker>
makeRuleMaker(const CandidateEvaluator &Evaluator) {
  return std::make_unique<RuleMaker>(Evaluator);
}

} // namespace cupilot
