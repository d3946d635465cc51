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

#include "Lowering.h"
#include "NvvmFloats.h"
#include "Ptx/DeviceValues.h"
#include "Ptx/ModuleLowering.h"
#include "Ptx/NarrowFormats.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Support/NVPTXAddrSpace.h"
#include <cfenv>
#include <optional>

using namespace llvm;

namespace cupilot {

namespace {
/// Lowers the intrinsics of one entry.
class IntrinsicLowering {
public:
  IntrinsicLowering(Function &Entry, LoweredModule &Tables, LoweredKernel &K)
      : Entry(Entry), Tables(Tables), K(K) {}
  std::string run();

private:
  /// What replaces the call; a null Value inside means "drop it"; nothing
  /// means that there is no rule.
  std::optional<Value *> lower(CallInst &Call, Intrinsic::ID Id,
                               IRBuilder<> &B);
  std::optional<Value *> lowerSpecialRegister(CallInst &Call, Intrinsic::ID Id,
                                              IRBuilder<> &B);
  std::optional<Value *> lowerFloat(CallInst &Call, Intrinsic::ID Id,
                                    IRBuilder<> &B);
  std::optional<Value *> lowerInteger(CallInst &Call, Intrinsic::ID Id,
                                      IRBuilder<> &B);
  std::optional<Value *> lowerAddress(CallInst &Call, Intrinsic::ID Id,
                                      IRBuilder<> &B);
  std::optional<Value *> lowerBarrier(CallInst &Call, Intrinsic::ID Id,
                                      IRBuilder<> &B);
  std::optional<Value *> lowerWarp(CallInst &Call, Intrinsic::ID Id,
                                   IRBuilder<> &B);
  std::optional<Value *> lowerFunction(CallInst &Call, StringRef Name,
                                       IRBuilder<> &B);
  std::optional<Value *> lowerPtx(StringRef Name, CallInst &Call,
                                  IRBuilder<> &B);
  Value *reduceFloat(CallInst &Call, bool Max, bool Abs, bool NanWins,
                     IRBuilder<> &B);
  Value *special(IRBuilder<> &B, SpecialRegister Register, unsigned Index = 0) {
    return runtime(
        B, "cupilot_rt_special", B.getInt32Ty(),
        {Entry.getArg(0), B.getInt32(static_cast<uint32_t>(Register) + Index)});
  }
  void lowerOperations();
  Value *reservedShared(IRBuilder<> &B);
  Value *rounded(FloatForm Form, Type *T, ArrayRef<Value *> Args,
                 IRBuilder<> &B);
  Value *approximated(FloatForm Form, CallInst &Call, IRBuilder<> &B);

