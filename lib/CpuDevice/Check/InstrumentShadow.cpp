//===- InstrumentShadow.cpp - Race and written checks in code -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A check before each access of global and shared memory looks at bounds, races
// and written bytes at once: the common cases in code (FastCheck.cpp), the rest
// in the run time. Accesses of one basic block at constant distances have one
// check of bounds: the first of them finds the shadow for all.
//
//===----------------------------------------------------------------------===//

#include "Instrument.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace cupilot {

bool Instrumenter::usesShadow(const CheckedAccess &A, AccessSpace Space,
                              Value *Base) const {
  if (!shadows() || Space == AccessSpace::Local ||
      Space == AccessSpace::Constant)
    return false;
  auto *G = dyn_cast<GlobalVariable>(Base);
  return !G || !G->isConstant();
}

void Instrumenter::guardShadow(const CheckedAccess &A, unsigned Site) {
  IRBuilder<> B(A.I);
  B.SetCurrentDebugLocation(A.I->getDebugLoc());
  Type *Ptr = B.getPtrTy(), *I32 = B.getInt32Ty(), *I64 = B.getInt64Ty();
  Value *Context = Entry.getArg(0);
  Value *Generic = B.CreatePointerBitCastOrAddrSpaceCast(A.Pointer, Ptr);
  auto Declare = [&](const Twine &Name, Type *Result, ArrayRef<Type *> Params) {
    return Entry.getParent()->getOrInsertFunction(
        Name.str(), FunctionType::get(Result, Params, false));
  };
  auto *Transfer = dyn_cast<AnyMemTransferInst>(A.I);
  if (Transfer) {
    // The source comes as an access of its own: one call for both.
    if (A.IsStore) {
      CarrySites[A.I] = Site;
      return;
    }
    auto To = CarrySites.find(A.I);
    Value *Length = B.CreateZExtOrTrunc(Transfer->getLength(), I64);
    if (To == CarrySites.end()) {
      B.CreateCall(Declare("cupilot_rt_read", I64, {Ptr, Ptr, I64, I32}),
                   {Context, Generic, Length, B.getInt32(Site)});
      return;
    }
    Value *Dest =
        B.CreatePointerBitCastOrAddrSpaceCast(A.I->getOperand(0), Ptr);
    B.CreateCall(Declare("cupilot_rt_copy", B.getVoidTy(),
                         {Ptr, Ptr, Ptr, I64, I32, I32}),
                 {Context, Dest, Generic, Length, B.getInt32(To->second),
                  B.getInt32(Site)});
    return;
  }
  Value *Size = A.Length ? B.CreateZExtOrTrunc(A.Length, I64)
                         : static_cast<Value *>(B.getInt64(A.Size));
  if (A.IsAtomic && A.IsStore && !isa<StoreInst>(A.I)) {
    B.CreateCall(
        Declare("cupilot_rt_atomic", B.getVoidTy(), {Ptr, Ptr, I64, I32}),
        {Context, Generic, Size, B.getInt32(Site)});
    // The shadow must see atomics in the order in which they happen.
    B.SetInsertPoint(A.I->getNextNode());
    B.CreateCall(Declare("cupilot_rt_atomic_done", B.getVoidTy(), {Ptr}),
                 {Context});
    return;
  }
  bool Sized = !A.Length && isPowerOf2_64(A.Size) && A.Size <= 16;
  Value *Shadow = groupShadow(A, B);
  BasicBlock *Before = B.GetInsertBlock();
  if (Shadow) {
    FastKind Kind = {static_cast<unsigned>(A.Size), A.IsStore,
                     !A.IsStore &&
                         (Options.CheckWritten || Carriers.contains(A.I))};
    const AccessSite &S = Tables.Sites[Site];
    uint64_t Bits = A.IsStore
                        ? uint64_t(S.WriteLocation) << word::WriteLocationShift
                        : uint64_t(S.ReadLocation) << word::ReadLocationShift;
    Value *Ok = B.CreateCall(
        fastCheck(*Entry.getParent(), Kind, Options),
        {Context, Shadow, B.CreatePtrToInt(Generic, I64), B.getInt64(Bits)});
    Before = B.GetInsertBlock();
    branchUnlessOk(B, Ok);
  }
  if (A.IsStore) {
    Value *Raced =
        Sized ? B.CreateCall(Declare("cupilot_rt_store" + Twine(A.Size), I32,
                                     {Ptr, Ptr, I32}),
                             {Context, Generic, B.getInt32(Site)})
              : B.CreateCall(
                    Declare("cupilot_rt_write", I32, {Ptr, Ptr, I64, I32}),
                    {Context, Generic, Size, B.getInt32(Site)});
    CarrySites[A.I] = Site;
    // What is there already decides whether both write the same.
    branchUnlessOk(B, B.CreateICmpEQ(Raced, B.getInt32(0)));
    Value *Spilled =
        ConstantPointerNull::get(PointerType::get(B.getContext(), 0));
    if (auto *Store = dyn_cast<StoreInst>(A.I)) {
      IRBuilder<> Top(&*Entry.getEntryBlock().getFirstInsertionPt());
      Spilled = Top.CreateAlloca(Store->getValueOperand()->getType());
      B.CreateStore(Store->getValueOperand(), Spilled);
    }
    B.CreateCall(Declare("cupilot_rt_store_race", B.getVoidTy(),
                         {Ptr, Ptr, Ptr, I64, I32}),
                 {Context, Generic, Spilled, Size, B.getInt32(Site)});
    return;
  }
  Value *Mask =
      Sized
          ? B.CreateCall(Declare("cupilot_rt_load" + Twine(A.Size), I64,
                                 {Ptr, Ptr, I32}),
                         {Context, Generic, B.getInt32(Site)})
          : B.CreateCall(Declare("cupilot_rt_read", I64, {Ptr, Ptr, I64, I32}),
                         {Context, Generic, Size, B.getInt32(Site)});
  if (!Carriers.contains(A.I))
    return;
  if (Shadow) {
    BasicBlock *Slow = B.GetInsertBlock();
    B.SetInsertPoint(A.I->getParent(), A.I->getParent()->begin());
    PHINode *Merged = B.CreatePHI(I64, 2, "unwritten");
    Merged->addIncoming(B.getInt64(0), Before);
    Merged->addIncoming(Mask, Slow);
    Mask = Merged;
  }
  Unwritten[A.I] = Mask;
}

