//===- Widen.cpp - Narrow floats computed in float64 -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The yardstick of the precision contract. Every value narrower than float64
// gets a float64 twin; what has no twin (a call that is not known) is rounded
// there and widened again. Memory keeps its types, so that buffers, addresses
// and aliasing are those of the original; what was stored is remembered beside
// it unrounded (WideMemory.h).
//
//===----------------------------------------------------------------------===//

#include "Widen.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace cupilot {

bool Widener::isNarrow(Type *T) {
  Type *Scalar = T->getScalarType();
  return (Scalar->isFloatTy() || Scalar->isHalfTy() || Scalar->isBFloatTy()) &&
         !isa<ScalableVectorType>(T);
}

Type *Widener::wideType(Type *T) {
  Type *Wide = Type::getDoubleTy(T->getContext());
  if (auto *V = dyn_cast<FixedVectorType>(T))
    return FixedVectorType::get(Wide, V->getNumElements());
  return Wide;
}

Value *Widener::wide(Value *V, Instruction *User) {
  if (auto It = Twins.find(V); It != Twins.end())
    return It->second;
  if (auto *C = dyn_cast<Constant>(V))
    if (Constant *Folded = ConstantFoldCastInstruction(Instruction::FPExt, C,
                                                       wideType(V->getType())))
      return Folded;
  // Not computed here: an argument, an unknown call.
  IRBuilder<> B(User);
  if (auto *Def = dyn_cast<Instruction>(V)) {
    if (isa<PHINode>(Def))
      B.SetInsertPoint(Def->getParent(),
                       Def->getParent()->getFirstInsertionPt());
    else if (auto Next = Def->getInsertionPointAfterDef())
      B.SetInsertPoint(*Next);
  } else {
    B.SetInsertPoint(&F.getEntryBlock(),
                     F.getEntryBlock().getFirstInsertionPt());
  }
  return Twins[V] = B.CreateFPExt(V, wideType(V->getType()), "wide");
}

Value *Widener::widenCall(CallInst &Call, IRBuilder<> &B) {
  Intrinsic::ID Id = Call.getIntrinsicID();
  auto Arg = [&](unsigned I) { return wide(Call.getArgOperand(I), &Call); };
  Type *Wide = wideType(Call.getType());
  switch (Id) {
  case Intrinsic::fma:
  case Intrinsic::fmuladd:
    return B.CreateIntrinsic(Intrinsic::fma, {Wide}, {Arg(0), Arg(1), Arg(2)});
  case Intrinsic::fabs:
  case Intrinsic::sqrt:
  case Intrinsic::floor:
  case Intrinsic::ceil:
  case Intrinsic::trunc:
  case Intrinsic::rint:
  case Intrinsic::nearbyint:
  case Intrinsic::round:
  case Intrinsic::roundeven:
    return B.CreateIntrinsic(Id, {Wide}, {Arg(0)});
  case Intrinsic::minnum:
  case Intrinsic::maxnum:
  case Intrinsic::minimum:
  case Intrinsic::maximum:
  case Intrinsic::copysign:
    return B.CreateIntrinsic(Id, {Wide}, {Arg(0), Arg(1)});
  default:
    break;
  }
  Function *Callee = Call.getCalledFunction();
  StringRef Name = Callee ? Callee->getName() : StringRef();
  if (!Name.consume_front("llvm.nvvm.") || !isNarrow(Call.getType()))
    return nullptr;
  auto Is = [&](StringRef Prefix) { return Name.starts_with(Prefix); };
  Type *D = Wide;
  if (Is("fma.r") && Call.arg_size() == 3)
    return B.CreateIntrinsic(Intrinsic::fma, {D}, {Arg(0), Arg(1), Arg(2)});
  if (Is("add.r"))
    return B.CreateFAdd(Arg(0), Arg(1));
  if (Is("mul.r"))
    return B.CreateFMul(Arg(0), Arg(1));
  if (Is("div."))
    return B.CreateFDiv(Arg(0), Arg(1));
  if (Is("rcp."))
    return B.CreateFDiv(ConstantFP::get(D, 1.0), Arg(0));
  if (Is("sqrt."))
    return B.CreateIntrinsic(Intrinsic::sqrt, {D}, {Arg(0)});
  if (Is("rsqrt."))
    return B.CreateFDiv(ConstantFP::get(D, 1.0),
                        B.CreateIntrinsic(Intrinsic::sqrt, {D}, {Arg(0)}));
  if (Is("fabs."))
    return B.CreateIntrinsic(Intrinsic::fabs, {D}, {Arg(0)});
  if (Is("fmax.") && !Name.contains("nan"))
    return B.CreateIntrinsic(Intrinsic::maxnum, {D}, {Arg(0), Arg(1)});
  if (Is("fmin.") && !Name.contains("nan"))
    return B.CreateIntrinsic(Intrinsic::minnum, {D}, {Arg(0), Arg(1)});
  if (Is("floor."))
    return B.CreateIntrinsic(Intrinsic::floor, {D}, {Arg(0)});
  if (Is("ceil."))
    return B.CreateIntrinsic(Intrinsic::ceil, {D}, {Arg(0)});
  if (Is("trunc."))
    return B.CreateIntrinsic(Intrinsic::trunc, {D}, {Arg(0)});
  if (Is("saturate."))
    return B.CreateIntrinsic(
        Intrinsic::minnum, {D},
        {B.CreateIntrinsic(Intrinsic::maxnum, {D},
                           {Arg(0), ConstantFP::get(D, 0.0)}),
         ConstantFP::get(D, 1.0)});
  if (Is("ex2.approx"))
    return B.CreateIntrinsic(Intrinsic::exp2, {D}, {Arg(0)});
  if (Is("lg2.approx"))
    return B.CreateIntrinsic(Intrinsic::log2, {D}, {Arg(0)});
  if (Is("sin.approx"))
    return B.CreateIntrinsic(Intrinsic::sin, {D}, {Arg(0)});
  if (Is("cos.approx"))
    return B.CreateIntrinsic(Intrinsic::cos, {D}, {Arg(0)});
  return nullptr;
}

