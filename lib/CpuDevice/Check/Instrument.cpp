//===- Instrument.cpp - Checks and counters in device code -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every load, store, atomic and memory intrinsic is checked before it runs. A
// check is a subtraction and a comparison against the range in which the same
// instruction was last right; the run time is called only when that fails.
//
//===----------------------------------------------------------------------===//

#include "Instrument.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace cupilot {

void Instrumenter::collect() {
  for (BasicBlock &BB : Entry)
    for (Instruction &I : BB) {
      if (auto *Load = dyn_cast<LoadInst>(&I))
        Accesses.push_back({&I, Load->getPointerOperand(), nullptr,
                            DL.getTypeStoreSize(Load->getType()),
                            Load->getAlign(), false, Load->isAtomic(),
                            Load->isVolatile()});
      else if (auto *Store = dyn_cast<StoreInst>(&I))
        Accesses.push_back(
            {&I, Store->getPointerOperand(), nullptr,
             DL.getTypeStoreSize(Store->getValueOperand()->getType()),
             Store->getAlign(), true, Store->isAtomic(), Store->isVolatile()});
      else if (auto *RMW = dyn_cast<AtomicRMWInst>(&I))
        Accesses.push_back({&I, RMW->getPointerOperand(), nullptr,
                            DL.getTypeStoreSize(RMW->getType()),
                            RMW->getAlign(), true, true});
      else if (auto *CX = dyn_cast<AtomicCmpXchgInst>(&I))
        Accesses.push_back(
            {&I, CX->getPointerOperand(), nullptr,
             DL.getTypeStoreSize(CX->getNewValOperand()->getType()),
             CX->getAlign(), true, true});
      else if (auto *Memory = dyn_cast<AnyMemIntrinsic>(&I)) {
        // A length known here is checked like that of a load, which knows the
        // private constants that arrays are initialised from.
        auto *Known = dyn_cast<ConstantInt>(Memory->getLength());
        uint64_t Size = Known ? Known->getZExtValue() : 0;
        Value *Length = Size ? nullptr : Memory->getLength();
        Accesses.push_back({&I, Memory->getRawDest(), Length, Size,
                            Memory->getDestAlign().valueOrOne(), true});
        if (auto *Transfer = dyn_cast<AnyMemTransferInst>(&I))
          Accesses.push_back({&I, Transfer->getRawSource(), Length, Size,
                              Transfer->getSourceAlign().valueOrOne()});
      } else if (auto *Call = dyn_cast<CallInst>(&I)) {
        Function *Callee = Call->getCalledFunction();
        if (Callee && Callee->getName().starts_with("llvm.nvvm.ldg.global"))
          Accesses.push_back({&I, Call->getArgOperand(0), nullptr,
                              DL.getTypeStoreSize(Call->getType()), Align(1)});
        else if (Callee && Callee->getName().starts_with("llvm.nvvm.atomic."))
          Accesses.push_back({&I, Call->getArgOperand(0), nullptr,
                              DL.getTypeStoreSize(Call->getType()),
                              Align(DL.getTypeStoreSize(Call->getType())), true,
                              true});
      }
    }
}

AccessSpace Instrumenter::spaceOf(Value *Pointer, Value *&Base) {
  Base = const_cast<Value *>(getUnderlyingObject(Pointer, /*MaxLookup=*/0));
  if (isa<AllocaInst>(Base))
    return AccessSpace::Local;
  if (auto *G = dyn_cast<GlobalVariable>(Base))
    return G->getAddressSpace() == 3   ? AccessSpace::Shared
           : G->getAddressSpace() == 4 ? AccessSpace::Constant
                                       : AccessSpace::Global;
  return Pointer->getType()->getPointerAddressSpace() == 1
             ? AccessSpace::Global
             : AccessSpace::Generic;
}

/// The number of a source line in \p List; 0 when there is none, or no room.
static uint16_t numberOf(std::vector<std::string> &List,
                         const std::string &Location, uint64_t Room) {
  for (size_t I = 0; I < List.size(); ++I)
    if (List[I] == Location)
      return I;
  if (List.size() >= Room)
    return 0;
  List.push_back(Location);
  return List.size() - 1;
}

void numberLocation(AccessSite &Site, LoweredKernel &K, bool Both) {
  if (K.Entry.empty())
    return; // A function of several kernels.
  if (Site.IsStore || Both)
    Site.WriteLocation =
        numberOf(K.WriteLocations, Site.Location, word::WriteLocations);
  if (!Site.IsStore || Both)
    Site.ReadLocation =
        numberOf(K.ReadLocations, Site.Location, word::ReadLocations);
}

