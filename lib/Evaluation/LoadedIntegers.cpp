//===- LoadedIntegers.cpp - Integers in memory that decide ----------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoadedIntegers.h"
#include "KernelCode.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/ConstantRange.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/NVPTXAddrSpace.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace cupilot {

namespace {
/// Pointers by their number: bit I stands for the I-th that is loaded from.
using Roots = uint64_t;
constexpr size_t MostRoots = 64;

/// Follows loaded integers through one kernel.
class Walk {
public:
  explicit Walk(const Function &F)
      : F(F), Dominators(const_cast<Function &>(F)), Loops(Dominators) {
    spread();
    while (countTurns())
      spread();
  }
  std::vector<LoadedIntegers> facts() const;
  std::vector<LoadedBound> bounds() const;

private:
  void spread();
  bool countTurns();
  Roots rootBit(const PointerRef &P);
  Roots of(const Value *V) const { return Data.lookup(V); }
  /// Loaded, or counted up to what was loaded.
  Roots anyOf(const Value *V) const {
    return Data.lookup(V) | Counted.lookup(V);
  }
  Roots throughMemory(const Value *Address) const;
  void exits(const Loop &L, SmallVectorImpl<const ICmpInst *> &Compares) const;
  bool decides(const Value *V, SmallPtrSetImpl<const Value *> &Seen) const;
  void addBounds(Roots Of, LoadedBound::Kind K, uint64_t Bound,
                 const Instruction &I, std::vector<LoadedBound> &To) const;

  const Function &F;
  DominatorTree Dominators;
  LoopInfo Loops;
  std::vector<PointerRef> Pointers;
  DenseMap<const Value *, Roots> Data;    ///< Values computed from loaded ones.
  DenseMap<const Value *, Roots> Counted; ///< Loop counters that end at them.
  DenseMap<const Value *, Roots> Kept;    ///< What variables hold.
};
} // namespace

Roots Walk::rootBit(const PointerRef &P) {
  auto It = find(Pointers, P);
  size_t I = It - Pointers.begin();
  if (I >= MostRoots)
    return 0;
  if (It == Pointers.end())
    Pointers.push_back(P);
  return Roots(1) << I;
}

static bool isInteger(const Type *T) {
  return T->isIntOrIntVectorTy() && T->getScalarSizeInBits() > 1;
}

Roots Walk::throughMemory(const Value *Address) const {
  return Kept.lookup(getUnderlyingObject(Address, 32));
}

/// Hands on what is known until nothing changes.
void Walk::spread() {
  for (bool Changed = true; Changed;) {
    Changed = false;
    auto Set = [&](DenseMap<const Value *, Roots> &Map, const Value *V,
                   Roots New) {
      Roots &Old = Map[V];
      Changed |= (Old | New) != Old;
      Old |= New;
    };
    for (const Instruction &I : instructions(F)) {
      if (const auto *Store = dyn_cast<StoreInst>(&I)) {
        const Value *Object =
            getUnderlyingObject(Store->getPointerOperand(), 32);
        // Of the block or the thread alone; a buffer is a root of its own.
        if (isa<AllocaInst, GlobalVariable>(Object))
          if (Roots R = of(Store->getValueOperand()))
            Set(Kept, Object, R);
        continue;
      }
      if (!isInteger(I.getType()) && !I.getType()->isStructTy())
        continue;
      const Value *Address = nullptr;
      if (const auto *Load = dyn_cast<LoadInst>(&I))
        Address = Load->getPointerOperand();
      else if (const auto *RMW = dyn_cast<AtomicRMWInst>(&I))
        Address = RMW->getPointerOperand();
      if (Address) {
        Roots R = throughMemory(Address);
        if (std::optional<PointerRef> P = rootOf(Address))
          R |= rootBit(*P);
        Set(Data, &I, R);
        continue;
      }
      Roots OfData = 0, OfCounters = 0;
      for (const Use &U : I.operands()) {
        const auto *Select = dyn_cast<SelectInst>(&I);
        if (Select && U.get() == Select->getCondition())
          continue;
        OfData |= of(U.get());
        OfCounters |= Counted.lookup(U.get());
      }
      Set(Data, &I, OfData);
      Set(Counted, &I, OfCounters);
    }
  }
}

