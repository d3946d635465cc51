//===- Pieces.h - The user's declarations as token intervals -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
// A piece is one declaration at namespace level of a file of the user, from its
// first token (template header, attributes, extern "C") to its closing ';' or
// '}', as an interval of the expanded token stream. Declarations that share
// tokens (`int A, B;`) are one piece. Slices copy pieces, identities digest
// them.
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_FRONTEND_PIECES_H
#define CUPILOT_FRONTEND_PIECES_H

#include "cupilot/Frontend/ParsedUnit.h"
#include "clang/Tooling/Syntax/Tokens.h"

namespace clang {
class DeclContext;
class FunctionDecl;
class UsingDirectiveDecl;
} // namespace clang

namespace cupilot {

/// Half open, in expanded tokens.
struct TokenRange {
  unsigned Begin = 0, End = 0;
  bool operator==(const TokenRange &) const = default;
};

struct Piece {
  TokenRange Range;
  std::vector<const clang::Decl *> Decls;
  /// Namespaces and braced linkage specifications around it, outermost first.
  std::vector<const clang::Decl *> Context;
};

/// `using namespace N;` at namespace level.
struct DirectivePiece {
  const clang::UsingDirectiveDecl *D = nullptr;
  std::vector<const clang::Decl *> Context;
};

class PieceTable {
public:
  explicit PieceTable(ParsedUnit &Unit);

  const std::vector<Piece> &pieces() const { return All; }
  const std::vector<DirectivePiece> &directives() const { return Directives; }
  /// True when the place \p Loc in a file is inside a piece.
  bool isInsidePiece(clang::SourceLocation Loc) const;
  /// The index of the piece that holds \p D as written; -1 if it is not of a
  /// file of the user.
  int indexOf(const clang::Decl *D) const;
  /// The expanded token at \p Loc; -1 if there is none.
  int tokenAt(clang::SourceLocation Loc) const;
  /// From the first token of \p D, which is at namespace or class level, to its
  /// end, with the ';' that ends it.
  TokenRange rangeOf(const clang::Decl *D) const;
  /// What makes a declaration of the definition \p F: the tokens of the body
  /// with the initialisers of a constructor. Empty when \p F has no body.
  TokenRange bodyOf(const clang::FunctionDecl *F) const;
  /// The members of the class definition \p Record: from '{' to '}'.
  TokenRange membersOf(const clang::Decl *Record) const;
  const clang::syntax::Token &token(unsigned I) const { return Tokens[I]; }
  llvm::ArrayRef<clang::syntax::Token> tokens(TokenRange R) const {
    return Tokens.slice(R.Begin, R.End - R.Begin);
  }
  /// Where piece \p I stands in its file.
  clang::SourceLocation locationOf(const Piece &P) const;

private:
  void collect(const clang::DeclContext *Context,
               std::vector<const clang::Decl *> &Around);
  ParsedUnit &Unit;
  llvm::ArrayRef<clang::syntax::Token> Tokens;
  llvm::DenseMap<clang::SourceLocation, unsigned> Index;
  std::vector<Piece> All;
  std::vector<DirectivePiece> Directives;
};

} // namespace cupilot

#endif // CUPILOT_FRONTEND_PIECES_H
