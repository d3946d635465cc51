//===- InlineAsmValues.cpp - What PTX instructions compute -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InlineAsm.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace cupilot {

Type *AsmLowering::floatType(StringRef Suffix) {
  Type *Half = B.getHalfTy(), *BFloat = B.getBFloatTy();
  return StringSwitch<Type *>(Suffix)
      .Case("f16", Half)
      .Case("bf16", BFloat)
      .Case("f16x2", FixedVectorType::get(Half, 2))
      .Case("bf16x2", FixedVectorType::get(BFloat, 2))
      .Case("f32", B.getFloatTy())
      .Case("f64", B.getDoubleTy())
      .Default(nullptr);
}

unsigned AsmLowering::bitsOf(StringRef Suffix) {
  unsigned Bits = 0;
  if (Suffix.size() < 2 || !StringRef("bus").contains(Suffix[0]) ||
      Suffix.drop_front().getAsInteger(10, Bits))
    return 0;
  return Bits;
}

Value *AsmLowering::computeFloat(const PtxStatement &S, Type *T) {
  if (S.has("rz") || S.has("rm") || S.has("rp") || S.has("xorsign"))
    return nullptr;
  SmallVector<Value *> Args;
  for (const auto &Operand : drop_begin(S.Operands)) {
    Value *V = readAs(Operand.front(), T);
    if (!V)
      return nullptr;
    Args.push_back(V);
  }
  unsigned Count = StringSwitch<unsigned>(S.base())
                       .Cases({"fma", "mad"}, 3)
                       .Cases({"add", "sub", "mul", "div", "min", "max"}, 2)
                       .Default(1);
  if (Args.size() != Count)
    return nullptr;
  auto Unary = [&](Intrinsic::ID Id) {
    return B.CreateUnaryIntrinsic(Id, Args[0]);
  };
  bool Nan = S.has("NaN");
  auto One = [&] { return ConstantFP::get(T, 1.0); };
  StringRef Op = S.base();
  Value *V = nullptr;
  if (Op == "add")
    V = B.CreateFAdd(Args[0], Args[1]);
  else if (Op == "sub")
    V = B.CreateFSub(Args[0], Args[1]);
  else if (Op == "mul")
    V = B.CreateFMul(Args[0], Args[1]);
  else if (Op == "div")
    V = B.CreateFDiv(Args[0], Args[1]);
  else if (Op == "min")
    V = B.CreateBinaryIntrinsic(Nan ? Intrinsic::minimum : Intrinsic::minnum,
                                Args[0], Args[1]);
  else if (Op == "max")
    V = B.CreateBinaryIntrinsic(Nan ? Intrinsic::maximum : Intrinsic::maxnum,
                                Args[0], Args[1]);
  else if (Op == "neg")
    V = B.CreateFNeg(Args[0]);
  else if (Op == "abs")
    V = Unary(Intrinsic::fabs);
  else if (Op == "sqrt")
    V = Unary(Intrinsic::sqrt);
  else if (Op == "rsqrt")
    V = B.CreateFDiv(One(), Unary(Intrinsic::sqrt));
  else if (Op == "rcp")
    V = B.CreateFDiv(One(), Args[0]);
  else if (Op == "ex2")
    V = Unary(Intrinsic::exp2);
  else if (Op == "lg2")
    V = Unary(Intrinsic::log2);
  else if (Op == "fma" || Op == "mad") {
    // A product of two halves is exact in float32; the sum is rounded twice,
    // which differs from one rounding in about one of 2^13 sums.
    if (T->getScalarSizeInBits() == 16) {
      Type *Wide = T->isVectorTy() ? FixedVectorType::get(B.getFloatTy(), 2)
                                   : B.getFloatTy();
      for (Value *&Arg : Args)
        Arg = B.CreateFPExt(Arg, Wide);
      V = B.CreateFPTrunc(B.CreateFAdd(B.CreateFMul(Args[0], Args[1]), Args[2]),
                          T);
    } else {
      V = B.CreateIntrinsic(Intrinsic::fma, {T}, Args);
    }
  }
  if (V && (S.has("sat") || S.has("relu")))
    V = B.CreateBinaryIntrinsic(Intrinsic::maxnum, V, ConstantFP::get(T, 0.0));
  if (V && S.has("sat"))
    V = B.CreateBinaryIntrinsic(Intrinsic::minnum, V, One());
  return V;
}

