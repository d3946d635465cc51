//===- Pragmas.cpp - Pragmas of the user's files -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SliceWriter.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace clang;

namespace cupilot {

std::string pragmaText(const ParsedUnit &Unit, SourceLocation At) {
  auto [File, Offset] = Unit.SM.getDecomposedLoc(Unit.SM.getSpellingLoc(At));
  StringRef Buffer = Unit.SM.getBufferData(File).drop_front(Offset);
  std::string Text;
  while (!Buffer.empty()) {
    auto [Line, Rest] = Buffer.split('\n');
    Buffer = Rest;
    Line = Line.rtrim();
    bool Continued = Line.consume_back("\\");
    Text += Line.str() + (Continued ? " " : "");
    if (!Continued)
      break;
  }
  size_t Comment = std::min(Text.find("//"), Text.find("/*"));
  if (Comment != std::string::npos)
    Text.resize(Comment);
  SmallVector<StringRef> Words;
  llvm::SplitString(Text, Words);
  return llvm::join(Words, " ");
}

std::vector<std::string> pragmasInside(const ParsedUnit &Unit,
                                       const PieceTable &Pieces,
                                       const Piece &P) {
  std::vector<std::string> Lines;
  SourceLocation First = Pieces.token(P.Range.Begin).location();
  SourceLocation Last = Pieces.token(P.Range.End - 1).location();
  for (const PragmaUse &Use : Unit.Log.Pragmas)
    if (Unit.isUser(Use.At) &&
        !Unit.SM.isBeforeInTranslationUnit(Use.At, First) &&
        Unit.SM.isBeforeInTranslationUnit(Use.At, Last))
      Lines.push_back(pragmaText(Unit, Use.At));
  return Lines;
}

std::vector<const PragmaUse *> pragmaUsesAround(const ParsedUnit &Unit,
                                                const PieceTable &Pieces,
                                                const Closure &C) {
  std::vector<const PragmaUse *> Kept;
  for (const PragmaUse &Use : Unit.Log.Pragmas) {
    if (Use.IsOperator || !Unit.isUser(Use.At))
      continue;
    std::string Text = pragmaText(Unit, Use.At);
    StringRef Line = Text;
    Line.consume_front("#");
    Line = Line.ltrim();
    Line.consume_front("pragma ");
    bool Pack = Line.starts_with("pack") && C.hasPackedRecord();
    bool Means = Line.starts_with("STDC") || Line.starts_with("clang fp") ||
                 Line.starts_with("clang force_cuda_host_device") ||
                 Line.starts_with("clang attribute") ||
                 Line.starts_with("float_control");
    if ((Pack || Means) && !Pieces.isInsidePiece(Use.At))
      Kept.push_back(&Use);
  }
  return Kept;
}

std::vector<std::string> pragmasAround(const ParsedUnit &Unit,
                                       const PieceTable &Pieces,
                                       const Closure &C) {
  std::vector<std::string> Lines;
  for (const PragmaUse *Use : pragmaUsesAround(Unit, Pieces, C))
    Lines.push_back(pragmaText(Unit, Use->At));
  return Lines;
}

} // namespace cupilot
