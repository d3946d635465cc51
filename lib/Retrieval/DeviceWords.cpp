//===- DeviceWords.cpp - What device code does, counted -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceWords.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace cupilot {

namespace {
class Counter {
public:
  explicit Counter(DeviceWords &Words) : Words(Words) {}
  void count(const Function &F);

private:
  void count(const Instruction &I);
  void call(const CallBase &Call);
  void named(StringRef Name);
  void access(const Value *Pointer, Type *T, const DataLayout &Layout,
              bool Store);
  void carried(const PHINode &Phi, const llvm::Loop &L);
  void add(DeviceWord W) { Words[size_t(W)] += Weight; }

  DeviceWords &Words;
  double Weight = 1;
};
} // namespace

/// NVPTX: "Address Spaces".
enum : unsigned { SharedSpace = 3, LocalSpace = 5 };

/// True when \p V is computed from something loaded.
static bool isFromMemory(const Value *V) {
  SmallVector<const Value *, 8> Todo{V};
  SmallPtrSet<const Value *, 16> Done;
  while (!Todo.empty() && Done.size() < 32) {
    const auto *I = dyn_cast<Instruction>(Todo.pop_back_val());
    if (!I || !Done.insert(I).second)
      continue;
    if (isa<LoadInst>(I))
      return true;
    if (!isa<PHINode>(I))
      append_range(Todo, I->operands());
  }
  return false;
}

void Counter::access(const Value *Pointer, Type *T, const DataLayout &Layout,
                     bool Store) {
  const Value *Base = getUnderlyingObject(Pointer, 32);
  unsigned Space = Base->getType()->getPointerAddressSpace();
  if (isa<AllocaInst>(Base) || Space == LocalSpace)
    return add(DeviceWord::LocalAccess);
  if (Layout.getTypeStoreSize(T).getFixedValue() > 4)
    add(DeviceWord::WideAccess);
  if (Space == SharedSpace)
    return add(Store ? DeviceWord::SharedStore : DeviceWord::SharedLoad);
  add(Store ? DeviceWord::GlobalStore : DeviceWord::GlobalLoad);
  if (const auto *G = dyn_cast<GetElementPtrInst>(Pointer);
      G && any_of(G->indices(), isFromMemory))
    add(DeviceWord::GatheredLoad);
}

void Counter::named(StringRef Name) {
  auto Has = [&](std::initializer_list<StringRef> Parts) {
    return any_of(Parts, [&](StringRef P) { return Name.contains(P); });
  };
  if (Has({"mma"}))
    add(DeviceWord::Matrix);
  else if (Has({"cp.async", "mbarrier"}))
    add(DeviceWord::AsyncCopy);
  else if (Has({"shfl", "vote", "redux", "match", "activemask"}))
    add(DeviceWord::Shuffle);
  else if (Has({"barrier", "bar.sync", "bar.warp"}))
    add(DeviceWord::Barrier);
  else if (Has({"atom", "red."}))
    add(DeviceWord::Atomic);
  else if (Has({"sreg.tid"}))
    add(DeviceWord::ThreadIndex);
  else if (Has({"sreg.ctaid"}))
    add(DeviceWord::BlockIndex);
  else if (Has({"sqrt", "exp", "ex2", "log", "lg2", "sin", "cos", "tan", "rcp",
                "rsqrt", "pow", "erf"}))
    add(DeviceWord::Special);
  else if (Has({"div"}))
    add(DeviceWord::Division);
  else if (Has({"fma", "fmuladd"}))
    add(DeviceWord::FloatArithmetic);
  else if (Has({"min", "max"}))
    add(DeviceWord::MinMax);
  else if (Has({"ctpop", "ctlz", "cttz", "brev", "bitreverse", "fsh", "prmt"}))
    add(DeviceWord::Bits);
  else if (Has({"2f", "f2", "2h", "h2", "cvt"}))
    add(DeviceWord::Conversion);
}

void Counter::call(const CallBase &Call) {
  if (const auto *Asm = dyn_cast<InlineAsm>(Call.getCalledOperand()))
    return named(Asm->getAsmString());
  if (const Function *Callee = Call.getCalledFunction();
      Callee && Callee->isDeclaration())
    named(Callee->getName());
}

