//===- Bounds.cpp - The checks before a kernel's work -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bounds.h"
#include "Effects.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace cupilot {

/// Constants, parameters, blockDim, gridDim, and what is made of them.
static bool isSameInAllThreads(const KernelView &V, const clang::Expr *E) {
  clang::Expr::EvalResult Constant;
  if (!E->isValueDependent() && E->EvaluateAsInt(Constant, V.Ctx))
    return true;
  bool Same = true;
  forEachExpr(E, [&](const clang::Expr *Part) {
    if (std::optional<LaunchVariable> L = launchVariable(Part))
      Same &= L->K == LaunchVariable::Kind::BlockSize ||
              L->K == LaunchVariable::Kind::GridSize;
    else if (const auto *Ref = dyn_cast<DeclRefExpr>(Part))
      Same &= isa<ParmVarDecl, EnumConstantDecl>(Ref->getDecl());
  });
  return Same;
}

bool isHarmless(const KernelView &V, const Stmt *S) {
  if (!S)
    return true;
  if (const auto *E = dyn_cast<clang::Expr>(S)) {
    if (launchVariable(E))
      return true;
    clang::Expr::EvalResult Constant;
    if (E->isPRValue() && !E->isValueDependent() &&
        E->getType()->isIntegralOrEnumerationType() &&
        E->EvaluateAsInt(Constant, V.Ctx))
      return true;
    if (const auto *Binary = dyn_cast<BinaryOperator>(E)) {
      if (Binary->isAssignmentOp() || Binary->getOpcode() == BO_PtrMemD ||
          Binary->getOpcode() == BO_PtrMemI)
        return false;
      // A division by zero is not harmless in a thread that did not exist.
      if ((Binary->getOpcode() == BO_Div || Binary->getOpcode() == BO_Rem) &&
          Binary->getType()->isIntegerType() &&
          !isSameInAllThreads(V, Binary->getRHS()))
        return false;
    } else if (const auto *Unary = dyn_cast<UnaryOperator>(E)) {
      if (Unary->isIncrementDecrementOp() || Unary->getOpcode() == UO_Deref)
        return false;
    } else if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(E)) {
      // The address of an element is no access.
      const Stmt *Parent = V.parent(Subscript);
      while (isa_and_nonnull<ParenExpr>(Parent))
        Parent = V.parent(Parent);
      const auto *Address = dyn_cast_or_null<UnaryOperator>(Parent);
      if (!Address || Address->getOpcode() != UO_AddrOf)
        return false;
    } else if (const auto *Member = dyn_cast<MemberExpr>(E)) {
      if (Member->isArrow())
        return false;
    } else if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
      if (isa<BindingDecl>(Ref->getDecl()))
        return false;
      const auto *Var = dyn_cast<VarDecl>(Ref->getDecl());
      if (Var && !Var->hasLocalStorage() && !Var->isConstexpr())
        return false;
      if (Var && Var->getType()->isReferenceType())
        return false;
    } else if (const auto *Construct = dyn_cast<CXXConstructExpr>(E)) {
      if (!Construct->getConstructor()->isTrivial())
        return false;
    } else if (!isa<CastExpr, ParenExpr, IntegerLiteral, FloatingLiteral,
                    CXXBoolLiteralExpr, CharacterLiteral, ConditionalOperator,
                    FullExpr, SubstNonTypeTemplateParmExpr,
                    UnaryExprOrTypeTraitExpr, InitListExpr,
                    CXXNullPtrLiteralExpr, CXXScalarValueInitExpr,
                    ImplicitValueInitExpr, MaterializeTemporaryExpr>(E)) {
      return false;
    }
  } else if (const auto *Decls = dyn_cast<DeclStmt>(S)) {
    for (const Decl *D : Decls->decls())
      if (const auto *Var = dyn_cast<VarDecl>(D)) {
        if (!Var->hasLocalStorage() && !Var->isConstexpr())
          return false;
        const auto *R =
            Var->getType()->getBaseElementTypeUnsafe()->getAsCXXRecordDecl();
        if (R && R->hasDefinition() && !R->hasTrivialDestructor())
          return false;
      }
  } else if (!isa<NullStmt>(S)) {
    return false;
  }
  for (const Stmt *Child : S->children())
    if (!isHarmless(V, Child))
      return false;
  return true;
}

bool isTaken(const KernelView &V, const IfStmt &If, const Stmt *Branch) {
  if (!If.isConstexpr())
    return false;
  const std::optional<const Stmt *> Taken = If.getNondiscardedCase(V.Ctx);
  return Taken && *Taken == Branch;
}

bool isUnconditional(const KernelView &V, const Stmt *Outer, const Stmt *S) {
  for (const Stmt *Child = S; Child; Child = V.parent(Child)) {
    if (Child == Outer)
      return true;
    const Stmt *Parent = V.parent(Child);
    if (const auto *Choice =
            dyn_cast_or_null<AbstractConditionalOperator>(Parent);
        Choice && Choice->getCond() != Child)
      return false;
    if (const auto *B = dyn_cast_or_null<BinaryOperator>(Parent);
        B && B->isLogicalOp() && B->getRHS() == Child)
      return false;
    if (const auto *If = dyn_cast_or_null<IfStmt>(Parent);
        If && isTaken(V, *If, Child))
      continue;
    if (isa_and_nonnull<IfStmt, ForStmt, WhileStmt, DoStmt, SwitchStmt,
                        CXXForRangeStmt, LambdaExpr>(Parent))
      return false;
  }
  return false;
}

bool isBareReturn(const Stmt *S) {
  if (const auto *C = dyn_cast_or_null<CompoundStmt>(S))
    return C->size() == 1 && isBareReturn(*C->body_begin());
  return isa_and_nonnull<ReturnStmt>(S);
}

