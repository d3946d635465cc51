//===- InstrumentOrder.cpp - What orders threads, in code -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fences, releases and acquires are told to the race check. Without a fence in
// a kernel there is nothing to tell.
//
//===----------------------------------------------------------------------===//

#include "Instrument.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace cupilot {

namespace {
/// What an instruction does to the order of threads.
struct Ordering {
  bool Fence = false, DeviceFence = false; ///< Before it.
  Value *Release = nullptr, *Acquire = nullptr;
};
} // namespace

static bool isBlockScope(SyncScope::ID Id, LLVMContext &C) {
  SmallVector<StringRef> Names;
  C.getSyncScopeNames(Names);
  return Id == SyncScope::SingleThread ||
         (Id < Names.size() && (Names[Id] == "block" || Names[Id] == "cta"));
}

/// CUDA's own atomics (atomicAdd) have no order, though clang calls them
/// seq_cst; those that say release mean it.
static Ordering orderingOf(Instruction &I) {
  Ordering Result;
  LLVMContext &C = I.getContext();
  auto Releases = [](AtomicOrdering O) {
    return O == AtomicOrdering::Release || O == AtomicOrdering::AcquireRelease;
  };
  auto Fenced = [&](SyncScope::ID Scope) {
    Result.Fence = true;
    Result.DeviceFence = !isBlockScope(Scope, C);
  };
  if (auto *Fence = dyn_cast<FenceInst>(&I)) {
    Fenced(Fence->getSyncScopeID());
  } else if (auto *RMW = dyn_cast<AtomicRMWInst>(&I)) {
    Result.Release = Result.Acquire = RMW->getPointerOperand();
    if (Releases(RMW->getOrdering()))
      Fenced(RMW->getSyncScopeID());
  } else if (auto *CX = dyn_cast<AtomicCmpXchgInst>(&I)) {
    Result.Release = Result.Acquire = CX->getPointerOperand();
    if (Releases(CX->getSuccessOrdering()))
      Fenced(CX->getSyncScopeID());
  } else if (auto *Store = dyn_cast<StoreInst>(&I)) {
    if (Store->isAtomic() || Store->isVolatile())
      Result.Release = Store->getPointerOperand();
    if (Store->isAtomic() &&
        (Releases(Store->getOrdering()) ||
         Store->getOrdering() == AtomicOrdering::SequentiallyConsistent))
      Fenced(Store->getSyncScopeID());
  } else if (auto *Load = dyn_cast<LoadInst>(&I)) {
    if (Load->isAtomic() || Load->isVolatile())
      Result.Acquire = Load->getPointerOperand();
  } else if (auto *Call = dyn_cast<CallInst>(&I)) {
    std::string Text;
    if (Call->isInlineAsm())
      Text = cast<InlineAsm>(Call->getCalledOperand())->getAsmString();
    else if (Function *Callee = Call->getCalledFunction())
      Text = Callee->getName();
    StringRef Name = Text;
    if (Name.starts_with("llvm.nvvm.atomic.")) {
      Result.Release = Result.Acquire = Call->getArgOperand(0);
    } else if (Name.contains("membar") || Name.contains("fence.acq_rel") ||
               Name.contains("fence.sc") || Name.contains("fence.release")) {
      Result.Fence = true;
      Result.DeviceFence = !Name.contains("cta");
    }
  }
  return Result;
}

void Instrumenter::guardFences() {
  if (!Options.CheckRaces)
    return;
  SmallVector<std::pair<Instruction *, Ordering>> Found;
  bool Any = !IsEntry; // What calls it may have fences.
  for (Instruction &I : instructions(Entry)) {
    if (auto *Call = dyn_cast<CallInst>(&I); Call && !Call->isInlineAsm())
      Any |= !Call->getCalledFunction() ||
             !Call->getCalledFunction()->isDeclaration();
    Ordering O = orderingOf(I);
    for (Value **Pointer : {&O.Release, &O.Acquire}) {
      Value *Base = nullptr;
      if (*Pointer && spaceOf(*Pointer, Base) == AccessSpace::Local)
        *Pointer = nullptr;
      if (Base == Entry.getArg(0) || (IsEntry && Base == Entry.getArg(1)))
        *Pointer = nullptr;
    }
    if (O.Fence || O.Release || O.Acquire)
      Found.push_back({&I, O});
    Any |= O.Fence;
  }
  if (!Any)
    return; // Without a fence nothing is ever released.
  for (auto &[I, O] : Found) {
    IRBuilder<> B(I);
    Type *Ptr = B.getPtrTy(), *I32 = B.getInt32Ty();
    Value *Context = Entry.getArg(0);
    auto Generic = [&](Value *Pointer) {
      return B.CreatePointerBitCastOrAddrSpaceCast(Pointer, Ptr);
    };
    if (O.Fence)
      B.CreateCall(runtime("cupilot_rt_fence", {Ptr, I32}),
                   {Context, B.getInt32(O.DeviceFence)});
    if (O.Release)
      B.CreateCall(runtime("cupilot_rt_release", {Ptr, Ptr}),
                   {Context, Generic(O.Release)});
    if (O.Acquire) {
      B.SetInsertPoint(I->getNextNode());
      B.CreateCall(runtime("cupilot_rt_acquire", {Ptr, Ptr}),
                   {Context, Generic(O.Acquire)});
    }
  }
}

/// Calls that become calls of the run time keep their source line as a site.
void Instrumenter::markCalls() {
  LLVMContext &C = Entry.getContext();
  for (Instruction &I : instructions(Entry)) {
    auto *Call = dyn_cast<CallInst>(&I);
    Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    if (!Call || isa<AnyMemIntrinsic>(Call) || !Call->mayReadOrWriteMemory() ||
        !(Call->isInlineAsm() ||
          (Callee && (Callee->getName().starts_with("llvm.nvvm.") ||
                      Callee->getName().starts_with("cupilot.")))))
      continue;
    unsigned Site =
        addSite({Call, nullptr, nullptr, 0, Align(1)}, AccessSpace::Generic);
    auto *Number = ConstantInt::get(Type::getInt32Ty(C), Site);
    Call->setMetadata("cupilot.site",
                      MDNode::get(C, ConstantAsMetadata::get(Number)));
  }
}

} // namespace cupilot