Value *AsmLowering::computeInteger(const PtxStatement &S, unsigned Bits) {
  StringRef Op = S.base();
  bool Signed = S.type()[0] == 's';
  SmallVector<Value *> Args;
  for (const auto &Operand : drop_begin(S.Operands)) {
    Value *V = read(Operand.front(), Bits);
    if (!V)
      return nullptr;
    Args.push_back(V);
  }
  auto Binary = [&](Intrinsic::ID Id) {
    return B.CreateBinaryIntrinsic(Id, Args[0], Args[1]);
  };
  if (Args.size() == 1) {
    if (Op == "not")
      return B.CreateNot(Args[0]);
    if (Op == "neg")
      return B.CreateNeg(Args[0]);
    if (Op == "abs")
      return B.CreateBinaryIntrinsic(Intrinsic::abs, Args[0], B.getFalse());
    if (Op == "brev")
      return B.CreateUnaryIntrinsic(Intrinsic::bitreverse, Args[0]);
    Value *Count = nullptr; // The result of these has 32 bits.
    if (Op == "popc")
      Count = B.CreateUnaryIntrinsic(Intrinsic::ctpop, Args[0]);
    if (Op == "clz")
      Count = B.CreateBinaryIntrinsic(Intrinsic::ctlz, Args[0], B.getFalse());
    return Count ? B.CreateZExtOrTrunc(Count, B.getInt32Ty()) : nullptr;
  }
  if (Op == "lop3" && Args.size() == 4) {
    auto *Table = dyn_cast<ConstantInt>(Args[3]);
    if (!Table)
      return nullptr;
    Value *Result = ConstantInt::get(Args[0]->getType(), 0);
    for (unsigned Row = 0; Row < 8; ++Row) {
      if (!(Table->getZExtValue() >> Row & 1))
        continue;
      auto Term = [&](unsigned I) {
        return Row >> (2 - I) & 1 ? Args[I] : B.CreateNot(Args[I]);
      };
      Result = B.CreateOr(Result,
                          B.CreateAnd(Term(0), B.CreateAnd(Term(1), Term(2))));
    }
    return Result;
  }
  bool Wide = S.has("wide"), High = S.has("hi");
  if ((Op == "mul" || Op == "mad") && (Wide || S.has("lo"))) {
    Type *T = B.getIntNTy(Wide ? 2 * Bits : Bits);
    Value *Product = B.CreateMul(B.CreateIntCast(Args[0], T, Signed),
                                 B.CreateIntCast(Args[1], T, Signed));
    if (Op == "mul")
      return Args.size() == 2 ? Product : nullptr;
    Value *Sum = read(S.Operands.back().front(), T->getIntegerBitWidth());
    return Sum && Args.size() == 3 ? B.CreateAdd(Product, Sum) : nullptr;
  }
  if (Args.size() != 2 || High || S.has("sat") || S.has("cc"))
    return nullptr;
  if (Op == "add")
    return B.CreateAdd(Args[0], Args[1]);
  if (Op == "sub")
    return B.CreateSub(Args[0], Args[1]);
  if (Op == "shl" || Op == "shr") {
    // PTX ISA: amounts beyond the register's size are clamped to it.
    Value *Most = ConstantInt::get(Args[0]->getType(), Bits - 1);
    Value *Beyond = B.CreateICmpUGT(Args[1], Most);
    Value *Amount = B.CreateBinaryIntrinsic(Intrinsic::umin, Args[1], Most);
    if (Op == "shr" && Signed)
      return B.CreateAShr(Args[0], Amount);
    return B.CreateSelect(Beyond, ConstantInt::get(Args[0]->getType(), 0),
                          Op == "shl" ? B.CreateShl(Args[0], Amount)
                                      : B.CreateLShr(Args[0], Amount));
  }
  if (Op == "and")
    return B.CreateAnd(Args[0], Args[1]);
  if (Op == "or")
    return B.CreateOr(Args[0], Args[1]);
  if (Op == "xor")
    return B.CreateXor(Args[0], Args[1]);
  if (Op == "min")
    return Binary(Signed ? Intrinsic::smin : Intrinsic::umin);
  if (Op == "max")
    return Binary(Signed ? Intrinsic::smax : Intrinsic::umax);
  return nullptr;
}

