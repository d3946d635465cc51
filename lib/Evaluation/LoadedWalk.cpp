//===- LoadedWalk.cpp - Loaded integers through a kernel -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoadedWalk.h"
#include "KernelCode.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace cupilot {

static constexpr size_t MostRoots = 64;

Roots LoadedWalk::rootBit(const LoadedFrom &From) {
  auto It = find(Sources, From);
  size_t I = It - Sources.begin();
  if (I >= MostRoots)
    return 0;
  if (It == Sources.end())
    Sources.push_back(From);
  return Roots(1) << I;
}

static bool isInteger(const Type *T) {
  return T->isIntOrIntVectorTy() && T->getScalarSizeInBits() > 1;
}

/// The address that \p I gets a number from; null for what loads nothing.
static const Value *loadsFrom(const Instruction &I) {
  if (const auto *Load = dyn_cast<LoadInst>(&I))
    return Load->getPointerOperand();
  if (const auto *RMW = dyn_cast<AtomicRMWInst>(&I))
    return RMW->getPointerOperand();
  return nullptr;
}

void LoadedWalk::findSources() {
  // More of one variable are not told apart.
  constexpr size_t MostOfVariable = 16;
  SmallVector<std::pair<const Instruction *, LoadedFrom>> OfVariables;
  for (const Instruction &I : instructions(F)) {
    const Value *Address = loadsFrom(I);
    if (!Address || (!isInteger(I.getType()) && !I.getType()->isStructTy()))
      continue;
    if (std::optional<PointerRef> P = rootOf(Address))
      Read[&I] = rootBit({*P});
    else
      for (LoadedFrom &From :
           variablesAt(*Address, *I.getType(), F.getDataLayout()))
        OfVariables.push_back({&I, std::move(From)});
  }
  StringMap<SmallVector<LoadedFrom>> Places;
  for (const auto &[I, From] : OfVariables)
    if (auto &Known = Places[From.Variable]; !is_contained(Known, From))
      Known.push_back(From);
  for (auto &[I, From] : OfVariables) {
    if (Places[From.Variable].size() > MostOfVariable) {
      From.First %= From.Size;
      From.Step = From.Size;
    }
    Read[I] |= rootBit(From);
  }
}

Roots LoadedWalk::throughMemory(const Value *Address) const {
  return Kept.lookup(getUnderlyingObject(Address, 32));
}

/// Hands on what is known until nothing changes.
void LoadedWalk::spread() {
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
      if (const Value *Address = loadsFrom(I)) {
        Set(Data, &I, throughMemory(Address) | Read.lookup(&I));
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

void LoadedWalk::exits(const Loop &L,
                       SmallVectorImpl<const ICmpInst *> &Compares) const {
  SmallVector<BasicBlock *, 4> Blocks;
  L.getExitingBlocks(Blocks);
  for (const BasicBlock *BB : Blocks)
    comparesOf(*BB->getTerminator(), Compares);
}

const Value *uncast(const Value *V) {
  while (const auto *Cast = dyn_cast<CastInst>(V)) {
    if (!isInteger(Cast->getSrcTy()))
      break;
    V = Cast->getOperand(0);
  }
  return V;
}

const PHINode *counterIn(const Value *V, const Loop &L) {
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
bool LoadedWalk::countTurns() {
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

} // namespace cupilot
