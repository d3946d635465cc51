//===- JudgeAhead.cpp - Candidates judged beside each other -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JudgeAhead.h"
#include "JournalJson.h"
#include "cupilot/Support/Process.h"
#include "cupilot/Support/Workers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <limits>
#include <numeric>
#include <unistd.h>

using namespace llvm;

namespace cupilot {

std::string verdictText(const CandidateRecord &R) {
  json::Object O{{"outcome", wordOf(R.Outcome)},
                 {"text", json::fixUTF8(R.Reason.Text)},
                 {"finding", findingText(R.Reason)},
                 {"ratio", R.Ratio}};
  if (R.Evidence)
    O["evidence"] = evidenceText(*R.Evidence);
  return formatv("{0}", json::Value(std::move(O))).str();
}

bool readVerdict(StringRef Text, CandidateRecord &R) {
  Expected<json::Value> V = json::parse(Text);
  if (!V) {
    consumeError(V.takeError());
    return false;
  }
  const json::Object *O = V->getAsObject();
  if (!O)
    return false;
  std::optional<CandidateOutcome> Outcome =
      candidateOutcomeOf(O->getString("outcome").value_or(""));
  std::optional<double> Ratio = O->getNumber("ratio");
  if (!Outcome || !Ratio)
    return false;
  R.Outcome = *Outcome;
  R.Ratio = *Ratio;
  R.Reason = {O->getString("text").value_or("").str()};
  if (StringRef Finding = O->getString("finding").value_or("");
      !Finding.empty()) {
    std::optional<OutcomeReason> Found = readFinding(Finding);
    if (!Found)
      return false;
    R.Reason = std::move(*Found);
  }
  if (std::optional<StringRef> Evidence = O->getString("evidence")) {
    R.Evidence = readEvidence(*Evidence);
    return R.Evidence.has_value();
  }
  return true;
}

std::vector<std::optional<CandidateRecord>>
judgeAhead(CandidateEvaluator &Evaluator,
           ArrayRef<const Candidate *> Candidates, unsigned Jobs,
           const SearchTurns &Turns,
           std::optional<std::chrono::steady_clock::time_point> Until) {
  std::vector<std::optional<CandidateRecord>> Records(Candidates.size());
  std::vector<unsigned> Tasks(Candidates.size());
  std::iota(Tasks.begin(), Tasks.end(), 0);
  auto Job = [&](unsigned Task) -> std::string {
    Candidate C = *Candidates[Task];
    const Turn Mine = Turns.wait(SharedResource::Job);
    std::optional<ProcessDeadline> Deadline;
    if (Until) {
      auto Left = std::chrono::duration_cast<std::chrono::seconds>(
          *Until - std::chrono::steady_clock::now());
      if (Left.count() <= 0)
        return "";
      Deadline.emplace(unsigned(Left.count()) + 1);
    }
    Error E = Evaluator.judge(C);
    if (E) {
      consumeError(std::move(E));
      return "";
    }
    return verdictText(C.Record);
  };
  auto Done = [&](size_t Index, const TaskResult &R) {
    CandidateRecord Record = Candidates[Index]->Record;
    if (R.K == TaskResult::Kind::Done && !R.Answer.empty() &&
        readVerdict(R.Answer, Record))
      Records[Index] = std::move(Record);
    return true;
  };
  // As long as it takes: the gate bounds itself.
  constexpr unsigned Years = std::numeric_limits<int>::max();
  const unsigned Workers =
      std::min<size_t>(Jobs, std::max<size_t>(Candidates.size(), 1));
  if (Error E = runTasks(Tasks, {Workers, Years, Years}, Job, Done))
    consumeError(std::move(E)); // Then one after the other.
  return Records;
}

} // namespace cupilot
