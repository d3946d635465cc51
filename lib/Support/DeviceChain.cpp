//===- DeviceChain.cpp - What a GPU thread waits for -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Support/DeviceCost.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace cupilot {

namespace {
/// NVPTX: "Address Spaces".
enum : unsigned { SharedSpace = 3, ConstantSpace = 4, LocalSpace = 5 };

enum class Access { None, Operand, Global, Near };

/// How far the values of one turn of a loop, or of the code outside, are.
struct Region {
  unsigned Cycles = 0, Waits = 0; ///< The longest chain so far.
  unsigned Floor = 0;             ///< Waits that all later loads come after.
  unsigned Stored = 0;            ///< Those that a store so far came after.
  unsigned Used = 0;              ///< Those that anything so far came after.
};

class Chains {
public:
  Chains(const LoopInfo &Loops, const Value *Parameters)
      : Loops(Loops), Parameters(Parameters) {}
  DenseMap<const BasicBlock *, DeviceChain> run(const Function &F);

private:
  void visit(const Instruction &I, Region &R);

  const LoopInfo &Loops;
  const Value *Parameters;
  DenseMap<const Loop *, Region> Regions;
  /// Of values: when they are there, in the turn of their own loop.
  DenseMap<const Value *, DeviceChain> Ready;
};
} // namespace

static Access accessOf(const Instruction &I, const Value *Parameters) {
  const Value *Pointer = getLoadStorePointerOperand(&I);
  if (const auto *RMW = dyn_cast<AtomicRMWInst>(&I))
    Pointer = RMW->getPointerOperand();
  else if (const auto *CX = dyn_cast<AtomicCmpXchgInst>(&I))
    Pointer = CX->getPointerOperand();
  if (!Pointer)
    return Access::None;
  unsigned Space = Pointer->getType()->getPointerAddressSpace();
  const Value *Base = getUnderlyingObject(Pointer, 32);
  if (Base == Parameters)
    return Access::Operand;
  if (const auto *G = dyn_cast<GlobalVariable>(Base))
    Space = G->getAddressSpace();
  bool Near = Space == SharedSpace || Space == ConstantSpace ||
              Space == LocalSpace || isa<AllocaInst>(Base);
  return Near ? Access::Near : Access::Global;
}

/// The assembler turns a branch around so few instructions into predicates and
/// orders them together with those around. Others stay where they are, and what
/// comes after them waits for what they use.
static constexpr unsigned MostPredicated = 12;

static bool staysBranch(const BasicBlock &BB) {
  DeviceCost Cost;
  for (const Instruction &I : BB)
    Cost += deviceCost(I);
  return Cost.total() > MostPredicated;
}

/// Whether threads may end right before \p BB: no instruction moves across
/// that.
static bool followsExit(const BasicBlock &BB) {
  const BasicBlock *Before = BB.getSinglePredecessor();
  return Before && any_of(successors(Before), [&](const BasicBlock *Other) {
           return Other != &BB && isa<ReturnInst>(Other->front());
         });
}

/// Cycles until what \p I computes can be used: measurements of Hopper's and
/// its forerunners' pipelines agree on these to a cycle or two.
static unsigned latencyOf(const Instruction &I) {
  DeviceCost C = deviceCost(I);
  return 4 * C.Fp32 + 8 * C.Fp64 + 5 * C.Fp16 + 5 * C.Integer + 20 * C.Special +
         12 * C.Conversion + 24 * C.Shuffle;
}

void Chains::visit(const Instruction &I, Region &R) {
  DeviceChain At;
  if (!isa<PHINode>(I) || !Loops.isLoopHeader(I.getParent()))
    for (const Value *Operand : I.operands())
      if (auto Known = Ready.find(Operand);
          Known != Ready.end() &&
          Loops.getLoopFor(cast<Instruction>(Operand)->getParent()) ==
              Loops.getLoopFor(I.getParent())) {
        At.Cycles = std::max(At.Cycles, Known->second.Cycles);
        At.Waits = std::max(At.Waits, Known->second.Waits);
      }
  if (!isa<PHINode>(I))
    R.Used = std::max(R.Used, At.Waits);
  switch (accessOf(I, Parameters)) {
  case Access::Global:
    if (I.getType()->isVoidTy() || I.use_empty()) {
      R.Stored = std::max(R.Stored, At.Waits);
      break;
    }
    At.Waits = std::max(At.Waits, R.Floor);
    if (!I.hasMetadata(LLVMContext::MD_invariant_load))
      At.Waits = std::max(At.Waits, R.Stored);
    ++At.Waits;
    break;
  case Access::Near:
    At.Cycles += I.getType()->isVoidTy() ? 0 : 30;
    break;
  case Access::Operand:
    break;
  case Access::None:
    At.Cycles += latencyOf(I);
    if (const auto *Call = dyn_cast<CallBase>(&I);
        Call && Call->getCalledFunction() &&
        Call->getCalledFunction()->getName().contains("barrier")) {
      R.Floor = R.Waits;
      R.Cycles += 30;
    }
  }
  R.Cycles = std::max(R.Cycles, At.Cycles);
  R.Waits = std::max(R.Waits, At.Waits);
  Ready[&I] = At;
}

DenseMap<const BasicBlock *, DeviceChain> Chains::run(const Function &F) {
  DenseMap<const BasicBlock *, DeviceChain> Result;
  ReversePostOrderTraversal<const Function *> Order(&F);
  for (const BasicBlock *BB : Order) {
    const Loop *L = Loops.getLoopFor(BB);
    // What a loop leaves behind is there when the code after it runs.
    if (Loops.isLoopHeader(BB))
      if (auto Outer = Regions.find(L->getParentLoop()); Outer != Regions.end())
        Outer->second.Floor = Outer->second.Waits;
    Region &R = Regions[L];
    Region Before = R;
    if (followsExit(*BB))
      R.Floor = std::max(R.Floor, R.Used);
    for (const Instruction &I : *BB)
      visit(I, R);
    if (staysBranch(*BB))
      R.Floor = std::max(R.Floor, R.Used);
    Result[BB] = {R.Cycles - Before.Cycles, R.Waits - Before.Waits};
  }
  return Result;
}

DenseMap<const BasicBlock *, DeviceChain>
deviceChains(const Function &F, const LoopInfo &Loops,
             const Value *Parameters) {
  return Chains(Loops, Parameters).run(F);
}

} // namespace cupilot