unsigned Instrumenter::addSite(const CheckedAccess &A, AccessSpace Space) {
  AccessSite Site = {K.Name,
                     locationOf(A.I->getDebugLoc()),
                     static_cast<uint32_t>(A.Size),
                     static_cast<uint32_t>(A.Alignment.value()),
                     A.IsStore,
                     A.IsAtomic,
                     Space};
  Site.IsVolatile = A.IsVolatile;
  Site.OfGroups = A.I->getMetadata(OfGroupsName) != nullptr;
  Site.Carries = Carriers.contains(A.I) || isa<AnyMemTransferInst>(A.I);
  // A call may do both, when the run time carries it out.
  numberLocation(Site, K, /*Both=*/!A.Pointer);
  Tables.Sites.push_back(std::move(Site));
  return Tables.Sites.size() - 1;
}

/// Puts \p Ok's negation on a cold branch; returns the point in it.
Value *Instrumenter::branchUnlessOk(IRBuilder<> &B, Value *Ok) {
  MDNode *Weights = MDBuilder(Entry.getContext()).createUnlikelyBranchWeights();
  Instruction *Cold =
      SplitBlockAndInsertIfThen(B.CreateNot(Ok), &*B.GetInsertPoint(),
                                /*Unreachable=*/false, Weights);
  B.SetInsertPoint(Cold);
  return Cold;
}

void Instrumenter::guard(const CheckedAccess &A) {
  Value *Base = nullptr;
  AccessSpace Space = spaceOf(A.Pointer, Base);
  if (Base == Entry.getArg(0) || (IsEntry && Base == Entry.getArg(1)))
    return; // The launch's own arguments.
  unsigned Site = addSite(A, Space);
  IRBuilder<> B(A.I);
  B.SetCurrentDebugLocation(A.I->getDebugLoc());
  Type *Ptr = B.getPtrTy(), *I32 = B.getInt32Ty(), *I64 = B.getInt64Ty();
  Value *Generic = B.CreatePointerBitCastOrAddrSpaceCast(A.Pointer, Ptr);
  Value *Length =
      A.Length ? B.CreateZExtOrTrunc(A.Length, I64) : B.getInt64(A.Size);
  Value *Context = Entry.getArg(0);
  if (Options.Count)
    B.CreateCall(runtime("cupilot_rt_trace", {Ptr, Ptr, I64, I32}),
                 {Context, Generic, Length, B.getInt32(Site)});
  bool Shadowed = usesShadow(A, Space, Base);
  if (!Options.CheckBounds && !Shadowed)
    return;
  FunctionCallee Slow = runtime("cupilot_rt_access", {Ptr, Ptr, I64, I32});
  Value *Address = B.CreatePtrToInt(Generic, I64);
  Value *Misaligned =
      A.Alignment.value() > 1
          ? B.CreateICmpNE(B.CreateAnd(Address, A.Alignment.value() - 1),
                           B.getInt64(0))
          : B.getFalse();
  // Objects whose size is known here need no cache.
  std::optional<uint64_t> ObjectSize;
  if (auto *Alloca = dyn_cast<AllocaInst>(Base)) {
    if (auto Size = Alloca->getAllocationSize(DL); Size && !Size->isScalable())
      ObjectSize = Size->getFixedValue();
  } else if (auto *G = dyn_cast<GlobalVariable>(Base);
             G && !G->isDeclaration()) {
    ObjectSize = DL.getTypeAllocSize(G->getValueType());
  }
  if (ObjectSize && !A.Length) {
    if (*ObjectSize >= A.Size) {
      Value *Origin = B.CreatePtrToInt(
          B.CreatePointerBitCastOrAddrSpaceCast(Base, Ptr), I64);
      Value *Inside = B.CreateICmpULE(B.CreateSub(Address, Origin),
                                      B.getInt64(*ObjectSize - A.Size));
      branchUnlessOk(B, B.CreateAnd(Inside, B.CreateNot(Misaligned)));
    }
    B.CreateCall(runtime("cupilot_rt_object_fault", {Ptr, Ptr, Ptr, I64, I32}),
                 {Context, Generic,
                  B.CreatePointerBitCastOrAddrSpaceCast(Base, Ptr),
                  B.getInt64(*ObjectSize), B.getInt32(Site)});
    if (Shadowed)
      guardShadow(A, Site);
    return;
  }
  if (Shadowed) {
    guardShadow(A, Site); // Bounds too.
    return;
  }
  if (A.Length) {
    B.CreateCall(Slow, {Context, Generic, Length, B.getInt32(Site)});
    return;
  }
  Value *Sites = B.CreateLoad(Ptr, contextField(B, Entry, FieldSites), "sites");
  Value *Cache = B.CreateConstInBoundsGEP1_64(
      B.getInt64Ty(), Sites, uint64_t(Site) * (sizeof(SiteCache) / 8));
  Value *Lo = B.CreateLoad(I64, Cache);
  Value *Limit = B.CreateLoad(I64, B.CreateConstInBoundsGEP1_64(I64, Cache, 1));
  Value *Inside = B.CreateICmpULE(B.CreateSub(Address, Lo), Limit);
  branchUnlessOk(B, B.CreateAnd(Inside, B.CreateNot(Misaligned)));
  B.CreateCall(Slow, {Context, Generic, Length, B.getInt32(Site)});
}

