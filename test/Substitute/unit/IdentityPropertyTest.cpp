//===- IdentityPropertyTest.cpp - What identities tell apart --------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Any single change that can change what a kernel does gives another identity,
// at every place where it applies.
//
//===----------------------------------------------------------------------===//

#include "IdentityModule.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace cupilot;
using namespace llvm;

namespace {
/// Applies the change number Target of all those that the instructions of the
/// closure admit.
class Semantic {
public:
  Semantic(Module &M, unsigned Target) : M(M), Left(Target) {}
  /// Its description; empty past the last one.
  std::string run() {
    for (StringRef Name : {"kernel", "middle", "leaf"})
      for (Instruction &I :
           make_early_inc_range(instructions(*M.getFunction(Name)))) {
        if (I.isLifetimeStartOrEnd())
          continue;
        operators(I);
        memory(I);
        control(I);
        operands(I);
        if (!Done.empty())
          return Done;
      }
    return "";
  }

private:
  bool here(StringRef What, const Instruction &I) {
    if (!Done.empty() || Left-- != 0)
      return false;
    raw_string_ostream(Done) << What << " in " << I;
    return true;
  }
  void opcode(BinaryOperator &B, Instruction::BinaryOps To) {
    if (!here("opcode", B))
      return;
    auto *New = BinaryOperator::Create(To, B.getOperand(0), B.getOperand(1));
    New->copyIRFlags(&B);
    ReplaceInstWithInst(&B, New);
  }
  void operators(Instruction &I) {
    using Op = Instruction;
    static const std::pair<Op::BinaryOps, Op::BinaryOps> Swaps[] = {
        {Op::Add, Op::Sub},   {Op::Sub, Op::Add},   {Op::Mul, Op::Sub},
        {Op::FAdd, Op::FMul}, {Op::FMul, Op::FAdd}, {Op::SDiv, Op::UDiv},
        {Op::LShr, Op::AShr}, {Op::And, Op::Or}};
    using FMF = FastMathFlags;
    static const std::pair<bool (FMF::*)() const, void (FMF::*)(bool)> Fast[] =
        {{&FMF::allowReassoc, &FMF::setAllowReassoc},
         {&FMF::noNaNs, &FMF::setNoNaNs},
         {&FMF::noInfs, &FMF::setNoInfs},
         {&FMF::noSignedZeros, &FMF::setNoSignedZeros},
         {&FMF::allowReciprocal, &FMF::setAllowReciprocal},
         {&FMF::allowContract, &FMF::setAllowContract},
         {&FMF::approxFunc, &FMF::setApproxFunc}};
    // Flags first: a change of opcode removes the instruction.
    if (isa<FPMathOperator>(I))
      for (auto [Get, Set] : Fast)
        if (here("fast-math flag", I)) {
          FastMathFlags Flags = I.getFastMathFlags();
          (Flags.*Set)(!(Flags.*Get)());
          I.copyFastMathFlags(Flags);
        }
    if (isa<OverflowingBinaryOperator>(I)) {
      if (here("nsw", I))
        I.setHasNoSignedWrap(!I.hasNoSignedWrap());
      if (here("nuw", I))
        I.setHasNoUnsignedWrap(!I.hasNoUnsignedWrap());
    }
    if (isa<PossiblyExactOperator>(I) && here("exact", I))
      I.setIsExact(!I.isExact());
    if (isa<PossiblyNonNegInst>(I) && here("nneg", I))
      I.setNonNeg(!I.hasNonNeg());
    if (auto *G = dyn_cast<GetElementPtrInst>(&I); G && here("inbounds", I))
      G->setNoWrapFlags(G->isInBounds() ? GEPNoWrapFlags::none()
                                        : GEPNoWrapFlags::inBounds());
    if (auto *C = dyn_cast<CmpInst>(&I)) {
      if (here("inverse predicate", I))
        C->setPredicate(C->getInversePredicate());
      if (here("swapped predicate", I))
        C->setPredicate(C->getSwappedPredicate());
    }
    if (auto *B = dyn_cast<BinaryOperator>(&I))
      for (auto [From, To] : Swaps)
        if (Done.empty() && B->getOpcode() == From)
          opcode(*B, To);
  }
  template <class T> void access(T &I) {
    if (here("alignment", I))
      I.setAlignment(Align(I.getAlign().value() * 2));
    if (here("volatile", I))
      I.setVolatile(!I.isVolatile());
  }
  template <class T> void ordering(T &I, AtomicOrdering A, AtomicOrdering B) {
    if (here("ordering", I))
      I.setOrdering(I.getOrdering() == A ? B : A);
    scope(I);
  }
  template <class T> void scope(T &I) {
    if (here("scope", I))
      I.setSyncScopeID(I.getSyncScopeID() == SyncScope::System
                           ? M.getContext().getOrInsertSyncScopeID("block")
                           : SyncScope::System);
  }
  void memory(Instruction &I) {
    if (!Done.empty())
      return;
    using O = AtomicOrdering;
    if (auto *L = dyn_cast<LoadInst>(&I)) {
      access(*L);
      if (L->isAtomic())
        ordering(*L, O::Monotonic, O::SequentiallyConsistent);
    } else if (auto *S = dyn_cast<StoreInst>(&I)) {
      access(*S);
    } else if (auto *R = dyn_cast<AtomicRMWInst>(&I)) {
      access(*R);
      ordering(*R, O::Monotonic, O::Release);
      for (auto Op : {AtomicRMWInst::Sub, AtomicRMWInst::Max,
                      AtomicRMWInst::UMax, AtomicRMWInst::Xchg})
        if (here("atomic operation", I))
          R->setOperation(Op);
    } else if (auto *C = dyn_cast<AtomicCmpXchgInst>(&I)) {
      access(*C);
      scope(*C);
      if (here("weak", I))
        C->setWeak(!C->isWeak());
      if (here("success ordering", I))
        C->setSuccessOrdering(O::AcquireRelease);
      if (here("failure ordering", I))
        C->setFailureOrdering(O::Acquire);
    } else if (auto *F = dyn_cast<FenceInst>(&I)) {
      ordering(*F, O::Release, O::AcquireRelease);
    } else if (auto *A = dyn_cast<AllocaInst>(&I)) {
      if (here("alignment", I))
        A->setAlignment(Align(16));
      if (here("allocated type", I))
        A->setAllocatedType(Type::getInt128Ty(M.getContext()));
    }
  }
  /// True for what every block may use.
  static bool movable(const Value &V) {
    auto *I = dyn_cast<Instruction>(&V);
    return !I || I->getParent()->isEntryBlock();
  }
  void control(Instruction &I) {
    if (!Done.empty())
      return;
    if (auto *S = dyn_cast<SwitchInst>(&I))
      for (auto Case : S->cases()) {
        if (here("case value", I))
          Case.setValue(ConstantInt::get(M.getContext(), APInt(32, 77)));
        if (here("case target", I)) {
          // Among the cases: every block keeps its predecessors.
          auto Other = S->case_begin() + (Case.getCaseIndex() + 1) % 2;
          BasicBlock *To = Case.getCaseSuccessor();
          Case.setSuccessor(Other->getCaseSuccessor());
          Other->setSuccessor(To);
        }
      }
    if (I.isTerminator() && !isa<SwitchInst>(I) && I.getNumSuccessors() == 2 &&
        here("successors", I)) {
      BasicBlock *First = I.getSuccessor(0);
      I.setSuccessor(0, I.getSuccessor(1));
      I.setSuccessor(1, First);
    }
    if (auto *P = dyn_cast<PHINode>(&I))
      for (unsigned K = 0; K < P->getNumIncomingValues(); ++K)
        for (Value *V : P->incoming_values())
          if (V != P->getIncomingValue(K) && movable(*V) &&
              here("incoming value", I))
            P->setIncomingValue(K, V);
    if (auto *C = dyn_cast<CallInst>(&I)) {
      Function *Callee = C->getCalledFunction();
      if (Callee && Callee->getName() == "leaf" && here("callee", I))
        C->setCalledFunction(M.getFunction("twin"));
      if (here("no tail call", I))
        C->setTailCallKind(CallInst::TCK_NoTail);
      if (here("convergent", I))
        C->setConvergent();
    }
  }
  void operands(Instruction &I) {
    if (!Done.empty() || !I.getParent())
      return;
    for (Use &U : I.operands()) {
      if (auto *C = dyn_cast<ConstantInt>(U.get());
          C && !(isa<GetElementPtrInst>(I) && C->isZero()) &&
          here("constant", I))
        U.set(ConstantInt::get(C->getContext(), C->getValue() ^ 1));
      if (auto *F = dyn_cast<ConstantFP>(U.get()); F && here("constant", I))
        U.set(ConstantFP::get(F->getType(), 0.5));
    }
    unsigned First = isa<SelectInst>(I) ? 1 : 0;
    if ((isa<CmpInst, SelectInst>(I) ||
         (isa<BinaryOperator>(I) && !I.isCommutative()) ||
         (isa<CallInst>(I) && cast<CallInst>(I).arg_size() > 1)) &&
        I.getOperand(First) != I.getOperand(First + 1) &&
        I.getOperand(First)->getType() == I.getOperand(First + 1)->getType() &&
        here("operand order", I)) {
      Value *Old = I.getOperand(First);
      I.setOperand(First, I.getOperand(First + 1));
      I.setOperand(First + 1, Old);
    }
  }
  Module &M;
  unsigned Left;
  std::string Done;
};

TEST(IdentityProperty, AnyChangeOfAnInstructionCounts) {
  const std::string Before = identityOf(Source);
  unsigned N = 0;
  for (;; ++N) {
    Parsed P(Source);
    ASSERT_TRUE(P.M);
    std::string What = Semantic(*P.M, N).run();
    if (What.empty())
      break;
    EXPECT_NE(identityOf(P.M->getFunction("kernel")), Before) << What;
  }
  RecordProperty("changes", static_cast<int>(N));
  EXPECT_GT(N, 130u);
}

TEST(IdentityProperty, AnyChangeOfADeclarationCounts) {
  // Each at every place where it stands.
  static const std::pair<StringRef, StringRef> Changes[] = {
      {"i32 3, i32 1, i32 4", "i32 3, i32 1, i32 5"},
      {"[i32 3, i32 1, i32 4, i32 1]", "zeroinitializer"},
      {"c\"ab\"", "c\"ac\""},
      {"c\"ab\", align 1", "c\"ab\""},
      {"global i32 7", "global i32 8"},
      {"global i32 7, align 4", "global i32 7, align 8"},
      {"externally_initialized ", ""},
      {"tile = internal addrspace(3) global [64 ",
       "tile = internal addrspace(3) global [65 "},
      {"undef, align 4", "undef, align 16"},
      {"undef, align 4", "undef, section \"s\", align 4"},
      {"private unnamed_addr addrspace(1) constant",
       "private unnamed_addr addrspace(1) global"},
      {"addrspace(1) @table", "addrspace(1) @spare"},
      {"\"nvvm.maxntid\"=\"128\"", "\"nvvm.maxntid\"=\"256\""},
      {"\"nvvm.minctasm\"=\"2\"", ""},
      {"sm_90", "sm_80"},
      {"+ptx84", "+ptx80"},
      {"i32 1, i32 5}", "i32 1, i32 6}"},
      {"i32 1, i32 5}", "i32 0, i32 5}"},
      {"i32 1024}", "i32 1025}"},
      {", !range !0", ""},
      {", !range !1", ""},
      {", !range !0", ", !range !0, !nontemporal !{i32 1}"},
      {"%clock;", "%clock_hi;"},
      {"\"=r\"", "\"=&r\""},
      {"asm sideeffect", "asm"},
      {"noalias ", ""},
      {"noundef ", ""},
      {"= { nounwind", "= { convergent nounwind"},
      {"type { i32, float }", "type <{ i32, float }>"},
      {"type { i32, float }", "type { float, i32 }"},
      {"tid.x", "tid.y"},
      {"%pair = type", "module asm \".global .u32 x;\"\n%pair = type"},
      {"nvptx64-nvidia-cuda", "nvptx64-nvidia-nvcl"},
      {"!0 = !{", "!llvm.module.flags = !{!9}\n!9 = !{i32 4, "
                  "!\"nvvm-reflect-ftz\", i32 1}\n!0 = !{"}};
  const std::string Before = identityOf(Source);
  for (auto [From, To] : Changes) {
    unsigned Places = 0;
    std::string Text = Source;
    for (size_t At = Text.find(From); At != std::string::npos;
         At = Text.find(From, At + 1)) {
      ++Places;
      std::string Changed = Text;
      // An intrinsic is renamed with its declaration.
      if (From == "tid.x")
        Changed.replace(Changed.rfind(From), From.size(), To);
      Changed.replace(At, From.size(), To);
      EXPECT_NE(identityOf(Changed), Before)
          << From.str() << " -> " << To.str();
      if (From == "tid.x" || From == "noundef ")
        break; // The second place is the declaration; @twin is not called.
    }
    EXPECT_GT(Places, 0u) << From.str();
  }
  // What has to change at several places at once.
  using Pairs = std::vector<std::pair<StringRef, StringRef>>;
  for (const Pairs &Changes :
       {Pairs{{"@counter", "@total"}},
        Pairs{{"addrspace(1) constant [4", "addrspace(4) constant [4"},
              {"addrspace(1) @table", "addrspace(4) @table"}},
        Pairs{{"addrspace(1) externally", "addrspace(4) externally"},
              {"addrspace(1) @counter", "addrspace(4) @counter"}},
        Pairs{{"addrspace(3)", "addrspace(1)"}}}) {
    std::string Text = Source;
    for (auto [From, To] : Changes)
      for (size_t At; (At = Text.find(From)) != std::string::npos;)
        Text.replace(At, From.size(), To);
    EXPECT_NE(identityOf(Text), Before) << Changes[0].first.str();
  }
}

TEST(IdentityProperty, WhatAnotherUnitMayReplaceHasNone) {
  for (StringRef Name : {"kernel", "middle", "leaf", "counter", "twin"}) {
    Parsed P(Source);
    ASSERT_TRUE(P.M);
    P.M->getNamedValue(Name)->setLinkage(GlobalValue::WeakAnyLinkage);
    bool Has = !identify(*P.M->getFunction("kernel")).Digest.empty();
    EXPECT_EQ(Has, Name == "twin") << Name.str(); // Which is not used.
    P.M->getNamedValue(Name)->setLinkage(GlobalValue::WeakODRLinkage);
    EXPECT_EQ(identityOf(P.M->getFunction("kernel")), identityOf(Source));
  }
}
} // namespace
