//===- SystemMacro.h - Tokens that come from system macros -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_FRONTEND_SYSTEMMACRO_H
#define CUPILOT_FRONTEND_SYSTEMMACRO_H

#include "cupilot/Frontend/ParsedUnit.h"

namespace cupilot {

/// The macro of a system header, of the compiler, or built in, whose own text
/// a token is.
struct SystemMacro {
  std::string Name;           ///< "" when the token is the user's.
  clang::SourceLocation Call; ///< Where it is expanded; tells expansions apart.
  /// "__LINE__" and the like, written by the user: a copy of the text has
  /// another value.
  bool IsFragile = false;
};

/// True for "__LINE__" and the like: their value depends on where the text is.
bool isFragileMacro(llvm::StringRef Name);

/// The outermost one that the token at \p Loc is of.
SystemMacro systemMacroOf(const ParsedUnit &Unit, clang::SourceLocation Loc);

} // namespace cupilot

#endif // CUPILOT_FRONTEND_SYSTEMMACRO_H
