//===- RandomRounding.cpp - Sums and products in double, at random -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a kernel that computes in double is off by itself: nothing here is wider
// than that. So results that are not exact are rounded up or down by a coin, up
// with the probability that makes the mean exact (stochastic rounding; Parker,
// Monte Carlo Arithmetic, 1997). Each such run is one that a correct order of
// roundings could have given, and how far runs lie apart is how far the
// original is off. Exact results stay, so that sums of integers are exact.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "NvvmFloats.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace cupilot {

namespace {
class RandomRounder {
public:
  explicit RandomRounder(Function &F) : F(F) {}
  void run();

private:
  /// What \p I lost by rounding, but for the last bits of that; null where
  /// nobody knows: then it is as if it had been half a unit.
  static Value *lostBy(IRBuilder<> &B, Instruction &I);
  Value *rounded(IRBuilder<> &B, Value *V, Value *Lost) const;

  Function &F;
  Value *Seed = nullptr;
};
} // namespace

/// Whether a function of the host gives exact results.
static bool isExact(const Function &Callee) {
  TargetLibraryInfo Library(hostLibrary());
  LibFunc Which;
  if (!Library.getLibFunc(Callee, Which))
    return false;
  switch (Which) {
  case LibFunc_fabs:
  case LibFunc_ceil:
  case LibFunc_floor:
  case LibFunc_trunc:
  case LibFunc_rint:
  case LibFunc_nearbyint:
  case LibFunc_round:
  case LibFunc_roundeven:
  case LibFunc_fmin:
  case LibFunc_fmax:
  case LibFunc_copysign:
  case LibFunc_fmod:
  case LibFunc_remainder:
  case LibFunc_ldexp:
  case LibFunc_frexp:
  case LibFunc_logb:
  case LibFunc_nextafter:
  case LibFunc_modf:
    return true;
  default:
    return false;
  }
}

/// What \p I computes, if how much it loses by rounding to nearest follows from
/// operands and result.
static std::optional<FloatOp> operationOf(const Instruction &I) {
  switch (I.getOpcode()) {
  case Instruction::FAdd:
  case Instruction::FSub:
    return FloatOp::Add;
  case Instruction::FMul:
    return FloatOp::Mul;
  case Instruction::FDiv:
    return FloatOp::Div;
  default:
    break;
  }
  const auto *Call = dyn_cast<CallInst>(&I);
  if (!Call)
    return std::nullopt;
  switch (Call->getIntrinsicID()) {
  case Intrinsic::fma:
  case Intrinsic::fmuladd:
    return FloatOp::Fma;
  case Intrinsic::sqrt:
    return FloatOp::Sqrt;
  default:
    break;
  }
  const std::optional<FloatForm> Form = floatFormOf(Call->getIntrinsicID());
  if (!Form || Form->Mode != Rounding::Nearest ||
      Form->has(FloatForm::Approx | FloatForm::Full))
    return std::nullopt;
  switch (Form->Op) {
  case FloatOp::Add:
  case FloatOp::Mul:
  case FloatOp::Fma:
  case FloatOp::Div:
  case FloatOp::Rcp:
  case FloatOp::Sqrt:
    return Form->Op;
  default:
    return std::nullopt;
  }
}

/// Whether \p I computes a number that it has to round.
static bool rounds(const Instruction &I) {
  if (!I.getType()->getScalarType()->isDoubleTy() ||
      isa<ScalableVectorType>(I.getType()))
    return false;
  if (operationOf(I))
    return true;
  const auto *Call = dyn_cast<CallInst>(&I);
  if (!Call)
    return false;
  switch (Call->getIntrinsicID()) {
  case Intrinsic::exp2:
  case Intrinsic::log2:
  case Intrinsic::sin:
  case Intrinsic::cos:
    return true;
  default:
    return Call->getCalledFunction() &&
           isOfHostLibrary(*Call->getCalledFunction()) &&
           !isExact(*Call->getCalledFunction());
  }
}

static Value *fusedOf(IRBuilder<> &B, Value *X, Value *Y, Value *Z) {
  return B.CreateIntrinsic(Intrinsic::fma, {X->getType()}, {X, Y, Z});
}

/// What \p Sum, of \p X and \p Y, lacks (Knuth's TwoSum).
static Value *lostBySum(IRBuilder<> &B, Value *X, Value *Y, Value *Sum) {
  Value *OfY = B.CreateFSub(Sum, X);
  return B.CreateFAdd(B.CreateFSub(X, B.CreateFSub(Sum, OfY)),
                      B.CreateFSub(Y, OfY));
}

