//===- GpuStepJudge.cpp - Candidates of a search on a GPU -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evolution/GpuStepJudge.h"
#include "cupilot/Dialect/Transforms/Genetics.h"
#include "cupilot/GpuJudge/JudgementBatch.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"
#include <thread>

using namespace llvm;

namespace cupilot {

GpuStepJudge::~GpuStepJudge() = default;

/// Requests are named after the genome: "c" and ten digits.
static std::string gpuIdOf(const CandidateRecord &R) {
  return "c" + shortDigest(digest(R.Genome), 10);
}

std::string GpuStepJudge::finalStep(const CandidateRecord &Record) {
  return "final-" + gpuIdOf(Record);
}

namespace {
/// By batches of one kernel.
class BatchJudge : public GpuStepJudge {
public:
  BatchJudge(const SearchProblem &Problem, CandidateEvaluator &Evaluator,
             Journal &Log, StringRef Run, std::unique_ptr<GpuDevice> Device,
             GpuPatience Patience)
      : Problem(Problem), Evaluator(Evaluator), Log(Log), Run(Run),
        Device(std::move(Device)), Patience(std::move(Patience)) {}
  bool mayScreen() const override { return Device->worksByItself(); }
  Error screen(StringRef Step,
               std::vector<WaitingCandidate> &Waiting) override {
    return compareAndTime(Step, Waiting, /*Screening=*/true);
  }
  Error judge(StringRef Step, std::vector<WaitingCandidate> &Waiting) override {
    return compareAndTime(Step, Waiting, /*Screening=*/false);
  }
  Expected<std::vector<GpuRank>>
  race(StringRef Step, std::vector<WaitingCandidate> &Waiting) override;
  Expected<GpuOriginalFigures> originalFigures() override;
  Expected<std::vector<LaunchProfiles>>
  profile(StringRef Step, std::vector<WaitingCandidate> &Best,
          std::optional<Bottleneck> Class) override;
  Error accept(CandidateRecord &Record) override;
  const MeasuredFile &measured() const override { return Measured; }

private:
  GpuOriginal original() const;
  Error prepare(MutableArrayRef<WaitingCandidate> Waiting) const;
  Expected<json::Object>
  answers(StringRef Step, GpuOriginal From,
          function_ref<Error(JudgementBatch &B)> Fill,
          function_ref<Error(json::Object &Results, StringRef Folder)> Check);
  Error addReferences(json::Object &Results, StringRef Folder, StringRef Id);
  Error compareAndTime(StringRef Step, std::vector<WaitingCandidate> &Waiting,
                       bool Screening);
  Error settle(CandidateRecord &R, const json::Object &Results, bool Screening);
  void noteTimes(const CandidateRecord *R, const GpuVerdict &Verdict,
                 const json::Object &Results);
  void classify(const CandidateRecord &R, const Ceilings &Limits,
                GpuLastChecks &Checks) const;

