//===- Runner.h - Working through a batch -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_RUNNER_RUNNER_H
#define CUPILOT_RUNNER_RUNNER_H

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace cupilot::runner {

struct RunnerOptions {
  std::string Executable;   ///< What workers are started from: this program.
  std::string Folder;       ///< Of the batch.
  std::vector<int> Devices; ///< Empty: all.
  /// One group of groupsOf() alone, beside runners of others.
  std::optional<unsigned> Group;
  std::string Card; ///< GPUs of this name alone; "": any.
};

/// How a batch came out.
struct RunnerSummary {
  unsigned Done = 0;    ///< Evaluated now.
  unsigned Before = 0;  ///< Results that were there already.
  unsigned Faults = 0;  ///< Of all: faults and errors.
  unsigned Missing = 0; ///< Requests without a result.
  std::string Lost;     ///< Why requests have none.
};

/// Evaluates all requests that have no result yet, on several GPUs at once,
/// and tells of each on standard error. Failures: those of readBatch,
/// no-driver, no-device, in-use, disk.
RunnerSummary runBatch(const RunnerOptions &Options);

/// The GPUs of this machine, as results name them. Failures as above.
nlohmann::json listDevices(const std::string &Executable);

/// The ceilings of a device, from the machine cache or measured now and kept
/// there.
nlohmann::json deviceCeilings(const std::string &Executable, int Device,
                              bool Anew);

/// Writes the PTX of the kernels that measure ceilings, for people and ptxas:
/// FOLDER/ARCH-NAME.ptx.
void writeCeilingKernels(const std::string &Folder);

/// What a worker process does; its exit status.
int serveAsWorker();
/// Runs the one program that the file \p Path describes, for compute-sanitizer.
int replay(const std::string &Path);

} // namespace cupilot::runner

#endif // CUPILOT_RUNNER_RUNNER_H
