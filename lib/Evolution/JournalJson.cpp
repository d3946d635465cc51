//===- JournalJson.cpp - What the journal holds as JSON -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JournalJson.h"
#include "cupilot/Support/Json.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot {

static std::string print(json::Value V) { return formatv("{0}", V).str(); }

static std::optional<json::Value> parse(StringRef Text) {
  Expected<json::Value> V = json::parse(Text);
  if (V)
    return std::move(*V);
  consumeError(V.takeError());
  return std::nullopt;
}

static unsigned count(const json::Object &O, StringRef Key) {
  return unsigned(O.getInteger(Key).value_or(0));
}

static json::Array textsJson(ArrayRef<std::string> Texts) {
  json::Array List;
  for (const std::string &Text : Texts)
    List.push_back(json::fixUTF8(Text));
  return List;
}

/// Calls \p Each for the objects of the list \p Key.
static void forEach(const json::Object &O, StringRef Key,
                    function_ref<void(const json::Object &)> Each) {
  if (const json::Array *List = O.getArray(Key))
    for (const json::Value &V : *List)
      if (const json::Object *Item = V.getAsObject())
        Each(*Item);
}

static std::vector<std::string> texts(const json::Object &O, StringRef Key) {
  std::vector<std::string> All;
  if (const json::Array *List = O.getArray(Key))
    for (const json::Value &V : *List)
      if (std::optional<StringRef> Text = V.getAsString())
        All.push_back(Text->str());
  return All;
}

std::string planText(const LaunchPlan &Plan) { return print(toJSON(Plan)); }
std::string guardText(const Guard &When) { return print(toJSON(When)); }

std::optional<Translation> readCode(StringRef Source, StringRef Plan,
                                    StringRef Guard, StringRef Language) {
  Translation T;
  T.Source = Source.str();
  std::optional<SourceLanguage> Written =
      Language.empty() ? SourceLanguage::Cuda : sourceLanguage(Language);
  if (!Written)
    return std::nullopt;
  T.Language = *Written;
  json::Path::Root Root;
  std::optional<json::Value> PlanJson = parse(Plan), GuardJson = parse(Guard);
  if (!PlanJson || !GuardJson || !fromJSON(*PlanJson, T.Plan, Root) ||
      !fromJSON(*GuardJson, T.When, Root))
    return std::nullopt;
  return T;
}

//===----------------------------------------------------------------------===//
// What a GPU says
//===----------------------------------------------------------------------===//

static json::Object toJSON(const GpuWorkload &W) {
  json::Object O{{"workload", W.Workload},
                 {"call", W.Call ? runner::wordOf(*W.Call) : std::string()},
                 {"ratio", numberJson(W.Ratio.Ratio)},
                 {"low", numberJson(W.Ratio.Low)},
                 {"high", numberJson(W.Ratio.High)},
                 {"original_us", W.OriginalUs},
                 {"variant_us", W.VariantUs}};
  if (W.GpuOnly)
    O["gpu_only"] = true;
  if (W.Float64)
    O["float64"] = toJSON(*W.Float64);
  if (W.Recorded)
    O["recorded"] = *W.Recorded;
  return O;
}

static GpuRatio ratioOf(const json::Object &O) {
  return {numberIn(O, "ratio"), numberIn(O, "low"), numberIn(O, "high")};
}

static GpuWorkload readGpuWorkload(const json::Object &O) {
  GpuWorkload W;
  W.Workload = textIn(O, "workload");
  W.Call = runner::callNamed(textIn(O, "call"));
  W.Ratio = ratioOf(O);
  W.OriginalUs = numberIn(O, "original_us");
  W.VariantUs = numberIn(O, "variant_us");
  // Format 1 has the other word.
  W.GpuOnly = O.getBoolean("gpu_only").value_or(false) ||
              O.getBoolean("card_only").value_or(false);
  if (const json::Object *F = O.getObject("float64"))
    W.Float64 = referenceVerdictFrom(*F);
  W.Recorded = O.getBoolean("recorded");
  return W;
}

