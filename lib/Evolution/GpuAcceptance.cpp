//===- GpuAcceptance.cpp - The last checks of the best -------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuStepJudgement.h"
#include "cupilot/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot {

/// Tools that found something in \p Mine and nothing in \p Own, with the first
/// line of what they say; "" if none. With \p Clusters racecheck has no say: it
/// does not see what mbarriers of several blocks order
/// (benchmarks/runner/cluster-exchange.cu), which the gate's own check does.
static std::string foundAlone(const json::Object *Mine, const json::Object *Own,
                              bool Clusters) {
  const json::Object *Tools = Mine ? Mine->getObject("tools") : nullptr;
  const json::Object *OwnTools = Own ? Own->getObject("tools") : nullptr;
  if (!Tools)
    return "";
  for (const auto &[Tool, Value] : *Tools) {
    const json::Object *O = Value.getAsObject();
    if (!O || O->getString("outcome").value_or("") != "found" ||
        (Clusters && Tool == "racecheck"))
      continue;
    const json::Object *Its = OwnTools ? OwnTools->getObject(Tool) : nullptr;
    if (Its && Its->getString("outcome").value_or("") == "found")
      continue;
    std::string Line;
    if (const json::Array *Lines = O->getArray("lines"))
      if (!Lines->empty())
        Line = Lines->front().getAsString().value_or("").str();
    return (StringRef(Tool) + ": " + Line).str();
  }
  return "";
}

/// "clean", "found", ... of each tool, or why there is no answer.
static json::Value sanitized(const json::Object *R) {
  if (!R)
    return nullptr;
  const json::Object *Tools = R->getObject("tools");
  if (!Tools)
    return R->getString("reason").value_or("no answer");
  json::Object All;
  for (const auto &[Tool, Value] : *Tools)
    if (const json::Object *O = Value.getAsObject())
      All[Tool] = O->getString("outcome").value_or("");
  return All;
}

/// Keeps what the profiler said of the original, or of \p R.
void GpuStepJudgement::note(const CandidateRecord *R,
                            const json::Object &Evidence,
                            const json::Object &Results) {
  const std::string Id = R ? gpuIdOf(*R) : "o";
  Measured.Gpu = gpuName(Results);
  const json::Object *Gpu = Evidence.getObject("card");
  const json::Array *List = Gpu ? Gpu->getArray("workloads") : nullptr;
  if (!List)
    return;
  for (const json::Value &Each : *List) {
    const json::Object *O = Each.getAsObject();
    std::string Workload = O->getString("workload").value_or("").str();
    const json::Object *Profile =
        Results.getObject(Id + "-" + Workload + "-profile");
    MeasuredFile::Entry New;
    New.Kernel = P.K.Symbol;
    New.Workload = Workload;
    if (R)
      New.Variant = variantName(*R);
    New.Launch.Microseconds =
        O->getNumber(R ? "variant_us" : "original_us").value_or(0);
    if (!(New.Launch.Microseconds > 0))
      continue;
    if (Profile) {
      if (const json::Object *M = Profile->getObject("metrics"))
        for (const auto &[Key, Value] : *M)
          if (std::optional<double> Number = Value.getAsNumber())
            New.Launch.Metrics[Key.str()] = *Number;
      New.Launch.NoMetrics =
          Profile->getString("why_not")
              .value_or(Profile->getString("reason").value_or(""))
              .str();
    } else {
      New.Launch.NoMetrics = "not profiled";
    }
    Measured.Entries.push_back(std::move(New));
  }
}

Error GpuStepJudgement::accept(CandidateRecord &Record) {
  std::vector<WaitingCandidate> One(1);
  One.front().Record = Record;
  const std::string Id = gpuIdOf(Record);
  Expected<json::Object> Results = answers(
      finalStep(Record),
      [&](JudgementBatch &B) -> Error {
        if (Error Failure = prepare(One))
          return Failure;
        Expected<GpuCandidate> V = variantOf(One.front());
        if (!V)
          return V.takeError();
        if (Error Failure = B.addAcceptance(nullptr, "o"))
          return Failure;
        return B.addAcceptance(&*V, Id);
      },
      [](json::Object &, StringRef) { return Error::success(); });
  if (!Results)
    return Results.takeError();
  Expected<json::Value> Parsed = json::parse(Record.Evidence);
  if (!Parsed)
    return Parsed.takeError();
  json::Object &Evidence = *Parsed->getAsObject();
  Expected<json::Value> PlanJson = json::parse(Record.Plan);
  if (!PlanJson)
    return PlanJson.takeError();
  LaunchPlan Plan;
  json::Path::Root Root;
  // By the plan: words in a text are a model's to choose.
  const bool Clusters = fromJSON(*PlanJson, Plan, Root) &&
                        any_of(Plan.Launches, [](const Launch &L) {
                          return L.Cluster.has_value();
                        });
  json::Object Sanitizer, Classes;
  const Ceilings Limits = gpuCeilings(*Results, &P.Gpu);
  for (auto [I, W] : enumerate(P.Workloads)) {
    const json::Object *Mine =
        Results->getObject(Id + "-" + W.Name + "-sanitize");
    if (!Mine)
      continue;
    Sanitizer[W.Name] = sanitized(Mine);
    std::string Found =
        foundAlone(Mine, Results->getObject("o-" + W.Name + "-sanitize"),
                   Clusters && !E.gpuOnly()[I]);
    if (!Found.empty() && Record.Outcome == "accepted") {
      Record.Outcome = "gate";
      Record.Reason = "sanitizer (" + W.Name + "): " + Found;
    }
  }
  if (!OriginalNoted)
    note(nullptr, Evidence, *Results);
  OriginalNoted = true;
  if (Record.Outcome == "accepted")
    note(&Record, Evidence, *Results);
  for (const MeasuredFile::Entry &Entry : Measured.Entries)
    for (auto [I, W] : enumerate(P.Workloads)) {
      if (W.Name != Entry.Workload || Entry.Launch.Metrics.empty() ||
          (!Entry.Variant.empty() && Entry.Variant != variantName(Record)))
        continue;
      const ExecutionCounts *Own = E.originalCounts(I);
      std::optional<ExecutionCounts> Work =
          Entry.Variant.empty() ? (Own ? std::optional(*Own) : std::nullopt)
                                : workOf(Evidence, I);
      Opinion O = opinionOfMeasurement(
          Entry.Launch,
          timesAtCeilings(Limits, Work.value_or(ExecutionCounts())));
      if (O.Class)
        Classes[W.Name + (Entry.Variant.empty() ? " original" : "")] =
            toString(*O.Class);
    }
  if (json::Object *Gpu = Evidence.getObject("card")) {
    (*Gpu)["sanitizer"] = std::move(Sanitizer);
    (*Gpu)["class"] = std::move(Classes);
    if (Record.Outcome != "accepted")
      (*Gpu)["rejected"] = Record.Reason;
  }
  Record.Evidence = formatv("{0}", *Parsed).str();
  return Error::success();
}

} // namespace cupilot
