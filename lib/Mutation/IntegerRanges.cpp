//===- IntegerRanges.cpp - What integers of a kernel can be -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's own analyses want registers; before optimisation everything is in
// local variables. So this walks from a use to what was stored.
//
//===----------------------------------------------------------------------===//

#include "IntegerRanges.h"
#include "cupilot/Portable/LaunchLimits.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace cupilot {

static ConstantRange everything(const Value *V) {
  return ConstantRange::getFull(V->getType()->getIntegerBitWidth());
}

/// \p Least to \p Most.
static ConstantRange between(unsigned Bits, uint64_t Least, uint64_t Most) {
  return ConstantRange::getNonEmpty(APInt(Bits, Least), APInt(Bits, Most) + 1);
}

/// Of what a launch may be; nothing for other intrinsics.
static std::optional<ConstantRange> ofRegister(const CallInst &Call) {
  switch (Call.getIntrinsicID()) {
  case Intrinsic::nvvm_read_ptx_sreg_tid_x:
  case Intrinsic::nvvm_read_ptx_sreg_tid_y:
    return between(32, 0, MaxBlock[0] - 1);
  case Intrinsic::nvvm_read_ptx_sreg_tid_z:
    return between(32, 0, MaxBlock[2] - 1);
  case Intrinsic::nvvm_read_ptx_sreg_ntid_x:
  case Intrinsic::nvvm_read_ptx_sreg_ntid_y:
    return between(32, 1, MaxBlock[0]);
  case Intrinsic::nvvm_read_ptx_sreg_ntid_z:
    return between(32, 1, MaxBlock[2]);
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_x:
    return between(32, 0, MaxGrid[0] - 1);
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_y:
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_z:
    return between(32, 0, MaxGrid[1] - 1);
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_x:
    return between(32, 1, MaxGrid[0]);
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_y:
  case Intrinsic::nvvm_read_ptx_sreg_nctaid_z:
    return between(32, 1, MaxGrid[1]);
  case Intrinsic::nvvm_read_ptx_sreg_laneid:
    return between(32, 0, 31);
  case Intrinsic::nvvm_read_ptx_sreg_warpsize:
    return between(32, 32, 32);
  default:
    return std::nullopt;
  }
}

ConstantRange IntegerRanges::ofCall(const CallInst &Call) {
  if (std::optional<ConstantRange> Known = ofRegister(Call))
    return *Known;
  // clang reads threadIdx.x by a function of a header.
  const Function *Callee = Call.getCalledFunction();
  if (!Callee || Callee->isDeclaration() || Callee->isInterposable())
    return everything(&Call);
  ConstantRange All =
      ConstantRange::getEmpty(Call.getType()->getIntegerBitWidth());
  for (const BasicBlock &Block : *Callee)
    if (auto *Return = dyn_cast<ReturnInst>(Block.getTerminator()))
      All = All.unionWith(of(Return->getReturnValue()));
  return All;
}

/// Whether all that happens to \p Variable is that it is read and written.
static bool isPlain(const AllocaInst &Variable) {
  return Variable.getAllocatedType()->isIntegerTy() &&
         all_of(Variable.users(), [&](const User *U) {
           if (auto *Load = dyn_cast<LoadInst>(U))
             return Load->getType() == Variable.getAllocatedType();
           auto *Store = dyn_cast<StoreInst>(U);
           return Store && Store->getPointerOperand() == &Variable &&
                  Store->getValueOperand()->getType() ==
                      Variable.getAllocatedType();
         });
}

const DominatorTree &IntegerRanges::tree(const Function &F) {
  std::unique_ptr<DominatorTree> &Tree = Trees[&F];
  if (!Tree)
    Tree = std::make_unique<DominatorTree>(const_cast<Function &>(F));
  return *Tree;
}

/// Whether \p Variable is still what it was when \p Edge was taken. All that
/// lies between is dominated by the edge. The step of a loop may follow the
/// read, if the edge must be taken once more before the next read.
static bool unchanged(const AllocaInst &Variable, const BasicBlockEdge &Edge,
                      const LoadInst &Read, const DominatorTree &Tree) {
  return all_of(Variable.users(), [&](const User *U) {
    auto *Store = dyn_cast<StoreInst>(U);
    if (!Store || !Tree.dominates(Edge, Store->getParent()))
      return true;
    return Store->getParent() == Read.getParent() && Read.comesBefore(Store) &&
           Store->getParent()->getSingleSuccessor() == Edge.getStart();
  });
}

