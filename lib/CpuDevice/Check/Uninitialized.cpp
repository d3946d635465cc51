//===- Uninitialized.cpp - Local variables that nobody has set -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each value that may come from an unset variable gets a state beside it: 0, it
// is set; Unset, it was read from there; Computed, something was computed with
// such a value. Variables that are registers begin as "undef", and what joins
// at a phi has a state that joins there too; those in memory have a map of a
// state for each byte. States are followed through arithmetic, not through
// vectors, bitwise operations, calls and "freeze", where only a part of the
// value may matter. What is merely copied is no fault: structs are copied with
// their padding, and threads outside a range compute what they throw away.
//
//===----------------------------------------------------------------------===//

#include "Instrument.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace cupilot {

namespace {
class UninitializedCheck {
public:
  UninitializedCheck(Function &F, LoweredModule &Tables)
      : F(F), Tables(Tables), DL(F.getParent()->getDataLayout()),
        I8(Type::getInt8Ty(F.getContext())) {}
  void run();

private:
  static constexpr uint8_t Unset = 1, Computed = 3;
  Value *stateOf(Value *V);
  Value *stateOfComputed(Instruction *I);
  bool isTracked(AllocaInst *A) const;
  void addMap(AllocaInst *A);
  void findPossible();
  Value *mapAt(IRBuilder<> &B, Value *Pointer);
  Value *loadState(LoadInst *Load);
  void storeStates();
  void check(Instruction *I, Value *V, bool OnlyComputed, uint32_t What);
  ConstantInt *state(uint8_t S) const { return ConstantInt::get(I8, S); }
  static bool isNone(Value *S) {
    auto *C = dyn_cast<ConstantInt>(S);
    return C && C->isZero();
  }

  Function &F;
  LoweredModule &Tables;
  const DataLayout &DL;
  IntegerType *I8;
  DenseMap<Value *, Value *> States;
  DenseSet<Value *> Possible; ///< Values whose state need not be 0.
  DenseMap<AllocaInst *, AllocaInst *> Maps;
};
} // namespace

/// Whether nothing but loads, stores and copies touch the variable.
bool UninitializedCheck::isTracked(AllocaInst *A) const {
  auto Size = A->getAllocationSize(DL);
  if (!Size || Size->isScalable() || *Size > 16384)
    return false;
  SmallVector<Value *> Work = {A};
  while (!Work.empty()) {
    Value *V = Work.pop_back_val();
    for (Use &U : V->uses()) {
      auto *I = dyn_cast<Instruction>(U.getUser());
      if (!I)
        return false;
      if (isa<GetElementPtrInst, AddrSpaceCastInst, BitCastInst>(I)) {
        if (U.getOperandNo() != 0)
          return false;
        Work.push_back(I);
        continue;
      }
      if (auto *Load = dyn_cast<LoadInst>(I); Load && Load->isSimple())
        continue;
      if (auto *Store = dyn_cast<StoreInst>(I);
          Store && Store->isSimple() && U.getOperandNo() == 1)
        continue;
      if (isa<MemIntrinsic>(I) || I->isLifetimeStartOrEnd())
        continue;
      return false;
    }
  }
  return true;
}

static AllocaInst *variableOf(Value *Pointer) {
  for (;;) {
    auto *I = dyn_cast<Instruction>(Pointer);
    if (!I || !isa<GetElementPtrInst, AddrSpaceCastInst, BitCastInst>(I))
      return dyn_cast<AllocaInst>(Pointer);
    Pointer = I->getOperand(0);
  }
}

/// The place in the map that \p Pointer, into a variable, stands for.
Value *UninitializedCheck::mapAt(IRBuilder<> &B, Value *Pointer) {
  AllocaInst *A = variableOf(Pointer);
  Type *I64 = B.getInt64Ty();
  Type *Ptr = B.getPtrTy();
  auto Address = [&](Value *P) {
    return B.CreatePtrToInt(B.CreatePointerBitCastOrAddrSpaceCast(P, Ptr), I64);
  };
  if (Pointer == A)
    return Maps.lookup(A);
  // As the path of the pointer, so that the optimiser sees where it leads.
  if (auto *GEP = dyn_cast<GetElementPtrInst>(Pointer)) {
    SmallVector<Value *> Indices(GEP->indices());
    return B.CreateGEP(GEP->getSourceElementType(),
                       mapAt(B, GEP->getPointerOperand()), Indices);
  }
  if (auto *Cast = dyn_cast<CastInst>(Pointer))
    return mapAt(B, Cast->getOperand(0));
  return B.CreateGEP(I8, Maps.lookup(A),
                     B.CreateSub(Address(Pointer), Address(A)));
}

void UninitializedCheck::addMap(AllocaInst *A) {
  uint64_t Size = A->getAllocationSize(DL)->getFixedValue();
  IRBuilder<> B(A->getNextNode());
  AllocaInst *Map = B.CreateAlloca(ArrayType::get(I8, Size), nullptr, "unset");
  Map->setAlignment(A->getAlign());
  Maps[A] = Map;
  B.CreateMemSet(Map, state(Unset), Size, Map->getAlign());
}

