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

/// What an instruction makes of its operands before .ftz, .sat and .relu.
using Operation = function_ref<Value *(ArrayRef<Value *>)>;

/// \p V, what \p Compute made of \p Args, with subnormal numbers made zeros. A
/// number is subnormal when it is one after rounding with all bits of the
/// type's precision: what is rounded to the least normal number because its
/// precision ends there is flushed, too.
static Value *flushedResult(BodyLowering &L, StringRef Op,
                            ArrayRef<Value *> Args, Value *V,
                            Operation Compute) {
  IRBuilder<> &B = L.B;
  Type *T = V->getType();
  V = flushed(B, V);
  if (Op == "add" || Op == "sub" || Op == "sqrt") // Those are exact there.
    return V;
  APFloat Least =
      APFloat::getSmallestNormalized(T->getScalarType()->getFltSemantics());
  // Twice the result keeps its precision.
  auto Tiny = [&] {
    SmallVector<Value *, 4> Twice(Args);
    for (unsigned I = 0; I < Twice.size(); I += 2)
      Twice[I] = B.CreateFAdd(Args[I], Args[I]);
    return B.CreateFCmpOLT(
        B.CreateUnaryIntrinsic(Intrinsic::fabs, Compute(Twice)),
        ConstantFP::get(T, Least + Least));
  };
  Value *Zero =
      B.CreateBinaryIntrinsic(Intrinsic::copysign, ConstantFP::get(T, 0.0), V);
  if (T->isVectorTy())
    return B.CreateSelect(Tiny(), Zero, V);
  Value *Rounded = B.CreateFCmpOEQ(B.CreateUnaryIntrinsic(Intrinsic::fabs, V),
                                   ConstantFP::get(T, Least));
  LLVMContext &C = B.getContext();
  BasicBlock *From = B.GetInsertBlock();
  Function *F = From->getParent();
  BasicBlock *Rare = BasicBlock::Create(C, "least", F),
             *Next = BasicBlock::Create(C, "next", F);
  B.CreateCondBr(Rounded, Rare, Next,
                 MDBuilder(C).createUnlikelyBranchWeights());
  B.SetInsertPoint(Rare);
  Value *Flushed = B.CreateSelect(Tiny(), Zero, V);
  B.CreateBr(Next);
  B.SetInsertPoint(Next);
  PHINode *Result = B.CreatePHI(T, 2);
  Result->addIncoming(V, From);
  Result->addIncoming(Flushed, Rare);
  return Result;
}

static bool finish(BodyLowering &L, const PtxStatement &S, Value *V) {
  if (S.has("sat"))
    V = L.written([&] { return saturated(L.B, V); }, isCompare);
  if (S.has("relu"))
    V = rectified(L.B, V);
  return L.write(S, V);
}

/// What a special unit computes, by the compiler's own intrinsics.
static Value *approximate(BodyLowering &L, const PtxStatement &S, StringRef Op,
                          ArrayRef<Value *> Args) {
  Type *T = Args[0]->getType();
  std::string Form = T->isDoubleTy() ? ".approx.ftz.d"
                     : S.has("ftz")  ? ".approx.ftz.f"
                                     : ".approx.f";
  Value *V = nullptr;
  if (S.has("full"))
    V = L.nvvm(S.has("ftz") ? "div.full.ftz" : "div.full", Args);
  else if (Op == "rcp" && T->isFloatTy() && !S.has("ftz"))
    // There is none for rcp that keeps denormals. The quotient is the same.
    V = L.nvvm("div.full", {ConstantFP::get(T, 1.0), Args[0]});
  else
    V = L.nvvm(Op + Form, Args);
  return S.has("ftz") ? flushed(L.B, V) : V;
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
  if (S.has("approx") || S.has("full"))
    return finish(L, S, approximate(L, S, Op, Args));
  if (Op == "rcp") {
    Op = "div";
    Args.insert(Args.begin(), ConstantFP::get(T, 1.0));
  }
  auto Compute = [&](ArrayRef<Value *> A) -> Value * {
    if (!Direction.empty()) {
      // The compiler's own intrinsics for the same; they are lowered later.
      SmallVector<Value *, 4> Sources(A);
      if (Op == "sub")
        Sources[1] = B.CreateFNeg(A[1]);
      return L.nvvm((Op == "sub" ? "add" : Op) + "." + Direction +
                        (T->isDoubleTy() ? ".d" : ".f"),
                    Sources);
    }
    if (Op == "add")
      return B.CreateFAdd(A[0], A[1]);
    if (Op == "sub")
      return B.CreateFSub(A[0], A[1]);
    if (Op == "mul")
      return B.CreateFMul(A[0], A[1]);
    if (Op == "div")
      return B.CreateFDiv(A[0], A[1]);
    if (Op == "sqrt")
      return B.CreateUnaryIntrinsic(Intrinsic::sqrt, A[0]);
    return B.CreateIntrinsic(Intrinsic::fma, {T}, A);
  };
  Value *V = Compute(Args);
  return finish(L, S,
                S.has("ftz") ? flushedResult(L, Op, Args, V, Compute) : V);
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
  IRBuilder<> &B = L.B;
  // Comparisons, as C++ code would have them.
  Value *Magnitude = B.CreateUnaryIntrinsic(Intrinsic::fabs, Args[0]),
        *Infinity = ConstantFP::getInfinity(Args[0]->getType()),
        *Zero = ConstantFP::get(Args[0]->getType(), 0.0),
        *Normal = ConstantFP::get(Args[0]->getType(),
                                  APFloat::getSmallestNormalized(
                                      Args[0]->getType()->getFltSemantics()));
  auto Test = [&]() -> Value * {
    if (S.has("finite"))
      return B.CreateFCmpOLT(Magnitude, Infinity);
    if (S.has("infinite"))
      return B.CreateFCmpOEQ(Magnitude, Infinity);
    if (S.has("number"))
      return B.CreateFCmpORD(Args[0], Args[0]);
    if (S.has("notanumber"))
      return B.CreateFCmpUNO(Args[0], Args[0]);
    Value *Some = B.CreateFCmpOGT(Magnitude, Zero),
          *Small = B.CreateFCmpOLT(Magnitude, Normal);
    if (S.has("subnormal"))
      return B.CreateAnd(Some, Small);
    return B.CreateAnd(B.CreateFCmpOLT(Magnitude, Infinity),
                       B.CreateNot(B.CreateAnd(Some, Small)));
  };
  return L.write(S, L.written(Test, isCompare));
}

} // namespace cupilot
