//===- RecoverPointers.cpp - Addresses as pointers again -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In PTX an address is a number. Where it can be of one variable only, the
// access gets a pointer to that variable: its size bounds the access then, and
// what nobody else sees can become a value.
//
//===----------------------------------------------------------------------===//

#include "ModuleLowering.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/NVPTXAddrSpace.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace cupilot {

/// The call that makes a pointer of an address in shared memory.
static const CallInst *sharedCall(const Value *V) {
  const auto *Call = dyn_cast<CallInst>(V);
  const Function *F = Call ? Call->getCalledFunction() : nullptr;
  return F && F->getName() == "__cupilot_ptx_shared" ? Call : nullptr;
}

namespace {
/// Finds the only variable that a number can be an address of.
class BaseFinder {
public:
  /// Null when there is none, or more than one.
  Value *find(const Value *V) {
    Seen.clear();
    Base = nullptr;
    return visit(V) ? Base : nullptr;
  }

private:
  bool visit(const Value *V);
  /// Whether \p V is nothing that is derived from an address.
  static bool isDistance(const Value *V) { return !BaseFinder().find(V); }
  bool same(Value *Found) {
    bool Fits = !Base || Base == Found;
    Base = Found;
    return Fits;
  }

  SmallPtrSet<const Value *, 16> Seen;
  Value *Base = nullptr;
};
} // namespace

bool BaseFinder::visit(const Value *V) {
  if (!Seen.insert(V).second)
    return true; // What stands around it decides.
  if (Seen.size() > 64)
    return false;
  switch (Operator::getOpcode(V)) {
  case Instruction::PtrToInt: {
    const Value *Pointer = cast<Operator>(V)->getOperand(0);
    const Value *Object = getUnderlyingObject(Pointer, /*MaxLookup=*/0);
    if (const CallInst *Shared = sharedCall(Object))
      return visit(Shared->getArgOperand(0));
    bool Variable = isa<AllocaInst>(Object) || isa<GlobalVariable>(Object);
    return Variable && same(const_cast<Value *>(Object));
  }
  case Instruction::Add: {
    const auto *Sum = cast<Operator>(V);
    const Value *Left = Sum->getOperand(0), *Right = Sum->getOperand(1);
    if (isa<ConstantInt>(Right) || isDistance(Right))
      return visit(Left);
    return isDistance(Left) && visit(Right);
  }
  case Instruction::Sub:
  case Instruction::And: {
    const auto *Difference = cast<Operator>(V);
    return isDistance(Difference->getOperand(1)) &&
           visit(Difference->getOperand(0));
  }
  case Instruction::Trunc:
  case Instruction::ZExt:
  case Instruction::SExt:
    return visit(cast<Operator>(V)->getOperand(0));
  case Instruction::Select:
    return visit(cast<Operator>(V)->getOperand(1)) &&
           visit(cast<Operator>(V)->getOperand(2));
  case Instruction::PHI:
    return all_of(cast<PHINode>(V)->incoming_values(),
                  [this](const Use &U) { return visit(U.get()); });
  default:
    return false;
  }
}

/// The address \p V as a pointer into \p Base.
static Value *pointerInto(IRBuilder<> &B, Value *Base, Value *V, Type *To) {
  Type *I64 = B.getInt64Ty();
  Value *Start = B.CreateZExtOrTrunc(B.CreatePtrToInt(Base, I64), V->getType());
  Value *Distance = B.CreateSExtOrTrunc(B.CreateSub(V, Start), I64);
  return B.CreateAddrSpaceCast(B.CreateGEP(B.getInt8Ty(), Base, Distance), To);
}

void recoverPointers(Function &F) {
  removeUnreachableBlocks(F);
  DominatorTree Dominators(F);
  SmallVector<AllocaInst *> Registers;
  for (Instruction &I : instructions(F))
    if (auto *A = dyn_cast<AllocaInst>(&I); A && isAllocaPromotable(A))
      Registers.push_back(A);
  PromoteMemToReg(Registers, Dominators);
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    const CallInst *Shared = sharedCall(&I);
    if (!Shared && !isa<IntToPtrInst>(I))
      continue;
    Value *Address = I.getOperand(0);
    Value *Base = BaseFinder().find(Address);
    // A shared address may have lost its upper half, no other.
    if (!Base ||
        (Shared && Base->getType()->getPointerAddressSpace() !=
                       NVPTXAS::ADDRESS_SPACE_SHARED) ||
        (!Shared && !Address->getType()->isIntegerTy(64)))
      continue;
    IRBuilder<> B(&I);
    I.replaceAllUsesWith(pointerInto(B, Base, Address, I.getType()));
    I.eraseFromParent();
  }
}

} // namespace cupilot
