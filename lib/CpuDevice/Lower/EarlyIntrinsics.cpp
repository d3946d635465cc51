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
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include <optional>

using namespace llvm;

namespace cupilot {

/// Atomics in a scope. The compiler's back end knows signed minima and maxima
/// only.
static std::optional<AtomicRMWInst::BinOp> atomicOf(Intrinsic::ID Id) {
  switch (Id) {
  case Intrinsic::nvvm_atomic_add_gen_f_cta:
  case Intrinsic::nvvm_atomic_add_gen_f_sys:
    return AtomicRMWInst::FAdd;
#define INTEGER(Name, Op)                                                      \
  case Intrinsic::nvvm_atomic_##Name##_gen_i_cta:                              \
  case Intrinsic::nvvm_atomic_##Name##_gen_i_sys:                              \
    return AtomicRMWInst::Op;
    INTEGER(add, Add)
    INTEGER(exch, Xchg)
    INTEGER(min, Min)
    INTEGER(max, Max)
    INTEGER(and, And)
    INTEGER(or, Or)
    INTEGER(xor, Xor)
    INTEGER(inc, UIncWrap)
    INTEGER(dec, UDecWrap)
#undef INTEGER
  default:
    return std::nullopt;
  }
}

/// The plain instruction that \p Call stands for; null for none.
static Value *lowerMemoryIntrinsic(CallInst &Call, Intrinsic::ID Id) {
  IRBuilder<> B(&Call);
  Value *Place = Call.getArgOperand(0);
  Type *T = Call.getType();
  if (std::optional<AtomicRMWInst::BinOp> Op = atomicOf(Id))
    return B.CreateAtomicRMW(*Op, Place, Call.getArgOperand(1),
                             Align(T->getPrimitiveSizeInBits() / 8),
                             AtomicOrdering::Monotonic);
  switch (Id) {
  case Intrinsic::nvvm_atomic_cas_gen_i_cta:
  case Intrinsic::nvvm_atomic_cas_gen_i_sys:
    return B.CreateExtractValue(
        B.CreateAtomicCmpXchg(
            Place, Call.getArgOperand(1), Call.getArgOperand(2),
            Align(T->getPrimitiveSizeInBits() / 8), AtomicOrdering::Monotonic,
            AtomicOrdering::Monotonic),
        0);
  case Intrinsic::nvvm_ldu_global_f:
  case Intrinsic::nvvm_ldu_global_i:
  case Intrinsic::nvvm_ldu_global_p: {
    auto *Alignment = dyn_cast<ConstantInt>(Call.getArgOperand(1));
    return B.CreateAlignedLoad(
        T, Place, MaybeAlign(Alignment ? Alignment->getZExtValue() : 1));
  }
  default:
    return nullptr;
  }
}

void lowerMemoryIntrinsics(Module &M) {
  for (Function &F : make_early_inc_range(M)) {
    Intrinsic::ID Id = F.getIntrinsicID();
    if (!Intrinsic::isTargetIntrinsic(Id))
      continue;
    for (User *U : make_early_inc_range(F.users()))
      if (auto *Call = dyn_cast<CallInst>(U))
        if (Value *New = lowerMemoryIntrinsic(*Call, Id)) {
          Call->replaceAllUsesWith(New);
          Call->eraseFromParent();
        }
  }
}

} // namespace cupilot
