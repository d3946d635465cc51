//===- SliceWriter.h - The text of a slice -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_FRONTEND_SLICEWRITER_H
#define CUPILOT_LIB_FRONTEND_SLICEWRITER_H

#include "Closure.h"

namespace cupilot {

/// A slice as text, and the tokens that decide its identity.
struct SliceText {
  std::string Text;
  /// The tokens of what was copied, without comments and white space, one
  /// blank between two.
  std::string Tokens;
};

/// Writes the text that \p Uses needs, in the order of the unit, and what makes
/// the compiler emit \p Kernel.
SliceText writeSlice(const clang::FunctionDecl &Kernel, const Closure &Uses,
                     const ParsedUnit &Unit);

} // namespace cupilot

#endif // CUPILOT_LIB_FRONTEND_SLICEWRITER_H
