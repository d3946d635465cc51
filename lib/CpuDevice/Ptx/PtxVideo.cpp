//===- PtxVideo.cpp - Video instructions of PTX -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA, "Scalar Video Instructions", "SIMD Video Instructions". Registers
// have selectors: "a.b2" is a byte of a, "d.h1" a half of the result.
//
// No GPU since sm_50 has the scalar ones: ptxas makes sequences of them, which
// for sm_90 (CUDA 13.0) do not in all cases what the manual says. The results
// here are those of an H200; comments say where they are not the manual's.
//
//===----------------------------------------------------------------------===//

#include "PtxRules.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace cupilot {

namespace {
/// An operand without its selector, "b2", "h31" or "".
struct Selected {
  ptx::Operand Of;
  StringRef Parts;
};
} // namespace

static Selected selected(const ptx::Operand &O) {
  Selected S{O, ""};
  size_t Point = O.Name.rfind('.');
  if (O.Kind == ptx::OperandKind::Name && Point != std::string_view::npos) {
    S.Parts = StringRef(O.Name).drop_front(Point + 1);
    S.Of.Name = O.Name.substr(0, Point);
  }
  S.Of.Minus = false;
  return S;
}

/// The part of a word that \p Parts names ("b0" to "b3", "h0", "h1"): its
/// lowest bit and size; the whole for "". Nothing for another name.
static std::optional<std::pair<unsigned, unsigned>> placeOf(StringRef Parts) {
  if (Parts.empty())
    return std::pair(0U, 32U);
  unsigned Bits = Parts.front() == 'b' ? 8 : 16, Number = 0;
  if ((Parts.front() != 'b' && Parts.front() != 'h') ||
      Parts.drop_front().getAsInteger(10, Number) || Number * Bits >= 32 ||
      Parts.size() != 2)
    return std::nullopt;
  return std::pair(Number * Bits, Bits);
}

/// The part that operand \p N selects, in \p T.
static Value *source(BodyLowering &L, const PtxStatement &S, unsigned N,
                     bool Signed, Type *T) {
  Selected Each = selected(S.operand(N));
  auto Place = placeOf(Each.Parts);
  Value *Word = L.read(Each.Of, 32);
  if (!Place || !Word)
    return nullptr;
  Value *Part = L.B.CreateTrunc(L.B.CreateLShr(Word, Place->first),
                                L.B.getIntNTy(Place->second));
  return L.B.CreateIntCast(Part, T, Signed);
}

static bool isSigned(StringRef Type) { return Type == "s32"; }

/// \p V no further than the numbers of \p Bits.
static Value *clamped(IRBuilder<> &B, Value *V, unsigned Bits, bool Signed) {
  Type *T = V->getType();
  unsigned Width = T->getScalarSizeInBits();
  APInt Low = Signed ? APInt::getSignedMinValue(Bits).sext(Width)
                     : APInt::getZero(Width),
        High = Signed ? APInt::getSignedMaxValue(Bits).sext(Width)
                      : APInt::getMaxValue(Bits).zext(Width);
  V = B.CreateBinaryIntrinsic(Intrinsic::smax, V, ConstantInt::get(T, Low));
  return B.CreateBinaryIntrinsic(Intrinsic::smin, V, ConstantInt::get(T, High));
}

static CmpInst::Predicate comparison(const PtxStatement &S) {
  return S.has("eq")   ? CmpInst::ICMP_EQ
         : S.has("ne") ? CmpInst::ICMP_NE
         : S.has("lt") ? CmpInst::ICMP_SLT
         : S.has("le") ? CmpInst::ICMP_SLE
         : S.has("gt") ? CmpInst::ICMP_SGT
                       : CmpInst::ICMP_SGE;
}