static json::Object toJSON(const GpuVerdict &G) {
  json::Array Workloads;
  for (const GpuWorkload &W : G.Workloads)
    Workloads.push_back(toJSON(W));
  json::Object O{{"device", G.Device},
                 {"ceilings", G.Ceilings},
                 {"compared", G.Compared},
                 {"float64", G.AgainstFloat64},
                 {"workloads", std::move(Workloads)}};
  if (G.Total) {
    O["ratio"] = numberJson(G.Total->Ratio);
    O["low"] = numberJson(G.Total->Low);
    O["high"] = numberJson(G.Total->High);
  }
  if (G.LastChecks) {
    json::Object Sanitizer, Classes;
    for (const auto &[Workload, S] : G.LastChecks->Sanitizer) {
      json::Object Tools;
      for (const auto &[Tool, Word] : S.Tools)
        Tools[Tool] = Word;
      Sanitizer[Workload] = S.NoAnswer ? json::Value(json::fixUTF8(*S.NoAnswer))
                                       : json::Value(std::move(Tools));
    }
    for (const auto &[Workload, Class] : G.LastChecks->Classes)
      Classes[Workload] = Class;
    O["sanitizer"] = std::move(Sanitizer);
    O["class"] = std::move(Classes);
    json::Array Large;
    for (const ComparedLaunch &L : G.LastChecks->Large)
      Large.push_back(json::Object{{"launch", L.Launch},
                                   {"case", L.Case},
                                   {"right", L.Right},
                                   {"evidence", json::fixUTF8(L.Evidence)}});
    if (!Large.empty())
      O["large"] = std::move(Large);
    if (const auto &Others = G.LastChecks->Others)
      O["other_values"] = json::Object{{"kind", Others->Kind},
                                       {"ratio", numberJson(Others->Ratio)},
                                       {"low", numberJson(Others->Low)},
                                       {"high", numberJson(Others->High)}};
    if (!G.LastChecks->Rejected.empty())
      O["rejected"] = json::fixUTF8(G.LastChecks->Rejected);
  }
  return O;
}

static GpuVerdict readGpuVerdict(const json::Object &O) {
  GpuVerdict G;
  G.Device = textIn(O, "device");
  G.Ceilings = textIn(O, "ceilings");
  G.Compared = count(O, "compared");
  G.AgainstFloat64 = count(O, "float64");
  forEach(O, "workloads", [&](const json::Object &W) {
    G.Workloads.push_back(readGpuWorkload(W));
  });
  if (O.get("ratio"))
    G.Total = ratioOf(O);
  if (const json::Object *Sanitizer = O.getObject("sanitizer")) {
    G.LastChecks.emplace();
    for (const auto &[Workload, V] : *Sanitizer) {
      SanitizerVerdict &S = G.LastChecks->Sanitizer[Workload.str()];
      S.NoAnswer = V.getAsString();
      if (const json::Object *Tools = V.getAsObject())
        for (const auto &[Tool, Word] : *Tools)
          S.Tools[Tool.str()] = Word.getAsString().value_or("").str();
    }
    if (const json::Object *Classes = O.getObject("class"))
      for (const auto &[Workload, Class] : *Classes)
        G.LastChecks->Classes[Workload.str()] =
            Class.getAsString().value_or("").str();
    forEach(O, "large", [&](const json::Object &L) {
      G.LastChecks->Large.push_back({textIn(L, "launch"), textIn(L, "case"),
                                     L.getBoolean("right").value_or(false),
                                     textIn(L, "evidence")});
    });
    if (const json::Object *Others = O.getObject("other_values")) {
      const GpuRatio Ratio = ratioOf(*Others);
      G.LastChecks->Others = {textIn(*Others, "kind"), Ratio.Ratio, Ratio.Low,
                              Ratio.High};
    }
    G.LastChecks->Rejected = textIn(O, "rejected");
  }
  return G;
}

//===----------------------------------------------------------------------===//
// Evidence
//===----------------------------------------------------------------------===//

std::string evidenceText(const CandidateEvidence &E) {
  json::Object O = toJSON(E.Gate);
  O["canonical"] = E.Canonical;
  json::Array Work;
  for (const std::optional<ExecutionCounts> &Counts : E.Work)
    Work.push_back(Counts ? json::Value(toJSON(*Counts)) : nullptr);
  O["work"] = std::move(Work);
  if (!E.Modelled.empty()) {
    json::Array Modelled;
    for (const LaunchTimes &T : E.Modelled)
      Modelled.push_back(json::Object{{"workload", T.Workload},
                                      {"original_us", T.OriginalUs},
                                      {"variant_us", T.VariantUs}});
    O["modelled"] = std::move(Modelled);
  }
  if (E.High > 0)
    O["interval"] = json::Array{E.Low, E.High};
  if (E.Gpu)
    O["gpu"] = toJSON(*E.Gpu);
  if (!E.Resources.empty()) {
    json::Object Resources;
    for (const auto &[Symbol, R] : E.Resources)
      Resources[Symbol] = toJSON(R);
    O["ptxas"] = std::move(Resources);
  }
  return print(std::move(O));
}

