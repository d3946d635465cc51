//===- Instrument.cpp - Checks, counters and budgets put into code -*- C++
//-*-===//
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
#include "Abi/ShadowWords.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Support/NVPTXAddrSpace.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace cupilot {

static_assert(offsetof(SiteCache, Lo) == 0 && offsetof(SiteCache, Limit) == 8 &&
                  offsetof(SiteCache, Shadow) == 16 &&
                  sizeof(SiteCache) % 8 == 0,
              "the words of a site that are loaded here");

namespace {
/// One access that an instruction makes.
struct CheckedAccess {
  Instruction *I;
  Value *Pointer;
  Value *Length = nullptr; ///< For memory intrinsics; else null.
  uint64_t Size = 0;
  Align Alignment;
  bool IsStore = false, IsAtomic = false, IsVolatile = false;
};

/// Accesses of one basic block at constant distances: one check of bounds.
struct AccessGroup {
  Value *Leader;     ///< The pointer of the first.
  int64_t Low, High; ///< The bytes that all touch, from there.
  /// What the leader's address leaves when it is divided by the alignment.
  uint64_t Alignment, Residue;
  bool IsStore;
  Value *Shadow = nullptr; ///< See groupShadow().
  /// Takes \p A, which lies \p Distance bytes behind the leader, if the
  /// alignments agree.
  bool add(int64_t Distance, const CheckedAccess &A);
};

class Instrumenter {
public:
  Instrumenter(Function &Entry, LoweredModule &Tables, LoweredKernel &K,
               const CpuDeviceOptions &Options)
      : Entry(Entry), Tables(Tables), K(K), Options(Options),
        DL(Entry.getParent()->getDataLayout()),
        IsEntry(Entry.getName() == K.Entry) {}
  void run();

private:
  void collect();
  void guard(const CheckedAccess &A);
  unsigned addSite(const CheckedAccess &A, AccessSpace Space);
  AccessSpace spaceOf(Value *Pointer, Value *&Base);
  void addCounters();
  void measureLoops();
  void addBudget();
  FunctionCallee runtime(StringRef Name, ArrayRef<Type *> Params) {
    return Entry.getParent()->getOrInsertFunction(
        Name,
        FunctionType::get(Type::getVoidTy(Entry.getContext()), Params, false));
  }
  Value *branchUnlessOk(IRBuilder<> &B, Value *Ok);

  bool shadows() const {
    return Options.CheckRaces || Options.CheckWritten || Options.Coverage;
  }
  bool usesShadow(const CheckedAccess &A, AccessSpace Space, Value *Base) const;
  void guardShadow(const CheckedAccess &A, unsigned Site);
  void findGroups();
  Value *groupShadow(const CheckedAccess &A, IRBuilder<> &B);

  void guardFences();
  void markCalls();

  bool isExchange(const CheckedAccess &A);
  void addTurns();
  void watchExchanges();

  void findCarriers();
  bool onlyCopied(Value *V, SmallPtrSetImpl<Value *> &Seen) const;
  void carryUnwritten();
  Value *unwrittenBytes(Value *V);

  static bool isMasked(const Instruction &Compare);
  static bool isMaskedExtreme(const Instruction &I);
  Value *unwrittenBit(Value *V);
  void guardMasked();

  Function &Entry;
  LoweredModule &Tables;
  LoweredKernel &K;
  const CpuDeviceOptions &Options;
  const DataLayout &DL;
  const bool IsEntry; ///< Else a function that it calls.
  std::vector<CheckedAccess> Accesses;
  /// Where steps are counted, and how many.
  /// Where budgets pay, and how much; at the first they are looked at.
  SmallVector<std::pair<BasicBlock *, unsigned>> Headers, Branches;
  std::vector<AccessGroup> Groups;
  DenseMap<Instruction *, size_t> GroupOf;
  /// Loads whose value is only copied, and, once it is made, the mask of those
  /// of its bytes that hold nothing.
  SmallPtrSet<Instruction *, 16> Carriers;
  DenseMap<Value *, Value *> Unwritten, UnwrittenBits;
  DenseMap<Instruction *, unsigned> CarrySites; ///< Stores of such values.
  DenseMap<Instruction *, unsigned> Sites; ///< Of volatile and atomic ones.
};
} // namespace

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
      }
    }
}