/// What an operation without its saturation gives, of operands that are wide
/// enough for all results.
static Value *operation(IRBuilder<> &B, const PtxStatement &S, StringRef Op,
                        Value *X, Value *Y) {
  if (Op == "add")
    return B.CreateAdd(X, Y);
  if (Op == "sub")
    return B.CreateSub(X, Y);
  if (Op == "min")
    return B.CreateBinaryIntrinsic(Intrinsic::smin, X, Y);
  if (Op == "max")
    return B.CreateBinaryIntrinsic(Intrinsic::smax, X, Y);
  if (Op == "absdiff")
    return B.CreateBinaryIntrinsic(Intrinsic::abs, B.CreateSub(X, Y),
                                   B.getFalse());
  if (Op == "shl")
    return B.CreateShl(X, Y);
  if (Op == "shr")
    return B.CreateAShr(X, Y);
  return B.CreateZExt(B.CreateICmp(comparison(S), X, Y), X->getType());
}

/// \p V saturated for a part of \p Bits of the result. By the manual this is
/// clamped() in all cases.
static Value *videoSaturated(IRBuilder<> &B, Value *V, unsigned Bits,
                             bool Signed, bool Shift) {
  if (Shift || (Bits == 32 && Signed))
    return clamped(B, V, 32, Signed);
  Type *T = V->getType();
  Value *Zero = ConstantInt::get(T, 0);
  if (Bits == 32) // What is too large wraps.
    return B.CreateBinaryIntrinsic(Intrinsic::smax, V, Zero);
  // What is negative becomes the largest.
  APInt Largest = Signed ? APInt::getSignedMaxValue(Bits).zext(128)
                         : APInt::getMaxValue(Bits).zext(128);
  return B.CreateBinaryIntrinsic(Intrinsic::umin, V,
                                 ConstantInt::get(T, Largest));
}

/// vadd.u32.s32.u32.sat d{.b2}, a{.h1}, b{.b0}{, c}: c is merged with the
/// result's part, or is the operand of a second operation.
bool ptxVideo(BodyLowering &L, const PtxStatement &S) {
  IRBuilder<> &B = L.B;
  StringRef Op = S.base().drop_front();
  auto Types = S.types();
  bool Set = Op == "set", Shift = Op == "shl" || Op == "shr";
  bool SignedX = isSigned(Types[Set ? 0 : 1]),
       SignedY = isSigned(Types[Set ? 1 : 2]),
       SignedResult = isSigned(Types[0]), Saturates = S.has("sat");
  Type *Wide = B.getIntNTy(128), *Word = B.getInt32Ty();
  Value *X = source(L, S, 1, SignedX, Wide),
        *Y = source(L, S, 2, SignedY, Wide);
  Selected To = selected(S.operand(0));
  auto Place = placeOf(To.Parts);
  bool Second = S.has("add") || S.has("min") || S.has("max"),
       Merge = Place && Place->second < 32;
  if (!X || !Y || !Place || (Second && Merge) ||
      S.Operands.size() != (Second || Merge ? 4U : 3U))
    return false;
  if (Shift)
    Y = S.has("wrap") ? B.CreateAnd(Y, 31)
                      : B.CreateBinaryIntrinsic(Intrinsic::umin, Y,
                                                ConstantInt::get(Wide, 32));
  auto Decides = [](const Instruction &I) {
    return isa<CmpInst, MinMaxIntrinsic>(I);
  };
  Value *Exact = L.written([&] { return operation(B, S, Op, X, Y); }, Decides);
  if (Shift && Saturates) // By the manual of all bits.
    Exact = B.CreateSExt(B.CreateTrunc(Exact, B.getIntNTy(34)), Wide);
  if (Saturates)
    Exact = videoSaturated(B, Exact, Place->second, SignedResult, Shift);
  Value *V = B.CreateTrunc(Exact, Word);
  Value *C = Second || Merge ? L.read(S.operand(3), 32) : nullptr;
  if ((Second || Merge) && !C)
    return false;
  if (S.has("add")) {
    V = B.CreateAdd(V, C);
  } else if (Second) {
    // By the manual 32 bits are compared, as numbers of the result's type.
    bool Cut = Op == "add" || Op == "sub" ||
               (Op == "shl" && Saturates && !SignedResult);
    Value *Other = B.CreateIntCast(C, Wide, SignedResult);
    Exact = Cut ? B.CreateSExt(V, Wide) : Exact;
    Value *Less = SignedResult ? B.CreateICmpSLT(Exact, Other)
                               : B.CreateICmpULT(Exact, Other);
    L.written(Less);
    V = S.has("min") ? B.CreateSelect(Less, V, C) : B.CreateSelect(Less, C, V);
  }
  if (Merge) {
    auto [Low, Bits] = *Place;
    uint32_t Mask = ((1U << Bits) - 1) << Low;
    // By the manual the upper half gets the lower of the result, too.
    if (To.Parts != "h1")
      V = B.CreateShl(V, Low);
    V = B.CreateOr(B.CreateAnd(V, Mask), B.CreateAnd(C, ~Mask));
  }
  return L.write(To.Of, V);
}

