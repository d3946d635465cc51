//===- SubmissionMaker.cpp - Candidates that somebody hands in ------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/CandidateMaker.h"
#include "cupilot/Evolution/Handshake.h"
#include "cupilot/Evolution/Search.h"
#include "cupilot/Evolution/StrategyLibrary.h"

using namespace llvm;

namespace cupilot {

namespace {
class SubmissionMaker : public CandidateMaker {
public:
  SubmissionMaker(const SearchProblem &P, const CandidateEvaluator &E,
                  const SubmittedVariant &S, ArrayRef<LibraryStrategy> Library)
      : P(P), E(E), S(S), Library(Library) {}
  size_t width() const override { return 1; }
  Error make(ArrayRef<CandidateOrder> Orders,
             std::vector<std::optional<Candidate>> &Made) override;

private:
  const SearchProblem &P;
  const CandidateEvaluator &E;
  const SubmittedVariant &S;
  ArrayRef<LibraryStrategy> Library;
};
} // namespace

Expected<Candidate> submitted(const SearchProblem &P,
                              const CandidateEvaluator &Evaluator,
                              const SubmittedVariant &S, const Genome &Name,
                              StringRef Stage,
                              ArrayRef<LibraryStrategy> Library) {
  Expected<Candidate> C = Evaluator.prepare(Name, S.Code);
  if (!C)
    return C;
  C->Record.Carried = "";
  C->Record.Open = S.Open;
  CandidateStage How{Stage.str(), {}, {}, S.Notes, S.CarriedOut, ""};
  if (C->Record.Outcome == CandidateOutcome::Unjudged) {
    HandshakeResult R =
        shakeHands(genesNamed(S.CarriedOut, S.Genes, Library), &S.CarriedOut,
                   {P, Evaluator.originalPtx(), *C}, Library);
    C->Record.Carried = genomeText(R.Carried);
    How.Denied = std::move(R.Denied);
  }
  C->Record.Made.emplace().Stages.push_back(std::move(How));
  return C;
}

Error SubmissionMaker::make(ArrayRef<CandidateOrder> Orders,
                            std::vector<std::optional<Candidate>> &Made) {
  Made.resize(Orders.size());
  for (auto [Order, Each] : zip_equal(Orders, Made)) {
    if (Order.Known)
      continue;
    Expected<Candidate> C = submitted(P, E, S, Order.Genes, "submit", Library);
    if (!C)
      return C.takeError();
    Each = std::move(*C);
  }
  return Error::success();
}

std::unique_ptr<CandidateMaker>
makeSubmissionMaker(const SearchProblem &P, const CandidateEvaluator &Evaluator,
                    const SubmittedVariant &Submitted,
                    ArrayRef<LibraryStrategy> Library) {
  return std::make_unique<SubmissionMaker>(P, Evaluator, Submitted, Library);
}

} // namespace cupilot
