//===- EvaluateTime.cpp - Requests about times -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Evaluator.h"
#include "Nvml.h"
#include "cupilot/Portable/Failure.h"
#include "cupilot/Runner/Compare.h"
#include "cupilot/Runner/Statistics.h"
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <unistd.h>

using nlohmann::json;
using Clock = std::chrono::steady_clock;

namespace cupilot::runner {

static double millisecondsSince(Clock::time_point From) {
  return std::chrono::duration<double, std::milli>(Clock::now() - From).count();
}

namespace {
/// The rounds of a comparison and what they say.
struct Sampling {
  explicit Sampling(const TimeLimits &Limits) : Limits(Limits) {}
  const TimeLimits &Limits;
  std::vector<double> Logs; ///< log(original / candidate), one a round.
  std::vector<double> Original, Candidate;
  void add(const json &Round);
  Interval interval() const {
    return medianInterval(Logs, Looks::errorOf(Limits.Error));
  }
  bool full() const {
    return Limits.MostRounds && Logs.size() >= Limits.MostRounds;
  }
  bool narrow() const {
    Interval I = interval();
    return I.High - I.Low <= 2 * Limits.Precision;
  }
};
} // namespace

void Sampling::add(const json &Round) {
  auto Times = Round.at("us").get<std::array<double, 4>>();
  bool CandidateFirst = Round.at("candidate_first").get<bool>();
  // Two by two, so that rounding does not depend on the order of the runs.
  double OriginalLogs = 0, CandidateLogs = 0;
  for (unsigned Slot = 0; Slot < 4; ++Slot) {
    bool Outer = Slot == 0 || Slot == 3, IsCandidate = Outer == CandidateFirst;
    double T = std::max(Times[Slot], 1e-3); // A clock that stood still.
    (IsCandidate ? Candidate : Original).push_back(T);
    (IsCandidate ? CandidateLogs : OriginalLogs) += std::log(T);
  }
  Logs.push_back((OriginalLogs - CandidateLogs) / 2);
}

static double quantile(std::vector<double> Values, double Q) {
  std::sort(Values.begin(), Values.end());
  return Values[size_t(Q * double(Values.size() - 1))];
}

static json describe(const std::vector<double> &Times, const json &Steady) {
  return {{"median_us", medianOf(Times)},
          {"low_us", quantile(Times, 0.05)},
          {"high_us", quantile(Times, 0.95)},
          {"outliers", countOutliers(Times)},
          {"warm_us", Steady.at("events_us")},
          {"warm_wall_us", Steady.at("wall_us")}};
}

/// Whether the GPU's clock hides time of the candidate's that the host's shows.
static bool clocksDisagree(const json &Steady) {
  auto Gap = [&](const char *Who, double &Events) {
    Events = Steady.at(Who).at("events_us").get<double>();
    return Steady.at(Who).at("wall_us").get<double>() - Events;
  };
  double A = 0, C = 0;
  double Before = Gap("original", A), After = Gap("candidate", C);
  return After > std::max(Before, 0.0) + 0.25 * C + 50;
}

json Evaluator::time(const Request &R) {
  const Case &C = B.Cases[R.Case];
  const auto TimeoutMs = int64_t(R.TimeoutMs);
  Blame = "candidate";
  std::vector<std::vector<std::string>> Sets;
  Sets.reserve(R.Time.Sets);
  for (unsigned I = 0; I < R.Time.Sets; ++I)
    Sets.push_back(In.buffers(C, I));
  std::map<std::string, std::string> Images = In.images(*R.Original);
  Images.merge(In.images(*R.Candidate));
  Child &W = worker(Candidate);
  json ClocksBefore = readClocks(Uuid);
  auto Ask = [&](const json &Message, int64_t Ms, int64_t RunMs) {
    try {
      return W.ask(Message, Ms, RunMs);
    } catch (const Failure &) {
      Candidate.reset();
      throw;
    }
  };
  std::random_device Entropy; // What is checked must not be known before.
  json Opened = Ask({{"do", "time-open"},
                     {"case", toJson(C)},
                     {"original", toJson(*R.Original)},
                     {"candidate", toJson(*R.Candidate)},
                     {"images", Images},
                     {"sets", Sets},
                     {"variables", In.variables(C)},
                     {"seed", Entropy()}},
                    copyMs(C) * int64_t(Sets.size()), 8 * TimeoutMs);
  Sampling S(R.Time);
  json SnapshotSet, Rounds = json::array();
  std::string Save = Scratch.fresh("time-" + std::to_string(Device));
  auto Begin = Clock::now();
  double RoundMs = 0;
  bool OutOfBudget = false;
  constexpr double FirstLook = 10;
  for (unsigned Look = 0; Look < Looks::Count && !OutOfBudget && !S.full();
       ++Look) {
    while (S.Logs.size() < Looks::roundsAt(Look)) {
      // Fewer rounds than those of the first look say nothing at all.
      double Left = double(R.Time.BudgetMs) * (Look == 0 ? FirstLook : 1) -
                    millisecondsSince(Begin);
      if (Left <= 0 && !S.Logs.empty()) {
        OutOfBudget = true;
        break;
      }
      size_t Count = Looks::roundsAt(Look) - S.Logs.size();
      if (S.Logs.empty())
        Count = 1; // To know how long one is.
      else
        Count = std::clamp<size_t>(size_t(Left / RoundMs), 1, Count);
      json Message = {{"do", "time-rounds"}, {"rounds", Count}};
      Message["snapshot"] = Entropy() % Count;
      auto From = Clock::now();
      json Got =
          Ask(Message, 4 * TimeoutMs + int64_t(4 * RoundMs * double(Count)), 0);
      RoundMs = std::max(millisecondsSince(From) / double(Count), 0.01);
      for (const json &Round : Got.at("rounds")) {
        S.add(Round);
        Rounds.push_back(Round);
      }
      SnapshotSet = Got.at("snapshot_set");
    }
    if (!OutOfBudget && S.narrow())
      break;
  }
  json Snapshot = Ask({{"do", "time-snapshot"}, {"save", Save}}, copyMs(C), 0);
  Snapshot["set"] = std::move(SnapshotSet);
  // A busy host shows time that no GPU took; one that is hidden is always so.
  constexpr unsigned MostLooks = 5;
  json Steady;
  bool Disagree = true;
  for (unsigned Look = 0; Look < MostLooks && Disagree; ++Look) {
    Steady = Ask({{"do", "time-steady"}}, 20 * TimeoutMs, 0);
    Disagree = clocksDisagree(Steady);
  }
  Interval I = S.interval();
  auto Finite = [](double V) { return std::isfinite(V) ? json(V) : json(); };
  json Result = {
      {"call", wordOf(callOf(I, R.Time.Margin))},
      {"ratio", Finite(std::exp(I.Mid))},
      {"low", std::isfinite(I.Low) ? json(std::exp(I.Low)) : json()},
      {"high", std::isfinite(I.High) ? json(std::exp(I.High)) : json()},
      {"narrow", S.narrow()},
      {"rounds", S.Logs.size()},
      {"round_outliers", countOutliers(S.Logs)},
      {"sets", Opened.at("sets")},
      {"repeats", Opened.at("repeats")},
      {"flush", Opened.at("flush")},
      {"timer", "events"},
      {"empty_us", Opened.at("empty_us")},
      {"original", describe(S.Original, Steady.at("original"))},
      {"candidate", describe(S.Candidate, Steady.at("candidate"))},
      {"clocks_disagree", Disagree},
      {"clocks_before", std::move(ClocksBefore)},
      {"clocks_after", readClocks(Uuid)}};
  Result["verified"] = verifySnapshot(R, Snapshot);
  // Times of wrong results, or by a clock that is not right, say nothing.
  Result["same"] = Result["verified"]["same"];
  if (!Result["same"] || Disagree)
    Result["call"] = wordOf(Call::Invalid);
  json Samples = json::array();
  for (const json &Round : Rounds)
    Samples.push_back(
        {Round.at("set"), Round.at("candidate_first"), Round.at("us")});
  Result["samples"] = std::move(Samples);
  return Result;
}

/// The results of a round in the middle of the timing, that nobody knew would
/// be looked at, against the original's in a process of its own. The original's
/// own results too: who spoils its inputs makes it slow.
json Evaluator::verifySnapshot(const Request &R, const json &Snapshot) {
  const Case &C = B.Cases[R.Case];
  auto Set = Snapshot.at("set").get<unsigned>();
  const RunFiles &Expected = reference(R, Set);
  Blame = "";
  json Result = {{"set", Set}};
  bool Same = true;
  for (const char *Who : {"original", "candidate"}) {
    json Buffers = json::array();
    for (size_t I = 0; I < C.Buffers.size(); ++I) {
      auto Path = Snapshot.at(Who).at(I).get<std::string>();
      if (Path.empty()) {
        Buffers.push_back(nullptr);
        continue;
      }
      json J = compareFiles(Expected.Buffers[I], Path, C.Buffers[I], R);
      Same &= isTolerable(J) && J["unwritten"] == 0;
      Buffers.push_back(std::move(J));
      ::unlink(Path.c_str());
    }
    Result[Who] = std::move(Buffers);
  }
  Result["same"] = Same;
  return Result;
}

} // namespace cupilot::runner
