//===- DeviceTurn.h - Runners take turns on a GPU -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_RUNNER_DEVICETURN_H
#define CUPILOT_LIB_RUNNER_DEVICETURN_H

#include <string>

namespace cupilot::runner {

/// Folder of the machine cache, as of cuPilot's other tools; "": there is none.
std::string cacheFolder();

/// Waits for the other runners of this user on the GPU \p Uuid, and keeps them
/// waiting: what runs at the same time would be timed, too. The system gives
/// the turn back however the runner ends.
class DeviceTurn {
public:
  explicit DeviceTurn(const std::string &Uuid);
  ~DeviceTurn();
  DeviceTurn(const DeviceTurn &) = delete;

private:
  int FD = -1; ///< -1: without a cache nobody knows of the others.
};

} // namespace cupilot::runner

#endif // CUPILOT_LIB_RUNNER_DEVICETURN_H