/// Memory and slot change together, in the run time; the load before it is
/// there to be checked.
Value *Widener::widenAtomic(AtomicRMWInst &RMW, IRBuilder<> &B) {
  switch (RMW.getOperation()) {
  case AtomicRMWInst::FAdd:
  case AtomicRMWInst::FSub:
  case AtomicRMWInst::FMax:
  case AtomicRMWInst::FMin:
  case AtomicRMWInst::Xchg:
    break;
  default:
    return nullptr;
  }
  if (!RMW.getType()->isFloatTy())
    return nullptr;
  Value *Pointer = RMW.getPointerOperand();
  LoadInst *Probe = B.CreateAlignedLoad(RMW.getType(), Pointer, RMW.getAlign());
  Probe->setAtomic(AtomicOrdering::Monotonic);
  Value *Operand = wide(RMW.getValOperand(), &RMW);
  return runtime(B, "cupilot_rt_wide_atomic", B.getDoubleTy(),
                 {Pointer, B.getInt32(RMW.getOperation()), Operand});
}

Value *Widener::widen(Instruction &I) {
  IRBuilder<> B(&I);
  Type *Wide = wideType(I.getType());
  switch (I.getOpcode()) {
  case Instruction::FAdd:
  case Instruction::FSub:
  case Instruction::FMul:
  case Instruction::FDiv:
  case Instruction::FRem:
    return B.CreateBinOp(static_cast<Instruction::BinaryOps>(I.getOpcode()),
                         wide(I.getOperand(0), &I), wide(I.getOperand(1), &I));
  case Instruction::FNeg:
    return B.CreateFNeg(wide(I.getOperand(0), &I));
  case Instruction::Freeze:
    return B.CreateFreeze(wide(I.getOperand(0), &I));
  case Instruction::Select:
    return B.CreateSelect(I.getOperand(0), wide(I.getOperand(1), &I),
                          wide(I.getOperand(2), &I));
  case Instruction::SIToFP:
    return B.CreateSIToFP(I.getOperand(0), Wide);
  case Instruction::UIToFP:
    return B.CreateUIToFP(I.getOperand(0), Wide);
  case Instruction::FPTrunc:
  case Instruction::FPExt: {
    // Rounding to a narrower type is what this pass takes away.
    Value *From = I.getOperand(0);
    if (isNarrow(From->getType()))
      return wide(From, &I);
    return From->getType() == Wide ? From : nullptr;
  }
  case Instruction::ExtractElement:
    return B.CreateExtractElement(wide(I.getOperand(0), &I), I.getOperand(1));
  case Instruction::InsertElement:
    return B.CreateInsertElement(wide(I.getOperand(0), &I),
                                 wide(I.getOperand(1), &I), I.getOperand(2));
  case Instruction::ShuffleVector:
    return B.CreateShuffleVector(wide(I.getOperand(0), &I),
                                 wide(I.getOperand(1), &I),
                                 cast<ShuffleVectorInst>(I).getShuffleMask());
  case Instruction::Load:
  case Instruction::BitCast:
    return fromReinterpreted(I);
  case Instruction::AtomicRMW:
    return widenAtomic(cast<AtomicRMWInst>(I), B);
  case Instruction::Call:
    if (Value *Shuffled = fromShuffle(cast<CallInst>(I), I.getType(), 0))
      return Shuffled;
    return widenCall(cast<CallInst>(I), B);
  default:
    return nullptr;
  }
}

