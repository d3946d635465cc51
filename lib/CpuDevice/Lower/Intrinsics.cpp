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
#include "Check/Shadow.h"
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
  bool Aligned = Name.contains(".aligned.");
  auto Barrier = [&](BarrierKind Kind, Value *Id, Value *Count,
                     Value *Predicate) -> Value * {
    K.NeedsFibers = true;
    uint32_t Number =
        static_cast<uint32_t>(Kind) | (Aligned ? AlignedBarrier : 0);
    return runtime(B, "cupilot_rt_barrier", I32,
                   {Context, B.getInt32(Number), Id, Count, Predicate,
                    B.getInt32(place(B))});
  };
  if (Name.consume_front("barrier.cta.")) {
    if (Name == "sync.aligned.all" || Name == "sync.all")
      return Barrier(BarrierKind::Sync, Arg(0), Zero, Zero);
    if (Name == "sync.aligned.count" || Name == "sync.count")
      return Barrier(BarrierKind::Sync, Arg(0), Arg(1), Zero);
    if (Name.starts_with("arrive.") && Call.arg_size() == 2) {
      K.NeedsFibers = true;
      runtime(B, "cupilot_rt_barrier_arrive", B.getVoidTy(),
              {Context, Arg(0), Arg(1), B.getInt32(place(B))});
      return nullptr;
    }
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
  if (Name.starts_with("barrier.cluster.arrive")) {
    K.NeedsFibers = true;
    runtime(B, "cupilot_rt_cluster_arrive", B.getVoidTy(), {Context});
    return nullptr;
  }
  if (Name.starts_with("barrier.cluster.wait")) {
    K.NeedsFibers = true;
    runtime(B, "cupilot_rt_cluster_wait", B.getVoidTy(),
            {Context, B.getInt32(place(B))});
    return nullptr;
  }
  if (Name == "bar.warp.sync") {
    warp(B, WarpOp::Sync, Arg(0), B.getInt64(0), Zero, Zero);
    return nullptr;
  }
  if (Name == "activemask")
    return activeMask(B);
  if (Name == "elect.sync") {
    // The leader is the lowest of the lanes that are there.
    Value *There = B.CreateTrunc(
        warp(B, WarpOp::Ballot, Arg(0), B.getInt64(1), Zero, Zero), I32);
    Value *Leader =
        B.CreateBinaryIntrinsic(Intrinsic::cttz, There, B.getTrue());
    Value *Is = B.CreateICmpEQ(Leader, B.CreateAnd(field(B, FieldLinear), 31));
    return B.CreateInsertValue(
        B.CreateInsertValue(PoisonValue::get(T), Leader, 0), Is, 1);
  }
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
      return Name.starts_with("fm")
                 ? std::optional<Value *>(reduceFloat(Name, Call, B))
                 : std::nullopt;
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
  Module &M = *Entry.getParent();
  GlobalVariable *G = M.getNamedGlobal(ReservedSharedName);
  if (!G) {
    auto *T = ArrayType::get(B.getInt8Ty(), Size);
    G = new GlobalVariable(M, T, /*isConstant=*/false,
                           GlobalValue::InternalLinkage, PoisonValue::get(T),
                           ReservedSharedName, nullptr,
                           GlobalValue::NotThreadLocal,
                           /*AddressSpace=*/3);
    G->setAlignment(Align(16));
  }
  return B.CreateAddrSpaceCast(G, B.getPtrTy());
}

/// What the rules of inline PTX leave to be done with the thread at hand.
std::optional<Value *>
IntrinsicLowering::lowerPtx(StringRef Name, CallInst &Call, IRBuilder<> &B) {
  auto Arg = [&](unsigned I) { return Call.getArgOperand(I); };
  Type *T = Call.getType();
  if (Name == "shared") {
    // The lower half of an address says how far from the block's own shared
    // memory it lies: less than 2 GiB.
    Value *Base = B.CreateLoad(B.getPtrTy(),
                               contextField(B, Entry, FieldShared), "shared");
    Value *Distance = B.CreateSub(
        Arg(0),
        B.CreateTrunc(B.CreatePtrToInt(Base, B.getInt64Ty()), B.getInt32Ty()));
    return B.CreateAddrSpaceCast(
        B.CreateGEP(B.getInt8Ty(), Base,
                    B.CreateSExt(Distance, B.getInt64Ty())),
        T);
  }
  if (Name == "reserved_shared")
    return B.CreateTrunc(B.CreatePtrToInt(reservedShared(B), B.getInt64Ty()),
                         T);
  if (Name == "tanh")
    return quantised(B, runtime(B, "tanhf", T, {Arg(0)}), 0x1p-11);
  for (StringRef Pure : {"fns", "to_narrow", "from_narrow"})
    if (Name == Pure)
      return runtime(B, ("cupilot_rt_" + Name).str(), T,
                     SmallVector<Value *>(Call.args()));
  return std::nullopt;
}

