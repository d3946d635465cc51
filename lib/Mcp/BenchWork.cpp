//===- BenchWork.cpp - What a worker does -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Driver/SharedFolder.h"
#include "cupilot/Driver/Submit.h"
#include "cupilot/Evolution/Advice.h"
#include "cupilot/Evolution/BenchAnswers.h"
#include "cupilot/Evolution/GpuStepJudge.h"
#include "cupilot/Evolution/Handshake.h"
#include "cupilot/Evolution/Search.h"
#include "cupilot/Evolution/Seeds.h"
#include "cupilot/Evolution/StrategyTranslator.h"
#include "cupilot/Mcp/Bench.h"
#include "cupilot/Model/DomainText.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Retrieval/Embedding.h"
#include "cupilot/Support/Json.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>

using namespace llvm;

namespace cupilot {

static constexpr StringRef RunningOriginal = "running the original";

namespace {
/// One piece of work on a kernel.
class BenchWork {
public:
  BenchWork(const EvolveRequest &R, const WorkloadSet &Recorded, BenchKernel &K,
            const WorkRequest &W, raw_ostream &Log, GpuMeter &Meter)
      : R(R), Recorded(Recorded), Of(K), P(K.Problem), W(W), Log(Log),
        Meter(Meter) {}
  Expected<json::Object> run();
  /// Null: nothing ran the original.
  const CandidateEvaluator *evaluator() const { return E; }
  /// How long that took; 0: it was there.
  double readySeconds() const {
    return Phases.getNumber(RunningOriginal).value_or(0);
  }

private:
  Expected<json::Object> runTool();
  Expected<json::Object> compile();
  Expected<json::Object> judge();
  Expected<json::Object> time();
  Expected<json::Object> profile();
  Expected<json::Object> similar();
  Expected<json::Object> tune();
  Expected<json::Object> submit();
  Error begin();
  Error read();
  Error prepare();
  Error onGpu(function_ref<Error()> Ask);
  Expected<std::unique_ptr<GpuStepJudge>> gpu();
  json::Object sweepJson(const SearchResult &Found);
  Error openJournal();

  /// Notes how long a phase took, under its name.
  Error inPhase(StringRef Name, function_ref<Error()> Do);

