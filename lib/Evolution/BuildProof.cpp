//===- BuildProof.cpp - What one build's code passed ----------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/BuildProof.h"

using namespace llvm;

namespace cupilot {

Measurement measurementOf(const CandidateEvidence &E, double Ratio,
                          const SearchProblem &P) {
  Measurement M{P.Gpu.Name,    Basis::Modelled, Ratio,
                Ratio,         Ratio,           unsigned(GateVersion),
                E.Gate.Checks, P.Compiler,      P.Arch,
                E.Canonical};
  if (!E.Gpu) {
    if (E.High > 0) {
      M.Low = E.Low;
      M.High = E.High;
    }
    return M;
  }
  M.Device = E.Gpu->Device;
  M.Basis = Basis::Measured;
  if (E.Gpu->Total) {
    M.Low = E.Gpu->Total->Low;
    M.High = E.Gpu->Total->High;
  }
  if (E.Gpu->LastChecks)
    M.Others = E.Gpu->LastChecks->Others;
  M.Checks += E.Gpu->Compared;
  if (any_of(E.Gpu->Workloads, [](const GpuWorkload &W) { return W.GpuOnly; }))
    M.Gate = 0;
  return M;
}

Expected<std::optional<BuildProof>>
proveBuild(CandidateEvaluator &On, const SearchProblem &P, const Genome &G,
           Translation T, bool EvenSlower, std::string &Why) {
  Expected<Candidate> C = On.prepare(G, std::move(T));
  if (!C)
    return C.takeError();
  const CandidateRecord &R = C->Record;
  if (R.Outcome == CandidateOutcome::Unjudged)
    if (Error E = On.judgeToKeep(*C, EvenSlower))
      return std::move(E);
  if (R.Outcome != CandidateOutcome::Accepted &&
      !(EvenSlower && R.Outcome == CandidateOutcome::Slower)) {
    Why = (wordOf(R.Outcome) + ": " + reasonText(R)).str();
    return std::nullopt;
  }
  Expected<std::optional<Domain>> Where =
      On.domain(*C, R.Evidence->Gate, {}, {});
  if (!Where)
    return Where.takeError();
  if (!*Where) {
    Why = "no launch is left on which it may run";
    return std::nullopt;
  }
  return BuildProof{R.Ratio, measurementOf(*R.Evidence, R.Ratio, P),
                    std::move(**Where)};
}

} // namespace cupilot