std::optional<CandidateEvidence> readEvidence(StringRef Text) {
  std::optional<json::Value> V = parse(Text);
  const json::Object *O = V ? V->getAsObject() : nullptr;
  CandidateEvidence E;
  json::Path::Root Root;
  if (!O || !fromJSON(*O, E.Gate))
    return std::nullopt;
  E.Canonical = textIn(*O, "canonical");
  if (const json::Array *Work = O->getArray("work"))
    for (const json::Value &Each : *Work) {
      ExecutionCounts Counts;
      bool Known = Each.getAsObject() && fromJSON(Each, Counts, Root);
      E.Work.push_back(Known ? std::optional(Counts) : std::nullopt);
    }
  forEach(*O, "modelled", [&](const json::Object &T) {
    E.Modelled.push_back({textIn(T, "workload"), numberIn(T, "original_us"),
                          numberIn(T, "variant_us")});
  });
  if (const json::Array *Ends = O->getArray("interval");
      Ends && Ends->size() == 2) {
    E.Low = Ends->front().getAsNumber().value_or(0);
    E.High = Ends->back().getAsNumber().value_or(0);
  }
  for (StringRef Key : {"gpu", "card"}) // Format 1 has the latter.
    if (const json::Object *Gpu = O->getObject(Key))
      E.Gpu = readGpuVerdict(*Gpu);
  if (const json::Object *Resources = O->getObject("ptxas"))
    for (const auto &[Symbol, V] : *Resources)
      if (KernelResources R; fromJSON(V, R, Root))
        E.Resources[Symbol.str()] = R;
  return E;
}

//===----------------------------------------------------------------------===//
// Calls and stages
//===----------------------------------------------------------------------===//

static json::Object toJSON(const ModelCall &C) {
  return json::Object{{"step", C.Step},
                      {"prompt", json::fixUTF8(C.Prompt)},
                      {"request", C.Request},
                      {"answer", C.Answer},
                      {"provider", json::fixUTF8(C.Provider)},
                      {"model", json::fixUTF8(C.Model)},
                      {"prompt_tokens", C.PromptTokens},
                      {"answer_tokens", C.AnswerTokens},
                      {"cost", C.Cost},
                      {"seconds", C.Seconds}};
}

static ModelCall callFrom(const json::Object &O) {
  return {textIn(O, "step"),
          textIn(O, "prompt"),
          textIn(O, "request"),
          textIn(O, "answer"),
          textIn(O, "provider"),
          textIn(O, "model"),
          uint64_t(O.getInteger("prompt_tokens").value_or(0)),
          uint64_t(O.getInteger("answer_tokens").value_or(0)),
          numberIn(O, "cost"),
          numberIn(O, "seconds")};
}

std::string callText(const ModelCall &C) { return print(toJSON(C)); }

std::optional<ModelCall> readCall(StringRef Text) {
  std::optional<json::Value> V = parse(Text);
  if (!V || !V->getAsObject())
    return std::nullopt;
  return callFrom(*V->getAsObject());
}

std::string openText(const std::optional<TunableCode> &Code) {
  if (!Code)
    return "";
  json::Array Numbers;
  for (const Tunable &T : Code->Numbers)
    Numbers.push_back(json::Object{{"name", T.Name},
                                   {"strategy", T.Strategy},
                                   {"param", T.Param},
                                   {"values", json::Array(T.Values)},
                                   {"value", T.Value}});
  return print(json::Object{{"tunables", std::move(Numbers)},
                            {"source", json::fixUTF8(Code->Source)},
                            {"plan", Code->Plan},
                            {"guard", Code->Guard}});
}

std::optional<TunableCode> readOpen(StringRef Text) {
  std::optional<json::Value> V = parse(Text);
  if (!V || !V->getAsObject())
    return std::nullopt;
  const json::Object &O = *V->getAsObject();
  TunableCode Code{
      {}, textIn(O, "source"), textIn(O, "plan"), textIn(O, "guard")};
  forEach(O, "tunables", [&](const json::Object &From) {
    Tunable &T = Code.Numbers.emplace_back();
    T.Name = textIn(From, "name");
    T.Strategy = textIn(From, "strategy");
    T.Param = textIn(From, "param");
    T.Value = From.getInteger("value").value_or(0);
    if (const json::Array *Values = From.getArray("values"))
      for (const json::Value &Each : *Values)
        T.Values.push_back(Each.getAsInteger().value_or(0));
  });
  if (Code.Numbers.empty())
    return std::nullopt;
  return Code;
}

