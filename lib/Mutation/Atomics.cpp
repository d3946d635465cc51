//===- Atomics.cpp - Atomics that are none, and weaker orders -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sites.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace cupilot {

namespace {
using Operation = AtomicRMWInst::BinOp;
constexpr Operation None = AtomicRMWInst::BAD_BINOP;
} // namespace

static Operation operationOf(StringRef Name, bool Float, bool Unsigned) {
  for (StringRef Scope : {"_block", "_system"})
    Name.consume_back(Scope);
  return StringSwitch<Operation>(Name)
      .Case("atomicAdd", Float ? AtomicRMWInst::FAdd : AtomicRMWInst::Add)
      .Case("atomicSub", AtomicRMWInst::Sub)
      .Case("atomicExch", AtomicRMWInst::Xchg)
      .Case("atomicMin", Unsigned ? AtomicRMWInst::UMin : AtomicRMWInst::Min)
      .Case("atomicMax", Unsigned ? AtomicRMWInst::UMax : AtomicRMWInst::Max)
      .Case("atomicAnd", AtomicRMWInst::And)
      .Case("atomicOr", AtomicRMWInst::Or)
      .Case("atomicXor", AtomicRMWInst::Xor)
      .Case("atomicInc", AtomicRMWInst::UIncWrap)
      .Default(None);
}

static Operation confused(Operation Is) {
  switch (Is) {
  case AtomicRMWInst::Add:
    return AtomicRMWInst::Sub;
  case AtomicRMWInst::Sub:
    return AtomicRMWInst::Add;
  case AtomicRMWInst::FAdd:
    return AtomicRMWInst::FSub;
  case AtomicRMWInst::Min:
    return AtomicRMWInst::Max;
  case AtomicRMWInst::Max:
    return AtomicRMWInst::Min;
  case AtomicRMWInst::UMin:
    return AtomicRMWInst::UMax;
  case AtomicRMWInst::UMax:
    return AtomicRMWInst::UMin;
  case AtomicRMWInst::And:
    return AtomicRMWInst::Or;
  case AtomicRMWInst::Or:
  case AtomicRMWInst::Xor:
    return AtomicRMWInst::And;
  default:
    return None;
  }
}

/// What \p Is does to \p Old, without being atomic.
static Value *compute(IRBuilder<> &B, Operation Is, Value *Old, Value *V) {
  switch (Is) {
  case AtomicRMWInst::Add:
    return B.CreateAdd(Old, V);
  case AtomicRMWInst::FAdd:
    return B.CreateFAdd(Old, V);
  case AtomicRMWInst::Sub:
    return B.CreateSub(Old, V);
  case AtomicRMWInst::FSub:
    return B.CreateFSub(Old, V);
  case AtomicRMWInst::Xchg:
    return V;
  case AtomicRMWInst::And:
    return B.CreateAnd(Old, V);
  case AtomicRMWInst::Or:
    return B.CreateOr(Old, V);
  case AtomicRMWInst::Xor:
    return B.CreateXor(Old, V);
  case AtomicRMWInst::Min:
    return B.CreateBinaryIntrinsic(Intrinsic::smin, Old, V);
  case AtomicRMWInst::Max:
    return B.CreateBinaryIntrinsic(Intrinsic::smax, Old, V);
  case AtomicRMWInst::UMin:
    return B.CreateBinaryIntrinsic(Intrinsic::umin, Old, V);
  case AtomicRMWInst::UMax:
    return B.CreateBinaryIntrinsic(Intrinsic::umax, Old, V);
  case AtomicRMWInst::UIncWrap:
    return B.CreateSelect(
        B.CreateICmpUGE(Old, V), ConstantInt::get(Old->getType(), 0),
        B.CreateAdd(Old, ConstantInt::get(Old->getType(), 1)));
  default:
    llvm_unreachable("no operation of operationOf or confused");
  }
}

static void makePlain(Instruction &I, Operation Is, Value *To, Value *V,
                      bool Volatile = false) {
  IRBuilder<> B(&I);
  Value *Old = B.CreateLoad(I.getType(), To, Volatile);
  B.CreateStore(compute(B, Is, Old, V), To, Volatile);
  I.replaceAllUsesWith(Old);
  I.eraseFromParent();
}

