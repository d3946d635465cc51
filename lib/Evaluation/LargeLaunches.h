//===- LargeLaunches.h - Launches for a GPU alone -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_LARGELAUNCHES_H
#define CUPILOT_LIB_EVALUATION_LARGELAUNCHES_H

#include "Original.h"

namespace cupilot {

/// Gate::largeLaunches().
llvm::Expected<std::vector<LargeLaunch>>
findLargeLaunches(OriginalRuns &O, llvm::ArrayRef<Workload> OnGpu,
                  uint64_t MostBytes);

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_LARGELAUNCHES_H
