//===- Origins.cpp - Where a kernel's memory comes from -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bounds.h"
#include "Memory.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace cupilot {

Origin Memory::originOfVariable(const VarDecl *Var) const {
  Origin O;
  O.Index = std::nullopt;
  O.Element = Var->getType();
  if (Var->hasAttr<CUDASharedAttr>())
    O.K = Origin::Kind::Shared;
  else if (Var->hasLocalStorage())
    O.K = Origin::Kind::Private;
  else if (Var->hasAttr<CUDAConstantAttr>() || Var->isConstexpr() ||
           Var->getType().isConstQualified())
    O.K = Origin::Kind::Constant;
  else
    O.K = Origin::Kind::Variable;
  return O;
}

Origin Memory::originOfLValue(const clang::Expr *E) const {
  E = E->IgnoreParens();
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    const auto *Var = dyn_cast<VarDecl>(Ref->getDecl());
    if (!Var)
      return {};
    if (!Var->getType()->isReferenceType())
      return originOfVariable(Var);
    // A reference to something is that something.
    return Var->hasLocalStorage() && !isa<ParmVarDecl>(Var) && Var->getInit()
               ? originOfLValue(Var->getInit())
               : Origin();
  }
  if (const auto *Subscript = dyn_cast<ArraySubscriptExpr>(E)) {
    Origin O = originOfPointer(Subscript->getBase());
    if (O.Index)
      O.Index = *O.Index + Vals.form(Subscript->getIdx());
    return O;
  }
  if (const auto *Unary = dyn_cast<UnaryOperator>(E))
    return Unary->getOpcode() == UO_Deref ? originOfPointer(Unary->getSubExpr())
           : Unary->isPrefix()            ? originOfLValue(Unary->getSubExpr())
                                          : Origin();
  if (const auto *Member = dyn_cast<MemberExpr>(E)) {
    if (!isa<FieldDecl>(Member->getMemberDecl()) ||
        Member->getType()->isReferenceType())
      return {};
    Origin O = Member->isArrow() ? originOfPointer(Member->getBase())
                                 : originOfLValue(Member->getBase());
    O.Whole = false;
    return O;
  }
  if (const auto *Cast = dyn_cast<CastExpr>(E)) {
    Origin O = originOfLValue(Cast->getSubExpr());
    if (Cast->getCastKind() != CK_NoOp)
      O.Index = std::nullopt;
    return O;
  }
  if (const auto *Assign = dyn_cast<BinaryOperator>(E);
      Assign && Assign->isAssignmentOp())
    return originOfLValue(Assign->getLHS());
  if (isa<MaterializeTemporaryExpr, CompoundLiteralExpr>(E)) {
    Origin O;
    O.K = Origin::Kind::Private;
    return O;
  }
  if (isa<clang::StringLiteral, PredefinedExpr>(E)) {
    Origin O;
    O.K = Origin::Kind::Constant;
    return O;
  }
  return {};
}

/// Is \p S done once, wherever the kernel does anything behind it?
static bool isOnTheWay(const KernelView &V, const Stmt *S) {
  for (const Stmt *Child = S; Child != &V.Body;) {
    const Stmt *Parent = V.parent(Child);
    const auto *If = dyn_cast_or_null<IfStmt>(Parent);
    if (!isa_and_nonnull<CompoundStmt, ExprWithCleanups>(Parent) &&
        !(If && isTaken(V, *If, Child)))
      return false;
    Child = Parent;
  }
  return true;
}

/// By how much the pointer \p Var has been moved where \p Use reads it, if that
/// is what all its writes do, once and before: `x += row * stride;` at the head
/// of a kernel.
static std::optional<Poly> movedBefore(Values &Vals, const VarDecl *Var,
                                       const clang::Expr *Use) {
  const KernelView &V = Vals.V;
  Poly Sum = Poly::constant(0);
  for (const DeclRefExpr *Write : Vals.writes(Var)) {
    const auto *Move = dyn_cast_or_null<BinaryOperator>(V.parent(Write));
    if (!Move || Move->getLHS() != Write || !isOnTheWay(V, Move) ||
        (Move->getOpcode() != BO_AddAssign &&
         Move->getOpcode() != BO_SubAssign) ||
        !V.SM.isBeforeInTranslationUnit(
            V.SM.getExpansionLoc(Move->getEndLoc()),
            V.SM.getExpansionLoc(Use->getBeginLoc())))
      return std::nullopt;
    const Poly By = Vals.form(Move->getRHS());
    Sum = Move->getOpcode() == BO_AddAssign ? Sum + By : Sum - By;
  }
  return Sum;
}

