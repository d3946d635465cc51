//===- Widths.cpp - Integers that go through fewer bits -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is right as long as numbers are small: indices in 32 and 16 bits, counts
// in float, 64-bit integers in double.
//
//===----------------------------------------------------------------------===//

#include "Sites.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace cupilot {

static Value *throughInteger(IRBuilder<> &B, Value *V, unsigned Bits,
                             bool Signed) {
  Value *Short = B.CreateTrunc(V, B.getIntNTy(Bits));
  return Signed ? B.CreateSExt(Short, V->getType())
                : B.CreateZExt(Short, V->getType());
}

static Value *throughFloat(IRBuilder<> &B, Value *V, llvm::Type *Through) {
  return B.CreateFPToSI(B.CreateSIToFP(V, Through), V->getType());
}

static bool comesFromInt(const Value *V) {
  auto *Cast = dyn_cast<CastInst>(V);
  return Cast && Cast->getSrcTy()->isIntegerTy() &&
         Cast->getSrcTy()->getIntegerBitWidth() <= 32;
}

static void addIndexWidths(GetElementPtrInst &I, Sites &S) {
  unsigned Last = I.getNumOperands() - 1;
  Value *Index = I.getOperand(Last);
  if (!Index->getType()->isIntegerTy(64) || isa<Constant>(Index) ||
      I.use_empty())
    return;
  auto Narrow = [&](StringRef After, unsigned Bits, bool Signed) {
    ConstantRange Is = S.Ranges.of(Index);
    bool Fits = Signed ? Is.getSignedMin().isSignedIntN(Bits) &&
                             Is.getSignedMax().isSignedIntN(Bits)
                       : Is.getUnsignedMax().isIntN(Bits);
    Mutation *M = S.add(I, "width", "[i]", After, [&I, Last, Bits, Signed] {
      IRBuilder<> B(&I);
      I.setOperand(Last, throughInteger(B, I.getOperand(Last), Bits, Signed));
      I.setNoWrapFlags(GEPNoWrapFlags::none());
    });
    if (!M)
      return;
    M->Unseen = Fits;
    M->Bits = Bits;
  };
  if (!comesFromInt(Index))
    Narrow("[int(i)]", 32, true);
  Narrow("[unsigned short(i)]", 16, false);
}

/// Sums and products of integers, and what is loaded: through a floating type
/// that holds small ones exactly.
static void addThroughFloat(Instruction &I, Sites &S) {
  bool Wanted =
      I.getOpcode() == Instruction::Add || I.getOpcode() == Instruction::Mul;
  if (auto *Load = dyn_cast<LoadInst>(&I))
    Wanted = !localVariable(Load->getPointerOperand());
  if (!Wanted || I.use_empty())
    return;
  auto Through = [&](const char *Name, llvm::Type *Floating) {
    // Every integer up to this magnitude is exact.
    APInt Most = APInt::getOneBitSet(I.getType()->getIntegerBitWidth(),
                                     Floating->getFPMantissaWidth());
    ConstantRange Is = S.Ranges.of(&I);
    Mutation *M = S.add(I, "width", "integer", Name, [&I, Floating] {
      filterResult(I, [&](IRBuilder<> &B, Value *V) {
        return throughFloat(B, V, Floating);
      });
    });
    if (!M)
      return;
    M->Unseen = Is.getSignedMax().sle(Most) && Is.getSignedMin().sge(-Most);
    M->Bits = unsigned(Floating->getFPMantissaWidth());
  };
  if (I.getType()->isIntegerTy(32))
    Through("through float", llvm::Type::getFloatTy(I.getContext()));
  if (I.getType()->isIntegerTy(64))
    Through("through double", llvm::Type::getDoubleTy(I.getContext()));
}

void addWidths(Instruction &I, Sites &S) {
  if (auto *Index = dyn_cast<GetElementPtrInst>(&I))
    return addIndexWidths(*Index, S);
  addThroughFloat(I, S);
}

} // namespace cupilot
