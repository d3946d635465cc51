//===- Numbers.cpp - Constants of PTX ---------------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA, "Constants": numbers, and expressions of them, which have 64 bits
// and are signed but where an operand is unsigned.
//
//===----------------------------------------------------------------------===//

#include "Parser.h"
#include <charconv>
#include <cstring>
#include <limits>

namespace cupilot::ptx {

/// How deep expressions and operands may be nested.
static constexpr unsigned MostDepth = 64;

bool Parser::literal(Constant &C) {
  std::string_view Digits = word();
  if (Digits.ends_with('U')) {
    C.Unsigned = true;
    Digits.remove_suffix(1);
  }
  int Base = 10;
  auto Prefix = [&](char Small, char Large) {
    return Digits.size() > 2 && Digits[0] == '0' &&
           (Digits[1] == Small || Digits[1] == Large);
  };
  if (Prefix('x', 'X') || Prefix('b', 'B')) {
    Base = Prefix('x', 'X') ? 16 : 2;
    Digits.remove_prefix(2);
  } else if (Digits.size() > 1 && Digits[0] == '0') {
    Base = 8;
  }
  auto [End, Error] = std::from_chars(
      Digits.data(), Digits.data() + Digits.size(), C.Bits, Base);
  if (Error == std::errc::result_out_of_range)
    return fail("'" + std::string(word()) + "' has more than 64 bits");
  if (Error != std::errc() || End != Digits.data() + Digits.size())
    return fail("'" + std::string(word()) + "' is no number");
  ++At;
  return true;
}

static bool hasPrefix(std::string_view Word, char Small, char Large,
                      size_t Size) {
  return Word.size() == Size && Word[0] == '0' &&
         (Word[1] == Small || Word[1] == Large);
}

bool Parser::isFloat() const {
  std::string_view Word = word();
  if (!is(TokenKind::Number))
    return false;
  if (hasPrefix(Word, 'f', 'F', 10) || hasPrefix(Word, 'd', 'D', 18))
    return true;
  return Word.find('.') != std::string_view::npos ||
         (Word.find_first_of("eE") != std::string_view::npos &&
          Word.substr(0, 2) != "0x" && Word.substr(0, 2) != "0X");
}

bool Parser::floating(bool &IsSingle, uint64_t &Bits) {
  std::string_view Word = word();
  IsSingle = hasPrefix(Word, 'f', 'F', 10);
  if (IsSingle || hasPrefix(Word, 'd', 'D', 18)) {
    auto [End, Error] =
        std::from_chars(Word.data() + 2, Word.data() + Word.size(), Bits, 16);
    if (Error != std::errc() || End != Word.data() + Word.size())
      return fail("'" + std::string(Word) + "' is no number");
    ++At;
    return true;
  }
  // "1.5e-3" is three tokens.
  size_t Count = 1;
  if ((Word.back() == 'e' || Word.back() == 'E') &&
      (isMark('-', 1) || isMark('+', 1)) && touches(1) &&
      is(TokenKind::Number, 2) && touches(2))
    Count = 3;
  std::string Spelled(Word);
  for (size_t I = 1; I < Count; ++I)
    Spelled += word(I);
  double Value = 0;
  auto [End, Error] =
      std::from_chars(Spelled.data(), Spelled.data() + Spelled.size(), Value);
  if (Error != std::errc() || End != Spelled.data() + Spelled.size())
    return fail("'" + Spelled + "' is no number of 64 bits");
  static_assert(sizeof Value == sizeof Bits);
  std::memcpy(&Bits, &Value, sizeof Bits);
  At += Count;
  return true;
}

bool Parser::startsConstant() const {
  return is(TokenKind::Number) || isMark('(') || isMark('~') ||
         (isMark('!') && !is(TokenKind::Name, 1)) ||
         ((isMark('-') || isMark('+')) && !is(TokenKind::Name, 1));
}

bool Parser::unary(Constant &C, unsigned Depth) {
  if (Depth > MostDepth)
    return fail("the expression is nested too deep");
  if (takeMark('-')) {
    if (!unary(C, Depth + 1))
      return false;
    C.Bits = 0 - C.Bits;
    return true;
  }
  if (takeMark('+'))
    return unary(C, Depth + 1);
  if (takeMark('~')) {
    if (!unary(C, Depth + 1))
      return false;
    C.Bits = ~C.Bits;
    return true;
  }
  if (takeMark('!')) {
    if (!unary(C, Depth + 1))
      return false;
    C = {C.Bits == 0, false};
    return true;
  }
  if (!isMark('('))
    return is(TokenKind::Number) ? literal(C) : expected("a number");
  ++At;
  // A cast: "(.s64)".
  if (std::optional<Type> T = typeOf(directive());
      T == Type::S64 || T == Type::U64) {
    ++At;
    if (!expectMark(')') || !unary(C, Depth + 1))
      return false;
    C.Unsigned = T == Type::U64;
    return true;
  }
  return expression(C, Depth + 1) && expectMark(')');
}

namespace {
enum class Op {
  Or,
  And,
  BitOr,
  BitXor,
  BitAnd,
  Equal,
  NotEqual,
  Less,
  Greater,
  LessEqual,
  GreaterEqual,
  Left,
  Right,
  Add,
  Sub,
  Mul,
  Div,
  Rem
};
struct OpRow {
  std::string_view Spelling;
  Op Is;
  unsigned Precedence;
};
} // namespace

// Those of two characters first.
static constexpr OpRow Operators[] = {
    {"||", Op::Or, 1},        {"&&", Op::And, 2},
    {"==", Op::Equal, 6},     {"!=", Op::NotEqual, 6},
    {"<=", Op::LessEqual, 7}, {">=", Op::GreaterEqual, 7},
    {"<<", Op::Left, 8},      {">>", Op::Right, 8},
    {"|", Op::BitOr, 3},      {"^", Op::BitXor, 4},
    {"&", Op::BitAnd, 5},     {"<", Op::Less, 7},
    {">", Op::Greater, 7},    {"+", Op::Add, 9},
    {"-", Op::Sub, 9},        {"*", Op::Mul, 10},
    {"/", Op::Div, 10},       {"%", Op::Rem, 10},
};

static bool isDivision(Op O) { return O == Op::Div || O == Op::Rem; }

/// \p B is not zero in a division.
static Constant apply(Op O, Constant A, Constant B) {
  bool Unsigned = A.Unsigned || B.Unsigned;
  auto X = static_cast<int64_t>(A.Bits), Y = static_cast<int64_t>(B.Bits);
  auto Truth = [](bool Holds) { return Constant{Holds, false}; };
  auto Number = [&](uint64_t Bits) { return Constant{Bits, Unsigned}; };
  bool Less = Unsigned ? A.Bits < B.Bits : X < Y;
  switch (O) {
  case Op::Or:
    return Truth(A.Bits || B.Bits);
  case Op::And:
    return Truth(A.Bits && B.Bits);
  case Op::BitOr:
    return Number(A.Bits | B.Bits);
  case Op::BitXor:
    return Number(A.Bits ^ B.Bits);
  case Op::BitAnd:
    return Number(A.Bits & B.Bits);
  case Op::Equal:
    return Truth(A.Bits == B.Bits);
  case Op::NotEqual:
    return Truth(A.Bits != B.Bits);
  case Op::Less:
    return Truth(Less);
  case Op::GreaterEqual:
    return Truth(!Less);
  case Op::Greater:
    return Truth(!Less && A.Bits != B.Bits);
  case Op::LessEqual:
    return Truth(Less || A.Bits == B.Bits);
  case Op::Left:
    return {B.Bits < 64 ? A.Bits << B.Bits : 0, A.Unsigned};
  case Op::Right:
    if (A.Unsigned)
      return {B.Bits < 64 ? A.Bits >> B.Bits : 0, true};
    return {static_cast<uint64_t>(X >> std::min<uint64_t>(B.Bits, 63)), false};
  case Op::Add:
    return Number(A.Bits + B.Bits);
  case Op::Sub:
    return Number(A.Bits - B.Bits);
  case Op::Mul:
    return Number(A.Bits * B.Bits);
  case Op::Div:
  case Op::Rem:
    if (Unsigned)
      return Number(O == Op::Div ? A.Bits / B.Bits : A.Bits % B.Bits);
    // The least number has no opposite.
    if (Y == -1)
      return Number(O == Op::Div ? 0 - A.Bits : 0);
    return Number(static_cast<uint64_t>(O == Op::Div ? X / Y : X % Y));
  }
  return {};
}

bool Parser::binary(Constant &C, unsigned Least, unsigned Depth) {
  if (Depth > MostDepth)
    return fail("the expression is nested too deep");
  if (!unary(C, Depth + 1))
    return false;
  for (;;) {
    // Mostly a comma: arrays are long.
    if (word().size() != 1 ||
        std::string_view("|&=!<>^+-*/%").find(word()) == std::string_view::npos)
      return true;
    const OpRow *Found = nullptr;
    for (const OpRow &Row : Operators) {
      bool Fits = word() == Row.Spelling.substr(0, 1) &&
                  (Row.Spelling.size() == 1 ||
                   (word(1) == Row.Spelling.substr(1) && touches(1)));
      if (Fits) {
        Found = &Row;
        break;
      }
    }
    if (!Found || Found->Precedence < Least)
      return true;
    At += Found->Spelling.size();
    Constant Right;
    if (!binary(Right, Found->Precedence + 1, Depth + 1))
      return false;
    if (isDivision(Found->Is) && Right.Bits == 0)
      return fail("a division by zero");
    C = apply(Found->Is, C, Right);
  }
}

bool Parser::expression(Constant &C, unsigned Depth) {
  if (!binary(C, 1, Depth))
    return false;
  if (!takeMark('?'))
    return true;
  Constant Then, Else;
  if (!expression(Then, Depth + 1) || !expectMark(':') ||
      !expression(Else, Depth + 1))
    return false;
  C = C.Bits ? Then : Else;
  return true;
}

} // namespace cupilot::ptx
