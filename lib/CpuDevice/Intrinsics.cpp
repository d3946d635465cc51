//===- Intrinsics.cpp - NVVM intrinsics on the host -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each intrinsic of an entry becomes plain IR or a call of the run time. What
// has no rule here is named to the user, never guessed.
//
//===----------------------------------------------------------------------===//

#include "IntrinsicLowering.h"
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

std::optional<Value *>
IntrinsicLowering::lowerWarp(StringRef Name, CallInst &Call, IRBuilder<> &B) {
  auto Arg = [&](unsigned I) { return Call.getArgOperand(I); };
  Type *I32 = B.getInt32Ty(), *I64 = B.getInt64Ty(), *T = Call.getType();
  Value *Zero = B.getInt32(0), *Context = Entry.getArg(0);
  auto Wide = [&](Value *V) -> Value * {
    if (V->getType()->isFloatTy())
      V = B.CreateBitCast(V, I32);
    return B.CreateZExt(V, I64);
  };
  auto Barrier = [&](BarrierKind Kind, Value *Id, Value *Count,
                     Value *Predicate) -> Value * {
    K.NeedsFibers = true;
    return runtime(B, "cupilot_rt_barrier", I32,
                   {Context, B.getInt32(static_cast<uint32_t>(Kind)), Id, Count,
                    Predicate, B.getInt32(place(B))});
  };
  if (Name.consume_front("barrier.cta.")) {
    if (Name == "sync.aligned.all" || Name == "sync.all")
      return Barrier(BarrierKind::Sync, Arg(0), Zero, Zero);
    if (Name == "sync.aligned.count" || Name == "sync.count")
      return Barrier(BarrierKind::Sync, Arg(0), Arg(1), Zero);
    if (!Name.consume_front("red."))
      return std::nullopt;
    StringRef Op = Name.split('.').first;
    BarrierKind Kind = Op == "popc"  ? BarrierKind::Popc
                       : Op == "and" ? BarrierKind::And
                                     : BarrierKind::Or;
    bool Counted = Name.ends_with("count");
    Value *Predicate = B.CreateZExt(Arg(Counted ? 2 : 1), I32);
    Value *Result = Barrier(Kind, Arg(0), Counted ? Arg(1) : Zero, Predicate);
    return T->isIntegerTy(1) ? B.CreateICmpNE(Result, Zero) : Result;
  }
  if (Name == "bar.warp.sync") {
    warp(B, WarpOp::Sync, Arg(0), B.getInt64(0), Zero, Zero);
    return nullptr;
  }
  if (Name == "activemask")
    return activeMask(B);
  if (Name.starts_with("shfl.sync.")) {
    WarpOp Op = Name.contains(".idx.")    ? WarpOp::ShflIdx
                : Name.contains(".up.")   ? WarpOp::ShflUp
                : Name.contains(".down.") ? WarpOp::ShflDown
                                          : WarpOp::ShflBfly;
    Value *Raw =
        B.CreateTrunc(warp(B, Op, Arg(0), Wide(Arg(1)), Arg(2), Arg(3)), I32);
    auto *Pair = dyn_cast<StructType>(T);
    Type *ValueType = Pair ? Pair->getElementType(0) : T;
    Value *Result = B.CreateBitCast(Raw, ValueType);
    if (!Pair)
      return Result;
    Value *Predicate = B.CreateICmpNE(field(B, FieldWarpPredicate), Zero);
    return B.CreateInsertValue(
        B.CreateInsertValue(PoisonValue::get(T), Result, 0), Predicate, 1);
  }
  if (Name.starts_with("vote.")) {
    WarpOp Op = Name.contains("ballot") ? WarpOp::Ballot
                : Name.contains("any")  ? WarpOp::Any
                : Name.contains("all")  ? WarpOp::All
                                        : WarpOp::Uni;
    if (!Name.ends_with(".sync"))
      return std::nullopt;
    Value *Result = warp(B, Op, Arg(0), B.CreateZExt(Arg(1), I64), Zero, Zero);
    return B.CreateTrunc(Result, T);
  }
  if (Name.starts_with("match.")) {
    bool All = Name.starts_with("match.all");
    Value *Result =
        B.CreateTrunc(warp(B, All ? WarpOp::MatchAll : WarpOp::MatchAny, Arg(0),
                           Wide(Arg(1)), Zero, Zero),
                      I32);
    if (!T->isStructTy())
      return Result;
    Value *Predicate = B.CreateICmpNE(field(B, FieldWarpPredicate), Zero);
    return B.CreateInsertValue(
        B.CreateInsertValue(PoisonValue::get(T), Result, 0), Predicate, 1);
  }
  if (Name.consume_front("redux.sync.")) {
    std::optional<WarpOp> Op = StringSwitch<std::optional<WarpOp>>(Name)
                                   .Case("add", WarpOp::ReduceAdd)
                                   .Case("min", WarpOp::ReduceMin)
                                   .Case("max", WarpOp::ReduceMax)
                                   .Case("umin", WarpOp::ReduceUMin)
                                   .Case("umax", WarpOp::ReduceUMax)
                                   .Case("and", WarpOp::ReduceAnd)
                                   .Case("or", WarpOp::ReduceOr)
                                   .Case("xor", WarpOp::ReduceXor)
                                   .Default(std::nullopt);
    if (!Op)
      return std::nullopt;
    return B.CreateTrunc(warp(B, *Op, Arg(1), Wide(Arg(0)), Zero, Zero), I32);
  }
  return std::nullopt;
}