/// The comparisons of integers that \p Condition is made of.
static void comparesIn(const Value *Condition,
                       SmallPtrSetImpl<const Value *> &Seen,
                       SmallVectorImpl<const ICmpInst *> &To) {
  if (!Seen.insert(Condition).second)
    return;
  if (const auto *Compare = dyn_cast<ICmpInst>(Condition)) {
    To.push_back(Compare);
    // A bool that went through an integer.
    for (const Use &U : Compare->operands())
      if (isa<ZExtInst>(U.get()))
        comparesIn(U.get(), Seen, To);
    return;
  }
  if (isa<BinaryOperator, SelectInst, PHINode, ZExtInst, TruncInst, FreezeInst>(
          Condition))
    for (const Use &U : cast<Instruction>(Condition)->operands())
      if (U->getType()->isIntegerTy(1) || isa<ZExtInst>(U.get()))
        comparesIn(U.get(), Seen, To);
}

static void comparesOf(const Instruction &Terminator,
                       SmallVectorImpl<const ICmpInst *> &To) {
  SmallPtrSet<const Value *, 8> Seen;
  if (const auto *Branch = dyn_cast<BranchInst>(&Terminator);
      Branch && Branch->isConditional())
    comparesIn(Branch->getCondition(), Seen, To);
}

void Walk::exits(const Loop &L,
                 SmallVectorImpl<const ICmpInst *> &Compares) const {
  SmallVector<BasicBlock *, 4> Blocks;
  L.getExitingBlocks(Blocks);
  for (const BasicBlock *BB : Blocks)
    comparesOf(*BB->getTerminator(), Compares);
}

/// \p V as it is before casts.
static const Value *uncast(const Value *V) {
  while (const auto *Cast = dyn_cast<CastInst>(V)) {
    if (!isInteger(Cast->getSrcTy()))
      break;
    V = Cast->getOperand(0);
  }
  return V;
}

/// The counter of \p L in \p V: a number of its header, or one that is a fixed
/// step away.
static const PHINode *counterIn(const Value *V, const Loop &L) {
  V = uncast(V);
  if (const auto *Op = dyn_cast<BinaryOperator>(V))
    for (const Use &U : Op->operands())
      if (const auto *Phi = dyn_cast<PHINode>(uncast(U.get())))
        V = Phi;
  const auto *Phi = dyn_cast<PHINode>(V);
  return Phi && Phi->getParent() == L.getHeader() ? Phi : nullptr;
}

/// Marks counters that end at loaded numbers. Returns whether there are new
/// ones.
bool Walk::countTurns() {
  bool Any = false;
  for (const Loop *L : Loops.getLoopsInPreorder()) {
    SmallVector<const ICmpInst *> Compares;
    exits(*L, Compares);
    for (const ICmpInst *C : Compares)
      for (unsigned Side : {0u, 1u}) {
        const PHINode *Counter = counterIn(C->getOperand(Side), *L);
        Roots R = of(C->getOperand(1 - Side));
        if (!Counter || !R)
          continue;
        Roots &Old = Counted[Counter];
        Any |= (Old | R) != Old;
        Old |= R;
      }
  }
  return Any;
}

/// Whether \p V, or what is computed from it, decides a branch or is an index.
bool Walk::decides(const Value *V, SmallPtrSetImpl<const Value *> &Seen) const {
  if (!Seen.insert(V).second)
    return false;
  for (const User *U : V->users()) {
    if (isa<ICmpInst, SwitchInst, GetElementPtrInst, IntToPtrInst>(U))
      return true;
    if (isa<BinaryOperator, CastInst, PHINode, SelectInst, FreezeInst>(U) &&
        isInteger(U->getType()) && decides(U, Seen))
      return true;
  }
  return false;
}

std::vector<LoadedIntegers> Walk::facts() const {
  Roots Turns = 0, Begins = 0, Decides = 0, Addresses = 0;
  SmallPtrSet<const ICmpInst *, 8> InExits;
  for (const Loop *L : Loops.getLoopsInPreorder()) {
    SmallVector<const ICmpInst *> Compares;
    exits(*L, Compares);
    for (const ICmpInst *C : Compares) {
      Roots A = of(C->getOperand(0)), B = of(C->getOperand(1));
      if (!counterIn(C->getOperand(0), *L) && !counterIn(C->getOperand(1), *L))
        continue;
      InExits.insert(C);
      Turns |= A | B;
      Begins |= A & B; // From here to there, both loaded.
    }
  }
  for (const Instruction &I : instructions(F)) {
    if (const auto *C = dyn_cast<ICmpInst>(&I); C && !InExits.contains(C))
      Decides |= of(C->getOperand(0)) | of(C->getOperand(1));
    else if (const auto *Switch = dyn_cast<SwitchInst>(&I))
      Decides |= of(Switch->getCondition());
    else if (const auto *GEP = dyn_cast<GetElementPtrInst>(&I))
      for (const Use &U : GEP->indices())
        Addresses |= of(U.get());
    // The length of a row is the distance of two offsets.
    if (I.getOpcode() == Instruction::Sub)
      Begins |= of(I.getOperand(0)) & of(I.getOperand(1));
  }
  std::vector<LoadedIntegers> Result;
  for (auto [N, P] : enumerate(Pointers)) {
    Roots Bit = Roots(1) << N;
    LoadedIntegers Each{P, (Turns & Bit) != 0, (Begins & Turns & Bit) != 0,
                        (Decides & Bit) != 0, (Addresses & Bit) != 0};
    if (Each.Turns || Each.Decides || Each.Addresses)
      Result.push_back(Each);
  }
  return Result;
}