  const EvolveRequest &R;
  const WorkloadSet &Recorded;
  BenchKernel &Of;
  const SearchProblem &P;
  const WorkRequest &W;
  raw_ostream &Log;
  GpuMeter &Meter;
  std::unique_ptr<CandidateEvaluator> Own;
  CandidateEvaluator *E = nullptr;
  std::optional<Journal> J;
  std::optional<SubmittedVariant> S;
  Candidate C;
  json::Object Phases;
};
} // namespace

Error BenchWork::inPhase(StringRef Name, function_ref<Error()> Do) {
  const auto Begin = std::chrono::steady_clock::now();
  Log << Name << "\n";
  Error Failure = Do();
  Phases[Name] = secondsSince(Begin);
  return Failure;
}

/// Runs the original on the recorded launches.
Error BenchWork::begin() {
  E = Of.Evaluator.get();
  if (E)
    return Error::success();
  if (Error Failure = inPhase(RunningOriginal, [&] {
        return CandidateEvaluator::create(P).moveInto(Own);
      }))
    return Failure;
  E = Own.get();
  return Error::success();
}

Error BenchWork::read() {
  const std::string Strategies = R.Strategies.empty()
                                     ? sharedFile("strategies", "strategies")
                                     : R.Strategies;
  return (W.Tool == Tool::Tune
              ? openSubmissionIn(W.Arguments, P.K, P.Arch, Strategies)
              : submittedIn(W.Arguments, P.K, P.Arch))
      .moveInto(S);
}

/// Compiles the text.
Error BenchWork::prepare() {
  if (Error Failure = read())
    return Failure;
  return inPhase("compiling", [&] {
    return E->prepare(submissionOf(S->Digest), S->Code).moveInto(C);
  });
}

Error BenchWork::openJournal() {
  Expected<Journal> Opened = Journal::open(Journal::pathIn(R.Store));
  if (!Opened)
    return Opened.takeError();
  J.emplace(std::move(*Opened));
  return Error::success();
}

Error BenchWork::onGpu(function_ref<Error()> Ask) {
  Meter.begin();
  Error Failure = inPhase("asking the GPU", Ask);
  Meter.end();
  return Failure;
}

Expected<std::unique_ptr<GpuStepJudge>> BenchWork::gpu() {
  if (Error Failure = openJournal())
    return std::move(Failure);
  // Work that is gone on with finds its batches.
  DigestBuilder B;
  B.add("mcp").add(wordOf(W.Tool)).add(P.K.Digest).add(P.Arch);
  B.add(S ? StringRef(S->Digest) : StringRef()).add(uint64_t(W.Time));
  GpuPatience Patience;
  Patience.Wait = true;
  return GpuStepJudge::create(P, *E, *J, B.str(), R.Device, Patience);
}

Expected<json::Object> BenchWork::compile() {
  if (Error Failure = read())
    return std::move(Failure);
  TextCompiler Compiler(P.Compilation);
  if (Error Failure = inPhase("compiling", [&] {
        return compileCandidate(P, Of.Code, Compiler, submissionOf(S->Digest),
                                S->Code)
            .moveInto(C);
      }))
    return std::move(Failure);
  return compiledJson(P, C);
}

Expected<json::Object> BenchWork::judge() {
  const bool Whole = textIn(W.Arguments, "depth") == "whole";
  if (Error Failure = begin())
    return std::move(Failure);
  if (Error Failure = prepare())
    return std::move(Failure);
  json::Object O;
  if (C.Record.Outcome == CandidateOutcome::Unjudged) {
    if (Error Failure = inPhase("judging", [&] {
          return Whole ? E->judgeToKeep(C, /*EvenSlower=*/true)
                       : E->judgeQuickly(C);
        }))
      return std::move(Failure);
    O["resources"] = resourcesJson(P, C);
  }
  addVerdict(O, P, C.Record);
  O["quick"] = false;
  if (!Whole)
    markQuick(O, C.Record.Outcome);
  return O;
}

Expected<json::Object> BenchWork::time() {
  if (Error Failure = begin())
    return std::move(Failure);
  if (Error Failure = prepare())
    return std::move(Failure);
  if (C.Record.Outcome == CandidateOutcome::Unjudged) {
    if (Error Failure = inPhase("judging", [&] { return E->judgeQuickly(C); }))
      return std::move(Failure);
  }
  if (C.Record.Outcome == CandidateOutcome::Passed && P.OnGpu) {
    Expected<std::unique_ptr<GpuStepJudge>> Gpu = gpu();
    if (!Gpu)
      return Gpu.takeError();
    std::vector<WaitingCandidate> Asked;
    Asked.push_back({C.Record, C});
    if (Error Failure = onGpu([&] { return (*Gpu)->judge("time", Asked); }))
      return std::move(Failure);
    C.Record = std::move(Asked.front().Record);
  }
  json::Object O;
  addVerdict(O, P, C.Record);
  markQuick(O, C.Record.Outcome);
  return O;
}

Expected<json::Object> BenchWork::profile() {
  if (Error Failure = begin())
    return std::move(Failure);
  Ceilings Limits = ceilingsOf(P.Gpu);
  Expected<KernelAdvice> Advice = adviseOn(P, *E, Limits);
  if (!Advice)
    return Advice.takeError();
  const bool OfVariant = W.Arguments.get("source") != nullptr;
  if (OfVariant) {
    if (Error Failure = prepare())
      return std::move(Failure);
    if (C.Record.Outcome == CandidateOutcome::Unjudged)
      if (Error Failure =
              inPhase("judging", [&] { return E->judgeQuickly(C); }))
        return std::move(Failure);
  }
  json::Object O;
  std::unique_ptr<GpuStepJudge> Gpu;
  if (P.OnGpu) {
    if (Error Failure = gpu().moveInto(Gpu))
      return std::move(Failure);
    GpuOriginalFigures Measured;
    if (Error Failure =
            onGpu([&] { return Gpu->originalFigures().moveInto(Measured); }))
      return std::move(Failure);
    Limits = Measured.Limits;
    addMeasurement(*Advice, P, *E, Limits, Measured.Times, Measured.Profile);
  }
  O["original"] = adviceJson(*Advice);
  O["basis"] = wordOf(P.OnGpu ? Basis::Measured : Basis::Modelled);
  O["quick"] = true;
  O["outcome"] = "profiled";
  if (!OfVariant)
    return O;
  addVerdict(O, P, C.Record);
  markQuick(O, C.Record.Outcome);
  if (!C.Record.Evidence || !C.Record.Evidence->Gate.Passed)
    return O;
  O["variant"] = textFacts(profileOf(C.Record, P, *E, *Advice));
  if (!Gpu)
    return O;
  std::vector<WaitingCandidate> Asked;
  Asked.push_back({C.Record, C});
  std::vector<LaunchProfiles> Profiles;
  if (Error Failure = onGpu([&] {
        return Gpu->profile("profile", Asked, Advice->Class).moveInto(Profiles);
      }))
    return std::move(Failure);
  O["counters"] = countersJson(Profiles);
  return O;
}

Expected<json::Object> BenchWork::similar() {
  Expected<KernelEmbedder> Embedder = KernelEmbedder::load(
      sharedFile("retrieval/vocabulary.json", "lib/Retrieval/vocabulary.json"));
  if (!Embedder)
    return Embedder.takeError();
  std::vector<std::string> Roots = storesNamed("examples");
  Roots.push_back(R.Store);
  Expected<std::vector<SeedGenome>> Seeds =
      seedGenomes(P.K, Roots, *Embedder, P.Arch, P.Flags, /*Count=*/3);
  if (!Seeds)
    return Seeds.takeError();
  json::Array Examples;
  for (const SeedGenome &Seed : *Seeds)
    Examples.push_back(json::Object{{"kernel", json::fixUTF8(Seed.Kernel)},
                                    {"similarity", Seed.Similarity},
                                    {"genome", Seed.Genome},
                                    {"ratio", Seed.Ratio},
                                    {"provenance", Seed.Provenance},
                                    {"source", json::fixUTF8(Seed.Source)}});
  return json::Object{
      {"examples", std::move(Examples)}, {"outcome", "found"}, {"quick", true}};
}

/// A search with one candidate whose numbers are open: it is judged, and other
/// settings of it are tried. None is kept.
Expected<json::Object> BenchWork::tune() {
  if (Error Failure = read())
    return std::move(Failure);
  if (Error Failure = openJournal())
    return std::move(Failure);
  SearchOptions O;
  O.Population = O.Generations = 1;
  O.Keep = 0;
  O.Tune = unsigned(W.Arguments.getInteger("settings").value_or(UsualTune));
  O.Resume = true;
  O.Jobs = R.Jobs;
  O.Strategies = R.Strategies.empty() ? sharedFile("strategies", "strategies")
                                      : R.Strategies;
  O.Store = R.Store;
  O.Device = R.Device;
  O.Patience.Wait = true;
  O.Patience.Tell = [&](const Twine &Text) { Log << Text << "\n"; };
  O.Submitted = &*S;
  O.Progress = [&](unsigned, const CandidateRecord &Of, double Best) {
    Log << Of.Genome << ": " << wordOf(Of.Outcome) << "\n";
  };
  // How much of it is the GPU's, nobody tells: all counts.
  if (P.OnGpu)
    Meter.begin();
  Expected<SearchResult> Found = search(P, O, *J);
  if (P.OnGpu)
    Meter.end();
  if (!Found)
    return Found.takeError();
  return sweepJson(*Found);
}

/// The text as it is, and the settings that were tried.
json::Object BenchWork::sweepJson(const SearchResult &Found) {
  json::Array Rows;
  const CandidateRecord *Best = nullptr;
  for (const CandidateRecord &Each : Found.All) {
    json::Object Row{{"setting", ""},
                     {"name", variantName(Each)},
                     {"outcome", wordOf(Each.Outcome)}};
    if (Each.Open)
      Row["setting"] =
          settingText(Each.Open->Numbers, presentSetting(Each.Open->Numbers));
    if (std::string Why = reasonText(Each); !Why.empty())
      Row["reason"] = json::fixUTF8(Why);
    if (Each.Ratio > 0)
      Row["ratio"] = Each.Ratio;
    Rows.push_back(std::move(Row));
    const bool IsRight = Each.Outcome == CandidateOutcome::Accepted ||
                         Each.Outcome == CandidateOutcome::Slower;
    if (IsRight && Each.Code && (!Best || Each.Ratio > Best->Ratio))
      Best = &Each;
  }
  json::Object O{{"quick", false},
                 {"kept", false},
                 {"basis", wordOf(P.OnGpu ? Basis::Measured : Basis::Modelled)},
                 {"settings", std::move(Rows)}};
  if (!Best) {
    if (!Found.All.empty())
      addVerdict(O, P, Found.All.front());
    return O;
  }
  addVerdict(O, P, *Best);
  O["best"] = variantJson(variantName(*Best), *Best->Code, P.K);
  if (Best->Open)
    O["setting"] =
        settingText(Best->Open->Numbers, presentSetting(Best->Open->Numbers));
  return O;
}

Expected<json::Object> BenchWork::submit() {
  if (Error Failure = read())
    return std::move(Failure);
  S->By = {W.Client, W.Model, ""};
  EvolveRequest Request = R;
  Request.LockWait = std::chrono::minutes(30);
  // How much of it is the GPU's, nobody tells: all counts.
  if (P.OnGpu)
    Meter.begin();
  Expected<Submission> Made =
      submitVariant(Request, Recorded, *Of.Item, *S, Log);
  if (P.OnGpu)
    Meter.end();
  if (!Made)
    return Made.takeError();
  json::Object O{{"quick", false}, {"kept", Made->IsKept}};
  if (!Made->Judged) {
    O["outcome"] = "left out";
    O["reason"] = json::fixUTF8(Made->Row.Why);
    return O;
  }
  C.Record = std::move(*Made->Judged);
  addVerdict(O, P, C.Record);
  O["variant"] = variantName(C.Record);
  O["genome"] = json::fixUTF8(C.Record.Carried.empty() ? "no strategy"
                                                       : C.Record.Carried);
  if (!Made->IsKept && C.Record.Outcome == CandidateOutcome::Accepted)
    O["reason"] = "no launch is left on which it may run";
  return O;
}

Expected<json::Object> BenchWork::run() {
  Expected<json::Object> Made = runTool();
  if (Made && !Phases.empty())
    (*Made)["phases"] = json::Object(Phases);
  return Made;
}

Expected<json::Object> BenchWork::runTool() {
  switch (W.Tool) {
  case Tool::Compile:
    return compile();
  case Tool::Judge:
    return judge();
  case Tool::Time:
    return time();
  case Tool::Profile:
    return profile();
  case Tool::Knowledge:
    return similar();
  case Tool::Tune:
    return tune();
  case Tool::Submit:
    return submit();
  default:
    return usageError("'" + wordOf(W.Tool) + "' does no work");
  }
}

void Bench::noteFacts(const SearchProblem &P, const CandidateEvaluator &E,
                      double ReadySeconds) const {
  const Ceilings Limits = ceilingsOf(P.Gpu);
  Expected<KernelAdvice> A = adviseOn(P, E, Limits);
  if (!A) {
    consumeError(A.takeError());
    return;
  }
  json::Object O{{"identity", P.K.Digest}, {"basis", wordOf(Basis::Modelled)}};
  if (ReadySeconds > 0)
    O["ready_seconds"] = ReadySeconds;
  if (A->OriginalUs > 0)
    O["us"] = A->OriginalUs;
  if (A->FloorUs > 0) {
    O["ceiling_us"] = A->FloorUs;
    if (A->OriginalUs > 0)
      O["distance"] = A->OriginalUs / A->FloorUs;
  }
  if (A->Class)
    O["class"] = toString(*A->Class);
  consumeError(updateFile(factsPath(P.K.Symbol),
                          formatv("{0:2}\n", json::Value(std::move(O))).str()));
}

Expected<json::Object> Bench::work(const WorkRequest &W, raw_ostream &Log,
                                   GpuMeter &Meter) {
  Expected<BenchKernel *> K = kernel(W.Symbol);
  if (!K)
    return K.takeError();
  if ((*K)->Problem.K.Digest != W.Identity)
    return findingError("'" + W.Kernel +
                            "' is another kernel than when this "
                            "was asked for: its source has changed",
                        "call the tool again");
  BenchWork Work(R, *Recorded, **K, W, Log, Meter);
  Expected<json::Object> Result = Work.run();
  if (Result && W.Tool == Tool::Time)
    if (std::optional<json::Object> Best = best(W.Symbol, W.Identity))
      (*Result)["best"] = std::move(*Best);
  if (Result && Work.readySeconds() > 0)
    noteFacts((*K)->Problem, *Work.evaluator(), Work.readySeconds());
  return Result;
}

} // namespace cupilot