/// Whether the common cases of \p A are code of their own.
static bool hasFastCheck(const CheckedAccess &A) {
  return isa<LoadInst, StoreInst>(A.I) && !A.IsAtomic && !A.IsVolatile &&
         isPowerOf2_64(A.Size) && A.Size <= 16 &&
         A.Alignment.value() >= std::min(A.Size, GranuleBytes);
}

/// Whether other threads may run, memory be freed, or the thread end, at \p I.
static bool endsGroups(const Instruction &I) {
  auto *Call = dyn_cast<CallBase>(&I);
  return Call && !isa<AnyMemIntrinsic>(Call) && !Call->doesNotAccessMemory() &&
         !Call->isDebugOrPseudoInst() && !Call->isLifetimeStartOrEnd();
}

/// Code of its own for more accesses than these would take long to compile.
static constexpr unsigned MaxFastChecks = 160;

void Instrumenter::findGroups() {
  TargetLibraryInfoImpl Library(Entry.getParent()->getTargetTriple());
  TargetLibraryInfo Info(Library);
  AssumptionCache Assumptions(Entry);
  DominatorTree Dominators(Entry);
  LoopInfo Loops(Dominators);
  ScalarEvolution Evolution(Entry, Info, Assumptions, Dominators, Loops);
  DenseMap<Instruction *, const CheckedAccess *> Fast;
  // By depth of loops: inner loops first, when there are too many.
  std::map<unsigned, SmallVector<BasicBlock *>, std::greater<>> ByDepth;
  for (const CheckedAccess &A : Accesses) {
    Value *Base = nullptr;
    if (hasFastCheck(A) && usesShadow(A, spaceOf(A.Pointer, Base), Base))
      Fast[A.I] = &A;
  }
  for (BasicBlock &BB : Entry)
    ByDepth[Loops.getLoopDepth(&BB)].push_back(&BB);
  SmallVector<BasicBlock *> Blocks;
  for (auto &[Depth, List] : ByDepth)
    append_range(Blocks, List);
  unsigned Count = 0;
  for (BasicBlock *BB : Blocks) {
    size_t First = Groups.size();
    for (Instruction &I : *BB) {
      if (endsGroups(I))
        First = Groups.size();
      const CheckedAccess *A = Fast.lookup(&I);
      if (!A || ++Count > MaxFastChecks)
        continue;
      const SCEV *Pointer = Evolution.getSCEV(A->Pointer);
      size_t G = First;
      for (; G < Groups.size(); ++G) {
        if (Groups[G].Leader->getType() != A->Pointer->getType())
          continue;
        std::optional<APInt> Distance = Evolution.computeConstantDifference(
            Pointer, Evolution.getSCEV(Groups[G].Leader));
        if (Distance && Distance->isSignedIntN(16) &&
            Groups[G].add(Distance->getSExtValue(), *A))
          break;
      }
      if (G == Groups.size())
        Groups.push_back({A->Pointer, 0, static_cast<int64_t>(A->Size),
                          A->Alignment.value(), 0, A->IsStore});
      GroupOf[&I] = G;
    }
  }
}

