//===- PtxFloat.cpp - Floating-point instructions of PTX -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceValues.h"
#include "PtxRules.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/MDBuilder.h"

using namespace llvm;

namespace cupilot {

SmallVector<Value *, 4> ptxSources(BodyLowering &L, const PtxStatement &S,
                                   unsigned Count) {
  SmallVector<Value *, 4> Args;
  Type *T = L.type(S.types().back());
  if (S.Operands.size() != Count + 1)
    return {};
  for (unsigned I = 1; I <= Count; ++I) {
    Value *V = L.readAs(S.operand(I), T);
    if (!V)
      return {};
    Args.push_back(S.has("ftz") ? flushed(L.B, V) : V);
  }
  return Args;
}

/// Whether the exact result of an operation is smaller than the least normal
/// number of its type; \p Args are not subnormal.
static Value *isTiny(IRBuilder<> &B, StringRef Op, ArrayRef<Value *> Args) {
  Type *T = Args[0]->getType(), *Wide = T->getWithNewType(B.getDoubleTy());
  Value *Least = ConstantFP::get(
      Wide,
      APFloat::getSmallestNormalized(T->getScalarType()->getFltSemantics())
          .convertToDouble());
  auto Widened = [&](unsigned I) { return B.CreateFPExt(Args[I], Wide); };
  auto Absolute = [&](Value *V) {
    return B.CreateUnaryIntrinsic(Intrinsic::fabs, V);
  };
  if (Op == "div" || Op == "rcp") { // x / y < least, as x < y * least.
    Value *Divided = ConstantFP::get(Wide, 1.0);
    if (Op == "div")
      Divided = Absolute(Widened(0));
    return B.CreateFCmpOLT(
        Divided, B.CreateFMul(Absolute(Widened(Op == "div" ? 1 : 0)), Least));
  }
  Value *Product = B.CreateFMul(Widened(0), Widened(1));
  if (Op == "mul")
    return B.CreateFCmpOLT(Absolute(Product), Least);
  // What the sum loses is known exactly, and counts where the rest is equal.
  Value *C = Widened(2), *Sum = B.CreateFAdd(Product, C);
  Value *Part = B.CreateFSub(Sum, Product);
  Value *Lost = B.CreateFAdd(B.CreateFSub(Product, B.CreateFSub(Sum, Part)),
                             B.CreateFSub(C, Part));
  Value *Zero = ConstantFP::get(Wide, 0.0);
  Value *Below = B.CreateAnd(
      B.CreateXor(B.CreateFCmpOLT(Lost, Zero), B.CreateFCmpOLT(Sum, Zero)),
      B.CreateFCmpONE(Lost, Zero));
  return B.CreateOr(B.CreateFCmpOLT(Absolute(Sum), Least),
                    B.CreateAnd(B.CreateFCmpOEQ(Absolute(Sum), Least), Below));
}

/// \p V, the rounded result of \p Op, with numbers that are subnormal before
/// they are rounded made zeros: of those that are rounded to the least normal
/// one, too, which is rare.
static Value *flushedResult(BodyLowering &L, StringRef Op,
                            ArrayRef<Value *> Args, Value *V) {
  IRBuilder<> &B = L.B;
  Type *T = V->getType();
  V = flushed(B, V);
  if (Op == "add" || Op == "sub" || Op == "sqrt") // Those are exact.
    return V;
  Value *Zero =
      B.CreateBinaryIntrinsic(Intrinsic::copysign, ConstantFP::get(T, 0.0), V);
  if (T->isVectorTy())
    return B.CreateSelect(isTiny(B, Op, Args), Zero, V);
  Value *Least = B.CreateFCmpOEQ(
      B.CreateUnaryIntrinsic(Intrinsic::fabs, V),
      ConstantFP::get(T, APFloat::getSmallestNormalized(T->getFltSemantics())));
  LLVMContext &C = B.getContext();
  BasicBlock *From = B.GetInsertBlock();
  Function *F = From->getParent();
  BasicBlock *Rare = BasicBlock::Create(C, "least", F),
             *Next = BasicBlock::Create(C, "next", F);
  B.CreateCondBr(Least, Rare, Next, MDBuilder(C).createUnlikelyBranchWeights());
  B.SetInsertPoint(Rare);
  Value *Flushed = B.CreateSelect(isTiny(B, Op, Args), Zero, V);
  B.CreateBr(Next);
  B.SetInsertPoint(Next);
  PHINode *Result = B.CreatePHI(T, 2);
  Result->addIncoming(V, From);
  Result->addIncoming(Flushed, Rare);
  return Result;
}

static bool finish(BodyLowering &L, const PtxStatement &S, StringRef Op,
                   ArrayRef<Value *> Args, Value *V) {
  if (S.has("ftz") && (S.has("approx") || S.has("full")))
    V = flushed(L.B, V);
  else if (S.has("ftz"))
    V = flushedResult(L, Op, Args, V);
  if (S.has("sat"))
    V = saturated(L.B, V);
  if (S.has("relu"))
    V = rectified(L.B, V);
  return L.write(S, V);
}

bool ptxFloatArithmetic(BodyLowering &L, const PtxStatement &S) {
  StringRef Op = S.base();
  unsigned Count = StringSwitch<unsigned>(Op)
                       .Cases({"fma", "mad"}, 3)
                       .Cases({"add", "sub", "mul", "div"}, 2)
                       .Default(1);
  auto Args = ptxSources(L, S, Count);
  if (Args.empty())
    return false;
  IRBuilder<> &B = L.B;
  Type *T = Args[0]->getType();
  StringRef Direction;
  for (StringRef Each : {"rz", "rm", "rp"})
    if (S.has(Each))
      Direction = Each;
  if (Op == "mad") // As fma on all that has one.
    Op = "fma";
  if (!Direction.empty()) {
    // The compiler's own intrinsics for the same; they are lowered later.
    if (Op == "sub") {
      Op = "add";
      Args[1] = B.CreateFNeg(Args[1]);
    }
    return finish(
        L, S, Op, Args,
        L.nvvm(Op + "." + Direction + (T->isDoubleTy() ? ".d" : ".f"), Args));
  }
  auto One = [&] { return ConstantFP::get(T, 1.0); };
  Value *V = nullptr;
  // The compiler's own intrinsics for what a special unit computes.
  if (S.has("approx") || S.has("full")) {
    std::string Form = T->isDoubleTy() ? ".approx.ftz.d"
                       : S.has("ftz")  ? ".approx.ftz.f"
                                       : ".approx.f";
    if (S.has("full"))
      V = L.nvvm(S.has("ftz") ? "div.full.ftz" : "div.full", Args);
    else if (Op == "rcp" && T->isFloatTy() && !S.has("ftz"))
      // There is none for rcp that keeps denormals. The quotient is the same.
      V = L.nvvm("div.full", {One(), Args[0]});
    else
      V = L.nvvm(Op + Form, Args);
    return finish(L, S, Op, Args, V);
  }
  if (Op == "add")
    V = B.CreateFAdd(Args[0], Args[1]);
  else if (Op == "sub")
    V = B.CreateFSub(Args[0], Args[1]);
  else if (Op == "mul")
    V = B.CreateFMul(Args[0], Args[1]);
  else if (Op == "div")
    V = B.CreateFDiv(Args[0], Args[1]);
  else if (Op == "rcp")
    V = B.CreateFDiv(One(), Args[0]);
  else if (Op == "sqrt")
    V = B.CreateUnaryIntrinsic(Intrinsic::sqrt, Args[0]);
  else
    V = B.CreateIntrinsic(Intrinsic::fma, {T}, Args);
  return finish(L, S, Op, Args, V);
}

bool ptxFloatUnary(BodyLowering &L, const PtxStatement &S) {
  auto Args = ptxSources(L, S, 1);
  if (Args.empty())
    return false;
  return L.write(S, S.base() == "abs"
                        ? L.B.CreateUnaryIntrinsic(Intrinsic::fabs, Args[0])
                        : L.B.CreateFNeg(Args[0]));
}

bool ptxFloatMinMax(BodyLowering &L, const PtxStatement &S) {
  auto Args = ptxSources(L, S, 2);
  if (Args.empty() || S.has("xorsign") != S.has("abs"))
    return false;
  return L.write(S, floatMinMax(L.B, Args[0], Args[1], S.base() == "max",
                                S.has("NaN"), S.has("xorsign")));
}

/// The special unit's functions.
bool ptxFloatApprox(BodyLowering &L, const PtxStatement &S) {
  auto Args = ptxSources(L, S, 1);
  if (Args.empty())
    return false;
  IRBuilder<> &B = L.B;
  Value *X = Args[0];
  Type *T = X->getType();
  StringRef Op = S.base();
  Value *V = nullptr;
  if (Op == "ex2")
    V = B.CreateIntrinsic(S.has("ftz") && T->isFloatTy()
                              ? Intrinsic::nvvm_ex2_approx_ftz
                              : Intrinsic::nvvm_ex2_approx,
                          {T}, {X});
  else if (Op == "tanh")
    V = B.CreateUnaryIntrinsic(Intrinsic::tanh, X);
  else
    V = L.nvvm(Op + (S.has("ftz") ? ".approx.ftz" : ".approx") +
                   (T->isDoubleTy() ? ".d" : ".f"),
               {X});
  if (S.has("ftz"))
    V = flushed(B, V);
  return L.write(S, V);
}

/// copysign d, a, b: b with the sign of a.
bool ptxCopySign(BodyLowering &L, const PtxStatement &S) {
  auto Args = ptxSources(L, S, 2);
  return !Args.empty() &&
         L.write(S, L.B.CreateBinaryIntrinsic(Intrinsic::copysign, Args[1],
                                              Args[0]));
}

bool ptxTestProperty(BodyLowering &L, const PtxStatement &S) {
  auto Args = ptxSources(L, S, 1);
  if (Args.empty())
    return false;
  FPClassTest Test = S.has("finite")       ? fcFinite
                     : S.has("infinite")   ? fcInf
                     : S.has("number")     ? ~fcNan & fcAllFlags
                     : S.has("notanumber") ? fcNan
                     : S.has("normal")     ? fcNormal | fcZero
                                           : fcSubnormal;
  return L.write(S, L.B.createIsFPClass(Args[0], Test));
}

} // namespace cupilot
