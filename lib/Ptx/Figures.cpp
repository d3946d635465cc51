//===- Figures.cpp - Numbers by which instructions are described ----------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Ptx/Figures.h"
#include <charconv>

namespace cupilot::ptx {

/// The number in front of \p Text, which is taken off.
static std::optional<unsigned> consumeNumber(std::string_view &Text) {
  unsigned Number = 0;
  auto [End, Fault] =
      std::from_chars(Text.data(), Text.data() + Text.size(), Number);
  if (Fault != std::errc())
    return std::nullopt;
  Text.remove_prefix(static_cast<size_t>(End - Text.data()));
  return Number;
}

/// n of "m64n256k8"; nothing for other words.
static std::optional<unsigned> columnsIn(std::string_view Word) {
  std::optional<unsigned> Sizes[3];
  for (size_t I = 0; I < 3; ++I) {
    if (Word.empty() || Word.front() != "mnk"[I])
      return std::nullopt;
    Word.remove_prefix(1);
    Sizes[I] = consumeNumber(Word);
    if (!Sizes[I])
      return std::nullopt;
  }
  return Word.empty() ? Sizes[1] : std::nullopt;
}

InstructionFigures figuresOf(const Instruction &I) {
  InstructionFigures F;
  unsigned Types = 0;
  for (std::string_view Word : I.Modifiers) {
    if (std::optional<unsigned> Columns = columnsIn(Word))
      F.Columns = Columns;
    if (Word == "x1" || Word == "x2" || Word == "x4")
      F.Matrices = unsigned(Word[1] - '0');
    // Of the result, then of the first factor.
    if (std::optional<Type> T = typeOf(Word); T && ++Types == 2)
      F.Factors = T;
  }
  for (const Operand &O : I.Operands)
    if (O.Kind == OperandKind::Integer) {
      F.Immediate = O.Value;
      break;
    }
  return F;
}

} // namespace cupilot::ptx
