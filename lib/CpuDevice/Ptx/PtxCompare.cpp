//===- PtxCompare.cpp - Comparisons and selections of PTX -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceValues.h"
#include "PtxRules.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace cupilot {

/// One bit for each element of the operands; null for a comparison that the
/// type does not have.
static Value *compare(BodyLowering &L, const PtxStatement &S, StringRef Type) {
  llvm::Type *T = L.type(Type);
  Value *X = L.readAs(S.operand(1), T), *Y = L.readAs(S.operand(2), T);
  if (!X || !Y)
    return nullptr;
  IRBuilder<> &B = L.B;
  if (T->isFPOrFPVectorTy()) {
    if (S.has("ftz")) {
      X = flushed(B, X);
      Y = flushed(B, Y);
    }
    auto P = StringSwitch<CmpInst::Predicate>(S.modifiers().front())
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
    return P == CmpInst::BAD_FCMP_PREDICATE ? nullptr
                                            : L.written(B.CreateFCmp(P, X, Y));
  }
  bool Signed = Type.starts_with("s");
  auto P = StringSwitch<CmpInst::Predicate>(S.modifiers().front())
               .Case("eq", CmpInst::ICMP_EQ)
               .Case("ne", CmpInst::ICMP_NE)
               .Case("lt", Signed ? CmpInst::ICMP_SLT : CmpInst::ICMP_ULT)
               .Case("le", Signed ? CmpInst::ICMP_SLE : CmpInst::ICMP_ULE)
               .Case("gt", Signed ? CmpInst::ICMP_SGT : CmpInst::ICMP_UGT)
               .Case("ge", Signed ? CmpInst::ICMP_SGE : CmpInst::ICMP_UGE)
               .Case("lo", CmpInst::ICMP_ULT)
               .Case("ls", CmpInst::ICMP_ULE)
               .Case("hi", CmpInst::ICMP_UGT)
               .Case("hs", CmpInst::ICMP_UGE)
               .Default(CmpInst::BAD_ICMP_PREDICATE);
  return P == CmpInst::BAD_ICMP_PREDICATE ? nullptr
                                          : L.written(B.CreateICmp(P, X, Y));
}

bool isCompare(const Instruction &I) { return isa<CmpInst>(I); }

static bool hasBoolean(const PtxStatement &S) {
  return S.has("and") || S.has("or") || S.has("xor");
}

/// Combined with the predicate operand, when there is one.
static Value *combined(BodyLowering &L, const PtxStatement &S, Value *Holds) {
  if (!hasBoolean(S))
    return S.Operands.size() == 3 ? Holds : nullptr;
  Value *With = S.Operands.size() == 4 ? L.read(S.operand(3), 1) : nullptr;
  if (!With)
    return nullptr;
  if (auto *V = dyn_cast<FixedVectorType>(Holds->getType()))
    With = L.B.CreateVectorSplat(V->getNumElements(), With);
  return S.has("and")  ? L.B.CreateAnd(Holds, With)
         : S.has("or") ? L.B.CreateOr(Holds, With)
                       : L.B.CreateXor(Holds, With);
}

bool ptxSet(BodyLowering &L, const PtxStatement &S) {
  auto Types = S.types();
  Value *Holds = compare(L, S, Types.back());
  if (!Holds || !(Holds = combined(L, S, Holds)))
    return false;
  IRBuilder<> &B = L.B;
  Type *T = L.type(Types.front());
  // f16x2 may give two integers of 16 bits, all ones or zero, in one word.
  if (T->isIntegerTy(32) && Holds->getType()->isVectorTy())
    T = FixedVectorType::get(B.getInt16Ty(), 2);
  if (T->isVectorTy() != Holds->getType()->isVectorTy())
    return false;
  if (T->isIntOrIntVectorTy())
    return L.write(S, B.CreateSExt(Holds, T));
  return L.write(S, B.CreateSelect(Holds, ConstantFP::get(T, 1.0),
                                   ConstantFP::get(T, 0.0)));
}

bool ptxSetPredicate(BodyLowering &L, const PtxStatement &S) {
  Value *Holds = compare(L, S, S.types().back());
  if (!Holds)
    return false;
  IRBuilder<> &B = L.B;
  auto [First, Second] = pairOf(S.operand(0));
  if (Holds->getType()->isVectorTy()) {
    // The two halves set the two predicates.
    Value *Both = combined(L, S, Holds);
    return Both && Second &&
           L.write(*First, B.CreateExtractElement(Both, uint64_t(0))) &&
           L.write(*Second, B.CreateExtractElement(Both, uint64_t(1)));
  }
  Value *Direct = combined(L, S, Holds);
  Value *Inverse = Second ? combined(L, S, B.CreateNot(Holds)) : nullptr;
  return Direct && L.write(*First, Direct) &&
         (!Second || (Inverse && L.write(*Second, Inverse)));
}

bool ptxSelect(BodyLowering &L, const PtxStatement &S) {
  unsigned Bits = ptxTypeBits(S.types().back());
  if (S.Operands.size() != 4)
    return false;
  Type *T = L.type(S.types().back());
  Value *X = L.readAs(S.operand(1), T), *Y = L.readAs(S.operand(2), T),
        *Holds = L.read(S.operand(3), 1);
  return Bits && X && Y && Holds &&
         L.write(S, L.B.CreateSelect(Holds, X, Y),
                 S.types().back().starts_with("s"));
}

/// slct d, a, b, c: a when c is not negative.
bool ptxSelectBySign(BodyLowering &L, const PtxStatement &S) {
  auto Types = S.types();
  if (S.Operands.size() != 4)
    return false;
  Type *T = L.type(Types.front()), *By = L.type(Types.back());
  Value *X = L.readAs(S.operand(1), T), *Y = L.readAs(S.operand(2), T),
        *C = L.readAs(S.operand(3), By);
  if (!X || !Y || !C)
    return false;
  IRBuilder<> &B = L.B;
  Value *Holds = nullptr;
  if (By->isFloatTy()) // -0 is not negative; NaN chooses b.
    Holds = B.CreateFCmpOGE(S.has("ftz") ? flushed(B, C) : C,
                            ConstantFP::get(By, 0.0));
  else
    Holds = B.CreateICmpSGE(C, B.getInt32(0));
  return L.write(S, B.CreateSelect(L.written(Holds), X, Y));
}

} // namespace cupilot