Bounds::Bounds(Values &Vals, IndexUses &Uses) : Vals(Vals), Uses(Uses) {
  const CompoundStmt &Body = Vals.V.Body;
  walk(llvm::SmallVector<const Stmt *>(Body.body_begin(), Body.body_end()));
}

void Bounds::walk(llvm::ArrayRef<const Stmt *> Statements) {
  for (size_t I = 0; I < Statements.size(); ++I) {
    const Stmt *S = Statements[I];
    // More threads may wait and allow as well.
    if (isGridControl(*S))
      continue;
    if (const auto *Decls = dyn_cast<DeclStmt>(S);
        Decls && isHarmless(Vals.V, S)) {
      Prologue.push_back(Decls);
      continue;
    }
    const auto *If = dyn_cast<IfStmt>(S);
    if (If && !If->getElse() && !If->getInit() && !If->getConditionVariable() &&
        !If->isConstexpr() && isHarmless(Vals.V, If->getCond())) {
      if (isBareReturn(If->getThen())) {
        Checks.push_back({If, true});
        addTerms(If->getCond(), /*Negated=*/true);
        continue;
      }
      if (I + 1 == Statements.size()) {
        Checks.push_back({If, false});
        addTerms(If->getCond(), /*Negated=*/false);
        if (const auto *Inside = dyn_cast<CompoundStmt>(If->getThen()))
          walk(llvm::SmallVector<const Stmt *>(Inside->body_begin(),
                                               Inside->body_end()));
        else
          walk({If->getThen()});
        return;
      }
    }
    Work.assign(Statements.begin() + I, Statements.end());
    return;
  }
}

const clang::Expr *conditionOf(const Values &Vals, const clang::Expr *E) {
  E = peel(E);
  const VarDecl *Var = variableOf(E);
  return Var && !isa<ParmVarDecl>(Var) && Vals.isStable(Var) &&
                 Var->getType()->isBooleanType()
             ? conditionOf(Vals, Var->getInit())
             : E;
}

void Bounds::addTerms(const clang::Expr *Condition, bool Negated) {
  Condition = conditionOf(Vals, Condition);
  if (const auto *Not = dyn_cast<UnaryOperator>(Condition);
      Not && Not->getOpcode() == UO_LNot)
    return addTerms(Not->getSubExpr(), !Negated);
  const auto *B = dyn_cast<BinaryOperator>(Condition);
  if (!B)
    return;
  if (B->getOpcode() == (Negated ? BO_LOr : BO_LAnd)) {
    addTerms(B->getLHS(), Negated);
    addTerms(B->getRHS(), Negated);
    return;
  }
  if (!B->isRelationalOp())
    return;
  for (bool Swap : {false, true}) {
    const clang::Expr *Index = Swap ? B->getRHS() : B->getLHS(),
                      *Limit = Swap ? B->getLHS() : B->getRHS();
    BinaryOperatorKind K =
        Swap ? BinaryOperator::reverseComparisonOp(B->getOpcode())
             : B->getOpcode();
    if (Negated)
      K = BinaryOperator::negateComparisonOp(K);
    if (K != BO_LT && K != BO_LE)
      continue;
    for (unsigned Dim = 0; Dim < 3; ++Dim)
      if (Uses.isGlobalIndex(Index, Dim) && !Uses.dependsOnIndex(Limit))
        Terms.push_back({Dim, B, Limit, K == BO_LE, Negated});
  }
}

const clang::Expr *Bounds::findOther(const clang::Expr *Condition,
                                     unsigned Dim) const {
  Condition = conditionOf(Vals, Condition);
  if (const auto *Not = dyn_cast<UnaryOperator>(Condition);
      Not && Not->getOpcode() == UO_LNot)
    return findOther(Not->getSubExpr(), Dim);
  const auto *B = dyn_cast<BinaryOperator>(Condition);
  if (B && B->isLogicalOp()) {
    const clang::Expr *Left = findOther(B->getLHS(), Dim);
    return Left ? Left : findOther(B->getRHS(), Dim);
  }
  for (const Term &T : Terms)
    if (T.Comparison == B && T.Dim == Dim)
      return nullptr;
  return Uses.dependsOnIndex(Condition, 1U << Dim) ? Condition : nullptr;
}

bool Bounds::hasPlainCondition(const clang::Expr *Condition) const {
  Condition = conditionOf(Vals, Condition);
  if (const auto *Not = dyn_cast<UnaryOperator>(Condition);
      Not && Not->getOpcode() == UO_LNot)
    return hasPlainCondition(Not->getSubExpr());
  const auto *B = dyn_cast<BinaryOperator>(Condition);
  if (B && B->isLogicalOp())
    return hasPlainCondition(B->getLHS()) || hasPlainCondition(B->getRHS());
  return llvm::none_of(Terms, [&](const Term &T) { return T.Comparison == B; });
}

const clang::Expr *Bounds::otherCondition(unsigned Dim) const {
  for (const Check &C : Checks)
    if (const clang::Expr *E = findOther(C.If->getCond(), Dim))
      return E;
  return nullptr;
}

std::optional<Expr> Bounds::limit(unsigned Dim,
                                  std::vector<Constraint> &Needed) {
  for (const Term &T : Terms) {
    if (T.Dim != Dim)
      continue;
    std::vector<Constraint> Here;
    if (std::optional<Expr> E = Vals.overArguments(T.Limit, Here)) {
      Needed.insert(Needed.end(), Here.begin(), Here.end());
      return T.Inclusive ? *E + Expr::constant(1) : *E;
    }
  }
  return std::nullopt;
}

} // namespace cupilot