Value *AsmLowering::convert(const PtxStatement &S) {
  if (S.Op.size() < 3)
    return nullptr;
  StringRef FromName = S.Op.back(), ToName = S.Op[S.Op.size() - 2];
  Type *From = floatType(FromName), *To = floatType(ToName);
  if (From && To && To->isVectorTy() && !From->isVectorTy() &&
      S.Operands.size() == 3 && S.has("rn") && !S.has("relu")) {
    Value *High = readAs(S.Operands[1].front(), From),
          *Low = readAs(S.Operands[2].front(), From);
    if (!High || !Low)
      return nullptr;
    Value *Pair = PoisonValue::get(To);
    Type *Each = To->getScalarType();
    Pair = B.CreateInsertElement(Pair, B.CreateFPTrunc(Low, Each), uint64_t(0));
    return B.CreateInsertElement(Pair, B.CreateFPTrunc(High, Each),
                                 uint64_t(1));
  }
  if (S.Operands.size() != 2)
    return nullptr;
  unsigned FromBits = bitsOf(FromName), ToBits = bitsOf(ToName);
  StringRef Source = S.Operands[1].front();
  bool Signed = FromName.starts_with("s");
  if (FromBits && ToBits && !S.has("sat")) {
    Value *V = read(Source, FromBits);
    return V ? B.CreateIntCast(V, B.getIntNTy(ToBits), Signed) : nullptr;
  }
  Value *V = From ? readAs(Source, From) : nullptr;
  if (!V && FromBits)
    V = read(Source, FromBits);
  if (!V || S.has("sat") || S.has("relu") || (To && To->isVectorTy()) ||
      (From && From->isVectorTy()))
    return nullptr;
  auto Rounded = [&](StringRef Suffix) -> std::optional<Intrinsic::ID> {
    for (auto [Name, Id] : {std::pair("rn", Intrinsic::rint),
                            {"rz", Intrinsic::trunc},
                            {"rm", Intrinsic::floor},
                            {"rp", Intrinsic::ceil}})
      if (S.has((Name + Suffix).str()))
        return Id;
    return std::nullopt;
  };
  if (From && ToBits) {
    auto Id = Rounded("i");
    bool ToSigned = ToName.starts_with("s");
    return Id ? B.CreateIntrinsic(ToSigned ? Intrinsic::fptosi_sat
                                           : Intrinsic::fptoui_sat,
                                  {B.getIntNTy(ToBits), From},
                                  {B.CreateUnaryIntrinsic(*Id, V)})
              : nullptr;
  }
  if (From && From == To) {
    auto Id = Rounded("i");
    return Id ? B.CreateUnaryIntrinsic(*Id, V) : nullptr;
  }
  bool Narrows =
      From && To && From->getScalarSizeInBits() > To->getScalarSizeInBits();
  if ((Narrows || FromBits) && !S.has("rn"))
    return nullptr;
  if (FromBits && To)
    return Signed ? B.CreateSIToFP(V, To) : B.CreateUIToFP(V, To);
  return Narrows ? B.CreateFPTrunc(V, To) : B.CreateFPExt(V, To);
}

