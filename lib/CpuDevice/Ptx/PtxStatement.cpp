//===- PtxStatement.cpp - PTX instructions for the table -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxStatement.h"

using namespace llvm;

namespace cupilot {

unsigned ptxTypeBits(StringRef Suffix) {
  std::optional<ptx::Type> T = ptx::typeOf(std::string_view(Suffix));
  return T ? ptx::bitsOf(*T) : 0;
}

StringRef PtxStatement::type() const {
  return I.Modifiers.empty() ? StringRef() : StringRef(I.Modifiers.back());
}

SmallVector<StringRef, 3> PtxStatement::types() const {
  SmallVector<StringRef, 3> Types;
  for (StringRef Modifier : I.Modifiers)
    if (ptxTypeBits(Modifier) != 0)
      Types.push_back(Modifier);
  return Types;
}

SmallVector<StringRef, 8> PtxStatement::parts() const {
  SmallVector<StringRef, 8> Parts = {base()};
  Parts.append(I.Modifiers.begin(), I.Modifiers.end());
  return Parts;
}

const ptx::Operand &PtxStatement::operand(unsigned N) const {
  static const ptx::Operand None = [] {
    ptx::Operand O;
    O.Kind = ptx::OperandKind::List;
    return O;
  }();
  if (N >= Operands.size())
    return None;
  ArrayRef<ptx::Operand> Parts = partsOf(Operands[N]);
  return Parts.size() == 1 ? Parts.front() : None;
}

ArrayRef<ptx::Operand> partsOf(const ptx::Operand &O) {
  return O.Kind == ptx::OperandKind::Vector ? ArrayRef(O.Parts) : ArrayRef(O);
}

std::pair<const ptx::Operand *, const ptx::Operand *>
pairOf(const ptx::Operand &O) {
  if (O.Kind == ptx::OperandKind::Pair)
    return {&O.Parts[0], &O.Parts[1]};
  return {&O, nullptr};
}

Expected<ptx::Fragment> readAsm(StringRef Text) {
  std::string Plain;
  for (static constexpr StringLiteral Unique = "${:uid}"; !Text.empty();) {
    size_t End = std::min(Text.find(Unique), Text.size());
    Plain += Text.take_front(End);
    Text = Text.drop_front(End);
    if (Text.consume_front(Unique))
      Plain += "uid";
  }
  ptx::Diagnostic Why;
  std::optional<ptx::Fragment> F = ptx::readFragment(std::move(Plain), Why);
  if (!F)
    return createStringError("what cannot be read (" + Why.str() + ")");
  return std::move(*F);
}

std::string plainText(std::string_view Text, ptx::Place At) {
  std::string_view Part = Text.substr(At.Begin, At.End - At.Begin);
  ptx::Diagnostic Why;
  std::optional<std::vector<ptx::Token>> Tokens = ptx::lex(Part, Why);
  std::string Plain;
  if (!Tokens)
    return Plain;
  uint32_t Last = 0;
  for (const ptx::Token &T : *Tokens) {
    if (T.Begin > Last && T.Kind != ptx::TokenKind::End)
      Plain += ' ';
    Plain += T.in(Part);
    Last = T.End;
  }
  StringRef Whole = StringRef(Plain).trim();
  Whole.consume_back(";");
  return Whole.rtrim().str();
}

} // namespace cupilot