bool AccessGroup::add(int64_t Distance, const CheckedAccess &A) {
  // What the leader's address must leave when it is divided by the alignment.
  uint64_t Divisor = A.Alignment.value();
  uint64_t Rest = uint64_t(-Distance) & (Divisor - 1);
  uint64_t Common = std::min(Divisor, Alignment) - 1;
  if ((Rest & Common) != (Residue & Common))
    return false;
  if (Divisor > Alignment) {
    Alignment = Divisor;
    Residue = Rest;
  }
  Low = std::min(Low, Distance);
  High = std::max(High, Distance + static_cast<int64_t>(A.Size));
  IsStore |= A.IsStore;
  return true;
}

/// What to add to four times the address of \p A to get its shadow, or 0 when
/// the run time has to look; null when it always has to.
Value *Instrumenter::groupShadow(const CheckedAccess &A, IRBuilder<> &B) {
  auto It = GroupOf.find(A.I);
  if (It == GroupOf.end() || A.Length)
    return nullptr;
  AccessGroup &G = Groups[It->second];
  if (G.Shadow)
    return G.Shadow;
  // The first access of the group.
  Type *Ptr = B.getPtrTy(), *I32 = B.getInt32Ty(), *I64 = B.getInt64Ty();
  uint64_t Size = G.High - G.Low;
  AccessSite Site = {K.Name, locationOf(A.I->getDebugLoc()),
                     static_cast<uint32_t>(Size), 1, G.IsStore};
  unsigned Index = Tables.Sites.size();
  Tables.Sites.push_back(std::move(Site));
  Value *Leader = B.CreatePtrToInt(
      B.CreatePointerBitCastOrAddrSpaceCast(G.Leader, Ptr), I64);
  Value *Start = B.CreateAdd(Leader, B.getInt64(G.Low));
  Value *Sites = B.CreateLoad(Ptr, contextField(B, Entry, FieldSites), "sites");
  Value *Cache = B.CreateConstInBoundsGEP1_64(
      I64, Sites, uint64_t(Index) * (sizeof(SiteCache) / 8));
  Value *Lo = B.CreateLoad(I64, Cache);
  Value *Limit = B.CreateLoad(I64, B.CreateConstInBoundsGEP1_64(I64, Cache, 1));
  Value *Known = B.CreateLoad(I64, B.CreateConstInBoundsGEP1_64(I64, Cache, 2));
  Value *Inside = B.CreateICmpULE(B.CreateSub(Start, Lo), Limit);
  Value *Aligned = B.getTrue();
  if (G.Alignment > 1)
    Aligned =
        B.CreateICmpEQ(B.CreateAnd(B.CreateSub(Leader, B.getInt64(G.Residue)),
                                   B.getInt64(G.Alignment - 1)),
                       B.getInt64(0));
  BasicBlock *Head = B.GetInsertBlock();
  branchUnlessOk(B, B.CreateAnd(Inside, Aligned));
  Value *Found = B.CreateCall(
      Entry.getParent()->getOrInsertFunction(
          "cupilot_rt_group", FunctionType::get(I64, {Ptr, I64, I32}, false)),
      {Entry.getArg(0), Start, B.getInt32(Index)});
  Found = B.CreateSelect(Aligned, Found, B.getInt64(0));
  BasicBlock *Slow = B.GetInsertBlock();
  B.SetInsertPoint(A.I->getParent(), A.I->getParent()->begin());
  PHINode *Shadow = B.CreatePHI(I64, 2, "shadow");
  Shadow->addIncoming(Known, Head);
  Shadow->addIncoming(Found, Slow);
  B.SetInsertPoint(A.I);
  B.SetCurrentDebugLocation(A.I->getDebugLoc());
  G.Shadow = Shadow;
  return Shadow;
}

} // namespace cupilot