/// setp and set; \p T is the type of what is compared.
Value *AsmLowering::compare(const PtxStatement &S, Type *T) {
  if (S.Operands.size() != 3 || S.Op.size() < 3)
    return nullptr;
  Value *L = readAs(S.Operands[1].front(), T),
        *R = readAs(S.Operands[2].front(), T);
  if (!L || !R)
    return nullptr;
  StringRef Relation = S.Op[1];
  if (T->isFPOrFPVectorTy()) {
    auto P = StringSwitch<CmpInst::Predicate>(Relation)
                 .Case("eq", CmpInst::FCMP_OEQ)
                 .Case("ne", CmpInst::FCMP_ONE)
                 .Case("lt", CmpInst::FCMP_OLT)
                 .Case("le", CmpInst::FCMP_OLE)
                 .Case("gt", CmpInst::FCMP_OGT)
                 .Case("ge", CmpInst::FCMP_OGE)
                 .Case("equ", CmpInst::FCMP_UEQ)
                 .Case("neu", CmpInst::FCMP_UNE)
                 .Case("ltu", CmpInst::FCMP_ULT)
                 .Case("leu", CmpInst::FCMP_ULE)
                 .Case("gtu", CmpInst::FCMP_UGT)
                 .Case("geu", CmpInst::FCMP_UGE)
                 .Case("num", CmpInst::FCMP_ORD)
                 .Case("nan", CmpInst::FCMP_UNO)
                 .Default(CmpInst::BAD_FCMP_PREDICATE);
    return P == CmpInst::BAD_FCMP_PREDICATE ? nullptr : B.CreateFCmp(P, L, R);
  }
  bool Signed = S.type()[0] == 's';
  auto P = StringSwitch<CmpInst::Predicate>(Relation)
               .Case("eq", CmpInst::ICMP_EQ)
               .Case("ne", CmpInst::ICMP_NE)
               .Case("lt", Signed ? CmpInst::ICMP_SLT : CmpInst::ICMP_ULT)
               .Case("le", Signed ? CmpInst::ICMP_SLE : CmpInst::ICMP_ULE)
               .Case("gt", Signed ? CmpInst::ICMP_SGT : CmpInst::ICMP_UGT)
               .Case("ge", Signed ? CmpInst::ICMP_SGE : CmpInst::ICMP_UGE)
               .Default(CmpInst::BAD_ICMP_PREDICATE);
  return P == CmpInst::BAD_ICMP_PREDICATE ? nullptr : B.CreateICmp(P, L, R);
}

Value *AsmLowering::compute(const PtxStatement &S) {
  StringRef Op = S.base();
  Type *Float = floatType(S.type());
  unsigned Bits = bitsOf(S.type());
  if (Op == "cvt")
    return convert(S);
  if (Op == "setp" || Op == "set") {
    Type *T = Float ? Float : Bits ? B.getIntNTy(Bits) : nullptr;
    Value *Holds = T ? compare(S, T) : nullptr;
    if (!Holds || Op == "setp")
      return Holds;
    // set.eq.f16x2.f16x2: one or zero of the same type.
    StringRef Result = S.Op[S.Op.size() - 2];
    return Float && Result == S.type()
               ? B.CreateSelect(Holds, ConstantFP::get(Float, 1.0),
                                ConstantFP::get(Float, 0.0))
               : nullptr;
  }
  unsigned Size =
      Float ? static_cast<unsigned>(Float->getPrimitiveSizeInBits()) : Bits;
  if (Op == "mov" && Size && S.Operands.size() == 2 &&
      S.Operands[1].size() == 1)
    return read(S.Operands[1].front(), Size);
  if (Op == "mov" && Size && S.Operands.size() == 2) {
    unsigned Part = Size / static_cast<unsigned>(S.Operands[1].size());
    Value *Packed = B.getIntN(Size, 0);
    for (auto [I, Name] : enumerate(S.Operands[1])) {
      Value *V = read(Name, Part);
      if (!V)
        return nullptr;
      Packed = B.CreateOr(
          Packed, B.CreateShl(B.CreateZExt(V, Packed->getType()), I * Part));
    }
    return Packed;
  }
  if (Op == "selp" && Size && S.Operands.size() == 4) {
    Value *L = read(S.Operands[1].front(), Size),
          *R = read(S.Operands[2].front(), Size),
          *P = Registers.lookup(S.Operands[3].front());
    return L && R && P && P->getType()->isIntegerTy(1) ? B.CreateSelect(P, L, R)
                                                       : nullptr;
  }
  if (Float)
    return computeFloat(S, Float);
  return Bits ? computeInteger(S, Bits) : nullptr;
}

} // namespace cupilot
