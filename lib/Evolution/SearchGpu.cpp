//===- SearchGpu.cpp - A search asks a GPU -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SearchLoop.h"
#include "cupilot/Dialect/Conversion.h"
#include "cupilot/Dialect/Transforms/Genetics.h"
#include "cupilot/Portable/Digest.h"
#include "cupilot/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cupilot {

/// The channel of recordings that a GPU's answers lie in.
static constexpr StringRef DeviceChannel = "device";
/// Begins the names of repairs after a GPU's verdict. Recordings are found by
/// them, so that it is the word of the first ones.
static constexpr StringRef GpuStage = "card";

/// Asks the GPU; its answer goes to the recording, or comes from it.
Error SearchLoop::askGpu(StringRef Run, StringRef Step, StringRef Name,
                         function_ref<Error()> Ask) {
  const AgentOptions *A = Options.Agents;
  std::string Place = (stepPrefix(Problem.K) + Name).str();
  if (A && A->Replayed) {
    if (auto Known = A->Replayed->find(DeviceChannel, Place, nullptr)) {
      const json::Object *O = Known->Answer.getAsObject();
      const json::Object *Results = O ? O->getObject("results") : nullptr;
      if (!Results)
        return usageError(
            "the recording '" + A->Replayed->folder() +
                "' contains a damaged answer of a GPU to '" + Place + "'",
            "restore the recording, or search again with a provider");
      BatchRecord B{O->getString("batch").value_or("").str(),
                    formatv("{0}", json::Value(json::Object(*Results))).str()};
      if (Error E = J.saveBatch(Run, Step, B))
        return E;
    } else if (Step != Name) {
      return findingError("the recording has no answer of a GPU for its code");
    }
  }
  {
    const Turn Mine = Options.Turns.wait(SharedResource::Card);
    if (Error E = Ask())
      return E;
  }
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

/// The seconds of \p Ask, which a search that goes on and a replay hear as they
/// were: dialogues are told of them.
Expected<double> SearchLoop::metered(StringRef Step,
                                     function_ref<Error()> Ask) {
  const AgentOptions *A = Options.Agents;
  const std::string Clock = (Step + "-seconds").str(),
                    Place = stepPrefix(Problem.K) + Clock;
  Expected<std::optional<BatchRecord>> Known = J.findBatch(Run, Clock);
  if (!Known)
    return Known.takeError();
  const auto Begin = std::chrono::steady_clock::now();
  if (Error E = onGpu(Step, Ask))
    return std::move(E);
  double Took =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - Begin)
          .count();
  if (*Known) {
    if (StringRef((*Known)->Results).getAsDouble(Took))
      return resourceError("the journal contains a damaged time of '" + Clock +
                               "'",
                           "delete it to start a new search");
    return Took;
  }
  if (auto Then = A && A->Replayed
                      ? A->Replayed->find(DeviceChannel, Place, nullptr)
                      : std::nullopt)
    Took = Then->Answer.getAsNumber().value_or(Took);
  const std::string Text = formatv("{0:f3}", Took).str();
  (void)StringRef(Text).getAsDouble(Took);
  if (Error E = J.saveBatch(Run, Clock, {"", Text}))
    return std::move(E);
  if (A && A->Keep)
    if (Error E = A->Keep->put(
            {DeviceChannel.str(), Place, json::Object{{"step", Step}}, Took}))
      return std::move(E);
  return Took;
}

Expected<double> SearchLoop::time(StringRef Step,
                                  std::vector<WaitingCandidate> &Waiting) {
  return metered(Step, [&] { return Gpu->judge(Step, Waiting); });
}

Expected<double> SearchLoop::profile(StringRef Step,
                                     std::vector<WaitingCandidate> &Waiting,
                                     std::vector<LaunchProfiles> &Profiles) {
  return metered(Step, [&] {
    return Gpu->profile(Step, Waiting, Bound).moveInto(Profiles);
  });
}

/// What \p Ask makes of the records of \p Waiting.
Error SearchLoop::askOf(
    StringRef Step, ArrayRef<SearchEntry *> Waiting,
    function_ref<Error(std::vector<WaitingCandidate> &)> Ask) {
  std::vector<WaitingCandidate> Asked;
  for (SearchEntry *E : Waiting)
    Asked.push_back({std::move(E->Record), std::move(E->Made)});
  Error Failure = onGpu(Step, [&] { return Ask(Asked); });
  for (auto [E, C] : zip_equal(Waiting, Asked)) {
    E->Record = std::move(C.Record);
    E->Made = std::move(C.Made);
  }
  return Failure;
}

/// Times everything on the GPU before the gate, which takes a hundred times as
/// long: what is wrong or not faster there need not be proved. None of it is
/// evidence: who passes the gate is measured anew.
Error SearchLoop::screen(MutableArrayRef<SearchEntry> Entries,
                         unsigned Generation) {
  std::vector<SearchEntry *> Made;
  for (SearchEntry &E : Entries)
    Made.push_back(&E);
  std::vector<SearchEntry *> Waiting = worthJudging(Made);
  if (Waiting.empty())
    return Error::success();
  for (SearchEntry *E : Waiting)
    E->Record = E->Made->Record;
  const std::string Step = "screen" + std::to_string(Generation);
  Error Failure = askOf(Step, Waiting,
                        [&](auto &Asked) { return Gpu->screen(Step, Asked); });
  for (SearchEntry *E : Waiting)
    E->Made->Record = E->Record;
  return Failure;
}

/// Those that passed here, on the GPU.
Error SearchLoop::judgeOnGpu(StringRef Step, ArrayRef<SearchEntry *> Waiting) {
  if (Waiting.empty())
    return Error::success();
  return askOf(Step, Waiting,
               [&](auto &Asked) { return Gpu->judge(Step, Asked); });
}

Error SearchLoop::evaluateOnGpu(unsigned Generation,
                                MutableArrayRef<SearchEntry> Entries) {
  std::vector<SearchEntry *> Waiting;
  for (SearchEntry &E : Entries)
    if (E.Record.Outcome == CandidateOutcome::Passed)
      Waiting.push_back(&E);
  std::string Step = "g" + std::to_string(Generation);
  if (Error E = judgeOnGpu(Step, Waiting))
    return E;
  for (unsigned Round = 1; Round <= Maker->rounds() && goesOn(); ++Round) {
    std::string Number = std::to_string(Round);
    if (Error E = repair(Entries, GpuStage.str() + Number,
                         [&](ArrayRef<SearchEntry *> New) -> Error {
                           if (isOverBudget()) // A batch is of all of a round.
                             return Error::success();
                           std::vector<SearchEntry *> Passed;
                           if (Error Failure = judgeAhead(New))
                             return Failure;
                           for (SearchEntry *E : New) {
                             if (Error Failure = judge(*E))
                               return Failure;
                             if (E->Record.Outcome == CandidateOutcome::Passed)
                               Passed.push_back(E);
                           }
                           return judgeOnGpu(Step + "r" + Number, Passed);
                         }))
      return E;
  }
  for (SearchEntry *E : Waiting) {
    if (Error Failure = save(E->Record))
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
    Saved.end(CandidateOutcome::Accepted);
    if (Error E = J.save(Run, Saved))
      return E;
    if (R.Outcome == CandidateOutcome::Accepted) {
      Kept.push_back(std::move(R));
      continue;
    }
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
