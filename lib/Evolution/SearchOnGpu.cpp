//===- SearchOnGpu.cpp - What a search asks a GPU -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AgentCalls.h"
#include "SearchLoop.h"
#include "cupilot/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot {

/// The channel of recordings that a GPU's answers lie in.
static constexpr StringRef DeviceChannel = "device";

/// Asks the GPU; its answer goes to the recording, or comes from it.
Error SearchLoop::onGpu(StringRef Step, function_ref<Error()> Ask) {
  const AgentOptions *A = Options.Agents;
  std::string Place = stepPrefix(Problem.K) + Step.str();
  if (A && A->Replayed)
    if (auto Known = A->Replayed->find(DeviceChannel, Place, nullptr)) {
      const json::Object *O = Known->Answer.getAsObject();
      const json::Object *Results = O ? O->getObject("results") : nullptr;
      if (!Results)
        return usageError("the recording '" + A->Replayed->folder() +
                              "' holds a broken answer of a GPU to '" + Place +
                              "'",
                          "restore it, or search again with a provider");
      BatchRecord B{O->getString("batch").value_or("").str(),
                    formatv("{0}", json::Value(json::Object(*Results))).str()};
      if (Error E = J.saveBatch(Run, Step, B))
        return E;
    }
  if (Error E = Ask())
    return E;
  if (!A || !A->Keep)
    return Error::success();
  Expected<std::optional<BatchRecord>> B = J.findBatch(Run, Step);
  if (!B)
    return B.takeError();
  if (!*B || (*B)->Results.empty())
    return Error::success();
  Expected<json::Value> Results = json::parse((*B)->Results);
  if (!Results)
    return Results.takeError();
  return A->Keep->put(
      {DeviceChannel.str(), Place, json::Object{{"batch", (*B)->Id}},
       json::Object{{"batch", (*B)->Id}, {"results", std::move(*Results)}}});
}

/// Those that passed here, on the GPU.
Error SearchLoop::judgeOnGpu(StringRef Step, ArrayRef<SearchEntry *> Waiting) {
  if (Waiting.empty())
    return Error::success();
  std::vector<WaitingCandidate> Candidates;
  for (SearchEntry *E : Waiting)
    Candidates.push_back({std::move(E->Record), std::move(E->Made)});
  Error Failure = onGpu(Step, [&] { return Gpu->judge(Step, Candidates); });
  for (auto [E, C] : zip_equal(Waiting, Candidates)) {
    E->Record = std::move(C.Record);
    E->Made = std::move(C.Made);
  }
  return Failure;
}

Error SearchLoop::evaluateOnGpu(unsigned Generation,
                                MutableArrayRef<SearchEntry> Entries) {
  std::vector<SearchEntry *> Waiting;
  for (SearchEntry &E : Entries)
    if (E.Record.Outcome == "passed")
      Waiting.push_back(&E);
  std::string Step = "g" + std::to_string(Generation);
  if (Error E = judgeOnGpu(Step, Waiting))
    return E;
  for (unsigned Round = 1; Round <= Maker->rounds(); ++Round) {
    std::string Number = std::to_string(Round);
    if (Error E = repair(Entries, "card" + Number,
                         [&](ArrayRef<SearchEntry *> New) -> Error {
                           std::vector<SearchEntry *> Passed;
                           for (SearchEntry *E : New) {
                             if (Error Failure = judge(*E->Made))
                               return Failure;
                             E->Record = E->Made->Record;
                             if (E->Record.Outcome == "passed")
                               Passed.push_back(E);
                           }
                           return judgeOnGpu(Step + "r" + Number, Passed);
                         }))
      return E;
  }
  for (SearchEntry *E : Waiting) {
    if (Error Failure = J.save(Run, E->Record))
      return Failure;
    if (Error Failure = settle(E->V, E->Record, Generation))
      return Failure;
  }
  return Error::success();
}

/// The last checks of the best, until enough have passed them.
Error SearchLoop::acceptOnGpu(std::vector<CandidateRecord> &Accepted,
                              SearchResult &Result) {
  std::vector<CandidateRecord> Kept;
  for (CandidateRecord &R : Accepted) {
    if (Kept.size() == Options.Keep)
      break;
    if (Error E =
            onGpu(GpuStepJudge::finalStep(R), [&] { return Gpu->accept(R); }))
      return E;
    // In the journal it stays what it was in its generation, so that a search
    // that is resumed goes the same way; the evidence says what came later.
    CandidateRecord Saved = R;
    Saved.Outcome = "accepted";
    Saved.Reason.clear();
    if (Error E = J.save(Run, Saved))
      return E;
    if (R.Outcome == "accepted") {
      Kept.push_back(std::move(R));
      continue;
    }
    ++Result.Rejected;
    for (CandidateRecord &Known : Result.All)
      if (Known.Genome == R.Genome)
        Known = R;
    if (Options.Progress)
      Options.Progress(Options.Generations, R, Best);
  }
  Accepted = std::move(Kept);
  Result.Measured = Gpu->measured();
  return Error::success();
}

} // namespace cupilot
