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
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace cupilot {

unsigned ptxTypeBits(StringRef Suffix) {
  return StringSwitch<unsigned>(Suffix)
      .Case("pred", 1)
      .Cases({"b8", "u8", "s8", "e2m1x2"}, 8)
      .Cases({"b16", "u16", "s16", "f16", "bf16"}, 16)
      .Cases({"e4m3x2", "e5m2x2", "e2m3x2", "e3m2x2", "ue8m0x2"}, 16)
      .Cases({"b32", "u32", "s32", "f32", "tf32"}, 32)
      .Cases({"f16x2", "bf16x2", "u16x2", "s16x2"}, 32)
      .Cases({"b64", "u64", "s64", "f64"}, 64)
      .Case("b128", 128)
      .Default(0);
}

bool PtxStatement::has(StringRef Modifier) const {
  return is_contained(ArrayRef(Op).drop_front(), Modifier);
}

SmallVector<StringRef, 3> PtxStatement::types() const {
  SmallVector<StringRef, 3> Types;
  for (const std::string &Modifier : drop_begin(Op))
    if (ptxTypeBits(Modifier) != 0)
      Types.push_back(Modifier);
  return Types;
}

StringRef PtxStatement::operand(unsigned I) const {
  return I < Operands.size() && Operands[I].size() == 1
             ? StringRef(Operands[I].front())
             : StringRef();
}

namespace {
class Parser {
public:
  explicit Parser(StringRef Text) : Text(Text) {}
  Expected<PtxProgram> run();

private:
  void statement(StringRef Line);
  void declare(StringRef Line);
  void instruction(StringRef Line);
  void fail(const Twine &What) {
    if (!Unknown)
      Unknown = What.str();
  }
  std::string clean() const;
  /// \p Name with the scope that declares it.
  std::string resolve(StringRef Name) const;
  /// An operand's text with its registers resolved.
  std::string resolveOperand(StringRef Part) const;

  StringRef Text;
  std::optional<std::string> Unknown; ///< What is not understood.
  PtxProgram Program;
  std::vector<unsigned> Scopes = {0};
  unsigned NumScopes = 0;
  StringSet<> Labels;
  std::vector<std::vector<unsigned>> ScopesOf; ///< Per statement.
};
} // namespace

/// Without comments, and with one blank for each run of white space.
std::string Parser::clean() const {
  std::string Result;
  for (size_t I = 0; I < Text.size(); ++I) {
    if (Text.substr(I).starts_with("//")) {
      I = std::min(Text.find('\n', I), Text.size());
    } else if (Text.substr(I).starts_with("/*")) {
      I = std::min(Text.find("*/", I), Text.size() - 2) + 1;
    } else if (Text.substr(I).starts_with("${:uid}")) {
      Result += "uid";
      I += 6;
      continue;
    } else if (!isSpace(Text[I])) {
      Result += Text[I];
      continue;
    }
    if (!Result.empty() && Result.back() != ' ')
      Result += ' ';
  }
  return Result;
}

static bool isNameCharacter(char C) {
  return isAlnum(C) || C == '_' || C == '$' || C == '%';
}

std::string Parser::resolve(StringRef Name) const {
  for (unsigned Scope : reverse(Scopes)) {
    std::string Full = (Name + "#" + Twine(Scope)).str();
    if (Program.Registers.contains(Full))
      return Full;
  }
  return Name.str();
}

std::string Parser::resolveOperand(StringRef Part) const {
  std::string Result;
  while (!Part.empty()) {
    StringRef Name = Part.take_while(isNameCharacter);
    if (Name.empty()) {
      if (Part.front() != ' ')
        Result += Part.front();
      Part = Part.drop_front();
      continue;
    }
    Part = Part.drop_front(Name.size());
    // What follows a point belongs to a special register or a number.
    if (Part.starts_with(".") && !isDigit(Name.front())) {
      size_t Size = 1 + Part.drop_front().take_while(isNameCharacter).size();
      Result += Name;
      Result += Part.take_front(Size);
      Part = Part.drop_front(Size);
      continue;
    }
    Result += resolve(Name);
  }
  return Result;
}

/// .reg .b32 a, b, c<4>;
void Parser::declare(StringRef Line) {
  StringRef Rest = Line.drop_front(StringRef(".reg").size()).ltrim();
  Rest.consume_front(".v2 ");
  if (!Rest.consume_front("."))
    return fail("the declaration '" + Line + "'");
  StringRef Type = Rest.take_while(isAlnum);
  unsigned Bits = ptxTypeBits(Type);
  if (Bits == 0 || Line.contains(".v2") || Line.contains(".v4"))
    return fail("the declaration '" + Line + "'");
  for (StringRef Name : split(Rest.drop_front(Type.size()), ',')) {
    Name = Name.trim();
    unsigned Count = 0;
    auto [Stem, Range] = Name.split('<');
    std::string Scope = "#" + std::to_string(Scopes.back());
    if (Range.empty()) {
      Program.Registers[(Name + Scope).str()] = Bits;
      continue;
    }
    if (!Range.consume_back(">") || Range.getAsInteger(10, Count) ||
        Count > 4096)
      return fail("the declaration '" + Line + "'");
    for (unsigned I = 0; I < Count; ++I)
      Program.Registers[(Stem.trim() + Twine(I) + Scope).str()] = Bits;
  }
}

static bool splitOperands(StringRef Text,
                          std::vector<std::vector<std::string>> &Operands) {
  while (!Text.empty()) {
    Operands.emplace_back();
    if (Text.consume_front("{")) {
      size_t End = Text.find('}');
      if (End == StringRef::npos)
        return false;
      for (StringRef Part : split(Text.take_front(End), ','))
        Operands.back().push_back(Part.trim().str());
      Text = Text.drop_front(End + 1).ltrim();
    } else {
      // A tensor's coordinates lie inside the brackets of its address.
      size_t End = 0;
      for (unsigned Depth = 0;
           End < Text.size() && (Depth > 0 || Text[End] != ','); ++End)
        Depth += Text[End] == '[' ? 1 : Text[End] == ']' ? -1 : 0;
      Operands.back().push_back(Text.take_front(End).trim().str());
      Text = Text.drop_front(End);
    }
    if (!Text.empty() && !Text.consume_front(","))
      return false;
    Text = Text.ltrim();
  }
  return true;
}

void Parser::instruction(StringRef Line) {
  PtxStatement S;
  StringRef Rest = Line;
  if (Rest.consume_front("@")) {
    Rest = Rest.ltrim();
    S.GuardNegated = Rest.consume_front("!");
    Rest = Rest.ltrim();
    StringRef Guard = Rest.take_while(isNameCharacter);
    S.Guard = resolve(Guard);
    Rest = Rest.drop_front(Guard.size()).ltrim();
  }
  S.Text = Rest.str();
  auto [Op, Operands] = Rest.split(' ');
  for (StringRef Part : split(Op, '.'))
    S.Op.push_back(Part.str());
  if (S.Op.front().empty())
    return fail("the directive '" + Line + "'");
  if (!splitOperands(Operands.trim(), S.Operands))
    return fail("'" + Line + "'");
  for (auto &Parts : S.Operands)
    for (std::string &Part : Parts)
      Part = resolveOperand(Part);
  Program.Statements.push_back(std::move(S));
  ScopesOf.push_back(Scopes);
}

void Parser::statement(StringRef Line) {
  Line = Line.trim();
  if (Line.empty() || Line.starts_with(".pragma"))
    return;
  if (Line.starts_with(".reg"))
    return declare(Line);
  instruction(Line);
}

Expected<PtxProgram> Parser::run() {
  std::string Clean = clean();
  StringRef Rest = StringRef(Clean).ltrim();
  while (!Rest.empty() && !Unknown) {
    // Braces of a scope stand where a statement begins, those of a vector
    // among operands.
    if (Rest.consume_front("{")) {
      Scopes.push_back(++NumScopes);
    } else if (Rest.consume_front("}")) {
      if (Scopes.size() == 1)
        fail("a brace that closes nothing");
      else
        Scopes.pop_back();
    } else {
      StringRef Name = Rest.take_while(isNameCharacter);
      StringRef After = Rest.drop_front(Name.size()).ltrim();
      if (!Name.empty() && After.starts_with(":") && !After.starts_with("::")) {
        PtxStatement S;
        S.Label = (Name + "@" + Twine(Scopes.back())).str();
        S.Text = Name.str();
        Labels.insert(S.Label);
        Program.Statements.push_back(std::move(S));
        ScopesOf.push_back(Scopes);
        Rest = After.drop_front();
      } else {
        size_t End = std::min(Rest.find(';'), Rest.size());
        // The last statement of a scope needs no semicolon in practice.
        size_t Close = Rest.find('}');
        if (Close < End && !Rest.take_front(Close).contains('{'))
          End = Close;
        statement(Rest.take_front(End));
        Rest = Rest.drop_front(End);
        Rest.consume_front(";");
      }
    }
    Rest = Rest.ltrim();
  }
  if (Unknown)
    return createStringError(*Unknown);
  // A branch goes to the innermost label of that name; labels of sibling
  // scopes may share one.
  for (auto [S, Chain] : zip(Program.Statements, ScopesOf)) {
    if (!S.Label.empty() || S.base() != "bra" || S.operand(0).empty())
      continue;
    std::string &Target = S.Operands[0].front();
    for (unsigned Scope : reverse(Chain))
      if (Labels.contains((Target + "@" + Twine(Scope)).str())) {
        Target += "@" + std::to_string(Scope);
        break;
      }
  }
  return std::move(Program);
}

Expected<PtxProgram> parsePtx(StringRef Text) { return Parser(Text).run(); }

} // namespace cupilot
