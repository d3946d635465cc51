//===- Basis.h - Where a figure comes from -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_MODEL_BASIS_H
#define CUPILOT_MODEL_BASIS_H

#include "llvm/ADT/StringRef.h"

namespace cupilot {

/// Where a figure comes from; in the order of the dialect's BasisKind.
enum class Basis {
  Static,   ///< Read from code.
  Modelled, ///< By the cost model, from counted work.
  Measured, ///< On a GPU.
  Declared, ///< Nothing was run; a person answers for it.
};

/// "modelled".
inline llvm::StringRef wordOf(Basis B) {
  static constexpr llvm::StringLiteral Words[] = {"static", "modelled",
                                                  "measured", "declared"};
  return Words[static_cast<size_t>(B)];
}

} // namespace cupilot

#endif // CUPILOT_MODEL_BASIS_H
