//===- IntrinsicValues.cpp - Registers, arithmetic, conversions -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IntrinsicLowering.h"
#include "Ptx/NarrowFormats.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include <cfenv>
#include <optional>

using namespace llvm;

namespace cupilot {

std::optional<Value *> IntrinsicLowering::lowerSpecialRegister(StringRef Name,
                                                               CallInst &Call,
                                                               IRBuilder<> &B) {
  if (!Name.consume_front("read.ptx.sreg."))
    return std::nullopt;
  unsigned Index = Name.ends_with(".y") ? 1 : Name.ends_with(".z") ? 2 : 0;
  auto [Base, Dim] = Name.split('.');
  if (!Dim.empty())
    for (auto [Register, Field] : {std::pair("tid", FieldTid),
                                   {"ntid", FieldNtid},
                                   {"ctaid", FieldCtaid},
                                   {"nctaid", FieldNctaid}})
      if (Base == Register)
        return field(B, Field, Index);
  Value *Linear = field(B, FieldLinear);
  Value *Lane = B.CreateAnd(Linear, 31);
  Value *One = B.getInt32(1);
  if (Name == "laneid")
    return Lane;
  if (Name == "warpid")
    return B.CreateLShr(Linear, 5);
  if (Name == "warpsize")
    return B.getInt32(32);
  if (Name == "lanemask.eq")
    return B.CreateShl(One, Lane);
  if (Name == "lanemask.lt")
    return B.CreateSub(B.CreateShl(One, Lane), One);
  if (Name == "lanemask.le")
    return B.CreateSub(B.CreateShl(B.getInt32(2), Lane), One);
  if (Name == "lanemask.gt")
    return B.CreateNot(B.CreateSub(B.CreateShl(B.getInt32(2), Lane), One));
  if (Name == "lanemask.ge")
    return B.CreateNot(B.CreateSub(B.CreateShl(One, Lane), One));
  for (auto [Register, Kind] :
       {std::pair("clusterid", SpecialRegister::ClusterId),
        {"nclusterid", SpecialRegister::ClusterCount},
        {"cluster.ctaid", SpecialRegister::BlockInCluster},
        {"cluster.nctaid", SpecialRegister::BlocksInCluster},
        {"cluster.ctarank", SpecialRegister::ClusterRank},
        {"cluster.nctarank", SpecialRegister::ClusterSize}})
    if (Name == Register ||
        (Name.drop_back(2) == Register && (Index || Name.ends_with(".x"))))
      return runtime(
          B, "cupilot_rt_special", B.getInt32Ty(),
          {Entry.getArg(0), B.getInt32(static_cast<uint32_t>(Kind) + Index)});
  // Where the driver puts the address of a cooperative launch's own memory.
  if (Name == "envreg1" || Name == "envreg2")
    return runtime(
        B, "cupilot_rt_special", B.getInt32Ty(),
        {Entry.getArg(0),
         B.getInt32(static_cast<uint32_t>(SpecialRegister::Workspace) +
                    (Name == "envreg1" ? 1 : 0))});
  if (Name.starts_with("envreg"))
    return B.getInt32(0);
  if (Name == "total_smem_size" || Name == "aggr_smem_size")
    return runtime(B, "cupilot_rt_special", B.getInt32Ty(),
                   {Entry.getArg(0), B.getInt32(static_cast<uint32_t>(
                                         SpecialRegister::SharedBytes))});
  if (Name == "globaltimer.lo")
    return B.CreateTrunc(runtime(B, "cupilot_rt_clock", B.getInt64Ty(), {}),
                         B.getInt32Ty());
  if (Name == "smid" || Name == "gridid")
    return ConstantInt::get(Call.getType(), 0);
  if (Name == "nsmid")
    return B.getInt32(1);
  if (Name == "nwarpid")
    return B.getInt32(64);
  if (Name == "dynamic_smem_size")
    return field(B, FieldDynShared);
  if (Name == "clock64" || Name == "globaltimer")
    return runtime(B, "cupilot_rt_clock", B.getInt64Ty(), {});
  if (Name == "clock")
    return B.CreateTrunc(runtime(B, "cupilot_rt_clock", B.getInt64Ty(), {}),
                         B.getInt32Ty());
  return std::nullopt;
}

/// Arithmetic that rounds to zero (.rz), down (.rm) or up (.rp).
Value *IntrinsicLowering::rounded(StringRef Name, RoundedOp Op, Type *T,
                                  ArrayRef<Value *> Args, IRBuilder<> &B) {
  Type *Double = B.getDoubleTy(), *I32 = B.getInt32Ty();
  int Mode = Name.contains(".rz")   ? FE_TOWARDZERO
             : Name.contains(".rm") ? FE_DOWNWARD
                                    : FE_UPWARD;
  SmallVector<Value *> All = {
      ConstantInt::get(I32, static_cast<uint32_t>(Op)),
      ConstantInt::get(I32, static_cast<uint32_t>(Mode)),
      ConstantInt::get(I32, T->isFloatTy())};
  for (unsigned I = 0; I < 3; ++I)
    All.push_back(I < Args.size() ? B.CreateFPCast(Args[I], Double)
                                  : ConstantFP::get(Double, 0.0));
  return B.CreateFPCast(runtime(B, "cupilot_rt_rounded", Double, All), T);
}

std::optional<Value *>
IntrinsicLowering::lowerFloat(StringRef Name, CallInst &Call, IRBuilder<> &B) {
  Type *T = Call.getType();
  if (!T->isFPOrFPVectorTy())
    return std::nullopt;
  bool Flush = Name.contains(".ftz") && T->isFloatTy();
  auto Arg = [&](unsigned I) -> Value * {
    Value *V = Call.getArgOperand(I);
    return Flush && V->getType()->isFloatTy() ? flushed(B, V) : V;
  };
  auto Is = [&](StringRef Prefix) { return Name.starts_with(Prefix); };
  auto Unary = [&](Intrinsic::ID Id) -> Value * {
    return B.CreateUnaryIntrinsic(Id, Arg(0));
  };
  // Only rounding to nearest is the host's.
  bool Nearest =
      !Name.contains(".rz") && !Name.contains(".rm") && !Name.contains(".rp");
  auto Finish = [&](Value *V) -> Value * {
    if (Flush)
      V = flushed(B, V);
    if (Name.contains(".sat"))
      V = saturated(B, V);
    return Name.contains(".relu") ? rectified(B, V) : V;
  };
  // Division by .approx and .full has no direction.
  if (auto Op = StringSwitch<std::optional<RoundedOp>>(Name.split('.').first)
                    .Case("add", RoundedOp::Add)
                    .Case("mul", RoundedOp::Mul)
                    .Case("fma", RoundedOp::Fma)
                    .Case("div", RoundedOp::Div)
                    .Case("rcp", RoundedOp::Rcp)
                    .Case("sqrt", RoundedOp::Sqrt)
                    .Default(std::nullopt);
      Op && !Nearest && (T->isFloatTy() || T->isDoubleTy())) {
    SmallVector<Value *> Args;
    for (unsigned I = 0; I < Call.arg_size(); ++I)
      Args.push_back(Arg(I));
    return Finish(rounded(Name, *Op, T, Args, B));
  }
  if (Is("fma.r") && Nearest)
    return Finish(
        T->getScalarSizeInBits() == 16
            ? narrowFma(B, Arg(0), Arg(1), Arg(2))
            : B.CreateIntrinsic(Intrinsic::fma, {T}, {Arg(0), Arg(1), Arg(2)}));
  if (Is("add.r") && Nearest)
    return Finish(B.CreateFAdd(Arg(0), Arg(1)));
  if (Is("mul.r") && Nearest)
    return Finish(B.CreateFMul(Arg(0), Arg(1)));
  if (Is("div.") && Nearest)
    return Finish(B.CreateFDiv(Arg(0), Arg(1)));
  if (Is("rcp.") && Nearest)
    return Finish(B.CreateFDiv(ConstantFP::get(T, 1.0), Arg(0)));
  if (Is("sqrt.") && Nearest)
    return Finish(Unary(Intrinsic::sqrt));
  if (Is("rsqrt."))
    return Finish(
        B.CreateFDiv(ConstantFP::get(T, 1.0), Unary(Intrinsic::sqrt)));
  // CUDA C++ Programming Guide, "Mathematical Functions": absolute errors of
  // the special units.
  if (Is("sin.approx"))
    return quantised(B, Unary(Intrinsic::sin), 0x1p-21);
  if (Is("cos.approx"))
    return quantised(B, Unary(Intrinsic::cos), 0x1p-21);
  if (Is("lg2.approx"))
    return Unary(Intrinsic::log2);
  if (Is("ex2.approx")) {
    if (T->getScalarSizeInBits() != 16)
      return Finish(Unary(Intrinsic::exp2));
    Value *Wide = B.CreateFPExt(Arg(0), T->getWithNewType(B.getFloatTy()));
    return B.CreateFPTrunc(B.CreateUnaryIntrinsic(Intrinsic::exp2, Wide), T);
  }
  if (Is("tanh.approx") && T->isFloatTy())
    return quantised(B, runtime(B, "tanhf", T, {Arg(0)}), 0x1p-11);
  if (Is("neg."))
    return B.CreateFNeg(Arg(0));
  if (Is("fabs"))
    return Unary(Intrinsic::fabs);
  if (Is("floor."))
    return Unary(Intrinsic::floor);
  if (Is("ceil."))
    return Unary(Intrinsic::ceil);
  if (Is("trunc."))
    return Unary(Intrinsic::trunc);
  if (Is("round."))
    return Unary(Intrinsic::rint);
  if (Is("saturate."))
    return saturated(B, Arg(0));
  if (Is("fmax.") || Is("fmin."))
    return floatMinMax(B, Arg(0), Arg(1), Is("fmax."), Name.contains(".nan"),
                       Name.contains("xorsign"));
  return std::nullopt;
}

/// The rounding that a conversion's name asks for.
static Rounding roundingIn(StringRef Name) {
  return roundingOf(Name.contains(".rz")   ? "rz"
                    : Name.contains(".rm") ? "rm"
                    : Name.contains(".rp") ? "rp"
                                           : "rn");
}

std::optional<Value *> IntrinsicLowering::lowerConversion(StringRef Name,
                                                          CallInst &Call,
                                                          IRBuilder<> &B) {
  auto Arg = [&](unsigned I) { return Call.getArgOperand(I); };
  Type *T = Call.getType();
  if (Name == "d2i.lo")
    return B.CreateTrunc(B.CreateBitCast(Arg(0), B.getInt64Ty()), T);
  if (Name == "d2i.hi")
    return B.CreateTrunc(
        B.CreateLShr(B.CreateBitCast(Arg(0), B.getInt64Ty()), 32), T);
  if (Name == "lohi.i2d") {
    Value *High = B.CreateShl(B.CreateZExt(Arg(1), B.getInt64Ty()), 32);
    return B.CreateBitCast(
        B.CreateOr(High, B.CreateZExt(Arg(0), B.getInt64Ty())), T);
  }
  if (Name.starts_with("bitcast."))
    return B.CreateBitCast(Arg(0), T);
  StringRef Base = Name.split('.').first;
  auto Among = [&](ArrayRef<StringRef> Names) {
    return is_contained(Names, Base);
  };
  Rounding Mode = roundingIn(Name);
  bool Signed = Among({"f2i", "f2ll", "d2i", "d2ll"});
  if (Signed || Among({"f2ui", "f2ull", "d2ui", "d2ull"}))
    return floatToInteger(B,
                          Name.contains(".ftz") ? flushed(B, Arg(0)) : Arg(0),
                          T, Signed, Mode);
  Signed = Among({"i2f", "ll2f", "i2d", "ll2d"});
  if (Signed || Among({"ui2f", "ull2f", "ui2d", "ull2d"}))
    return integerToFloat(B, Arg(0), T, Signed, Mode);
  if (Base == "d2f") {
    Value *V = narrowFloat(B, Arg(0), T, Mode);
    return Name.contains(".ftz") ? flushed(B, V) : V;
  }
  auto Finish = [&](Value *V) {
    if (Name.contains(".relu"))
      V = rectified(B, V);
    return Name.contains(".satfinite") ? finiteOnly(B, V) : V;
  };
  if (Among({"f2f16", "f2bf16"}))
    return Finish(narrowFloat(B, Arg(0), T, Mode));
  if (Among({"ff2f16x2", "ff2bf16x2"}) && !Name.contains(".rs")) {
    Value *Pair = PoisonValue::get(T); // The first argument is the upper half.
    for (unsigned I = 0; I < 2; ++I)
      Pair = B.CreateInsertElement(
          Pair, Finish(narrowFloat(B, Arg(1 - I), T->getScalarType(), Mode)),
          I);
    return Pair;
  }
  if (Name == "f2h.rn" || Name == "f2h.rn.ftz")
    return B.CreateBitCast(B.CreateFPTrunc(Arg(0), B.getHalfTy()), T);
  return std::nullopt;
}

} // namespace cupilot
