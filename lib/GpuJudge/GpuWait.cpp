//===- GpuWait.cpp - Waiting for results of a GPU -------------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/GpuJudge/GpuDevice.h"
#include "cupilot/Portable/Failure.h"
#include "cupilot/Runner/ReadResults.h"
#include "cupilot/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

using namespace llvm;

namespace cupilot {

char ResultsAwaited::ID = 0;

GpuProgress progressOf(StringRef Folder, const runner::Batch &B) {
  GpuProgress P;
  P.All = B.Requests.size();
  for (const runner::Request &R : B.Requests) {
    bool Whole = false;
    try {
      Whole = runner::readResult(Folder.str(), B, R).has_value();
    } catch (const Failure &) {
    }
    P.Ready += Whole;
    std::string Path = (Folder + "/results/" + R.Id + ".json").str();
    if (!Whole && sys::fs::exists(Path))
      P.Damaged.push_back(std::move(Path));
  }
  return P;
}

static Error damaged(const GpuProgress &P) {
  std::string Others;
  if (P.Damaged.size() > 1)
    Others = ", and " + std::to_string(P.Damaged.size() - 1) + " other(s)";
  return resourceError("the result '" + P.Damaged.front() +
                           "' is damaged, or belongs to another batch" + Others,
                       "copy it again, or delete it and run cupilot-runner "
                       "again: only that request is evaluated again");
}

Expected<GpuResults> awaitResults(GpuDevice &D, const GpuBatch &B,
                                  const GpuPatience &Patience) {
  using Clock = std::chrono::steady_clock;
  const std::string Folder = D.folder(B);
  D.setTeller(Patience.Tell);
  auto Tell = [&](const Twine &Text) {
    if (Patience.Tell)
      Patience.Tell(Text);
  };
  // On this machine's GPU another process works on the same batch: nobody else
  // has to do anything.
  const bool Waits = Patience.Wait || D.worksByItself();
  size_t Told = 0, KnownDamaged = 0;
  Clock::time_point DamagedSince;
  std::chrono::milliseconds Pause(100);
  for (bool First = true;; First = false) {
    if (First)
      Tell(B.batch().Id + ": " + Twine(B.batch().Requests.size()) +
           " request(s), in " + Folder);
    Expected<std::optional<GpuResults>> Results = D.evaluate(B);
    if (!Results)
      return Results.takeError();
    if (*Results)
      return std::move(**Results);
    GpuProgress P = progressOf(Folder, B.batch());
    if (P.Damaged.size() != KnownDamaged)
      DamagedSince = Clock::now();
    KnownDamaged = P.Damaged.size();
    if (KnownDamaged &&
        (!Waits || Clock::now() - DamagedSince >
                       std::chrono::seconds(Patience.DamagedSeconds)))
      return damaged(P);
    if (!Waits)
      return make_error<ResultsAwaited>(
          "the results of " + B.batch().Id + " are not available yet (" +
              Twine(P.Ready) + " of " + Twine(P.All) + ")",
          D.waiting(B));
    if (First)
      Tell("waiting for its results: " + D.waiting(B));
    if (P.Ready != Told)
      Tell(B.batch().Id + ": " + Twine(P.Ready) + " of " + Twine(P.All) +
           " result(s)");
    Told = P.Ready;
    std::this_thread::sleep_for(Pause);
    Pause = std::min(Pause * 3 / 2, std::chrono::milliseconds(5000));
  }
}

} // namespace cupilot
