//===- Worker.h - The process that touches a GPU -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_RUNNER_WORKER_H
#define CUPILOT_LIB_RUNNER_WORKER_H

#include "Gpu.h"
#include "Timing.h"
#include <nlohmann/json_fwd.hpp>

namespace cupilot::runner {

/// What a worker process holds: a context on one GPU, and what it times. It
/// obeys messages until one fails or the runner is gone. The device code of
/// candidates runs in its context, so nothing that decides about a candidate
/// lies in it: contents come as files, results go as files.
class Worker {
public:
  explicit Worker(int FD) : FD(FD) {}
  /// The process's exit status.
  int serve();

private:
  nlohmann::json obey(const nlohmann::json &Message);
  nlohmann::json open(const nlohmann::json &Message);
  nlohmann::json run(const nlohmann::json &Message);
  nlohmann::json timeOpen(const nlohmann::json &Message);
  nlohmann::json timeRounds(const nlohmann::json &Message);
  nlohmann::json timeSnapshot(const nlohmann::json &Message);
  nlohmann::json timeSteady();
  nlohmann::json profile(const nlohmann::json &Message);

  int FD;
  std::unique_ptr<Gpu> G;
  int Device = 0;
  // What is being timed; the programs refer to the others.
  std::unique_ptr<Case> TimedCase;
  std::unique_ptr<Program> TimedOriginal, TimedCandidate;
  std::unique_ptr<Timing> Timed;
};

nlohmann::json toJson(const GpuInfo &I);

} // namespace cupilot::runner

#endif // CUPILOT_LIB_RUNNER_WORKER_H
