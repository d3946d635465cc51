//===- Profile.cpp - Requests for hardware counters -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counters around one run of a program, by CUPTI's range profiler. What a
// machine does not permit is a reason in the result and no failure: who asked
// has other figures.
//
//===----------------------------------------------------------------------===//

#include "Evaluator.h"
#include "Flush.h"
#include "LoadedProgram.h"
#include "Wire.h"
#include "Worker.h"
#include "cupilot/Portable/Failure.h"
#include "cupilot/Profile/Metrics.h"
#include "cupilot/Profile/RangeProfiler.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <nlohmann/json.hpp>

using nlohmann::json;

namespace cupilot::runner {

/// The metrics of the sets \p Words; all where there are none. Each once.
static std::vector<ProfileMetric>
metricsOf(const std::vector<std::string> &Words) {
  if (Words.empty())
    return profileSet("");
  std::vector<ProfileMetric> Result;
  for (const std::string &Word : Words)
    for (const ProfileMetric &M : profileSet(Word.c_str()))
      if (std::ranges::none_of(Result, [&](const auto &Known) {
            return !std::strcmp(Known.Key, M.Key);
          }))
        Result.push_back(M);
  return Result;
}

json Worker::profile(const json &Message) {
  Case C = caseFromJson(Message.at("case"));
  Program P = programFromJson(Message.at("program"));
  LoadedProgram Loaded(*G, P, C, Message.at("images").get<ImageFiles>(),
                       Message.at("variables").get<std::vector<std::string>>());
  DeviceCase Memory(*G, C, Message.at("files").get<std::vector<std::string>>(),
                    0);
  Memory.keepPristine();
  BoundProgram Bound = Loaded.bind(Memory);
  CacheFlush Flush(*G);
  // A kernel that fails would be blamed on the profiler.
  std::exception_ptr Failed;
  auto Guarded = [&](auto Do) {
    try {
      Do();
      return true;
    } catch (const Failure &) {
      Failed = std::current_exception();
      return false;
    }
  };
  auto Prepare = [&] {
    return Guarded([&] {
      sendMessage(FD, {{"progress", "running"}});
      Memory.restore();
      Loaded.restore();
      Flush.enqueue();
      G->synchronize("making a run ready");
    });
  };
  // What the host does beside it would count as time in which the GPU idles.
  auto Launch = [&] { return Guarded([&] { Loaded.launch(Bound); }); };
  auto Finish = [&] {
    return Guarded(
        [&] { G->synchronize("running '" + P.Launches.front().Symbol + "'"); });
  };
  if (!Prepare() || !Launch() || !Finish())
    std::rethrow_exception(Failed);
  std::vector<ProfileMetric> Metrics =
      metricsOf(Message.at("sets").get<std::vector<std::string>>());
  json Result = {{"metrics", json::object()}};
  const char *Library = std::getenv("CUPILOT_CUPTI");
  std::string Reason;
  std::unique_ptr<RangeProfiler> Profiler =
      RangeProfiler::open(Library ? Library : "", Reason);
  if (!Profiler) {
    Result["why_not"] = Reason;
    return Result;
  }
  std::vector<std::string> Names;
  Names.reserve(Metrics.size());
  for (const ProfileMetric &M : Metrics)
    Names.emplace_back(M.Name);
  ProfileResult Got = Profiler->collect(Device, Names, Prepare, Launch);
  if (Failed)
    std::rethrow_exception(Failed);
  for (const ProfileMetric &M : Metrics)
    if (auto At = Got.Values.find(M.Name); At != Got.Values.end())
      Result["metrics"][M.Key] = At->second;
  if (Got.Reason)
    Result["why_not"] = *Got.Reason;
  Result["passes"] = Got.Passes;
  Result["unknown"] = Got.Unknown;
  return Result;
}

/// Of the candidate, else the original. Any program may be asked for, but its
/// process is not used for anything else.
json Evaluator::profile(const Request &R) {
  const bool IsCandidate = R.Candidate.has_value();
  const Program &P = IsCandidate ? *R.Candidate : *R.Original;
  const Case &C = B.Cases[R.Case];
  Blame = IsCandidate ? "candidate" : "original";
  Candidate.reset();
  json Message = {{"do", "profile"},        {"case", toJson(C)},
                  {"program", toJson(P)},   {"images", In.images(P)},
                  {"files", In.buffers(C)}, {"variables", In.variables(C)},
                  {"sets", R.Tools}};
  // Loading CUPTI and compiling its passes takes seconds.
  Child &W = worker(Candidate);
  json Result;
  try {
    Result = W.ask(Message, copyMs(C) + 60000, int64_t(R.TimeoutMs) + 60000);
    Result.erase("ok");
    Result["device"] = W.greeting().at("devices").at(size_t(Device));
  } catch (const Failure &F) {
    Candidate.reset();
    if (F.kind() != FailureKind::WorkerLost)
      throw;
    Result = {
        {"metrics", json::object()},
        {"why_not", std::string("the profiled process ended: ") + F.what()}};
  }
  Candidate.reset();
  return Result;
}

} // namespace cupilot::runner
