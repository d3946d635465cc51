//===- InstrumentMasked.cpp - Comparisons that may not count -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Code that reads one element beyond those it has, and compares it only behind
// "is there one?", is right whether the comparison is skipped or computed and
// masked; the optimiser decides which. So the result of a comparison that goes
// into a logical operation is followed with a bit that says whether it comes
// from bytes that nobody wrote, as MemorySanitizer does, and reported where
// something depends on it.
//
//===----------------------------------------------------------------------===//

#include "Instrument.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace cupilot {

/// Whether \p I makes one truth value of others.
static bool isLogic(const Instruction &I) {
  if (!I.getType()->isIntegerTy(1))
    return false;
  switch (I.getOpcode()) {
  case Instruction::And:
  case Instruction::Or:
  case Instruction::Xor:
  case Instruction::Select:
  case Instruction::PHI:
  case Instruction::Freeze:
    return true;
  default:
    return false;
  }
}

/// Whether the result may be masked by another condition.
bool Instrumenter::isMasked(const Instruction &Compare) {
  if (!isa<CmpInst>(Compare) || !Compare.getType()->isIntegerTy(1))
    return false;
  SmallSetVector<const Instruction *, 8> Work;
  Work.insert(&Compare);
  for (size_t K = 0; K < Work.size(); ++K)
    for (const User *U : Work[K]->users()) {
      auto *I = cast<Instruction>(U);
      if (!isLogic(*I))
        continue;
      if (I->getOpcode() == Instruction::And ||
          I->getOpcode() == Instruction::Or ||
          I->getOpcode() == Instruction::Select)
        return true;
      Work.insert(I);
    }
  return false;
}

/// Whether \p I is what the optimiser makes of a comparison and the choice that
/// goes with it, when another condition may still choose otherwise.
bool Instrumenter::isMaskedExtreme(const Instruction &I) {
  return isa<MinMaxIntrinsic>(I) && !I.getType()->isVectorTy() &&
         !I.use_empty() && all_of(I.uses(), [](const Use &U) {
           return isa<SelectInst>(U.getUser()) && U.getOperandNo() != 0;
         });
}

/// Whether the truth value \p V depends on bytes that hold nothing, as an i1;
/// null for never.
Value *Instrumenter::unwrittenBit(Value *V) {
  auto *I = dyn_cast<Instruction>(V);
  if (!I || (!isLogic(*I) && !isa<CmpInst>(I)))
    return nullptr;
  if (auto It = UnwrittenBits.find(V); It != UnwrittenBits.end())
    return It->second;
  if (auto *Phi = dyn_cast<PHINode>(I)) {
    auto *Bit = PHINode::Create(Phi->getType(), Phi->getNumIncomingValues(),
                                "depends", Phi->getIterator());
    UnwrittenBits[V] = Bit;
    for (unsigned K = 0; K < Phi->getNumIncomingValues(); ++K) {
      Value *Of = unwrittenBit(Phi->getIncomingValue(K));
      Bit->addIncoming(Of ? Of : ConstantInt::getFalse(Phi->getContext()),
                       Phi->getIncomingBlock(K));
    }
    return Bit;
  }
  IRBuilder<> B(I->getNextNode());
  auto Or0 = [&](Value *Bit) { return Bit ? Bit : B.getFalse(); };
  auto *Select = dyn_cast<SelectInst>(I);
  Value *Result = nullptr;
  Value *X = I->getOperand(0),
        *Y = I->getNumOperands() > 1 ? I->getOperand(1) : nullptr;
  bool And = I->getOpcode() == Instruction::And, Or = false;
  if (!And)
    Or = I->getOpcode() == Instruction::Or;
  if (Select) {
    auto *True = dyn_cast<ConstantInt>(Select->getTrueValue()),
         *False = dyn_cast<ConstantInt>(Select->getFalseValue());
    And = False && False->isZero();
    Or = !And && True && True->isOne();
    if (Or)
      Y = Select->getFalseValue();
  }
  if (isa<CmpInst>(I)) {
    if (isMasked(*I))
      for (Value *Operand : I->operands())
        if (Value *Mask = unwrittenBytes(Operand)) {
          Value *Bit = B.CreateICmpNE(Mask, B.getInt64(0));
          Result = Result ? B.CreateOr(Result, Bit) : Bit;
        }
  } else if (And || Or) {
    // Either decides alone, when it is known to be false (or true).
    Value *OfX = unwrittenBit(X), *OfY = unwrittenBit(Y);
    if (OfX || OfY) {
      Value *XLets = And ? X : B.CreateNot(X),
            *YLets = And ? Y : B.CreateNot(Y);
      Value *ByY =
          B.CreateLogicalAnd(B.CreateLogicalOr(XLets, Or0(OfX)), Or0(OfY));
      Value *ByX = B.CreateLogicalAnd(Or0(OfX), YLets);
      Result = B.CreateLogicalOr(ByX, ByY);
    }
  } else if (Select) {
    Value *OfC = unwrittenBit(Select->getCondition()),
          *OfT = unwrittenBit(Select->getTrueValue()),
          *OfF = unwrittenBit(Select->getFalseValue());
    if (OfC || OfT || OfF)
      Result = B.CreateLogicalOr(
          Or0(OfC), B.CreateSelect(Select->getCondition(), Or0(OfT), Or0(OfF)));
  } else {
    Value *OfX = unwrittenBit(X), *OfY = Y ? unwrittenBit(Y) : nullptr;
    if (OfX || OfY)
      Result = B.CreateOr(Or0(OfX), Or0(OfY));
  }
  return UnwrittenBits[V] = Result;
}

void Instrumenter::guardMasked() {
  SmallSetVector<Instruction *, 16> Held;
  for (Instruction &I : instructions(Entry))
    if (isMasked(I) && any_of(I.operands(), [&](Value *Operand) {
          return unwrittenBytes(Operand) != nullptr;
        }))
      Held.insert(&I);
  SmallSetVector<std::pair<Instruction *, Instruction *>, 16> Uses;
  for (size_t K = 0; K < Held.size(); ++K)
    for (User *U : Held[K]->users())
      if (auto *I = cast<Instruction>(U); isLogic(*I))
        Held.insert(I);
      else
        Uses.insert({Held[K], I});
  for (auto [From, User] : Uses) {
    Value *Bit = unwrittenBit(From);
    if (!Bit)
      continue;
    IRBuilder<> B(User);
    branchUnlessOk(B, B.CreateNot(Bit));
    B.CreateCall(runtime("cupilot_rt_unwritten", {B.getPtrTy()}),
                 {Entry.getArg(0)});
  }
}

} // namespace cupilot
