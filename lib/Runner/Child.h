//===- Child.h - A worker process, as the runner sees it -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_RUNNER_CHILD_H
#define CUPILOT_LIB_RUNNER_CHILD_H

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <sys/types.h>

namespace cupilot::runner {

/// A worker process with an open device. It is killed with the object, and by
/// itself when the runner ends.
class Child {
public:
  /// Starts \p Program as a worker on device \p Device; a negative one only
  /// asks which there are. Failures: as the worker's; worker-lost.
  Child(const std::string &Program, int Device, const std::string &Diagnostics);
  ~Child();
  Child(const Child &) = delete;

  /// Sends \p Message and waits for the answer, \p TimeoutMs at most for
  /// what the worker prepares and copies, and \p RunMs for each run that it
  /// says it starts. Where none comes in time, a failure may still be reported
  /// for CUPILOT_RUNNER_REPORT_MS; then the worker is killed and the failure is
  /// "timeout"; where the worker dies, "worker-lost". A worker that
  /// failed is not to be used again.
  nlohmann::json ask(const nlohmann::json &Message, int64_t TimeoutMs,
                     int64_t RunMs = 0);
  const nlohmann::json &greeting() const;

private:
  void end();
  std::string lastWords() const;

  pid_t Pid = -1;
  int FD = -1;
  std::string Diagnostics; ///< File with what the process printed.
  std::unique_ptr<nlohmann::json> Greeting;
};

} // namespace cupilot::runner

#endif // CUPILOT_LIB_RUNNER_CHILD_H