Value *UninitializedCheck::loadState(LoadInst *Load) {
  AllocaInst *A = variableOf(Load->getPointerOperand());
  if (!A || !Maps.count(A) || Load->getType()->isAggregateType() ||
      Load->getType()->isVectorTy())
    return state(0);
  uint64_t Size = DL.getTypeStoreSize(Load->getType());
  if (Size > 8)
    return state(0);
  IRBuilder<> B(Load);
  auto *Wide = B.getIntNTy(8 * Size);
  Value *All =
      B.CreateAlignedLoad(Wide, mapAt(B, Load->getPointerOperand()), Align(1));
  Constant *Each =
      ConstantInt::get(Wide, APInt::getSplat(8 * Size, APInt(8, Unset)));
  Value *None = B.CreateICmpEQ(B.CreateAnd(All, Each), Each);
  return B.CreateSelect(None, B.CreateTrunc(All, I8), state(0));
}

Value *UninitializedCheck::stateOf(Value *V) {
  if (isa<UndefValue>(V) && !V->getType()->isVectorTy() &&
      !V->getType()->isAggregateType())
    return state(Unset);
  auto *I = dyn_cast<Instruction>(V);
  if (!I || !Possible.contains(V))
    return state(0);
  if (auto It = States.find(V); It != States.end())
    return It->second;
  if (auto *Phi = dyn_cast<PHINode>(I)) {
    auto *S = PHINode::Create(I8, Phi->getNumIncomingValues(), "unset",
                              Phi->getIterator());
    States[V] = S;
    for (unsigned K = 0; K < Phi->getNumIncomingValues(); ++K)
      S->addIncoming(stateOf(Phi->getIncomingValue(K)),
                     Phi->getIncomingBlock(K));
    return S;
  }
  Value *S = state(0);
  if (auto *Load = dyn_cast<LoadInst>(I)) {
    S = loadState(Load);
  } else if (auto *Select = dyn_cast<SelectInst>(I)) {
    Value *True = stateOf(Select->getTrueValue()),
          *False = stateOf(Select->getFalseValue());
    IRBuilder<> B(I);
    if (!isNone(True) || !isNone(False))
      S = B.CreateSelect(Select->getCondition(), True, False);
  } else if (isa<BitCastInst>(I)) {
    S = stateOf(I->getOperand(0));
  } else {
    S = stateOfComputed(I);
  }
  States[V] = S;
  return S;
}

/// Whether each operand decides what the result is.
static bool dependsOnAll(const Instruction &I) {
  switch (I.getOpcode()) {
  case Instruction::FAdd:
  case Instruction::FSub:
  case Instruction::FMul:
  case Instruction::FDiv:
  case Instruction::FNeg:
  case Instruction::FCmp:
  case Instruction::Add:
  case Instruction::Sub:
  case Instruction::ICmp:
  case Instruction::FPExt:
  case Instruction::FPTrunc:
  case Instruction::SIToFP:
  case Instruction::UIToFP:
  case Instruction::FPToSI:
  case Instruction::FPToUI:
  case Instruction::SExt:
  case Instruction::ZExt:
  case Instruction::GetElementPtr:
    return true;
  case Instruction::Call:
    if (auto *Call = dyn_cast<IntrinsicInst>(&I))
      switch (Call->getIntrinsicID()) {
      case Intrinsic::fma:
      case Intrinsic::fmuladd:
      case Intrinsic::sqrt:
      case Intrinsic::fabs:
      case Intrinsic::minimum:
      case Intrinsic::maximum:
      case Intrinsic::minimumnum:
      case Intrinsic::maximumnum:
        return true;
      default:
        return false;
      }
    return false;
  default:
    return false;
  }
}

Value *UninitializedCheck::stateOfComputed(Instruction *I) {
  if (!dependsOnAll(*I))
    return state(0);
  IRBuilder<> B(I);
  Value *Any = nullptr;
  for (Value *Operand : I->operands()) {
    if (isa<Function>(Operand))
      continue;
    Value *S = stateOf(Operand);
    if (!isNone(S))
      Any = Any ? B.CreateOr(Any, S) : S;
  }
  if (!Any)
    return state(0);
  return B.CreateSelect(B.CreateICmpNE(Any, state(0)), state(Computed),
                        state(0));
}

static bool isScalar(const Value &V) {
  return !V.getType()->isVectorTy() && !V.getType()->isAggregateType();
}

void UninitializedCheck::findPossible() {
  SmallVector<Instruction *> Work;
  auto Add = [&](Instruction &I) {
    if (isScalar(I) && !I.getType()->isVoidTy() && Possible.insert(&I).second)
      Work.push_back(&I);
  };
  auto Passes = [](const Instruction &I) {
    return isa<PHINode, SelectInst, BitCastInst>(I) || dependsOnAll(I);
  };
  for (Instruction &I : instructions(F)) {
    if (auto *Load = dyn_cast<LoadInst>(&I)) {
      AllocaInst *A = variableOf(Load->getPointerOperand());
      if (A && Maps.count(A))
        Add(I);
    } else if (Passes(I) && any_of(I.operands(), [](const Use &U) {
                 return isa<UndefValue>(U) && isScalar(*U);
               })) {
      Add(I);
    }
  }
  while (!Work.empty())
    for (User *U : Work.pop_back_val()->users())
      if (Passes(*cast<Instruction>(U)))
        Add(*cast<Instruction>(U));
}

