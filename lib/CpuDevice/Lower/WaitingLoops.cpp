//===- WaitingLoops.cpp - Loops that wait for other threads -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Threads share a host thread, so a loop that waits for what another thread
// writes must let that one run. Such loops are found by what decides whether
// they end: memory that others may change. A loop over an array with an atomic
// operation in it is none, and stays as fast as it is.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "Ptx/DeviceValues.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Support/NVPTXAddrSpace.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace cupilot {

static constexpr char YieldName[] = "cupilot_rt_yield";
/// Marks what writes memory in such a loop.
static constexpr char WriteMark[] = "cupilot.waiting.write";

namespace {
class WaitingLoops {
public:
  explicit WaitingLoops(Function &F) : F(F), Dominators(F), Loops(Dominators) {}
  void run(LoweredModule &Tables, LoweredKernel &K);
  /// Marks what such loops look at.
  void markPolls();

private:
  const Instruction *waitsOn(const Loop &L,
                             SmallVectorImpl<Instruction *> &Polls) const;
  void addControl(const PHINode &Phi, const Loop &L,
                  SetVector<const Value *> &Work) const;

  Function &F;
  DominatorTree Dominators;
  LoopInfo Loops;
};
} // namespace

/// A barrier: what it gives comes from other threads, not from memory. LLVM
/// says of all other exchanges between threads that they read no memory.
static bool isBarrier(const CallBase &Call) {
  switch (Call.getIntrinsicID()) {
  case Intrinsic::nvvm_bar_warp_sync:
  case Intrinsic::nvvm_barrier_cta_arrive_aligned_count:
  case Intrinsic::nvvm_barrier_cta_arrive_count:
  case Intrinsic::nvvm_barrier_cta_red_and_aligned_all:
  case Intrinsic::nvvm_barrier_cta_red_and_aligned_count:
  case Intrinsic::nvvm_barrier_cta_red_and_all:
  case Intrinsic::nvvm_barrier_cta_red_and_count:
  case Intrinsic::nvvm_barrier_cta_red_or_aligned_all:
  case Intrinsic::nvvm_barrier_cta_red_or_aligned_count:
  case Intrinsic::nvvm_barrier_cta_red_or_all:
  case Intrinsic::nvvm_barrier_cta_red_or_count:
  case Intrinsic::nvvm_barrier_cta_red_popc_aligned_all:
  case Intrinsic::nvvm_barrier_cta_red_popc_aligned_count:
  case Intrinsic::nvvm_barrier_cta_red_popc_all:
  case Intrinsic::nvvm_barrier_cta_red_popc_count:
  case Intrinsic::nvvm_barrier_cta_sync_aligned_all:
  case Intrinsic::nvvm_barrier_cta_sync_aligned_count:
  case Intrinsic::nvvm_barrier_cta_sync_all:
  case Intrinsic::nvvm_barrier_cta_sync_count:
  case Intrinsic::nvvm_barrier_cluster_arrive:
  case Intrinsic::nvvm_barrier_cluster_arrive_aligned:
  case Intrinsic::nvvm_barrier_cluster_arrive_relaxed:
  case Intrinsic::nvvm_barrier_cluster_arrive_relaxed_aligned:
  case Intrinsic::nvvm_barrier_cluster_wait:
  case Intrinsic::nvvm_barrier_cluster_wait_aligned:
    return true;
  default:
    return false;
  }
}

/// Whether \p I makes threads see each other's writes: next to it, plain reads
/// may wait too.
static bool isSynchronisation(const Instruction &I) {
  if (isa<FenceInst>(I) || I.isAtomic() || I.isVolatile())
    return true;
  const auto *Call = dyn_cast<CallBase>(&I);
  return Call && Call->isInlineAsm() && Call->mayWriteToMemory();
}

/// What decides the value of a phi besides its operands: the branches between
/// where its paths part and where they meet.
void WaitingLoops::addControl(const PHINode &Phi, const Loop &L,
                              SetVector<const Value *> &Work) const {
  const BasicBlock *Meet = Phi.getParent();
  if (L.getHeader() == Meet && L.getLoopLatch())
    return;
  const DomTreeNode *Parting = Dominators.getNode(Meet)->getIDom();
  for (const BasicBlock *BB : L.blocks()) {
    if (L.getHeader() != Meet && Parting &&
        !Dominators.dominates(Parting->getBlock(), BB))
      continue;
    const Instruction *End = BB->getTerminator();
    if (End->getNumSuccessors() > 1)
      Work.insert(End->getOperand(0));
  }
}

