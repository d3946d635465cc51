//===- Patterns.cpp - Opcodes by their patterns -----------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Row.h"
#include <algorithm>
#include <set>
#include <utility>

namespace ptxrows {

static std::vector<std::string> split(std::string_view Text, char At) {
  std::vector<std::string> Parts(1);
  for (char C : Text)
    if (C == At)
      Parts.emplace_back();
    else
      Parts.back() += C;
  return Parts;
}

std::vector<std::string> expand(std::string_view Pattern) {
  std::vector<std::string> All = {""};
  for (size_t I = 0; I < Pattern.size();) {
    char Open = Pattern[I];
    if (Open == ' ') {
      ++I;
      continue;
    }
    std::vector<std::string> Words;
    if (Open == '[' || Open == '(') {
      size_t End = Pattern.find(Open == '[' ? ']' : ')', I);
      Words = split(Pattern.substr(I + 1, End - I - 1), ' ');
      if (Open == '[')
        Words.insert(Words.begin(), "");
      I = End + 1;
    } else {
      size_t End = std::min(Pattern.find(' ', I), Pattern.size());
      Words = {std::string(Pattern.substr(I, End - I))};
      I = End;
    }
    std::vector<std::string> Next;
    for (const std::string &Prefix : All)
      for (const std::string &Word : Words)
        Next.push_back(Word.empty() || Prefix.empty() ? Prefix + Word
                                                      : Prefix + "." + Word);
    All = std::move(Next);
  }
  return All;
}

/// The types that opcodes name, with the registers that hold them.
static constexpr std::pair<std::string_view, Kind> Types[] = {
    {"u8", Kind::Bits32},      {"s8", Kind::Bits32},
    {"b8", Kind::Bits32},      {"u16", Kind::Bits16},
    {"s16", Kind::Bits16},     {"b16", Kind::Bits16},
    {"u32", Kind::Bits32},     {"s32", Kind::Bits32},
    {"b32", Kind::Bits32},     {"u64", Kind::Bits64},
    {"s64", Kind::Bits64},     {"b64", Kind::Bits64},
    {"u16x2", Kind::Bits32},   {"s16x2", Kind::Bits32},
    {"f16", Kind::F16},        {"bf16", Kind::BF16},
    {"f16x2", Kind::F16x2},    {"bf16x2", Kind::BF16x2},
    {"f32", Kind::F32},        {"f64", Kind::F64},
    {"pred", Kind::Predicate}, {"tf32", Kind::F32},
    {"e4m3x2", Kind::Narrow},  {"e5m2x2", Kind::Narrow},
    {"e2m3x2", Kind::Narrow},  {"e3m2x2", Kind::Narrow},
    {"ue8m0x2", Kind::Narrow},
};

Kind kindOf(std::string_view Type) {
  for (const auto &[Name, K] : Types)
    if (Name == Type)
      return K;
  return Kind::Bits32;
}

std::vector<std::string> typesOf(std::string_view Opcode) {
  std::vector<std::string> Found;
  for (const std::string &Part : split(Opcode, '.'))
    if (std::any_of(std::begin(Types), std::end(Types),
                    [&](const auto &T) { return T.first == Part; }))
      Found.push_back(Part);
  return Found;
}

std::string registers(char Letter, unsigned First, unsigned Count) {
  std::string Text;
  for (unsigned I = 0; I < Count; ++I)
    Text +=
        (I ? ", %" : "%") + std::string(1, Letter) + std::to_string(First + I);
  return Text;
}

static Kind twice(Kind K) {
  return K == Kind::Bits16 ? Kind::Bits32 : Kind::Bits64;
}

static Kind kindOf(char Letter, const std::vector<std::string> &Types) {
  switch (Letter) {
  case 'T':
    return kindOf(Types.back());
  case 'F':
    return kindOf(Types.front());
  case 'W':
    return twice(kindOf(Types.back()));
  case 's':
    return Kind::Amount;
  case 'p':
    return Kind::Predicate;
  default:
    return Kind::Bits32;
  }
}

void addPlain(std::vector<Row> &Rows, std::string_view Pattern,
              std::string_view Operands) {
  for (const std::string &Opcode : expand(Pattern)) {
    std::vector<std::string> Types = typesOf(Opcode);
    Row R;
    R.Name = Opcode;
    for (char Letter : Operands.substr(2))
      R.Inputs.push_back(kindOf(Letter, Types));
    Output &O = R.Outputs.emplace_back();
    O.Of = kindOf(Operands.front(), Types);
    // What is only chosen keeps its bits.
    bool Chosen = Opcode[0] == 's' && (Opcode[1] == 'e' || Opcode[1] == 'l');
    if (O.Of == Kind::F64 && !Chosen)
      O.Open = Mask::AnyNan;
    R.Body = Opcode + " %d0, " +
             registers('a', 0, static_cast<unsigned>(R.Inputs.size())) + ";";
    Rows.push_back(std::move(R));
  }
}

std::vector<Row> allRows() {
  std::vector<Row> Rows;
  addIntegerRows(Rows);
  addFloatRows(Rows);
  addConversionRows(Rows);
  addVideoRows(Rows);
  addMemoryRows(Rows);
  addAtomicRows(Rows);
  addThreadRows(Rows);
  addMatrixRows(Rows);
  addAsyncRows(Rows);
  // Patterns overlap.
  std::set<std::string> Names;
  std::erase_if(Rows,
                [&](const Row &R) { return !Names.insert(R.Name).second; });
  return Rows;
}

} // namespace ptxrows
