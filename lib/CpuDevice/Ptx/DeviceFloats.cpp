//===- DeviceFloats.cpp - Floating-point values of the device -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceValues.h"

using namespace llvm;

namespace cupilot {

Rounding roundingOf(StringRef Modifier) {
  return Modifier.starts_with("rz")   ? Rounding::Zero
         : Modifier.starts_with("rm") ? Rounding::Down
         : Modifier.starts_with("rp") ? Rounding::Up
                                      : Rounding::Nearest;
}

/// float32 of a float64, such that rounding once more to 16 bits is right: cut
/// off, with the lowest bit set when something was ("round to odd").
static Value *oddFloat(IRBuilderBase &B, Value *X) {
  Type *T = X->getType(), *Single = B.getFloatTy(), *Word = B.getInt32Ty();
  if (auto *V = dyn_cast<FixedVectorType>(T)) {
    Single = FixedVectorType::get(Single, V->getNumElements());
    Word = FixedVectorType::get(Word, V->getNumElements());
  }
  Value *Near = B.CreateFPTrunc(X, Single);
  Value *Back = B.CreateFPExt(Near, T);
  Value *Beyond = B.CreateFCmpOGT(B.CreateUnaryIntrinsic(Intrinsic::fabs, Back),
                                  B.CreateUnaryIntrinsic(Intrinsic::fabs, X));
  Value *Inexact = B.CreateFCmpONE(Back, X);
  Value *Bits =
      B.CreateSub(B.CreateBitCast(Near, Word), B.CreateZExt(Beyond, Word));
  return B.CreateBitCast(B.CreateOr(Bits, B.CreateZExt(Inexact, Word)), Single);
}

Value *narrowFloat(IRBuilderBase &B, Value *X, Type *To, Rounding Mode) {
  bool Half = To->getScalarSizeInBits() == 16;
  if (Half && X->getType()->isDoubleTy())
    X = oddFloat(B, X);
  Value *Near = B.CreateFPTrunc(X, To);
  if (Mode == Rounding::Nearest)
    return Near;
  // One step back where rounding to the nearest went the wrong way.
  Type *Word = B.getIntNTy(static_cast<unsigned>(To->getPrimitiveSizeInBits()));
  Value *Back = B.CreateFPExt(Near, X->getType());
  Value *Bits = B.CreateBitCast(Near, Word);
  Value *Zero = ConstantFP::get(X->getType(), 0.0);
  Value *Negative = B.CreateFCmpOLT(X, Zero);
  Value *Away = nullptr, *Step = nullptr;
  auto One = [&](int64_t V) { return ConstantInt::getSigned(Word, V); };
  if (Mode == Rounding::Zero) {
    Away = B.CreateSelect(Negative, B.CreateFCmpOLT(Back, X),
                          B.CreateFCmpOGT(Back, X));
    Step = One(-1);
  } else if (Mode == Rounding::Up) {
    Away = B.CreateFCmpOLT(Back, X);
    Step = B.CreateSelect(Negative, One(-1), One(1));
  } else {
    Away = B.CreateFCmpOGT(Back, X);
    Step = B.CreateSelect(Negative, One(1), One(-1));
  }
  return B.CreateBitCast(B.CreateAdd(Bits, B.CreateSelect(Away, Step, One(0))),
                         To);
}

Value *integerToFloat(IRBuilderBase &B, Value *X, Type *To, bool Signed,
                      Rounding Mode) {
  unsigned Bits = X->getType()->getIntegerBitWidth();
  auto Convert = [&](Value *V, Type *T) {
    return Signed ? B.CreateSIToFP(V, T) : B.CreateUIToFP(V, T);
  };
  bool Half = To->getScalarSizeInBits() == 16;
  if (Bits <= 32 && To->isDoubleTy())
    return Convert(X, To);
  if (Mode == Rounding::Nearest && !Half)
    return Convert(X, To);
  if (Bits <= 32)
    return narrowFloat(B, Convert(X, B.getDoubleTy()), To, Mode);
  if (To->isDoubleTy()) // This type holds all integers of 64 bits.
    return narrowFloat(B, Convert(X, Type::getX86_FP80Ty(B.getContext())), To,
                       Mode);
  // Of 64 bits the lowest 12 matter only as "something was there".
  Value *Rest = B.CreateIsNotNull(B.CreateAnd(X, 0xfff));
  Value *Sticky =
      B.CreateOr(B.CreateAnd(X, ~uint64_t(0xfff)),
                 B.CreateSelect(Rest, B.getInt64(0x800), B.getInt64(0)));
  Value *Big = Signed ? B.CreateICmpUGT(B.CreateBinaryIntrinsic(
                                            Intrinsic::abs, X, B.getFalse()),
                                        B.getInt64(uint64_t(1) << 53))
                      : B.CreateICmpUGT(X, B.getInt64(uint64_t(1) << 53));
  return narrowFloat(
      B, Convert(B.CreateSelect(Big, Sticky, X), B.getDoubleTy()), To, Mode);
}

Value *floatToInteger(IRBuilderBase &B, Value *X, Type *To, bool Signed,
                      Rounding Mode) {
  bool FromDouble = X->getType()->isDoubleTy();
  if (X->getType()->getScalarSizeInBits() == 16)
    X = B.CreateFPExt(X, B.getFloatTy());
  Intrinsic::ID Round = Mode == Rounding::Zero   ? Intrinsic::trunc
                        : Mode == Rounding::Down ? Intrinsic::floor
                        : Mode == Rounding::Up   ? Intrinsic::ceil
                                                 : Intrinsic::rint;
  Value *Whole = Mode == Rounding::Zero ? X : B.CreateUnaryIntrinsic(Round, X);
  Value *Result =
      B.CreateIntrinsic(Signed ? Intrinsic::fptosi_sat : Intrinsic::fptoui_sat,
                        {To, X->getType()}, {Whole});
  // The conversion above makes zero of NaN. PTX ISA, "cvt": so it is, unless
  // the source is .f64 or the destination has 64 bits.
  unsigned Bits = To->getIntegerBitWidth();
  if (!FromDouble && Bits != 64)
    return Result;
  Value *Nan = B.CreateFCmpUNO(X, X);
  return B.CreateSelect(Nan, ConstantInt::get(To, APInt::getSignMask(Bits)),
                        Result);
}

Value *saturated(IRBuilderBase &B, Value *X) {
  Value *Zero = ConstantFP::get(X->getType(), 0.0),
        *One = ConstantFP::get(X->getType(), 1.0);
  Value *Below = B.CreateSelect(B.CreateFCmpOLT(X, One), X, One);
  return B.CreateSelect(B.CreateFCmpOGT(X, Zero), Below, Zero);
}

Value *rectified(IRBuilderBase &B, Value *X) {
  Value *Zero = ConstantFP::get(X->getType(), 0.0);
  return B.CreateSelect(B.CreateFCmpOLE(X, Zero), Zero, X);
}

Value *flushed(IRBuilderBase &B, Value *X) {
  Type *T = X->getType();
  if (T->isDoubleTy())
    return X;
  APFloat Least =
      APFloat::getSmallestNormalized(T->getScalarType()->getFltSemantics());
  Value *Small = B.CreateFCmpOLT(B.CreateUnaryIntrinsic(Intrinsic::fabs, X),
                                 ConstantFP::get(T, Least));
  return B.CreateSelect(
      Small,
      B.CreateBinaryIntrinsic(Intrinsic::copysign, ConstantFP::get(T, 0.0), X),
      X);
}

Value *floatMinMax(IRBuilderBase &B, Value *X, Value *Y, bool Max, bool Nan,
                   bool XorSign) {
  Type *T = X->getType();
  Type *Word = T->getWithNewType(B.getIntNTy(T->getScalarSizeInBits()));
  Value *Sign = nullptr;
  if (XorSign) {
    Sign = B.CreateXor(B.CreateBitCast(X, Word), B.CreateBitCast(Y, Word));
    X = B.CreateUnaryIntrinsic(Intrinsic::fabs, X);
    Y = B.CreateUnaryIntrinsic(Intrinsic::fabs, Y);
  }
  // -0 is less than +0.
  Value *V = B.CreateBinaryIntrinsic(
      Nan ? (Max ? Intrinsic::maximum : Intrinsic::minimum)
          : (Max ? Intrinsic::maximumnum : Intrinsic::minimumnum),
      X, Y);
  Value *NanX = B.CreateFCmpUNO(X, X), *NanY = B.CreateFCmpUNO(Y, Y);
  if (T->getScalarType()->isDoubleTy()) {
    V = B.CreateSelect(Nan ? NanX : B.CreateAnd(NanX, NanY), X, V);
    if (Nan)
      V = B.CreateSelect(NanY, Y, V);
  } else {
    APInt Canonical = APInt::getSignedMaxValue(T->getScalarSizeInBits());
    V = B.CreateSelect(
        Nan ? B.CreateOr(NanX, NanY) : B.CreateAnd(NanX, NanY),
        ConstantFP::get(
            T, APFloat(T->getScalarType()->getFltSemantics(), Canonical)),
        V);
  }
  if (!Sign)
    return V;
  // A NaN has no sign.
  Value *Mask = B.CreateSelect(
      Nan ? B.CreateOr(NanX, NanY) : B.CreateAnd(NanX, NanY),
      Constant::getNullValue(Word),
      ConstantInt::get(Word, APInt::getSignMask(Word->getScalarSizeInBits())));
  return B.CreateBitCast(
      B.CreateXor(B.CreateBitCast(V, Word), B.CreateAnd(Sign, Mask)), T);
}

Value *narrowFma(IRBuilderBase &B, Value *X, Value *Y, Value *Z) {
  Type *T = X->getType();
  Type *Wide = T->getWithNewType(B.getDoubleTy());
  Type *Word = T->getWithNewType(B.getInt64Ty());
  Value *Product = B.CreateFMul(B.CreateFPExt(X, Wide), B.CreateFPExt(Y, Wide));
  Value *C = B.CreateFPExt(Z, Wide);
  // The product is exact. What the sum loses is known exactly too, and counts
  // as "something was there".
  Value *Sum = B.CreateFAdd(Product, C);
  Value *Part = B.CreateFSub(Sum, Product);
  Value *Lost = B.CreateFAdd(B.CreateFSub(Product, B.CreateFSub(Sum, Part)),
                             B.CreateFSub(C, Part));
  Value *Zero = ConstantFP::get(Wide, 0.0);
  Value *Inexact = B.CreateFCmpONE(Lost, Zero);
  Value *Beyond = B.CreateAnd(Inexact, B.CreateXor(B.CreateFCmpOLT(Lost, Zero),
                                                   B.CreateFCmpOLT(Sum, Zero)));
  Value *Bits =
      B.CreateSub(B.CreateBitCast(Sum, Word), B.CreateZExt(Beyond, Word));
  Bits = B.CreateOr(Bits, B.CreateZExt(Inexact, Word));
  return B.CreateFPTrunc(oddFloat(B, B.CreateBitCast(Bits, Wide)), T);
}

} // namespace cupilot