/// What a basic block costs a GPU thread, by class of instruction.
static BlockCost costOf(const BasicBlock &BB, const Value *Parameters) {
  BlockCost Cost;
  for (const Instruction &I : BB) {
    const auto *Load = dyn_cast<LoadInst>(&I);
    // Kernel parameters are operands, in the constant bank.
    if (Parameters && Load &&
        getUnderlyingObject(Load->getPointerOperand(), 32) == Parameters)
      continue;
    Cost += deviceCost(I);
    if (Load)
      Cost.DependentLoads += followsItself(I);
  }
  return Cost;
}

void Instrumenter::addCounters() {
  K.FirstBlock = Tables.Costs.size();
  SmallVector<BasicBlock *> Blocks;
  for (BasicBlock &BB : Entry)
    Blocks.push_back(&BB);
  K.NumBlocks = Blocks.size();
  // The functions' counters come first, for all kernels alike.
  uint64_t First = IsEntry ? Tables.FunctionBlocks : K.FirstBlock;
  DominatorTree Dominators(Entry);
  LoopInfo Loops(Dominators);
  const Value *Parameters = IsEntry ? Entry.getArg(1) : nullptr;
  auto Chains = deviceChains(Entry, Loops, Parameters);
  for (BasicBlock *BB : Blocks) {
    Tables.Costs.push_back(costOf(*BB, Parameters));
    Tables.Costs.back().Chain = Chains.lookup(BB);
  }
  for (auto [Index, BB] : enumerate(Blocks)) {
    IRBuilder<> B(BB, BB->getFirstInsertionPt());
    Value *Counts =
        B.CreateLoad(B.getPtrTy(), contextField(B, Entry, FieldBlockCounts));
    Value *Slot =
        B.CreateConstInBoundsGEP1_64(B.getInt64Ty(), Counts, First + Index);
    B.CreateStore(
        B.CreateAdd(B.CreateLoad(B.getInt64Ty(), Slot), B.getInt64(1)), Slot);
  }
}

/// Checks are no steps of the program: to be called before there are any.
void Instrumenter::measureLoops() {
  DominatorTree Dominators(Entry);
  LoopInfo Loops(Dominators);
  for (Loop *L : Loops.getLoopsInPreorder()) {
    unsigned Size = 0;
    for (BasicBlock *BB : L->blocks())
      if (Loops.getLoopFor(BB) == L)
        Size += BB->size();
    Headers.push_back({L->getHeader(), Size});
  }
  if (!IsEntry) {
    // Calls repeat too.
    unsigned Size = 0;
    for (BasicBlock &BB : Entry)
      if (!Loops.getLoopFor(&BB))
        Size += BB.size();
    Headers.push_back({&Entry.getEntryBlock(), Size});
  }
}

void Instrumenter::addBudget() {
  for (auto [Header, Size] : Headers) {
    IRBuilder<> B(Header, Header->getFirstInsertionPt());
    Value *Slot = contextField(B, Entry, FieldBudget);
    Value *Left =
        B.CreateSub(B.CreateLoad(B.getInt64Ty(), Slot), B.getInt64(Size));
    B.CreateStore(Left, Slot);
    branchUnlessOk(B, B.CreateICmpSGE(Left, B.getInt64(0)));
    B.CreateCall(runtime("cupilot_rt_budget", {B.getPtrTy()}),
                 {Entry.getArg(0)});
  }
}

void Instrumenter::run() {
  collect(); // Before counters add accesses of their own.
  markCalls();
  measureLoops();
  if (Options.Count)
    addCounters();
  if (shadows()) {
    findCarriers();
    findGroups();
  }
  for (const CheckedAccess &A : Accesses)
    guard(A);
  if (shadows()) {
    carryUnwritten();
    if (Options.CheckWritten && !Carriers.empty())
      guardMasked();
    guardFences();
  }
  if (Options.MaxInstructions > 0 || Options.MaxLaunchInstructions > 0)
    addBudget();
}

void instrument(Function &Entry, LoweredModule &Tables, LoweredKernel &K,
                const CpuDeviceOptions &Options) {
  Instrumenter(Entry, Tables, K, Options).run();
}

} // namespace cupilot
