//===- FloatAtomics.cpp - Atomic operations on floating point -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The host exchanges numbers until nobody has come between. What is exchanged
// are their bits: as numbers, some NaN never compare equal to what is in memory
// on the way through registers, and the code generator's own loop would not
// end. A GPU's units give one NaN, and those of float32 in global memory flush
// subnormal numbers (PTX ISA, "atom"); "cupilot.flush" marks those.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "Ptx/DeviceValues.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace cupilot {

static Value *combined(IRBuilderBase &B, const AtomicRMWInst &RMW, Value *Old,
                       Value *With, bool OneNan) {
  Value *V = nullptr;
  switch (RMW.getOperation()) {
  case AtomicRMWInst::FAdd:
    V = B.CreateFAdd(Old, With);
    break;
  case AtomicRMWInst::FSub:
    V = B.CreateFSub(Old, With);
    break;
  default:
    return floatMinMax(B, Old, With, RMW.getOperation() == AtomicRMWInst::FMax,
                       /*Nan=*/false, /*XorSign=*/false);
  }
  Type *T = V->getType();
  if (!OneNan || T->getScalarType()->isDoubleTy())
    return V;
  APInt Nan = APInt::getSignedMaxValue(T->getScalarSizeInBits());
  return B.CreateSelect(
      B.CreateFCmpUNO(V, V),
      ConstantFP::get(T, APFloat(T->getScalarType()->getFltSemantics(), Nan)),
      V);
}

static void expand(AtomicRMWInst &RMW, bool OneNan) {
  Type *T = RMW.getType();
  Type *Word = IntegerType::get(
      RMW.getContext(), static_cast<unsigned>(T->getPrimitiveSizeInBits()));
  const bool Flush = RMW.hasMetadata("cupilot.flush");
  BasicBlock *Before = RMW.getParent();
  BasicBlock *After = SplitBlock(Before, &RMW);
  BasicBlock *Loop = BasicBlock::Create(RMW.getContext(), "exchange",
                                        RMW.getFunction(), After);
  IRBuilder<> B(Before->getTerminator());
  B.SetCurrentDebugLocation(RMW.getDebugLoc());
  LoadInst *First =
      B.CreateAlignedLoad(Word, RMW.getPointerOperand(), RMW.getAlign());
  First->setAtomic(AtomicOrdering::Monotonic, RMW.getSyncScopeID());
  Before->getTerminator()->setSuccessor(0, Loop);
  B.SetInsertPoint(Loop);
  PHINode *Bits = B.CreatePHI(Word, 2);
  Bits->addIncoming(First, Before);
  Value *Old = B.CreateBitCast(Bits, T), *With = RMW.getValOperand();
  Value *Taken = Flush ? flushed(B, Old) : Old;
  Value *New = combined(B, RMW, Taken, Flush ? flushed(B, With) : With, OneNan);
  if (Flush)
    New = flushed(B, New);
  AtomicCmpXchgInst *Exchange = B.CreateAtomicCmpXchg(
      RMW.getPointerOperand(), Bits, B.CreateBitCast(New, Word), RMW.getAlign(),
      RMW.getOrdering(),
      AtomicCmpXchgInst::getStrongestFailureOrdering(RMW.getOrdering()),
      RMW.getSyncScopeID());
  Bits->addIncoming(B.CreateExtractValue(Exchange, 0), Loop);
  B.CreateCondBr(B.CreateExtractValue(Exchange, 1), After, Loop);
  RMW.replaceAllUsesWith(Old);
  RMW.eraseFromParent();
}

void lowerFloatAtomics(Function &F, bool OneNan) {
  SmallVector<AtomicRMWInst *> Found;
  for (Instruction &I : instructions(F))
    if (auto *RMW = dyn_cast<AtomicRMWInst>(&I);
        RMW && RMW->getType()->isFPOrFPVectorTy())
      switch (RMW->getOperation()) {
      case AtomicRMWInst::FAdd:
      case AtomicRMWInst::FSub:
      case AtomicRMWInst::FMin:
      case AtomicRMWInst::FMax:
        Found.push_back(RMW);
        break;
      default:
        break;
      }
  for (AtomicRMWInst *RMW : Found)
    expand(*RMW, OneNan);
}

} // namespace cupilot
