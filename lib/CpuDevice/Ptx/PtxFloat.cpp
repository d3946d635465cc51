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

static bool finish(BodyLowering &L, const PtxStatement &S, Value *V) {
  if (S.has("ftz"))
    V = flushed(L.B, V);
  if (S.has("sat"))
    V = saturated(L.B, V);
  if (S.has("relu"))
    V = rectified(L.B, V);
  return L.write(S, V);
}

/// Whether an element is the NaN that tensor copies put where there is nothing.
static Value *isOutOfBounds(IRBuilder<> &B, Value *X) {
  Type *Word = X->getType()->getWithNewType(B.getInt16Ty());
  return B.CreateICmpEQ(B.CreateBitCast(X, Word),
                        ConstantInt::get(Word, 0x7fff));
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
        L, S,
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
    return finish(L, S, V);
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
  if (S.has("oob")) {
    Value *Outside = isOutOfBounds(B, Args[0]);
    for (unsigned I = 1; I < 3; ++I)
      Outside = B.CreateOr(Outside, isOutOfBounds(B, Args[I]));
    V = B.CreateSelect(Outside, ConstantFP::get(T, 0.0), V);
  }
  return finish(L, S, V);
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
                     : S.has("normal")     ? fcNormal
                                           : fcSubnormal;
  return L.write(S, L.B.createIsFPClass(Args[0], Test));
}

} // namespace cupilot