/// Reductions of float32 by way of integers in the same order: NaN lies beyond
/// all numbers, on the side where it is ignored or where it wins.
Value *IntrinsicLowering::reduceFloat(StringRef Name, CallInst &Call,
                                      IRBuilder<> &B) {
  bool Max = Name.starts_with("fmax"), NanWins = Name.contains(".NaN");
  Value *X = Call.getArgOperand(0);
  if (Name.contains(".abs"))
    X = B.CreateUnaryIntrinsic(Intrinsic::fabs, X);
  Type *I32 = B.getInt32Ty();
  auto Ordered = [&](Value *Bits) {
    return B.CreateXor(Bits, B.CreateAnd(B.CreateAShr(Bits, 31), 0x7fffffff));
  };
  Value *Nan = B.getInt32(Max == NanWins ? 0x7fffffff : 0x80000000);
  Value *Key = B.CreateSelect(B.CreateFCmpUNO(X, X), Nan,
                              Ordered(B.CreateBitCast(X, I32)));
  Value *Least = B.CreateTrunc(
      warp(B, Max ? WarpOp::ReduceMax : WarpOp::ReduceMin,
           Call.getArgOperand(1), B.CreateZExt(Key, B.getInt64Ty()),
           B.getInt32(0), B.getInt32(0)),
      I32);
  return B.CreateBitCast(B.CreateSelect(B.CreateICmpEQ(Least, Nan),
                                        B.getInt32(0x7fffffff), Ordered(Least)),
                         B.getFloatTy());
}

/// Instructions and generic intrinsics that mean more on the device.
void IntrinsicLowering::lowerOperations() {
  for (Instruction &I : make_early_inc_range(instructions(Entry))) {
    IRBuilder<> B(&I);
    Value *New = nullptr;
    Type *T = I.getType();
    if (isa<FPToSIInst, FPToUIInst>(I) && T->isIntegerTy() &&
        T->getIntegerBitWidth() <= 64 && T->getIntegerBitWidth() > 1) {
      // Out of range the device clamps; it has no conversion to 8 bits.
      bool Signed = isa<FPToSIInst>(I);
      Type *To = T->getIntegerBitWidth() == 8 ? B.getInt16Ty() : T;
      New = B.CreateTrunc(
          floatToInteger(B, I.getOperand(0), To, Signed, Rounding::Zero), T);
    } else if (auto *Call = dyn_cast<IntrinsicInst>(&I);
               Call && T->isFPOrFPVectorTy() &&
               T->getScalarSizeInBits() == 16 &&
               (Call->getIntrinsicID() == Intrinsic::fma ||
                Call->getIntrinsicID() == Intrinsic::fmuladd)) {
      New = narrowFma(B, Call->getArgOperand(0), Call->getArgOperand(1),
                      Call->getArgOperand(2));
    }
    if (!New)
      continue;
    I.replaceAllUsesWith(New);
    I.eraseFromParent();
  }
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
      if (Name.starts_with("fence.proxy.async") && !Name.contains("global"))
        runtime(B, "cupilot_rt_proxy_fence", B.getVoidTy(), {Entry.getArg(0)});
      return nullptr;
    }
    for (StringRef Hint : {"prefetch", "applypriority.", "discard.",
                           "griddepcontrol.", "pm.event"})
      if (Name.starts_with(Hint))
        return nullptr;
    if (Name.starts_with("nanosleep")) {
      // Who sleeps waits for others.
      K.Yields = true;
      runtime(B, "cupilot_rt_yield", B.getVoidTy(),
              {Entry.getArg(0), B.getInt32(place(B))});
      return nullptr;
    }
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
  lowerOperations();
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
      std::string Text =
          normalised(cast<InlineAsm>(Call->getCalledOperand())->getAsmString());
      if (!Text.empty()) {
        std::string Which;
        if (MDNode *Unknown = Call->getMetadata("cupilot.unknown"))
          Which = (cast<MDString>(Unknown->getOperand(0))->getString() + " of ")
                      .str();
        return Which + "the inline assembly '" + Text + "'";
      }
      Result = nullptr; // Only there to keep the order.
    } else {
      Function *Callee = Call->getCalledFunction();
      if (!Callee)
        continue; // Checked where it runs: guardCalls.
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
      else if (Name == "cupilot.malloc" || Name == "cupilot.free")
        Result = runtime(B,
                         Name == "cupilot.malloc" ? "cupilot_rt_malloc"
                                                  : "cupilot_rt_free",
                         Call->getType(),
                         {Entry.getArg(0), Call->getArgOperand(0),
                          B.getInt32(siteOf(*Call))});
      else if (Name.starts_with("llvm.nvvm.") || Name.ends_with("trap"))
        Result = lower(*Call, Name, B);
      else if (Name.consume_front("__cupilot_ptx_"))
        Result = lowerPtx(Name, *Call, B);
      else if (Callee->isIntrinsic() || Name.starts_with("cupilot_rt_"))
        continue;
      else if (!Callee->isDeclaration())
        continue; // Lowered by itself.
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
