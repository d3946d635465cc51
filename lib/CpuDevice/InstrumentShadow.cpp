//===- InstrumentShadow.cpp - Race and written checks in code -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A call before each access of global and shared memory checks bounds, races
// and written bytes at once. A load whose value only goes to memory again is
// no use of it: the bits that say what is unwritten go with the value.
//
//===----------------------------------------------------------------------===//

#include "Instrument.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace cupilot {

/// Bytes of a value that can be told apart in a mask.
static constexpr uint64_t MaskBytes = 64;

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
  bool Fast = !A.Length && isPowerOf2_64(A.Size) && A.Size <= 16;
  if (A.IsStore) {
    Value *Raced =
        Fast ? B.CreateCall(Declare("cupilot_rt_store" + Twine(A.Size), I32,
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
      Fast ? B.CreateCall(Declare("cupilot_rt_load" + Twine(A.Size), I64,
                                  {Ptr, Ptr, I32}),
                          {Context, Generic, B.getInt32(Site)})
           : B.CreateCall(Declare("cupilot_rt_read", I64, {Ptr, Ptr, I64, I32}),
                          {Context, Generic, Size, B.getInt32(Site)});
  if (Carriers.contains(A.I))
    Unwritten[A.I] = Mask;
}

/// Whether each element of a type is a number of whole bytes.
static bool hasByteElements(Type *T, const DataLayout &DL) {
  if (auto *V = dyn_cast<FixedVectorType>(T))
    return V->getScalarSizeInBits() % 8 == 0;
  if (auto *S = dyn_cast<StructType>(T))
    return all_of(S->elements(),
                  [&](Type *E) { return hasByteElements(E, DL); });
  if (auto *A = dyn_cast<ArrayType>(T))
    return hasByteElements(A->getElementType(), DL);
  return DL.getTypeSizeInBits(T) % 8 == 0;
}

/// True when \p V ends in memory, unchanged, and nowhere else.
bool Instrumenter::onlyCopied(Value *V, SmallPtrSetImpl<Value *> &Seen) const {
  if (!Seen.insert(V).second)
    return true;
  if (!V->getType()->isSized() || !hasByteElements(V->getType(), DL) ||
      DL.getTypeStoreSize(V->getType()) > MaskBytes)
    return false;
  for (Use &U : V->uses()) {
    auto *I = cast<Instruction>(U.getUser());
    if (auto *Store = dyn_cast<StoreInst>(I)) {
      Value *Base = getUnderlyingObject(Store->getPointerOperand(), 0);
      if (U.getOperandNo() != 0 || Store->isAtomic() || isa<AllocaInst>(Base))
        return false;
      continue;
    }
    if (isMasked(*I))
      continue;
    bool Moves = isa<BitCastInst, FreezeInst, PHINode, ShuffleVectorInst,
                     ExtractValueInst, InsertValueInst>(I);
    Moves |= isMaskedExtreme(*I);
    if (isa<SelectInst>(I))
      Moves = U.getOperandNo() != 0;
    if (auto *Extract = dyn_cast<ExtractElementInst>(I))
      Moves = isa<ConstantInt>(Extract->getIndexOperand());
    if (auto *Insert = dyn_cast<InsertElementInst>(I))
      Moves = isa<ConstantInt>(Insert->getOperand(2));
    if (!Moves || !onlyCopied(I, Seen))
      return false;
  }
  return true;
}

void Instrumenter::findCarriers() {
  for (const CheckedAccess &A : Accesses) {
    auto *Load = dyn_cast<LoadInst>(A.I);
    SmallPtrSet<Value *, 8> Seen;
    if (Load && Load->isSimple() && !Load->use_empty() &&
        onlyCopied(Load, Seen))
      Carriers.insert(Load);
  }
}

/// A mask of the bytes of \p V that hold nothing, as an i64; null for none.
Value *Instrumenter::unwrittenBytes(Value *V) {
  if (auto It = Unwritten.find(V); It != Unwritten.end())
    return It->second;
  auto *I = dyn_cast<Instruction>(V);
  if (!I)
    return nullptr;
  auto SizeOf = [&](Type *T) -> uint64_t { return DL.getTypeStoreSize(T); };
  auto Ones = [](uint64_t Bytes) {
    return Bytes >= 64 ? ~0ull : (1ull << Bytes) - 1;
  };
  IRBuilder<> B(I);
  Type *I64 = B.getInt64Ty();
  auto Or0 = [&](Value *Mask) { return Mask ? Mask : B.getInt64(0); };
  auto Part = [&](Value *Mask, uint64_t From, uint64_t Bytes) {
    return B.CreateAnd(B.CreateLShr(Mask, From), Ones(Bytes));
  };
  auto Replace = [&](Value *Mask, Value *New, uint64_t From, uint64_t Bytes) {
    return B.CreateOr(B.CreateAnd(Mask, ~(Ones(Bytes) << From)),
                      B.CreateShl(New, From));
  };
  auto OffsetOf = [&](Type *T, ArrayRef<unsigned> Path) {
    SmallVector<Value *> Indices = {B.getInt32(0)};
    for (unsigned Index : Path)
      Indices.push_back(B.getInt32(Index));
    return static_cast<uint64_t>(DL.getIndexedOffsetInType(T, Indices));
  };
  if (auto *Phi = dyn_cast<PHINode>(I)) {
    auto *Mask = PHINode::Create(I64, Phi->getNumIncomingValues(), "unwritten",
                                 Phi->getIterator());
    Unwritten[V] = Mask;
    for (unsigned K = 0; K < Phi->getNumIncomingValues(); ++K) {
      Value *Of = unwrittenBytes(Phi->getIncomingValue(K));
      Mask->addIncoming(Of ? Of : B.getInt64(0), Phi->getIncomingBlock(K));
    }
    return Mask;
  }
  Value *Result = nullptr;
  if (isMaskedExtreme(*I)) {
    Value *X = unwrittenBytes(I->getOperand(0)),
          *Y = unwrittenBytes(I->getOperand(1));
    if (X || Y) // Neither byte is known without all of both.
      Result = B.CreateSelect(
          B.CreateICmpEQ(B.CreateOr(Or0(X), Or0(Y)), B.getInt64(0)),
          B.getInt64(0), B.getInt64(Ones(SizeOf(I->getType()))));
  } else if (isa<BitCastInst, FreezeInst>(I)) {
    Result = unwrittenBytes(I->getOperand(0));
  } else if (auto *Select = dyn_cast<SelectInst>(I)) {
    Value *True = unwrittenBytes(Select->getTrueValue()),
          *False = unwrittenBytes(Select->getFalseValue());
    if ((True || False) && !Select->getCondition()->getType()->isVectorTy())
      Result = B.CreateSelect(Select->getCondition(), Or0(True), Or0(False));
  } else if (auto *Extract = dyn_cast<ExtractElementInst>(I)) {
    uint64_t Bytes = SizeOf(I->getType());
    if (Value *Of = unwrittenBytes(Extract->getVectorOperand()))
      if (auto *Index = dyn_cast<ConstantInt>(Extract->getIndexOperand()))
        Result = Part(Of, Index->getZExtValue() * Bytes, Bytes);
  } else if (auto *Insert = dyn_cast<InsertElementInst>(I)) {
    Value *Into = unwrittenBytes(Insert->getOperand(0)),
          *New = unwrittenBytes(Insert->getOperand(1));
    uint64_t Bytes = SizeOf(Insert->getOperand(1)->getType());
    auto *Index = dyn_cast<ConstantInt>(Insert->getOperand(2));
    if ((Into || New) && Index)
      Result =
          Replace(Or0(Into), Or0(New), Index->getZExtValue() * Bytes, Bytes);
  } else if (auto *Shuffle = dyn_cast<ShuffleVectorInst>(I)) {
    Value *Sides[2] = {unwrittenBytes(Shuffle->getOperand(0)),
                       unwrittenBytes(Shuffle->getOperand(1))};
    int Lanes = cast<FixedVectorType>(Shuffle->getOperand(0)->getType())
                    ->getNumElements();
    uint64_t Bytes = SizeOf(I->getType()->getScalarType());
    for (auto [To, From] : enumerate(Shuffle->getShuffleMask())) {
      Value *Side = From < 0 ? nullptr : Sides[From >= Lanes];
      if (!Side)
        continue;
      Value *Moved =
          B.CreateShl(Part(Side, From % Lanes * Bytes, Bytes), To * Bytes);
      Result = Result ? B.CreateOr(Result, Moved) : Moved;
    }
  } else if (auto *Extract = dyn_cast<ExtractValueInst>(I)) {
    if (Value *Of = unwrittenBytes(Extract->getAggregateOperand()))
      Result = Part(Of,
                    OffsetOf(Extract->getAggregateOperand()->getType(),
                             Extract->getIndices()),
                    SizeOf(I->getType()));
  } else if (auto *Insert = dyn_cast<InsertValueInst>(I)) {
    Value *Into = unwrittenBytes(Insert->getAggregateOperand()),
          *New = unwrittenBytes(Insert->getInsertedValueOperand());
    if (Into || New)
      Result = Replace(Or0(Into), Or0(New),
                       OffsetOf(I->getType(), Insert->getIndices()),
                       SizeOf(Insert->getInsertedValueOperand()->getType()));
  }
  Unwritten[V] = Result;
  return Result;
}

void Instrumenter::carryUnwritten() {
  for (const CheckedAccess &A : Accesses) {
    auto *Store = dyn_cast<StoreInst>(A.I);
    auto Site = CarrySites.find(A.I);
    if (!Store || Carriers.empty() || Site == CarrySites.end())
      continue;
    Value *Mask = unwrittenBytes(Store->getValueOperand());
    if (!Mask)
      continue;
    IRBuilder<> B(Store);
    Type *Ptr = B.getPtrTy(), *I32 = B.getInt32Ty(), *I64 = B.getInt64Ty();
    Value *Generic = B.CreatePointerBitCastOrAddrSpaceCast(A.Pointer, Ptr);
    branchUnlessOk(B, B.CreateICmpEQ(Mask, B.getInt64(0)));
    B.CreateCall(runtime("cupilot_rt_carry", {Ptr, Ptr, I64, I64, I32}),
                 {Entry.getArg(0), Generic, B.getInt64(A.Size), Mask,
                  B.getInt32(Site->second)});
  }
}

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
