//===- PtxBits.cpp - Bit fields, bytes, dot products of PTX -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceValues.h"
#include "PtxRules.h"

using namespace llvm;

namespace cupilot {

static bool isRightShift(const Instruction &I) {
  return I.isShift() && I.getOpcode() != Instruction::Shl;
}

bool ptxFindBit(BodyLowering &L, const PtxStatement &S) {
  unsigned Bits = ptxTypeBits(S.types().back());
  Value *X = S.Operands.size() == 2 ? L.read(S.operand(1), Bits) : nullptr;
  if (!X)
    return false;
  IRBuilder<> &B = L.B;
  // Of a negative number the highest bit that is not a sign counts.
  if (S.types().back().starts_with("s"))
    X = B.CreateXor(X, B.CreateAShr(X, Bits - 1));
  Value *Zeros =
      B.CreateTrunc(B.CreateBinaryIntrinsic(Intrinsic::ctlz, X, B.getFalse()),
                    B.getInt32Ty());
  Value *Found =
      S.has("shiftamt") ? Zeros : B.CreateSub(B.getInt32(Bits - 1), Zeros);
  return L.write(S, B.CreateSelect(B.CreateIsNull(X), B.getInt32(~0u), Found));
}

bool ptxFindNthSet(BodyLowering &L, const PtxStatement &S) {
  if (S.Operands.size() != 4)
    return false;
  SmallVector<Value *> Args;
  for (unsigned I : {1, 2, 3}) {
    Args.push_back(L.read(S.operand(I), 32));
    if (!Args.back())
      return false;
  }
  return L.write(S, L.call("fns", L.B.getInt32Ty(), Args, /*Pure=*/true));
}

bool ptxExtractField(BodyLowering &L, const PtxStatement &S) {
  unsigned Bits = ptxTypeBits(S.types().back());
  if (S.Operands.size() != 4)
    return false;
  Value *X = L.read(S.operand(1), Bits), *Position = L.read(S.operand(2), 32),
        *Length = L.read(S.operand(3), 32);
  if (!X || !Position || !Length)
    return false;
  bool Signed = S.types().back().starts_with("s");
  return L.write(
      S,
      L.written([&] { return extractField(L.B, X, Position, Length, Signed); },
                isRightShift));
}

bool ptxInsertField(BodyLowering &L, const PtxStatement &S) {
  unsigned Bits = ptxTypeBits(S.types().back());
  if (S.Operands.size() != 5)
    return false;
  Value *Field = L.read(S.operand(1), Bits), *Base = L.read(S.operand(2), Bits),
        *Position = L.read(S.operand(3), 32),
        *Length = L.read(S.operand(4), 32);
  if (!Field || !Base || !Position || !Length)
    return false;
  IRBuilder<> &B = L.B;
  if (Bits == 32) { // As in extractField().
    Position = B.CreateAnd(Position, 255);
    Length = B.CreateAnd(Length, 255);
  }
  Value *Mask = shiftLeft(B, lowBits(B, Length, Bits), Position);
  Value *Moved = shiftLeft(B, Field, Position);
  return L.write(S, B.CreateOr(B.CreateAnd(Base, B.CreateNot(Mask)),
                               B.CreateAnd(Moved, Mask)));
}

/// bmsk d, position, length.
bool ptxBitMask(BodyLowering &L, const PtxStatement &S) {
  Value *Position = L.read(S.operand(1), 32),
        *Length = L.read(S.operand(2), 32);
  if (S.Operands.size() != 3 || !Position || !Length)
    return false;
  return L.write(S, bitMask(L.B, Position, Length, S.has("clamp")));
}

/// szext d, value, number of its bits.
bool ptxExtend(BodyLowering &L, const PtxStatement &S) {
  Value *X = L.read(S.operand(1), 32), *Length = L.read(S.operand(2), 32);
  if (S.Operands.size() != 3 || !X || !Length)
    return false;
  return L.write(S, extendBits(L.B, X, Length, S.has("clamp"), S.has("s32")));
}

bool ptxPermute(BodyLowering &L, const PtxStatement &S) {
  Value *X = L.read(S.operand(1), 32), *Y = L.read(S.operand(2), 32),
        *Selector = L.read(S.operand(3), 32);
  if (S.Operands.size() != 4 || !X || !Y || !Selector)
    return false;
  StringRef Mode;
  for (StringRef Each : {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"})
    if (S.has(Each))
      Mode = Each;
  // The bytes are taken from all eight.
  return L.write(
      S, L.written([&] { return permuteBytes(L.B, Mode, X, Y, Selector); },
                   [](const Instruction &I) {
                     return isRightShift(I) && I.getType()->isIntegerTy(64);
                   }));
}

/// dp4a and dp2a: products of bytes with bytes or halves, summed.
bool ptxDotProduct(BodyLowering &L, const PtxStatement &S) {
  Value *X = L.read(S.operand(1), 32), *Y = L.read(S.operand(2), 32),
        *Sum = L.read(S.operand(3), 32);
  if (S.Operands.size() != 4 || !X || !Y || !Sum)
    return false;
  auto Types = S.types();
  bool SignedX = Types[0] == "s32", SignedY = Types[1] == "s32";
  if (S.base() == "dp4a")
    return L.write(S, dotProduct4(L.B, X, Y, Sum, SignedX, SignedY));
  return L.write(S, dotProduct2(L.B, X, Y, Sum, SignedX, SignedY, S.has("hi")));
}

} // namespace cupilot