/// vmad.s32.s32.u32{.po}.sat.shr7 d, {-}a, {-}b, {-}c.
bool ptxVideoMultiply(BodyLowering &L, const PtxStatement &S) {
  IRBuilder<> &B = L.B;
  auto Types = S.types();
  Type *Wide = B.getIntNTy(128);
  // Factors and summand count as signed, whatever their types.
  auto Factor = [&](unsigned N) -> Value * {
    Value *V = source(L, S, N, isSigned(Types[N]), B.getInt32Ty());
    return V ? B.CreateSExt(V, Wide) : nullptr;
  };
  Value *X = Factor(1), *Y = Factor(2);
  Selected Third = selected(S.operand(3));
  Value *C = L.read(Third.Of, 32);
  if (S.Operands.size() != 4 || !X || !Y || !C || !Third.Parts.empty())
    return false;
  bool MinusProduct = S.operand(1).Minus != S.operand(2).Minus,
       MinusSum = S.operand(3).Minus, PlusOne = S.has("po");
  if ((MinusProduct && MinusSum) || (PlusOne && (MinusProduct || MinusSum)))
    return false;
  bool Signed =
      isSigned(Types[1]) || isSigned(Types[2]) || MinusProduct || MinusSum;
  Value *V = B.CreateMul(X, Y);
  if (MinusProduct)
    V = B.CreateNeg(V);
  C = B.CreateSExt(C, Wide);
  V = MinusSum ? B.CreateSub(V, C) : B.CreateAdd(V, C);
  if (PlusOne)
    V = B.CreateAdd(V, ConstantInt::get(Wide, 1));
  bool Scaled = S.has("shr7") || S.has("shr15");
  if (Scaled)
    V = B.CreateAShr(V, S.has("shr7") ? 7 : 15);
  if (S.has("sat") && Scaled && !Signed) // A negative one counts as large.
    V = B.CreateBinaryIntrinsic(Intrinsic::umin, V,
                                ConstantInt::get(Wide, 0xffffffffU));
  else if (S.has("sat"))
    V = clamped(B, V, 32, Signed);
  return L.write(S, B.CreateTrunc(V, B.getInt32Ty()));
}

