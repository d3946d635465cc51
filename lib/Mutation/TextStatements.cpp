//===- TextStatements.cpp - Wrong conditions, loops and stores in a text -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TextSites.h"
#include "clang/AST/ASTContext.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using llvm::StringRef;
using llvm::Twine;

namespace cupilot {

void addTextConditional(const ConditionalOperator &E, TextSites &S) {
  SourceRange Condition = E.getCond()->getSourceRange();
  std::optional<StringRef> Text = S.textOf(Condition);
  if (!Text)
    return;
  auto Change = [&](StringRef After, const Twine &New) {
    S.add(Condition, "select", "c ? a : b", After, New, E.getQuestionLoc());
  };
  Change("c ? b : a", "!(" + *Text + ")");
  Change("a", "true");
  Change("b", "false");
}

/// Loops that never end prove nothing.
void addTextCondition(const clang::Expr *Condition, bool Loops, TextSites &S) {
  if (!Condition)
    return;
  if (!Loops)
    S.add(Condition->getSourceRange(), "bounds", "c", "true", "true");
  S.add(Condition->getSourceRange(), "bounds", "c", "false", "false");
}

namespace {
/// for (...; i < limit; i += step)
struct CountedLoop {
  const VarDecl *Variable = nullptr;
  const clang::Expr *Limit = nullptr;
  BinaryOperatorKind Compare = BO_LT;
  bool grows() const { return Compare == BO_LT || Compare == BO_LE; }
};
} // namespace

static std::optional<CountedLoop> countedLoop(const ForStmt &Loop) {
  const auto *Condition = Loop.getCond()
                              ? dyn_cast<clang::BinaryOperator>(
                                    Loop.getCond()->IgnoreParenImpCasts())
                              : nullptr;
  if (!Condition || !Condition->isRelationalOp())
    return std::nullopt;
  CountedLoop Found{namedVariable(Condition->getLHS()), Condition->getRHS(),
                    Condition->getOpcode()};
  if (!Found.Variable || !Found.Variable->getType()->isIntegerType())
    return std::nullopt;
  return Found;
}

static void addLimit(const CountedLoop &Loop, TextSites &S) {
  if (isConstant(Loop.Limit, S.Ctx))
    return;
  SourceRange Range = Loop.Limit->getSourceRange();
  std::optional<StringRef> Text = S.textOf(Range);
  if (!Text)
    return;
  std::string Limit = "(" + Text->str() + ")";
  auto Change = [&](StringRef After, const Twine &New) {
    return S.add(Range, "loop", "limit", After, New);
  };
  Change("limit + 1", "(" + Limit + " + 1)");
  Change("limit - 1", "(" + Limit + " - 1)");
  constexpr unsigned Int = 32, Few = 10;
  if (Loop.Compare != BO_LT ||
      S.Ctx.getIntWidth(
          Loop.Limit->IgnoreParenImpCasts()->getType().getCanonicalType()) <
          Int)
    return;
  if (Mutation *M = Change("min(limit, 1024)",
                           "(" + Limit + " < 1024 ? " + Limit + " : 1024)"))
    M->Bits = Few;
  Change("limit in whole fours", "(" + Limit + " & ~3)");
}

/// The begin of the loop, where it is no constant.
static void addStart(const ForStmt &Loop, const CountedLoop &Of, TextSites &S) {
  const clang::Expr *Start = nullptr;
  if (const auto *Decl = llvm::dyn_cast_or_null<DeclStmt>(Loop.getInit())) {
    if (Decl->isSingleDecl() && Decl->getSingleDecl() == Of.Variable &&
        Of.Variable->getInitStyle() == VarDecl::CInit)
      Start = Of.Variable->getInit();
  } else if (const auto *Set =
                 llvm::dyn_cast_or_null<clang::BinaryOperator>(Loop.getInit());
             Set && Set->getOpcode() == BO_Assign) {
    Start = Set->getRHS();
  }
  if (!Start || isConstant(Start, S.Ctx))
    return;
  std::optional<StringRef> Text = S.textOf(Start->getSourceRange());
  if (!Text)
    return;
  for (StringRef By : {" + 1", " - 1"})
    S.add(Start->getSourceRange(), "loop", "start", "start" + By,
          "(" + *Text + ")" + By);
}

static void addStep(const ForStmt &Loop, const CountedLoop &Of, TextSites &S) {
  const clang::Expr *Inc =
      Loop.getInc() ? Loop.getInc()->IgnoreParens() : nullptr;
  if (!Inc)
    return;
  SourceRange Range = Inc->getSourceRange();
  if (const auto *One = dyn_cast<clang::UnaryOperator>(Inc);
      One && One->isIncrementDecrementOp()) {
    if (auto Name = S.textOf(One->getSubExpr()->getSourceRange()))
      S.add(Range, "loop", "step", "step twice",
            *Name + (One->isIncrementOp() ? " += 2" : " -= 2"));
    return;
  }
  const auto *Step = dyn_cast<CompoundAssignOperator>(Inc);
  if (!Step)
    return;
  auto Name = S.textOf(Step->getLHS()->getSourceRange()),
       By = S.textOf(Step->getRHS()->getSourceRange()), Whole = S.textOf(Range);
  if (!Name || !By || !Whole)
    return;
  S.add(Range, "loop", "step", "step twice", *Whole + ", " + *Whole);
  // A stride of the grid takes all in one turn, if there are few.
  auto Limit = S.textOf(Of.Limit->getSourceRange());
  if (Limit && Of.grows() && Step->getOpcode() == BO_AddAssign &&
      !isConstant(Step->getRHS(), S.Ctx))
    S.add(Range, "loop", "turns", "one turn",
          *Name + " = " + *Limit + (Of.Compare == BO_LE ? " + 1" : ""));
}

void addTextLoop(const ForStmt &Loop, TextSites &S) {
  std::optional<CountedLoop> Of = countedLoop(Loop);
  if (!Of)
    return;
  if (std::optional<uint64_t> Most = S.mostOf(Of->Limit); Most && Of->grows())
    S.bound(Of->Variable, *Most);
  addLimit(*Of, S);
  addStart(Loop, *Of, S);
  addStep(Loop, *Of, S);
}

/// Whether \p E is a local variable that nothing else gave a value: without its
/// assignment, anything could be in it.
static bool isFirstValue(const clang::Expr *E) {
  const VarDecl *V = namedVariable(E);
  return V && V->isLocalVarDecl() && !V->hasInit() &&
         !V->getType()->isRecordType();
}

static void remove(const clang::Expr &E, StringRef Text, TextSites &S) {
  S.add(E.getSourceRange(), "store", Text, "nothing", "(void)0");
}

/// What writes no result of an atomic operation anywhere.
static void addAtomic(const CallExpr &E, StringRef Text, TextSites &S) {
  const FunctionDecl *Callee = E.getDirectCallee();
  if (!Callee || !Callee->getIdentifier() ||
      !Callee->getName().starts_with("atomic"))
    return;
  remove(E, Text, S);
  StringRef Op = llvm::StringSwitch<StringRef>(Callee->getName())
                     .Case("atomicAdd", "+=")
                     .Case("atomicSub", "-=")
                     .Case("atomicAnd", "&=")
                     .Case("atomicOr", "|=")
                     .Case("atomicXor", "^=")
                     .Default("");
  if (Op.empty() || E.getNumArgs() != 2)
    return;
  auto To = S.textOf(E.getArg(0)->getSourceRange()),
       By = S.textOf(E.getArg(1)->getSourceRange());
  if (To && By)
    S.add(E.getSourceRange(), "atomic", Callee->getName(), "plain",
          "*(" + *To + ") " + Op + " " + *By);
}

void addTextStatement(const Stmt *Of, TextSites &S) {
  const auto *E = llvm::dyn_cast_or_null<clang::Expr>(Of);
  if (!E)
    return;
  E = E->IgnoreImplicit();
  std::optional<StringRef> Text = S.textOf(E->getSourceRange());
  if (!Text)
    return;
  bool Again = false;
  if (const auto *Set = dyn_cast<clang::BinaryOperator>(E)) {
    if (!Set->isAssignmentOp() || isFirstValue(Set->getLHS()))
      return;
    Again = Set->isCompoundAssignmentOp();
  } else if (const auto *Set = dyn_cast<CXXOperatorCallExpr>(E)) {
    if (!Set->isAssignmentOp() || isFirstValue(Set->getArg(0)))
      return;
    Again = Set->getOperator() != OO_Equal;
  } else if (const auto *One = dyn_cast<clang::UnaryOperator>(E)) {
    if (!One->isIncrementDecrementOp())
      return;
    Again = true;
  } else {
    if (const auto *Call = dyn_cast<CallExpr>(E))
      addAtomic(*Call, *Text, S);
    return;
  }
  remove(*E, *Text, S);
  if (Again)
    S.add(E->getSourceRange(), "duplicate", "once", "twice",
          *Text + ", " + *Text);
}

} // namespace cupilot