void Walk::addBounds(Roots Of, LoadedBound::Kind K, uint64_t Bound,
                     const Instruction &I, std::vector<LoadedBound> &To) const {
  for (auto [N, P] : enumerate(Pointers))
    if (Of >> N & 1)
      To.push_back({K, P, Bound, locationOf(I)});
}

/// Elements of the array of fixed size that \p GEP indexes with its last index;
/// 0 for what is none.
static uint64_t fixedElements(const GetElementPtrInst &GEP) {
  const Value *Object = getUnderlyingObject(GEP.getPointerOperand(), 32);
  const Type *Whole = nullptr;
  if (const auto *Alloca = dyn_cast<AllocaInst>(Object))
    Whole = Alloca->getAllocatedType();
  else if (const auto *G = dyn_cast<GlobalVariable>(Object);
           G && G->getAddressSpace() == NVPTXAS::ADDRESS_SPACE_SHARED &&
           !G->isDeclaration())
    Whole = G->getValueType();
  if (!Whole || !Whole->isArrayTy())
    return 0;
  if (const auto *A = dyn_cast<ArrayType>(GEP.getSourceElementType());
      A && GEP.getNumIndices() == 2)
    return A->getNumElements();
  const DataLayout &DL = GEP.getDataLayout();
  uint64_t Element = DL.getTypeAllocSize(GEP.getSourceElementType());
  return Element ? DL.getTypeAllocSize(const_cast<Type *>(Whole)) / Element : 0;
}

/// Whether \p Index is below \p Size whatever was loaded.
static bool isBelow(const Value *Index, uint64_t Size, const DataLayout &DL) {
  KnownBits Known = computeKnownBits(Index, DL);
  if (Known.getMaxValue().ult(Size))
    return true;
  ConstantRange Range = computeConstantRange(Index, /*ForSigned=*/false);
  return Range.getUnsignedMax().ult(Size);
}

/// Whether \p I runs only where a comparison of \p V, or of what it was cast
/// from, with a constant of at most \p Size says so.
static bool isGuarded(const Value *V, uint64_t Size, const Instruction &I,
                      const DominatorTree &Dominators) {
  const Value *Plain = uncast(V);
  for (const User *U : Plain->users()) {
    const auto *C = dyn_cast<ICmpInst>(U);
    if (!C)
      continue;
    const auto *Limit = dyn_cast<ConstantInt>(uncast(C->getOperand(1)));
    if (!Limit || Limit->getValue().getActiveBits() > 63 ||
        Limit->getZExtValue() > Size)
      continue;
    for (const User *B : C->users())
      if (const auto *Branch = dyn_cast<BranchInst>(B))
        for (const BasicBlock *Side : Branch->successors())
          if (Dominators.dominates(BasicBlockEdge(Branch->getParent(), Side),
                                   I.getParent()))
            return true;
  }
  return false;
}

/// Whether the operand may be a number that the result does not hold, be both
/// signed or not.
static bool losesBits(const TruncInst &Trunc, const DataLayout &DL) {
  const Value *V = Trunc.getOperand(0);
  unsigned Bits = Trunc.getType()->getScalarSizeInBits();
  return computeKnownBits(V, DL).countMaxActiveBits() > Bits &&
         ComputeMaxSignificantBits(V, DL) > Bits;
}