/// Comparisons and conversions look at the unrounded value.
void Widener::widenUser(Instruction &I) {
  IRBuilder<> B(&I);
  Type *From =
      I.getNumOperands() > 0 ? I.getOperand(0)->getType() : I.getType();
  if (auto *Store = dyn_cast<StoreInst>(&I)) {
    remember(*Store);
  } else if (auto *Move = dyn_cast<AnyMemTransferInst>(&I)) {
    B.SetInsertPoint(Move->getNextNode());
    runtime(B, "cupilot_rt_wide_copy", B.getVoidTy(),
            {Move->getRawDest(), Move->getRawSource(),
             B.CreateZExtOrTrunc(Move->getLength(), B.getInt64Ty())});
  } else if (auto *Cmp = dyn_cast<FCmpInst>(&I); Cmp && isNarrow(From)) {
    Cmp->replaceAllUsesWith(B.CreateFCmp(Cmp->getPredicate(),
                                         wide(Cmp->getOperand(0), &I),
                                         wide(Cmp->getOperand(1), &I)));
  } else if (isa<FPExtInst>(I) && isNarrow(From) &&
             wideType(From) == I.getType()) {
    Value *Twin = wide(I.getOperand(0), &I);
    if (Twin != &I)
      I.replaceAllUsesWith(Twin);
    for (auto &Entry : Twins) // What stood for the replaced instruction.
      if (Entry.second == &I)
        Entry.second = Twin;
  } else if ((isa<FPToSIInst>(I) || isa<FPToUIInst>(I)) && isNarrow(From)) {
    I.replaceAllUsesWith(B.CreateCast(cast<CastInst>(I).getOpcode(),
                                      wide(I.getOperand(0), &I), I.getType()));
  }
}

void Widener::finishPhis() {
  for (PHINode *Phi : Phis) {
    auto *Twin = cast<PHINode>(Twins[Phi]);
    for (unsigned I = 0; I < Phi->getNumIncomingValues(); ++I) {
      BasicBlock *From = Phi->getIncomingBlock(I);
      Twin->addIncoming(wide(Phi->getIncomingValue(I), From->getTerminator()),
                        From);
    }
  }
}

/// Uses that need the narrow type round the twin once, where it is used.
void Widener::roundUses() {
  SmallVector<std::pair<Value *, Value *>> All(Twins.begin(), Twins.end());
  for (auto [Narrow, Twin] : All) {
    auto *I = dyn_cast<Instruction>(Narrow);
    if (!I || isa<LoadInst>(I) || isa<BitCastInst>(I))
      continue;
    if (auto *Ext = dyn_cast<FPExtInst>(Twin);
        Ext && Ext->getOperand(0) == Narrow)
      continue; // The twin is made from it.
    SmallVector<Use *> Uses;
    for (Use &U : I->uses())
      Uses.push_back(&U);
    for (Use *U : Uses) {
      auto *User = cast<Instruction>(U->getUser());
      bool Rounds = isa<StoreInst>(User) || isa<BitCastInst>(User) ||
                    isa<CallBase>(User) || isa<AtomicRMWInst>(User) ||
                    isa<InsertValueInst>(User) || isa<ReturnInst>(User);
      if (!Rounds)
        continue;
      IRBuilder<> B(User);
      U->set(B.CreateFPTrunc(Twin, Narrow->getType()));
    }
    if (isa<AtomicRMWInst>(I) && I->use_empty())
      I->eraseFromParent(); // The run time has done it.
  }
}

void Widener::run() {
  // Definitions before uses, except around loops: phis get empty twins first.
  SmallVector<Instruction *> Work;
  for (BasicBlock *BB : ReversePostOrderTraversal<Function *>(&F))
    for (Instruction &I : *BB)
      Work.push_back(&I);
  for (Instruction *I : Work)
    if (auto *Phi = dyn_cast<PHINode>(I); Phi && isNarrow(Phi->getType())) {
      IRBuilder<> B(Phi);
      Twins[Phi] = B.CreatePHI(wideType(Phi->getType()),
                               Phi->getNumIncomingValues(), "wide");
      Phis.push_back(Phi);
    }
  for (Instruction *I : Work) {
    if (!isNarrow(I->getType()))
      widenUser(*I);
    else if (!isa<PHINode>(I) && !Twins.count(I))
      if (Value *Twin = widen(*I))
        Twins[I] = Twin;
  }
  finishPhis();
  roundUses();
}

void widenFloats(Function &F) { Widener(F).run(); }

} // namespace cupilot
