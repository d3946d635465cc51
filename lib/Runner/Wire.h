//===- Wire.h - Messages between the runner and its workers -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_RUNNER_WIRE_H
#define CUPILOT_LIB_RUNNER_WIRE_H

#include <nlohmann/json_fwd.hpp>
#include <optional>

namespace cupilot::runner {

/// The descriptor that a worker finds its end of the connection on.
inline constexpr int WorkerDescriptor = 3;

/// Sends one message; false when the other end is gone.
bool sendMessage(int FD, const nlohmann::json &Message);

enum class Received { Message, Closed, Late };
/// Waits \p TimeoutMs at most; a negative one waits for ever.
Received receiveMessage(int FD, nlohmann::json &Message, int64_t TimeoutMs);

} // namespace cupilot::runner

#endif // CUPILOT_LIB_RUNNER_WIRE_H
