//===- Parser.cpp - Reads PTX modules ---------------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parser.h"
#include <algorithm>

namespace cupilot::ptx {

/// Tokens, with ".reg.b32" as two.
bool Parser::start() {
  std::optional<std::vector<Token>> Found = lex(*Text, Why);
  if (!Found)
    return false;
  Tokens.reserve(Found->size());
  for (const Token &T : *Found) {
    if (T.Kind != TokenKind::Directive) {
      Tokens.push_back(T);
      continue;
    }
    std::string_view Word = T.in(*Text);
    for (size_t Point = 0; Point < Word.size();) {
      size_t Next = std::min(Word.find('.', Point + 1), Word.size());
      Tokens.push_back({static_cast<uint32_t>(T.Begin + Point),
                        static_cast<uint32_t>(T.Begin + Next),
                        TokenKind::Directive});
      Point = Next;
    }
  }
  return true;
}

bool Parser::fail(std::string Message) {
  if (!Failed)
    Why = diagnosticAt(*Text, peek().Begin, std::move(Message));
  Failed = true;
  return false;
}

bool Parser::expected(const char *What) {
  std::string Found = is(TokenKind::End) ? "the end of the text"
                                         : "'" + std::string(word()) + "'";
  return fail(std::string("expected ") + What + ", found " + Found);
}

bool Parser::takeMark(char C) {
  if (!isMark(C))
    return false;
  ++At;
  return true;
}

bool Parser::expectMark(char C) {
  const char Quoted[] = {'\'', C, '\'', 0};
  return takeMark(C) || expected(Quoted);
}

bool Parser::expectName(std::string_view &Name, const char *What) {
  if (!is(TokenKind::Name))
    return expected(What);
  Name = word();
  ++At;
  return true;
}

bool Parser::expectNumber(uint64_t &Value) {
  if (!is(TokenKind::Number))
    return expected("a number");
  Constant C;
  if (!literal(C))
    return false;
  Value = C.Bits;
  return true;
}

bool Parser::expectString(std::string_view &String) {
  if (!is(TokenKind::String))
    return expected("a string");
  String = word();
  ++At;
  return true;
}

std::string_view Parser::directive(size_t Ahead) const {
  return is(TokenKind::Directive, Ahead) ? word(Ahead).substr(1)
                                         : std::string_view();
}

Place Parser::since(size_t First) const {
  return {Tokens[First].Begin,
          At > First ? Tokens[At - 1].End : Tokens[First].Begin};
}

bool Parser::head(Module &M) {
  if (!isDirective(Directive::Version))
    return expected("'.version', with which a module begins");
  ++At;
  std::string_view Number = word();
  size_t Point = Number.find('.');
  auto Read = [](std::string_view Digits, unsigned &Value) {
    for (char C : Digits) {
      if (C < '0' || C > '9' || Value > 999)
        return false;
      Value = Value * 10 + static_cast<unsigned>(C - '0');
    }
    return !Digits.empty();
  };
  if (!is(TokenKind::Number) || Point == std::string_view::npos ||
      !Read(Number.substr(0, Point), M.Needs.Major) ||
      !Read(Number.substr(Point + 1), M.Needs.Minor))
    return expected("a version such as 9.0");
  ++At;
  if (!isDirective(Directive::Target))
    return expected("'.target'");
  do {
    ++At;
    if (!expectName(M.Target.emplace_back(), "a target such as sm_90"))
      return false;
  } while (isMark(','));
  if (isDirective(Directive::AddressSize)) {
    ++At;
    uint64_t Size = 0;
    if (!is(TokenKind::Number) || (word() != "32" && word() != "64"))
      return expected("32 or 64");
    if (!expectNumber(Size))
      return false;
    M.AddressSize = static_cast<unsigned>(Size);
  }
  return true;
}

bool Parser::sourceFile(SourceFile &F) {
  ++At;
  if (!expectNumber(F.Number))
    return false;
  do {
    if (!expectString(F.Names.emplace_back()))
      return false;
  } while (is(TokenKind::String));
  while (takeMark(','))
    if (!expectNumber(F.TimeAndSize.emplace_back()))
      return false;
  return true;
}

bool Parser::section(Section &S) {
  ++At;
  if (!is(TokenKind::Directive) && !is(TokenKind::Name))
    return expected("a section's name");
  S.Name = word();
  ++At;
  if (!expectMark('{'))
    return false;
  while (!takeMark('}')) {
    if (is(TokenKind::End) || isMark('{'))
      return expected("'}'");
    S.Words.push_back(word());
    ++At;
  }
  return true;
}

bool Parser::item(Item &I) {
  std::string_view Word = directive();
  std::optional<Directive> D = directiveOf(Word);
  if (D == Directive::File)
    return sourceFile(I.Is.emplace<SourceFile>());
  if (D == Directive::Section)
    return section(I.Is.emplace<Section>());
  if (D == Directive::Pragma)
    return pragma(I.Is.emplace<Pragma>());
  if (D == Directive::Loc)
    return location(I.Is.emplace<Location>());
  if (D == Directive::Alias) {
    ++At;
    Alias &A = I.Is.emplace<Alias>();
    return expectName(A.Name, "a name") && expectMark(',') &&
           expectName(A.Of, "a name") && expectMark(';');
  }
  size_t Ahead = 0;
  while (linkageOf(directive(Ahead)))
    ++Ahead;
  if (isDirective(Directive::Entry, Ahead) ||
      isDirective(Directive::Func, Ahead))
    return function(I.Is.emplace<Function>());
  if (startsDeclaration())
    return declaration(I.Is.emplace<Declaration>());
  if (!Word.empty())
    return fail("'." + std::string(Word) +
                "' is no directive of a module that is known");
  return expected("a directive");
}

bool Parser::items(Module &M) {
  while (!is(TokenKind::End)) {
    if (takeMark(';'))
      continue;
    size_t First = At;
    Item &I = M.Items.emplace_back();
    if (!item(I))
      return false;
    I.At = since(First);
  }
  return true;
}

void Parser::index(Module &M) {
  // Of a declaration and a definition, the latter.
  auto Add = [&M](std::string_view Name, uint32_t Number, bool Defines) {
    auto [It, New] = M.Index.try_emplace(Name, Number);
    if (!New && Defines)
      It->second = Number;
  };
  for (uint32_t Number = 0; Number < M.Items.size(); ++Number) {
    const Item &I = M.Items[Number];
    if (const auto *F = I.as<Function>())
      Add(F->Name, Number, F->HasBody);
    else if (const auto *A = I.as<Alias>())
      Add(A->Name, Number, true);
    else if (const auto *D = I.as<Declaration>())
      for (const Variable &V : D->Variables)
        Add(V.Name, Number, V.Link != Linkage::Extern);
  }
}

void Parser::tellPlace() {
  Why.Function = Inside;
  if (!Begun)
    return;
  // What follows may be as long as the text.
  constexpr size_t Most = 80;
  std::string_view Rest =
      std::string_view(*Text).substr(Tokens[*Begun].Begin, Most);
  Rest = Rest.substr(0, Rest.find_first_of("\r\n"));
  Why.Statement = Rest.substr(0, Rest.find_last_not_of(" \t") + 1);
}

std::optional<Module> Parser::module() {
  Module M;
  M.Text = Text;
  if (!start())
    return std::nullopt;
  if (!head(M) || !items(M)) {
    if (M.Needs > NewestVersion)
      Why.Message += " (the module is PTX " + std::to_string(M.Needs.Major) +
                     "." + std::to_string(M.Needs.Minor) +
                     "; what is known is PTX up to " +
                     std::to_string(NewestVersion.Major) + "." +
                     std::to_string(NewestVersion.Minor) + ")";
    tellPlace();
    return std::nullopt;
  }
  index(M);
  return M;
}

std::optional<Fragment> Parser::fragment() {
  Fragment F;
  F.Text = Text;
  Lenient = true;
  if (!start() || !body(F.Statements, /*Whole=*/true))
    return std::nullopt;
  return F;
}

std::optional<Module> readModule(std::string Text, Diagnostic &Why) {
  return Parser(std::move(Text), Why).module();
}

std::optional<Fragment> readFragment(std::string Text, Diagnostic &Why) {
  return Parser(std::move(Text), Why).fragment();
}

const Item *Module::find(std::string_view Name) const {
  auto It = Index.find(Name);
  return It == Index.end() ? nullptr : &Items[It->second];
}

const Function *Module::function(std::string_view Name) const {
  const Item *I = find(Name);
  return I ? I->as<Function>() : nullptr;
}

std::vector<const Function *> Module::kernels() const {
  std::vector<const Function *> Found;
  for (const Item &I : Items)
    if (const auto *F = I.as<Function>(); F && F->IsKernel && F->HasBody)
      Found.push_back(F);
  return Found;
}

unsigned Module::lineOf(Place P) const {
  return diagnosticAt(*Text, P.Begin, "").Line;
}

bool Instruction::has(std::string_view Modifier) const {
  return std::ranges::find(Modifiers, Modifier) != Modifiers.end();
}

} // namespace cupilot::ptx
