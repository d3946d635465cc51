//===- Control.cpp - Wrong conditions and loops -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sites.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"

using namespace llvm;

namespace cupilot {

/// With or without the equal case.
static std::optional<CmpInst::Predicate> offByOne(CmpInst::Predicate P) {
  switch (P) {
  case CmpInst::ICMP_SLT:
    return CmpInst::ICMP_SLE;
  case CmpInst::ICMP_SLE:
    return CmpInst::ICMP_SLT;
  case CmpInst::ICMP_SGT:
    return CmpInst::ICMP_SGE;
  case CmpInst::ICMP_SGE:
    return CmpInst::ICMP_SGT;
  case CmpInst::ICMP_ULT:
    return CmpInst::ICMP_ULE;
  case CmpInst::ICMP_ULE:
    return CmpInst::ICMP_ULT;
  case CmpInst::ICMP_UGT:
    return CmpInst::ICMP_UGE;
  case CmpInst::ICMP_UGE:
    return CmpInst::ICMP_UGT;
  case CmpInst::FCMP_OLT:
    return CmpInst::FCMP_OLE;
  case CmpInst::FCMP_OLE:
    return CmpInst::FCMP_OLT;
  case CmpInst::FCMP_OGT:
    return CmpInst::FCMP_OGE;
  case CmpInst::FCMP_OGE:
    return CmpInst::FCMP_OGT;
  default:
    return std::nullopt;
  }
}

static void addCompare(CmpInst &I, Sites &S) {
  CmpInst::Predicate P = I.getPredicate();
  auto Change = [&](StringRef Operator, CmpInst::Predicate New) {
    S.add(I, Operator, CmpInst::getPredicateName(P),
          CmpInst::getPredicateName(New), [&I, New] { I.setPredicate(New); });
  };
  if (auto Other = offByOne(P))
    Change("compare", *Other);
  Change("compare", I.getInversePredicate());
  auto Always = [&](StringRef Operator, StringRef Before, bool Result) {
    S.add(I, Operator, Before, Result ? "true" : "false", [&I, Result] {
      I.replaceAllUsesWith(ConstantInt::getBool(I.getType(), Result));
      I.eraseFromParent();
    });
  };
  if (isa<ConstantPointerNull>(I.getOperand(1)))
    Always("null", P == CmpInst::ICMP_EQ ? "p == null" : "p != null",
           P != CmpInst::ICMP_EQ);
  // x != x is how NaN is asked for.
  if (P == CmpInst::FCMP_UNO || P == CmpInst::FCMP_ORD ||
      (I.getOperand(0) == I.getOperand(1) && isa<FCmpInst>(I)))
    Always("nan", CmpInst::getPredicateName(P), !CmpInst::isUnordered(P));
}

/// Whether something jumps back to \p Block: clang lays blocks out in the order
/// of the source.
static bool isLoopHead(const BasicBlock &Block) {
  bool Later = false;
  for (const BasicBlock &Other : *Block.getParent()) {
    Later |= &Other == &Block;
    if (Later && is_contained(successors(&Other), &Block))
      return true;
  }
  return false;
}

void addConditions(Instruction &I, Sites &S) {
  if (auto *Compare = dyn_cast<CmpInst>(&I))
    return addCompare(*Compare, S);
  if (auto *Select = dyn_cast<SelectInst>(&I)) {
    S.add(I, "select", "c ? a : b", "c ? b : a",
          [Select] { Select->swapValues(); });
    for (bool First : {true, false})
      S.add(I, "select", "c ? a : b", First ? "a" : "b", [Select, First] {
        Select->replaceAllUsesWith(First ? Select->getTrueValue()
                                         : Select->getFalseValue());
        Select->eraseFromParent();
      });
    return;
  }
  auto *Branch = dyn_cast<BranchInst>(&I);
  if (!Branch || !Branch->isConditional())
    return;
  // A comparison that is only branched on is negated there.
  auto *Condition = dyn_cast<CmpInst>(Branch->getCondition());
  if (!Condition || !Condition->hasOneUse())
    S.add(I, "branch", "c", "!c", [Branch] { Branch->swapSuccessors(); });
  auto Always = [&](bool Taken) {
    S.add(I, "bounds", "c", Taken ? "true" : "false", [Branch, Taken] {
      Branch->setCondition(ConstantInt::getBool(Branch->getContext(), Taken));
    });
  };
  // Loops that never end prove nothing; addLoops has their limits.
  if (!isLoopHead(*Branch->getParent()))
    Always(true);
  Always(false);
}

/// The last store to \p Variable in \p Block.
static StoreInst *lastStore(BasicBlock *Block, const Value *Variable) {
  if (Block)
    for (Instruction &I : reverse(*Block))
      if (auto *Store = dyn_cast<StoreInst>(&I);
          Store && Store->getPointerOperand() == Variable)
        return Store;
  return nullptr;
}

static void addOne(Instruction &I, unsigned Operand, int By) {
  IRBuilder<> B(&I);
  Value *Old = I.getOperand(Operand);
  I.setOperand(Operand,
               B.CreateAdd(Old, ConstantInt::getSigned(Old->getType(), By)));
}

/// \p V once more: a read, if it is one. The header dominates what follows.
static Value *again(IRBuilder<> &B, Value *V) {
  auto *Read = dyn_cast<LoadInst>(V);
  return Read ? B.Insert(Read->clone()) : V;
}

static void addLoop(Loop &L, Sites &S) {
  auto *Branch = dyn_cast<BranchInst>(L.getHeader()->getTerminator());
  if (!Branch || !Branch->isConditional())
    return;
  auto *Limit = dyn_cast<ICmpInst>(Branch->getCondition());
  auto *Read = Limit ? dyn_cast<LoadInst>(Limit->getOperand(0)) : nullptr;
  if (!Read || !localVariable(Read->getPointerOperand()) ||
      !Read->getType()->isIntegerTy())
    return;
  if (!isa<ConstantInt>(Limit->getOperand(1)))
    for (int By : {1, -1})
      S.add(*Limit, "loop", "limit", By > 0 ? "limit + 1" : "limit - 1",
            [Limit, By] { addOne(*Limit, 1, By); });
  auto Bound = [&](const char *After, auto Make) {
    return S.add(*Limit, "loop", "limit", After, [Limit, Make] {
      IRBuilder<> B(Limit);
      Limit->setOperand(1, Make(B, Limit->getOperand(1)));
    });
  };
  if (!isa<ConstantInt>(Limit->getOperand(1)) &&
      Limit->getOperand(1)->getType()->getIntegerBitWidth() >= 32 &&
      (Limit->isRelational() && (Limit->getPredicate() == CmpInst::ICMP_SLT ||
                                 Limit->getPredicate() == CmpInst::ICMP_ULT))) {
    constexpr unsigned Bits = 10;
    Mutation *M =
        Bound("min(limit, 1024)", [](IRBuilder<> &B, Value *V) -> Value * {
          return B.CreateBinaryIntrinsic(
              Intrinsic::smin, V, ConstantInt::get(V->getType(), 1 << Bits));
        });
    if (M)
      M->Bits = Bits;
    Bound("limit in whole fours", [](IRBuilder<> &B, Value *V) -> Value * {
      return B.CreateAnd(V, ConstantInt::getSigned(V->getType(), -4));
    });
  }
  Value *Variable = Read->getPointerOperand();
  StoreInst *Start = lastStore(L.getLoopPreheader(), Variable);
  if (Start && !isa<ConstantInt>(Start->getValueOperand()))
    for (int By : {1, -1})
      S.add(*Start, "loop", "start", By > 0 ? "start + 1" : "start - 1",
            [Start, By] { addOne(*Start, 0, By); });
  StoreInst *Next = lastStore(L.getLoopLatch(), Variable);
  auto *Step =
      Next ? dyn_cast<BinaryOperator>(Next->getValueOperand()) : nullptr;
  // A stride of the grid takes all in one turn, if there are few.
  if (Step &&
      none_of(Step->operands(),
              [](const Use &U) { return isa<Constant>(U); }) &&
      Limit->getOperand(1)->getType() == Step->getType())
    S.add(*Step, "loop", "turns", "one turn", [Limit, Next] {
      IRBuilder<> B(Next);
      Next->setOperand(0, again(B, Limit->getOperand(1)));
    });
  if (Step)
    S.add(*Step, "loop", "step", "step twice", [Step, Next] {
      Instruction *Again = Step->clone();
      Again->insertAfter(Step->getIterator());
      Again->setOperand(
          isa<LoadInst>(Step->getOperand(0)) &&
                  cast<LoadInst>(Step->getOperand(0))->getPointerOperand() ==
                      Next->getPointerOperand()
              ? 0
              : 1,
          Step);
      Next->setOperand(0, Again);
    });
}

void addLoops(Function &F, Sites &S) {
  DominatorTree Tree(F);
  LoopInfo Loops(Tree);
  for (Loop *L : Loops.getLoopsInPreorder())
    addLoop(*L, S);
}

} // namespace cupilot
