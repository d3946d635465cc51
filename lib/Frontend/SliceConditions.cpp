//===- SliceConditions.cpp - Conditions that are settled -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SliceConditions.h"
#include "cupilot/Admission/ConditionMacros.h"
#include "cupilot/Admission/Directives.h"
#include "clang/Basic/CharInfo.h"
#include "clang/Lex/MacroInfo.h"
#include "clang/Lex/Preprocessor.h"

using namespace clang;
using llvm::StringRef;

namespace cupilot {

namespace {
struct Edit {
  size_t Begin, End;
  std::string Instead;
};

class Settler {
public:
  Settler(StringRef Text, const ParsedUnit &Unit) : Text(Text), Unit(Unit) {}
  std::vector<Edit> run();

private:
  struct Word {
    size_t Begin = 0;
    std::string Spelling;
    size_t end() const { return Begin + Spelling.size(); }
  };
  void directive(const Word &Name, ArrayRef<Word> Words);
  /// The number that \p Name stands for outside of the program; nothing where
  /// the program decides, or where it stands for more than a number.
  std::optional<std::string> valueOf(StringRef Name, unsigned Depth = 0) const;
  /// Whether it is defined; nothing where the program decides.
  std::optional<bool> isDefined(StringRef Name) const;
  bool isSettled(StringRef Name) const {
    return !isArchitectureMacro(Name) && !isNeutralMacro(Name);
  }

  StringRef Text;
  const ParsedUnit &Unit;
  std::vector<Edit> Edits;
};
} // namespace

std::optional<bool> Settler::isDefined(StringRef Name) const {
  if (!isSettled(Name))
    return std::nullopt;
  const MacroInfo *Info = Unit.PP.getMacroInfo(Unit.PP.getIdentifierInfo(Name));
  if (!Info)
    return isReservedName(Name) || isForeignMacro(Name) ? std::optional(false)
                                                        : std::nullopt;
  SourceLocation At = Info->getDefinitionLoc();
  if (!Info->isBuiltinMacro() && (Unit.isUser(At) || Unit.isCommandLine(At)))
    return std::nullopt;
  return true;
}

std::optional<std::string> Settler::valueOf(StringRef Name,
                                            unsigned Depth) const {
  std::optional<bool> Defined = isDefined(Name);
  if (!Defined)
    return std::nullopt;
  if (!*Defined)
    return "0";
  const MacroInfo *Info = Unit.PP.getMacroInfo(Unit.PP.getIdentifierInfo(Name));
  if (!Info->isObjectLike() || Info->getNumTokens() != 1 || Depth > 8)
    return std::nullopt;
  const Token &Only = *Info->tokens_begin();
  if (Only.is(tok::numeric_constant))
    return Unit.PP.getSpelling(Only);
  if (const IdentifierInfo *Next = Only.getIdentifierInfo())
    return valueOf(Next->getName(), Depth + 1);
  return std::nullopt;
}

void Settler::directive(const Word &Name, ArrayRef<Word> Words) {
  StringRef D = Name.Spelling;
  bool Else = D.consume_front("el");
  if (D == "ifdef" || D == "ifndef") {
    if (Words.empty())
      return;
    if (std::optional<bool> Defined = isDefined(Words.front().Spelling))
      Edits.push_back({Name.Begin, Words.front().end(),
                       std::string(Else ? "elif " : "if ") +
                           (*Defined == (D == "ifdef") ? "1" : "0")});
    return;
  }
  if (D != "if")
    return;
  std::vector<Edit> Own;
  for (size_t I = 0; I < Words.size(); ++I) {
    const Word &W = Words[I];
    if (StringRef(W.Spelling).starts_with("__has_"))
      return;
    if (W.Spelling == "defined") {
      bool Paren = I + 1 < Words.size() && Words[I + 1].Spelling == "(";
      size_t Asked = I + 1 + Paren;
      if (Asked + Paren >= Words.size())
        return;
      if (std::optional<bool> Defined = isDefined(Words[Asked].Spelling))
        Own.push_back(
            {W.Begin, Words[Asked + Paren].end(), *Defined ? "1" : "0"});
      I = Asked + Paren;
      continue;
    }
    if (!isAsciiIdentifierStart(W.Spelling.front()))
      continue;
    if (std::optional<std::string> Value = valueOf(W.Spelling))
      Own.push_back({W.Begin, W.end(), *Value});
    else if (isDefined(W.Spelling))
      return; // A macro with arguments, say.
  }
  Edits.insert(Edits.end(), Own.begin(), Own.end());
}

std::vector<Edit> Settler::run() {
  const LangOptions &LO = Unit.PP.getLangOpts();
  // Places are offsets, and one more: 0 is no place.
  Lexer Raw(SourceLocation::getFromRawEncoding(1), LO, Text.begin(),
            Text.begin(), Text.end());
  readDirectives(
      Raw,
      [&](SourceLocation, ArrayRef<Token> Tokens) {
        std::vector<Word> Words;
        for (const Token &T : Tokens) {
          if (T.needsCleaning())
            return;
          size_t Begin = T.getLocation().getRawEncoding() - 1;
          Words.push_back({Begin, Text.substr(Begin, T.getLength()).str()});
        }
        if (!Words.empty())
          directive(Words.front(), ArrayRef(Words).drop_front());
      },
      [](const Token &) {});
  return std::move(Edits);
}

std::string settleConditions(std::string Text, const ParsedUnit &Unit) {
  std::vector<Edit> Edits = Settler(Text, Unit).run();
  for (auto E = Edits.rbegin(); E != Edits.rend(); ++E)
    Text.replace(E->Begin, E->End - E->Begin, E->Instead);
  return Text;
}

} // namespace cupilot