std::vector<LoadedBound> Walk::bounds() const {
  std::vector<LoadedBound> Result;
  const DataLayout &DL = F.getDataLayout();
  for (const Instruction &I : instructions(F)) {
    if (const auto *GEP = dyn_cast<GetElementPtrInst>(&I)) {
      const Value *Index = GEP->idx_end()[-1];
      Roots R = anyOf(Index);
      uint64_t Size = R ? fixedElements(*GEP) : 0;
      if (Size && !isBelow(Index, Size, DL) &&
          !isGuarded(Index, Size, I, Dominators))
        addBounds(R, LoadedBound::Kind::FixedArray, Size, I, Result);
    }
    if (const auto *Trunc = dyn_cast<TruncInst>(&I)) {
      unsigned Bits = Trunc->getType()->getScalarSizeInBits();
      SmallPtrSet<const Value *, 8> Seen;
      if (Roots R = of(Trunc->getOperand(0)); R && Bits > 1 && Bits < 32 &&
                                              decides(Trunc, Seen) &&
                                              losesBits(*Trunc, DL))
        addBounds(R, LoadedBound::Kind::NarrowType, Bits, I, Result);
    }
  }
  for (const Loop *L : Loops.getLoopsInPreorder()) {
    SmallVector<const ICmpInst *> Compares;
    exits(*L, Compares);
    const ICmpInst *Constant = nullptr;
    uint64_t Turns = 0;
    Roots Ended = 0;
    for (const ICmpInst *C : Compares)
      for (unsigned Side : {0u, 1u}) {
        if (!counterIn(C->getOperand(Side), *L))
          continue;
        const Value *Other = C->getOperand(1 - Side);
        if (const auto *N = dyn_cast<ConstantInt>(Other);
            N && N->getValue().getActiveBits() <= 63 && N->getZExtValue() > 1) {
          Constant = C;
          Turns = N->getZExtValue();
        }
        Ended |= of(Other);
      }
    if (!Constant)
      continue;
    // Or what the counter reaches is compared with it inside.
    for (const BasicBlock *BB : L->blocks())
      for (const Instruction &I : *BB)
        if (const auto *C = dyn_cast<ICmpInst>(&I))
          for (unsigned Side : {0u, 1u})
            if (counterIn(C->getOperand(Side), *L))
              Ended |= of(C->getOperand(1 - Side));
    addBounds(Ended, LoadedBound::Kind::ConstantTurns, Turns, *Constant,
              Result);
  }
  return Result;
}

Expected<std::vector<LoadedIntegers>>
loadedIntegersOf(StringRef Bitcode, ArrayRef<std::string> Symbols) {
  Expected<KernelCode> Code = KernelCode::of(Bitcode);
  if (!Code)
    return Code.takeError();
  std::vector<LoadedIntegers> Result;
  for (const std::string &Symbol : Symbols) {
    const Function *F = Code->kernel(Symbol);
    if (!F)
      continue;
    for (const LoadedIntegers &L : Walk(*F).facts()) {
      auto It = find_if(Result, [&](const LoadedIntegers &R) {
        return R.Pointer == L.Pointer;
      });
      if (It == Result.end()) {
        Result.push_back(L);
        continue;
      }
      It->Turns |= L.Turns;
      It->Begins |= L.Begins;
      It->Decides |= L.Decides;
      It->Addresses |= L.Addresses;
    }
  }
  return Result;
}

Expected<std::vector<LoadedBound>>
boundsOnLoaded(StringRef Original, StringRef OriginalSymbol, StringRef Variant,
               ArrayRef<std::string> Symbols) {
  Expected<KernelCode> Own = KernelCode::of(Original);
  if (!Own)
    return Own.takeError();
  Expected<KernelCode> Mine = KernelCode::of(Variant);
  if (!Mine)
    return Mine.takeError();
  std::vector<LoadedBound> Known;
  unsigned Params = 0;
  if (const Function *F = Own->kernel(OriginalSymbol)) {
    Known = Walk(*F).bounds();
    Params = static_cast<unsigned>(F->arg_size());
  }
  std::vector<LoadedBound> Result;
  for (const std::string &Symbol : Symbols) {
    const Function *F = Mine->kernel(Symbol);
    if (!F)
      continue;
    for (const LoadedBound &B : Walk(*F).bounds()) {
      // Scratch memory holds what the variant itself wrote.
      if (B.Pointer.Param >= Params)
        continue;
      if (none_of(Known, [&](const LoadedBound &K) {
            return K.K == B.K && K.Pointer == B.Pointer && K.Bound <= B.Bound;
          }))
        Result.push_back(B);
    }
  }
  return Result;
}

std::string LoadedBound::str() const {
  std::string Where = Location.empty() ? "" : " at " + Location;
  switch (K) {
  case Kind::FixedArray:
    return "an array of " + std::to_string(Bound) +
           " elements is indexed by integers in memory" + Where;
  case Kind::ConstantTurns:
    return "a loop over integers in memory ends after " +
           std::to_string(Bound) + " turns" + Where;
  case Kind::NarrowType:
    return "integers in memory are cut to " + std::to_string(Bound) + " bits" +
           Where;
  }
  llvm_unreachable("a kind that is none");
}

} // namespace cupilot
