//===- RoundProducts.cpp - Products of shorter mantissas -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a relaxed contract allows: a kernel that computes in float64, but for
// the operands of products, which have the mantissa that the contract grants.
// Where that makes no difference, all that a variant has beyond it is its own
// fault. What is the same for all threads (a constant, an argument) stays as it
// is: rounding it once would shift all results to one side.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace cupilot {

void addRoundingSeed(Module &M) {
  Type *I64 = Type::getInt64Ty(M.getContext());
  auto *Seed = new GlobalVariable(M, I64, /*isConstant=*/false,
                                  GlobalValue::ExternalLinkage,
                                  ConstantInt::get(I64, 0), RoundingSeedName);
  Seed->setExternallyInitialized(true);
}

Value *loadRoundingSeed(Function &F) {
  IRBuilder<> B(&F.getEntryBlock(), F.getEntryBlock().getFirstInsertionPt());
  return B.CreateLoad(B.getInt64Ty(),
                      F.getParent()->getGlobalVariable(RoundingSeedName));
}

void replaceByMade(Instruction &I, function_ref<Value *(IRBuilder<> &)> Make) {
  auto Next = I.getInsertionPointAfterDef();
  if (!Next)
    return;
  SmallVector<Use *> Uses;
  for (Use &U : I.uses())
    Uses.push_back(&U);
  IRBuilder<> B(I.getParent(), *Next);
  Value *Made = Make(B);
  for (Use *U : Uses)
    U->set(Made);
}

/// The multipliers and shifts of splitmix64 (Steele, Lea and Flood, 2014).
Value *mixedBits(IRBuilderBase &B, Value *Bits) {
  auto Number = [&](uint64_t N) {
    return ConstantInt::get(Bits->getType(), N);
  };
  Value *Hash = Bits;
  for (uint64_t Factor : {0xbf58476d1ce4e5b9, 0x94d049bb133111eb}) {
    Hash = B.CreateXor(Hash, B.CreateLShr(Hash, Number(30)));
    Hash = B.CreateMul(Hash, Number(Factor));
  }
  return B.CreateXor(Hash, B.CreateLShr(Hash, Number(31)));
}

namespace {
class Rounder {
public:
  Rounder(Function &F, unsigned Bits) : F(F), Dropped(52 - Bits) {}
  void run();

private:
  bool isUniform(Value *V, unsigned Depth = 0);
  Value *rounded(IRBuilder<> &B, Value *V);
  void roundOperands(Instruction &I, unsigned Count);
  void roundResult(Instruction &I);

  Function &F;
  unsigned Dropped; ///< Bits of a double's mantissa that are lost.
  Value *Seed = nullptr;
};
} // namespace

/// Whether \p V follows from constants and the launch's arguments alone. The
/// last parameter of an entry points at these.
bool Rounder::isUniform(Value *V, unsigned Depth) {
  constexpr unsigned MostDepth = 8;
  if (isa<Constant>(V))
    return true;
  auto *I = dyn_cast<Instruction>(V);
  if (!I || Depth > MostDepth)
    return false;
  auto IsArgument = [&](Value *Place) {
    return getUnderlyingObject(Place) == F.getArg(F.arg_size() - 1);
  };
  if (auto *Load = dyn_cast<LoadInst>(I))
    return IsArgument(Load->getPointerOperand());
  if (auto *Call = dyn_cast<CallInst>(I)) {
    Function *Callee = Call->getCalledFunction();
    return Callee && Callee->getName() == "cupilot_rt_wide_load" &&
           IsArgument(Call->getArgOperand(1));
  }
  if (!isa<CastInst, BinaryOperator, UnaryOperator>(I))
    return false;
  return all_of(I->operands(),
                [&](Value *Of) { return isUniform(Of, Depth + 1); });
}

/// \p V to the next number of the shorter mantissa. The sign stands apart, so
/// that one bit pattern is added to the magnitude and the rest is cut off.
Value *Rounder::rounded(IRBuilder<> &B, Value *V) {
  Type *Bits = V->getType()->getWithNewType(B.getInt64Ty());
  auto Number = [&](uint64_t N) { return ConstantInt::get(Bits, N); };
  const uint64_t Low = (uint64_t(1) << Dropped) - 1;
  Value *Whole = B.CreateBitCast(V, Bits);
  Value *Coin = Seed;
  if (auto *Vector = dyn_cast<FixedVectorType>(V->getType()))
    Coin = B.CreateVectorSplat(Vector->getElementCount(), Coin);
  Value *Hash = B.CreateLShr(mixedBits(B, B.CreateXor(Whole, Coin)),
                             Number(64 - Dropped));
  Value *Added = B.CreateSelect(B.CreateICmpEQ(Coin, Number(0)),
                                Number(uint64_t(1) << (Dropped - 1)), Hash);
  Value *Shorter = B.CreateBitCast(
      B.CreateAnd(B.CreateAdd(Whole, Added), Number(~Low)), V->getType());
  Value *Size = B.CreateUnaryIntrinsic(Intrinsic::fabs, V);
  Value *Finite = B.CreateFCmpOLT(Size, ConstantFP::getInfinity(V->getType()));
  return B.CreateSelect(Finite, Shorter, V, "rounded");
}

void Rounder::roundOperands(Instruction &I, unsigned Count) {
  IRBuilder<> B(&I);
  for (unsigned Operand = 0; Operand < Count; ++Operand)
    if (Value *V = I.getOperand(Operand); !isUniform(V))
      I.setOperand(Operand, rounded(B, V));
}

void Rounder::roundResult(Instruction &I) {
  if (!isUniform(&I))
    replaceByMade(I, [&](IRBuilder<> &B) { return rounded(B, &I); });
}

void Rounder::run() {
  SmallVector<Instruction *> Work;
  for (Instruction &I : instructions(F))
    if (I.getType()->getScalarType()->isDoubleTy() &&
        !isa<ScalableVectorType>(I.getType()))
      Work.push_back(&I);
  if (Work.empty())
    return;
  Seed = loadRoundingSeed(F);
  for (Instruction *I : Work) {
    if (I->getOpcode() == Instruction::FMul) {
      roundOperands(*I, 2);
    } else if (I->getOpcode() == Instruction::FDiv) {
      roundResult(*I);
    } else if (auto *Call = dyn_cast<CallInst>(I)) {
      Function *Callee = Call->getCalledFunction();
      switch (Call->getIntrinsicID()) {
      case Intrinsic::fma:
      case Intrinsic::fmuladd:
        roundOperands(*I, 2);
        break;
      case Intrinsic::sqrt:
      case Intrinsic::exp2:
      case Intrinsic::log2:
      case Intrinsic::sin:
      case Intrinsic::cos:
        roundResult(*I);
        break;
      case Intrinsic::not_intrinsic:
        // The host's mathematics.
        if (Callee && Callee->isDeclaration() &&
            !Callee->getName().contains("cupilot"))
          roundResult(*I);
        break;
      default:
        break;
      }
    }
  }
}

void roundProducts(Function &F, unsigned Bits) { Rounder(F, Bits).run(); }

} // namespace cupilot
