//===- SliceText.h - Text of one piece -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_FRONTEND_SLICETEXT_H
#define CUPILOT_LIB_FRONTEND_SLICETEXT_H

#include "SliceCuts.h"

namespace cupilot {

/// A part of a file, as offsets.
struct FileInterval {
  clang::FileID File;
  unsigned Begin = 0, End = 0;
};

struct PieceText {
  std::string Text;
  /// The parts of files that were copied as they are, with their macros and
  /// directives; empty when the text was written from expanded tokens.
  std::vector<FileInterval> Copied;
};

/// The text of \p P. It is copied from the file where that is possible, and
/// written from its preprocessed tokens where the declaration shares a macro
/// expansion, a conditional or an include with others, or when \p Expand is
/// set and it is nothing but a macro expansion. The error says why neither
/// goes.
llvm::Expected<PieceText> textOf(const Piece &P, const ParsedUnit &Unit,
                                 const Closure &C, const PieceTable &Pieces,
                                 bool Expand);

} // namespace cupilot

#endif // CUPILOT_LIB_FRONTEND_SLICETEXT_H