  const SearchProblem &Problem;
  CandidateEvaluator &Evaluator;
  Journal &Log;
  std::string Run;
  std::unique_ptr<GpuDevice> Device;
  GpuPatience Patience;
  MeasuredFile Measured;
  bool OriginalNoted = false;
};
} // namespace

GpuOriginal BatchJudge::original() const {
  return {&Problem.K,
          Evaluator.originalBitcode().str(),
          Evaluator.originalPtx().str(),
          Problem.Workloads,
          Problem.DataFolder,
          Problem.Arch,
          Problem.Flags,
          std::vector<bool>(Evaluator.gpuOnly().begin(),
                            Evaluator.gpuOnly().end())};
}

/// Makes the code of those that came from the journal; two beside each other.
Error BatchJudge::prepare(MutableArrayRef<WaitingCandidate> Waiting) const {
  std::vector<WaitingCandidate *> Todo;
  for (WaitingCandidate &W : Waiting)
    if (!W.Made)
      Todo.push_back(&W);
  Error Failure = Error::success();
  for (size_t First = 0; First < Todo.size(); First += 2) {
    size_t Count = std::min<size_t>(2, Todo.size() - First);
    std::vector<std::optional<Expected<Candidate>>> Made(Count);
    std::vector<std::thread> Threads;
    Threads.reserve(Count);
    for (size_t I = 0; I < Count; ++I)
      Threads.emplace_back([&, I] {
        const CandidateRecord &R = Todo[First + I]->Record;
        std::optional<Genome> G = parseGenome(R.Genome);
        Made[I].emplace(G && R.Code ? Evaluator.prepare(*G, *R.Code)
                                    : Expected<Candidate>(resourceError(
                                          "the journal contains a candidate "
                                          "that cannot be compiled: " +
                                          R.Genome)));
      });
    for (std::thread &T : Threads)
      T.join();
    for (size_t I = 0; I < Count; ++I) {
      if (!*Made[I]) {
        Failure = joinErrors(std::move(Failure), Made[I]->takeError());
        continue;
      }
      const CandidateRecord &Again = (*Made[I])->Record;
      if (Again.Outcome != CandidateOutcome::Unjudged)
        Failure = joinErrors(
            std::move(Failure),
            resourceError("'" + Todo[First + I]->Record.Genome +
                              "' compiled when the search began, and does not "
                              "now: " +
                              Again.Reason.Text,
                          "run the same command again, with --resume"));
      else if (Again.DeviceDigest != Todo[First + I]->Record.DeviceDigest)
        Failure =
            joinErrors(std::move(Failure),
                       resourceError("the tools generate different code for '" +
                                         Todo[First + I]->Record.Genome +
                                         "' than when the search began",
                                     "start a new search, without --resume"));
      Todo[First + I]->Made = std::move(**Made[I]);
    }
  }
  return Failure;
}

static GpuCandidate variantOf(const WaitingCandidate &W) {
  const Translation &Code = *W.Made->Record.Code;
  return {gpuIdOf(W.Record), W.Made->Ptx, Code.Plan, Code.When};
}

/// The results of the step's batch: from the journal, else from the GPU.
Expected<json::Object> BatchJudge::answers(
    StringRef Step, GpuOriginal From,
    function_ref<Error(JudgementBatch &B)> Fill,
    function_ref<Error(json::Object &Results, StringRef Folder)> Check) {
  Expected<std::optional<BatchRecord>> Known = Log.findBatch(Run, Step);
  if (!Known)
    return Known.takeError();
  if (*Known && !(*Known)->Results.empty()) {
    Expected<json::Value> V = json::parse((*Known)->Results);
    if (V && V->getAsObject())
      return std::move(*V->getAsObject());
    if (!V)
      consumeError(V.takeError());
    return resourceError("the journal contains damaged results of " +
                             (*Known)->Id,
                         "delete it to start a new search");
  }
  Expected<std::unique_ptr<JudgementBatch>> B =
      JudgementBatch::create(std::move(From));
  if (!B)
    return B.takeError();
  if (Error Failure = Fill(**B))
    return std::move(Failure);
  GpuBatch &G = (*B)->batch();
  G.finish();
  BatchRecord Record{G.batch().Id, ""};
  if (*Known && (*Known)->Id != Record.Id && Patience.Tell)
    Patience.Tell((*Known)->Id +
                  " was made with other tools or data and is no longer used; "
                  "the new batch is " +
                  Record.Id);
  if (Error Failure = Log.saveBatch(Run, Step, Record))
    return std::move(Failure);
  Expected<GpuResults> Results = awaitResults(*Device, G, Patience);
  if (!Results)
    return Results.takeError();
  json::Object All = byId(G.batch(), std::move(*Results));
  if (Error Failure = Check(All, Device->folder(G)))
    return std::move(Failure);
  Record.Results = formatv("{0}", json::Value(json::Object(All))).str();
  if (Error Failure = Log.saveBatch(Run, Step, Record))
    return std::move(Failure);
  return All;
}

/// Holds the outputs that came back against the float64 runs here; what came of
/// it goes to the results, since the outputs' files need not stay.
Error BatchJudge::addReferences(json::Object &Results, StringRef Folder,
                                StringRef Id) {
  const GpuOriginal From = original();
  for (size_t I = 0; I < Problem.Workloads.size(); ++I) {
    auto Outputs = readOutputs(Results, From, I, Id, Folder);
    if (!Outputs)
      return Outputs.takeError();
    if (!*Outputs)
      continue;
    Expected<ReferenceVerdict> V =
        Evaluator.judgeDeviceResults(I, (*Outputs)->first, (*Outputs)->second);
    if (!V)
      return V.takeError();
    (*Results.getObject(
        (Id + "-" + Problem.Workloads[I].Name + "-run").str()))["float64"] =
        toJSON(*V);
  }
  return Error::success();
}

/// All of \p Waiting in one batch.
Error BatchJudge::compareAndTime(StringRef Step,
                                 std::vector<WaitingCandidate> &Waiting,
                                 bool Screening) {
  json::Object Refused;
  Expected<json::Object> Results = answers(
      Step, original(),
      [&](JudgementBatch &B) -> Error {
        if (Error Failure = prepare(Waiting))
          return Failure;
        if (!Screening)
          B.addCeilings();
        for (WaitingCandidate &W : Waiting) {
          GpuCandidate V = variantOf(W);
          // What ptxas refuses, or what is no launch there, says nothing of the
          // others.
          if (Error Other = handleErrors(
                  Screening ? B.addScreening(V) : B.addJudgement(V),
                  [&](std::unique_ptr<ToolError> T) -> Error {
                    if (T->code() == ExitCode::Resource)
                      return Error(std::move(T));
                    Refused[V.Id + "-refused"] = json::Object{
                        {"status", "skipped"}, {"message", T->text()}};
                    return Error::success();
                  }))
            return Other;
        }
        return Error::success();
      },
      [&](json::Object &Results, StringRef Folder) -> Error {
        for (auto &[Id, Why] : Refused)
          Results[Id] = std::move(Why);
        for (const WaitingCandidate &W : Waiting) {
          // What is wrong with the batch is said before it counts as answered.
          if (auto L = readJudgement(Results, original(), gpuIdOf(W.Record));
              !L)
            return L.takeError();
          if (Error Failure = addReferences(Results, Folder, gpuIdOf(W.Record)))
            return Failure;
        }
        return Error::success();
      });
  if (!Results)
    return Results.takeError();
  for (WaitingCandidate &W : Waiting)
    if (Error Failure = settle(W.Record, *Results, Screening))
      return Failure;
  return Error::success();
}

/// Gives \p R the outcome that the answers come to. One that \p Screening found
/// right and faster keeps none: what counts is measured after the gate.
Error BatchJudge::settle(CandidateRecord &R, const json::Object &Results,
                         bool Screening) {
  std::vector<std::optional<ExecutionCounts>> Work;
  if (R.Evidence)
    Work = R.Evidence->Work;
  Expected<GpuJudgement> J =
      judgeAnswers(Results, original(), gpuIdOf(R),
                   gpuCeilings(Results, &Problem.Gpu), Work, Problem.Margin);
  if (!J)
    return J.takeError();
  R.Ratio = 0;
  if (J->Wrong) {
    // The guard is not the GPU's to find fault with.
    R.reject(J->Wrong->Reason == GateReason::NeverAdmitted ? FoundBy::Gate
                                                           : FoundBy::Gpu,
             *J->Wrong);
  } else if (J->Untimed) {
    R.end(CandidateOutcome::Slower,
          "the time budget was too small to say how fast it is on " +
              *J->Untimed);
  } else {
    const GpuRatio &Total = *J->Verdict.Total;
    R.Ratio = Total.Ratio;
    if (J->Slower)
      R.end(CandidateOutcome::Slower, "slower on a workload, " + *J->Slower);
    else if (Total.Low < Problem.Margin)
      R.end(CandidateOutcome::Slower,
            formatv("not faster than the original beyond the margin: x{0:f3} "
                    "({1:f3} to {2:f3})",
                    Total.Ratio, Total.Low, Total.High)
                .str());
    else if (Screening)
      R.Ratio = 0;
    else
      R.end(CandidateOutcome::Accepted);
  }
  if (!Screening)
    R.Evidence->Gpu = std::move(J->Verdict);
  return Error::success();
}

Expected<std::vector<GpuRank>>
BatchJudge::race(StringRef Step, std::vector<WaitingCandidate> &Waiting) {
  std::vector<std::string> Ids;
  for (const WaitingCandidate &W : Waiting)
    Ids.push_back(gpuIdOf(W.Record));
  Expected<json::Object> Results = answers(
      Step, original(),
      [&](JudgementBatch &B) -> Error {
        if (Error Failure = prepare(Waiting))
          return Failure;
        std::vector<GpuCandidate> All;
        for (const WaitingCandidate &W : Waiting)
          All.push_back(variantOf(W));
        return B.addRace(Step, All);
      },
      [&](json::Object &Results, StringRef) {
        return readRace(Results, original(), Ids).takeError();
      });
  if (!Results)
    return Results.takeError();
  return readRace(*Results, original(), Ids);
}

//===----------------------------------------------------------------------===//
// Counters for the agents
//===----------------------------------------------------------------------===//

/// The sets of Profile/Metrics.def; all where the class is not known.
static std::vector<std::string> setsOf(std::optional<Bottleneck> Class) {
  if (!Class)
    return {};
  switch (*Class) {
  case Bottleneck::Compute:
    return {"compute"};
  case Bottleneck::Memory:
    return {"memory"};
  case Bottleneck::Latency:
    return {"latency"};
  case Bottleneck::Middle:
    return {"compute", "memory"};
  }
  llvm_unreachable("all classes are named");
}

Expected<GpuOriginalFigures> BatchJudge::originalFigures() {
  Expected<json::Object> Results = answers(
      FirstStep, original(),
      [&](JudgementBatch &B) -> Error {
        B.addCeilings();
        if (Error Failure = B.addOriginalTimes())
          return Failure;
        return B.addProfile(nullptr, "o", {});
      },
      [](json::Object &, StringRef) { return Error::success(); });
  if (!Results)
    return Results.takeError();
  GpuOriginalFigures F;
  F.Times = originalTimes(*Results, Problem.Workloads);
  F.Profile = readProfiles(*Results, original(), "o", F.Times);
  F.Limits = gpuCeilings(*Results, &Problem.Gpu);
  return F;
}

Expected<std::vector<LaunchProfiles>>
BatchJudge::profile(StringRef Step, std::vector<WaitingCandidate> &Best,
                    std::optional<Bottleneck> Class) {
  Expected<json::Object> Results = answers(
      Step, original(),
      [&](JudgementBatch &B) -> Error {
        if (Error Failure = prepare(Best))
          return Failure;
        for (const WaitingCandidate &W : Best) {
          GpuCandidate V = variantOf(W);
          if (Error Failure = B.addProfile(&V, V.Id, setsOf(Class)))
            return Failure;
        }
        return Error::success();
      },
      [](json::Object &, StringRef) { return Error::success(); });
  if (!Results)
    return Results.takeError();
  std::vector<LaunchProfiles> All;
  for (const WaitingCandidate &W : Best) {
    std::map<std::string, double> Times;
    for (const LaunchTimes &T : W.Record.Evidence->times())
      Times[T.Workload] = T.VariantUs;
    All.push_back(readProfiles(*Results, original(), gpuIdOf(W.Record), Times));
  }
  return All;
}

//===----------------------------------------------------------------------===//
// The last checks of the best
//===----------------------------------------------------------------------===//

/// Keeps what the profiler said of the original, or of \p R.
void BatchJudge::noteTimes(const CandidateRecord *R, const GpuVerdict &Verdict,
                           const json::Object &Results) {
  const std::string Id = R ? gpuIdOf(*R) : "o";
  Measured.Gpu = gpuName(Results);
  std::map<std::string, double> Times;
  for (const GpuWorkload &W : Verdict.Workloads)
    Times[W.Workload] = R ? W.VariantUs : W.OriginalUs;
  const LaunchProfiles Profiles = readProfiles(Results, original(), Id, Times);
  for (const GpuWorkload &W : Verdict.Workloads) {
    MeasuredFile::Entry New;
    New.Kernel = Problem.K.Symbol;
    New.Workload = W.Workload;
    if (R)
      New.Variant = variantName(*R);
    New.Launch.Microseconds = Times[W.Workload];
    if (!(New.Launch.Microseconds > 0))
      continue;
    if (auto Known = Profiles.find(W.Workload); Known != Profiles.end())
      New.Launch = Known->second;
    else
      New.Launch.NoMetrics = "not profiled";
    Measured.Entries.push_back(std::move(New));
  }
}

/// What counters say of the original and of \p R, by workload.
void BatchJudge::classify(const CandidateRecord &R, const Ceilings &Limits,
                          GpuLastChecks &Checks) const {
  for (const MeasuredFile::Entry &Entry : Measured.Entries)
    for (auto [I, W] : enumerate(Problem.Workloads)) {
      if (W.Name != Entry.Workload || Entry.Launch.Metrics.empty() ||
          (!Entry.Variant.empty() && Entry.Variant != variantName(R)))
        continue;
      ExecutionCounts Work;
      if (!Entry.Variant.empty())
        Work = I < R.Evidence->Work.size()
                   ? R.Evidence->Work[I].value_or(ExecutionCounts())
                   : ExecutionCounts();
      else if (const ExecutionCounts *Own = Evaluator.originalCounts(I))
        Work = *Own;
      Opinion O =
          opinionOfMeasurement(Entry.Launch, timesAtCeilings(Limits, Work));
      if (O.Class)
        Checks.Classes[W.Name + (Entry.Variant.empty() ? " original" : "")] =
            toString(*O.Class);
    }
}

Error BatchJudge::accept(CandidateRecord &R) {
  std::vector<WaitingCandidate> One(1);
  One.front().Record = R;
  const std::string Id = gpuIdOf(R);
  GpuOriginal From = original();
  Expected<std::vector<LargeLaunch>> Large = Evaluator.largeLaunches();
  if (!Large)
    return Large.takeError();
  From.Large = std::move(*Large);
  Expected<json::Object> Results = answers(
      finalStep(R), From,
      [&](JudgementBatch &B) -> Error {
        if (Error Failure = prepare(One))
          return Failure;
        GpuCandidate V = variantOf(One.front());
        if (Error Failure = B.addAcceptance(nullptr, "o"))
          return Failure;
        if (Error Failure = B.addAcceptance(&V, Id))
          return Failure;
        if (Error Failure = B.addLarge(nullptr, "o"))
          return Failure;
        if (Error Failure = B.addLarge(&V, Id))
          return Failure;
        return B.addOtherValues(V);
      },
      [](json::Object &, StringRef) { return Error::success(); });
  if (!Results)
    return Results.takeError();
  if (!R.Evidence || !R.Evidence->Gpu || !R.Code)
    return resourceError("the journal contains a damaged candidate: " +
                             R.Genome,
                         "delete it to start a new search");
  GpuVerdict &Verdict = *R.Evidence->Gpu;
  // By the plan: words in a text are a model's to choose.
  const bool Clusters = any_of(R.Code->Plan.Launches, [](const Launch &L) {
    return L.Cluster.has_value();
  });
  GpuLastChecks Checks;
  for (auto [I, W] : enumerate(Problem.Workloads)) {
    std::optional<SanitizerVerdict> Said = readSanitizer(*Results, Id, W.Name);
    if (!Said)
      continue;
    Checks.Sanitizer[W.Name] = std::move(*Said);
    if (R.Outcome != CandidateOutcome::Accepted)
      continue;
    if (std::optional<GateFinding> Found = sanitizerFinding(
            *Results, Id, W.Name, Clusters && !Evaluator.gpuOnly()[I]))
      R.reject(FoundBy::Sanitizer, *Found);
  }
  if (!OriginalNoted)
    noteTimes(nullptr, Verdict, *Results);
  OriginalNoted = true;
  if (R.Outcome == CandidateOutcome::Accepted)
    noteTimes(&R, Verdict, *Results);
  else
    Checks.Rejected = reasonText(R);
  classify(R, gpuCeilings(*Results, &Problem.Gpu), Checks);
  Checks.Large = readLarge(*Results, From, Id);
  Checks.Others = readOtherValues(*Results, From, Id);
  Verdict.LastChecks = std::move(Checks);
  return Error::success();
}

Expected<std::unique_ptr<GpuStepJudge>>
GpuStepJudge::create(const SearchProblem &P, CandidateEvaluator &E, Journal &J,
                     StringRef Run, StringRef Device, GpuPatience Patience) {
  Expected<std::unique_ptr<GpuDevice>> D = GpuDevice::create(Device);
  if (!D)
    return D.takeError();
  return std::make_unique<BatchJudge>(P, E, J, Run, std::move(*D),
                                      std::move(Patience));
}

} // namespace cupilot
