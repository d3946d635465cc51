//===- Results.h - The results of a batch -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_RUNNER_RESULTS_H
#define CUPILOT_LIB_RUNNER_RESULTS_H

#include "cupilot/Runner/Batch.h"
#include <map>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace cupilot::runner {

/// DIR/results and DIR/attempts. A result appears under its name when it is
/// whole, and belongs to exactly one request by that request's digest.
class ResultFolder {
public:
  ResultFolder(std::string Folder, const Batch &B);
  /// The result of \p R that is there already; nothing when there is none, or
  /// one that is damaged or of another request of that name.
  std::optional<nlohmann::json> find(const Request &R) const;
  /// Writes \p Result (status, reason, ...) with what identifies it.
  void put(const Request &R, nlohmann::json Result);
  /// Keeps \p Bytes under their digest, which it returns.
  std::string putData(std::string_view Bytes);
  /// Notes that \p R is begun; how often it was before without an end.
  unsigned begin(const Request &R);
  /// What was begun and has no result counts as if it never was, and nothing is
  /// written from then on: workers end by the same signal.
  void withdraw();

private:
  std::string attempts(const std::string &Id) const {
    return Folder + "/attempts/" + Id;
  }

  std::string Folder;
  const Batch &B;
  std::mutex Lock;                       ///< Of what follows.
  std::map<std::string, unsigned> Begun; ///< Attempts before this one.
  bool Closed = false;
};

} // namespace cupilot::runner

#endif // CUPILOT_LIB_RUNNER_RESULTS_H
