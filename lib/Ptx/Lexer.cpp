//===- Lexer.cpp - Words of a PTX text --------------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Ptx/Lexer.h"
#include <algorithm>
#include <limits>

namespace cupilot::ptx {

std::string Diagnostic::str() const {
  return std::to_string(Line) + ":" + std::to_string(Column) + ": " + Message;
}

Diagnostic diagnosticAt(std::string_view Text, size_t Offset,
                        std::string Message) {
  std::string_view Before = Text.substr(0, std::min(Offset, Text.size()));
  size_t Start = Before.rfind('\n');
  Diagnostic D;
  D.Line = 1 + static_cast<unsigned>(std::ranges::count(Before, '\n'));
  D.Column = static_cast<unsigned>(
      Before.size() - (Start == std::string_view::npos ? 0 : Start + 1) + 1);
  D.Message = std::move(Message);
  return D;
}

static bool isDigit(char C) { return C >= '0' && C <= '9'; }
static bool isSpace(char C) { return C == ' ' || (C >= '\t' && C <= '\r'); }
static bool isWord(char C) {
  return isDigit(C) || (C >= 'a' && C <= 'z') || (C >= 'A' && C <= 'Z') ||
         C == '_' || C == '$' || C == '.' || C == '%';
}

namespace {
class Lexer {
public:
  explicit Lexer(std::string_view Text) : Text(Text) {}
  bool run();
  std::vector<Token> Tokens;
  size_t At = 0; ///< Of what is wrong, when something is.
  std::string Wrong;

private:
  bool skip();
  bool token();
  bool starts(std::string_view With) const {
    return Text.substr(At, With.size()) == With;
  }
  size_t endOfLine() const {
    return std::min(Text.find('\n', At), Text.size());
  }
  bool fail(std::string Message) {
    Wrong = std::move(Message);
    return false;
  }

  std::string_view Text;
  bool LineBegins = true; ///< Nothing but white space stands before At.
};
} // namespace

/// White space, comments, lines of a preprocessor.
bool Lexer::skip() {
  while (At < Text.size()) {
    char C = Text[At];
    if (isSpace(C)) {
      LineBegins |= C == '\n';
      ++At;
    } else if (starts("//") || (C == '#' && LineBegins)) {
      At = endOfLine();
    } else if (starts("/*")) {
      size_t End = Text.find("*/", At + 2);
      if (End == std::string_view::npos)
        return fail("this comment has no end");
      At = End + 2;
    } else if (starts("\\\n")) {
      At += 2;
    } else if (starts("\\\r\n")) {
      At += 3;
    } else {
      return true;
    }
  }
  return true;
}

bool Lexer::token() {
  LineBegins = false;
  char C = Text[At];
  size_t End = At + 1;
  TokenKind Kind = TokenKind::Mark;
  if (C == '"') {
    while (End < Text.size() && Text[End] != '"' && Text[End] != '\n')
      End += Text[End] == '\\' ? 2 : 1;
    if (End >= Text.size() || Text[End] != '"')
      return fail("this string has no end");
    ++End;
    Kind = TokenKind::String;
  } else if (isWord(C)) {
    while (End < Text.size() && isWord(Text[End]))
      ++End;
    Kind = isDigit(C) ? TokenKind::Number
           : C == '.' ? TokenKind::Directive
                      : TokenKind::Name;
  } else if (std::string_view("()[]{}<>,;:@!+-*/&|^~=?").find(C) ==
             std::string_view::npos) {
    return fail("this character has no meaning in PTX");
  }
  Tokens.push_back(
      {static_cast<uint32_t>(At), static_cast<uint32_t>(End), Kind});
  At = End;
  return true;
}

bool Lexer::run() {
  if (Text.size() >= std::numeric_limits<uint32_t>::max())
    return fail("the text has 4 GiB or more");
  while (skip()) {
    if (At >= Text.size()) {
      auto Size = static_cast<uint32_t>(Text.size());
      Tokens.push_back({Size, Size, TokenKind::End});
      return true;
    }
    if (!token())
      return false;
  }
  return false;
}

std::optional<std::vector<Token>> lex(std::string_view Text, Diagnostic &Why) {
  Lexer L(Text);
  if (L.run())
    return std::move(L.Tokens);
  Why = diagnosticAt(Text, L.At, std::move(L.Wrong));
  return std::nullopt;
}

} // namespace cupilot::ptx
