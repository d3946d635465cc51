//===- Widen.cpp - float32 code computed in float64 -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The yardstick of the precision contract. Every float32 value of an entry gets
// a float64 twin; what has no twin (bit casts, calls that are not known) is
// rounded there and widened again. Memory keeps its types, so that buffers,
// addresses and aliasing are those of the original.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace cupilot {

namespace {
class Widener {
public:
  explicit Widener(Function &F) : F(F) {}
  void run();

private:
  static bool isFloat(Type *T) {
    return T->getScalarType()->isFloatTy() && !isa<ScalableVectorType>(T);
  }
  Type *wideType(Type *T) {
    Type *Wide = Type::getDoubleTy(T->getContext());
    if (auto *V = dyn_cast<FixedVectorType>(T))
      return FixedVectorType::get(Wide, V->getNumElements());
    return Wide;
  }
  /// The float64 value of \p V, for use before \p User.
  Value *wide(Value *V, Instruction *User);
  Value *widen(Instruction &I);
  Value *widenCall(CallInst &Call, IRBuilder<> &B);

  Function &F;
  DenseMap<Value *, Value *> Twins;
  SmallVector<PHINode *> Phis;
};
} // namespace

Value *Widener::wide(Value *V, Instruction *User) {
  if (auto It = Twins.find(V); It != Twins.end())
    return It->second;
  if (auto *C = dyn_cast<Constant>(V))
    if (Constant *Folded = ConstantFoldCastInstruction(Instruction::FPExt, C,
                                                       wideType(V->getType())))
      return Folded;
  // Not computed here: an argument, a load, a bit cast, an unknown call.
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
  if (!Name.consume_front("llvm.nvvm.") || !Call.getType()->isFloatTy())
    return nullptr;
  auto Is = [&](StringRef Prefix) { return Name.starts_with(Prefix); };
  Type *D = B.getDoubleTy();
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
  case Instruction::Select:
    return B.CreateSelect(I.getOperand(0), wide(I.getOperand(1), &I),
                          wide(I.getOperand(2), &I));
  case Instruction::SIToFP:
    return B.CreateSIToFP(I.getOperand(0), Wide);
  case Instruction::UIToFP:
    return B.CreateUIToFP(I.getOperand(0), Wide);
  case Instruction::FPTrunc:
    // Rounding to float32 is what this pass takes away.
    return I.getOperand(0)->getType() == Wide ? I.getOperand(0) : nullptr;
  case Instruction::ExtractElement:
    return B.CreateExtractElement(wide(I.getOperand(0), &I), I.getOperand(1));
  case Instruction::InsertElement:
    return B.CreateInsertElement(wide(I.getOperand(0), &I),
                                 wide(I.getOperand(1), &I), I.getOperand(2));
  case Instruction::ShuffleVector:
    return B.CreateShuffleVector(wide(I.getOperand(0), &I),
                                 wide(I.getOperand(1), &I),
                                 cast<ShuffleVectorInst>(I).getShuffleMask());
  case Instruction::Call:
    return widenCall(cast<CallInst>(I), B);
  default:
    return nullptr;
  }
}

void Widener::run() {
  // Definitions before uses, except around loops: phis get empty twins first.
  SmallVector<Instruction *> Work;
  for (BasicBlock *BB : ReversePostOrderTraversal<Function *>(&F))
    for (Instruction &I : *BB)
      Work.push_back(&I);
  for (Instruction *I : Work)
    if (auto *Phi = dyn_cast<PHINode>(I); Phi && isFloat(Phi->getType())) {
      IRBuilder<> B(Phi);
      Twins[Phi] = B.CreatePHI(wideType(Phi->getType()),
                               Phi->getNumIncomingValues(), "wide");
      Phis.push_back(Phi);
    }
  for (Instruction *I : Work) {
    if (isFloat(I->getType()) && !isa<PHINode>(I)) {
      if (Value *Twin = widen(*I))
        Twins[I] = Twin;
      continue;
    }
    IRBuilder<> B(I);
    // Comparisons and conversions look at the unrounded value.
    if (auto *Cmp = dyn_cast<FCmpInst>(I);
        Cmp && isFloat(Cmp->getOperand(0)->getType())) {
      Value *New =
          B.CreateFCmp(Cmp->getPredicate(), wide(Cmp->getOperand(0), I),
                       wide(Cmp->getOperand(1), I));
      Cmp->replaceAllUsesWith(New);
    } else if (isa<FPExtInst>(I) && isFloat(I->getOperand(0)->getType()) &&
               wideType(I->getOperand(0)->getType()) == I->getType()) {
      Value *Twin = wide(I->getOperand(0), I);
      if (Twin != I)
        I->replaceAllUsesWith(Twin);
      for (auto &Entry : Twins) // What stood for the replaced instruction.
        if (Entry.second == I)
          Entry.second = Twin;
    } else if ((isa<FPToSIInst>(I) || isa<FPToUIInst>(I)) &&
               isFloat(I->getOperand(0)->getType())) {
      I->replaceAllUsesWith(B.CreateCast(cast<CastInst>(I)->getOpcode(),
                                         wide(I->getOperand(0), I),
                                         I->getType()));
    }
  }
  for (PHINode *Phi : Phis) {
    auto *Twin = cast<PHINode>(Twins[Phi]);
    for (unsigned I = 0; I < Phi->getNumIncomingValues(); ++I) {
      BasicBlock *From = Phi->getIncomingBlock(I);
      Twin->addIncoming(wide(Phi->getIncomingValue(I), From->getTerminator()),
                        From);
    }
  }
  // Uses that need float32 round the twin once, where it is used.
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
  }
}

void widenFloats(Function &F) { Widener(F).run(); }

} // namespace cupilot
