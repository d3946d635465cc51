//===- Rounding.h - What a relaxed contract lets products lose -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_EVALUATION_ROUNDING_H
#define CUPILOT_LIB_EVALUATION_ROUNDING_H

#include "Compare.h"

namespace cupilot {

/// Bits behind the point that operands of products keep under a relaxed
/// contract: the fewest with which a product of two rounded ones is off by
/// \p Tolerance at most.
unsigned grantedBits(double Tolerance);

/// Whether numbers of the original's, in between or at the end, are infinite or
/// denormal on \p J although the float64 run is well: what is right cannot be
/// told then.
bool leavesFormats(const JudgedCase &J);

} // namespace cupilot

#endif // CUPILOT_LIB_EVALUATION_ROUNDING_H