/// The read that decides whether \p L ends and that other threads can change;
/// null when there is none. \p Polls gets all such reads that are volatile or
/// atomic.
const Instruction *
WaitingLoops::waitsOn(const Loop &L,
                      SmallVectorImpl<Instruction *> &Polls) const {
  const Instruction *First = nullptr;
  auto Found = [&](const Instruction *Read) {
    First = First ? First : Read;
    if (Read->isAtomic() || Read->isVolatile())
      Polls.push_back(const_cast<Instruction *>(Read));
  };
  SetVector<const Value *> Work;
  bool Synchronises = false;
  SmallVector<const StoreInst *> Stores;
  for (const BasicBlock *BB : L.blocks()) {
    if (L.isLoopExiting(BB) && BB->getTerminator()->getNumSuccessors() > 1)
      Work.insert(BB->getTerminator()->getOperand(0));
    for (const Instruction &I : *BB) {
      Synchronises |= isSynchronisation(I);
      if (const auto *Store = dyn_cast<StoreInst>(&I))
        Stores.push_back(Store);
    }
  }
  for (unsigned Next = 0; Next < Work.size(); ++Next) {
    const auto *I = dyn_cast<Instruction>(Work[Next]);
    if (!I || !L.contains(I))
      continue;
    if (isa<AtomicRMWInst, AtomicCmpXchgInst>(I)) {
      Found(I);
      continue;
    }
    if (const auto *Load = dyn_cast<LoadInst>(I)) {
      const Value *Pointer = Load->getPointerOperand();
      const Value *Base = getUnderlyingObject(Pointer, /*MaxLookup=*/0);
      if (isa<AllocaInst>(Base)) {
        // A variable of its own: what it last put there decides.
        for (const StoreInst *Store : Stores)
          if (getUnderlyingObject(Store->getPointerOperand(), 0) == Base)
            Work.insert(Store->getValueOperand());
        continue;
      }
      if (Load->isVolatile() || Load->isAtomic()) {
        Found(I);
        continue;
      }
      const auto *G = dyn_cast<GlobalVariable>(Base);
      if (G && (G->isConstant() ||
                G->getAddressSpace() == NVPTXAS::ADDRESS_SPACE_CONST))
        continue;
      if (Synchronises && L.isLoopInvariant(Pointer)) {
        Found(I);
        continue;
      }
    } else if (const auto *Call = dyn_cast<CallBase>(I)) {
      if (Call->mayReadFromMemory() && !isBarrier(*Call) &&
          !Call->onlyAccessesInaccessibleMemory()) {
        Found(I);
        continue;
      }
    } else if (const auto *Phi = dyn_cast<PHINode>(I)) {
      addControl(*Phi, L, Work);
    }
    for (const Use &U : I->operands())
      if (!isa<BasicBlock>(U))
        Work.insert(U);
  }
  return First;
}

void WaitingLoops::markPolls() {
  SmallVector<Instruction *> Polls;
  for (Loop *L : Loops.getLoopsInPreorder())
    waitsOn(*L, Polls);
  for (Instruction *I : Polls)
    I->setMetadata(PollName, MDNode::get(F.getContext(), {}));
}

void markPolls(Function &F) { WaitingLoops(F).markPolls(); }

