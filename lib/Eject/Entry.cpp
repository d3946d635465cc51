//===- Entry.cpp - Where new text goes -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Entry.h"
#include "clang/AST/DeclCXX.h"
#include "clang/Basic/SourceManager.h"

using namespace clang;
using llvm::StringRef;

namespace cupilot {

bool isBefore(const ParsedUnit &Unit, const EjectPlace &P, SourceLocation Loc) {
  return P.File.isValid() && Unit.SM.isBeforeInTranslationUnit(
                                 Unit.SM.getComposedLoc(P.File, P.Offset), Loc);
}

/// The end of a piece, and of the line when nothing but a comment follows.
static EjectPlace endOf(const ParsedUnit &Unit, const PieceTable &Pieces,
                        int Piece) {
  const SourceManager &SM = Unit.SM;
  const auto &P = Pieces.pieces()[static_cast<size_t>(Piece)];
  unsigned Begin = 0, End = 0;
  pieceText(Unit, Pieces, P, Begin, End);
  FileID File = SM.getFileID(Pieces.locationOf(P));
  StringRef Rest = SM.getBufferData(File).drop_front(End);
  StringRef Line = Rest.take_until([](char C) { return C == '\n'; });
  StringRef Words = Line.ltrim();
  Words.consume_front(";"); // After a macro that makes a kernel.
  Words = Words.trim();
  if (Words.empty() || (Words.starts_with("//") && !Words.ends_with("\\")))
    End += Line.size();
  return {File, End};
}

bool findPlaces(const ParsedUnit &Unit, const PieceTable &Pieces,
                EjectEntry &E) {
  const SourceManager &SM = Unit.SM;
  const FunctionDecl *F = E.Group.Pattern;
  int Own = Pieces.indexOf(F);
  if (Own < 0)
    return false;
  E.Definitions = endOf(Unit, Pieces, Own);
  const auto &Piece = Pieces.pieces()[static_cast<size_t>(Own)];
  for (const Decl *D : Piece.Context)
    E.Foreign |= isa<LinkageSpecDecl>(D);
  // A macro may close the namespace that it opened.
  for (const Decl *D : Piece.Context)
    if (const auto *N = dyn_cast<NamespaceDecl>(D))
      if (!isBefore(Unit, E.Definitions, SM.getExpansionLoc(N->getRBraceLoc())))
        return false;
  int Earlier =
      Pieces.indexOf(E.Group.IsMember ? outermost(F) : F->getFirstDecl());
  if (Earlier < 0)
    return true;
  const auto &Early = Pieces.pieces()[static_cast<size_t>(Earlier)];
  if (E.Group.IsMember)
    E.Before = {SM.getFileID(Pieces.locationOf(Early)),
                SM.getFileOffset(Pieces.locationOf(Early))};
  else if (Earlier != Own)
    E.Before = endOf(Unit, Pieces, Earlier);
  // Other units that see the declaration would not see what it declares.
  if (E.Before.File != E.Definitions.File)
    E.Before = {};
  return true;
}

std::optional<unsigned> includePlace(const ParsedUnit &Unit,
                                     const EjectPlace &P, StringRef Header) {
  const SourceManager &SM = Unit.SM;
  StringRef Text = SM.getBufferData(P.File);
  // An include guard is around all of them.
  const int Outside = P.File == SM.getMainFileID() ? 0 : 1;
  unsigned At = 0;
  for (const IncludeDirective &I : Unit.Log.Includes) {
    if (SM.getFileID(I.Hash) != P.File || SM.getFileOffset(I.Hash) >= P.Offset)
      continue;
    if ("<" + I.Name + ">" == Header)
      return std::nullopt;
    int Depth = 0;
    for (const ConditionalDirective &D : Unit.Log.Conditionals)
      if (SM.getFileID(D.At) == P.File &&
          SM.isBeforeInTranslationUnit(D.At, I.Hash))
        Depth += D.K == ConditionalDirective::Kind::Open    ? 1
                 : D.K == ConditionalDirective::Kind::Close ? -1
                                                            : 0;
    size_t End = Text.find('\n', SM.getFileOffset(I.Hash));
    if (Depth <= Outside && End != StringRef::npos)
      At = std::max(At, static_cast<unsigned>(End + 1));
  }
  return At;
}

} // namespace cupilot
