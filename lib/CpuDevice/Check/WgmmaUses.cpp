//===- WgmmaUses.cpp - Who uses an accumulator -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An accumulator is followed from the product that made it through copies and
// merges; with it goes the number of the product, which is known only when the
// code runs. Where the value is computed with, or stored, the run time is asked
// whether that product has been waited for. Local arrays that are left in
// memory get a second array with the numbers of what they hold.
//
//===----------------------------------------------------------------------===//

#include "Instrument.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace cupilot {

namespace {
class AccumulatorGuard {
public:
  AccumulatorGuard(Function &F, LoweredModule &Tables)
      : F(F), Tables(Tables), I64(Type::getInt64Ty(F.getContext())) {}
  void run();

private:
  bool isProduct(const Instruction &I) const;
  static bool moves(const Use &U);
  Value *numberOf(Value *V);
  void ask(StringRef Name, Instruction &Before, Value *Number);
  void guardUse(Instruction &User, Value *Accumulator);
  void guardOperands(CallInst &Call);
  void findHeld();
  AllocaInst *arrayOf(Value *Pointer) const;
  Value *slot(IRBuilder<> &B, Value *Pointer, AllocaInst &Array);
  void followArrays();

  Function &F;
  LoweredModule &Tables;
  Type *I64;
  DenseMap<Value *, Value *> Numbers;
  SmallSetVector<AllocaInst *, 4> Arrays;     ///< That hold some.
  DenseMap<AllocaInst *, AllocaInst *> Slots; ///< One i64 for four bytes.
  SmallSetVector<Instruction *, 16> Held; ///< Values that come from products.
  DenseSet<std::pair<BasicBlock *, Value *>> Asked;
};
} // namespace

bool AccumulatorGuard::isProduct(const Instruction &I) const {
  auto *Call = dyn_cast<CallInst>(&I);
  const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
  return Callee && Callee->getName().starts_with("cupilot.op:wgmma.mma_async.");
}

/// Whether the use only passes the value on.
bool AccumulatorGuard::moves(const Use &U) {
  auto *I = cast<Instruction>(U.getUser());
  if (isa<SelectInst>(I))
    return U.getOperandNo() != 0;
  if (isa<ExtractElementInst>(I))
    return U.getOperandNo() == 0;
  if (isa<InsertElementInst>(I))
    return U.getOperandNo() < 2;
  if (I->getOpcode() == Instruction::And) // What is left of a truncation.
    return isa<ConstantInt>(I->getOperand(1));
  return isa<PHINode, BitCastInst, FreezeInst, TruncInst, ZExtInst,
             ShuffleVectorInst, ExtractValueInst, InsertValueInst>(I);
}

/// The number of the newest product that \p V comes from, as an i64; a zero
/// for what comes from none.
Value *AccumulatorGuard::numberOf(Value *V) {
  auto *Zero = ConstantInt::get(I64, 0);
  auto *I = dyn_cast<Instruction>(V);
  if (!I || !Held.contains(I))
    return Zero;
  if (auto It = Numbers.find(V); It != Numbers.end())
    return It->second;
  if (auto *Phi = dyn_cast<PHINode>(I)) {
    auto *Number = PHINode::Create(I64, Phi->getNumIncomingValues(), "product",
                                   Phi->getIterator());
    Numbers[V] = Number;
    for (unsigned K = 0; K < Phi->getNumIncomingValues(); ++K)
      Number->addIncoming(numberOf(Phi->getIncomingValue(K)),
                          Phi->getIncomingBlock(K));
    return Number;
  }
  IRBuilder<> B(I);
  Value *Result = Zero;
  if (auto *Select = dyn_cast<SelectInst>(I);
      Select && !Select->getCondition()->getType()->isVectorTy()) {
    Value *True = numberOf(Select->getTrueValue()),
          *False = numberOf(Select->getFalseValue());
    Result = B.CreateSelect(Select->getCondition(), True, False);
  } else {
    for (Value *Operand : I->operands()) {
      Value *Of = numberOf(Operand);
      Result = Result == Zero || Of == Result ? Of
               : Of == Zero
                   ? Result
                   : B.CreateBinaryIntrinsic(Intrinsic::umax, Of, Result);
    }
  }
  return Numbers[V] = Result;
}

/// The local array of known size that a pointer leads into; null for none.
AllocaInst *AccumulatorGuard::arrayOf(Value *Pointer) const {
  auto *Array =
      dyn_cast<AllocaInst>(getUnderlyingObject(Pointer, /*MaxLookup=*/0));
  return Array && Array->isStaticAlloca() ? Array : nullptr;
}

/// What comes from products: through copies, and through arrays.
void AccumulatorGuard::findHeld() {
  for (size_t K = 0; K < Held.size(); ++K)
    for (Use &U : Held[K]->uses()) {
      auto *I = cast<Instruction>(U.getUser());
      if (moves(U))
        Held.insert(I);
      auto *Store = dyn_cast<StoreInst>(I);
      AllocaInst *Array = Store && U.getOperandNo() == 0
                              ? arrayOf(Store->getPointerOperand())
                              : nullptr;
      if (!Array || !Arrays.insert(Array))
        continue;
      for (Instruction &Other : instructions(F))
        if (auto *Load = dyn_cast<LoadInst>(&Other);
            Load && arrayOf(Load->getPointerOperand()) == Array)
          Held.insert(Load);
    }
}

