//===- PtxAsm.cpp - Inline PTX as statements -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxAsm.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace cupilot {

bool PtxStatement::has(StringRef Modifier) const {
  return is_contained(ArrayRef(Op).drop_front(), Modifier);
}

/// Instructions without their semicolons, scopes and comments. Braces of a
/// scope stand where a statement begins, those of a vector among operands.
static std::vector<std::string> splitStatements(StringRef Text) {
  std::vector<std::string> Statements(1);
  for (size_t I = 0; I < Text.size(); ++I) {
    std::string &Current = Statements.back();
    if (Text.substr(I).starts_with("//")) {
      I = std::min(Text.find('\n', I), Text.size() - 1);
    } else if (Text.substr(I).starts_with("/*")) {
      I = std::min(Text.find("*/", I), Text.size() - 2) + 1;
    } else if (Text[I] == ';') {
      Statements.emplace_back();
    } else if (isSpace(Text[I])) {
      if (!Current.empty() && Current.back() != ' ')
        Current += ' ';
    } else if (Current.empty() && (Text[I] == '{' || Text[I] == '}')) {
      continue;
    } else {
      Current += Text[I];
    }
  }
  return Statements;
}

static std::optional<std::vector<std::vector<std::string>>>
splitOperands(StringRef Text) {
  std::vector<std::vector<std::string>> Operands;
  while (!Text.empty()) {
    Operands.emplace_back();
    if (Text.consume_front("{")) {
      size_t End = Text.find('}');
      if (End == StringRef::npos)
        return std::nullopt;
      for (StringRef Part : split(Text.take_front(End), ','))
        Operands.back().push_back(Part.trim().str());
      Text = Text.drop_front(End + 1).ltrim();
    } else {
      size_t End = std::min(Text.find(','), Text.size());
      Operands.back().push_back(Text.take_front(End).trim().str());
      Text = Text.drop_front(End);
    }
    if (!Text.empty() && !Text.consume_front(","))
      return std::nullopt;
    Text = Text.ltrim();
  }
  return Operands;
}

std::optional<std::vector<PtxStatement>> parsePtx(StringRef Text) {
  std::vector<PtxStatement> Result;
  for (const std::string &Line : splitStatements(Text)) {
    StringRef Rest = StringRef(Line).trim();
    if (Rest.empty() || Rest.starts_with(".reg"))
      continue;
    PtxStatement S;
    if (Rest.consume_front("@")) {
      S.GuardNegated = Rest.consume_front("!");
      auto [Guard, Tail] = Rest.split(' ');
      S.Guard = Guard.str();
      Rest = Tail.ltrim();
    }
    auto [Op, Operands] = Rest.split(' ');
    // Labels, calls and directives are control flow, not instructions.
    if (Op.contains(':') && !Op.contains("::"))
      return std::nullopt;
    for (StringRef Part : split(Op, '.'))
      S.Op.push_back(Part.str());
    if (S.Op.front().empty())
      return std::nullopt;
    auto Parts = splitOperands(Operands.trim());
    if (!Parts)
      return std::nullopt;
    S.Operands = std::move(*Parts);
    Result.push_back(std::move(S));
  }
  if (Result.empty())
    return std::nullopt;
  return Result;
}

} // namespace cupilot
