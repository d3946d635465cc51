//===- Generate.cpp - The content of described buffers -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Evaluation/Described.h"
#include "cupilot/Portable/Failure.h"
#include "cupilot/Runner/Numbers.h"
#include "cupilot/Support/Error.h"

using namespace llvm;

namespace cupilot {

// The runner makes the same bytes on GPU machines, where there is no LLVM.
Expected<std::vector<uint8_t>> generateContent(StringRef Generator,
                                               uint64_t Size) {
  try {
    return runner::generate({Generator.data(), Generator.size()}, Size);
  } catch (const Failure &F) {
    return usageError(F.what(),
                      "TYPE zeros|ones|uniform|normal|rand|randn|iota|"
                      "permutation|heavy-tailed|value=V [seed=N] [low=A] "
                      "[high=B]");
  }
}

} // namespace cupilot
