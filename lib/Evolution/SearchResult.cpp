//===- SearchResult.cpp - What a search ends with -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RecordStory.h"
#include "SearchLoop.h"
#include "cupilot/Support/Digest.h"
#include "cupilot/Support/Error.h"

using namespace llvm;

namespace cupilot {

/// Whether the launches of \p R take hardly longer than the GPU's ceilings let
/// any launches with this work take.
bool SearchLoop::atCeiling(const CandidateRecord &R) const {
  if (!(Options.Within > 0) || !(Advice.FloorUs > 0) || R.Outcome != "accepted")
    return false;
  Expected<json::Value> Evidence = json::parse(R.Evidence);
  if (!Evidence) {
    consumeError(Evidence.takeError());
    return false;
  }
  const json::Object *O = Evidence->getAsObject();
  const json::Object *OnGpu = O ? O->getObject("card") : nullptr;
  const json::Array *Times = OnGpu ? OnGpu->getArray("workloads")
                             : O   ? O->getArray("modelled")
                                   : nullptr;
  if (!Times || Times->size() != Problem.Workloads.size())
    return false;
  double Total = 0;
  for (auto [T, W] : zip_equal(*Times, Problem.Workloads))
    Total +=
        T.getAsObject()->getNumber("variant_us").value_or(0) * double(W.Count);
  return Total > 0 && Advice.FloorUs >= Total * (1 - Options.Within);
}

std::string variantName(const CandidateRecord &R) {
  return "v_" + shortDigest(digest(R.Genome), 8);
}

/// The evidence in the store's form. On a GPU with a launch that the cpu
/// device cannot run, no version of the gate was passed: it is 0.
static Measurement measurementOf(const json::Object &Evidence, double Ratio,
                                 const SearchProblem &P) {
  Measurement M{P.Gpu.Name,
                Basis::Modelled,
                Ratio,
                Ratio,
                Ratio,
                unsigned(GateVersion),
                unsigned(Evidence.getInteger("checks").value_or(0)),
                "clang-22",
                P.Arch,
                Evidence.getString("canonical").value_or("").str()};
  const json::Object *Gpu = Evidence.getObject("card");
  if (!Gpu)
    return M;
  M.Device = Gpu->getString("device").value_or("").str();
  M.Basis = Basis::Measured;
  M.Low = Gpu->getNumber("low").value_or(Ratio);
  M.High = Gpu->getNumber("high").value_or(Ratio);
  M.Checks += unsigned(Gpu->getInteger("compared").value_or(0));
  if (const json::Array *All = Gpu->getArray("workloads"))
    for (const json::Value &V : *All)
      if (V.getAsObject()->getBoolean("card_only").value_or(false))
        M.Gate = 0;
  return M;
}

Expected<SearchResult> SearchLoop::collect() {
  Expected<std::vector<CandidateRecord>> All = J.candidates(Run);
  if (!All)
    return All.takeError();
  SearchResult Result;
  Result.All = *All;
  Result.Run = Run;
  Result.Stopped = Stopped;
  Result.Strategies = {Class, Problem.Gpu.Name, Problem.K.Name, Run, {}};
  if (Breeding) // A budget may end before the first genome.
    Result.Strategies.Tallies = Breeding->own();
  Result.OverBudget = !OverBudget.empty();
  std::vector<CandidateRecord> Accepted;
  for (CandidateRecord &R : *All) {
    ++Result.Evaluated;
    Result.Refused += R.Outcome == "refused";
    Result.Duplicates += R.Outcome == "duplicate";
    Result.Rejected += R.Outcome == "gate" || R.Outcome == "inadmissible";
    if (R.Outcome == "accepted")
      Accepted.push_back(std::move(R));
  }
  llvm::sort(Accepted, [](const CandidateRecord &A, const CandidateRecord &B) {
    return std::pair(-A.Ratio, A.Genome) < std::pair(-B.Ratio, B.Genome);
  });
  if (Gpu)
    if (Error E = acceptOnGpu(Accepted, Result))
      return std::move(E);
  Accepted.resize(std::min<size_t>(Accepted.size(), Options.Keep));
  // Genomes and parents live in the population's last state or in its text.
  for (const CandidateRecord &R : Accepted) {
    Variant V;
    if (!parseGenome(R.Genome))
      return resourceError("the journal holds a genome that cannot be read: " +
                           R.Genome);
    V.Genes = carriedGenome(R);
    V.Name = variantName(R);
    json::Path::Root Root;
    LaunchPlan Plan;
    Guard When;
    Expected<json::Value> PlanJson = json::parse(R.Plan),
                          GuardJson = json::parse(R.Guard),
                          Evidence = json::parse(R.Evidence);
    if (!PlanJson || !GuardJson || !Evidence ||
        !fromJSON(*PlanJson, Plan, Root) || !fromJSON(*GuardJson, When, Root)) {
      for (auto *E : {&PlanJson, &GuardJson, &Evidence})
        if (!*E)
          consumeError(E->takeError());
      return resourceError("the journal holds a broken candidate: " + R.Genome);
    }
    V.Plan = Plan;
    V.When = When;
    V.Source = V.Name + ".cu";
    V.Digest = digest(R.Source);
    V.Fitness = R.Ratio;
    V.Outcome = R.Outcome;
    V.Prompts = promptsOf(R);
    V.By = authorOf(R);
    V.Evidence.push_back(
        measurementOf(*Evidence->getAsObject(), R.Ratio, Problem));
    Result.Variants.push_back(std::move(V));
    Result.Sources.push_back(R.Source);
  }
  return Result;
}

} // namespace cupilot
