//===- BenchAnswers.cpp - What the bench's tools take and tell ------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/BenchAnswers.h"
#include "cupilot/Dialect/Conversion.h"
#include "cupilot/Evolution/Breeder.h"
#include "cupilot/Evolution/Handshake.h"
#include "cupilot/Evolution/KernelRevisor.h"
#include "cupilot/Evolution/StrategyLibrary.h"
#include "cupilot/Evolution/StrategyTranslator.h"
#include "cupilot/Model/DomainText.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/Json.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot {

Expected<SubmittedVariant> submittedIn(const json::Object &Arguments,
                                       const Kernel &K, StringRef Arch,
                                       ArrayRef<LibraryStrategy> Library) {
  // The original's launch, without a condition, is what texts mean that say
  // nothing.
  json::Object Answer{
      {"source", textIn(Arguments, "source")},
      {"plan",
       json::Object{{"launches", json::Array{json::Object{
                                     {"kernel", K.Symbol},
                                     {"grid", json::Array{"gx", "gy", "gz"}},
                                     {"block", json::Array{"bx", "by", "bz"}},
                                     {"shared", "shared"},
                                     {"cluster", json::Array{}}}}},
                    {"scratch", json::Array{}},
                    {"tensor_maps", json::Array{}}}},
      {"guard", json::Object{{"conditions", json::Array{}},
                             {"align", json::Array{}},
                             {"disjoint", json::Array{}}}},
      {"carried_out", json::Array{}},
      {"notes", textIn(Arguments, "notes")}};
  for (const char *Key : {"plan", "guard"})
    if (const json::Object *Given = Arguments.getObject(Key))
      Answer[Key] = json::Object(*Given);
  if (const json::Array *Strategies = Arguments.getArray("strategies"))
    Answer["carried_out"] = json::Array(*Strategies);
  DigestBuilder B;
  for (const char *Key : {"source", "plan", "guard", "carried_out"})
    B.add(formatv("{0}", *Answer.get(Key)).str());
  if (const json::Array *Numbers = Arguments.getArray("tunables");
      Numbers && !Library.empty()) {
    Answer["tunables"] = json::Array(*Numbers);
    B.add(formatv("{0}", *Answer.get("tunables")).str());
  }
  Expected<ModelTranslation> T =
      translationFrom(json::Value(std::move(Answer)), K, Arch, Library);
  if (!T)
    return T.takeError();
  SubmittedVariant S;
  S.Code = std::move(T->Code);
  S.Open = std::move(T->Open);
  S.CarriedOut = std::move(T->CarriedOut);
  S.Notes = std::move(T->Notes);
  S.Digest = B.str();
  return S;
}

Expected<SubmittedVariant> openSubmissionIn(const json::Object &Arguments,
                                            const Kernel &K, StringRef Arch,
                                            StringRef Strategies) {
  mlir::MLIRContext Context(mlir::MLIRContext::Threading::DISABLED);
  loadDialect(Context);
  Expected<mlir::OwningOpRef<mlir::ModuleOp>> Library =
      loadLibrary(Context, Strategies);
  if (!Library)
    return Library.takeError();
  // Whose parameter a number is, is named with it.
  json::Object Named = Arguments;
  json::Array Claimed;
  if (const json::Array *Given = Arguments.getArray("strategies"))
    Claimed = *Given;
  if (const json::Array *Numbers = Arguments.getArray("tunables"))
    for (const json::Value &Each : *Numbers)
      if (const json::Object *O = Each.getAsObject())
        Claimed.push_back(textIn(*O, "strategy"));
  Named["strategies"] = std::move(Claimed);
  return submittedIn(Named, K, Arch,
                     libraryStrategies((*Library)->getOperation()));
}

json::Array timesJson(ArrayRef<LaunchTimes> Times) {
  json::Array All;
  for (const LaunchTimes &T : Times)
    All.push_back(json::Object{{"workload", T.Workload},
                               {"original_us", numberJson(T.OriginalUs)},
                               {"variant_us", numberJson(T.VariantUs)}});
  return All;
}