/// Assembly with white space runs made one blank, without braces around it.
static std::string normalised(StringRef Asm) {
  std::string Text;
  for (char C : Asm)
    if (isSpace(C)) {
      if (!Text.empty() && Text.back() != ' ')
        Text += ' ';
    } else if (C != '{' && C != '}') {
      Text += C;
    }
  StringRef Trimmed = StringRef(Text).trim();
  while (Trimmed.consume_back(";"))
    Trimmed = Trimmed.rtrim();
  return Trimmed.str();
}

/// The part of a block's shared memory that sm_80 and newer keep for the
/// system. CUDA's cooperative groups put their barriers there, and ask for its
/// address in every kernel that has a group.
Value *IntrinsicLowering::reservedShared(IRBuilder<> &B) {
  static constexpr unsigned Size = 1024;
  static constexpr char Name[] = "__cupilot_reserved_shared";
  Module &M = *Entry.getParent();
  GlobalVariable *G = M.getNamedGlobal(Name);
  if (!G) {
    auto *T = ArrayType::get(B.getInt8Ty(), Size);
    G = new GlobalVariable(M, T, /*isConstant=*/false,
                           GlobalValue::InternalLinkage, PoisonValue::get(T),
                           Name, nullptr, GlobalValue::NotThreadLocal,
                           /*AddressSpace=*/3);
    G->setAlignment(Align(16));
  }
  return B.CreateAddrSpaceCast(G, B.getPtrTy());
}

/// What lowerInlineAsm left: instructions that need the run time.
std::optional<Value *> IntrinsicLowering::lowerAsm(CallInst &Call,
                                                   IRBuilder<> &B) {
  auto *Asm = cast<InlineAsm>(Call.getCalledOperand());
  std::string Text = normalised(Asm->getAsmString());
  auto Arg = [&](unsigned I) { return Call.getArgOperand(I); };
  Type *T = Call.getType();
  StringRef Op = StringRef(Text).split(' ').first;
  auto Fence = [&]() -> Value * {
    B.CreateFence(AtomicOrdering::SequentiallyConsistent);
    return nullptr;
  };
  if (Text.empty() || Op == "nanosleep.u32")
    return nullptr;
  if (Op.starts_with("membar.") || Op.starts_with("fence."))
    return Fence();
  if (Text == "activemask.b32 $0")
    return activeMask(B);
  if (StringRef(Text).contains("%reserved_smem_offset_1") &&
      StringRef(Text).ends_with("cvta.shared.u64 $0, extended"))
    return B.CreatePtrToInt(reservedShared(B), T);
  if (Op.starts_with("shf.") && Call.arg_size() == 3) {
    bool Left = Op.starts_with("shf.l"), Clamp = Op.contains(".clamp");
    Value *Amount = Arg(2);
    Value *Pair =
        B.CreateOr(B.CreateShl(B.CreateZExt(Arg(1), B.getInt64Ty()), 32),
                   B.CreateZExt(Arg(0), B.getInt64Ty()));
    Amount =
        Clamp ? B.CreateBinaryIntrinsic(Intrinsic::umin, Amount, B.getInt32(32))
              : B.CreateAnd(Amount, 31);
    Value *Wide = B.CreateZExt(Amount, B.getInt64Ty());
    Value *Shifted = Left ? B.CreateLShr(B.CreateShl(Pair, Wide), 32)
                          : B.CreateLShr(Pair, Wide);
    return B.CreateTrunc(Shifted, T);
  }
  if (Op.starts_with("dp4a.")) {
    // dp4a.atype.btype, as the intrinsic idp4a.a.b.
    SmallVector<StringRef> Parts;
    Op.split(Parts, '.');
    if (Parts.size() == 3)
      return lowerInteger(
          ("idp4a." + Parts[1].take_front(1) + "." + Parts[2].take_front(1))
              .str(),
          Call, B);
  }
  if (Op == "bfind.shiftamt.u32" || Op == "bfind.u32") {
    Value *Zeros =
        B.CreateBinaryIntrinsic(Intrinsic::ctlz, Arg(0), B.getFalse());
    Value *Found =
        Op == "bfind.u32" ? B.CreateSub(B.getInt32(31), Zeros) : Zeros;
    return B.CreateSelect(B.CreateICmpEQ(Arg(0), B.getInt32(0)),
                          B.getInt32(~0u), Found);
  }
  if (Op == "bfe.u32" && Call.arg_size() == 3)
    return runtime(B, "cupilot_rt_bfe", T, {Arg(0), Arg(1), Arg(2)});
  if (Op == "mul.hi.u32")
    return lowerInteger("mulhi.ui", Call, B);
  return std::nullopt;
}