std::string historyText(const CandidateHistory &H) {
  json::Object O{{"parents", textsJson(H.Parents)}};
  if (!H.Reason.empty())
    O["reason"] = json::fixUTF8(H.Reason);
  json::Array Stages;
  for (const CandidateStage &S : H.Stages) {
    json::Array Calls, Denied;
    for (const ModelCall &C : S.Calls)
      Calls.push_back(toJSON(C));
    for (const DeniedGene &D : S.Denied)
      Denied.push_back(json::Object{{"gene", D.Gene}, {"why", D.Why}});
    json::Object Stage{{"stage", S.Name},
                       {"calls", std::move(Calls)},
                       {"denied", std::move(Denied)},
                       {"notes", json::fixUTF8(S.Notes)}};
    if (S.CarriedOut)
      Stage["carried_out"] = textsJson(*S.CarriedOut);
    if (!S.Trouble.empty())
      Stage["trouble"] = json::fixUTF8(S.Trouble);
    Stages.push_back(std::move(Stage));
  }
  if (!Stages.empty())
    O["stages"] = std::move(Stages);
  return print(std::move(O));
}

std::optional<CandidateHistory> readHistory(StringRef Text) {
  std::optional<json::Value> V = parse(Text);
  if (!V || !V->getAsObject())
    return std::nullopt;
  const json::Object &O = *V->getAsObject();
  CandidateHistory H;
  H.Parents = texts(O, "parents");
  H.Reason = textIn(O, "reason");
  forEach(O, "stages", [&](const json::Object &From) {
    CandidateStage &S = H.Stages.emplace_back();
    S.Name = textIn(From, "stage");
    forEach(From, "calls", [&](const json::Object &Call) {
      S.Calls.push_back(callFrom(Call));
    });
    forEach(From, "denied", [&](const json::Object &D) {
      S.Denied.push_back({textIn(D, "gene"), textIn(D, "why")});
    });
    S.Notes = textIn(From, "notes");
    if (From.getArray("carried_out"))
      S.CarriedOut = texts(From, "carried_out");
    S.Trouble = textIn(From, "trouble");
  });
  return H;
}

//===----------------------------------------------------------------------===//
// Findings
//===----------------------------------------------------------------------===//

static StringRef wordOf(FoundBy By) {
  switch (By) {
  case FoundBy::Gate:
    return "gate";
  case FoundBy::Gpu:
    return "gpu";
  case FoundBy::Sanitizer:
    return "sanitizer";
  }
  llvm_unreachable("no others find anything");
}

std::string findingText(const OutcomeReason &R) {
  if (!R.Found)
    return "";
  return print(json::Object{{"by", wordOf(R.By)},
                            {"reason", wordOf(*R.Found)},
                            {"workload", json::fixUTF8(R.Workload)},
                            {"evidence", json::fixUTF8(R.Text)}});
}

std::optional<OutcomeReason> readFinding(StringRef Text) {
  std::optional<json::Value> V = parse(Text);
  if (!V || !V->getAsObject())
    return std::nullopt;
  const json::Object &O = *V->getAsObject();
  OutcomeReason R;
  for (FoundBy By : {FoundBy::Gate, FoundBy::Gpu, FoundBy::Sanitizer})
    if (textIn(O, "by") == wordOf(By))
      R.By = By;
  R.Found = reasonOf(textIn(O, "reason"));
  R.Workload = textIn(O, "workload");
  R.Text = textIn(O, "evidence");
  if (!R.Found)
    return std::nullopt;
  return R;
}

void readOldFinding(StringRef Reason, CandidateRecord &R) {
  R.Reason = {Reason.str()};
  if (Reason.starts_with("identity: ")) {
    R.Outcome = CandidateOutcome::Unidentified;
    return;
  }
  if (Reason.consume_front("card (")) {
    auto [Workload, Text] = Reason.drop_back().split(": ");
    R.Reason = {Text.str(), FoundBy::Gpu, GateReason::Mismatch, Workload.str()};
    return;
  }
  if (Reason.consume_front("card: ")) {
    R.Reason = {Reason.str(), FoundBy::Gpu, GateReason::CannotRun};
    return;
  }
  if (R.Evidence && !R.Evidence->Gate.Findings.empty()) {
    const GateFinding &F = R.Evidence->Gate.Findings.front();
    R.Reason = {F.Evidence, FoundBy::Gate, F.Reason, F.Workload};
    return;
  }
  // Without a finding of its own: the guard kept out all that a GPU was asked.
  auto [Word, Text] = Reason.split(": ");
  R.Reason = {Text.str(), FoundBy::Gate,
              reasonOf(Word).value_or(GateReason::CannotRun)};
}

} // namespace cupilot
