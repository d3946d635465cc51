//===- CountsJson.h - Counts and resources as JSON -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_ROOFLINE_COUNTSJSON_H
#define CUPILOT_ROOFLINE_COUNTSJSON_H

#include "cupilot/Roofline/CostModel.h"
#include "llvm/Support/JSON.h"

namespace cupilot {

/// "globalLoads", "fp32" ...: a key for each count.
llvm::json::Object toJSON(const ExecutionCounts &C);
bool fromJSON(const llvm::json::Value &V, ExecutionCounts &C,
              llvm::json::Path P);
llvm::json::Object toJSON(const KernelResources &R);
bool fromJSON(const llvm::json::Value &V, KernelResources &R,
              llvm::json::Path P);
/// Grid, block and shared memory.
llvm::json::Object toJSON(const LaunchShape &S);
bool fromJSON(const llvm::json::Value &V, LaunchShape &S, llvm::json::Path P);
/// Microseconds by term; an infinite time is null.
llvm::json::Object toJSON(const ModelledTime &T);

} // namespace cupilot

#endif // CUPILOT_ROOFLINE_COUNTSJSON_H
