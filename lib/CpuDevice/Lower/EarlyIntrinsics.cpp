//===- EarlyIntrinsics.cpp - NVVM intrinsics that access memory -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Intrinsics that load, or change memory atomically in a scope, become plain
// instructions before the checks are put in.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace cupilot {

/// llvm.nvvm.atomic.OP.gen.{i,f}.{cta,sys}; null for an unknown one.
static Value *lowerScopedAtomic(CallInst &Call, StringRef Name) {
  IRBuilder<> B(&Call);
  StringRef Op = Name.split('.').first;
  Value *Place = Call.getArgOperand(0);
  Type *T = Call.getType();
  Align Natural(T->getPrimitiveSizeInBits() / 8);
  if (Op == "cas")
    return B.CreateExtractValue(
        B.CreateAtomicCmpXchg(
            Place, Call.getArgOperand(1), Call.getArgOperand(2), Natural,
            AtomicOrdering::Monotonic, AtomicOrdering::Monotonic),
        0);
  // The compiler's back end knows signed minima and maxima only.
  auto Kind = StringSwitch<AtomicRMWInst::BinOp>(Op)
                  .Case("add", T->isFloatingPointTy() ? AtomicRMWInst::FAdd
                                                      : AtomicRMWInst::Add)
                  .Case("exch", AtomicRMWInst::Xchg)
                  .Case("min", AtomicRMWInst::Min)
                  .Case("max", AtomicRMWInst::Max)
                  .Case("and", AtomicRMWInst::And)
                  .Case("or", AtomicRMWInst::Or)
                  .Case("xor", AtomicRMWInst::Xor)
                  .Case("inc", AtomicRMWInst::UIncWrap)
                  .Case("dec", AtomicRMWInst::UDecWrap)
                  .Default(AtomicRMWInst::BAD_BINOP);
  if (Kind == AtomicRMWInst::BAD_BINOP)
    return nullptr;
  return B.CreateAtomicRMW(Kind, Place, Call.getArgOperand(1), Natural,
                           AtomicOrdering::Monotonic);
}

void lowerMemoryIntrinsics(Module &M) {
  for (Function &F : make_early_inc_range(M)) {
    StringRef Name = F.getName();
    if (!F.isDeclaration() || !Name.consume_front("llvm.nvvm."))
      continue;
    bool Atomic = Name.consume_front("atomic."),
         Load =
             Name.starts_with("ldu.global") || Name.starts_with("ldg.global");
    if (!Atomic && !Load)
      continue;
    for (User *U : make_early_inc_range(F.users())) {
      auto *Call = dyn_cast<CallInst>(U);
      if (!Call)
        continue;
      Value *New = nullptr;
      if (Atomic) {
        New = lowerScopedAtomic(*Call, Name);
      } else {
        auto *Alignment = dyn_cast<ConstantInt>(Call->getArgOperand(1));
        New = IRBuilder<>(Call).CreateAlignedLoad(
            Call->getType(), Call->getArgOperand(0),
            MaybeAlign(Alignment ? Alignment->getZExtValue() : 1));
      }
      if (!New)
        continue;
      Call->replaceAllUsesWith(New);
      Call->eraseFromParent();
    }
  }
}

} // namespace cupilot
