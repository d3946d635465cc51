//===- SliceText.cpp - Text of one piece -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SliceText.h"
#include "SliceConditions.h"
#include "SliceWriter.h"
#include "cupilot/Frontend/SystemMacro.h"
#include "cupilot/Frontend/TokenLayout.h"
#include "cupilot/Support/Error.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/MacroInfo.h"
#include "clang/Lex/Preprocessor.h"
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
    for (const Cut &C : cutsForCopy()) {
      std::optional<FileInterval> Left = intervalOf(C.Range);
      if (!Left || Left->File != Whole->File || Left->Begin < At)
        return {};
      Keep(Left->Begin);
      At = Left->End;
      if (C.Instead == ";" ||
          (C.Instead.empty() && Buffer.drop_front(At).starts_with(";")))
        Result.Text.resize(StringRef(Result.Text).rtrim(" \t").size());
      Result.Text += C.Instead;
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

  std::string expand() const { return expand(P.Range, Cuts); }

private:
  /// True when the user's own text, not assert()'s, holds "__LINE__".
  bool isFragile(SourceLocation Call) const {
    auto It = Unit.Log.FragileUses.find(Call);
    return It != Unit.Log.FragileUses.end() &&
           llvm::any_of(It->second, [&](SourceLocation Use) {
             return systemMacroOf(Unit, Use).Name.empty();
           });
  }

  /// What is left out, and in place of macros that hold "__LINE__" or the like
  /// what they are in the unit.
  std::vector<Cut> cutsForCopy() const {
    std::vector<Cut> All;
    auto Next = Cuts.begin();
    for (unsigned I = P.Range.Begin; I < P.Range.End; ++I) {
      if (Next != Cuts.end() && I == Next->Range.Begin) {
        I = Next->Range.End - 1;
        All.push_back(*Next++);
        continue;
      }
      SourceLocation Loc = Pieces.token(I).location();
      if (!Loc.isMacroID())
        continue;
      SourceLocation Call = SM.getExpansionLoc(Loc);
      if (!isFragile(Call))
        continue;
      unsigned End = I + 1;
      while (End < P.Range.End && Pieces.token(End).location().isMacroID() &&
             SM.getExpansionLoc(Pieces.token(End).location()) == Call)
        ++End;
      All.push_back({{I, End}, expand({I, End}, {})});
      I = End - 1;
    }
    return All;
  }

  /// The tokens of \p Range, preprocessed, without \p Left.
  std::string expand(TokenRange Range, ArrayRef<Cut> Left) const {
    TextBuilder Out;
    unsigned Next = 0;
    SourceLocation Start = Pieces.token(Range.Begin).location(), Last;
    auto Pragma = Unit.Log.Pragmas.begin();
    while (Pragma != Unit.Log.Pragmas.end() &&
           SM.isBeforeInTranslationUnit(Pragma->At, Start))
      ++Pragma;
    for (unsigned I = Range.Begin; I < Range.End; ++I) {
      if (Next < Left.size() && I == Left[Next].Range.Begin) {
        if (!Left[Next].Instead.empty())
          Out.add(Left[Next].Instead, tok::semi);
        I = Left[Next++].Range.End - 1;
        continue;
      }
      const syntax::Token &T = Pieces.token(I);
      for (; Pragma != Unit.Log.Pragmas.end() &&
             SM.isBeforeInTranslationUnit(Pragma->At, T.location());
           ++Pragma)
        Out.addLine(pragmaText(Unit, Pragma->At));
      SystemMacro Macro = systemMacroOf(Unit, T.location());
      if (!isWordOfTheCompiler(Macro)) {
        Out.add(T.text(SM), T.kind());
      } else if (Macro.Call != Last) {
        Out.add(Macro.Name, tok::identifier);
      }
      Last = Macro.Call;
    }
    return Out.take();
  }

  /// "__global__": an object-like macro that is always there.
  bool isWordOfTheCompiler(const SystemMacro &Macro) const {
    if (Macro.Name.empty() || Macro.IsFragile)
      return false;
    const MacroInfo *Info =
        Unit.PP.getMacroInfo(Unit.PP.getIdentifierInfo(Macro.Name));
    return Info && Info->isObjectLike() && !Info->isBuiltinMacro() &&
           !Unit.includeOf(Info->getDefinitionLoc());
  }

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
    if (!Copied.Text.empty()) {
      Copied.Text = settleConditions(std::move(Copied.Text), Unit);
      return Copied;
    }
  }
  if (Operator.isValid())
    return findingError(
        "a macro that defines code beside other code uses _Pragma (at " +
        Unit.at(Operator) +
        ") and cannot be split; write the kernel and the code that it uses "
        "without that macro");
  return PieceText{Writer.expand(), {}};
}

} // namespace cupilot
