//===- CanonicalNans.cpp - The bits of NaN that a GPU computes -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A GPU's arithmetic in float, half and bfloat16 gives one NaN, all of whose
// bits but the sign are set (PTX ISA, "Floating-Point Comparisons" and "add": a
// canonical NaN, 0x7fffffff). The host's has another sign and payload, and
// takes those of its operands. Nothing but the bits tells, so what was computed
// gets the GPU's NaN where its bits are looked at: where it is stored, and
// where it becomes an integer. What is only copied keeps its bits, and so does
// a float64 that becomes a float. NaN in float64 are the host's.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace cupilot {

static bool hasCanonicalNan(const Type *T) {
  const Type *S = T->getScalarType();
  return (S->isFloatTy() || S->isHalfTy() || S->isBFloatTy()) &&
         !isa<ScalableVectorType>(T);
}

namespace {
/// Where the bits of a value come from.
enum class Origin {
  Moved,    ///< Chosen among others, or made of their elements.
  Computed, ///< Arithmetic.
  Copied,   ///< From memory or integers: any bits.
  Plain     ///< Never a NaN that was computed.
};

class CanonicalNans {
public:
  explicit CanonicalNans(Function &F) : F(F) {}
  void run();

private:
  Value *canonical(Value *V);
  Value *after(Instruction &I);

  Function &F;
  DenseMap<Value *, Value *> Done;
};
} // namespace

static Origin originOf(const Value *V) {
  if (isa<Constant>(V) || isa<SIToFPInst, UIToFPInst>(V))
    return Origin::Plain;
  if (isa<PHINode, SelectInst, InsertElementInst, ExtractElementInst,
          ShuffleVectorInst, FreezeInst>(V))
    return Origin::Moved;
  if (const auto *Trunc = dyn_cast<FPTruncInst>(V);
      Trunc && Trunc->getSrcTy()->getScalarType()->isDoubleTy() &&
      Trunc->getType()->getScalarType()->isFloatTy())
    return Origin::Copied;
  if (isa<BinaryOperator, UnaryOperator, FPTruncInst, FPExtInst>(V))
    return Origin::Computed;
  // Intrinsics and mathematics; an exchange between lanes is of integers.
  if (const auto *Call = dyn_cast<CallInst>(V))
    return Call->getIntrinsicID() == Intrinsic::copysign ? Origin::Copied
                                                         : Origin::Computed;
  return Origin::Copied;
}

/// \p I with the GPU's NaN, right behind it.
Value *CanonicalNans::after(Instruction &I) {
  Value *&Result = Done[&I];
  if (Result)
    return Result;
  std::optional<BasicBlock::iterator> At = I.getInsertionPointAfterDef();
  IRBuilder<> B(I.getParent(), *At);
  B.SetCurrentDebugLocation(I.getDebugLoc());
  Type *T = I.getType();
  const unsigned Bits = T->getScalarSizeInBits();
  const fltSemantics &Format = T->getScalarType()->getFltSemantics();
  Type *Word = T->getWithNewType(B.getIntNTy(Bits));
  APInt All = APInt::getSignedMaxValue(Bits);
  Value *Own = B.CreateBitCast(&I, Word);
  // By integers: of a comparison of floats the compiler may think that any NaN
  // is as good.
  Value *IsNan = B.CreateICmpUGT(
      B.CreateAnd(Own, ConstantInt::get(Word, All)),
      ConstantInt::get(Word, APFloat::getInf(Format).bitcastToAPInt()));
  Result = B.CreateBitCast(
      B.CreateSelect(IsNan, ConstantInt::get(Word, All), Own), T);
  return Result;
}

Value *CanonicalNans::canonical(Value *V) {
  // All that V may be.
  SetVector<Value *> From;
  From.insert(V);
  bool Computed = false, Copied = false;
  for (size_t K = 0; K < From.size(); ++K)
    switch (originOf(From[K])) {
    case Origin::Moved:
      for (Value *Operand : cast<Instruction>(From[K])->operands())
        if (hasCanonicalNan(Operand->getType()))
          From.insert(Operand);
      break;
    case Origin::Computed:
      Computed = true;
      break;
    case Origin::Copied:
      Copied = true;
      break;
    case Origin::Plain:
      break;
    }
  if (!Computed)
    return V;
  if (!Copied)
    return after(*cast<Instruction>(V));
  // Some of it keeps its bits: each part for itself.
  for (Value *Part : From.takeVector()) {
    if (originOf(Part) != Origin::Computed)
      continue;
    Value *New = after(*cast<Instruction>(Part));
    Part->replaceUsesWithIf(
        New, [](Use &U) { return originOf(U.getUser()) == Origin::Moved; });
  }
  return V;
}

void CanonicalNans::run() {
  SmallVector<Instruction *> Looks;
  for (Instruction &I : instructions(F)) {
    const Value *Of = nullptr;
    if (auto *Store = dyn_cast<StoreInst>(&I))
      Of = Store->getValueOperand();
    else if (isa<BitCastInst>(I) && I.getType()->isIntOrIntVectorTy())
      Of = I.getOperand(0);
    if (Of && hasCanonicalNan(Of->getType()) && isa<Instruction>(Of))
      Looks.push_back(&I);
  }
  // Operand 0 is what is stored.
  for (Instruction *I : Looks)
    I->setOperand(0, canonical(I->getOperand(0)));
}

void canonicalNans(Function &F) { CanonicalNans(F).run(); }

} // namespace cupilot