/// Counts a write of a waiting loop that changes memory: a thread whose writes
/// change nothing and whose registers stay waits for others.
static void countChanges(Function &F, Instruction &I) {
  IRBuilder<> B(&I);
  Value *Changes = nullptr;
  auto Simple = [](Type *T) {
    return T->isIntegerTy() || T->isFloatingPointTy() || T->isPointerTy();
  };
  if (auto *Store = dyn_cast<StoreInst>(&I)) {
    Value *New = Store->getValueOperand();
    if (isa<AllocaInst>(getUnderlyingObject(Store->getPointerOperand(), 0)))
      return;
    Changes = B.getTrue();
    if (Simple(New->getType())) {
      // Volatile: it must see what lies there now.
      Value *Old =
          B.CreateAlignedLoad(New->getType(), Store->getPointerOperand(),
                              Store->getAlign(), /*isVolatile=*/true);
      Changes = B.CreateICmpNE(bitsOf(B, Old), bitsOf(B, New));
    }
  } else if (auto *RMW = dyn_cast<AtomicRMWInst>(&I)) {
    B.SetInsertPoint(I.getNextNode());
    Value *Operand = RMW->getValOperand();
    bool Integer = Operand->getType()->isIntegerTy();
    switch (RMW->getOperation()) {
    case AtomicRMWInst::Xchg:
      Changes = B.CreateICmpNE(bitsOf(B, RMW), bitsOf(B, Operand));
      break;
    case AtomicRMWInst::Add:
    case AtomicRMWInst::Sub:
    case AtomicRMWInst::Xor:
      Changes = B.CreateIsNotNull(Operand);
      break;
    case AtomicRMWInst::Or:
      Changes = B.CreateICmpNE(B.CreateOr(RMW, Operand), RMW);
      break;
    case AtomicRMWInst::And:
      Changes = B.CreateICmpNE(B.CreateAnd(RMW, Operand), RMW);
      break;
    case AtomicRMWInst::Max:
      Changes = B.CreateICmpSGT(Operand, RMW);
      break;
    case AtomicRMWInst::Min:
      Changes = B.CreateICmpSLT(Operand, RMW);
      break;
    case AtomicRMWInst::UMax:
      Changes = B.CreateICmpUGT(Operand, RMW);
      break;
    case AtomicRMWInst::UMin:
      Changes = B.CreateICmpULT(Operand, RMW);
      break;
    default:
      Changes = B.getTrue();
    }
    if (!Integer && RMW->getOperation() != AtomicRMWInst::Xchg)
      Changes = B.getTrue();
  } else if (auto *Exchange = dyn_cast<AtomicCmpXchgInst>(&I)) {
    B.SetInsertPoint(I.getNextNode());
    Changes =
        B.CreateAnd(B.CreateExtractValue(Exchange, 1),
                    B.CreateICmpNE(bitsOf(B, Exchange->getCompareOperand()),
                                   bitsOf(B, Exchange->getNewValOperand())));
  } else if (auto *Call = dyn_cast<CallBase>(&I)) {
    // What is called may write; intrinsics only exchange.
    if (isa<IntrinsicInst>(I) || !Call->mayWriteToMemory() ||
        (Call->isInlineAsm() &&
         cast<InlineAsm>(Call->getCalledOperand())->getAsmString().empty()) ||
        Call->onlyAccessesInaccessibleMemory())
      return;
    Changes = B.getTrue();
  } else {
    return;
  }
  Value *Slot = contextField(B, F, FieldChanges);
  B.CreateStore(B.CreateAdd(B.CreateLoad(B.getInt64Ty(), Slot),
                            B.CreateZExt(Changes, B.getInt64Ty())),
                Slot);
}

void WaitingLoops::run(LoweredModule &Tables, LoweredKernel &K) {
  SmallVector<std::pair<BasicBlock *, BasicBlock *>> BackEdges;
  SmallVector<uint32_t> Places;
  SmallVector<Instruction *> Polls;
  SmallSetVector<BasicBlock *, 16> Bodies;
  for (Loop *L : Loops.getLoopsInPreorder()) {
    const Instruction *Read = waitsOn(*L, Polls);
    if (!Read)
      continue;
    K.Yields = true;
    uint32_t Place = addPlace(Tables, Read->getDebugLoc());
    SmallVector<BasicBlock *> Latches;
    L->getLoopLatches(Latches);
    for (BasicBlock *Latch : Latches) {
      BackEdges.push_back({Latch, L->getHeader()});
      Places.push_back(Place);
    }
    for (BasicBlock *BB : L->blocks())
      Bodies.insert(BB);
  }
  MDNode *Mark = MDNode::get(F.getContext(), {});
  for (Instruction *I : Polls)
    I->setMetadata(PollName, Mark);
  for (BasicBlock *BB : Bodies)
    for (Instruction &I : *BB) {
      if (I.mayWriteToMemory())
        I.setMetadata(WriteMark, Mark);
      if (I.isAtomic() || I.isVolatile())
        I.setMetadata(WaitingName, Mark);
    }
  for (auto [Edge, Place] : zip(BackEdges, Places)) {
    BasicBlock *BB = SplitEdge(Edge.first, Edge.second);
    IRBuilder<> B(BB->getTerminator());
    B.CreateCall(F.getParent()->getOrInsertFunction(
                     YieldName, B.getVoidTy(), B.getPtrTy(), B.getInt32Ty()),
                 {F.getArg(0), B.getInt32(Place)});
  }
}

void addYields(Function &F, LoweredModule &Tables, LoweredKernel &K) {
  WaitingLoops(F).run(Tables, K);
}

void finishYields(Function &F) {
  // The scheduler compares the stacks of threads that wait. What a register
  // held before must not differ there: those that calls preserve are cleared.
  auto *Clear = InlineAsm::get(
      FunctionType::get(Type::getVoidTy(F.getContext()), false),
      "xorl %ebx, %ebx; xorl %r12d, %r12d; xorl %r13d, %r13d; xorl %r14d, "
      "%r14d; xorl %r15d, %r15d",
      "~{rbx},~{r12},~{r13},~{r14},~{r15},~{flags}", /*hasSideEffects=*/true);
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    auto *Call = dyn_cast<CallInst>(&I);
    const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    if (Callee && Callee->getName() == YieldName) {
      IRBuilder<>(Call).CreateCall(Clear);
      F.addFnAttr("frame-pointer", "all");
    } else if (I.hasMetadata(WriteMark)) {
      countChanges(F, I);
    }
  }
}

} // namespace cupilot