/// An atomic read, then an atomic write: updates in between are lost.
static void makeTwo(Instruction &I, Operation Is, Value *To, Value *V) {
  IRBuilder<> B(&I);
  Align Natural(I.getType()->getScalarSizeInBits() / 8);
  auto *Old = B.CreateAlignedLoad(I.getType(), To, Natural);
  Old->setAtomic(AtomicOrdering::Monotonic);
  auto *New = B.CreateAlignedStore(compute(B, Is, Old, V), To, Natural);
  New->setAtomic(AtomicOrdering::Monotonic);
  I.replaceAllUsesWith(Old);
  I.eraseFromParent();
}

static void addCall(CallInst &Call, Sites &S) {
  std::string Name = calleeName(Call);
  if (!StringRef(Name).starts_with("atomic") || Call.arg_size() < 2 ||
      !Call.getArgOperand(0)->getType()->isPointerTy())
    return;
  S.add(Call, "duplicate", "once", "twice",
        [&Call] { Call.clone()->insertAfter(Call.getIterator()); });
  Type *Of = Call.getType();
  if (!Of->isIntegerTy() && !Of->isFloatTy() && !Of->isDoubleTy())
    return;
  Value *To = Call.getArgOperand(0), *V = Call.getArgOperand(1);
  S.add(Call, "store", Name, "a read", [&Call, To] {
    IRBuilder<> B(&Call);
    Call.replaceAllUsesWith(B.CreateLoad(Call.getType(), To));
    Call.eraseFromParent();
  });
  if (Name == "atomicCAS" && Call.arg_size() == 3) {
    S.add(Call, "atomic", Name, "plain", [&Call, To] {
      IRBuilder<> B(&Call);
      Value *Old = B.CreateLoad(Call.getType(), To);
      Value *Same = B.CreateICmpEQ(Old, Call.getArgOperand(1));
      B.CreateStore(B.CreateSelect(Same, Call.getArgOperand(2), Old), To);
      Call.replaceAllUsesWith(Old);
      Call.eraseFromParent();
    });
    return;
  }
  bool Unsigned = StringRef(calleeSignature(Call)).contains("unsigned");
  Operation Is = operationOf(Name, Of->isFloatingPointTy(), Unsigned);
  if (Is == None || V->getType() != Of)
    return;
  S.add(Call, "atomic", Name, "plain",
        [&Call, Is, To, V] { makePlain(Call, Is, To, V); });
  S.add(Call, "atomic", Name, "volatile",
        [&Call, Is, To, V] { makePlain(Call, Is, To, V, /*Volatile=*/true); });
  S.add(Call, "atomic", Name, "two atomics",
        [&Call, Is, To, V] { makeTwo(Call, Is, To, V); });
  if (Operation Other = confused(Is); Other != None)
    S.add(Call, "arithmetic", Name, AtomicRMWInst::getOperationName(Other),
          [&Call, Other, To, V] {
            IRBuilder<> B(&Call);
            Value *New =
                B.CreateAtomicRMW(Other, To, V, MaybeAlign(),
                                  AtomicOrdering::SequentiallyConsistent);
            Call.replaceAllUsesWith(New);
            Call.eraseFromParent();
          });
}

/// Atomics that the compiler's own functions make: __atomic_fetch_add.
void addAtomics(Instruction &I, Sites &S) {
  if (auto *Call = dyn_cast<CallInst>(&I))
    return addCall(*Call, S);
  auto Weaker = [&](AtomicOrdering Is, auto *Inst) {
    if (isStrongerThan(Is, AtomicOrdering::Monotonic))
      S.add(I, "order", toIRString(Is), "monotonic",
            [Inst] { Inst->setOrdering(AtomicOrdering::Monotonic); });
  };
  if (auto *Update = dyn_cast<AtomicRMWInst>(&I)) {
    Weaker(Update->getOrdering(), Update);
    Operation Is = Update->getOperation();
    bool Known = confused(Is) != None || Is == AtomicRMWInst::Xchg ||
                 Is == AtomicRMWInst::UIncWrap;
    if (Known)
      S.add(I, "atomic", AtomicRMWInst::getOperationName(Is), "plain",
            [Update, Is] {
              makePlain(*Update, Is, Update->getPointerOperand(),
                        Update->getValOperand());
            });
  } else if (auto *Load = dyn_cast<LoadInst>(&I)) {
    Weaker(Load->getOrdering(), Load);
  } else if (auto *Store = dyn_cast<StoreInst>(&I)) {
    Weaker(Store->getOrdering(), Store);
  } else if (isa<FenceInst>(I)) {
    S.add(I, "fence", "fence", "nothing", [&I] { I.eraseFromParent(); });
  }
}

} // namespace cupilot