Value *RandomRounder::lostBy(IRBuilder<> &B, Instruction &I) {
  const std::optional<FloatOp> Op = operationOf(I);
  if (!Op)
    return nullptr;
  Value *X = I.getOperand(0), *Y = I.getNumOperands() > 1 ? I.getOperand(1) : X;
  switch (*Op) {
  case FloatOp::Add:
    if (I.getOpcode() == Instruction::FSub)
      Y = B.CreateFNeg(Y);
    return lostBySum(B, X, Y, &I);
  case FloatOp::Mul:
    return fusedOf(B, X, Y, B.CreateFNeg(&I));
  case FloatOp::Div:
    return B.CreateFDiv(fusedOf(B, B.CreateFNeg(&I), Y, X), Y);
  case FloatOp::Rcp:
    return B.CreateFDiv(
        fusedOf(B, B.CreateFNeg(&I), X, ConstantFP::get(I.getType(), 1)), X);
  case FloatOp::Sqrt:
    return B.CreateFDiv(fusedOf(B, B.CreateFNeg(&I), &I, X),
                        B.CreateFAdd(&I, &I));
  default:
    break;
  }
  Value *Product = B.CreateFMul(X, Y), *Z = I.getOperand(2);
  Value *OfProduct = fusedOf(B, X, Y, B.CreateFNeg(Product));
  Value *Sum = B.CreateFAdd(Product, Z);
  return B.CreateFAdd(B.CreateFSub(Sum, &I),
                      B.CreateFAdd(lostBySum(B, Product, Z, Sum), OfProduct));
}

/// \p V, or its neighbour on the side of what it lost.
Value *RandomRounder::rounded(IRBuilder<> &B, Value *V, Value *Lost) const {
  Type *T = V->getType();
  Type *Bits = T->getWithNewType(B.getInt64Ty());
  auto Number = [&](uint64_t N) { return ConstantInt::get(Bits, N); };
  auto Real = [&](double N) { return ConstantFP::get(T, N); };
  Value *Whole = B.CreateBitCast(V, Bits), *Coin = Seed;
  if (auto *Vector = dyn_cast<FixedVectorType>(T))
    Coin = B.CreateVectorSplat(Vector->getElementCount(), Coin);
  Value *From = B.CreateXor(Whole, Coin);
  if (Lost)
    From = B.CreateAdd(From, B.CreateMul(B.CreateBitCast(Lost, Bits),
                                         Number(0x9e3779b97f4a7c15)));
  Value *Hash = mixedBits(B, From);
  constexpr unsigned Kept = 53;
  Value *Chance = B.CreateFMul(
      B.CreateUIToFP(B.CreateLShr(Hash, Number(64 - Kept)), T), Real(0x1p-53));
  // A magnitude is one bit pattern above the next smaller one.
  Value *IsNegative = B.CreateICmpSLT(Whole, Number(0));
  Value *GoesDown =
      Lost ? B.CreateFCmpOLT(Lost, Real(0))
           : B.CreateTrunc(Hash, Bits->getWithNewType(B.getInt1Ty()));
  Value *Next = B.CreateBitCast(
      B.CreateAdd(Whole, B.CreateSelect(B.CreateXor(IsNegative, GoesDown),
                                        Number(~uint64_t(0)), Number(1))),
      T);
  auto Size = [&](Value *Of) {
    return B.CreateUnaryIntrinsic(Intrinsic::fabs, Of);
  };
  Value *Gap = Size(B.CreateFSub(Next, V));
  Value *Share = Lost ? Size(Lost) : B.CreateFMul(Gap, Real(0.5));
  Value *Turns = B.CreateFCmpOLT(B.CreateFMul(Chance, Gap), Share);
  // Zeros, denormals, infinities and NaN stay.
  Value *Normal = B.CreateAnd(B.CreateFCmpOGT(Size(V), Real(0x1p-1000)),
                              B.CreateFCmpOLT(Size(V), Real(0x1p+1000)));
  return B.CreateSelect(B.CreateAnd(Turns, Normal), Next, V, "rounded");
}

void RandomRounder::run() {
  SmallVector<Instruction *> Work;
  for (Instruction &I : instructions(F))
    if (rounds(I))
      Work.push_back(&I);
  if (Work.empty())
    return;
  Seed = loadRoundingSeed(F);
  for (Instruction *I : Work)
    replaceByMade(*I, [&](IRBuilder<> &B) {
      // What was lost is read off the numbers as they are.
      I->setFast(false);
      return rounded(B, I, lostBy(B, *I));
    });
}

void roundAtRandom(Function &F) { RandomRounder(F).run(); }

} // namespace cupilot
