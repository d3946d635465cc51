//===- Directives.h - The directives of a text -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_ADMISSION_DIRECTIVES_H
#define CUPILOT_ADMISSION_DIRECTIVES_H

#include "clang/Lex/Lexer.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <vector>

namespace cupilot {

/// Reads what \p Raw has, skipped conditions too. \p OnDirective gets the place
/// of each directive's '#' and the tokens behind it, \p OnOther all tokens
/// that belong to none.
inline void
readDirectives(clang::Lexer &Raw,
               llvm::function_ref<void(clang::SourceLocation,
                                       llvm::ArrayRef<clang::Token>)>
                   OnDirective,
               llvm::function_ref<void(const clang::Token &)> OnOther) {
  clang::Token T;
  Raw.LexFromRawLexer(T);
  while (T.isNot(clang::tok::eof)) {
    if (T.isNot(clang::tok::hash) || !T.isAtStartOfLine()) {
      OnOther(T);
      Raw.LexFromRawLexer(T);
      continue;
    }
    clang::SourceLocation Hash = T.getLocation();
    std::vector<clang::Token> Words;
    for (Raw.LexFromRawLexer(T);
         T.isNot(clang::tok::eof) && !T.isAtStartOfLine();
         Raw.LexFromRawLexer(T))
      Words.push_back(T);
    OnDirective(Hash, Words);
  }
}

} // namespace cupilot

#endif // CUPILOT_ADMISSION_DIRECTIVES_H