Origin Memory::originOfPointer(const clang::Expr *E) const {
  E = E->IgnoreParens();
  QualType Pointee = E->getType()->getPointeeType();
  if (E->isNullPointerConstant(Vals.V.Ctx,
                               clang::Expr::NPC_ValueDependentIsNotNull)) {
    Origin O;
    O.K = Origin::Kind::Private;
    return O;
  }
  if (const auto *Cast = dyn_cast<CastExpr>(E)) {
    const clang::Expr *Sub = Cast->getSubExpr();
    switch (Cast->getCastKind()) {
    case CK_NoOp:
      return originOfPointer(Sub);
    case CK_ArrayToPointerDecay: {
      Origin O = originOfLValue(Sub);
      // An array in memory: elements of it are not elements of the pointer.
      O.Index = std::nullopt;
      return O;
    }
    case CK_BitCast:
    case CK_AddressSpaceConversion: {
      Origin O = originOfPointer(Sub);
      if (!Vals.V.Ctx.hasSameUnqualifiedType(Pointee,
                                             Sub->getType()->getPointeeType()))
        O.Index = std::nullopt;
      return O;
    }
    case CK_LValueToRValue:
      break;
    default:
      return {};
    }
    Sub = Sub->IgnoreParens();
    if (const auto *Member = dyn_cast<MemberExpr>(Sub)) {
      // A pointer in a by-value argument.
      CharUnits Offset = CharUnits::Zero();
      const clang::Expr *Base = Sub;
      while ((Member = dyn_cast<MemberExpr>(Base))) {
        const auto *Field = dyn_cast<FieldDecl>(Member->getMemberDecl());
        if (!Field || Member->isArrow())
          return {};
        Offset +=
            Vals.V.Ctx.toCharUnitsFromBits(Vals.V.Ctx.getFieldOffset(Field));
        Base = Member->getBase()->IgnoreParens();
        // A field of a base class lies at an offset of its own.
        if (const auto *Up = dyn_cast<CastExpr>(Base);
            Up && Up->getCastKind() != CK_NoOp)
          return {};
        Base = Base->IgnoreParenNoopCasts(Vals.V.Ctx);
      }
      const auto *Param = dyn_cast_or_null<ParmVarDecl>(variableOf(Base));
      if (!Param || !Vals.isStable(Param))
        return {};
      Origin O;
      O.K = Origin::Kind::Argument;
      O.Pointer = {Param->getFunctionScopeIndex(),
                   static_cast<unsigned>(Offset.getQuantity())};
      O.Index = Poly::constant(0);
      O.Element = Pointee;
      return O;
    }
    const VarDecl *Var = variableOf(Sub);
    if (!Var || !Var->hasLocalStorage() || Var->getType()->isReferenceType())
      return {};
    Origin O;
    if (const auto *Param = dyn_cast<ParmVarDecl>(Var)) {
      if (Param->getDeclContext() != &Vals.V.Fn)
        return {};
      O.K = Origin::Kind::Argument;
      O.Pointer = {Param->getFunctionScopeIndex(), 0};
      O.Index = Poly::constant(0);
      O.Element = Pointee;
    } else if (Var->getInit()) {
      O = originOfPointer(Var->getInit());
    } else {
      return {};
    }
    if (std::optional<Poly> Moved =
            Jumps ? std::nullopt : movedBefore(Vals, Var, Sub)) {
      if (O.Index)
        O.Index = *O.Index + *Moved;
      return O;
    }
    // A pointer that moves stays in its memory, but who knows where.
    for (const DeclRefExpr *Write : Vals.writes(Var)) {
      O.Index = std::nullopt;
      const Stmt *Parent = Vals.V.parent(Write);
      while (isa_and_nonnull<ParenExpr>(Parent))
        Parent = Vals.V.parent(Parent);
      const auto *Unary = dyn_cast_or_null<UnaryOperator>(Parent);
      const auto *Binary = dyn_cast_or_null<BinaryOperator>(Parent);
      if (!(Unary && Unary->isIncrementDecrementOp()) &&
          !(Binary && Binary->isCompoundAssignmentOp()))
        return {};
    }
    return O;
  }
  if (const auto *Binary = dyn_cast<BinaryOperator>(E);
      Binary && Binary->isAdditiveOp()) {
    bool Left = Binary->getLHS()->getType()->isPointerType();
    Origin O = originOfPointer(Left ? Binary->getLHS() : Binary->getRHS());
    Poly Step = Vals.form(Left ? Binary->getRHS() : Binary->getLHS());
    if (O.Index)
      O.Index =
          Binary->getOpcode() == BO_Add ? *O.Index + Step : *O.Index - Step;
    return O;
  }
  if (const auto *Unary = dyn_cast<UnaryOperator>(E)) {
    if (Unary->getOpcode() != UO_AddrOf)
      return {};
    Origin O = originOfLValue(Unary->getSubExpr());
    if (!O.Whole)
      O.Index = std::nullopt;
    return O;
  }
  if (const auto *Choice = dyn_cast<ConditionalOperator>(E)) {
    Origin A = originOfPointer(Choice->getTrueExpr()),
           B = originOfPointer(Choice->getFalseExpr());
    A.Index = std::nullopt;
    return A.K == B.K && A.Pointer == B.Pointer ? A : Origin();
  }
  return {};
}

} // namespace cupilot
