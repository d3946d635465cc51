//===- Parser.h - Reads PTX -------------------------------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CUPILOT_LIB_PTX_PARSER_H
#define CUPILOT_LIB_PTX_PARSER_H

#include "cupilot/Ptx/Module.h"

namespace cupilot::ptx {

/// A constant expression's value (PTX ISA, "Constant Expressions").
struct Constant {
  uint64_t Bits = 0;
  bool Unsigned = false;
};

/// Reads by recursive descent. Each function returns false when it has failed;
/// the first failure is kept. The text may hold anything: depths are bounded.
class Parser {
public:
  Parser(std::string Text, Diagnostic &Why)
      : Text(std::make_shared<const std::string>(std::move(Text))), Why(Why) {}
  std::optional<Module> module();
  std::optional<Fragment> fragment();

private:
  using Tunings = std::vector<std::pair<Tuning, std::vector<uint64_t>>>;

  // Parser.cpp: tokens.
  bool start();
  const Token &peek(size_t Ahead = 0) const {
    return Tokens[std::min(At + Ahead, Tokens.size() - 1)];
  }
  std::string_view word(size_t Ahead = 0) const {
    return peek(Ahead).in(*Text);
  }
  bool is(TokenKind Kind, size_t Ahead = 0) const {
    return peek(Ahead).Kind == Kind;
  }
  bool isMark(char C, size_t Ahead = 0) const {
    return is(TokenKind::Mark, Ahead) && word(Ahead).front() == C;
  }
  /// No white space stands before the token.
  bool touches(size_t Ahead) const {
    return peek(Ahead).Begin == peek(Ahead - 1).End;
  }
  bool isColons(size_t Ahead = 0) const {
    return isMark(':', Ahead) && isMark(':', Ahead + 1) && touches(Ahead + 1);
  }
  bool takeMark(char C);
  bool expectMark(char C);
  bool expectName(std::string_view &Name, const char *What);
  bool expectNumber(uint64_t &Value);
  bool expectString(std::string_view &String);
  /// The word of a directive at \p Ahead without its point; "" for others.
  std::string_view directive(size_t Ahead = 0) const;
  bool isDirective(Directive D, size_t Ahead = 0) const {
    return directiveOf(directive(Ahead)) == D;
  }
  /// Fails at the token that is next.
  bool fail(std::string Message);
  bool expected(const char *What);
  Place since(size_t First) const;
  /// The error is complete: where it is.
  void tellPlace();

  // Numbers.cpp: constants.
  bool literal(Constant &C);
  bool expression(Constant &C, unsigned Depth = 0);
  bool binary(Constant &C, unsigned Least, unsigned Depth);
  bool unary(Constant &C, unsigned Depth);
  /// Whether the number that is next is one of floating point.
  bool isFloat() const;
  bool floating(bool &IsSingle, uint64_t &Bits);
  bool startsConstant() const;

  // Statements.cpp: bodies.
  bool body(std::vector<Statement> &Body, bool Whole);
  bool statement(std::vector<Statement> &Body);
  bool labelled(Statement &S);
  bool instruction(Instruction &I);
  bool modifiers(Instruction &I);
  bool operand(Operand &O, bool OfCall, unsigned Depth);
  bool primary(Operand &O, bool OfCall, unsigned Depth);
  bool parts(Operand &O, char Close, bool OfCall, unsigned Depth);
  bool offset(uint64_t &Value);
  bool location(Location &L);
  bool pragma(Pragma &P);
  bool endOfStatement();

  // Declarations.cpp: variables and functions.
  bool startsDeclaration() const;
  bool declaration(Declaration &D);
  bool variableHead(Variable &V);
  bool variableName(Variable &V);
  bool parameters(std::vector<Variable> &Into);
  bool attributes(std::vector<std::string_view> &Into);
  bool initialiser(Initialiser &I);
  bool initialValue(Initialiser &I);
  bool initialAddress(Initialiser &I, uint64_t Mask);
  bool tunings(Tunings &Into, std::vector<Pragma> *Pragmas);
  bool function(Function &F);

  // Parser.cpp: modules.
  bool head(Module &M);
  bool items(Module &M);
  bool item(Item &I);
  bool sourceFile(SourceFile &F);
  bool section(Section &S);
  static void index(Module &M);

  std::shared_ptr<const std::string> Text;
  std::vector<Token> Tokens; ///< Directives have one point each.
  size_t At = 0;
  bool Failed = false;
  bool Lenient = false;        ///< Semicolons may be missing: inline assembly.
  std::string_view Inside;     ///< The function whose body is read.
  std::optional<size_t> Begun; ///< Where a statement of it begins.
  Diagnostic &Why;
};

} // namespace cupilot::ptx

#endif // CUPILOT_LIB_PTX_PARSER_H
