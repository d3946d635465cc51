//===- IntrinsicIntegers.cpp - Integers, bits and address spaces -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IntrinsicLowering.h"
#include "llvm/ADT/StringSwitch.h"
#include <optional>

using namespace llvm;

namespace cupilot {

std::optional<Value *> IntrinsicLowering::lowerInteger(StringRef Name,
                                                       CallInst &Call,
                                                       IRBuilder<> &B) {
  auto Arg = [&](unsigned I) { return Call.getArgOperand(I); };
  Type *T = Call.getType();
  auto High = [&](bool Signed) -> Value * {
    unsigned Bits = T->getIntegerBitWidth();
    Type *Double = B.getIntNTy(2 * Bits);
    auto Extend = [&](Value *V) {
      return Signed ? B.CreateSExt(V, Double) : B.CreateZExt(V, Double);
    };
    return B.CreateTrunc(
        B.CreateLShr(B.CreateMul(Extend(Arg(0)), Extend(Arg(1))), Bits), T);
  };
  if (Name == "mulhi.i" || Name == "mulhi.ll" || Name == "mulhi.s")
    return High(true);
  if (Name == "mulhi.ui" || Name == "mulhi.ull" || Name == "mulhi.us")
    return High(false);
  if (Name == "mul24.i") {
    auto Low = [&](Value *V) { return B.CreateAShr(B.CreateShl(V, 8), 8); };
    return B.CreateMul(Low(Arg(0)), Low(Arg(1)));
  }
  if (Name == "mul24.ui")
    return B.CreateMul(B.CreateAnd(Arg(0), 0xffffff),
                       B.CreateAnd(Arg(1), 0xffffff));
  if (Name.starts_with("sad.")) {
    bool Signed = !Name.contains(".u");
    Value *Greater = B.CreateICmp(
        Signed ? CmpInst::ICMP_SGT : CmpInst::ICMP_UGT, Arg(0), Arg(1));
    Value *Difference = B.CreateSelect(Greater, B.CreateSub(Arg(0), Arg(1)),
                                       B.CreateSub(Arg(1), Arg(0)));
    return B.CreateAdd(Difference, Arg(2));
  }
  if (Name == "prmt" || Name.starts_with("prmt.")) {
    StringRef Mode = Name == "prmt" ? "" : Name.drop_front(5);
    // The modes with one source have no second operand.
    bool One = Call.arg_size() == 2;
    return permuteBytes(B, Mode, Arg(0), One ? B.getInt32(0) : Arg(1),
                        Arg(One ? 1 : 2));
  }
  if (Name.starts_with("idp2a."))
    return B.CreateSelect(
        Arg(2),
        dotProduct2(B, Arg(0), Arg(1), Arg(3), Name.starts_with("idp2a.s"),
                    Name.ends_with(".s"), /*High=*/true),
        dotProduct2(B, Arg(0), Arg(1), Arg(3), Name.starts_with("idp2a.s"),
                    Name.ends_with(".s"), /*High=*/false));
  if (Name.starts_with("bmsk."))
    return bitMask(B, Arg(0), Arg(1), Name == "bmsk.clamp");
  if (Name.starts_with("sext.") || Name.starts_with("zext."))
    return extendBits(B, Arg(0), Arg(1), Name.ends_with(".clamp"),
                      Name.starts_with("sext."));
  if (Name == "fns")
    return runtime(B, "cupilot_rt_fns", T, {Arg(0), Arg(1), Arg(2)});
  if (Name == "fshl.clamp" || Name == "fshr.clamp") {
    bool Left = Name == "fshl.clamp";
    Type *I64 = B.getInt64Ty();
    Value *Pair = B.CreateOr(B.CreateShl(B.CreateZExt(Arg(0), I64), 32),
                             B.CreateZExt(Arg(1), I64));
    Value *Amount = B.CreateZExt(
        B.CreateBinaryIntrinsic(Intrinsic::umin, Arg(2), B.getInt32(32)), I64);
    return B.CreateTrunc(Left ? B.CreateLShr(B.CreateShl(Pair, Amount), 32)
                              : B.CreateLShr(Pair, Amount),
                         T);
  }
  if (Name.starts_with("flo.")) {
    Value *X = Arg(0);
    unsigned Bits = X->getType()->getIntegerBitWidth();
    if (Name == "flo.s")
      X = B.CreateXor(X, B.CreateAShr(X, Bits - 1));
    Value *Zeros = B.CreateTrunc(
        B.CreateBinaryIntrinsic(Intrinsic::ctlz, X, B.getFalse()), T);
    Value *Found = B.CreateSelect(
        Arg(1), Zeros, B.CreateSub(ConstantInt::get(T, Bits - 1), Zeros));
    return B.CreateSelect(B.CreateIsNull(X), Constant::getAllOnesValue(T),
                          Found);
  }
  if (Name == "internal.addrspace.wrap")
    return B.CreatePointerBitCastOrAddrSpaceCast(Arg(0), T);
  if (Name.starts_with("idp4a."))
    return dotProduct4(B, Arg(0), Arg(1), Arg(2), Name.starts_with("idp4a.s"),
                       Name.ends_with(".s"));
  if (Name.starts_with("ldg.global") || Name.starts_with("ldu.global"))
    return B.CreateAlignedLoad(T, Arg(0), Align(1));
  if (Name.starts_with("ptr.") && Name.contains(".to."))
    return B.CreatePointerBitCastOrAddrSpaceCast(Arg(0), T);
  if (Name.starts_with("mapa"))
    return B.CreatePointerBitCastOrAddrSpaceCast(
        runtime(B, "cupilot_rt_mapa", B.getPtrTy(),
                {Entry.getArg(0),
                 B.CreatePointerBitCastOrAddrSpaceCast(Arg(0), B.getPtrTy()),
                 Arg(1)}),
        T);
  if (Name.starts_with("getctarank"))
    return runtime(B, "cupilot_rt_getctarank", T,
                   {Entry.getArg(0), B.CreatePointerBitCastOrAddrSpaceCast(
                                         Arg(0), B.getPtrTy())});
  if (Name == "is_explicit_cluster")
    return B.CreateIsNotNull(runtime(
        B, "cupilot_rt_special", B.getInt32Ty(),
        {Entry.getArg(0),
         B.getInt32(static_cast<uint32_t>(SpecialRegister::ExplicitCluster))}));
  if (Name == "isspacep.const") {
    Value *Address = B.CreatePtrToInt(Arg(0), B.getInt64Ty());
    Value *Inside = B.getFalse();
    const Module &M = *Entry.getParent();
    for (const GlobalVariable &G : M.globals())
      if (G.getAddressSpace() == 4 && !G.isDeclaration())
        Inside = B.CreateOr(
            Inside,
            B.CreateICmpULT(
                B.CreateSub(Address,
                            B.CreatePtrToInt(const_cast<GlobalVariable *>(&G),
                                             B.getInt64Ty())),
                B.getInt64(
                    M.getDataLayout().getTypeAllocSize(G.getValueType()))));
    return Inside;
  }
  if (Name.starts_with("isspacep.")) {
    unsigned Space = StringSwitch<unsigned>(Name)
                         .Case("isspacep.shared", 3)
                         .Case("isspacep.shared.cluster", 7)
                         .Case("isspacep.local", 5)
                         .Default(1);
    return B.CreateICmpNE(runtime(B, "cupilot_rt_space", B.getInt32Ty(),
                                  {Entry.getArg(0), Arg(0), B.getInt32(Space)}),
                          B.getInt32(0));
  }
  return std::nullopt;
}

} // namespace cupilot
