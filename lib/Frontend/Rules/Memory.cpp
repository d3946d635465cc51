//===- Memory.cpp - The memory accesses of a kernel -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memory.h"
#include "IndexUses.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace cupilot {

Memory::Memory(Values &Vals, const Effects &Fx)
    : Vals(Vals), Jumps(Fx.has(Effect::Jump)) {
  visit(&Vals.V.Body);
  for (const FunctionDecl *F : Fx.functions())
    if (F != &Vals.V.Fn && Vals.V.inSlice(F->getLocation()))
      visitCallee(F);
}

std::vector<const Access *> Memory::through(const PointerRef &Pointer) const {
  std::vector<const Access *> Result;
  for (const Access &A : All)
    if (A.From.K == Origin::Kind::Argument && A.From.Pointer == Pointer)
      Result.push_back(&A);
  return Result;
}

std::vector<PointerRef> Memory::pointers() const {
  std::vector<PointerRef> Result;
  for (const Access &A : All)
    if (A.From.K == Origin::Kind::Argument &&
        !llvm::is_contained(Result, A.From.Pointer))
      Result.push_back(A.From.Pointer);
  return Result;
}

bool Memory::written(const PointerRef &Pointer) const {
  return llvm::any_of(through(Pointer),
                      [](const Access *A) { return A->writes(); });
}

bool Memory::isRestrict(const PointerRef &Pointer) const {
  const ParmVarDecl *P = Vals.V.Fn.getParamDecl(Pointer.Param);
  return P->getType()->isPointerType() && P->getType().isRestrictQualified();
}

std::string Memory::name(const PointerRef &Pointer) const {
  std::string Name = Vals.V.Fn.getParamDecl(Pointer.Param)->getNameAsString();
  if (!Vals.V.Fn.getParamDecl(Pointer.Param)->getType()->isPointerType())
    Name += " (offset " + std::to_string(Pointer.Offset) + ")";
  return "'" + Name + "'";
}

std::optional<HintedAccess> hintedAccess(const CallExpr &Call) {
  const FunctionDecl *F = Call.getDirectCallee();
  std::optional<CacheHint> Hint = F ? cacheHint(*F) : std::nullopt;
  if (!Hint || Call.getNumArgs() != (*Hint == CacheHint::Store ? 2 : 1))
    return std::nullopt;
  HintedAccess A{F->getName(), nullptr, Call.getArg(0),
                 *Hint == CacheHint::Store ? Call.getArg(1) : nullptr};
  const auto *Address =
      dyn_cast<UnaryOperator>(Call.getArg(0)->IgnoreParenImpCasts());
  if (Address && Address->getOpcode() == UO_AddrOf)
    A.LValue = Address->getSubExpr()->IgnoreParens();
  return A;
}

std::optional<HintedAccess> Access::hint() const {
  const auto *Call = dyn_cast_or_null<CallExpr>(Node);
  return Call ? hintedAccess(*Call) : std::nullopt;
}

bool Access::hasAddress() const {
  std::optional<HintedAccess> Hint = hint();
  return Hint && !Hint->LValue;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

void Memory::record(Access::Kind K, const clang::Expr *Node,
                    const clang::Expr *LValue, Origin From) {
  if (From.K != Origin::Kind::Private)
    All.push_back({K, Node, LValue, std::move(From)});
}

void Memory::visitLValue(const clang::Expr *E, std::optional<Access::Kind> K,
                         const clang::Expr *Node) {
  E = E->IgnoreParens();
  if (K)
    record(*K, Node, E, originOfLValue(E));
  if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(E)) {
    visitPointer(Subscript->getBase());
    visit(Subscript->getIdx());
  } else if (const auto *Member = dyn_cast<MemberExpr>(E)) {
    if (Member->isArrow())
      visitPointer(Member->getBase());
    else
      visitLValue(Member->getBase(), std::nullopt, Node);
  } else if (const auto *Unary = dyn_cast<UnaryOperator>(E);
             Unary && Unary->getOpcode() == UO_Deref) {
    visitPointer(Unary->getSubExpr());
  } else if (const auto *Cast = dyn_cast<CastExpr>(E)) {
    visitLValue(Cast->getSubExpr(), std::nullopt, Node);
  } else if (!isa<DeclRefExpr>(E)) {
    visit(E);
  }
}

