//===- SliceCuts.h - What of a piece is left out -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_FRONTEND_SLICECUTS_H
#define CUPILOT_LIB_FRONTEND_SLICECUTS_H

#include "Closure.h"

namespace cupilot {

/// Tokens that are left out, and what stands in their place.
struct Cut {
  TokenRange Range;
  std::string Instead;
};

/// Bodies of functions that are only declared or only run on the host, members
/// that nobody uses, members of classes that need no definition; in order.
std::vector<Cut> cutsOf(const Piece &P, const Closure &C,
                        const PieceTable &Pieces);

} // namespace cupilot

#endif // CUPILOT_LIB_FRONTEND_SLICECUTS_H
