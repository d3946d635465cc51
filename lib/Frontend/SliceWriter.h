//===- SliceWriter.h - Text of a slice -*- C++ -*-===//
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

/// The self-contained text for \p Kernel, whose closure is \p C. The error says
/// why there is none.
llvm::Expected<std::string> writeSlice(const ParsedUnit &Unit,
                                       const PieceTable &Pieces, Closure &C,
                                       const clang::FunctionDecl *Kernel,
                                       const KernelLambdas &Lambdas);

/// The directive at \p At on one line, white space normalised.
std::string pragmaText(const ParsedUnit &Unit, clang::SourceLocation At);
/// The #pragma lines inside \p P, in order.
std::vector<std::string>
pragmasInside(const ParsedUnit &Unit, const PieceTable &Pieces, const Piece &P);
/// The #pragma lines outside all declarations that may change what code means.
std::vector<const PragmaUse *> pragmaUsesAround(const ParsedUnit &Unit,
                                                const PieceTable &Pieces,
                                                const Closure &C);
std::vector<std::string> pragmasAround(const ParsedUnit &Unit,
                                       const PieceTable &Pieces,
                                       const Closure &C);

} // namespace cupilot

#endif // CUPILOT_LIB_FRONTEND_SLICEWRITER_H
