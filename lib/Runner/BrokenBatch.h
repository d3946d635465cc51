//===- BrokenBatch.h - A batch that cannot be run -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_RUNNER_BROKENBATCH_H
#define CUPILOT_LIB_RUNNER_BROKENBATCH_H

#include "cupilot/Portable/Failure.h"
#include <string>

namespace cupilot::runner {

/// The batch, or what belongs to it, is damaged: \p What says how.
[[noreturn]] inline void broken(const std::string &What) {
  throw Failure(FailureKind::BrokenBatch, What);
}

} // namespace cupilot::runner

#endif // CUPILOT_LIB_RUNNER_BROKENBATCH_H