void addVerdict(json::Object &O, const SearchProblem &P,
                const CandidateRecord &Record) {
  O["outcome"] = wordOf(Record.Outcome);
  if (std::string Why = reasonText(Record); !Why.empty())
    O["reason"] = json::fixUTF8(Why);
  if (!Record.Evidence)
    return;
  const GateVerdict &V = Record.Evidence->Gate;
  json::Array Findings;
  for (const GateFinding &F : V.Findings)
    Findings.push_back(json::Object{{"reason", wordOf(F.Reason)},
                                    {"workload", F.Workload},
                                    {"evidence", json::fixUTF8(F.Evidence)}});
  json::Object Gate{{"passed", V.Passed},
                    {"findings", std::move(Findings)},
                    {"checks", int64_t(V.Checks)},
                    {"kept_out_by_guard", int64_t(V.GuardMisses)},
                    {"skipped", int64_t(V.Skipped)},
                    {"max_error", numberJson(V.MaxError)},
                    {"original_error", numberJson(V.OriginalError)}};
  if (V.Where)
    Gate["domain"] = domainText(*V.Where, launchNames(P.K));
  json::Array Ends;
  for (const DomainEnd &End : V.Ends)
    Ends.push_back(json::Object{{"case", End.Case},
                                {"reason", wordOf(End.Reason)},
                                {"evidence", json::fixUTF8(End.Evidence)}});
  if (!Ends.empty())
    Gate["beyond_domain"] = std::move(Ends);
  if (!V.Outside.empty())
    Gate["outside_domain"] = json::Array(V.Outside);
  O["gate"] = std::move(Gate);
  if (Record.Ratio > 0) {
    O["ratio"] = Record.Ratio;
    O["basis"] =
        wordOf(Record.Evidence->Gpu ? Basis::Measured : Basis::Modelled);
    if (Record.Evidence->High > 0) {
      O["low"] = Record.Evidence->Low;
      O["high"] = Record.Evidence->High;
    }
  }
  json::Array Times = timesJson(Record.Evidence->times());
  if (!Times.empty())
    O["times"] = std::move(Times);
}

json::Object resourcesJson(const SearchProblem &P, const Candidate &C) {
  json::Object All;
  for (const auto &[Symbol, Needs] : resourcesOf(P, C))
    All[Symbol] = toJSON(Needs);
  return All;
}

json::Object compiledJson(const SearchProblem &P, const Candidate &C) {
  json::Object O{{"compiles", C.Record.Outcome == CandidateOutcome::Unjudged},
                 {"quick", true}};
  addVerdict(O, P, C.Record);
  if (C.Record.Outcome != CandidateOutcome::Unjudged)
    return O;
  O["outcome"] = "compiles";
  O["resources"] = resourcesJson(P, C);
  const PtxFacts Facts = ptxFacts(C.Ptx);
  O["code"] = json::Object{
      {"instructions", int64_t(Facts.Instructions)},
      {"backward_branches", int64_t(Facts.BackwardBranches)},
      {"widest_global_access_bytes", int64_t(Facts.WidestAccess)},
      {"shared_memory", Facts.Shared},
      {"tensor_cores", Facts.has("mma.sync") || Facts.has("mma_async")},
      {"cluster_blocks", int64_t(Facts.ClusterBlocks)}};
  return O;
}

void markQuick(json::Object &O, CandidateOutcome Outcome) {
  O["quick"] = true;
  O["note"] = "a quick verdict: the recorded launches and a few others. It "
              "proves nothing and nothing of it is kept; 'submit' decides";
  if (Outcome == CandidateOutcome::Accepted ||
      Outcome == CandidateOutcome::Passed)
    O["outcome"] = "nothing found";
}

json::Object adviceJson(const KernelAdvice &A) {
  json::Array Metrics;
  for (const KernelMetric &M : A.Metrics)
    Metrics.push_back(json::Object{
        {"name", M.Name}, {"value", M.Value}, {"source", M.Source}});
  json::Object O{{"facts", textFacts(A.sentences())},
                 {"metrics", std::move(Metrics)},
                 {"sample", A.Sample}};
  if (A.Class)
    O["class"] = toString(*A.Class);
  return O;
}

json::Object countersJson(ArrayRef<LaunchProfiles> Profiles) {
  json::Object Counters;
  for (const LaunchProfiles &Each : Profiles)
    for (const auto &[Workload, M] : Each) {
      json::Object Row{{"microseconds", M.Microseconds}};
      for (const auto &[Name, Value] : M.Metrics)
        Row[Name] = numberJson(Value);
      if (M.Metrics.empty())
        Row["why_none"] = json::fixUTF8(M.NoMetrics);
      Counters[Workload] = std::move(Row);
    }
  return Counters;
}

json::Object variantJson(StringRef Name, const Translation &Code,
                         const Kernel &K) {
  json::Object O{{"name", Name.str()},
                 {"kernel", json::fixUTF8(K.Name)},
                 {"source", json::fixUTF8(Code.Source)},
                 {"guard_text", guardText(Code.When, launchNames(K))},
                 {"architecture", Code.When.Arch}};
  if (std::optional<json::Object> Plan = planAnswer(Code.Plan, K))
    O["plan"] = std::move(*Plan);
  if (std::optional<json::Object> When = guardAnswer(Code.When, K))
    O["guard"] = std::move(*When);
  return O;
}

} // namespace cupilot
