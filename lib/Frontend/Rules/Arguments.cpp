//===- Arguments.cpp - Expressions over a kernel's arguments -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Values.h"

using namespace clang;

namespace cupilot {

/// The largest value of an integer type, as far as 64 signed bits go.
static int64_t largest(const ASTContext &Ctx, QualType T) {
  uint64_t Bits = Ctx.getIntWidth(T) - T->isSignedIntegerType();
  return Bits >= 63 ? INT64_MAX : (int64_t(1) << Bits) - 1;
}

static void needAtMost(std::vector<Constraint> &Needed, const Expr &E,
                       int64_t Most) {
  // Beyond 63 bits the guard's own arithmetic overflows, which fails it.
  if (Most != INT64_MAX)
    Needed.push_back({Expr::constant(Most) - E, false});
}

std::optional<Expr> Values::overArguments(const clang::Expr *E,
                                          std::vector<Constraint> &Needed) {
  E = E->IgnoreParens();
  clang::Expr::EvalResult Result;
  if (!E->isValueDependent() && E->EvaluateAsInt(Result, V.Ctx)) {
    if (!Result.Val.getInt().isRepresentableByInt64())
      return std::nullopt;
    return Expr::constant(Result.Val.getInt().getExtValue());
  }
  if (std::optional<LaunchVariable> L = launchVariable(E)) {
    if (L->K == LaunchVariable::Kind::BlockSize)
      return S.launch().Block[L->Dim];
    if (L->K == LaunchVariable::Kind::GridSize)
      return S.launch().Grid[L->Dim];
    return std::nullopt;
  }
  if (std::optional<unsigned> Symbol = symbolOf(E)) {
    // The guard sees numbers of 64 bits as signed.
    if (!S.K.Scalars[*Symbol].Signed && S.K.Scalars[*Symbol].Bits == 64)
      Needed.push_back({Expr::symbol(*Symbol), false});
    return Expr::symbol(*Symbol);
  }
  if (const auto *Cast = dyn_cast<CastExpr>(E)) {
    const clang::Expr *Sub = Cast->getSubExpr();
    if (Cast->getCastKind() == CK_LValueToRValue ||
        Cast->getCastKind() == CK_NoOp)
      return overArguments(Sub, Needed);
    if (Cast->getCastKind() != CK_IntegralCast)
      return std::nullopt;
    std::optional<Expr> Value = overArguments(Sub, Needed);
    if (!Value || Value->K == Expr::Kind::Constant)
      return Value;
    bool FromSigned = Sub->getType()->isSignedIntegerType(),
         ToSigned = E->getType()->isSignedIntegerType();
    if (FromSigned && !ToSigned)
      Needed.push_back({*Value, false});
    if (largest(V.Ctx, E->getType()) < largest(V.Ctx, Sub->getType()))
      needAtMost(Needed, *Value, largest(V.Ctx, E->getType()));
    if (FromSigned && ToSigned &&
        V.Ctx.getIntWidth(E->getType()) < V.Ctx.getIntWidth(Sub->getType()))
      Needed.push_back(
          {*Value + Expr::constant(largest(V.Ctx, E->getType())), false});
    return Value;
  }
  if (const VarDecl *Var = variableOf(E))
    return isStable(Var) && !isa<ParmVarDecl>(Var) &&
                   Var->getType()->isIntegerType()
               ? overArguments(Var->getInit(), Needed)
               : std::nullopt;
  if (const clang::Expr *Inner = peel(E); Inner != E)
    return overArguments(Inner, Needed);
  if (const auto *Binary = dyn_cast<BinaryOperator>(E))
    return argumentArithmetic(Binary, Needed);
  return std::nullopt;
}

std::optional<Expr>
Values::argumentArithmetic(const BinaryOperator *B,
                           std::vector<Constraint> &Needed) {
  if (!B->getType()->isIntegerType())
    return std::nullopt;
  std::optional<Expr> L = overArguments(B->getLHS(), Needed),
                      R = overArguments(B->getRHS(), Needed);
  if (!L || !R)
    return std::nullopt;
  bool ByConstant = R->K == Expr::Kind::Constant;
  bool Signed = B->getType()->isSignedIntegerType();
  int64_t Most = largest(V.Ctx, B->getType());
  Expr E;
  switch (B->getOpcode()) {
  case BO_Add:
    E = *L + *R;
    break;
  case BO_Sub:
    E = *L - *R;
    break;
  case BO_Mul:
    E = *L * *R;
    break;
  case BO_Shl:
    if (!ByConstant || R->Value < 0 || R->Value > 30)
      return std::nullopt;
    E = *L * Expr::constant(int64_t(1) << R->Value);
    break;
  case BO_Shr:
    if (!ByConstant || R->Value < 0 || R->Value > 30)
      return std::nullopt;
    // Shifts of negative numbers round down, as floordiv does.
    return floorDiv(*L, int64_t(1) << R->Value);
  case BO_Div:
  case BO_Rem: {
    if (ByConstant && R->Value < 1)
      return std::nullopt;
    Needed.push_back({*L, false});
    Expr::Kind K =
        B->getOpcode() == BO_Div ? Expr::Kind::FloorDiv : Expr::Kind::Mod;
    return Expr::binary(K, *L, *R);
  }
  default:
    return std::nullopt;
  }
  if (!Signed)
    Needed.push_back({E, false});
  // Signed overflow by a constant alone is the original's own fault; products
  // may well be formed for sizes where the index is wider.
  if (!Signed || !ByConstant || B->getOpcode() == BO_Mul ||
      B->getOpcode() == BO_Shl)
    needAtMost(Needed, E, Most);
  return E;
}

} // namespace cupilot
