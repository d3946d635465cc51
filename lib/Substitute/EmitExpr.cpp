//===- EmitExpr.cpp - Expressions over a launch as IR ---------------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmitExpr.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;

namespace cupilot {

Value *ExprEmitter::load(IntegerType *T, unsigned Param, unsigned Offset) {
  Value *&Known = Emitted.Loaded[{Param, Offset, T->getBitWidth()}];
  if (Known)
    return Known;
  Value *&Address = Emitted.Loaded[{Param, 0, 0}];
  if (!Address)
    Address = B.CreateLoad(B.getPtrTy(), B.CreateConstInBoundsGEP1_64(
                                             B.getPtrTy(), Values.Args, Param));
  return Known = B.CreateAlignedLoad(
             T, B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Address, Offset),
             Align(1));
}

ExprEmitter::Number ExprEmitter::expr(const Expr &E) {
  for (const auto &[Of, N] : Emitted.Known)
    if (*Of == E)
      return N;
  Number N = emit(E);
  Emitted.Known.emplace_back(&E, N);
  return N;
}

ExprEmitter::Number ExprEmitter::emit(const Expr &E) {
  switch (E.K) {
  case Expr::Kind::Constant:
    return {B.getInt64(E.Value), nullptr};
  case Expr::Kind::Dim:
    if (E.Value >= 0 && E.Value < NumLaunchDims)
      return {Values.Dims[E.Value], nullptr};
    break;
  case Expr::Kind::Symbol:
    if (E.Value >= 0 && static_cast<size_t>(E.Value) < Scalars.size()) {
      const ScalarRef &S = Scalars[E.Value];
      Value *Raw = load(B.getIntNTy(S.Bits), S.Param, S.Offset);
      return {S.Signed ? B.CreateSExt(Raw, B.getInt64Ty())
                       : B.CreateZExt(Raw, B.getInt64Ty()),
              nullptr};
    }
    break;
  case Expr::Kind::Add:
  case Expr::Kind::Mul: {
    Number L = expr(E.Operands[0]), R = expr(E.Operands[1]);
    Value *Pair = B.CreateBinaryIntrinsic(E.K == Expr::Kind::Add
                                              ? Intrinsic::sadd_with_overflow
                                              : Intrinsic::smul_with_overflow,
                                          L.V, R.V);
    return {B.CreateExtractValue(Pair, 0),
            both(both(L.Right, R.Right),
                 B.CreateNot(B.CreateExtractValue(Pair, 1)))};
  }
  case Expr::Kind::Mod:
  case Expr::Kind::FloorDiv:
  case Expr::Kind::CeilDiv:
    return divide(E);
  }
  // An index out of range: evaluate() has no value either.
  return {B.getInt64(0), B.getFalse()};
}

ExprEmitter::Number ExprEmitter::divide(const Expr &E) {
  Number L = expr(E.Operands[0]), R = expr(E.Operands[1]);
  Value *Right = both(L.Right, R.Right), *By = R.V;
  const Expr &Divisor = E.Operands[1];
  if (Divisor.K != Expr::Kind::Constant || Divisor.Value <= 0) {
    Value *Positive = B.CreateICmpSGT(By, B.getInt64(0));
    Right = both(Right, Positive);
    // A division by zero must not happen even when its result is not used.
    By = B.CreateSelect(Positive, By, B.getInt64(1));
  }
  Value *Quotient = B.CreateSDiv(L.V, By), *Rest = B.CreateSRem(L.V, By);
  Value *Negative = B.CreateICmpSLT(Rest, B.getInt64(0));
  Value *Modulus = B.CreateSelect(Negative, B.CreateAdd(Rest, By), Rest);
  if (E.K == Expr::Kind::Mod)
    return {Modulus, Right};
  Value *Floor = B.CreateSub(Quotient, B.CreateZExt(Negative, B.getInt64Ty()));
  if (E.K == Expr::Kind::FloorDiv)
    return {Floor, Right};
  return {
      B.CreateAdd(Floor, B.CreateZExt(B.CreateICmpNE(Modulus, B.getInt64(0)),
                                      B.getInt64Ty())),
      Right};
}

} // namespace cupilot
