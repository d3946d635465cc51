//===- Statements.cpp - Bodies of PTX functions -----------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parser.h"
#include <algorithm>

namespace cupilot::ptx {

bool Parser::parts(Operand &O, char Close, bool OfCall, unsigned Depth) {
  ++At;
  if (takeMark(Close))
    return true;
  do {
    if (!operand(O.Parts.emplace_back(), OfCall, Depth + 1))
      return false;
  } while (takeMark(','));
  return expectMark(Close);
}

/// "+16", "-4", "+-4" behind a name; nothing is no offset.
bool Parser::offset(uint64_t &Value) {
  if (!isMark('+') && !isMark('-'))
    return true;
  Constant C;
  if (!binary(C, /*Least=*/10, 0)) // The sign belongs to the number.
    return false;
  Value = C.Bits;
  while (isMark('+') || isMark('-')) {
    if (!binary(C, /*Least=*/10, 0))
      return false;
    Value += C.Bits;
  }
  return true;
}

bool Parser::primary(Operand &O, bool OfCall, unsigned Depth) {
  // A vector in an address is the deepest that there is.
  if (Depth > 4)
    return fail("the operand is nested too deep");
  if (isMark('{')) {
    O.Kind = OperandKind::Vector;
    return parts(O, '}', OfCall, Depth);
  }
  if (isMark('[')) {
    O.Kind = OperandKind::Address;
    return parts(O, ']', OfCall, Depth);
  }
  if (isMark('(') && OfCall) {
    O.Kind = OperandKind::List;
    return parts(O, ')', OfCall, Depth);
  }
  bool Minus = isMark('-') && !is(TokenKind::Name, 1);
  if (size_t Sign = Minus ? 1 : 0; is(TokenKind::Number, Sign)) {
    At += Sign;
    bool Float = isFloat();
    At -= Sign;
    if (Float) {
      At += Sign;
      bool Single = false;
      if (!floating(Single, O.Value))
        return false;
      O.Kind = Single ? OperandKind::Single : OperandKind::Double;
      if (Minus)
        O.Value ^= uint64_t(1) << (Single ? 31 : 63);
      return true;
    }
  }
  if (startsConstant()) {
    Constant C;
    if (!expression(C))
      return false;
    O.Kind = OperandKind::Integer;
    O.Value = C.Bits;
    O.Unsigned = C.Unsigned;
    return true;
  }
  O.Negated = takeMark('!');
  O.Minus = !O.Negated && takeMark('-');
  O.Kind = OperandKind::Name;
  if (!expectName(O.Name, "an operand"))
    return false;
  if (O.Name == "_" && !O.Negated && !O.Minus) {
    O.Kind = OperandKind::Nothing;
    O.Name = {};
    return true;
  }
  O.Sum = isMark('+') || isMark('-');
  return offset(O.Value);
}

bool Parser::operand(Operand &O, bool OfCall, unsigned Depth) {
  if (!primary(O, OfCall, Depth))
    return false;
  if (!isMark('|'))
    return true;
  ++At;
  Operand First = std::move(O);
  O = Operand();
  O.Kind = OperandKind::Pair;
  O.Parts.push_back(std::move(First));
  return primary(O.Parts.emplace_back(), OfCall, Depth + 1);
}

/// "ld.global.L2::128B.f32": names and pieces that begin with points. Where
/// colons stand the modifier goes on.
bool Parser::modifiers(Instruction &I) {
  auto Split = [&I](std::string_view Word) {
    for (;;) {
      size_t Point = Word.find('.');
      std::string_view Piece = Word.substr(0, Point);
      if (Piece.empty())
        return false;
      if (I.Opcode.empty())
        I.Opcode = Piece;
      else
        I.Modifiers.push_back(Piece);
      if (Point == std::string_view::npos)
        return true;
      Word.remove_prefix(Point + 1);
    }
  };
  if (!is(TokenKind::Name))
    return expected("an instruction");
  char First = word().front();
  if (First < 'a' || First > 'z' || !Split(word()))
    return expected("an instruction");
  ++At;
  for (;;) {
    if (is(TokenKind::Directive)) {
      if (!Split(word().substr(1)))
        return expected("an instruction's modifier");
      ++At;
      continue;
    }
    if (!isColons())
      return true;
    if (I.Modifiers.empty() ||
        (!is(TokenKind::Name, 2) && !is(TokenKind::Number, 2)) || !touches(2))
      return expected("an instruction's modifier");
    At += 2;
    std::string_view Word = word();
    std::string_view Piece = Word.substr(0, Word.find('.'));
    std::string_view &Last = I.Modifiers.back();
    // Both lie in the text, one behind the other.
    size_t Begin = static_cast<size_t>(Last.data() - Text->data());
    Last = std::string_view(*Text).substr(Begin,
                                          peek().Begin + Piece.size() - Begin);
    if (Piece.empty() ||
        (Piece.size() < Word.size() && !Split(Word.substr(Piece.size() + 1))))
      return expected("an instruction's modifier");
    ++At;
  }
}

bool Parser::endOfStatement() {
  if (Lenient && (is(TokenKind::End) || isMark('}')))
    return true;
  return expectMark(';');
}

bool Parser::instruction(Instruction &I) {
  if (takeMark('@')) {
    I.GuardNegated = takeMark('!');
    if (!expectName(I.Guard, "a predicate"))
      return false;
  }
  if (!modifiers(I))
    return false;
  bool OfCall = I.Opcode == "call";
  if (!isMark(';') && !is(TokenKind::End) && !isMark('}')) {
    do {
      if (!operand(I.Operands.emplace_back(), OfCall, 0))
        return false;
    } while (takeMark(','));
  }
  return endOfStatement();
}

bool Parser::location(Location &L) {
  ++At;
  if (!expectNumber(L.File) || !expectNumber(L.Line) || !expectNumber(L.Column))
    return false;
  while (isMark(',')) {
    // Words of debug data, which are no directives.
    ++At;
    std::string_view Word;
    if (!expectName(Word, "'function_name' or 'inlined_at'"))
      return false;
    if (Word == "function_name") {
      if (!expectName(L.Function, "a label"))
        return false;
      if (takeMark('+') && !expectNumber(L.FunctionOffset))
        return false;
    } else if (Word == "inlined_at") {
      L.Inlined = true;
      for (uint64_t &Each : L.InlinedAt)
        if (!expectNumber(Each))
          return false;
    } else {
      --At;
      return expected("'function_name' or 'inlined_at'");
    }
  }
  return true;
}

bool Parser::pragma(Pragma &P) {
  do {
    ++At;
    if (!expectString(P.Strings.emplace_back()))
      return false;
  } while (isMark(','));
  return endOfStatement();
}

/// What a name and a colon begin.
bool Parser::labelled(Statement &S) {
  std::string_view Name = word();
  At += 2;
  std::optional<Directive> D = directiveOf(directive());
  if (D == Directive::CallPrototype) {
    ++At;
    Prototype &P = S.Is.emplace<Prototype>();
    P.Name = Name;
    if (isMark('(') && !parameters(P.Results))
      return false;
    std::string_view None;
    return expectName(None, "'_'") &&
           (!isMark('(') || parameters(P.Parameters)) &&
           tunings(P.Tunings, nullptr) && endOfStatement();
  }
  if (D == Directive::BranchTargets || D == Directive::CallTargets) {
    Targets &T = S.Is.emplace<Targets>();
    T.Name = Name;
    T.OfCalls = D == Directive::CallTargets;
    do {
      ++At;
      if (!expectName(T.Names.emplace_back(), "a name"))
        return false;
    } while (isMark(','));
    return endOfStatement();
  }
  S.Is.emplace<Label>().Name = Name;
  return true;
}

bool Parser::statement(std::vector<Statement> &Body) {
  size_t First = At;
  Statement &S = Body.emplace_back();
  bool Read = false;
  if (is(TokenKind::Name) && isMark(':', 1) && !isColons(1))
    Read = labelled(S);
  else if (is(TokenKind::Name) || isMark('@'))
    Read = instruction(S.Is.emplace<Instruction>());
  else if (startsDeclaration())
    Read = declaration(S.Is.emplace<Declaration>());
  else if (isDirective(Directive::Loc))
    Read = location(S.Is.emplace<Location>());
  else if (isDirective(Directive::Pragma))
    Read = pragma(S.Is.emplace<Pragma>());
  else if (is(TokenKind::Directive))
    return fail("'" + std::string(word()) +
                "' is no directive of a function's body that is known");
  else
    return expected("a statement");
  S.At = since(First);
  return Read;
}

/// Reads to the brace that closes the body, or to the end of the \p Whole text.
bool Parser::body(std::vector<Statement> &Body, bool Whole) {
  size_t Depth = 0;
  for (;;) {
    if (takeMark(';'))
      continue;
    bool Opens = isMark('{');
    if (Opens || isMark('}')) {
      if (!Opens && Depth == 0)
        return Whole ? fail("this brace closes nothing") : takeMark('}');
      Depth += Opens ? 1 : -1;
      Statement &S = Body.emplace_back();
      S.Is = Scope{Opens};
      ++At;
      S.At = since(At - 1);
      continue;
    }
    if (is(TokenKind::End))
      return (Whole && Depth == 0) || expected("'}'");
    Begun = At;
    if (!statement(Body))
      return false;
    Begun = std::nullopt;
  }
}

} // namespace cupilot::ptx