/// By the comparisons of \p Variable that lead to \p Load.
ConstantRange IntegerRanges::guarded(const LoadInst &Load,
                                     const AllocaInst &Variable) {
  ConstantRange Result = everything(&Load);
  const DominatorTree &Tree = tree(*Load.getFunction());
  const auto *Node = Tree.getNode(Load.getParent());
  for (Node = Node ? Node->getIDom() : nullptr; Node; Node = Node->getIDom()) {
    const BasicBlock *From = Node->getBlock();
    auto *Branch = dyn_cast<BranchInst>(From->getTerminator());
    if (!Branch || !Branch->isConditional() ||
        Branch->getSuccessor(0) == Branch->getSuccessor(1))
      continue;
    auto *Compare = dyn_cast<ICmpInst>(Branch->getCondition());
    if (!Compare || Compare->getParent() != From)
      continue;
    for (bool First : {true, false}) {
      auto *Read = dyn_cast<LoadInst>(Compare->getOperand(First ? 0 : 1));
      if (!Read || Read->getPointerOperand() != &Variable ||
          Read->getParent() != From)
        continue;
      bool Written = any_of(Variable.users(), [&](const User *U) {
        auto *Store = dyn_cast<StoreInst>(U);
        return Store && Store->getParent() == From && Read->comesBefore(Store);
      });
      if (Written)
        continue;
      for (bool Taken : {true, false}) {
        BasicBlockEdge Edge(From, Branch->getSuccessor(Taken ? 0 : 1));
        if (!Tree.dominates(Edge, Load.getParent()) ||
            !unchanged(Variable, Edge, Load, Tree))
          continue;
        CmpInst::Predicate P =
            Taken ? Compare->getPredicate() : Compare->getInversePredicate();
        if (!First)
          P = CmpInst::getSwappedPredicate(P);
        Result = Result.intersectWith(ConstantRange::makeAllowedICmpRegion(
            P, of(Compare->getOperand(First ? 1 : 0))));
      }
    }
  }
  return Result;
}

/// What is still growing after some rounds: not negative, or anything.
static ConstantRange widened(const ConstantRange &R) {
  unsigned Bits = R.getBitWidth();
  return R.isAllNonNegative()
             ? ConstantRange::getNonEmpty(APInt(Bits, 0),
                                          APInt::getSignedMinValue(Bits))
             : ConstantRange::getFull(Bits);
}

/// Finds what the local variables of \p F hold: first nothing, then what is
/// stored if that is so, until nothing is added.
void IntegerRanges::solve(const Function &F) {
  constexpr unsigned Exact = 4, Widened = 8;
  std::vector<const AllocaInst *> Plain;
  for (const Instruction &I : instructions(F))
    if (auto *Variable = dyn_cast<AllocaInst>(&I);
        Variable && isPlain(*Variable)) {
      Plain.push_back(Variable);
      Variables.insert(
          {Variable, ConstantRange::getEmpty(
                         Variable->getAllocatedType()->getIntegerBitWidth())});
    }
  bool Changed = true;
  for (unsigned Round = 0; Changed; ++Round) {
    Changed = false;
    Found.clear();
    for (const AllocaInst *Variable : Plain) {
      ConstantRange &Holds = Variables.at(Variable);
      ConstantRange Now = Holds;
      for (const User *U : Variable->users())
        if (auto *Store = dyn_cast<StoreInst>(U))
          Now = Now.unionWith(of(Store->getValueOperand()));
      if (Now == Holds)
        continue;
      Changed = true;
      Holds = Round < Exact     ? Now
              : Round < Widened ? widened(Now)
                                : ConstantRange::getFull(Now.getBitWidth());
    }
  }
  Found.clear();
}

ConstantRange IntegerRanges::ofLoad(const LoadInst &Load) {
  auto *Variable = dyn_cast<AllocaInst>(Load.getPointerOperand());
  if (!Variable || !isPlain(*Variable))
    return everything(&Load);
  if (Solved.insert(Load.getFunction()).second)
    solve(*Load.getFunction());
  return Variables.at(Variable).intersectWith(guarded(Load, *Variable));
}

ConstantRange IntegerRanges::ofOperation(const Value *V) {
  if (auto *Load = dyn_cast<LoadInst>(V))
    return ofLoad(*Load);
  if (auto *Call = dyn_cast<CallInst>(V))
    return ofCall(*Call);
  if (auto *Select = dyn_cast<SelectInst>(V))
    return of(Select->getTrueValue()).unionWith(of(Select->getFalseValue()));
  if (auto *Phi = dyn_cast<PHINode>(V)) {
    ConstantRange All =
        ConstantRange::getEmpty(V->getType()->getIntegerBitWidth());
    for (const Value *One : Phi->incoming_values())
      All = All.unionWith(of(One));
    return All;
  }
  if (auto *Cast = dyn_cast<CastInst>(V);
      Cast && Cast->getSrcTy()->isIntegerTy())
    return of(Cast->getOperand(0))
        .castOp(Cast->getOpcode(), V->getType()->getIntegerBitWidth());
  if (auto *Binary = dyn_cast<BinaryOperator>(V)) {
    ConstantRange L = of(Binary->getOperand(0)), R = of(Binary->getOperand(1));
    if (auto *Wraps = dyn_cast<OverflowingBinaryOperator>(V)) {
      unsigned Kind = 0;
      if (Wraps->hasNoUnsignedWrap())
        Kind |= OverflowingBinaryOperator::NoUnsignedWrap;
      if (Wraps->hasNoSignedWrap())
        Kind |= OverflowingBinaryOperator::NoSignedWrap;
      return L.overflowingBinaryOp(Binary->getOpcode(), R, Kind);
    }
    return L.binaryOp(Binary->getOpcode(), R);
  }
  return everything(V);
}

ConstantRange IntegerRanges::of(const Value *V) {
  if (auto *Constant = dyn_cast<ConstantInt>(V))
    return ConstantRange(Constant->getValue());
  if (!isa<Instruction>(V))
    return everything(V);
  auto Known = Found.find(V);
  if (Known != Found.end())
    return Known->second;
  // What asks for itself can be anything.
  Found.insert({V, everything(V)});
  ConstantRange Result = ofOperation(V);
  Found.insert_or_assign(V, Result);
  return Result;
}

} // namespace cupilot
