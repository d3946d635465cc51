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
#include <atomic>
#include <thread>

using namespace llvm;

namespace cupilot {

CandidateMaker::~CandidateMaker() = default;

namespace {
class RuleMaker : public CandidateMaker {
public:
  RuleMaker(const CandidateEvaluator &E, unsigned Jobs)
      : E(E), AtOnce(std::max(2u, Jobs)), Width(Jobs > 1 ? 4 * Jobs : 2) {}
  size_t width() const override { return Width; }
  Error make(ArrayRef<CandidateOrder> Orders,
             std::vector<std::optional<Candidate>> &Made) override;
  Error revise(ArrayRef<RevisionOrder> Orders,
               std::vector<Revision> &Made) override {
    Made.resize(Orders.size());
    return Error::success();
  }

private:
  const CandidateEvaluator &E;
  size_t AtOnce; ///< Threads.
  /// Who judges several at a time wants a few for each.
  size_t Width;
};
} // namespace

Error RuleMaker::make(ArrayRef<CandidateOrder> Orders,
                      std::vector<std::optional<Candidate>> &Made) {
  std::vector<std::optional<Expected<Candidate>>> Prepared(Orders.size());
  std::vector<std::thread> Threads;
  std::atomic<size_t> Next = 0;
  for (size_t T = 0; T < std::min(AtOnce, Orders.size()); ++T)
    Threads.emplace_back([&] {
      for (size_t I; (I = Next++) < Orders.size();)
        if (!Orders[I].Known)
          Prepared[I].emplace(E.prepare(Orders[I].Genes));
    });
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
makeRuleMaker(const CandidateEvaluator &Evaluator, unsigned Jobs) {
  return std::make_unique<RuleMaker>(Evaluator, Jobs);
}

} // namespace cupilot