AccessSpace Instrumenter::spaceOf(Value *Pointer, Value *&Base) {
  Base = const_cast<Value *>(getUnderlyingObject(Pointer, /*MaxLookup=*/0));
  if (isa<AllocaInst>(Base))
    return AccessSpace::Local;
  if (auto *G = dyn_cast<GlobalVariable>(Base))
    switch (G->getAddressSpace()) {
    case NVPTXAS::ADDRESS_SPACE_SHARED:
      return AccessSpace::Shared;
    case NVPTXAS::ADDRESS_SPACE_CONST:
      return AccessSpace::Constant;
    default:
      return AccessSpace::Global;
    }
  return Pointer->getType()->getPointerAddressSpace() ==
                 NVPTXAS::ADDRESS_SPACE_GLOBAL
             ? AccessSpace::Global
             : AccessSpace::Generic;
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
  if (A.IsAtomic || A.IsVolatile)
    Sites[A.I] = Site;
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
  if (ObjectSize && A.Length && isa<AllocaInst>(Base)) {
    // A copy of a length that only the launch knows.
    Value *Start = B.CreateSub(
        Address, B.CreatePtrToInt(
                     B.CreatePointerBitCastOrAddrSpaceCast(Base, Ptr), I64));
    Value *Fits = B.CreateLogicalAnd(
        B.CreateICmpULE(Start, B.getInt64(*ObjectSize)),
        B.CreateICmpULE(Length, B.CreateSub(B.getInt64(*ObjectSize), Start)));
    branchUnlessOk(B, B.CreateOr(B.CreateICmpEQ(Length, B.getInt64(0)),
                                 B.CreateAnd(Fits, B.CreateNot(Misaligned))));
    Value *Last =
        B.CreateAnd(B.CreateSub(B.CreateAdd(Address, Length), B.getInt64(1)),
                    ~uint64_t(A.Alignment.value() - 1));
    B.CreateCall(
        runtime("cupilot_rt_object_fault", {Ptr, Ptr, Ptr, I64, I32}),
        {Context,
         B.CreateIntToPtr(B.CreateSelect(Misaligned, Address, Last), Ptr),
         B.CreatePointerBitCastOrAddrSpaceCast(Base, Ptr),
         B.getInt64(*ObjectSize), B.getInt32(Site)});
    return;
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

/// A budget pays for a branch of as many steps where it is taken; for less, as
/// if it always were.
static constexpr unsigned LeastBranch = 16;

/// What \p Header, of the loop \p L or of a function when that is null, pays
/// for its blocks, but for those of inner loops and what \p Branches pay.
static unsigned
stepsFrom(BasicBlock *Header, const Loop *L, const LoopInfo &Loops,
          const DominatorTree &Dominators, const PostDominatorTree &Ends,
          SmallVectorImpl<std::pair<BasicBlock *, unsigned>> &Branches) {
  auto IsIn = [&](const BasicBlock *BB) { return !L || L->contains(BB); };
  auto Own = [&](const BasicBlock *BB) {
    return Loops.getLoopFor(BB) == L ? stepsOf(*BB) : 0;
  };
  // What lies below each block: children come behind their parents.
  SmallVector<const DomTreeNode *> Nodes = {Dominators.getNode(Header)};
  for (size_t I = 0; I < Nodes.size(); ++I)
    append_range(Nodes, make_filter_range(*Nodes[I], [&](DomTreeNode *Child) {
                   return IsIn(Child->getBlock());
                 }));
  DenseMap<const DomTreeNode *, unsigned> Below;
  for (const DomTreeNode *N : reverse(Nodes)) {
    unsigned All = Below.lookup(N) + Own(N->getBlock());
    Below[N] = All;
    if (N != Nodes.front())
      Below[N->getIDom()] += All;
  }
  // Who pays for each. A loop is paid for by whole rounds.
  const BasicBlock *Latch = L ? L->getLoopLatch() : nullptr;
  auto IsSure = [&](const BasicBlock *BB, const BasicBlock *With) {
    return With == Header && Latch ? Dominators.dominates(BB, Latch)
                                   : Ends.dominates(BB, With);
  };
  DenseMap<const DomTreeNode *, BasicBlock *> Payer;
  MapVector<BasicBlock *, unsigned> Steps;
  for (const DomTreeNode *N : Nodes) {
    BasicBlock *BB = N->getBlock(), *Who = Header;
    if (N != Nodes.front()) {
      Who = Payer.at(N->getIDom());
      if ((!L || Latch) && Below[N] >= LeastBranch && !IsSure(BB, Who))
        Who = BB;
    }
    Payer[N] = Who;
    Steps[Who] += Own(BB);
  }
  for (auto [Who, Size] : Steps)
    if (Who != Header && Size > 0)
      Branches.push_back({Who, Size});
  return Steps[Header];
}

/// Checks are no steps of the program: to be called before there are any.
void Instrumenter::measureLoops() {
  DominatorTree Dominators(Entry);
  PostDominatorTree Ends(Entry);
  LoopInfo Loops(Dominators);
  for (Loop *L : Loops.getLoopsInPreorder())
    Headers.push_back({L->getHeader(), stepsFrom(L->getHeader(), L, Loops,
                                                 Dominators, Ends, Branches)});
  if (!IsEntry) // Calls repeat too.
    Headers.push_back(
        {&Entry.getEntryBlock(), stepsFrom(&Entry.getEntryBlock(), nullptr,
                                           Loops, Dominators, Ends, Branches)});
}

void Instrumenter::addBudget() {
  auto Pay = [&](BasicBlock *BB, unsigned Size) {
    IRBuilder<> B(BB, BB->getFirstInsertionPt());
    Value *Slot = contextField(B, Entry, FieldBudget);
    Value *Left =
        B.CreateSub(B.CreateLoad(B.getInt64Ty(), Slot), B.getInt64(Size));
    B.CreateStore(Left, Slot);
    return std::pair(Left, &*B.GetInsertPoint());
  };
  for (auto [Branch, Size] : Branches)
    Pay(Branch, Size);
  for (auto [Header, Size] : Headers) {
    auto [Left, Next] = Pay(Header, Size);
    IRBuilder<> B(Next);
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
  K.Exchanges |=
      any_of(Accesses, [&](const CheckedAccess &A) { return isExchange(A); });
  if (Options.ScheduleSeed)
    addTurns();
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
  if (Options.ScheduleSeed && Options.CheckRaces &&
      (Options.CheckLostUpdates || Options.CheckVolatileOrder))
    watchExchanges();
  if (Options.MaxInstructions > 0 || Options.MaxLaunchInstructions > 0)
    addBudget();
}

void instrument(Function &Entry, LoweredModule &Tables, LoweredKernel &K,
                const CpuDeviceOptions &Options) {
  Instrumenter(Entry, Tables, K, Options).run();
}

//===----------------------------------------------------------------------===//
// Race and written checks in code
//
// A check before each access of global and shared memory looks at bounds, races
// and written bytes at once: the common cases in code (FastCheck.cpp), the rest
// in the run time. Accesses of one basic block at constant distances have one
// check of bounds: the first of them finds the shadow for all.
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Unwritten bytes that are only copied
//
// A load whose value only goes to memory again is no use of it: the bits that
// say what is unwritten go with the value, through vectors and structs.
//===----------------------------------------------------------------------===//

/// Bytes of a value that can be told apart in a mask.
static constexpr uint64_t MaskBytes = 64;

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

//===----------------------------------------------------------------------===//
// Comparisons that may not count
//
// Code that reads one element beyond those it has, and compares it only behind
// "is there one?", is right whether the comparison is skipped or computed and
// masked; the optimiser decides which. So the result of a comparison that goes
// into a logical operation is followed with a bit that says whether it comes
// from bytes that nobody wrote, as MemorySanitizer does, and reported where
// something depends on it.
//===----------------------------------------------------------------------===//

/// Whether \p I makes one truth value of others.
static bool isLogic(const Instruction &I) {
  if (!I.getType()->isIntegerTy(1))
    return false;
  switch (I.getOpcode()) {
  case Instruction::And:
  case Instruction::Or:
  case Instruction::Xor:
  case Instruction::Select:
  case Instruction::PHI:
  case Instruction::Freeze:
    return true;
  default:
    return false;
  }
}

/// Whether the result may be masked by another condition.
bool Instrumenter::isMasked(const Instruction &Compare) {
  if (!isa<CmpInst>(Compare) || !Compare.getType()->isIntegerTy(1))
    return false;
  SmallSetVector<const Instruction *, 8> Work;
  Work.insert(&Compare);
  for (size_t K = 0; K < Work.size(); ++K)
    for (const User *U : Work[K]->users()) {
      auto *I = cast<Instruction>(U);
      if (!isLogic(*I))
        continue;
      if (I->getOpcode() == Instruction::And ||
          I->getOpcode() == Instruction::Or ||
          I->getOpcode() == Instruction::Select)
        return true;
      Work.insert(I);
    }
  return false;
}

/// Whether \p I is what the optimiser makes of a comparison and the choice that
/// goes with it, when another condition may still choose otherwise.
bool Instrumenter::isMaskedExtreme(const Instruction &I) {
  return isa<MinMaxIntrinsic>(I) && !I.getType()->isVectorTy() &&
         !I.use_empty() && all_of(I.uses(), [](const Use &U) {
           return isa<SelectInst>(U.getUser()) && U.getOperandNo() != 0;
         });
}

/// Whether the truth value \p V depends on bytes that hold nothing, as an i1;
/// null for never.
Value *Instrumenter::unwrittenBit(Value *V) {
  auto *I = dyn_cast<Instruction>(V);
  if (!I || (!isLogic(*I) && !isa<CmpInst>(I)))
    return nullptr;
  if (auto It = UnwrittenBits.find(V); It != UnwrittenBits.end())
    return It->second;
  if (auto *Phi = dyn_cast<PHINode>(I)) {
    auto *Bit = PHINode::Create(Phi->getType(), Phi->getNumIncomingValues(),
                                "depends", Phi->getIterator());
    UnwrittenBits[V] = Bit;
    for (unsigned K = 0; K < Phi->getNumIncomingValues(); ++K) {
      Value *Of = unwrittenBit(Phi->getIncomingValue(K));
      Bit->addIncoming(Of ? Of : ConstantInt::getFalse(Phi->getContext()),
                       Phi->getIncomingBlock(K));
    }
    return Bit;
  }
  IRBuilder<> B(I->getNextNode());
  auto Or0 = [&](Value *Bit) { return Bit ? Bit : B.getFalse(); };
  auto *Select = dyn_cast<SelectInst>(I);
  Value *Result = nullptr;
  Value *X = I->getOperand(0),
        *Y = I->getNumOperands() > 1 ? I->getOperand(1) : nullptr;
  bool And = I->getOpcode() == Instruction::And, Or = false;
  if (!And)
    Or = I->getOpcode() == Instruction::Or;
  if (Select) {
    auto *True = dyn_cast<ConstantInt>(Select->getTrueValue()),
         *False = dyn_cast<ConstantInt>(Select->getFalseValue());
    And = False && False->isZero();
    Or = !And && True && True->isOne();
    if (Or)
      Y = Select->getFalseValue();
  }
  if (isa<CmpInst>(I)) {
    if (isMasked(*I))
      for (Value *Operand : I->operands())
        if (Value *Mask = unwrittenBytes(Operand)) {
          Value *Bit = B.CreateICmpNE(Mask, B.getInt64(0));
          Result = Result ? B.CreateOr(Result, Bit) : Bit;
        }
  } else if (And || Or) {
    // Either decides alone, when it is known to be false (or true).
    Value *OfX = unwrittenBit(X), *OfY = unwrittenBit(Y);
    if (OfX || OfY) {
      Value *XLets = And ? X : B.CreateNot(X),
            *YLets = And ? Y : B.CreateNot(Y);
      Value *ByY =
          B.CreateLogicalAnd(B.CreateLogicalOr(XLets, Or0(OfX)), Or0(OfY));
      Value *ByX = B.CreateLogicalAnd(Or0(OfX), YLets);
      Result = B.CreateLogicalOr(ByX, ByY);
    }
  } else if (Select) {
    Value *OfC = unwrittenBit(Select->getCondition()),
          *OfT = unwrittenBit(Select->getTrueValue()),
          *OfF = unwrittenBit(Select->getFalseValue());
    if (OfC || OfT || OfF)
      Result = B.CreateLogicalOr(
          Or0(OfC), B.CreateSelect(Select->getCondition(), Or0(OfT), Or0(OfF)));
  } else {
    Value *OfX = unwrittenBit(X), *OfY = Y ? unwrittenBit(Y) : nullptr;
    if (OfX || OfY)
      Result = B.CreateOr(Or0(OfX), Or0(OfY));
  }
  return UnwrittenBits[V] = Result;
}

void Instrumenter::guardMasked() {
  SmallSetVector<Instruction *, 16> Held;
  for (Instruction &I : instructions(Entry))
    if (isMasked(I) && any_of(I.operands(), [&](Value *Operand) {
          return unwrittenBytes(Operand) != nullptr;
        }))
      Held.insert(&I);
  SmallSetVector<std::pair<Instruction *, Instruction *>, 16> Uses;
  for (size_t K = 0; K < Held.size(); ++K)
    for (User *U : Held[K]->users())
      if (auto *I = cast<Instruction>(U); isLogic(*I))
        Held.insert(I);
      else
        Uses.insert({Held[K], I});
  for (auto [From, User] : Uses) {
    Value *Bit = unwrittenBit(From);
    if (!Bit)
      continue;
    IRBuilder<> B(User);
    branchUnlessOk(B, B.CreateNot(Bit));
    B.CreateCall(runtime("cupilot_rt_unwritten", {B.getPtrTy()}),
                 {Entry.getArg(0)});
  }
}

//===----------------------------------------------------------------------===//
// What orders threads, in code
//
// Fences, releases and acquires are told to the race check. Without a fence in
// a kernel there is nothing to tell.
//===----------------------------------------------------------------------===//

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
    switch (Call->getIntrinsicID()) {
    case Intrinsic::nvvm_membar_gl:
    case Intrinsic::nvvm_membar_sys:
    case Intrinsic::nvvm_fence_sc_cluster:
      Result.DeviceFence = true;
      [[fallthrough]];
    case Intrinsic::nvvm_membar_cta:
    case Intrinsic::nvvm_fence_release_sync_restrict_space_cta_scope_cluster:
      Result.Fence = true;
      break;
    default:
      break;
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

//===----------------------------------------------------------------------===//
// Turns, and what threads exchange
//
// With a ScheduleSeed, a thread may give way before each volatile and atomic
// access, before its check: nothing lies between a check and its access. Around
// the access the run time compares what the place holds (Exchanges.cpp).
//===----------------------------------------------------------------------===//

/// Whether another thread may see \p A, or it another thread, without a race.
bool Instrumenter::isExchange(const CheckedAccess &A) {
  Value *Base = nullptr;
  AccessSpace Space = spaceOf(A.Pointer, Base);
  return (A.IsAtomic || A.IsVolatile) && !A.Length &&
         Space != AccessSpace::Local && Space != AccessSpace::Constant &&
         Base != Entry.getArg(0) && !(IsEntry && Base == Entry.getArg(1));
}

void Instrumenter::addTurns() {
  for (const CheckedAccess &A : Accesses) {
    if (!isExchange(A))
      continue;
    IRBuilder<> B(A.I);
    // Whoever calls a function may wait for what it says.
    bool Looks = !IsEntry || A.I->hasMetadata(WaitingName);
    B.CreateCall(runtime("cupilot_rt_turn", {B.getPtrTy(), B.getInt32Ty()}),
                 {Entry.getArg(0), B.getInt32(Looks)});
  }
}

void Instrumenter::watchExchanges() {
  for (const CheckedAccess &A : Accesses) {
    auto Site = Sites.find(A.I);
    if (!isExchange(A) || Site == Sites.end())
      continue;
    uint32_t Kind = 0;
    if (A.I->hasMetadata(PollName))
      Kind |= ExchangePolls;
    // An exchange whose old value nobody wants is a store.
    auto *RMW = dyn_cast<AtomicRMWInst>(A.I);
    bool Unused = RMW && RMW->use_empty();
    if (isa<StoreInst>(A.I) ||
        (Unused && RMW->getOperation() == AtomicRMWInst::Xchg))
      Kind |= ExchangeStores;
    else if (Unused)
      Kind |= ExchangeBlind;
    IRBuilder<> B(A.I);
    Type *Ptr = B.getPtrTy(), *I32 = B.getInt32Ty();
    Value *Generic = B.CreatePointerBitCastOrAddrSpaceCast(A.Pointer, Ptr);
    Value *Number = B.getInt32(Site->second);
    B.CreateCall(runtime("cupilot_rt_exchange_begin", {Ptr, Ptr, I32}),
                 {Entry.getArg(0), Generic, Number});
    // Behind the end of an atomic and what it learns.
    Instruction *Next = A.I->getNextNode();
    for (auto *Call = dyn_cast<CallInst>(Next); Call;
         Call = dyn_cast<CallInst>(Next)) {
      Function *Callee = Call->getCalledFunction();
      if (!Callee || (Callee->getName() != "cupilot_rt_atomic_done" &&
                      Callee->getName() != "cupilot_rt_acquire"))
        break;
      Next = Call->getNextNode();
    }
    B.SetInsertPoint(Next);
    B.CreateCall(runtime("cupilot_rt_exchange_end", {Ptr, Ptr, I32, I32}),
                 {Entry.getArg(0), Generic, Number, B.getInt32(Kind)});
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
          (Callee && (Intrinsic::isTargetIntrinsic(Callee->getIntrinsicID()) ||
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