void Counter::count(const Instruction &I) {
  const DataLayout &Layout = I.getDataLayout();
  Type *T = I.getType()->getScalarType();
  if (const auto *Load = dyn_cast<LoadInst>(&I))
    return access(Load->getPointerOperand(), Load->getType(), Layout, false);
  if (const auto *Store = dyn_cast<StoreInst>(&I))
    return access(Store->getPointerOperand(),
                  Store->getValueOperand()->getType(), Layout, true);
  if (isa<AtomicRMWInst, AtomicCmpXchgInst>(I))
    return add(DeviceWord::Atomic);
  if (const auto *Call = dyn_cast<CallBase>(&I))
    return call(*Call);
  if (isa<CmpInst>(I))
    return add(DeviceWord::Comparison);
  if (isa<CastInst>(I)) {
    if (I.getOpcode() != Instruction::AddrSpaceCast &&
        I.getOpcode() != Instruction::ZExt &&
        I.getOpcode() != Instruction::SExt)
      add(DeviceWord::Conversion);
    return;
  }
  if (const auto *Br = dyn_cast<BranchInst>(&I)) {
    if (Br->isConditional())
      add(DeviceWord::Branch);
    return;
  }
  if (!I.isBinaryOp() && I.getOpcode() != Instruction::FNeg)
    return;
  switch (I.getOpcode()) {
  case Instruction::FDiv:
  case Instruction::FRem:
  case Instruction::UDiv:
  case Instruction::SDiv:
  case Instruction::URem:
  case Instruction::SRem:
    return add(DeviceWord::Division);
  case Instruction::And:
  case Instruction::Or:
  case Instruction::Xor:
  case Instruction::Shl:
  case Instruction::LShr:
  case Instruction::AShr:
    return add(DeviceWord::Bits);
  case Instruction::Mul:
    return add(DeviceWord::IntegerMultiply);
  default:
    return add(T->isDoubleTy()          ? DeviceWord::DoubleArithmetic
               : T->isFloatTy()         ? DeviceWord::FloatArithmetic
               : T->isFloatingPointTy() ? DeviceWord::HalfArithmetic
                                        : DeviceWord::IntegerArithmetic);
  }
}

/// What a loop hands from one turn to the next.
void Counter::carried(const PHINode &Phi, const llvm::Loop &L) {
  const BasicBlock *Latch = L.getLoopLatch();
  const auto *Next =
      Latch ? dyn_cast<Instruction>(Phi.getIncomingValueForBlock(Latch))
            : nullptr;
  if (!Next || Phi.getType()->isPointerTy())
    return;
  bool Direct = is_contained(Next->operands(), &Phi);
  bool Constant = any_of(Next->operands(), [](const Value *V) {
    return isa<llvm::Constant>(V) && !isa<Function>(V);
  });
  // Induction variables are in every loop.
  if (Direct && Constant && Next->getOpcode() == Instruction::Add)
    return;
  add(Direct ? DeviceWord::Reduction : DeviceWord::Recurrence);
}

void Counter::count(const Function &F) {
  DominatorTree Dominators(const_cast<Function &>(F));
  LoopInfo Loops(Dominators);
  for (const BasicBlock &B : F) {
    unsigned Depth = std::min(Loops.getLoopDepth(&B), 3U);
    Weight = 1 + Depth;
    for (const Instruction &I : B)
      count(I);
    if (!Loops.isLoopHeader(&B))
      continue;
    add(DeviceWord::Loop);
    if (Depth > 1)
      add(DeviceWord::InnerLoop);
    for (const PHINode &Phi : B.phis())
      carried(Phi, *Loops.getLoopFor(&B));
  }
}

DeviceWords countWords(const Function &Kernel) {
  DeviceWords Words{};
  SetVector<const Function *> Closure;
  Closure.insert(&Kernel);
  for (size_t I = 0; I < Closure.size(); ++I) {
    Counter(Words).count(*Closure[I]);
    for (const Instruction &Each : instructions(*Closure[I]))
      if (const auto *Call = dyn_cast<CallBase>(&Each))
        if (const Function *Callee = Call->getCalledFunction();
            Callee && !Callee->isDeclaration())
          Closure.insert(Callee);
  }
  return Words;
}

} // namespace cupilot
