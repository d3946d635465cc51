//===- DeviceOps.cpp - The opcodes that the run time executes ---*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceOps.h"

using namespace llvm;

namespace cupilot {

std::optional<OpRule> findOp(ArrayRef<StringRef> Parts) {
  for (auto Find : {findMma, findWmma, findMatrixMove, findWgmma, findAsyncCopy,
                    findBulkCopy, findMbarrier, findWarpMisc})
    if (std::optional<OpRule> Rule = Find(Parts))
      return Rule;
  return std::nullopt;
}

} // namespace cupilot