  Value *field(IRBuilder<> &B, ContextField Field, unsigned Index = 0) {
    return B.CreateLoad(B.getInt32Ty(), contextField(B, Entry, Field, Index));
  }
  Value *runtime(IRBuilder<> &B, StringRef Name, Type *Result,
                 ArrayRef<Value *> Args) {
    SmallVector<Type *> Types;
    for (Value *Arg : Args)
      Types.push_back(Arg->getType());
    return B.CreateCall(Entry.getParent()->getOrInsertFunction(
                            Name, FunctionType::get(Result, Types, false)),
                        Args);
  }
  /// Of a function that computes something from its arguments alone.
  Value *pure(IRBuilder<> &B, StringRef Name, Type *Result,
              ArrayRef<Value *> Args) {
    auto *Call = cast<CallInst>(runtime(B, Name, Result, Args));
    Call->setDoesNotAccessMemory();
    Call->setDoesNotThrow();
    Call->addFnAttr(Attribute::WillReturn);
    return Call;
  }
  Value *warp(IRBuilder<> &B, WarpOp Op, Value *Mask, Value *Operand,
              Value *Lane, Value *Clamp) {
    K.NeedsFibers = true;
    return runtime(B, "cupilot_rt_warp", B.getInt64Ty(),
                   {Entry.getArg(0),
                    B.getInt32(static_cast<uint32_t>(Op) | place(B) << 8), Mask,
                    Operand, Lane, Clamp});
  }
  Value *activeMask(IRBuilder<> &B) {
    K.NeedsFibers = true;
    return runtime(B, "cupilot_rt_activemask", B.getInt32Ty(),
                   {Entry.getArg(0), B.getInt32(place(B))});
  }
  /// Numbers a place of the source where a thread may wait; later passes may
  /// duplicate the call.
  uint32_t place(IRBuilder<> &B) {
    return addPlace(Tables, B.getCurrentDebugLocation());
  }
  Function &Entry;
  LoweredModule &Tables;
  LoweredKernel &K;
};
} // namespace

std::optional<Value *> IntrinsicLowering::lowerBarrier(CallInst &Call,
                                                       Intrinsic::ID Id,
                                                       IRBuilder<> &B) {
  auto Arg = [&](unsigned I) { return Call.getArgOperand(I); };
  Type *I32 = B.getInt32Ty(), *T = Call.getType();
  Value *Zero = B.getInt32(0), *Context = Entry.getArg(0);
  auto Barrier = [&](BarrierKind Kind, bool Aligned, Value *Count,
                     Value *Predicate) -> Value * {
    K.NeedsFibers = true;
    uint32_t Number =
        static_cast<uint32_t>(Kind) | (Aligned ? AlignedBarrier : 0);
    return runtime(B, "cupilot_rt_barrier", I32,
                   {Context, B.getInt32(Number), Arg(0), Count, Predicate,
                    B.getInt32(place(B))});
  };
  auto Reduction = [&](BarrierKind Kind, bool Aligned, bool Counted) {
    Value *Predicate = B.CreateZExt(Arg(Counted ? 2 : 1), I32);
    Value *Result = Barrier(Kind, Aligned, Counted ? Arg(1) : Zero, Predicate);
    return T->isIntegerTy(1) ? B.CreateICmpNE(Result, Zero) : Result;
  };
  switch (Id) {
  case Intrinsic::nvvm_barrier_cta_sync_all:
  case Intrinsic::nvvm_barrier_cta_sync_aligned_all:
    return Barrier(BarrierKind::Sync,
                   Id == Intrinsic::nvvm_barrier_cta_sync_aligned_all, Zero,
                   Zero);
  case Intrinsic::nvvm_barrier_cta_sync_count:
  case Intrinsic::nvvm_barrier_cta_sync_aligned_count:
    return Barrier(BarrierKind::Sync,
                   Id == Intrinsic::nvvm_barrier_cta_sync_aligned_count, Arg(1),
                   Zero);
  case Intrinsic::nvvm_barrier_cta_arrive_count:
  case Intrinsic::nvvm_barrier_cta_arrive_aligned_count:
    K.NeedsFibers = true;
    runtime(B, "cupilot_rt_barrier_arrive", B.getVoidTy(),
            {Context, Arg(0), Arg(1), B.getInt32(place(B))});
    return nullptr;
#define REDUCTION(Name, Kind)                                                  \
  case Intrinsic::nvvm_barrier_cta_red_##Name##_all:                           \
    return Reduction(BarrierKind::Kind, /*Aligned=*/false, false);             \
  case Intrinsic::nvvm_barrier_cta_red_##Name##_count:                         \
    return Reduction(BarrierKind::Kind, /*Aligned=*/false, true);              \
  case Intrinsic::nvvm_barrier_cta_red_##Name##_aligned_all:                   \
    return Reduction(BarrierKind::Kind, /*Aligned=*/true, false);              \
  case Intrinsic::nvvm_barrier_cta_red_##Name##_aligned_count:                 \
    return Reduction(BarrierKind::Kind, /*Aligned=*/true, true);
    REDUCTION(popc, Popc)
    REDUCTION(and, And)
    REDUCTION(or, Or)
#undef REDUCTION
  case Intrinsic::nvvm_barrier_cluster_arrive:
  case Intrinsic::nvvm_barrier_cluster_arrive_aligned:
  case Intrinsic::nvvm_barrier_cluster_arrive_relaxed:
  case Intrinsic::nvvm_barrier_cluster_arrive_relaxed_aligned:
    K.NeedsFibers = true;
    runtime(B, "cupilot_rt_cluster_arrive", B.getVoidTy(), {Context});
    return nullptr;
  case Intrinsic::nvvm_barrier_cluster_wait:
  case Intrinsic::nvvm_barrier_cluster_wait_aligned:
    K.NeedsFibers = true;
    runtime(B, "cupilot_rt_cluster_wait", B.getVoidTy(),
            {Context, B.getInt32(place(B))});
    return nullptr;
  default:
    return std::nullopt;
  }
}

std::optional<Value *>
IntrinsicLowering::lowerWarp(CallInst &Call, Intrinsic::ID Id, IRBuilder<> &B) {
  auto Arg = [&](unsigned I) { return Call.getArgOperand(I); };
  Type *I32 = B.getInt32Ty(), *I64 = B.getInt64Ty(), *T = Call.getType();
  Value *Zero = B.getInt32(0);
  auto Wide = [&](Value *V) -> Value * {
    if (V->getType()->isFloatTy())
      V = B.CreateBitCast(V, I32);
    return B.CreateZExt(V, I64);
  };
  // The result, or a pair of it and the predicate.
  auto Finish = [&](Value *Word) -> Value * {
    auto *Pair = dyn_cast<StructType>(T);
    Value *Result = B.CreateBitCast(Word, Pair ? Pair->getElementType(0) : T);
    if (!Pair)
      return Result;
    Value *Predicate = B.CreateICmpNE(field(B, FieldWarpPredicate), Zero);
    return B.CreateInsertValue(
        B.CreateInsertValue(PoisonValue::get(T), Result, 0), Predicate, 1);
  };
  auto Shuffle = [&](WarpOp Op) {
    return Finish(
        B.CreateTrunc(warp(B, Op, Arg(0), Wide(Arg(1)), Arg(2), Arg(3)), I32));
  };
  auto Vote = [&](WarpOp Op) {
    return B.CreateTrunc(
        warp(B, Op, Arg(0), B.CreateZExt(Arg(1), I64), Zero, Zero), T);
  };
  auto Match = [&](WarpOp Op) {
    return Finish(
        B.CreateTrunc(warp(B, Op, Arg(0), Wide(Arg(1)), Zero, Zero), I32));
  };
  auto Reduce = [&](WarpOp Op) {
    return B.CreateTrunc(warp(B, Op, Arg(1), Wide(Arg(0)), Zero, Zero), I32);
  };
  switch (Id) {
  case Intrinsic::nvvm_bar_warp_sync:
    warp(B, WarpOp::Sync, Arg(0), B.getInt64(0), Zero, Zero);
    return nullptr;
  case Intrinsic::nvvm_activemask:
    return activeMask(B);
  case Intrinsic::nvvm_elect_sync: {
    // The leader is the lowest of the lanes that are there.
    Value *There = B.CreateTrunc(
        warp(B, WarpOp::Ballot, Arg(0), B.getInt64(1), Zero, Zero), I32);
    Value *Leader =
        B.CreateBinaryIntrinsic(Intrinsic::cttz, There, B.getTrue());
    Value *Is = B.CreateICmpEQ(Leader, B.CreateAnd(field(B, FieldLinear), 31));
    return B.CreateInsertValue(
        B.CreateInsertValue(PoisonValue::get(T), Leader, 0), Is, 1);
  }
#define SHUFFLE(Name, Op)                                                      \
  case Intrinsic::nvvm_shfl_sync_##Name##_i32:                                 \
  case Intrinsic::nvvm_shfl_sync_##Name##_i32p:                                \
  case Intrinsic::nvvm_shfl_sync_##Name##_f32:                                 \
  case Intrinsic::nvvm_shfl_sync_##Name##_f32p:                                \
    return Shuffle(WarpOp::Op);
    SHUFFLE(idx, ShflIdx)
    SHUFFLE(up, ShflUp)
    SHUFFLE(down, ShflDown)
    SHUFFLE(bfly, ShflBfly)
#undef SHUFFLE
  case Intrinsic::nvvm_vote_ballot_sync:
    return Vote(WarpOp::Ballot);
  case Intrinsic::nvvm_vote_any_sync:
    return Vote(WarpOp::Any);
  case Intrinsic::nvvm_vote_all_sync:
    return Vote(WarpOp::All);
  case Intrinsic::nvvm_vote_uni_sync:
    return Vote(WarpOp::Uni);
  case Intrinsic::nvvm_match_any_sync_i32:
  case Intrinsic::nvvm_match_any_sync_i64:
    return Match(WarpOp::MatchAny);
  case Intrinsic::nvvm_match_all_sync_i32p:
  case Intrinsic::nvvm_match_all_sync_i64p:
    return Match(WarpOp::MatchAll);
  case Intrinsic::nvvm_redux_sync_add:
    return Reduce(WarpOp::ReduceAdd);
  case Intrinsic::nvvm_redux_sync_min:
    return Reduce(WarpOp::ReduceMin);
  case Intrinsic::nvvm_redux_sync_max:
    return Reduce(WarpOp::ReduceMax);
  case Intrinsic::nvvm_redux_sync_umin:
    return Reduce(WarpOp::ReduceUMin);
  case Intrinsic::nvvm_redux_sync_umax:
    return Reduce(WarpOp::ReduceUMax);
  case Intrinsic::nvvm_redux_sync_and:
    return Reduce(WarpOp::ReduceAnd);
  case Intrinsic::nvvm_redux_sync_or:
    return Reduce(WarpOp::ReduceOr);
  case Intrinsic::nvvm_redux_sync_xor:
    return Reduce(WarpOp::ReduceXor);
#define EXTREME(Name, Max)                                                     \
  case Intrinsic::nvvm_redux_sync_##Name:                                      \
    return reduceFloat(Call, Max, /*Abs=*/false, /*NanWins=*/false, B);        \
  case Intrinsic::nvvm_redux_sync_##Name##_NaN:                                \
    return reduceFloat(Call, Max, /*Abs=*/false, /*NanWins=*/true, B);         \
  case Intrinsic::nvvm_redux_sync_##Name##_abs:                                \
    return reduceFloat(Call, Max, /*Abs=*/true, /*NanWins=*/false, B);         \
  case Intrinsic::nvvm_redux_sync_##Name##_abs_NaN:                            \
    return reduceFloat(Call, Max, /*Abs=*/true, /*NanWins=*/true, B);
    EXTREME(fmax, true)
    EXTREME(fmin, false)
#undef EXTREME
  default:
    return std::nullopt;
  }
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
    G = new GlobalVariable(
        M, T, /*isConstant=*/false, GlobalValue::InternalLinkage,
        PoisonValue::get(T), ReservedSharedName, nullptr,
        GlobalValue::NotThreadLocal, NVPTXAS::ADDRESS_SPACE_SHARED);
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
  for (StringRef Pure : {"fns", "to_narrow", "from_narrow"})
    if (Name == Pure)
      return runtime(B, ("cupilot_rt_" + Name).str(), T,
                     SmallVector<Value *>(Call.args()));
  return std::nullopt;
}

/// Reductions of float32 by way of integers in the same order: NaN lies beyond
/// all numbers, on the side where it is ignored or where it wins.
Value *IntrinsicLowering::reduceFloat(CallInst &Call, bool Max, bool Abs,
                                      bool NanWins, IRBuilder<> &B) {
  Value *X = Call.getArgOperand(0);
  if (Abs)
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

std::optional<Value *>
IntrinsicLowering::lower(CallInst &Call, Intrinsic::ID Id, IRBuilder<> &B) {
  for (auto Rule :
       {&IntrinsicLowering::lowerSpecialRegister,
        &IntrinsicLowering::lowerFloat, &IntrinsicLowering::lowerInteger,
        &IntrinsicLowering::lowerAddress, &IntrinsicLowering::lowerBarrier,
        &IntrinsicLowering::lowerWarp})
    if (std::optional<Value *> Result = (this->*Rule)(Call, Id, B))
      return Result;
  Value *Context = Entry.getArg(0);
  switch (Id) {
  case Intrinsic::nvvm_fence_proxy_async:
  case Intrinsic::nvvm_fence_proxy_async_shared_cta:
  case Intrinsic::nvvm_fence_proxy_async_shared_cluster:
  case Intrinsic::
      nvvm_fence_proxy_async_generic_acquire_sync_restrict_space_cluster_scope_cluster:
  case Intrinsic::
      nvvm_fence_proxy_async_generic_release_sync_restrict_space_cta_scope_cluster:
    B.CreateFence(AtomicOrdering::SequentiallyConsistent);
    runtime(B, "cupilot_rt_proxy_fence", B.getVoidTy(), {Context});
    return nullptr;
  case Intrinsic::nvvm_membar_cta:
  case Intrinsic::nvvm_membar_gl:
  case Intrinsic::nvvm_membar_sys:
  case Intrinsic::nvvm_fence_sc_cluster:
  case Intrinsic::nvvm_fence_mbarrier_init_release_cluster:
  case Intrinsic::nvvm_fence_acquire_sync_restrict_space_cluster_scope_cluster:
  case Intrinsic::nvvm_fence_release_sync_restrict_space_cta_scope_cluster:
  case Intrinsic::nvvm_fence_proxy_alias:
  case Intrinsic::nvvm_fence_proxy_async_global:
  case Intrinsic::nvvm_fence_proxy_tensormap_generic_acquire_cta:
  case Intrinsic::nvvm_fence_proxy_tensormap_generic_acquire_cluster:
  case Intrinsic::nvvm_fence_proxy_tensormap_generic_acquire_gpu:
  case Intrinsic::nvvm_fence_proxy_tensormap_generic_acquire_sys:
  case Intrinsic::nvvm_fence_proxy_tensormap_generic_release_cta:
  case Intrinsic::nvvm_fence_proxy_tensormap_generic_release_cluster:
  case Intrinsic::nvvm_fence_proxy_tensormap_generic_release_gpu:
  case Intrinsic::nvvm_fence_proxy_tensormap_generic_release_sys:
    B.CreateFence(AtomicOrdering::SequentiallyConsistent);
    return nullptr;
  // Hints.
  case Intrinsic::nvvm_prefetch_L1:
  case Intrinsic::nvvm_prefetch_L2:
  case Intrinsic::nvvm_prefetch_global_L1:
  case Intrinsic::nvvm_prefetch_global_L2:
  case Intrinsic::nvvm_prefetch_global_L2_evict_last:
  case Intrinsic::nvvm_prefetch_global_L2_evict_normal:
  case Intrinsic::nvvm_prefetch_local_L1:
  case Intrinsic::nvvm_prefetch_local_L2:
  case Intrinsic::nvvm_prefetch_tensormap:
  case Intrinsic::nvvm_prefetchu_L1:
  case Intrinsic::nvvm_applypriority_L2_evict_normal:
  case Intrinsic::nvvm_applypriority_global_L2_evict_normal:
  case Intrinsic::nvvm_discard_L2:
  case Intrinsic::nvvm_discard_global_L2:
  case Intrinsic::nvvm_griddepcontrol_launch_dependents:
  case Intrinsic::nvvm_griddepcontrol_wait:
  case Intrinsic::nvvm_pm_event_mask:
    return nullptr;
  case Intrinsic::nvvm_nanosleep:
    // Who sleeps waits for others.
    K.Yields = true;
    runtime(B, "cupilot_rt_yield", B.getVoidTy(),
            {Context, B.getInt32(place(B))});
    return nullptr;
  case Intrinsic::nvvm_exit:
    return runtime(B, "cupilot_rt_exit", B.getVoidTy(), {Context});
  case Intrinsic::trap:
  case Intrinsic::debugtrap:
  case Intrinsic::ubsantrap:
    return runtime(B, "cupilot_rt_trap", B.getVoidTy(), {Context});
  default:
    return std::nullopt;
  }
}

/// What clang, CUDA's headers and this project's own rules leave as calls of
/// functions. They have no number: this is the one place that knows their
/// names.
std::optional<Value *> IntrinsicLowering::lowerFunction(CallInst &Call,
                                                        StringRef Name,
                                                        IRBuilder<> &B) {
  auto Arg = [&](unsigned I) { return Call.getArgOperand(I); };
  Value *Context = Entry.getArg(0);
  if (Name == "vprintf")
    return runtime(B, "cupilot_rt_printf", Call.getType(),
                   {Context, Arg(0), Arg(1)});
  if (Name == "__assertfail" || Name == "__assert_fail")
    return runtime(B, "cupilot_rt_assert", B.getVoidTy(),
                   {Context, Arg(0), Arg(1), Arg(2), Arg(3)});
  if (Name == "cupilot.malloc" || Name == "cupilot.free")
    return runtime(
        B, Name == "cupilot.malloc" ? "cupilot_rt_malloc" : "cupilot_rt_free",
        Call.getType(), {Context, Arg(0), B.getInt32(siteOf(Call))});
  if (Name.consume_front("__cupilot_ptx_"))
    return lowerPtx(Name, Call, B);
  return std::nullopt;
}

/// Launches from device code call these of cudadevrt (CUDA C++ Programming
/// Guide, "CUDA Dynamic Parallelism", and what nvcc makes of <<<>>> there).
static bool isDynamicParallelism(StringRef Name) {
  return Name.starts_with("__cudaCDP") ||
         Name.starts_with("cudaGetParameterBuffer") ||
         Name.starts_with("cudaLaunchDevice");
}

/// What \p Call, of a function without a body, cannot run, and where it stands.
static std::string undefinedFunction(const CallInst &Call, StringRef Name) {
  std::string What =
      isDynamicParallelism(Name)
          ? "dynamic parallelism ('" + Name.str() + "')"
          : "the function '" + demangle(Name) + "', which is not defined,";
  std::string At = locationOf(Call.getDebugLoc());
  return At.empty() ? What : What + " at " + At;
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
      if (!Callee->isDeclaration())
        continue; // Lowered by itself.
      StringRef Name = Callee->getName();
      if (MDNode *Why = Call->getMetadata(RefusedPtxName))
        return cast<MDString>(Why->getOperand(0))->getString().str();
      Intrinsic::ID Id = Callee->getIntrinsicID();
      bool IsTrap = Id == Intrinsic::trap || Id == Intrinsic::debugtrap ||
                    Id == Intrinsic::ubsantrap;
      // The reference's is the host's.
      bool IsTanh = Id == Intrinsic::tanh &&
                    !Call->getType()->getScalarType()->isDoubleTy();
      if (Intrinsic::isTargetIntrinsic(Id) || IsTrap || IsTanh)
        Result = lower(*Call, Id, B);
      else if (Id != Intrinsic::not_intrinsic ||
               Name.starts_with("cupilot_rt_"))
        continue;
      else if (!Callee->isIntrinsic())
        Result = lowerFunction(*Call, Name, B);
      if (!Result && Callee->isIntrinsic())
        return "'" + Name.str() + "'";
      // A function of the host's libm was put there by lowerLibdevice, or by
      // the optimiser in the place of one.
      if (!Result && (Callee->doesNotAccessMemory() ||
                      Callee->onlyAccessesInaccessibleMemory() ||
                      isOfHostLibrary(*Callee)))
        continue;
      if (!Result)
        return undefinedFunction(*Call, Name);
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

//===----------------------------------------------------------------------===//
// Registers, arithmetic, conversions
//===----------------------------------------------------------------------===//

std::optional<Value *> IntrinsicLowering::lowerSpecialRegister(CallInst &Call,
                                                               Intrinsic::ID Id,
                                                               IRBuilder<> &B) {
  auto Lane = [&] { return B.CreateAnd(field(B, FieldLinear), 31); };
  auto Bit = [&](unsigned Of) { return B.CreateShl(B.getInt32(Of), Lane()); };
  auto Below = [&](unsigned Of) { return B.CreateSub(Bit(Of), B.getInt32(1)); };
  auto Clock = [&] {
    return runtime(B, "cupilot_rt_clock", B.getInt64Ty(), {});
  };
#define DIMENSIONS(Name, Read, Which)                                          \
  case Intrinsic::nvvm_read_ptx_sreg_##Name##_x:                               \
    return Read(B, Which, 0);                                                  \
  case Intrinsic::nvvm_read_ptx_sreg_##Name##_y:                               \
    return Read(B, Which, 1);                                                  \
  case Intrinsic::nvvm_read_ptx_sreg_##Name##_z:                               \
    return Read(B, Which, 2);
  switch (Id) {
    DIMENSIONS(tid, field, FieldTid)
    DIMENSIONS(ntid, field, FieldNtid)
    DIMENSIONS(ctaid, field, FieldCtaid)
    DIMENSIONS(nctaid, field, FieldNctaid)
    DIMENSIONS(clusterid, special, SpecialRegister::ClusterId)
    DIMENSIONS(nclusterid, special, SpecialRegister::ClusterCount)
    DIMENSIONS(cluster_ctaid, special, SpecialRegister::BlockInCluster)
    DIMENSIONS(cluster_nctaid, special, SpecialRegister::BlocksInCluster)
#undef DIMENSIONS
  case Intrinsic::nvvm_read_ptx_sreg_cluster_ctarank:
    return special(B, SpecialRegister::ClusterRank);
  case Intrinsic::nvvm_read_ptx_sreg_cluster_nctarank:
    return special(B, SpecialRegister::ClusterSize);
  case Intrinsic::nvvm_is_explicit_cluster:
    return B.CreateIsNotNull(special(B, SpecialRegister::ExplicitCluster));
  case Intrinsic::nvvm_read_ptx_sreg_laneid:
    return Lane();
  case Intrinsic::nvvm_read_ptx_sreg_warpid:
    return B.CreateLShr(field(B, FieldLinear), 5);
  case Intrinsic::nvvm_read_ptx_sreg_warpsize:
    return B.getInt32(32);
  case Intrinsic::nvvm_read_ptx_sreg_lanemask_eq:
    return Bit(1);
  case Intrinsic::nvvm_read_ptx_sreg_lanemask_lt:
    return Below(1);
  case Intrinsic::nvvm_read_ptx_sreg_lanemask_le:
    return Below(2);
  case Intrinsic::nvvm_read_ptx_sreg_lanemask_gt:
    return B.CreateNot(Below(2));
  case Intrinsic::nvvm_read_ptx_sreg_lanemask_ge:
    return B.CreateNot(Below(1));
  // Where the driver puts the address of a cooperative launch's own memory.
  case Intrinsic::nvvm_read_ptx_sreg_envreg1:
    return special(B, SpecialRegister::Workspace, 1);
  case Intrinsic::nvvm_read_ptx_sreg_envreg2:
    return special(B, SpecialRegister::Workspace);
  case Intrinsic::nvvm_read_ptx_sreg_envreg0:
  case Intrinsic::nvvm_read_ptx_sreg_envreg3:
  case Intrinsic::nvvm_read_ptx_sreg_envreg4:
  case Intrinsic::nvvm_read_ptx_sreg_envreg5:
  case Intrinsic::nvvm_read_ptx_sreg_envreg6:
  case Intrinsic::nvvm_read_ptx_sreg_envreg7:
  case Intrinsic::nvvm_read_ptx_sreg_envreg8:
  case Intrinsic::nvvm_read_ptx_sreg_envreg9:
  case Intrinsic::nvvm_read_ptx_sreg_envreg10:
  case Intrinsic::nvvm_read_ptx_sreg_envreg11:
  case Intrinsic::nvvm_read_ptx_sreg_envreg12:
  case Intrinsic::nvvm_read_ptx_sreg_envreg13:
  case Intrinsic::nvvm_read_ptx_sreg_envreg14:
  case Intrinsic::nvvm_read_ptx_sreg_envreg15:
  case Intrinsic::nvvm_read_ptx_sreg_envreg16:
  case Intrinsic::nvvm_read_ptx_sreg_envreg17:
  case Intrinsic::nvvm_read_ptx_sreg_envreg18:
  case Intrinsic::nvvm_read_ptx_sreg_envreg19:
  case Intrinsic::nvvm_read_ptx_sreg_envreg20:
  case Intrinsic::nvvm_read_ptx_sreg_envreg21:
  case Intrinsic::nvvm_read_ptx_sreg_envreg22:
  case Intrinsic::nvvm_read_ptx_sreg_envreg23:
  case Intrinsic::nvvm_read_ptx_sreg_envreg24:
  case Intrinsic::nvvm_read_ptx_sreg_envreg25:
  case Intrinsic::nvvm_read_ptx_sreg_envreg26:
  case Intrinsic::nvvm_read_ptx_sreg_envreg27:
  case Intrinsic::nvvm_read_ptx_sreg_envreg28:
  case Intrinsic::nvvm_read_ptx_sreg_envreg29:
  case Intrinsic::nvvm_read_ptx_sreg_envreg30:
  case Intrinsic::nvvm_read_ptx_sreg_envreg31:
    return B.getInt32(0);
  case Intrinsic::nvvm_read_ptx_sreg_total_smem_size:
  case Intrinsic::nvvm_read_ptx_sreg_aggr_smem_size:
    return special(B, SpecialRegister::SharedBytes);
  case Intrinsic::nvvm_read_ptx_sreg_dynamic_smem_size:
    return field(B, FieldDynShared);
  case Intrinsic::nvvm_read_ptx_sreg_smid:
  case Intrinsic::nvvm_read_ptx_sreg_gridid:
    return ConstantInt::get(Call.getType(), 0);
  case Intrinsic::nvvm_read_ptx_sreg_nsmid:
    return B.getInt32(1);
  case Intrinsic::nvvm_read_ptx_sreg_nwarpid:
    return B.getInt32(64);
  case Intrinsic::nvvm_read_ptx_sreg_clock64:
  case Intrinsic::nvvm_read_ptx_sreg_globaltimer:
    return Clock();
  case Intrinsic::nvvm_read_ptx_sreg_clock:
  case Intrinsic::nvvm_read_ptx_sreg_globaltimer_lo:
    return B.CreateTrunc(Clock(), B.getInt32Ty());
  default:
    return std::nullopt;
  }
}

/// The run time's number of an operation that it can round.
static std::optional<RoundedOp> roundedOp(FloatOp Op) {
  switch (Op) {
  case FloatOp::Add:
    return RoundedOp::Add;
  case FloatOp::Mul:
    return RoundedOp::Mul;
  case FloatOp::Fma:
    return RoundedOp::Fma;
  case FloatOp::Div:
    return RoundedOp::Div;
  case FloatOp::Rcp:
    return RoundedOp::Rcp;
  case FloatOp::Sqrt:
    return RoundedOp::Sqrt;
  default:
    return std::nullopt;
  }
}

static UnitOp unitOp(FloatForm Form) {
  switch (Form.Op) {
  case FloatOp::Exp2:
    return UnitOp::Ex2;
  case FloatOp::Log2:
    return UnitOp::Lg2;
  case FloatOp::Rcp:
    return UnitOp::Rcp;
  case FloatOp::Rsqrt:
    return UnitOp::Rsqrt;
  case FloatOp::Sqrt:
    return UnitOp::Sqrt;
  case FloatOp::Sin:
    return UnitOp::Sin;
  case FloatOp::Cos:
    return UnitOp::Cos;
  case FloatOp::Tanh:
    return UnitOp::Tanh;
  case FloatOp::Div:
    return Form.has(FloatForm::Full) ? UnitOp::DivFull : UnitOp::Div;
  default:
    llvm_unreachable("not an operation of the special unit");
  }
}

/// What the special unit answers, for each element (SpecialUnit.h).
Value *IntrinsicLowering::approximated(FloatForm Form, CallInst &Call,
                                       IRBuilder<> &B) {
  Type *T = Call.getType(), *Element = T->getScalarType();
  Value *Op = B.getInt32(static_cast<uint32_t>(unitOp(Form)));
  UnitForm Of = Element->isHalfTy()          ? UnitForm::Half
                : Element->isBFloatTy()      ? UnitForm::BFloat
                : Form.has(FloatForm::Flush) ? UnitForm::Flushed
                                             : UnitForm::Single;
  auto Ask = [&](function_ref<Value *(Value *)> Part) -> Value * {
    Value *X = Part(Call.getArgOperand(0));
    if (Element->isDoubleTy())
      return pure(B, "cupilot_rt_unit64", Element, {Op, X});
    Value *Y = Part(Call.getArgOperand(Call.arg_size() - 1));
    Type *Single = B.getFloatTy();
    return B.CreateFPCast(
        pure(B, "cupilot_rt_unit", Single,
             {Op, B.getInt32(static_cast<uint32_t>(Of)),
              B.CreateFPCast(X, Single), B.CreateFPCast(Y, Single)}),
        Element);
  };
  auto *Vector = dyn_cast<FixedVectorType>(T);
  if (!Vector)
    return Ask([](Value *V) { return V; });
  Value *All = PoisonValue::get(T);
  for (unsigned I = 0; I < Vector->getNumElements(); ++I)
    All = B.CreateInsertElement(
        All, Ask([&](Value *V) { return B.CreateExtractElement(V, I); }), I);
  return All;
}

/// Arithmetic that rounds to zero (.rz), down (.rm) or up (.rp).
Value *IntrinsicLowering::rounded(FloatForm Form, Type *T,
                                  ArrayRef<Value *> Args, IRBuilder<> &B) {
  Type *Double = B.getDoubleTy(), *I32 = B.getInt32Ty();
  int Mode = Form.Mode == Rounding::Zero   ? FE_TOWARDZERO
             : Form.Mode == Rounding::Down ? FE_DOWNWARD
                                           : FE_UPWARD;
  SmallVector<Value *> All = {
      ConstantInt::get(I32, static_cast<uint32_t>(*roundedOp(Form.Op))),
      ConstantInt::get(I32, static_cast<uint32_t>(Mode)),
      ConstantInt::get(I32, T->isFloatTy())};
  for (unsigned I = 0; I < 3; ++I)
    All.push_back(I < Args.size() ? B.CreateFPCast(Args[I], Double)
                                  : ConstantFP::get(Double, 0.0));
  return B.CreateFPCast(runtime(B, "cupilot_rt_rounded", Double, All), T);
}

std::optional<Value *> IntrinsicLowering::lowerFloat(CallInst &Call,
                                                     Intrinsic::ID Id,
                                                     IRBuilder<> &B) {
  std::optional<FloatForm> Form = floatFormOf(Id);
  if (!Form)
    return std::nullopt;
  Type *T = Call.getType();
  bool Flush = Form->has(FloatForm::Flush) && T->isFloatTy();
  auto Arg = [&](unsigned I) -> Value * {
    Value *V = Call.getArgOperand(I);
    return Flush && V->getType()->isFloatTy() ? flushed(B, V) : V;
  };
  auto Unary = [&](Intrinsic::ID Of) -> Value * {
    return B.CreateUnaryIntrinsic(Of, Arg(0));
  };
  auto Finish = [&](Value *V) -> Value * {
    if (Flush)
      V = flushed(B, V);
    if (Form->has(FloatForm::Saturate))
      V = saturated(B, V);
    return Form->has(FloatForm::Relu) ? rectified(B, V) : V;
  };
  if (Form->has(FloatForm::Approx | FloatForm::Full))
    return approximated(*Form, Call, B);
  // Only rounding to nearest is the host's.
  if (roundedOp(Form->Op) && Form->Mode != Rounding::Nearest) {
    SmallVector<Value *> Args;
    for (unsigned I = 0; I < Call.arg_size(); ++I)
      Args.push_back(Arg(I));
    return Finish(rounded(*Form, T, Args, B));
  }
  auto Narrowed = [&](unsigned I) {
    Value *V =
        narrowFloat(B, Call.getArgOperand(I), T->getScalarType(), Form->Mode);
    if (Form->has(FloatForm::Relu))
      V = rectified(B, V);
    return Form->has(FloatForm::Finite) ? finiteOnly(B, V) : V;
  };
  switch (Form->Op) {
  case FloatOp::Fma:
    return Finish(
        T->getScalarSizeInBits() == 16
            ? narrowFma(B, Arg(0), Arg(1), Arg(2))
            : B.CreateIntrinsic(Intrinsic::fma, {T}, {Arg(0), Arg(1), Arg(2)}));
  case FloatOp::Add:
    return Finish(B.CreateFAdd(Arg(0), Arg(1)));
  case FloatOp::Mul:
    return Finish(B.CreateFMul(Arg(0), Arg(1)));
  case FloatOp::Div:
    return Finish(B.CreateFDiv(Arg(0), Arg(1)));
  case FloatOp::Rcp:
    return Finish(B.CreateFDiv(ConstantFP::get(T, 1.0), Arg(0)));
  case FloatOp::Sqrt:
    return Finish(Unary(Intrinsic::sqrt));
  case FloatOp::Rsqrt:
    return Finish(
        B.CreateFDiv(ConstantFP::get(T, 1.0), Unary(Intrinsic::sqrt)));
  case FloatOp::Log2:
    return Unary(Intrinsic::log2);
  case FloatOp::Sin:
  case FloatOp::Cos:
  case FloatOp::Exp2:
  case FloatOp::Tanh:
    llvm_unreachable("always approximate");
  case FloatOp::Neg:
    return B.CreateFNeg(Arg(0));
  case FloatOp::Abs:
    return Unary(Intrinsic::fabs);
  case FloatOp::Floor:
    return Unary(Intrinsic::floor);
  case FloatOp::Ceil:
    return Unary(Intrinsic::ceil);
  case FloatOp::Trunc:
    return Unary(Intrinsic::trunc);
  case FloatOp::Round:
    return Unary(Intrinsic::rint);
  case FloatOp::Clamp:
    return saturated(B, Arg(0));
  case FloatOp::Max:
  case FloatOp::Min:
    return floatMinMax(B, Arg(0), Arg(1), Form->Op == FloatOp::Max,
                       Form->has(FloatForm::Nan),
                       Form->has(FloatForm::XorSign));
  case FloatOp::ToSigned:
  case FloatOp::ToUnsigned: {
    Value *V = Call.getArgOperand(0);
    if (Form->has(FloatForm::Flush))
      V = flushed(B, V);
    return floatToInteger(B, V, T, Form->Op == FloatOp::ToSigned, Form->Mode);
  }
  case FloatOp::FromSigned:
  case FloatOp::FromUnsigned:
    return integerToFloat(B, Arg(0), T, Form->Op == FloatOp::FromSigned,
                          Form->Mode);
  case FloatOp::ToFloat: {
    Value *V = narrowFloat(B, Arg(0), T, Form->Mode);
    return Flush ? flushed(B, V) : V;
  }
  case FloatOp::ToHalf:
    return Narrowed(0);
  case FloatOp::ToHalves: {
    Value *Pair = PoisonValue::get(T); // The first argument is the upper half.
    for (unsigned I = 0; I < 2; ++I)
      Pair = B.CreateInsertElement(Pair, Narrowed(1 - I), I);
    return Pair;
  }
  case FloatOp::ToHalfBits:
    return B.CreateBitCast(
        B.CreateFPTrunc(Call.getArgOperand(0), B.getHalfTy()), T);
  }
  llvm_unreachable("not an operation");
}

//===----------------------------------------------------------------------===//
// Integers, bits and address spaces
//===----------------------------------------------------------------------===//

std::optional<Value *> IntrinsicLowering::lowerInteger(CallInst &Call,
                                                       Intrinsic::ID Id,
                                                       IRBuilder<> &B) {
  auto Arg = [&](unsigned I) { return Call.getArgOperand(I); };
  Type *T = Call.getType(), *I64 = B.getInt64Ty();
  auto High = [&](bool Signed) -> Value * {
    unsigned Bits = T->getIntegerBitWidth();
    Type *Double = B.getIntNTy(2 * Bits);
    auto Extend = [&](Value *V) {
      return Signed ? B.CreateSExt(V, Double) : B.CreateZExt(V, Double);
    };
    return B.CreateTrunc(
        B.CreateLShr(B.CreateMul(Extend(Arg(0)), Extend(Arg(1))), Bits), T);
  };
  auto SumOfDifference = [&](CmpInst::Predicate Greater) {
    Value *Difference = B.CreateSelect(B.CreateICmp(Greater, Arg(0), Arg(1)),
                                       B.CreateSub(Arg(0), Arg(1)),
                                       B.CreateSub(Arg(1), Arg(0)));
    return B.CreateAdd(Difference, Arg(2));
  };
  auto Dot2 = [&](bool SignedA, bool SignedB) {
    auto Half = [&](bool Upper) {
      return dotProduct2(B, Arg(0), Arg(1), Arg(3), SignedA, SignedB, Upper);
    };
    return B.CreateSelect(Arg(2), Half(true), Half(false));
  };
  auto Dot4 = [&](bool SignedA, bool SignedB) {
    return dotProduct4(B, Arg(0), Arg(1), Arg(2), SignedA, SignedB);
  };
  // The modes with one source have no second operand.
  auto Permute = [&](StringRef Mode) {
    bool One = Call.arg_size() == 2;
    return permuteBytes(B, Mode, Arg(0), One ? B.getInt32(0) : Arg(1),
                        Arg(One ? 1 : 2));
  };
  auto Funnel = [&](bool Left) {
    Value *Pair = B.CreateOr(B.CreateShl(B.CreateZExt(Arg(0), I64), 32),
                             B.CreateZExt(Arg(1), I64));
    Value *Amount = B.CreateZExt(
        B.CreateBinaryIntrinsic(Intrinsic::umin, Arg(2), B.getInt32(32)), I64);
    return B.CreateTrunc(Left ? B.CreateLShr(B.CreateShl(Pair, Amount), 32)
                              : B.CreateLShr(Pair, Amount),
                         T);
  };
  auto LeadingBit = [&](bool Signed) {
    Value *X = Arg(0);
    unsigned Bits = X->getType()->getIntegerBitWidth();
    if (Signed)
      X = B.CreateXor(X, B.CreateAShr(X, Bits - 1));
    Value *Zeros = B.CreateTrunc(
        B.CreateBinaryIntrinsic(Intrinsic::ctlz, X, B.getFalse()), T);
    Value *Found = B.CreateSelect(
        Arg(1), Zeros, B.CreateSub(ConstantInt::get(T, Bits - 1), Zeros));
    return B.CreateSelect(B.CreateIsNull(X), Constant::getAllOnesValue(T),
                          Found);
  };
  switch (Id) {
  case Intrinsic::nvvm_mulhi_s:
  case Intrinsic::nvvm_mulhi_i:
  case Intrinsic::nvvm_mulhi_ll:
    return High(true);
  case Intrinsic::nvvm_mulhi_us:
  case Intrinsic::nvvm_mulhi_ui:
  case Intrinsic::nvvm_mulhi_ull:
    return High(false);
  case Intrinsic::nvvm_mul24_i: {
    auto Low = [&](Value *V) { return B.CreateAShr(B.CreateShl(V, 8), 8); };
    return B.CreateMul(Low(Arg(0)), Low(Arg(1)));
  }
  case Intrinsic::nvvm_mul24_ui:
    return B.CreateMul(B.CreateAnd(Arg(0), 0xffffff),
                       B.CreateAnd(Arg(1), 0xffffff));
  case Intrinsic::nvvm_sad_s:
  case Intrinsic::nvvm_sad_i:
  case Intrinsic::nvvm_sad_ll:
    return SumOfDifference(CmpInst::ICMP_SGT);
  case Intrinsic::nvvm_sad_us:
  case Intrinsic::nvvm_sad_ui:
  case Intrinsic::nvvm_sad_ull:
    return SumOfDifference(CmpInst::ICMP_UGT);
  case Intrinsic::nvvm_prmt:
    return Permute("");
  case Intrinsic::nvvm_prmt_f4e:
    return Permute("f4e");
  case Intrinsic::nvvm_prmt_b4e:
    return Permute("b4e");
  case Intrinsic::nvvm_prmt_rc8:
    return Permute("rc8");
  case Intrinsic::nvvm_prmt_rc16:
    return Permute("rc16");
  case Intrinsic::nvvm_prmt_ecl:
    return Permute("ecl");
  case Intrinsic::nvvm_prmt_ecr:
    return Permute("ecr");
  case Intrinsic::nvvm_idp2a_s_s:
    return Dot2(true, true);
  case Intrinsic::nvvm_idp2a_s_u:
    return Dot2(true, false);
  case Intrinsic::nvvm_idp2a_u_s:
    return Dot2(false, true);
  case Intrinsic::nvvm_idp2a_u_u:
    return Dot2(false, false);
  case Intrinsic::nvvm_idp4a_s_s:
    return Dot4(true, true);
  case Intrinsic::nvvm_idp4a_s_u:
    return Dot4(true, false);
  case Intrinsic::nvvm_idp4a_u_s:
    return Dot4(false, true);
  case Intrinsic::nvvm_idp4a_u_u:
    return Dot4(false, false);
  case Intrinsic::nvvm_bmsk_clamp:
  case Intrinsic::nvvm_bmsk_wrap:
    return bitMask(B, Arg(0), Arg(1), Id == Intrinsic::nvvm_bmsk_clamp);
  case Intrinsic::nvvm_sext_clamp:
  case Intrinsic::nvvm_sext_wrap:
    return extendBits(B, Arg(0), Arg(1), Id == Intrinsic::nvvm_sext_clamp,
                      /*Signed=*/true);
  case Intrinsic::nvvm_zext_clamp:
  case Intrinsic::nvvm_zext_wrap:
    return extendBits(B, Arg(0), Arg(1), Id == Intrinsic::nvvm_zext_clamp,
                      /*Signed=*/false);
  case Intrinsic::nvvm_fns:
    return runtime(B, "cupilot_rt_fns", T, {Arg(0), Arg(1), Arg(2)});
  case Intrinsic::nvvm_fshl_clamp:
    return Funnel(/*Left=*/true);
  case Intrinsic::nvvm_fshr_clamp:
    return Funnel(/*Left=*/false);
  case Intrinsic::nvvm_flo_s:
    return LeadingBit(/*Signed=*/true);
  case Intrinsic::nvvm_flo_u:
    return LeadingBit(/*Signed=*/false);
  case Intrinsic::nvvm_d2i_lo:
    return B.CreateTrunc(B.CreateBitCast(Arg(0), I64), T);
  case Intrinsic::nvvm_d2i_hi:
    return B.CreateTrunc(B.CreateLShr(B.CreateBitCast(Arg(0), I64), 32), T);
  case Intrinsic::nvvm_lohi_i2d:
    return B.CreateBitCast(
        B.CreateOr(B.CreateShl(B.CreateZExt(Arg(1), I64), 32),
                   B.CreateZExt(Arg(0), I64)),
        T);
  default:
    return std::nullopt;
  }
}

std::optional<Value *> IntrinsicLowering::lowerAddress(CallInst &Call,
                                                       Intrinsic::ID Id,
                                                       IRBuilder<> &B) {
  auto Arg = [&](unsigned I) { return Call.getArgOperand(I); };
  auto Generic = [&](Value *V) {
    return B.CreatePointerBitCastOrAddrSpaceCast(V, B.getPtrTy());
  };
  Type *T = Call.getType();
  auto LiesIn = [&](unsigned Space) {
    return B.CreateICmpNE(runtime(B, "cupilot_rt_space", B.getInt32Ty(),
                                  {Entry.getArg(0), Arg(0), B.getInt32(Space)}),
                          B.getInt32(0));
  };
  switch (Id) {
  case Intrinsic::nvvm_internal_addrspace_wrap:
    return B.CreatePointerBitCastOrAddrSpaceCast(Arg(0), T);
  case Intrinsic::nvvm_mapa:
  case Intrinsic::nvvm_mapa_shared_cluster:
    return B.CreatePointerBitCastOrAddrSpaceCast(
        runtime(B, "cupilot_rt_mapa", B.getPtrTy(),
                {Entry.getArg(0), Generic(Arg(0)), Arg(1)}),
        T);
  case Intrinsic::nvvm_getctarank:
  case Intrinsic::nvvm_getctarank_shared_cluster:
    return runtime(B, "cupilot_rt_getctarank", T,
                   {Entry.getArg(0), Generic(Arg(0))});
  case Intrinsic::nvvm_isspacep_const: {
    Value *Address = B.CreatePtrToInt(Arg(0), B.getInt64Ty());
    Value *Inside = B.getFalse();
    const Module &M = *Entry.getParent();
    for (const GlobalVariable &G : M.globals())
      if (G.getAddressSpace() == NVPTXAS::ADDRESS_SPACE_CONST &&
          !G.isDeclaration())
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
  case Intrinsic::nvvm_isspacep_global:
    return LiesIn(NVPTXAS::ADDRESS_SPACE_GLOBAL);
  case Intrinsic::nvvm_isspacep_shared:
    return LiesIn(NVPTXAS::ADDRESS_SPACE_SHARED);
  case Intrinsic::nvvm_isspacep_shared_cluster:
    return LiesIn(NVPTXAS::ADDRESS_SPACE_SHARED_CLUSTER);
  case Intrinsic::nvvm_isspacep_local:
    return LiesIn(NVPTXAS::ADDRESS_SPACE_LOCAL);
  default:
    return std::nullopt;
  }
}

} // namespace cupilot
