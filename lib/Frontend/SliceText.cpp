//===- SliceText.cpp - Text of one piece -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SliceText.h"
#include "SliceWriter.h"
#include "cupilot/Support/Error.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace cupilot {

namespace {
class PieceWriter {
public:
  PieceWriter(const Piece &P, const ParsedUnit &Unit, const PieceTable &Pieces,
              std::vector<Cut> Cuts)
      : P(P), Unit(Unit), SM(Unit.SM), Pieces(Pieces), Cuts(std::move(Cuts)) {}

  /// Empty when the text cannot be copied.
  PieceText copy() const {
    PieceText Result;
    std::optional<FileInterval> Whole = intervalOf(P.Range);
    if (!Whole)
      return {};
    StringRef Buffer = SM.getBufferData(Whole->File);
    unsigned At = Whole->Begin;
    auto Keep = [&](unsigned End) {
      if (At < End) {
        Result.Text += Buffer.slice(At, End);
        Result.Copied.push_back({Whole->File, At, End});
      }
    };
    for (const Cut &C : Cuts) {
      std::optional<FileInterval> Left = intervalOf(C.Range);
      if (!Left || Left->File != Whole->File || Left->Begin < At)
        return {};
      Keep(Left->Begin);
      Result.Text += C.Instead;
      At = Left->End;
    }
    Keep(Whole->End);
    return isWhole(Result) ? Result : PieceText();
  }

  /// True when nothing but one macro expansion makes the piece.
  bool isExpansion() const {
    SourceLocation First = Pieces.token(P.Range.Begin).location();
    SourceLocation Last = Pieces.token(P.Range.End - 1).location();
    return First.isMacroID() && Last.isMacroID() &&
           P.Range.End - P.Range.Begin > 1 &&
           SM.getExpansionLoc(First) == SM.getExpansionLoc(Last);
  }

  /// The first _Pragma in the piece; invalid if there is none.
  SourceLocation pragmaOperator() const {
    SourceLocation First = Pieces.token(P.Range.Begin).location();
    SourceLocation Last = Pieces.token(P.Range.End - 1).location();
    for (const PragmaUse &Use : Unit.Log.Pragmas)
      if (Use.IsOperator && !SM.isBeforeInTranslationUnit(Use.At, First) &&
          SM.isBeforeInTranslationUnit(Use.At, Last))
        return Use.At;
    return SourceLocation();
  }

  std::string expand() const {
    std::string Text;
    unsigned Depth = 0, Parens = 0, Next = 0;
    bool NewLine = false;
    auto Write = [&](StringRef Token) {
      if (Token.empty())
        return;
      if (NewLine)
        Text += "\n" + std::string(static_cast<size_t>(2) * Depth, ' ');
      else if (!Text.empty())
        Text += ' ';
      NewLine = false;
      Text += Token;
    };
    auto Pragma = Unit.Log.Pragmas.begin();
    SourceLocation Start = Pieces.token(P.Range.Begin).location();
    while (Pragma != Unit.Log.Pragmas.end() &&
           SM.isBeforeInTranslationUnit(Pragma->At, Start))
      ++Pragma;
    for (unsigned I = P.Range.Begin; I < P.Range.End; ++I) {
      if (Next < Cuts.size() && I == Cuts[Next].Range.Begin) {
        Write(Cuts[Next].Instead);
        NewLine = true;
        I = Cuts[Next++].Range.End - 1;
        continue;
      }
      const syntax::Token &T = Pieces.token(I);
      for (; Pragma != Unit.Log.Pragmas.end() &&
             SM.isBeforeInTranslationUnit(Pragma->At, T.location());
           ++Pragma) {
        Text += "\n" + pragmaText(Unit, Pragma->At);
        NewLine = true;
      }
      tok::TokenKind K = T.kind();
      Parens += K == tok::l_paren;
      Parens -= K == tok::r_paren && Parens > 0;
      if (K == tok::r_brace && Depth > 0) {
        --Depth;
        NewLine = Parens == 0 || NewLine;
      }
      Write(T.text(SM));
      Depth += K == tok::l_brace;
      if (Parens == 0 &&
          (K == tok::l_brace || K == tok::r_brace || K == tok::semi))
        NewLine = !(K == tok::r_brace && I + 1 < P.Range.End &&
                    Pieces.token(I + 1).kind() == tok::semi);
    }
    return Text;
  }

private:
  std::optional<FileInterval> intervalOf(TokenRange R) const {
    auto Spelled = Unit.Tokens.spelledForExpanded(Pieces.tokens(R));
    if (!Spelled || Spelled->empty())
      return std::nullopt;
    syntax::FileRange Range =
        syntax::Token::range(SM, Spelled->front(), Spelled->back());
    return FileInterval{Range.file(), Range.beginOffset(), Range.endOffset()};
  }

  /// Conditionals are balanced, and no file is included.
  bool isWhole(const PieceText &Text) const {
    auto In = [&](SourceLocation Loc) {
      auto [File, Offset] = SM.getDecomposedLoc(Loc);
      return llvm::any_of(Text.Copied, [&](const FileInterval &I) {
        return I.File == File && I.Begin <= Offset && Offset < I.End;
      });
    };
    for (const IncludeDirective &Include : Unit.Log.Includes)
      if (In(Include.Hash))
        return false;
    int Depth = 0;
    for (const ConditionalDirective &D : Unit.Log.Conditionals) {
      if (!In(D.At))
        continue;
      Depth += D.K == ConditionalDirective::Kind::Open;
      if (Depth == 0)
        return false;
      Depth -= D.K == ConditionalDirective::Kind::Close;
    }
    return Depth == 0;
  }

  const Piece &P;
  const ParsedUnit &Unit;
  const SourceManager &SM;
  const PieceTable &Pieces;
  std::vector<Cut> Cuts;
};
} // namespace

llvm::Expected<PieceText> textOf(const Piece &P, const ParsedUnit &Unit,
                                 const Closure &C, const PieceTable &Pieces,
                                 bool Expand) {
  PieceWriter Writer(P, Unit, Pieces, cutsOf(P, C, Pieces));
  SourceLocation Operator = Writer.pragmaOperator();
  if (!(Expand && Writer.isExpansion() && Operator.isInvalid())) {
    PieceText Copied = Writer.copy();
    if (!Copied.Text.empty())
      return Copied;
  }
  if (Operator.isValid())
    return findingError(
        "a macro that defines code beside other code uses _Pragma (at " +
        Unit.at(Operator) +
        ") and cannot be taken apart; write the kernel and what it uses "
        "without that macro");
  return PieceText{Writer.expand(), {}};
}

} // namespace cupilot