void Memory::visitPointer(const clang::Expr *E) {
  E = E->IgnoreParens();
  if (const auto *Cast = dyn_cast<CastExpr>(E)) {
    if (Cast->getCastKind() == CK_ArrayToPointerDecay)
      visitLValue(Cast->getSubExpr(), std::nullopt, E);
    else if (Cast->getCastKind() == CK_LValueToRValue)
      visit(E);
    else if (Cast->getSubExpr()->getType()->isPointerType())
      visitPointer(Cast->getSubExpr());
    else
      visit(Cast->getSubExpr());
  } else if (const auto *Binary = dyn_cast<BinaryOperator>(E);
             Binary && Binary->isAdditiveOp()) {
    for (const clang::Expr *Side : {Binary->getLHS(), Binary->getRHS()})
      if (Side->getType()->isPointerType())
        visitPointer(Side);
      else
        visit(Side);
  } else if (const auto *Unary = dyn_cast<UnaryOperator>(E);
             Unary && Unary->getOpcode() == UO_AddrOf) {
    visitLValue(Unary->getSubExpr(), std::nullopt, E);
  } else if (const auto *Choice = dyn_cast<ConditionalOperator>(E)) {
    visit(Choice->getCond());
    visitPointer(Choice->getTrueExpr());
    visitPointer(Choice->getFalseExpr());
  } else {
    visit(E);
  }
}

void Memory::visitArgument(const clang::Expr *Arg, QualType Param) {
  if (Arg->isGLValue()) {
    bool Reads =
        Param.isNull() || Param.getNonReferenceType().isConstQualified();
    visitLValue(Arg, Reads ? Access::Kind::Load : Access::Kind::Escape, Arg);
    // Through a reference to a pointer the callee reaches what that points to.
    if (Arg->getType()->isPointerType())
      All.push_back({Access::Kind::Escape, Arg, Arg, {}});
  } else if (Arg->getType()->isPointerType() &&
             !Arg->getType()->isFunctionPointerType()) {
    Origin O = originOfPointer(Arg);
    O.Index = std::nullopt;
    bool Reads = Arg->getType()->getPointeeType().isConstQualified();
    record(Reads ? Access::Kind::Load : Access::Kind::Escape, Arg, Arg,
           std::move(O));
    visitPointer(Arg);
  } else {
    visit(Arg);
  }
}

void Memory::visitCall(const CallExpr *Call) {
  if (std::optional<HintedAccess> Hinted = hintedAccess(*Call)) {
    const Access::Kind K =
        Hinted->Value ? Access::Kind::Store : Access::Kind::Load;
    if (Hinted->LValue) {
      visitLValue(Hinted->LValue, K, Call);
    } else {
      record(K, Call, Hinted->Address, originOfPointer(Hinted->Address));
      visitPointer(Hinted->Address);
    }
    if (Hinted->Value)
      visit(Hinted->Value);
    return;
  }
  if (Effects::isAtomic(*Call) && Call->getNumArgs() > 0 &&
      Call->getArg(0)->getType()->isPointerType()) {
    const clang::Expr *Pointer = Call->getArg(0);
    record(Access::Kind::Atomic, Call, Pointer, originOfPointer(Pointer));
    visitPointer(Pointer);
    for (unsigned I = 1; I < Call->getNumArgs(); ++I)
      visit(Call->getArg(I));
    return;
  }
  const FunctionDecl *F = Call->getDirectCallee();
  unsigned First = 0;
  if (const auto *Member = dyn_cast<CXXMemberCallExpr>(Call)) {
    const clang::Expr *Object = Member->getImplicitObjectArgument();
    const CXXMethodDecl *Method = Member->getMethodDecl();
    if (Object && Object->getType()->isPointerType())
      visitArgument(Object, {});
    else if (Object)
      visitLValue(Object,
                  Method && Method->isConst() ? Access::Kind::Load
                                              : Access::Kind::Escape,
                  Call);
  } else if (const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call)) {
    const auto *Method = dyn_cast_or_null<CXXMethodDecl>(F);
    if (Method && Call->getNumArgs() > 0 && Call->getArg(0)->isGLValue()) {
      Access::Kind K =
          Method->isConst() ? Access::Kind::Load
          : Operator->getOperator() == OO_Equal && Method->isTrivial()
              ? Access::Kind::Store
              : Access::Kind::Escape;
      visitLValue(Call->getArg(0), K, Call);
      First = 1;
    }
  }
  for (unsigned I = First; I < Call->getNumArgs(); ++I) {
    unsigned P = isa<CXXOperatorCallExpr>(Call) ? I - First : I;
    visitArgument(Call->getArg(I), F && P < F->getNumParams()
                                       ? F->getParamDecl(P)->getType()
                                       : QualType());
  }
}

