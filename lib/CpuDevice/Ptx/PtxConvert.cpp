//===- PtxConvert.cpp - Moves and conversions of PTX -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceValues.h"
#include "NarrowFormats.h"
#include "PtxRules.h"

using namespace llvm;

namespace cupilot {

/// mov, also {a, b} to one register and back.
bool ptxMove(BodyLowering &L, const PtxStatement &S) {
  if (S.Operands.size() != 2)
    return false;
  IRBuilder<> &B = L.B;
  unsigned Bits = ptxTypeBits(S.types().back());
  ArrayRef<ptx::Operand> To = partsOf(S.Operands[0]),
                         From = partsOf(S.Operands[1]);
  if (To.size() > 1 && From.size() > 1)
    return false;
  if (To.size() > 1) {
    unsigned Part = Bits / static_cast<unsigned>(To.size());
    Value *Word = L.read(From.front(), Bits);
    if (!Word || Bits % To.size() != 0)
      return false;
    for (auto [I, Name] : enumerate(To))
      if (!L.write(Name, B.CreateTrunc(L.written(B.CreateLShr(Word, I * Part)),
                                       B.getIntNTy(Part))))
        return false;
    return true;
  }
  if (From.size() > 1) {
    unsigned Part = Bits / static_cast<unsigned>(From.size());
    if (Bits % From.size() != 0)
      return false;
    Value *Packed = B.getIntN(Bits, 0);
    for (auto [I, Name] : enumerate(From)) {
      Value *V = L.read(Name, Part);
      if (!V)
        return false;
      Packed = B.CreateOr(
          Packed, B.CreateShl(B.CreateZExt(V, Packed->getType()), I * Part));
    }
    return L.write(S, Packed);
  }
  return L.write(S, L.readAs(From.front(), L.type(S.types().back())));
}

static bool isSignedType(StringRef Type) { return Type.starts_with("s"); }

/// The modifier that says how to round: "rn", "rzi"; "" for none.
static StringRef roundingModifier(const PtxStatement &S) {
  for (StringRef Each : {"rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi"})
    if (S.has(Each))
      return Each;
  return "";
}

/// cvt between integers; with .sat clamped to the destination's range.
bool ptxConvertInteger(BodyLowering &L, const PtxStatement &S) {
  auto Types = S.types();
  if (S.Operands.size() != 2)
    return false;
  IRBuilder<> &B = L.B;
  unsigned ToBits = ptxTypeBits(Types[0]), FromBits = ptxTypeBits(Types[1]);
  bool ToSigned = isSignedType(Types[0]), FromSigned = isSignedType(Types[1]);
  Value *V = L.read(S.operand(1), FromBits);
  if (!V)
    return false;
  if (S.has("sat")) {
    Type *Wide = B.getIntNTy(std::max(ToBits, FromBits) + 1);
    V = clampedTo(L, B.CreateIntCast(V, Wide, FromSigned), ToBits, ToSigned);
    V = B.CreateTrunc(V, B.getIntNTy(ToBits));
  } else {
    V = B.CreateIntCast(V, B.getIntNTy(ToBits), FromSigned);
  }
  return L.write(S, V, ToSigned);
}

bool ptxConvertToInteger(BodyLowering &L, const PtxStatement &S) {
  auto Types = S.types();
  Value *X = L.readAs(S.operand(1), L.type(Types[1]));
  if (S.Operands.size() != 2 || !X)
    return false;
  if (S.has("ftz"))
    X = flushed(L.B, X);
  bool Signed = isSignedType(Types[0]);
  return L.write(S,
                 floatToInteger(L.B, X, L.type(Types[0]), Signed,
                                roundingOf(roundingModifier(S))),
                 Signed);
}

/// \p V, the conversion of \p X to 16 bits, where X is a NaN of float64: its
/// sign and the upper bits of its payload, quiet.
static Value *withPayload(IRBuilder<> &B, Value *X, Value *V) {
  Type *Word = B.getInt16Ty();
  unsigned Fraction = V->getType()->isHalfTy() ? 10 : 7;
  Value *Bits = B.CreateBitCast(X, B.getInt64Ty());
  Value *Sign = B.CreateAnd(B.CreateLShr(Bits, 48), 0x8000);
  Value *Payload = B.CreateAnd(B.CreateLShr(Bits, 52 - Fraction),
                               (uint64_t(1) << Fraction) - 1);
  uint64_t Quiet = (0x7fffU << (Fraction - 1)) & 0x7fff;
  Value *Nan = B.CreateTrunc(
      B.CreateOr(B.CreateOr(Sign, Payload), B.getInt64(Quiet)), Word);
  return B.CreateBitCast(
      B.CreateSelect(B.CreateFCmpUNO(X, X), Nan, B.CreateBitCast(V, Word)),
      V->getType());
}

/// \p V with a GPU's NaN.
static Value *withCanonicalNan(IRBuilder<> &B, Value *V) {
  Type *T = V->getType();
  APInt Nan = APInt::getSignedMaxValue(T->getScalarSizeInBits());
  return B.CreateSelect(
      B.CreateFCmpUNO(V, V),
      B.CreateBitCast(ConstantInt::get(B.getContext(), Nan), T), V);
}

/// cvt from integers and among floating-point types, to a scalar.
bool ptxConvertToFloat(BodyLowering &L, const PtxStatement &S) {
  auto Types = S.types();
  if (S.Operands.size() != 2)
    return false;
  IRBuilder<> &B = L.B;
  Type *From = L.type(Types[1]), *To = L.type(Types[0]);
  Value *X = L.readAs(S.operand(1), From);
  if (!X)
    return false;
  StringRef Modifier = roundingModifier(S);
  Rounding Mode = roundingOf(Modifier);
  bool ToWhole = Modifier.size() == 3;
  Value *V = nullptr;
  if (From->isIntegerTy()) {
    if (Modifier.empty() || ToWhole)
      return false;
    V = integerToFloat(B, X, To, isSignedType(Types[1]), Mode);
  } else {
    unsigned FromBits = From->getScalarSizeInBits(),
             ToBits = To->getScalarSizeInBits();
    // On the way to and from f16 nothing is flushed.
    bool Flush = S.has("ftz") && !From->isHalfTy() && !To->isHalfTy();
    if (Flush && !From->isDoubleTy())
      X = flushed(B, X);
    if (From == To) {
      V = X;
      if (ToBits == 16 || S.has("ftz"))
        V = withCanonicalNan(B, V);
      if (ToWhole)
        V = B.CreateUnaryIntrinsic(Mode == Rounding::Zero   ? Intrinsic::trunc
                                   : Mode == Rounding::Down ? Intrinsic::floor
                                   : Mode == Rounding::Up   ? Intrinsic::ceil
                                                            : Intrinsic::rint,
                                   X);
    } else if (ToWhole) {
      return false;
    } else if (FromBits == 16 && ToBits == 16) { // Of f16 and bf16.
      V = narrowFloat(B, B.CreateFPExt(X, B.getFloatTy()), To, Mode);
    } else if (From->isBFloatTy() && To->isFloatTy() && !Flush) {
      // The upper half of a float32, NaN and all.
      V = B.CreateBitCast(
          B.CreateShl(
              B.CreateZExt(B.CreateBitCast(X, B.getInt16Ty()), B.getInt32Ty()),
              16),
          To);
    } else if (FromBits < ToBits) {
      V = B.CreateFPExt(X, To);
    } else if (Modifier.empty()) {
      return false;
    } else {
      V = narrowFloat(B, X, To, Mode);
      if (From->isDoubleTy() && ToBits == 16)
        V = withPayload(B, X, V);
    }
    // What is flushed is too small before it is rounded.
    if (Flush && From->isDoubleTy())
      V = B.CreateSelect(
          B.CreateFCmpOLT(B.CreateUnaryIntrinsic(Intrinsic::fabs, X),
                          ConstantFP::get(From, 0x1p-126)),
          B.CreateBinaryIntrinsic(Intrinsic::copysign, ConstantFP::get(To, 0.0),
                                  V),
          V);
  }
  if (S.has("sat"))
    V = L.written([&] { return saturated(B, V); }, isCompare);
  if (S.has("relu"))
    V = rectified(B, V);
  if (S.has("satfinite"))
    V = finiteOnly(B, V);
  return L.write(S, V);
}

/// cvt.rn.f16x2.f32 d, a, b: a becomes the upper half.
bool ptxConvertPair(BodyLowering &L, const PtxStatement &S) {
  IRBuilder<> &B = L.B;
  Value *High = L.readAs(S.operand(1), B.getFloatTy()),
        *Low = L.readAs(S.operand(2), B.getFloatTy());
  if (S.Operands.size() != 3 || !High || !Low)
    return false;
  Type *To = L.type(S.types().front());
  Rounding Mode = roundingOf(roundingModifier(S));
  Value *Pair = PoisonValue::get(To);
  for (unsigned I = 0; I < 2; ++I) {
    Value *V = narrowFloat(B, I ? High : Low, To->getScalarType(), Mode);
    if (S.has("relu"))
      V = rectified(B, V);
    if (S.has("satfinite"))
      V = finiteOnly(B, V);
    Pair = B.CreateInsertElement(Pair, V, I);
  }
  return L.write(S, Pair);
}

/// To two numbers of 8, 6 or 4 bits.
bool ptxConvertToNarrow(BodyLowering &L, const PtxStatement &S) {
  IRBuilder<> &B = L.B;
  auto Types = S.types();
  NarrowFormat Format = narrowFormat(Types[0]);
  Value *High = nullptr, *Low = nullptr;
  if (Types[1] == "f32") {
    High = L.readAs(S.operand(1), B.getFloatTy());
    Low = L.readAs(S.operand(2), B.getFloatTy());
    if (S.Operands.size() != 3 || !High || !Low)
      return false;
  } else {
    Value *Pair = L.readAs(S.operand(1), L.type(Types[1]));
    if (S.Operands.size() != 2 || !Pair)
      return false;
    Low = B.CreateFPExt(B.CreateExtractElement(Pair, uint64_t(0)),
                        B.getFloatTy());
    High = B.CreateFPExt(B.CreateExtractElement(Pair, uint64_t(1)),
                         B.getFloatTy());
  }
  bool Scale = Format == NarrowFormat::UE8M0;
  // Only scales are rounded in a direction; only they may overflow.
  if (Scale ? S.has("rn") || S.has("relu")
            : !S.has("rn") || !S.has("satfinite"))
    return false;
  uint32_t Flags = (S.has("rp") ? NarrowRoundUp : 0) |
                   (S.has("satfinite") ? NarrowFinite : 0);
  unsigned Bits = ptxTypeBits(Types[0]) / 2;
  Value *Packed = B.getIntN(2 * Bits, 0);
  for (unsigned I = 0; I < 2; ++I) {
    Value *X = I ? High : Low;
    if (S.has("relu"))
      X = rectified(B, X);
    Value *Code = L.call(
        "to_narrow", B.getInt32Ty(),
        {X, B.getInt32(static_cast<uint32_t>(Format)), B.getInt32(Flags)},
        /*Pure=*/true);
    Packed = B.CreateOr(
        Packed,
        B.CreateShl(B.CreateZExtOrTrunc(Code, Packed->getType()), I * Bits));
  }
  return L.write(S, Packed);
}

bool ptxConvertFromNarrow(BodyLowering &L, const PtxStatement &S) {
  IRBuilder<> &B = L.B;
  auto Types = S.types();
  NarrowFormat Format = narrowFormat(Types[1]);
  unsigned Bits = ptxTypeBits(Types[1]) / 2;
  Value *Codes = L.read(S.operand(1), 2 * Bits);
  // Scales need the exponents of bfloat16.
  bool Scale = Format == NarrowFormat::UE8M0;
  if (S.Operands.size() != 2 || !Codes || Scale != (Types[0] == "bf16x2"))
    return false;
  Type *To = L.type(Types[0]);
  Value *Pair = PoisonValue::get(To);
  for (unsigned I = 0; I < 2; ++I) {
    Value *Code = B.CreateAnd(B.CreateLShr(Codes, I * Bits),
                              APInt::getLowBitsSet(2 * Bits, Bits));
    Value *V = L.call("from_narrow", B.getFloatTy(),
                      {B.CreateZExt(Code, B.getInt32Ty()),
                       B.getInt32(static_cast<uint32_t>(Format))},
                      /*Pure=*/true);
    V = B.CreateFPTrunc(V, To->getScalarType());
    Pair = B.CreateInsertElement(Pair, S.has("relu") ? rectified(B, V) : V, I);
  }
  return L.write(S, Pair);
}

/// tf32 is a float32 of which the lowest 13 bits are zero.
bool ptxConvertTf32(BodyLowering &L, const PtxStatement &S) {
  IRBuilder<> &B = L.B;
  Value *X = L.readAs(S.operand(1), B.getFloatTy());
  if (S.Operands.size() != 2 || !X)
    return false;
  if (S.has("relu"))
    X = rectified(B, X);
  Value *Bits = B.CreateBitCast(X, B.getInt32Ty());
  Value *Sum = Bits;
  if (S.has("rna"))
    Sum = B.CreateAdd(Bits, B.getInt32(0x1000));
  else if (S.has("rn"))
    Sum = B.CreateAdd(B.CreateAdd(Bits, B.getInt32(0xfff)),
                      B.CreateAnd(B.CreateLShr(Bits, 13), 1));
  Value *Finite = B.createIsFPClass(X, fcFinite);
  Value *Cut = B.CreateAnd(B.CreateSelect(Finite, Sum, Bits), ~0x1fffu);
  if (S.has("satfinite")) {
    // The largest finite number instead of infinity, of either sign.
    // A GPU makes of a NaN the one below it.
    Value *Inf =
        B.CreateICmpUGE(B.CreateAnd(Cut, 0x7fffffff), B.getInt32(0x7f800000));
    Cut = B.CreateSelect(Inf, B.CreateSub(Cut, B.getInt32(0x2000)), Cut);
  }
  // A GPU cuts NaN off, too (benchmarks/results/2026-11-23-device-answers.md).
  if (S.has("rna") && !S.has("relu"))
    return L.write(S, Cut);
  Value *Nan = B.CreateFCmpUNO(X, X);
  return L.write(S, B.CreateSelect(Nan, B.getInt32(0x7fffe000), Cut));
}

/// cvt.pack.sat d, a, b{, c}: a above b, above what c has left.
bool ptxConvertPack(BodyLowering &L, const PtxStatement &S) {
  IRBuilder<> &B = L.B;
  auto Types = S.types();
  // Types of 2 and 4 bits exist here only.
  StringRef To = S.modifiers()[2];
  unsigned Bits = 0;
  if (To.drop_front().getAsInteger(10, Bits))
    return false;
  bool Signed = isSignedType(To), Merge = Types.back() == "b32";
  if (S.Operands.size() != (Merge ? 4 : 3) || Merge != (Bits <= 8))
    return false;
  Value *Packed = Merge ? L.read(S.operand(3), 32) : B.getInt32(0);
  if (!Packed)
    return false;
  if (Merge)
    Packed = B.CreateShl(Packed, 2 * Bits);
  for (unsigned I = 0; I < 2; ++I) {
    Value *V = L.read(S.operand(2 - I), 32);
    if (!V)
      return false;
    int64_t Low = Signed ? -(1 << (Bits - 1)) : 0;
    int64_t High = Signed ? (1 << (Bits - 1)) - 1 : (1 << Bits) - 1;
    V = B.CreateBinaryIntrinsic(Intrinsic::smax, V,
                                ConstantInt::getSigned(B.getInt32Ty(), Low));
    V = B.CreateBinaryIntrinsic(Intrinsic::smin, V,
                                ConstantInt::getSigned(B.getInt32Ty(), High));
    V = B.CreateAnd(V, B.getInt32((1u << Bits) - 1));
    Packed = B.CreateOr(Packed, B.CreateShl(V, I * Bits));
  }
  return L.write(S, Packed);
}

} // namespace cupilot