/// What stores leave in the maps.
void UninitializedCheck::storeStates() {
  SmallVector<Instruction *> Writers;
  for (Instruction &I : instructions(F))
    if (isa<StoreInst, MemIntrinsic>(I) || I.isLifetimeStartOrEnd())
      Writers.push_back(&I);
  for (Instruction *I : Writers) {
    IRBuilder<> B(I);
    if (auto *Store = dyn_cast<StoreInst>(I)) {
      AllocaInst *A = variableOf(Store->getPointerOperand());
      if (!A || !Maps.count(A))
        continue;
      uint64_t Size = DL.getTypeStoreSize(Store->getValueOperand()->getType());
      Value *S = stateOf(Store->getValueOperand());
      B.CreateMemSet(mapAt(B, Store->getPointerOperand()), S, Size, Align(1));
    } else if (auto *Memory = dyn_cast<MemIntrinsic>(I)) {
      AllocaInst *A = variableOf(Memory->getRawDest());
      if (!A || !Maps.count(A) || Maps.lookup(A) == Memory->getRawDest())
        continue;
      auto *Transfer = dyn_cast<MemTransferInst>(I);
      AllocaInst *From =
          Transfer ? variableOf(Transfer->getRawSource()) : nullptr;
      Value *To = mapAt(B, Memory->getRawDest());
      if (From && Maps.count(From))
        B.CreateMemMove(To, Align(1), mapAt(B, Transfer->getRawSource()),
                        Align(1), Memory->getLength());
      else
        B.CreateMemSet(To, state(0), Memory->getLength(), Align(1));
    } else if (cast<IntrinsicInst>(I)->getIntrinsicID() ==
               Intrinsic::lifetime_start) {
      AllocaInst *A = variableOf(I->getOperand(I->getNumOperands() - 2));
      if (!A || !Maps.count(A))
        continue;
      B.CreateMemSet(Maps.lookup(A), state(Unset),
                     A->getAllocationSize(DL)->getFixedValue(), Align(1));
    }
  }
}

/// A fault before \p I when \p V is not set.
void UninitializedCheck::check(Instruction *I, Value *V, bool OnlyComputed,
                               uint32_t What) {
  Value *S = stateOf(V);
  if (isNone(S))
    return;
  IRBuilder<> B(I);
  B.SetCurrentDebugLocation(I->getDebugLoc());
  Value *Bad = OnlyComputed ? B.CreateICmpEQ(S, state(Computed))
                            : B.CreateICmpNE(S, state(0));
  Instruction *Cold = SplitBlockAndInsertIfThen(Bad, I, /*Unreachable=*/false);
  B.SetInsertPoint(Cold);
  B.CreateCall(F.getParent()->getOrInsertFunction(
                   "cupilot_rt_uninitialized", B.getVoidTy(), B.getPtrTy(),
                   B.getInt32Ty(), B.getInt32Ty()),
               {F.getArg(0), B.getInt32(addPlace(Tables, I->getDebugLoc())),
                B.getInt32(What)});
}

void UninitializedCheck::run() {
  SmallVector<AllocaInst *> Variables;
  SmallVector<Instruction *> All;
  for (Instruction &I : instructions(F)) {
    All.push_back(&I);
    if (auto *A = dyn_cast<AllocaInst>(&I); A && isTracked(A))
      Variables.push_back(A);
  }
  for (AllocaInst *A : Variables)
    addMap(A);
  findPossible();
  storeStates();
  for (Instruction *I : All) {
    if (auto *Branch = dyn_cast<BranchInst>(I)) {
      if (Branch->isConditional())
        check(I, Branch->getCondition(), false, 0);
    } else if (auto *Switch = dyn_cast<SwitchInst>(I)) {
      check(I, Switch->getCondition(), false, 0);
    } else if (auto *Load = dyn_cast<LoadInst>(I)) {
      check(I, Load->getPointerOperand(), false, 1);
    } else if (auto *Store = dyn_cast<StoreInst>(I)) {
      check(I, Store->getPointerOperand(), false, 1);
      if (!variableOf(Store->getPointerOperand()))
        check(I, Store->getValueOperand(), true, 2);
    } else if (auto *RMW = dyn_cast<AtomicRMWInst>(I)) {
      check(I, RMW->getPointerOperand(), false, 1);
      check(I, RMW->getValOperand(), true, 2);
    }
  }
}

void checkUninitialized(Function &F, LoweredModule &Tables) {
  UninitializedCheck(F, Tables).run();
}

} // namespace cupilot
