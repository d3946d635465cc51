//===- PtxInteger.cpp - Integer instructions of inline PTX -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxRules.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Support/KnownBits.h"

using namespace llvm;

namespace cupilot {

static bool isSigned(const PtxStatement &S) {
  return S.types().back().starts_with("s");
}

/// \p V zero- or sign-extended to twice the bits.
static Value *twice(IRBuilder<> &B, Value *V, bool Signed) {
  return B.CreateIntCast(V, B.getIntNTy(2 * V->getType()->getIntegerBitWidth()),
                         Signed);
}

Value *clampedTo(BodyLowering &L, Value *V, unsigned Bits, bool Signed) {
  Type *T = V->getType();
  unsigned Width = T->getIntegerBitWidth();
  APInt Low = Signed ? APInt::getSignedMinValue(Bits).sext(Width)
                     : APInt::getZero(Width),
        High = Signed ? APInt::getSignedMaxValue(Bits).sext(Width)
                      : APInt::getMaxValue(Bits).zext(Width);
  // An end that no operand comes to is no decision.
  const DataLayout &DL = L.B.GetInsertBlock()->getDataLayout();
  const KnownBits Known = computeKnownBits(V, DL);
  if (Signed && ComputeMaxSignificantBits(V, DL) <= Bits)
    return V;
  if (!Known.isNonNegative())
    V = L.written(L.B.CreateBinaryIntrinsic(Intrinsic::smax, V,
                                            ConstantInt::get(T, Low)));
  if (!Known.isNonNegative() || Known.countMaxActiveBits() > Bits - Signed)
    V = L.written(L.B.CreateBinaryIntrinsic(Intrinsic::smin, V,
                                            ConstantInt::get(T, High)));
  return V;
}

/// a + b + carry or a - b - borrow; sets the flag when asked to.
static Value *chained(BodyLowering &L, Value *X, Value *Y, bool Subtract,
                      bool Chain, bool Set) {
  IRBuilder<> &B = L.B;
  unsigned Bits = X->getType()->getIntegerBitWidth();
  // One bit more than the operands shows the carry or the borrow.
  Type *Wide = B.getIntNTy(Bits + 1);
  Value *In = nullptr;
  if (Chain && !(In = L.carry()))
    return nullptr;
  Value *A = B.CreateZExt(X, Wide), *C = B.CreateZExt(Y, Wide);
  if (In)
    C = B.CreateAdd(C, B.CreateZExt(In, Wide));
  Value *Sum = Subtract ? B.CreateSub(A, C) : B.CreateAdd(A, C);
  if (Set)
    L.setCarry(B.CreateTrunc(B.CreateLShr(Sum, Bits), B.getInt1Ty()));
  return B.CreateTrunc(Sum, X->getType());
}

bool ptxAddSub(BodyLowering &L, const PtxStatement &S) {
  auto Args = ptxSources(L, S, 2);
  if (Args.empty())
    return false;
  bool Subtract = S.base().starts_with("sub"), Signed = isSigned(S);
  IRBuilder<> &B = L.B;
  if (S.base().ends_with("c") || S.has("cc")) {
    if (Args[0]->getType()->isVectorTy() || S.has("sat"))
      return false;
    return L.write(S, chained(L, Args[0], Args[1], Subtract,
                              S.base().ends_with("c"), S.has("cc")));
  }
  if (S.has("sat")) {
    Type *T = Args[0]->getType();
    if (T->isVectorTy())
      return L.write(
          S,
          B.CreateBinaryIntrinsic(
              Subtract ? (Signed ? Intrinsic::ssub_sat : Intrinsic::usub_sat)
                       : (Signed ? Intrinsic::sadd_sat : Intrinsic::uadd_sat),
              Args[0], Args[1]));
    // A maximum and a minimum, which decide.
    Value *X = twice(B, Args[0], Signed), *Y = twice(B, Args[1], Signed);
    Value *V = clampedTo(L, Subtract ? B.CreateSub(X, Y) : B.CreateAdd(X, Y),
                         T->getIntegerBitWidth(), Signed);
    return L.write(S, B.CreateTrunc(V, T));
  }
  return L.write(S, Subtract ? B.CreateSub(Args[0], Args[1])
                             : B.CreateAdd(Args[0], Args[1]));
}

bool ptxMultiply(BodyLowering &L, const PtxStatement &S) {
  IRBuilder<> &B = L.B;
  bool Add = S.base() != "mul", Signed = isSigned(S), Wide = S.has("wide");
  unsigned Bits = ptxTypeBits(S.types().back());
  if (S.Operands.size() != (Add ? 4 : 3) || (Wide && Bits == 64))
    return false;
  Value *X = L.read(S.operand(1), Bits), *Y = L.read(S.operand(2), Bits);
  Value *Z = Add ? L.read(S.operand(3), Wide ? 2 * Bits : Bits) : nullptr;
  if (!X || !Y || (Add && !Z))
    return false;
  Value *Product = B.CreateMul(twice(B, X, Signed), twice(B, Y, Signed));
  if (S.has("hi"))
    Product = L.written(B.CreateLShr(Product, Bits));
  if (!Wide)
    Product = B.CreateTrunc(Product, X->getType());
  if (!Add)
    return L.write(S, Product);
  if (S.has("sat")) // Only mad.hi.sat.s32 exists.
    return S.has("hi") && S.has("s32") &&
           L.write(S, B.CreateBinaryIntrinsic(Intrinsic::sadd_sat, Product, Z));
  if (S.base() == "madc" || S.has("cc"))
    return !Wide && L.write(S, chained(L, Product, Z, /*Subtract=*/false,
                                       S.base() == "madc", S.has("cc")));
  return L.write(S, B.CreateAdd(Product, Z));
}

/// Products of 24-bit numbers: the lower or the upper 32 of 48 bits.
bool ptxMultiply24(BodyLowering &L, const PtxStatement &S) {
  bool Add = S.base() == "mad24", Signed = isSigned(S);
  auto Args = ptxSources(L, S, Add ? 3 : 2);
  if (Args.empty())
    return false;
  IRBuilder<> &B = L.B;
  auto Cut = [&](Value *V) {
    V = B.CreateIntCast(B.CreateTrunc(V, B.getIntNTy(24)), B.getInt64Ty(),
                        Signed);
    return V;
  };
  Value *Product = B.CreateMul(Cut(Args[0]), Cut(Args[1]));
  if (S.has("hi"))
    Product = B.CreateLShr(Product, 16);
  Product = B.CreateTrunc(Product, B.getInt32Ty());
  if (S.has("sat"))
    return Add && L.write(S, B.CreateBinaryIntrinsic(Intrinsic::sadd_sat,
                                                     Product, Args[2]));
  return L.write(S, Add ? B.CreateAdd(Product, Args[2]) : Product);
}

bool ptxDivide(BodyLowering &L, const PtxStatement &S) {
  auto Args = ptxSources(L, S, 2);
  if (Args.empty())
    return false;
  IRBuilder<> &B = L.B;
  bool Quotient = S.base() == "div";
  // By zero all bits are set. Of 64 bits that is no matter of the code behind,
  // which knows what compilers make of a division in IR.
  Value *Zero = nullptr;
  if (Args[1]->getType()->isIntegerTy(64)) {
    Zero = B.CreateIsNull(Args[1]);
    Args[1] = B.CreateSelect(Zero, B.getInt64(1), Args[1]);
  }
  auto Write = [&](Value *V) {
    return L.write(S, Zero ? B.CreateSelect(Zero, B.getInt64(~uint64_t(0)), V)
                           : V);
  };
  if (isSigned(S))
    return Write(Quotient ? B.CreateSDiv(Args[0], Args[1])
                          : B.CreateSRem(Args[0], Args[1]));
  return Write(Quotient ? B.CreateUDiv(Args[0], Args[1])
                        : B.CreateURem(Args[0], Args[1]));
}

bool ptxSad(BodyLowering &L, const PtxStatement &S) {
  auto Args = ptxSources(L, S, 3);
  if (Args.empty())
    return false;
  IRBuilder<> &B = L.B;
  Value *Less = isSigned(S) ? B.CreateICmpSLT(Args[0], Args[1])
                            : B.CreateICmpULT(Args[0], Args[1]);
  Value *Distance = B.CreateSelect(Less, B.CreateSub(Args[1], Args[0]),
                                   B.CreateSub(Args[0], Args[1]));
  return L.write(S, B.CreateAdd(Distance, Args[2]));
}

bool ptxMinMax(BodyLowering &L, const PtxStatement &S) {
  auto Args = ptxSources(L, S, 2);
  if (Args.empty())
    return false;
  bool Signed = isSigned(S), Min = S.base() == "min";
  Value *V = L.written(L.B.CreateBinaryIntrinsic(
      Min ? (Signed ? Intrinsic::smin : Intrinsic::umin)
          : (Signed ? Intrinsic::smax : Intrinsic::umax),
      Args[0], Args[1]));
  if (S.has("relu")) {
    if (!Signed)
      return false;
    V = L.written(L.B.CreateBinaryIntrinsic(
        Intrinsic::smax, V, Constant::getNullValue(V->getType())));
  }
  return L.write(S, V);
}

bool ptxUnary(BodyLowering &L, const PtxStatement &S) {
  auto Args = ptxSources(L, S, 1);
  if (Args.empty())
    return false;
  IRBuilder<> &B = L.B;
  StringRef Op = S.base();
  Value *X = Args[0];
  if (Op == "abs")
    return L.write(S, B.CreateBinaryIntrinsic(Intrinsic::abs, X, B.getFalse()));
  if (Op == "neg")
    return L.write(S, B.CreateNeg(X));
  if (Op == "not")
    return L.write(S, B.CreateNot(X));
  if (Op == "cnot")
    return L.write(S, B.CreateZExt(L.written(B.CreateIsNull(X)), X->getType()));
  if (Op == "brev")
    return L.write(S, B.CreateUnaryIntrinsic(Intrinsic::bitreverse, X));
  // The result of these has 32 bits, whatever the operand.
  Value *Count =
      Op == "popc" ? B.CreateUnaryIntrinsic(Intrinsic::ctpop, X)
                   : B.CreateBinaryIntrinsic(Intrinsic::ctlz, X, B.getFalse());
  return L.write(S, B.CreateTrunc(Count, B.getInt32Ty()));
}

bool ptxLogic(BodyLowering &L, const PtxStatement &S) {
  auto Args = ptxSources(L, S, 2);
  if (Args.empty())
    return false;
  IRBuilder<> &B = L.B;
  return L.write(S, S.base() == "and"  ? B.CreateAnd(Args[0], Args[1])
                    : S.base() == "or" ? B.CreateOr(Args[0], Args[1])
                                       : B.CreateXor(Args[0], Args[1]));
}

/// lop3.b32 d, a, b, c, table; lop3.or.b32 d|p, a, b, c, table, {!}q.
bool ptxLop3(BodyLowering &L, const PtxStatement &S) {
  bool Any = S.has("or"), WithPredicate = Any || S.has("and");
  if (S.Operands.size() != (WithPredicate ? 6 : 5))
    return false;
  Value *Args[3] = {L.read(S.operand(1), 32), L.read(S.operand(2), 32),
                    L.read(S.operand(3), 32)};
  Value *Number = L.read(S.operand(4), 32);
  if (!Args[0] || !Args[1] || !Args[2] || !Number)
    return false;
  IRBuilder<> &B = L.B;
  // A template parameter arrives as an operand, yet always a constant: as a
  // value it is a choice among the eight rows of the truth table.
  Value *Result = B.getInt32(0);
  for (unsigned Row = 0; Row < 8; ++Row) {
    Value *Bit = B.CreateAnd(B.CreateLShr(Number, Row), 1);
    auto Term = [&](unsigned I) {
      return Row >> (2 - I) & 1 ? Args[I] : B.CreateNot(Args[I]);
    };
    Result =
        B.CreateOr(Result, B.CreateAnd(B.CreateAnd(B.CreateNeg(Bit), Term(0)),
                                       B.CreateAnd(Term(1), Term(2))));
  }
  if (!WithPredicate)
    return L.write(S, Result);
  auto [To, Predicate] = pairOf(S.operand(0));
  Value *With = L.read(S.operand(5), 1);
  if (!Predicate || !With)
    return false;
  Value *Some = L.written(B.CreateIsNotNull(Result));
  return L.write(*To, Result) &&
         L.write(*Predicate,
                 Any ? B.CreateOr(Some, With) : B.CreateAnd(Some, With));
}

/// Amounts beyond the register's size are clamped to it.
bool ptxShift(BodyLowering &L, const PtxStatement &S) {
  unsigned Bits = ptxTypeBits(S.types().back());
  if (S.Operands.size() != 3)
    return false;
  IRBuilder<> &B = L.B;
  Value *X = L.read(S.operand(1), Bits), *Amount = L.read(S.operand(2), 32);
  if (!X || !Amount)
    return false;
  Value *Beyond = B.CreateICmpUGT(Amount, B.getInt32(Bits - 1));
  Amount = B.CreateZExtOrTrunc(
      B.CreateBinaryIntrinsic(Intrinsic::umin, Amount, B.getInt32(Bits - 1)),
      X->getType());
  if (S.base() == "shr" && isSigned(S))
    return L.write(S, L.written(B.CreateAShr(X, Amount)), /*Signed=*/true);
  Value *Shifted = S.base() == "shl" ? B.CreateShl(X, Amount)
                                     : L.written(B.CreateLShr(X, Amount));
  return L.write(
      S, B.CreateSelect(Beyond, ConstantInt::get(X->getType(), 0), Shifted));
}

bool ptxFunnelShift(BodyLowering &L, const PtxStatement &S) {
  auto Args = ptxSources(L, S, 3);
  if (Args.empty())
    return false;
  IRBuilder<> &B = L.B;
  Value *Pair = B.CreateOr(B.CreateShl(twice(B, Args[1], false), 32),
                           twice(B, Args[0], false));
  Value *Amount =
      S.has("clamp")
          ? B.CreateBinaryIntrinsic(Intrinsic::umin, Args[2], B.getInt32(32))
          : B.CreateAnd(Args[2], 31);
  Amount = twice(B, Amount, false);
  Value *Shifted = B.CreateLShr(S.has("l") ? B.CreateShl(Pair, Amount) : Pair,
                                S.has("l") ? B.getInt64(32) : Amount);
  return L.write(S, B.CreateTrunc(L.written(Shifted), B.getInt32Ty()));
}

} // namespace cupilot
