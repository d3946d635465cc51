//===- Bisection.h - The few of many that break something -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_STORE_BISECTION_H
#define CUPILOT_STORE_BISECTION_H

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

namespace cupilot {

/// What a test says of a set.
enum class BisectAnswer { Good, Bad, Skip };

/// Tests one set; the number says how many tests are left at least.
using BisectTest = llvm::function_ref<llvm::Expected<BisectAnswer>(
    const llvm::BitVector &, unsigned StepsLeft)>;

struct BisectResult {
  enum class Kind {
    Found,      ///< Culprits is a smallest set: without any of them it is good.
    NothingBad, ///< All together are good.
    AlwaysBad,  ///< None at all is bad too.
    Undecidable, ///< Tests were skipped: a culprit is among Culprits.
    Unsteady     ///< The same set was good and bad.
  };
  Kind K = Kind::Found;
  llvm::BitVector Culprits;
  unsigned Tests = 0;
};

/// Finds which of \p Count things make \p Test bad, in about log2(Count) tests
/// for each of them. No set is tested twice but to confirm the result.
llvm::Expected<BisectResult> bisect(unsigned Count, BisectTest Test);

} // namespace cupilot

#endif // CUPILOT_STORE_BISECTION_H
