//===- Replay.h - Launching a recorded kernel again -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_TOOLS_CAPTURE_REPLAY_H
#define CUPILOT_TOOLS_CAPTURE_REPLAY_H

#include "cupilot/Capture/Record.h"

namespace cupilot::capture {

/// Replays the kept launches from number \p First on and prints a line for
/// each: its number, a tabulator, and "same", "close: ...", "differs: ..." or
/// "failed: ...". A launch may end this process: the caller starts it again.
std::optional<Failure> replayLaunches(const std::string &Folder, size_t First);

} // namespace cupilot::capture

#endif // CUPILOT_TOOLS_CAPTURE_REPLAY_H
