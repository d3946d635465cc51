//===- Sites.cpp - Where launches are written -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch is changed where it is written: in a function, in the argument of a
// macro, or in a macro's definition. Only where a macro puts it together from
// its arguments is the macro's call replaced by what it stands for.
//
//===----------------------------------------------------------------------===//

#include "Sites.h"
#include "cupilot/Frontend/SystemMacro.h"
#include "cupilot/Frontend/TokenLayout.h"
#include "cupilot/Support/Error.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/MacroInfo.h"
#include "clang/Lex/Preprocessor.h"

using namespace clang;
using llvm::Expected;
using llvm::StringRef;

namespace cupilot {

std::string pathOf(const ParsedUnit &Unit, FileID File) {
  OptionalFileEntryRef Ref = Unit.SM.getFileEntryRefForID(File);
  return Ref ? Ref->getFileEntry().tryGetRealPathName().str() : "";
}

static std::optional<TokenPlace> placeAt(const ParsedUnit &Unit,
                                         SourceLocation Loc, unsigned Length) {
  const SourceManager &SM = Unit.SM;
  while (Loc.isMacroID() && SM.isMacroArgExpansion(Loc))
    Loc = SM.getImmediateSpellingLoc(Loc);
  SourceLocation Spelled = SM.getSpellingLoc(Loc);
  if (SM.isWrittenInScratchSpace(Spelled))
    return std::nullopt;
  TokenPlace P;
  if (Loc.isMacroID())
    P.Level = SM.getFileID(Loc);
  std::tie(P.File, P.Begin) = SM.getDecomposedLoc(Spelled);
  P.End = P.Begin + Length;
  return P;
}

std::optional<TokenPlace> placeOf(const ParsedUnit &Unit,
                                  const syntax::Token &T) {
  return placeAt(Unit, T.location(), T.length());
}

/// Where \p T stands in the text \p Key: if a macro makes it, that's name.
static std::optional<TokenPlace>
placeIn(const ParsedUnit &Unit, const syntax::Token &T, const TokenPlace &Key) {
  std::optional<TokenPlace> P = placeOf(Unit, T);
  SourceLocation Loc = T.location();
  while (Loc.isMacroID() && (!P || P->Level != Key.Level)) {
    Loc = Unit.SM.isMacroArgExpansion(Loc)
              ? Unit.SM.getImmediateSpellingLoc(Loc)
              : Unit.SM.getImmediateExpansionRange(Loc).getBegin();
    P = placeAt(Unit, Loc,
                Lexer::MeasureTokenLength(Unit.SM.getSpellingLoc(Loc), Unit.SM,
                                          Unit.Ctx.getLangOpts()));
  }
  return P;
}

std::optional<std::vector<SourceEdit>> editsInPlace(const ParsedUnit &Unit,
                                                    const PieceTable &Pieces,
                                                    const SiteEdits &Site) {
  std::optional<TokenPlace> Key = placeOf(Unit, Pieces.token(Site.Key));
  if (!Key || !Unit.isUser(Unit.SM.getLocForStartOfFile(Key->File)))
    return std::nullopt;
  std::string Path = pathOf(Unit, Key->File);
  StringRef Text = Unit.SM.getBufferData(Key->File);
  std::vector<SourceEdit> Edits;
  for (const TokenEdit &E : Site.Tokens) {
    std::optional<TokenPlace> First =
                                  placeIn(Unit, Pieces.token(E.Begin), *Key),
                              Last = placeOf(Unit, Pieces.token(E.End - 1));
    if (!First || !Last || First->Level != Key->Level ||
        Last->Level != Key->Level || First->File != Key->File ||
        Last->File != Key->File || Last->End <= First->Begin ||
        (!Edits.empty() && First->Begin < Edits.back().End))
      return std::nullopt;
    size_t End = Last->End;
    while (E.WithSpace && End < Text.size() && Text[End] == ' ')
      ++End;
    Edits.push_back({Path, First->Begin, End, E.Text});
  }
  return Path.empty() ? std::nullopt : std::make_optional(std::move(Edits));
}

/// "__LINE__", "stderr": a macro that is always there, whose name stands for
/// what it makes; "" for other tokens.
static SystemMacro namedMacro(const ParsedUnit &Unit, SourceLocation Loc) {
  SystemMacro Macro = systemMacroOf(Unit, Loc);
  if (Macro.Name.empty())
    return Macro;
  const MacroInfo *Info =
      Unit.PP.getMacroInfo(Unit.PP.getIdentifierInfo(Macro.Name));
  return Info && (Info->isObjectLike() || Info->isBuiltinMacro())
             ? Macro
             : SystemMacro();
}

Expected<SourceEdit> expandedCall(const ParsedUnit &Unit,
                                  const PieceTable &Pieces, unsigned Key,
                                  llvm::ArrayRef<TokenEdit> Edits) {
  const SourceManager &SM = Unit.SM;
  SourceLocation Call = SM.getExpansionLoc(Pieces.token(Key).location());
  auto IsOf = [&](unsigned I) {
    SourceLocation Loc = Pieces.token(I).location();
    return Loc.isMacroID() && SM.getExpansionLoc(Loc) == Call;
  };
  unsigned Begin = Key, End = Key;
  while (Begin > 0 && IsOf(Begin - 1))
    --Begin;
  while (IsOf(End))
    ++End;
  for (const TokenEdit &E : Edits)
    if (E.Begin < Begin || E.End > End)
      return findingError("a macro makes a part of the launch");
  for (const PragmaUse &Use : Unit.Log.Pragmas)
    if (Use.IsOperator && SM.getExpansionLoc(Use.At) == Call)
      return findingError("the macro that makes the launch uses _Pragma");
  TextBuilder Out;
  SourceLocation LastMacro;
  size_t Next = 0;
  for (unsigned I = Begin; I < End; ++I) {
    const syntax::Token &T = Pieces.token(I);
    if (Next < Edits.size() && I == Edits[Next].Begin) {
      const TokenEdit &E = Edits[Next++];
      // A name, or what stands for brackets.
      tok::TokenKind Kind = E.Text == "(" ? tok::l_paren
                            : StringRef(E.Text).starts_with(",")
                                ? tok::comma
                                : tok::identifier;
      StringRef Text = StringRef(E.Text).rtrim();
      if (!Text.empty())
        Out.add(Text, Kind);
      I = E.End - 1;
      LastMacro = SourceLocation();
      continue;
    }
    SystemMacro Macro = namedMacro(Unit, T.location());
    if (Macro.Name.empty())
      Out.add(T.text(SM), T.kind());
    else if (Macro.Call != LastMacro)
      Out.add(Macro.Name, tok::identifier);
    LastMacro = Macro.Call;
  }
  CharSourceRange Range = SM.getExpansionRange(Pieces.token(Key).location());
  FileID File = SM.getFileID(Range.getBegin());
  if (!Unit.isUser(Range.getBegin()) || SM.getFileID(Range.getEnd()) != File)
    return findingError("the launch is not in a file of the project");
  SourceEdit Edit{
      pathOf(Unit, File), SM.getFileOffset(Range.getBegin()),
      SM.getFileOffset(Range.getEnd()) +
          Lexer::MeasureTokenLength(Range.getEnd(), SM, Unit.Ctx.getLangOpts()),
      ""};
  // Lines begin where the call does.
  StringRef Before = SM.getBufferData(File).take_front(Edit.Begin);
  StringRef Line = Before.drop_front(Before.rfind('\n') + 1);
  StringRef Indent =
      Line.take_while([](char C) { return C == ' ' || C == '\t'; });
  for (char C : Out.take()) {
    Edit.Text += C;
    if (C == '\n')
      Edit.Text += Indent;
  }
  return Edit;
}

} // namespace cupilot