Value *AccumulatorGuard::slot(IRBuilder<> &B, Value *Pointer,
                              AllocaInst &Array) {
  Value *Offset = B.CreateSub(B.CreatePtrToInt(Pointer, I64),
                              B.CreatePtrToInt(&Array, I64));
  return B.CreateGEP(I64, Slots.lookup(&Array), B.CreateLShr(Offset, 2));
}

void AccumulatorGuard::followArrays() {
  const DataLayout &DL = F.getParent()->getDataLayout();
  for (AllocaInst *Array : Arrays) {
    uint64_t Count = Array->getAllocationSize(DL)->getFixedValue() / 4 + 1;
    IRBuilder<> B(Array->getNextNode());
    Slots[Array] = B.CreateAlloca(I64, B.getInt64(Count), "products");
    B.CreateMemSet(Slots[Array], B.getInt8(0), Count * 8, Align(8));
  }
  SmallVector<StoreInst *> Stores;
  for (Instruction &I : instructions(F)) {
    if (auto *Store = dyn_cast<StoreInst>(&I))
      Stores.push_back(Store);
    auto *Load = dyn_cast<LoadInst>(&I);
    AllocaInst *Array = Load ? arrayOf(Load->getPointerOperand()) : nullptr;
    if (!Array || !Arrays.contains(Array))
      continue;
    IRBuilder<> B(Load);
    Numbers[Load] =
        B.CreateLoad(I64, slot(B, Load->getPointerOperand(), *Array));
  }
  for (StoreInst *Store : Stores) {
    AllocaInst *Array = arrayOf(Store->getPointerOperand());
    if (!Array || !Arrays.contains(Array))
      continue;
    Value *Number = numberOf(Store->getValueOperand());
    IRBuilder<> B(Store);
    Value *First = slot(B, Store->getPointerOperand(), *Array);
    uint64_t Size = DL.getTypeStoreSize(Store->getValueOperand()->getType());
    for (uint64_t K = 0; K < std::max<uint64_t>(Size / 4, 1); ++K)
      B.CreateStore(Number, B.CreateConstGEP1_64(I64, First, K));
  }
}

void AccumulatorGuard::ask(StringRef Name, Instruction &Before, Value *Number) {
  IRBuilder<> B(&Before);
  FunctionCallee Callee = F.getParent()->getOrInsertFunction(
      Name, B.getVoidTy(), B.getPtrTy(), I64, B.getInt32Ty());
  B.CreateCall(Callee, {F.getArg(0), Number,
                        B.getInt32(addPlace(Tables, Before.getDebugLoc()))});
}

void AccumulatorGuard::guardUse(Instruction &User, Value *Accumulator) {
  // What has been waited for once is done for good.
  Value *Number = numberOf(Accumulator);
  if (Asked.insert({User.getParent(), Number}).second)
    ask("cupilot_rt_wgmma_use", User, Number);
}

/// The registers of a product: the accumulators, and A when it has five
/// operands more than are in shared memory.
void AccumulatorGuard::guardOperands(CallInst &Call) {
  unsigned Accumulators = cast<ArrayType>(Call.getType())->getNumElements();
  SmallSetVector<Value *, 4> Different;
  for (unsigned I = 0; I < Accumulators; ++I)
    Different.insert(numberOf(Call.getArgOperand(1 + I)));
  for (Value *Number : Different)
    ask("cupilot_rt_wgmma_operand", Call, Number);
}

void AccumulatorGuard::run() {
  SmallVector<CallInst *> Products;
  for (Instruction &I : instructions(F))
    if (isProduct(I))
      Products.push_back(cast<CallInst>(&I));
  if (Products.empty())
    return;
  FunctionCallee Number = F.getParent()->getOrInsertFunction(
      "cupilot_rt_wgmma_number", I64, PointerType::get(F.getContext(), 0));
  for (CallInst *Call : Products) {
    IRBuilder<> B(Call->getNextNode());
    Numbers[Call] = B.CreateCall(Number, {F.getArg(0)});
    Held.insert(Call);
  }
  findHeld();
  // In the order of the code, so that the first of a basic block is asked.
  SmallVector<std::pair<Instruction *, Value *>> Uses;
  for (Instruction &I : instructions(F))
    for (Use &U : I.operands()) {
      auto *From = dyn_cast<Instruction>(U.get());
      if (!From || !Held.contains(From) || moves(U))
        continue;
      if (isProduct(I) &&
          U.getOperandNo() <= cast<ArrayType>(I.getType())->getNumElements())
        continue;
      if (auto *Store = dyn_cast<StoreInst>(&I);
          Store && arrayOf(Store->getPointerOperand()))
        continue;
      Uses.push_back({&I, From});
    }
  followArrays();
  for (auto [User, From] : Uses)
    guardUse(*User, From);
  for (CallInst *Call : Products)
    guardOperands(*Call);
}

void guardAccumulators(Function &F, LoweredModule &Tables) {
  AccumulatorGuard(F, Tables).run();
}

} // namespace cupilot
