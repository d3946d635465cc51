//===- OtherBuild.cpp - What a search keeps, by another compiler ----------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OtherBuild.h"
#include "cupilot/Dialect/Transforms/Genetics.h"
#include "cupilot/Model/Speedup.h"
#include "cupilot/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot {

namespace {
/// A candidate on its way through the other compiler's build.
struct Attempt {
  size_t Index;
  Genome G;
  Candidate C;
};

class OtherBuild {
public:
  OtherBuild(const SearchProblem &P, const SearchOptions &Options)
      : P(P), Options(Options) {}
  Expected<std::vector<OtherProof>> judge(ArrayRef<CandidateRecord> Accepted,
                                          Journal &J, StringRef Run,
                                          GpuAsker OnGpu);

private:
  Expected<std::vector<OtherProof>> byModel(ArrayRef<CandidateRecord> Accepted);
  Error prepare(ArrayRef<CandidateRecord> Accepted);
  Error askGpu(GpuStepJudge &Gpu, GpuAsker OnGpu);
  Error prove(Attempt &A, std::vector<OtherProof> &Proofs);
  void dropFailed(CandidateOutcome Goes);
  void tell(const CandidateRecord &R, const Twine &What) const {
    if (Options.Tell)
      Options.Tell((P.Compiler + ": " + variantName(R) + ": " + What).str());
  }
  void tellRatio(const CandidateRecord &R, const Measurement &M) const {
    tell(R, speedupText(M.Ratio, M.Low, M.High, M.Basis));
  }
  Expected<Genome> genomeOf(const CandidateRecord &R) const;

  const SearchProblem &P;
  const SearchOptions &Options;
  std::unique_ptr<CandidateEvaluator> Evaluator;
  std::vector<Attempt> Attempts; ///< That have not failed.
};
} // namespace

/// Leaves out, aloud, those with another outcome than \p Goes.
void OtherBuild::dropFailed(CandidateOutcome Goes) {
  erase_if(Attempts, [&](const Attempt &A) {
    const CandidateRecord &R = A.C.Record;
    if (R.Outcome == Goes)
      return false;
    tell(R, "left out: " + wordOf(R.Outcome) + ": " + reasonText(R));
    return true;
  });
}

Expected<Genome> OtherBuild::genomeOf(const CandidateRecord &R) const {
  std::optional<Genome> G = parseGenome(R.Genome);
  if (!G || !R.Code)
    return resourceError("the journal contains a damaged candidate: " +
                         R.Genome);
  return std::move(*G);
}

/// On the cpu device alone.
Expected<std::vector<OtherProof>>
OtherBuild::byModel(ArrayRef<CandidateRecord> Accepted) {
  std::vector<OtherProof> Proofs;
  for (auto [I, R] : enumerate(Accepted)) {
    Expected<Genome> G = genomeOf(R);
    if (!G)
      return G.takeError();
    std::string Why;
    Expected<std::optional<BuildProof>> Proof =
        proveBuild(*Evaluator, P, *G, *R.Code, /*EvenSlower=*/false, Why);
    if (!Proof)
      return Proof.takeError();
    if (!*Proof) {
      tell(R, "left out: " + Why);
      continue;
    }
    tellRatio(R, (*Proof)->Evidence);
    Proofs.push_back({I, std::move(**Proof)});
  }
  return Proofs;
}

Error OtherBuild::prepare(ArrayRef<CandidateRecord> Accepted) {
  for (auto [I, R] : enumerate(Accepted)) {
    Expected<Genome> G = genomeOf(R);
    if (!G)
      return G.takeError();
    Expected<Candidate> C = Evaluator->prepare(*G, *R.Code);
    if (!C)
      return C.takeError();
    C->Record.Carried = R.Carried;
    Attempts.push_back({I, std::move(*G), std::move(*C)});
  }
  dropFailed(CandidateOutcome::Unjudged);
  return Error::success();
}

/// Comparison and time, and the last checks of those that are faster.
Error OtherBuild::askGpu(GpuStepJudge &Gpu, GpuAsker OnGpu) {
  for (Attempt &A : Attempts)
    if (Error E = Evaluator->judge(A.C))
      return E;
  dropFailed(CandidateOutcome::Passed);
  if (Attempts.empty())
    return Error::success();
  static constexpr char Step[] = "all";
  std::vector<WaitingCandidate> Waiting;
  for (Attempt &A : Attempts)
    Waiting.push_back({A.C.Record, std::move(A.C)});
  Error Failure = OnGpu(Step, [&] { return Gpu.judge(Step, Waiting); });
  for (auto [A, W] : zip_equal(Attempts, Waiting)) {
    if (W.Made)
      A.C = std::move(*W.Made);
    A.C.Record = std::move(W.Record);
  }
  if (Failure)
    return Failure;
  dropFailed(CandidateOutcome::Accepted);
  for (Attempt &A : Attempts)
    if (Error E = OnGpu(GpuStepJudge::finalStep(A.C.Record),
                        [&] { return Gpu.accept(A.C.Record); }))
      return E;
  dropFailed(CandidateOutcome::Accepted);
  return Error::success();
}

Error OtherBuild::prove(Attempt &A, std::vector<OtherProof> &Proofs) {
  const CandidateRecord &R = A.C.Record;
  Expected<std::optional<Domain>> Where = Evaluator->prove(A.G, R);
  if (!Where)
    return Where.takeError();
  if (!*Where) {
    tell(R, "left out: no launch is left on which it may run");
    return Error::success();
  }
  Measurement M = measurementOf(*R.Evidence, R.Ratio, P);
  tellRatio(R, M);
  Proofs.push_back({A.Index, {R.Ratio, std::move(M), std::move(**Where)}});
  return Error::success();
}

Expected<std::vector<OtherProof>>
OtherBuild::judge(ArrayRef<CandidateRecord> Accepted, Journal &J, StringRef Run,
                  GpuAsker OnGpu) {
  Expected<std::unique_ptr<CandidateEvaluator>> Made =
      CandidateEvaluator::create(P);
  if (!Made)
    return Made.takeError();
  Evaluator = std::move(*Made);
  if (!P.OnGpu)
    return byModel(Accepted);
  if (Error E = prepare(Accepted))
    return std::move(E);
  Expected<std::unique_ptr<GpuStepJudge>> Gpu = GpuStepJudge::create(
      P, *Evaluator, J, Run, Options.Device, Options.Patience);
  if (!Gpu)
    return Gpu.takeError();
  if (Error E = askGpu(**Gpu, OnGpu))
    return std::move(E);
  std::vector<OtherProof> Proofs;
  for (Attempt &A : Attempts)
    if (Error E = prove(A, Proofs))
      return std::move(E);
  return Proofs;
}

Expected<std::vector<OtherProof>>
judgeOtherBuild(const SearchProblem &P, ArrayRef<CandidateRecord> Accepted,
                const SearchOptions &Options, Journal &J, StringRef Run,
                GpuAsker OnGpu) {
  return OtherBuild(P, Options).judge(Accepted, J, Run, OnGpu);
}

} // namespace cupilot
