//===- Capture.h - Recording launches -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_CPUDEVICE_RUNTIME_CAPTURE_H
#define CUPILOT_LIB_CPUDEVICE_RUNTIME_CAPTURE_H

#include "cupilot/CpuDevice/CpuDevice.h"
#include <map>
#include <nlohmann/json.hpp>

namespace cupilot {

/// Writes launches to a folder: launches.json and one file per content, named
/// by digest. Launches of one kernel with the same shape and the same bytes
/// outside of pointers are recorded once and counted.
class Capture {
public:
  explicit Capture(std::string Folder) : Folder(std::move(Folder)) {}

  /// Called before a launch. \p Sizes are the parameters' sizes, \p Variables
  /// those of the module's that the program can see.
  void before(const std::string &Kernel, const LaunchShape &Shape,
              const std::vector<uint64_t> &Sizes, void *const *Args,
              const std::map<char *, size_t> &Allocations,
              const CpuModule &Module,
              const std::vector<std::string> &Variables);
  /// Called after it: its modelled time in microseconds.
  void after(double Cost);
  /// Writes launches.json. False when that failed.
  bool finish();

private:
  std::string store(const void *Data, size_t Size);
  std::string Folder;
  nlohmann::json Launches = nlohmann::json::array();
  std::map<std::string, size_t> Known; ///< Key to index in Launches.
  size_t Current = 0;
  uint64_t Stored = 0; ///< Bytes written so far.
  bool Failed = false;
};

} // namespace cupilot

#endif // CUPILOT_LIB_CPUDEVICE_RUNTIME_CAPTURE_H