/// The lanes of operand \p N, each in 32 bits. Its selector counts the lanes of
/// a from 0 on, those of b behind them; the highest lane comes first.
static Value *lanes(BodyLowering &L, const PtxStatement &S, unsigned N,
                    unsigned Count, bool Signed) {
  IRBuilder<> &B = L.B;
  Selected Each = selected(S.operand(N));
  Value *A = L.read(selected(S.operand(1)).Of, 32),
        *Other = L.read(selected(S.operand(2)).Of, 32);
  if (!A || !Other)
    return nullptr;
  SmallVector<int> Order;
  for (unsigned I = 0; I < Count; ++I)
    Order.push_back(static_cast<int>(N == 1 ? I : Count + I));
  if (StringRef Parts = Each.Parts; !Parts.empty()) {
    if (!Parts.consume_front(Count == 2 ? "h" : "b") || Parts.size() != Count)
      return nullptr;
    for (unsigned I = 0; I < Count; ++I) {
      char Digit = Parts[Count - 1 - I];
      if (Digit < '0' || Digit >= static_cast<char>('0' + 2 * Count))
        return nullptr;
      Order[I] = Digit - '0';
    }
  }
  auto *Narrow = FixedVectorType::get(B.getIntNTy(32 / Count), Count);
  return B.CreateIntCast(B.CreateShuffleVector(B.CreateBitCast(A, Narrow),
                                               B.CreateBitCast(Other, Narrow),
                                               Order),
                         FixedVectorType::get(B.getInt32Ty(), Count), Signed);
}

/// Which lanes of the result are written; nothing for a wrong mask. "b310".
static std::optional<unsigned> maskOf(StringRef Parts, unsigned Count) {
  if (Parts.empty())
    return (1U << Count) - 1;
  if (!Parts.consume_front(Count == 2 ? "h" : "b") || Parts.empty())
    return std::nullopt;
  unsigned Mask = 0;
  for (char Digit : Parts) {
    if (Digit < '0' || Digit >= static_cast<char>('0' + Count))
      return std::nullopt;
    Mask |= 1U << (Digit - '0');
  }
  return Mask;
}

/// vadd4.u32.s32.u32{.sat}{.add} d{.mask}, a{.lanes}, b{.lanes}, c: what the
/// mask leaves out comes from c, or all that it has is added to c.
bool ptxVideoLanes(BodyLowering &L, const PtxStatement &S) {
  IRBuilder<> &B = L.B;
  StringRef Op = S.base().drop_front().drop_back();
  unsigned Count = S.base().back() == '2' ? 2 : 4, Bits = 32 / Count;
  auto Types = S.types();
  bool Set = Op == "set"; // It has no type of its result.
  Value *X = lanes(L, S, 1, Count, isSigned(Types[Set ? 0 : 1])),
        *Y = lanes(L, S, 2, Count, isSigned(Types[Set ? 1 : 2])),
        *C = L.read(S.operand(3), 32);
  Selected To = selected(S.operand(0));
  std::optional<unsigned> Mask = maskOf(To.Parts, Count);
  if (S.Operands.size() != 4 || !X || !Y || !C || !Mask)
    return false;
  Type *Wide = X->getType();
  auto Splat = [&](int64_t V) { return ConstantInt::getSigned(Wide, V); };
  Value *V = nullptr;
  if (Op == "avrg") {
    // Rounded to the nearest, halves up; below zero halves down.
    Value *Sum = B.CreateAdd(X, Y);
    Value *Up = B.CreateZExt(B.CreateICmpSGE(Sum, Splat(0)), Wide);
    V = B.CreateAShr(B.CreateAdd(Sum, Up), Splat(1));
  } else {
    V = operation(B, S, Op, X, Y);
  }
  if (S.has("sat"))
    V = clamped(B, V, Bits, !Set && isSigned(Types[0]));
  if (S.has("add")) {
    for (unsigned I = 0; I < Count; ++I)
      if (*Mask >> I & 1)
        C = B.CreateAdd(C, B.CreateExtractElement(V, I));
    return L.write(To.Of, C);
  }
  auto *Narrow = FixedVectorType::get(B.getIntNTy(Bits), Count);
  SmallVector<int> Pick;
  for (unsigned I = 0; I < Count; ++I)
    Pick.push_back(static_cast<int>(*Mask >> I & 1 ? I : Count + I));
  return L.write(To.Of,
                 B.CreateShuffleVector(B.CreateTrunc(V, Narrow),
                                       B.CreateBitCast(C, Narrow), Pick));
}

} // namespace cupilot
