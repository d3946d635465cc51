//===- GpuStepJudge.cpp - Candidates of a search on a GPU
//-------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GpuStepJudgement.h"
#include "cupilot/Dialect/Transforms/Genetics.h"
#include "cupilot/Evolution/CandidateMaker.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"
#include <thread>

using namespace llvm;

namespace cupilot {

GpuStepJudge::~GpuStepJudge() = default;

std::string gpuIdOf(const CandidateRecord &R) {
  return "c" + shortDigest(digest(R.Genome), 10);
}

std::string GpuStepJudge::finalStep(const CandidateRecord &Record) {
  return "final-" + gpuIdOf(Record);
}

GpuOriginal GpuStepJudgement::original() const {
  return {&P.K,
          E.originalBitcode().str(),
          P.Workloads,
          P.DataFolder,
          P.Arch,
          P.Flags,
          std::vector<bool>(E.gpuOnly().begin(), E.gpuOnly().end())};
}

/// Makes the code of those that came from the journal; two beside each other.
Error GpuStepJudgement::prepare(
    MutableArrayRef<WaitingCandidate> Waiting) const {
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
        Expected<Translation> T = translationOf(R);
        if (!T)
          Made[I].emplace(T.takeError());
        else
          Made[I].emplace(G ? E.prepare(*G, std::move(*T))
                            : Expected<Candidate>(resourceError(
                                  "the journal holds a genome that cannot be "
                                  "read: " +
                                  R.Genome)));
      });
    for (std::thread &T : Threads)
      T.join();
    for (size_t I = 0; I < Count; ++I) {
      if (!*Made[I]) {
        Failure = joinErrors(std::move(Failure), Made[I]->takeError());
        continue;
      }
      if ((*Made[I])->Record.DeviceDigest !=
          Todo[First + I]->Record.DeviceDigest)
        Failure = joinErrors(std::move(Failure),
                             resourceError("the tools make other code of '" +
                                               Todo[First + I]->Record.Genome +
                                               "' than when the search began",
                                           "search anew, without --resume"));
      Todo[First + I]->Made = std::move(**Made[I]);
    }
  }
  return Failure;
}

Expected<GpuCandidate> GpuStepJudgement::variantOf(WaitingCandidate &W) const {
  const Candidate &C = *W.Made;
  return GpuCandidate{gpuIdOf(W.Record), C.Ptx, C.Translated.Plan,
                      C.Translated.When};
}

/// The results of the step's batch: from the journal, else from the GPU.
Expected<json::Object> GpuStepJudgement::answers(
    StringRef Step, function_ref<Error(JudgementBatch &B)> Fill,
    function_ref<Error(json::Object &Results, StringRef Folder)> Check) {
  Expected<std::optional<BatchRecord>> Known = J.findBatch(Run, Step);
  if (!Known)
    return Known.takeError();
  if (*Known && !(*Known)->Results.empty()) {
    Expected<json::Value> V = json::parse((*Known)->Results);
    if (V && V->getAsObject())
      return std::move(*V->getAsObject());
    if (!V)
      consumeError(V.takeError());
    return resourceError("the journal holds broken results of " + (*Known)->Id,
                         "it may be deleted; the search then starts anew");
  }
  Expected<std::unique_ptr<JudgementBatch>> B =
      JudgementBatch::create(original());
  if (!B)
    return B.takeError();
  if (Error Failure = Fill(**B))
    return std::move(Failure);
  GpuBatch &G = (*B)->batch();
  G.finish();
  BatchRecord Record{G.batch().Id, ""};
  if (*Known && (*Known)->Id != Record.Id && Patience.Tell)
    Patience.Tell((*Known)->Id +
                  " is of other tools or data and is not used "
                  "any more; now it is " +
                  Record.Id);
  if (Error Failure = J.saveBatch(Run, Step, Record))
    return std::move(Failure);
  Expected<GpuResults> Results = awaitResults(*Device, G, Patience);
  if (!Results)
    return Results.takeError();
  json::Object All = byId(G.batch(), std::move(*Results));
  if (Error Failure = Check(All, Device->folder(G)))
    return std::move(Failure);
  Record.Results = formatv("{0}", json::Value(json::Object(All))).str();
  if (Error Failure = J.saveBatch(Run, Step, Record))
    return std::move(Failure);
  return All;
}

/// Holds the outputs that came back against the float64 runs here; what came of
/// it goes to the results, since the outputs' files need not stay.
Error GpuStepJudgement::addReferences(json::Object &Results, StringRef Folder,
                                      StringRef Id) {
  const GpuOriginal From = original();
  for (size_t I = 0; I < P.Workloads.size(); ++I) {
    auto Outputs = readOutputs(Results, From, I, Id, Folder);
    if (!Outputs)
      return Outputs.takeError();
    if (!*Outputs)
      continue;
    Expected<ReferenceVerdict> V =
        E.judgeElsewhere(I, (*Outputs)->first, (*Outputs)->second);
    if (!V)
      return V.takeError();
    json::Object O{{"compared", V->Compared},
                   {"error", V->MaxError},
                   {"original_error", V->OriginalError}};
    if (V->Finding)
      O["finding"] =
          (wordOf(V->Finding->Reason) + ": " + V->Finding->Evidence).str();
    (*Results.getObject(
        (Id + "-" + P.Workloads[I].Name + "-run").str()))["float64"] =
        std::move(O);
  }
  return Error::success();
}

Error GpuStepJudgement::judge(StringRef Step,
                              std::vector<WaitingCandidate> &Waiting) {
  json::Object Refused;
  Expected<json::Object> Results = answers(
      Step,
      [&](JudgementBatch &B) -> Error {
        if (Error Failure = prepare(Waiting))
          return Failure;
        B.addCeilings();
        for (WaitingCandidate &W : Waiting) {
          Expected<GpuCandidate> V = variantOf(W);
          if (!V)
            return V.takeError();
          // What ptxas refuses, or what is no launch there, says nothing of the
          // others.
          if (Error Other =
                  handleErrors(B.addJudgement(*V),
                               [&](std::unique_ptr<ToolError> T) -> Error {
                                 if (T->code() == ExitCode::Resource)
                                   return Error(std::move(T));
                                 Refused[V->Id + "-refused"] =
                                     json::Object{{"status", "skipped"},
                                                  {"message", T->text()}};
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
    if (Error Failure = settle(W.Record, *Results))
      return Failure;
  return Error::success();
}

Expected<std::unique_ptr<GpuStepJudge>>
GpuStepJudge::create(const SearchProblem &P, CandidateEvaluator &E, Journal &J,
                     StringRef Run, StringRef Device, GpuPatience Patience) {
  Expected<std::unique_ptr<GpuDevice>> D = GpuDevice::create(Device);
  if (!D)
    return D.takeError();
  auto Made =
      std::make_unique<GpuStepJudgement>(P, E, J, Run, std::move(Patience));
  Made->Device = std::move(*D);
  return std::move(Made);
}

} // namespace cupilot
