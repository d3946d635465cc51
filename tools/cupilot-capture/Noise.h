//===- Noise.h - Replays with noise, in processes of their own -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The recorder writes a request: a launch, what its program's memory is called
// for other processes, and what its variables hold. A process without a device
// (inferTouched) looks for the ranges; another one (replayWithNoise), which may
// fault and is replaced then, replays the launch on copies.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_TOOLS_CAPTURE_NOISE_H
#define CUPILOT_TOOLS_CAPTURE_NOISE_H

#include "cupilot/Capture/Infer.h"
#include <nlohmann/json.hpp>

namespace cupilot::capture {

/// A request, which lies in the recording's folder.
struct NoiseRequest {
  Launch What;                      ///< Its buffers are the allocations.
  std::vector<std::string> Handles; ///< Of these, for other processes.
  std::string Folder;
  uint64_t WaitMs = 0; ///< For one replay.
  uint64_t MostMs = 0; ///< For all of them.
};
nlohmann::json toJson(const NoiseRequest &R);
std::optional<NoiseRequest> readRequest(const std::string &Path);

/// [[[base, size], ...], ...], and back; nothing where it is none.
nlohmann::json toJson(const Ranges &R);
std::optional<Ranges> rangesOf(const nlohmann::json &J);

/// Answers the request at \p Path with one line: what is read and written, and
/// whether all pointers into an allocation share one buffer; or why that is not
/// known. \p Self is this program.
int inferTouched(const std::string &Self, const std::string &Path);
/// Answers the requests of inferTouched until its input ends.
int replayWithNoise(const std::string &Path);

} // namespace cupilot::capture

#endif // CUPILOT_TOOLS_CAPTURE_NOISE_H
