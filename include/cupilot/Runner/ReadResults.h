//===- ReadResults.h - What came back from a GPU machine -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_RUNNER_READRESULTS_H
#define CUPILOT_RUNNER_READRESULTS_H

#include "cupilot/Runner/Batch.h"
#include <nlohmann/json_fwd.hpp>

namespace cupilot::runner {

/// The result of \p R in the batch's folder; nothing when there is none yet, or
/// one that was cut off, changed, or made for another request of that name.
std::optional<nlohmann::json> readResult(const std::string &Folder,
                                         const Batch &B, const Request &R);

} // namespace cupilot::runner

#endif // CUPILOT_RUNNER_READRESULTS_H
