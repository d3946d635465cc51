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
#include <vector>

namespace cupilot {

/// What the author promises of the numbers in a buffer before a launch: the
/// largest magnitude among the finite ones is 0, or lies in Low to High.
/// Smaller numbers beside it do not count, as errors are measured against a
/// buffer's root mean square.
struct MagnitudeRange {
  std::string Buffer; ///< A pointer parameter; "" for all that have no own.
  double Low = 0, High = 0;
  bool operator==(const MagnitudeRange &) const = default;
};

/// How exact a variant must be.
struct PrecisionContract {
  enum class Kind { Exact, Same, Relaxed };
  Kind K = Kind::Same;
  double RelativeTolerance = 0; ///< For Relaxed: of each number.
  /// For Relaxed: what |out - ref| / |ref| of a buffer may be on a workload's
  /// own inputs, beyond the original's own; 0 for no such bound.
  double NormTolerance = 0;
  /// For Relaxed: where a variant need not keep the range of float. At most one
  /// for each buffer, sorted by it.
  std::vector<MagnitudeRange> Ranges = {};
  bool Biased = false; ///< For Relaxed: errors may lean to one side.
  bool operator==(const PrecisionContract &) const = default;
  /// The range of the pointer parameter \p Name: its own, or that of all; null
  /// where nothing is promised.
  const MagnitudeRange *rangeOf(llvm::StringRef Name) const;
};

/// "exact", "same", "relaxed(0.004)", "relaxed(0.004, 0.0004)",
/// "relaxed(0.004, range=0.001..10000, range(w)=0.01..1, biased)".
std::string contractText(const PrecisionContract &C);
/// What such a text stands for. Another one is a usage error, and so is one
/// that contradicts itself.
llvm::Expected<PrecisionContract> parseContract(llvm::StringRef Text);
/// What in \p C contradicts itself, or is no number that it can be; "" when
/// nothing. All contracts that are read pass it.
std::string faultOf(const PrecisionContract &C);

/// What builds say beside a variant under \p Contract: ", under relaxed(0.004,
/// range=0.001..10000)" where it holds only as far as the author's promises do,
/// or where errors may lean; "" else.
std::string contractRemark(llvm::StringRef Contract);

} // namespace cupilot

#endif // CUPILOT_MODEL_CONTRACT_H
