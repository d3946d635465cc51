//===- DeviceValues.cpp - Values that PTX and NVVM compute alike -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceValues.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace cupilot {

Value *bitsOf(IRBuilderBase &B, Value *V) {
  Type *T = V->getType();
  if (T->isPointerTy())
    return B.CreatePtrToInt(V, B.getInt64Ty());
  return T->isIntegerTy()
             ? V
             : B.CreateBitCast(V, B.getIntNTy(T->getPrimitiveSizeInBits()));
}

Value *shiftLeft(IRBuilderBase &B, Value *X, Value *Amount) {
  unsigned Bits = X->getType()->getIntegerBitWidth();
  Value *Less =
      B.CreateBinaryIntrinsic(Intrinsic::umin, Amount, B.getInt32(Bits - 1));
  return B.CreateSelect(
      B.CreateICmpUGT(Amount, B.getInt32(Bits - 1)),
      ConstantInt::get(X->getType(), 0),
      B.CreateShl(X, B.CreateZExtOrTrunc(Less, X->getType())));
}

Value *lowBits(IRBuilderBase &B, Value *Length, unsigned Bits) {
  Type *T = B.getIntNTy(Bits);
  return B.CreateSub(shiftLeft(B, ConstantInt::get(T, 1), Length),
                     ConstantInt::get(T, 1));
}

Value *extractField(IRBuilderBase &B, Value *X, Value *Position, Value *Length,
                    bool Signed) {
  Type *T = X->getType();
  unsigned Bits = T->getIntegerBitWidth();
  Value *Zero = ConstantInt::get(T, 0), *Last = B.getInt32(Bits - 1);
  // The manual has 0 to 255 for both. With 32 bits a GPU takes what is above
  // that off, with 64 it does not.
  if (Bits == 32) {
    Position = B.CreateAnd(Position, 255);
    Length = B.CreateAnd(Length, 255);
  }
  Value *Beyond = B.CreateICmpUGT(Position, Last);
  Value *Shift = B.CreateZExtOrTrunc(
      B.CreateBinaryIntrinsic(Intrinsic::umin, Position, Last), T);
  if (!Signed) {
    Value *Shifted = B.CreateSelect(Beyond, Zero, B.CreateLShr(X, Shift));
    return B.CreateAnd(Shifted, lowBits(B, Length, Bits));
  }
  // What lies beyond the top is the sign; so is the field's own top bit.
  Value *Shifted = B.CreateAShr(X, Shift);
  Value *Drop = B.CreateSub(
      B.getInt32(Bits),
      B.CreateBinaryIntrinsic(
          Intrinsic::umax,
          B.CreateBinaryIntrinsic(Intrinsic::umin, Length, B.getInt32(Bits)),
          B.getInt32(1)));
  Drop = B.CreateZExtOrTrunc(Drop, T);
  Value *Field = B.CreateAShr(B.CreateShl(Shifted, Drop), Drop);
  return B.CreateSelect(B.CreateIsNull(Length), Zero, Field);
}

static Value *limited(IRBuilderBase &B, Value *Amount, bool Clamp) {
  return Clamp
             ? B.CreateBinaryIntrinsic(Intrinsic::umin, Amount, B.getInt32(32))
             : B.CreateAnd(Amount, 31);
}

Value *bitMask(IRBuilderBase &B, Value *Position, Value *Length, bool Clamp) {
  return shiftLeft(B, lowBits(B, limited(B, Length, Clamp), 32),
                   limited(B, Position, Clamp));
}

Value *extendBits(IRBuilderBase &B, Value *X, Value *Length, bool Clamp,
                  bool Signed) {
  return extractField(B, X, B.getInt32(0), limited(B, Length, Clamp), Signed);
}

Value *permuteBytes(IRBuilderBase &B, StringRef Mode, Value *X, Value *Y,
                    Value *Selector) {
  // The modes choose one of four selectors, of which each has 16 bits.
  uint64_t Choices = StringSwitch<uint64_t>(Mode)
                         .Case("f4e", 0x6543543243213210)
                         .Case("b4e", 0x0123701267015670)
                         .Case("rc8", 0x3333222211110000)
                         .Case("ecl", 0x3333322232113210)
                         .Case("ecr", 0x3210221011100000)
                         .Case("rc16", 0x3232101032321010)
                         .Default(0);
  Type *I64 = B.getInt64Ty();
  if (Choices) {
    Value *Shift = B.CreateShl(B.CreateAnd(B.CreateZExt(Selector, I64), 3), 4);
    Selector = B.CreateAnd(
        B.CreateTrunc(B.CreateLShr(B.getInt64(Choices), Shift), B.getInt32Ty()),
        0xffff);
  }
  Value *Bytes =
      B.CreateOr(B.CreateShl(B.CreateZExt(Y, I64), 32), B.CreateZExt(X, I64));
  Value *Result = B.getInt32(0);
  for (unsigned I = 0; I < 4; ++I) {
    Value *Pick = B.CreateAnd(B.CreateLShr(Selector, 4 * I), 7);
    Value *Byte = B.CreateAnd(
        B.CreateTrunc(
            B.CreateLShr(Bytes, B.CreateZExt(B.CreateShl(Pick, 3), I64)),
            B.getInt32Ty()),
        255);
    // The fourth bit asks for the byte's sign in all its places.
    Value *Sign = B.CreateAnd(B.CreateLShr(Selector, 4 * I + 3), 1);
    Value *Signs = B.CreateMul(B.CreateLShr(Byte, 7), B.getInt32(255));
    Byte = B.CreateSelect(B.CreateIsNull(Sign), Byte, Signs);
    Result = B.CreateOr(Result, B.CreateShl(Byte, 8 * I));
  }
  return Result;
}

/// Part \p I, of \p Bits bits, as 32.
static Value *part(IRBuilderBase &B, Value *V, unsigned I, unsigned Bits,
                   bool Signed) {
  Value *Up = B.CreateShl(V, 32 - Bits * (I + 1));
  return Signed ? B.CreateAShr(Up, 32 - Bits) : B.CreateLShr(Up, 32 - Bits);
}

Value *dotProduct4(IRBuilderBase &B, Value *X, Value *Y, Value *Sum,
                   bool SignedX, bool SignedY) {
  for (unsigned I = 0; I < 4; ++I)
    Sum = B.CreateAdd(
        Sum, B.CreateMul(part(B, X, I, 8, SignedX), part(B, Y, I, 8, SignedY)));
  return Sum;
}

Value *dotProduct2(IRBuilderBase &B, Value *X, Value *Y, Value *Sum,
                   bool SignedX, bool SignedY, bool High) {
  for (unsigned I = 0; I < 2; ++I)
    Sum = B.CreateAdd(Sum,
                      B.CreateMul(part(B, X, I, 16, SignedX),
                                  part(B, Y, I + (High ? 2 : 0), 8, SignedY)));
  return Sum;
}

} // namespace cupilot
