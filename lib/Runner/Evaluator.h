//===- Evaluator.h - One GPU's share of a batch -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_RUNNER_EVALUATOR_H
#define CUPILOT_LIB_RUNNER_EVALUATOR_H

#include "Child.h"
#include "Inputs.h"
#include "Results.h"
#include <list>
#include <memory>

namespace cupilot::runner {

/// Milliseconds that copying the buffers of \p C may take on a slow bus.
int64_t copyMs(const Case &C);
/// What one buffer became, by its files.
nlohmann::json compareFiles(const std::string &Original, const std::string &Got,
                            const Buffer &Buf, const Request &R);
/// Nothing that compareFiles() found is beyond the tolerance.
bool isTolerable(const nlohmann::json &Compared);

/// What a program left behind, as files.
struct RunFiles {
  std::vector<std::string> Buffers;
  std::vector<bool> Borrowed; ///< By buffer: the file is the input's.
  std::vector<std::optional<std::string>> Variables; ///< Nothing: not there.
  std::vector<std::pair<uint64_t, uint64_t>> Stray;  ///< Of the guard bands.
  uint64_t ScratchStray = 0;
};

/// Evaluates requests on one GPU by worker processes. A candidate's runs have a
/// process of their own, which never holds the original's results; the
/// original's have another one, in which no candidate runs.
class Evaluator {
public:
  Evaluator(std::string Executable, int Device, const Batch &B, Inputs &In,
            ScratchFolder &Scratch, ResultFolder &Results);
  /// The result of \p R: never throws for what is wrong with the request or
  /// its programs. Failure: device-lost.
  nlohmann::json evaluate(const Request &R);
  /// Ends the candidate's process: the next request is another candidate's.
  void endGroup() { Candidate.reset(); }

private:
  nlohmann::json run(const Request &R);
  nlohmann::json compare(const Request &R);
  nlohmann::json time(const Request &R);
  nlohmann::json ceilings(const Request &R);
  nlohmann::json sanitize(const Request &R);
  nlohmann::json profile(const Request &R);

  Child &worker(std::unique_ptr<Child> &Place);
  RunFiles runIn(std::unique_ptr<Child> &Place, const Program &P, const Case &C,
                 uint64_t Variation, uint64_t TimeoutMs);
  const RunFiles &reference(const Request &R, uint64_t Variation);
  nlohmann::json compareRuns(const Request &R, const RunFiles &Original,
                             const RunFiles &Got);
  nlohmann::json verifySnapshot(const Request &R,
                                const nlohmann::json &Snapshot);
  void forget(const RunFiles &Files);

  std::string Executable;
  int Device;
  const Batch &B;
  Inputs &In;
  ScratchFolder &Scratch;
  ResultFolder &Results;
  std::unique_ptr<Child> Candidate, Original;
  std::string Uuid;
  uint64_t Runs = 0;
  std::string Blame; ///< Who was running when something failed.
  struct KnownReference {
    std::string Key;
    RunFiles Files;
    uint64_t Bytes = 0;
  };
  std::list<KnownReference> References; ///< The latest first.
};

} // namespace cupilot::runner

#endif // CUPILOT_LIB_RUNNER_EVALUATOR_H
