//===- Memory.cpp - Wrong accesses -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sites.h"
#include "llvm/IR/Constants.h"

using namespace llvm;

namespace cupilot {

static void addIndex(GetElementPtrInst &I, Sites &S) {
  unsigned Last = I.getNumOperands() - 1;
  // A field of a struct is no index.
  SmallVector<Value *> Before(I.idx_begin(), std::prev(I.idx_end()));
  if (!Before.empty() &&
      GetElementPtrInst::getIndexedType(I.getSourceElementType(), Before)
          ->isStructTy())
    return;
  if (!I.getOperand(Last)->getType()->isIntegerTy() || I.use_empty())
    return;
  for (int By : {1, -1})
    S.add(I, "index", "[i]", By > 0 ? "[i + 1]" : "[i - 1]", [&I, Last, By] {
      IRBuilder<> B(&I);
      Value *Old = I.getOperand(Last);
      I.setOperand(
          Last, B.CreateAdd(Old, ConstantInt::getSigned(Old->getType(), By)));
      I.setNoWrapFlags(GEPNoWrapFlags::none());
    });
}

static void addLoad(LoadInst &I, Sites &S) {
  if (I.isVolatile())
    S.add(I, "order", "volatile read", "plain read",
          [&I] { I.setVolatile(false); });
  const Value *From = I.getPointerOperand();
  if (localVariable(From) || isa<GEPOperator>(From) || !From->hasOneUse())
    return;
  S.add(I, "load", "*p", "p[1]", [&I] {
    IRBuilder<> B(&I);
    I.setOperand(
        0, B.CreateGEP(I.getType(), I.getPointerOperand(), {B.getInt64(1)}));
  });
}

/// Whether another store to the same local variable comes before \p I, so that
/// without \p I the variable still has a value.
static bool assignedBefore(const StoreInst &I, const AllocaInst &Variable) {
  for (const BasicBlock &Block : *I.getFunction())
    for (const Instruction &Other : Block) {
      if (&Other == &I)
        return false;
      auto *Store = dyn_cast<StoreInst>(&Other);
      if (Store && Store->getPointerOperand() == &Variable)
        return true;
    }
  return false;
}

/// x = x op y: the operation, or nothing.
static BinaryOperator *updateOf(StoreInst &I) {
  auto *Update = dyn_cast<BinaryOperator>(I.getValueOperand());
  if (!Update)
    return nullptr;
  for (const Value *V : Update->operands())
    if (auto *Read = dyn_cast<LoadInst>(V);
        Read && Read->getPointerOperand() == I.getPointerOperand())
      return Update;
  return nullptr;
}

static void addStore(StoreInst &I, Sites &S) {
  if (I.isVolatile())
    S.add(I, "order", "volatile write", "plain write",
          [&I] { I.setVolatile(false); });
  const AllocaInst *Variable = localVariable(I.getPointerOperand());
  if (!Variable || assignedBefore(I, *Variable))
    S.add(I, "store", Variable ? "x = v" : "*p = v", "nothing",
          [&I] { I.eraseFromParent(); });
  if (BinaryOperator *Update = updateOf(I))
    S.add(I, "duplicate", "once", "twice", [&I, Update] {
      Value *To = I.getPointerOperand();
      unsigned Operand = 1;
      if (auto *Read = dyn_cast<LoadInst>(Update->getOperand(0)))
        Operand = Read->getPointerOperand() == To ? 0 : 1;
      auto *Again = Update->clone();
      Again->insertAfter(I.getIterator());
      Again->setOperand(Operand, I.getValueOperand());
      auto *Second = I.clone();
      Second->insertAfter(Again->getIterator());
      Second->setOperand(0, Again);
    });
}

void addMemory(Instruction &I, Sites &S) {
  if (auto *Index = dyn_cast<GetElementPtrInst>(&I))
    addIndex(*Index, S);
  else if (auto *Load = dyn_cast<LoadInst>(&I))
    addLoad(*Load, S);
  else if (auto *Store = dyn_cast<StoreInst>(&I))
    addStore(*Store, S);
}

} // namespace cupilot
