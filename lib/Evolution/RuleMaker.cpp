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
  Error make(ArrayRef<CandidateOrder> Orders,
             std::vector<std::optional<Candidate>> &Made) override;
  Error revise(ArrayRef<RevisionOrder> Orders,
               std::vector<Revision> &Made) override {
    Made.resize(Orders.size());
    return Error::success();
  }

private:
  const CandidateEvaluator &E;
};
} // namespace

Error RuleMaker::make(ArrayRef<CandidateOrder> Orders,
                      std::vector<std::optional<Candidate>> &Made) {
  std::vector<std::optional<Expected<Candidate>>> Prepared(Orders.size());
  std::vector<std::thread> Threads;
  for (size_t I = 0; I < Orders.size(); ++I)
    if (!Orders[I].Known)
      Threads.emplace_back(
          [&, I] { Prepared[I].emplace(E.prepare(Orders[I].Genes)); });
  for (std::thread &T : Threads)
    T.join();
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
makeRuleMaker(const CandidateEvaluator &Evaluator) {
  return std::make_unique<RuleMaker>(Evaluator);
}

} // namespace cupilot
