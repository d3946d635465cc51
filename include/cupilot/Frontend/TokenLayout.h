//===- TokenLayout.h - Preprocessed tokens as text -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_FRONTEND_TOKENLAYOUT_H
#define CUPILOT_FRONTEND_TOKENLAYOUT_H

#include "clang/Basic/TokenKinds.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace cupilot {

/// Lays out tokens.
class TextBuilder {
public:
  void add(llvm::StringRef Token, clang::tok::TokenKind K) {
    Parens -= K == clang::tok::r_paren && Parens > 0;
    if (K == clang::tok::r_brace && Depth > 0) {
      --Depth;
      BreakLine = BreakLine || Parens == 0;
    }
    if (K == clang::tok::semi && Last == clang::tok::r_brace)
      BreakLine = false;
    if (BreakLine)
      Text += "\n" + std::string(static_cast<size_t>(2) * Depth, ' ');
    else if (!Text.empty() && needsSpace(K))
      Text += ' ';
    Text += Token;
    Parens += K == clang::tok::l_paren;
    Depth += K == clang::tok::l_brace;
    BreakLine =
        Parens == 0 && (K == clang::tok::l_brace || K == clang::tok::r_brace ||
                        K == clang::tok::semi);
    Last = K;
  }
  void addLine(llvm::StringRef Line) {
    Text += ("\n" + Line).str();
    BreakLine = true;
  }
  std::string take() { return std::move(Text); }

private:
  /// Leaves spaces out only where tokens cannot run together.
  bool needsSpace(clang::tok::TokenKind K) const {
    bool AfterName = Last == clang::tok::identifier ||
                     Last == clang::tok::r_paren ||
                     Last == clang::tok::r_square;
    switch (K) {
    case clang::tok::semi:
    case clang::tok::comma:
    case clang::tok::r_paren:
    case clang::tok::r_square:
      return false;
    case clang::tok::period:
    case clang::tok::arrow:
    case clang::tok::coloncolon:
    case clang::tok::l_square:
    case clang::tok::l_paren:
      return !AfterName;
    default:
      return Last != clang::tok::l_paren && Last != clang::tok::l_square &&
             Last != clang::tok::period && Last != clang::tok::arrow &&
             Last != clang::tok::coloncolon;
    }
  }
  std::string Text;
  unsigned Depth = 0, Parens = 0;
  bool BreakLine = false;
  clang::tok::TokenKind Last = clang::tok::unknown;
};

} // namespace cupilot

#endif // CUPILOT_FRONTEND_TOKENLAYOUT_H
