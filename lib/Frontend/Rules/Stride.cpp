//===- Stride.cpp - Grid-stride loops, and jumps in bodies -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Stride.h"
#include "Bounds.h"
#include "cupilot/Support/Error.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace cupilot {

std::vector<const ReturnStmt *> returnsIn(const Stmt *S) {
  std::vector<const ReturnStmt *> Result;
  if (!S || isa<LambdaExpr>(S))
    return Result;
  if (const auto *Return = dyn_cast<ReturnStmt>(S))
    Result.push_back(Return);
  for (const Stmt *Child : S->children())
    llvm::append_range(Result, returnsIn(Child));
  return Result;
}

bool inLoopOrSwitch(const KernelView &V, const Stmt *S, const Stmt *Outer) {
  for (const Stmt *P = V.parent(S); P && P != Outer; P = V.parent(P))
    if (isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt, SwitchStmt>(P))
      return true;
  return false;
}

bool breaksOut(const KernelView &V, const Stmt *S, bool CountContinue) {
  if (!S || isa<LambdaExpr>(S))
    return false;
  if (isa<BreakStmt>(S))
    return true;
  if (isa<ContinueStmt>(S))
    return CountContinue;
  if (isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt>(S))
    return false;
  for (const Stmt *Child : S->children()) {
    // A switch takes breaks, but no continue.
    if (isa<SwitchStmt>(S) ? CountContinue && breaksOut(V, Child, true) &&
                                 !breaksOut(V, Child, false)
                           : breaksOut(V, Child, CountContinue))
      return true;
  }
  return false;
}

/// Does \p E read only what does not change: parameters, constants, variables
/// that keep their value?
static bool isInvariant(Values &Vals, const clang::Expr *E) {
  bool Result = isHarmless(Vals.V, E);
  forEachExpr(E, [&](const clang::Expr *Part) {
    if (const auto *Ref = dyn_cast<DeclRefExpr>(Part))
      if (const auto *Var = dyn_cast<VarDecl>(Ref->getDecl()))
        Result &= Vals.isStable(Var) || Var->isConstexpr();
  });
  return Result;
}

std::optional<GridStride> findGridStride(Values &Vals, IndexUses &Uses) {
  const KernelView &V = Vals.V;
  if (llvm::errorToBool(Uses.check()))
    return std::nullopt;
  const ForStmt *Loop = nullptr;
  for (const Stmt *S : V.Body.body()) {
    if (const auto *For = dyn_cast<ForStmt>(S); For && !Loop)
      Loop = For;
    else if (Loop || !isHarmless(V, S))
      return std::nullopt;
  }
  if (!Loop || !Loop->getInc() || !Loop->getCond())
    return std::nullopt;
  const auto *Init = dyn_cast_or_null<DeclStmt>(Loop->getInit());
  const auto *Var = Init && Init->isSingleDecl()
                        ? dyn_cast<VarDecl>(Init->getSingleDecl())
                        : nullptr;
  const auto *Inc =
      dyn_cast<clang::BinaryOperator>(Loop->getInc()->IgnoreParens());
  const auto *Cond = dyn_cast<clang::BinaryOperator>(peel(Loop->getCond()));
  if (!Var || !Var->getInit() || !Var->getType()->isIntegerType() ||
      Vals.writes(Var).size() != 1 || !Uses.isGlobalIndex(Var->getInit(), 0) ||
      !Inc || Inc->getOpcode() != BO_AddAssign ||
      variableOf(Inc->getLHS()) != Var || !Cond || !Cond->isRelationalOp())
    return std::nullopt;
  std::optional<Poly> Step = Uses.form(Inc->getRHS());
  if (!Step || *Step != Poly::atom({Atom::Kind::Total, 0}))
    return std::nullopt;
  bool Swap = variableOf(Cond->getRHS()->IgnoreParenImpCasts()) == Var;
  const clang::Expr *Index = Swap ? Cond->getRHS() : Cond->getLHS(),
                    *Limit = Swap ? Cond->getLHS() : Cond->getRHS();
  BinaryOperatorKind K =
      Swap ? clang::BinaryOperator::reverseComparisonOp(Cond->getOpcode())
           : Cond->getOpcode();
  GridStride Result{Loop, {}, {}};
  if (variableOf(Index->IgnoreParenImpCasts()) != Var ||
      (K != BO_LT && K != BO_LE) || !isInvariant(Vals, Limit))
    return std::nullopt;
  std::optional<Expr> E = Vals.overArguments(Limit, Result.Needed);
  if (!E || !returnsIn(Loop->getBody()).empty() ||
      breaksOut(V, Loop->getBody(), false))
    return std::nullopt;
  Result.Limit = K == BO_LE ? *E + Expr::constant(1) : *E;
  // What the body changes is its own, and it knows no index but the variable.
  bool Independent = true;
  auto Inside = [&](SourceLocation Loc) {
    return V.SM.isPointWithin(
        V.SM.getExpansionLoc(Loc),
        V.SM.getExpansionLoc(Loop->getBody()->getBeginLoc()),
        V.SM.getExpansionLoc(Loop->getBody()->getEndLoc()));
  };
  forEachExpr(Loop->getBody(), [&](const clang::Expr *Part) {
    if (std::optional<LaunchVariable> L = launchVariable(Part))
      Independent &= L->Dim != 0;
    const auto *Ref = dyn_cast<DeclRefExpr>(Part);
    Independent &= !Ref || !isa<BindingDecl>(Ref->getDecl());
    const auto *Used = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    if (!Used || Used == Var || !Used->hasLocalStorage())
      return;
    if (llvm::is_contained(Vals.writes(Used), Ref))
      Independent &= Inside(Used->getLocation());
    else if (!isa<ParmVarDecl>(Used) && !Inside(Used->getLocation()) &&
             Used->getInit())
      forEachExpr(Used->getInit(), [&](const clang::Expr *In) {
        if (std::optional<LaunchVariable> L = launchVariable(In))
          Independent &= L->Dim != 0;
        // Through another variable: too far to look.
        if (const VarDecl *Other = variableOf(In))
          Independent &= isa<ParmVarDecl>(Other);
      });
  });
  if (!Independent)
    return std::nullopt;
  return Result;
}

llvm::Expected<bool> replaceReturns(KernelView &V, bool InLoop,
                                    llvm::StringRef Label,
                                    std::vector<Edit> &Edits) {
  bool NeedsLabel = false;
  for (const ReturnStmt *Return : returnsIn(&V.Body)) {
    auto R = V.range(Return->getSourceRange());
    if (!R || Return->getRetValue())
      return findingError("the return at " + V.at(Return->getBeginLoc()) +
                          " cannot be edited");
    bool Plain = InLoop && !inLoopOrSwitch(V, Return, &V.Body);
    NeedsLabel |= !Plain;
    Edits.push_back(
        {R->first, R->second, Plain ? "continue" : ("goto " + Label).str()});
  }
  return NeedsLabel;
}

} // namespace cupilot