std::optional<Value *> IntrinsicLowering::lower(CallInst &Call, StringRef Name,
                                                IRBuilder<> &B) {
  if (Name.consume_front("llvm.nvvm.")) {
    for (auto Rule :
         {&IntrinsicLowering::lowerSpecialRegister,
          &IntrinsicLowering::lowerConversion, &IntrinsicLowering::lowerInteger,
          &IntrinsicLowering::lowerFloat, &IntrinsicLowering::lowerWarp})
      if (std::optional<Value *> Result = (this->*Rule)(Name, Call, B))
        return Result;
    if (Name.starts_with("membar.") || Name.starts_with("fence.")) {
      B.CreateFence(AtomicOrdering::SequentiallyConsistent);
      return nullptr;
    }
    if (Name.starts_with("nanosleep"))
      return nullptr;
    if (Name == "exit")
      return runtime(B, "cupilot_rt_exit", B.getVoidTy(), {Entry.getArg(0)});
    return std::nullopt;
  }
  if (Name == "llvm.trap" || Name == "llvm.debugtrap" ||
      Name == "llvm.ubsantrap")
    return runtime(B, "cupilot_rt_trap", B.getVoidTy(), {Entry.getArg(0)});
  return std::nullopt;
}

std::string IntrinsicLowering::run() {
  SmallVector<CallInst *> Calls;
  for (Instruction &I : instructions(Entry)) {
    if (isa<InvokeInst>(I))
      return "an invoke instruction";
    if (auto *Call = dyn_cast<CallInst>(&I))
      Calls.push_back(Call);
  }
  for (CallInst *Call : Calls) {
    IRBuilder<> B(Call);
    std::optional<Value *> Result;
    if (Call->isInlineAsm()) {
      Result = lowerAsm(*Call, B);
      if (!Result)
        return "the inline assembly '" +
               normalised(
                   cast<InlineAsm>(Call->getCalledOperand())->getAsmString()) +
               "'";
    } else {
      Function *Callee = Call->getCalledFunction();
      if (!Callee)
        return "a call through a pointer";
      StringRef Name = Callee->getName();
      if (Name == "vprintf")
        Result = runtime(
            B, "cupilot_rt_printf", Call->getType(),
            {Entry.getArg(0), Call->getArgOperand(0), Call->getArgOperand(1)});
      else if (Name == "__assertfail" || Name == "__assert_fail")
        Result = runtime(B, "cupilot_rt_assert", B.getVoidTy(),
                         {Entry.getArg(0), Call->getArgOperand(0),
                          Call->getArgOperand(1), Call->getArgOperand(2),
                          Call->getArgOperand(3)});
      else if (Name == "malloc" || Name == "free")
        Result = runtime(
            B, Name == "malloc" ? "cupilot_rt_malloc" : "cupilot_rt_free",
            Call->getType(), {Entry.getArg(0), Call->getArgOperand(0)});
      else if (Name.starts_with("llvm.nvvm.") || Name.ends_with("trap"))
        Result = lower(*Call, Name, B);
      else if (Callee->isIntrinsic() || Name.starts_with("cupilot_rt_"))
        continue;
      else if (!Callee->isDeclaration())
        return "the recursive function '" + Name.str() + "'";
      else if (Callee->doesNotAccessMemory() ||
               Callee->onlyAccessesInaccessibleMemory())
        continue; // A function of the host's libm, put there by lowerLibdevice.
      if (!Result && !Callee->isIntrinsic() && !Name.starts_with("llvm."))
        return "the function '" + demangle(Name) + "', which is not defined,";
      if (!Result)
        return "'" + Name.str() + "'";
    }
    Value *New = *Result;
    if (New && !Call->getType()->isVoidTy())
      Call->replaceAllUsesWith(New);
    Call->eraseFromParent();
  }
  return "";
}

std::string lowerIntrinsics(Function &Entry, LoweredModule &Tables,
                            LoweredKernel &K) {
  return IntrinsicLowering(Entry, Tables, K).run();
}

} // namespace cupilot
