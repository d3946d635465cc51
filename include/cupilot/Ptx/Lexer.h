//===- Lexer.h - Words of a PTX text ----------------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_PTX_LEXER_H
#define CUPILOT_PTX_LEXER_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cupilot::ptx {

/// Why a text cannot be read, and where: lines and columns count from 1,
/// columns in bytes.
struct Diagnostic {
  unsigned Line = 0, Column = 0;
  std::string Message; ///< "expected ';', found 'ret'".
  /// The function in whose body that is, and how the statement begins; "" for
  /// none.
  std::string Function, Statement;
  /// "12:7: expected ';', found 'ret'".
  std::string str() const;
};

enum class TokenKind : uint8_t {
  Name,      ///< "%r1", "ld.global.f32", "$L__BB0_1", "_": with its points.
  Directive, ///< ".reg", ".v4.f32": begins with a point.
  Number,    ///< "12", "0x1fU", "0f3F800000", "1.5e": begins with a digit.
  String,    ///< With its quotation marks.
  Mark,      ///< One character of punctuation.
  End        ///< Behind the text.
};

/// What stands in the text from Begin to before End.
struct Token {
  uint32_t Begin = 0, End = 0;
  TokenKind Kind = TokenKind::End;
  std::string_view in(std::string_view Text) const {
    return Text.substr(Begin, End - Begin);
  }
};

/// Splits \p Text (PTX ISA, "Syntax"), without white space, comments and lines
/// that begin with '#'. The last token is End. Nothing, with the reason in
/// \p Why, for what is no PTX: unended comments and strings, foreign
/// characters, texts of 4 GiB and more.
std::optional<std::vector<Token>> lex(std::string_view Text, Diagnostic &Why);

/// \p Message at the line and column of \p Offset.
Diagnostic diagnosticAt(std::string_view Text, size_t Offset,
                        std::string Message);

} // namespace cupilot::ptx

#endif // CUPILOT_PTX_LEXER_H
