//===- Declarations.cpp - Variables and functions of PTX --------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parser.h"
#include <algorithm>

namespace cupilot::ptx {

/// How deep braces of initialisers may be nested.
static constexpr size_t MostBraces = 32;
/// Alignments and numbers of registers are below that.
static constexpr uint64_t MostNumber = uint64_t(1) << 31;

bool Parser::startsDeclaration() const {
  size_t Ahead = 0;
  while (linkageOf(directive(Ahead)))
    ++Ahead;
  std::optional<Space> S = spaceOf(directive(Ahead));
  return S && declaresVariables(*S);
}

/// ".attribute(.managed, .unified(1, 2))".
bool Parser::attributes(std::vector<std::string_view> &Into) {
  ++At;
  if (!expectMark('('))
    return false;
  do {
    size_t First = At;
    if (directive().empty())
      return expected("an attribute");
    ++At;
    if (takeMark('(')) {
      uint64_t Number = 0;
      do
        if (!expectNumber(Number))
          return false;
      while (takeMark(','));
      if (!expectMark(')'))
        return false;
    }
    Place P = since(First);
    Into.push_back(
        std::string_view(*Text).substr(P.Begin + 1, P.End - P.Begin - 1));
  } while (takeMark(','));
  return expectMark(')');
}

/// What stands before the name: ".visible .global .align 4 .v2 .b32".
bool Parser::variableHead(Variable &V) {
  bool HasSpace = false, HasType = false;
  while (is(TokenKind::Directive)) {
    std::string_view Word = directive();
    if (std::optional<Linkage> L = linkageOf(Word)) {
      if (V.Link != Linkage::Internal)
        return fail("a second linkage");
      V.Link = *L;
      ++At;
    } else if (std::optional<Space> S = spaceOf(Word)) {
      if (V.Pointer && !V.Pointer->To)
        V.Pointer->To = *S;
      else if (HasSpace || !declaresVariables(*S))
        return fail("a second state space");
      else
        V.In = *S;
      HasSpace = true;
      ++At;
    } else if (std::optional<Type> T = typeOf(Word)) {
      if (HasType)
        return fail("a second type");
      V.Of = *T;
      HasType = true;
      ++At;
    } else if (Word == "v2" || Word == "v4" || Word == "v8") {
      V.Vector = static_cast<unsigned>(Word[1] - '0');
      ++At;
    } else if (isDirective(Directive::Align)) {
      ++At;
      uint64_t Bytes = 0;
      if (!expectNumber(Bytes))
        return false;
      if (Bytes == 0 || Bytes >= MostNumber || (Bytes & (Bytes - 1))) {
        --At;
        return fail("an alignment is a power of two");
      }
      (V.Pointer ? V.Pointer->Align : V.Align) = static_cast<unsigned>(Bytes);
    } else if (isDirective(Directive::Ptr) && HasType && !V.Pointer) {
      V.Pointer.emplace();
      ++At;
    } else if (isDirective(Directive::Attribute)) {
      if (!attributes(V.Attributes))
        return false;
    } else {
      return fail("'" + std::string(word()) +
                  "' is no part of a declaration that is known");
    }
  }
  if (!HasSpace)
    return expected("a state space such as '.reg'");
  return HasType || expected("a type such as '.b32'");
}

/// The name and what follows it: "%r<5>", "a[2][3] = {1, 2}".
bool Parser::variableName(Variable &V) {
  size_t First = At;
  if (!expectName(V.Name, "a variable's name"))
    return false;
  if (takeMark('<')) {
    uint64_t Count = 0;
    if (!expectNumber(Count))
      return false;
    if (Count == 0 || Count >= MostNumber) {
      --At;
      return fail("a range of registers has 1 to 2147483647");
    }
    V.Count = static_cast<unsigned>(Count);
    if (!expectMark('>'))
      return false;
  }
  while (takeMark('[')) {
    std::optional<uint64_t> &Size = V.Dimensions.emplace_back();
    if (!isMark(']')) {
      Constant C;
      if (!expression(C))
        return false;
      Size = C.Bits;
    }
    if (!expectMark(']'))
      return false;
  }
  if (takeMark('=') && !initialiser(V.Initial))
    return false;
  V.At = since(First);
  return true;
}

bool Parser::declaration(Declaration &D) {
  Variable Head;
  if (!variableHead(Head))
    return false;
  do {
    D.Variables.push_back(Head);
    if (!variableName(D.Variables.back()))
      return false;
  } while (takeMark(','));
  return endOfStatement();
}

bool Parser::parameters(std::vector<Variable> &Into) {
  ++At;
  if (takeMark(')'))
    return true;
  do {
    Variable &V = Into.emplace_back();
    if (!variableHead(V) || !variableName(V))
      return false;
  } while (takeMark(','));
  return expectMark(')');
}

/// "name+8" and "generic(name)+8", the latter also with the sum in it.
bool Parser::initialAddress(Initialiser &I, uint64_t Mask) {
  InitialAddress A;
  A.Mask = Mask;
  uint64_t Distance = 0;
  A.Generic = word() == "generic" && isMark('(', 1);
  if (A.Generic)
    At += 2;
  if (!expectName(A.Name, "a name") || !offset(Distance))
    return false;
  if (A.Generic) {
    uint64_t More = 0;
    if (!expectMark(')') || !offset(More))
      return false;
    Distance += More;
  }
  A.Offset = static_cast<int64_t>(Distance);
  bool Field = isMark('=') && !A.Generic && !Distance && !Mask;
  At += Field;
  I.Values.push_back(
      {Field ? InitialKind::Field : InitialKind::Address, I.Addresses.size()});
  I.Addresses.push_back(A);
  if (Field && is(TokenKind::Name) && isMark('=', 1))
    return expected("a value");
  return !Field || initialValue(I);
}

bool Parser::initialValue(Initialiser &I) {
  if (is(TokenKind::Name))
    return initialAddress(I, 0);
  // "0xFF00(name)": one byte of an address.
  if (is(TokenKind::Number) && isMark('(', 1)) {
    Constant Mask;
    return literal(Mask) && expectMark('(') &&
           (Mask.Bits != 0 || fail("a mask of no bits")) &&
           initialAddress(I, Mask.Bits) && expectMark(')');
  }
  bool Minus = isMark('-') && is(TokenKind::Number, 1);
  At += Minus;
  if (isFloat()) {
    bool Single = false;
    uint64_t Bits = 0;
    if (!floating(Single, Bits))
      return false;
    if (Minus)
      Bits ^= uint64_t(1) << (Single ? 31 : 63);
    I.Values.push_back(
        {Single ? InitialKind::Single : InitialKind::Double, Bits});
    return true;
  }
  At -= Minus;
  Constant C;
  if (!expression(C))
    return false;
  I.Values.push_back({InitialKind::Integer, C.Bits});
  return true;
}

bool Parser::initialiser(Initialiser &I) {
  size_t Depth = 0;
  do {
    while (isMark('{')) {
      if (++Depth > MostBraces)
        return fail("the initialiser is nested too deep");
      I.Values.push_back({InitialKind::Open, 0});
      ++At;
    }
    // An empty list.
    if (!(isMark('}') && Depth > 0) && !initialValue(I))
      return false;
    while (Depth > 0 && isMark('}')) {
      --Depth;
      I.Values.push_back({InitialKind::Close, 0});
      ++At;
    }
  } while (Depth > 0 && takeMark(','));
  return Depth == 0 || expectMark('}');
}

bool Parser::tunings(Tunings &Into, std::vector<Pragma> *Pragmas) {
  while (is(TokenKind::Directive)) {
    if (Pragmas && isDirective(Directive::Pragma)) {
      if (!pragma(Pragmas->emplace_back()))
        return false;
      continue;
    }
    std::optional<Tuning> T = tuningOf(directive());
    if (!T)
      return fail("'" + std::string(word()) +
                  "' is no directive of a function that is known");
    ++At;
    auto &[Is, Numbers] = Into.emplace_back();
    Is = *T;
    while (Numbers.size() < mostNumbers(*T)) {
      if (!Numbers.empty() && !takeMark(','))
        break;
      if (!expectNumber(Numbers.emplace_back()))
        return false;
    }
  }
  return true;
}

bool Parser::function(Function &F) {
  for (; std::optional<Linkage> L = linkageOf(directive()); ++At) {
    if (F.Link != Linkage::Internal)
      return fail("a second linkage");
    F.Link = *L;
  }
  F.IsKernel = isDirective(Directive::Entry);
  ++At;
  while (isDirective(Directive::Attribute))
    if (!attributes(F.Attributes))
      return false;
  if (isMark('(') && !parameters(F.Results))
    return false;
  if (!expectName(F.Name, "a function's name") ||
      (isMark('(') && !parameters(F.Parameters)) ||
      !tunings(F.Tunings, &F.Pragmas))
    return false;
  if (takeMark(';'))
    return true;
  F.HasBody = true;
  Inside = F.Name;
  if (!expectMark('{') || !body(F.Body, /*Whole=*/false))
    return false;
  Inside = "";
  return true;
}

} // namespace cupilot::ptx
