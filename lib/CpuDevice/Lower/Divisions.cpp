//===- Divisions.cpp - Integer division without traps -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On a GPU, integer division never traps. The quotient of a division by zero
// has all bits set, and so has the remainder; the least number divided by -1
// gives itself, with the remainder 0. A division of 64 bits whose operands have
// no upper half is one of 32 bits there. PTX ISA leaves these results
// unspecified; this is what an H200 computes.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;

namespace cupilot {

/// Whether \p Divisor can be neither 0 nor, for signed division, -1.
static bool isSafe(Value *Divisor, bool Signed) {
  auto Fine = [&](const Constant *C) {
    const auto *Number = dyn_cast_or_null<ConstantInt>(C);
    return Number && !Number->isZero() && !(Signed && Number->isMinusOne());
  };
  auto *C = dyn_cast<Constant>(Divisor);
  if (!C)
    return false;
  if (!C->getType()->isVectorTy())
    return Fine(C);
  for (unsigned I = 0;
       I < cast<FixedVectorType>(C->getType())->getNumElements(); ++I)
    if (!Fine(C->getAggregateElement(I)))
      return false;
  return true;
}

void lowerDivisions(Function &F) {
  SmallVector<BinaryOperator *> Divisions;
  for (BasicBlock &BB : F)
    for (Instruction &I : BB)
      if (I.isIntDivRem())
        Divisions.push_back(cast<BinaryOperator>(&I));
  for (BinaryOperator *Division : Divisions) {
    bool Signed = Division->getOpcode() == Instruction::SDiv ||
                  Division->getOpcode() == Instruction::SRem;
    Value *X = Division->getOperand(0), *Y = Division->getOperand(1);
    if (isSafe(Y, Signed))
      continue;
    IRBuilder<> B(Division);
    Type *T = X->getType();
    // An operand that is not defined is still one value.
    X = B.CreateFreeze(X);
    Y = B.CreateFreeze(Y);
    Value *Zero = B.CreateIsNull(Y), *Trap = Zero;
    if (Signed) {
      Value *Least = ConstantInt::get(
          T, APInt::getSignedMinValue(T->getScalarSizeInBits()));
      Value *Overflow =
          B.CreateAnd(B.CreateICmpEQ(X, Least),
                      B.CreateICmpEQ(Y, Constant::getAllOnesValue(T)));
      // Divided by 1, the least number gives what it gives on a GPU.
      Trap = B.CreateOr(Trap, Overflow);
    }
    Value *Divisor = B.CreateSelect(Trap, ConstantInt::get(T, 1), Y);
    Value *Result = B.CreateBinOp(Division->getOpcode(), X, Divisor);
    Value *OfZero = Constant::getAllOnesValue(T);
    if (T->getScalarSizeInBits() == 64)
      OfZero = B.CreateSelect(B.CreateIsNull(B.CreateLShr(X, 32)),
                              ConstantInt::get(T, 0xffffffff), OfZero);
    Result = B.CreateSelect(Zero, OfZero, Result);
    Division->replaceAllUsesWith(Result);
    Division->eraseFromParent();
  }
}

} // namespace cupilot
