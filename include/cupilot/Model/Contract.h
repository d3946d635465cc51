//===- Contract.h - How exact a variant must be -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MODEL_CONTRACT_H
#define CUPILOT_MODEL_CONTRACT_H

#include "llvm/Support/Error.h"
#include <string>

namespace cupilot {

/// How exact a variant must be.
struct PrecisionContract {
  enum class Kind { Exact, Same, Relaxed };
  Kind K = Kind::Same;
  double RelativeTolerance = 0; ///< For Relaxed: of each number.
  /// For Relaxed: what |out - ref| / |ref| of a buffer may be on a workload's
  /// own inputs, beyond the original's own; 0 for no such bound.
  double NormTolerance = 0;
  bool operator==(const PrecisionContract &) const = default;
};

/// "exact", "same", "relaxed(0.004)", "relaxed(0.004, 0.0004)".
std::string contractText(const PrecisionContract &C);
/// What such a text stands for; another one is a usage error.
llvm::Expected<PrecisionContract> parseContract(llvm::StringRef Text);

} // namespace cupilot

#endif // CUPILOT_MODEL_CONTRACT_H
