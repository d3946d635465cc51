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
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PostOrderIterator.h"
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
/// What a number is made of, from what is not known yet to what is no use.
struct Origin {
  enum Kind { Unknown, Distance, Address, Mixed } K = Unknown;
  Value *Base = nullptr; ///< Of an address: the variable that it lies in.
  bool operator==(const Origin &) const = default;
};

/// Finds for each number of a function the variable that it is an address of,
/// where it can be of one only.
class Origins {
public:
  Origins(Function &F, bool OfArguments);
  /// Null when there is none, or more than one.
  Value *baseOf(const Value *V) const {
    Origin O = of(V);
    return O.K == Origin::Address ? O.Base : nullptr;
  }

private:
  Origin of(const Value *V) const;
  Origin compute(const Value *V) const;
  Origin ofPointer(const Value *Pointer) const;

  const bool OfArguments;
  DenseMap<const Value *, Origin> Known; ///< Of instructions.
};
} // namespace

static Origin merged(Origin A, Origin B) {
  if (A.K == Origin::Unknown)
    return B;
  return B.K == Origin::Unknown || A == B ? A : Origin{Origin::Mixed, nullptr};
}

/// Of a sum, or of bits that are masked.
static Origin moved(Origin A, Origin B) {
  if (A.K == Origin::Unknown || B.K == Origin::Unknown)
    return {};
  if (A.K == Origin::Distance)
    return B;
  return B.K == Origin::Distance ? A : Origin{Origin::Mixed, nullptr};
}

Origin Origins::of(const Value *V) const {
  return isa<Instruction>(V) ? Known.lookup(V) : compute(V);
}

Origin Origins::ofPointer(const Value *Pointer) const {
  const Value *Object = getUnderlyingObject(Pointer, /*MaxLookup=*/0);
  if (const CallInst *Shared = sharedCall(Object))
    return of(Shared->getArgOperand(0));
  const auto *Passed = dyn_cast<Argument>(Object);
  if (isa<AllocaInst>(Object) || isa<GlobalVariable>(Object) ||
      (Passed && (OfArguments || Passed->hasByValAttr())))
    return {Origin::Address, const_cast<Value *>(Object)};
  return {Origin::Distance, nullptr};
}

Origin Origins::compute(const Value *V) const {
  const auto *O = dyn_cast<Operator>(V);
  auto Operand = [&](unsigned I) { return of(O->getOperand(I)); };
  switch (Operator::getOpcode(V)) {
  case Instruction::PtrToInt:
    return ofPointer(O->getOperand(0));
  case Instruction::Add:
    return moved(Operand(0), Operand(1));
  case Instruction::Sub:
  case Instruction::And: {
    Origin Left = Operand(0), Right = Operand(1);
    if (Left.K == Origin::Unknown || Right.K == Origin::Unknown)
      return {};
    return Right.K == Origin::Distance ? Left : Origin{Origin::Mixed, nullptr};
  }
  case Instruction::Trunc:
  case Instruction::ZExt:
  case Instruction::SExt:
    return Operand(0);
  case Instruction::Select:
    return merged(Operand(1), Operand(2));
  case Instruction::PHI: {
    Origin All;
    for (const Use &U : cast<PHINode>(V)->incoming_values())
      All = merged(All, of(U.get()));
    return All;
  }
  default:
    return {Origin::Distance, nullptr};
  }
}

Origins::Origins(Function &F, bool OfArguments) : OfArguments(OfArguments) {
  // Each number rises twice at most.
  ReversePostOrderTraversal<Function *> Order(&F);
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (BasicBlock *Block : Order)
      for (Instruction &I : *Block) {
        if (!I.getType()->isIntegerTy())
          continue;
        Origin Now = merged(Known.lookup(&I), compute(&I));
        Changed |= !(Now == Known.lookup(&I));
        Known[&I] = Now;
      }
  }
}

/// The address \p V as a pointer into \p Base.
static Value *pointerInto(IRBuilder<> &B, Value *Base, Value *V, Type *To) {
  Type *I64 = B.getInt64Ty();
  Value *Start = B.CreateZExtOrTrunc(B.CreatePtrToInt(Base, I64), V->getType());
  Value *Distance = B.CreateSExtOrTrunc(B.CreateSub(V, Start), I64);
  return B.CreateAddrSpaceCast(B.CreateGEP(B.getInt8Ty(), Base, Distance), To);
}

void recoverPointers(Function &F, bool OfArguments) {
  removeUnreachableBlocks(F);
  DominatorTree Dominators(F);
  SmallVector<AllocaInst *> Registers;
  for (Instruction &I : instructions(F))
    if (auto *A = dyn_cast<AllocaInst>(&I); A && isAllocaPromotable(A))
      Registers.push_back(A);
  PromoteMemToReg(Registers, Dominators);
  SmallVector<std::pair<Instruction *, Value *>> Found;
  Origins Of(F, OfArguments);
  for (Instruction &I : instructions(F)) {
    const CallInst *Shared = sharedCall(&I);
    if (!Shared && !isa<IntToPtrInst>(I))
      continue;
    Value *Address = I.getOperand(0);
    Value *Base = Of.baseOf(Address);
    // A shared address may have lost its upper half, no other.
    bool InShared = Base && Base->getType()->getPointerAddressSpace() ==
                                NVPTXAS::ADDRESS_SPACE_SHARED;
    if (Base && (Shared ? InShared : Address->getType()->isIntegerTy(64)))
      Found.push_back({&I, Base});
  }
  for (auto [I, Base] : Found) {
    IRBuilder<> B(I);
    I->replaceAllUsesWith(pointerInto(B, Base, I->getOperand(0), I->getType()));
    I->eraseFromParent();
  }
}

} // namespace cupilot