void Memory::visit(const Stmt *S) {
  if (!S)
    return;
  if (const auto *E = dyn_cast<clang::Expr>(S); E && launchVariable(E))
    return;
  if (isa<UnaryExprOrTypeTraitExpr>(S))
    return;
  if (const auto *Argument = dyn_cast<CXXDefaultArgExpr>(S))
    return visit(Argument->getExpr());
  if (const auto *Member = dyn_cast<CXXDefaultInitExpr>(S))
    return visit(Member->getExpr());
  if (const auto *Cast = dyn_cast<CastExpr>(S)) {
    const clang::Expr *Sub = Cast->getSubExpr();
    if (Cast->getCastKind() == CK_LValueToRValue)
      return visitLValue(Sub, Access::Kind::Load, Cast);
    if (Cast->getCastKind() == CK_PointerToBoolean)
      return visitPointer(Sub);
    return Sub->getType()->isPointerType() ? visitPointer(Sub) : visit(Sub);
  }
  if (const auto *Call = dyn_cast<CallExpr>(S))
    return visitCall(Call);
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(S)) {
    const CXXConstructorDecl *C = Construct->getConstructor();
    for (unsigned I = 0; I < Construct->getNumArgs(); ++I)
      visitArgument(Construct->getArg(I), I < C->getNumParams()
                                              ? C->getParamDecl(I)->getType()
                                              : QualType());
    return;
  }
  if (const auto *Binary = dyn_cast<BinaryOperator>(S)) {
    const clang::Expr *L = Binary->getLHS(), *R = Binary->getRHS();
    if (Binary->isAssignmentOp()) {
      visitLValue(L,
                  Binary->isCompoundAssignmentOp() ? Access::Kind::Update
                                                   : Access::Kind::Store,
                  Binary);
      if (!R->getType()->isPointerType())
        return visit(R);
      // A pointer in a variable of the thread is followed; elsewhere it is not.
      return variableOf(L) ? visitPointer(R) : visitArgument(R, {});
    }
    for (const clang::Expr *Side : {L, R})
      Side->getType()->isPointerType() ? visitPointer(Side) : visit(Side);
    return;
  }
  if (const auto *Unary = dyn_cast<UnaryOperator>(S)) {
    const clang::Expr *Sub = Unary->getSubExpr();
    if (Unary->isIncrementDecrementOp())
      return visitLValue(Sub, Access::Kind::Update, Unary);
    if (Unary->getOpcode() == UO_AddrOf)
      return visitLValue(Sub, Access::Kind::Escape, Unary);
    return Sub->getType()->isPointerType() ? visitPointer(Sub) : visit(Sub);
  }
  if (const auto *Decls = dyn_cast<DeclStmt>(S)) {
    for (const Decl *D : Decls->decls()) {
      const auto *Var = dyn_cast<VarDecl>(D);
      if (!Var || !Var->getInit())
        continue;
      if (Var->getType()->isPointerType())
        visitPointer(Var->getInit());
      else if (Var->getType()->isReferenceType())
        visitLValue(Var->getInit(), std::nullopt, Var->getInit());
      else
        visit(Var->getInit());
    }
    return;
  }
  for (const Stmt *Child : S->children()) {
    const auto *E = dyn_cast_or_null<clang::Expr>(Child);
    bool Bound =
        E && isa<clang::Expr>(S) && E->isGLValue() &&
        isa<ArraySubscriptExpr, MemberExpr, DeclRefExpr, UnaryOperator>(
            E->IgnoreParens());
    if (E && isa<clang::Expr>(S) && (E->getType()->isPointerType() || Bound))
      visitArgument(E, {});
    else
      visit(Child);
  }
}

/// What a called function does to memory that it was not given.
void Memory::visitCallee(const FunctionDecl *F) {
  bool Unknown = false;
  forEachExpr(F->getBody(), [&](const clang::Expr *E) {
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
      const auto *Var = dyn_cast<VarDecl>(Ref->getDecl());
      Unknown |= Var && originOfVariable(Var).K == Origin::Kind::Variable &&
                 !launchVariable(E);
    }
    // A pointer that comes from memory.
    if (const auto *Cast = dyn_cast<CastExpr>(E);
        Cast && Cast->getCastKind() == CK_LValueToRValue &&
        Cast->getType()->isPointerType() && !variableOf(E))
      Unknown = true;
  });
  if (Unknown)
    All.push_back({Access::Kind::Escape, nullptr, nullptr, {}});
}

} // namespace cupilot
