//===- Steps.cpp - What counts as an instruction ----------------*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Instrument.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace cupilot {

static bool isPointerCast(const Instruction &I) {
  return isa<IntToPtrInst>(I) || isa<PtrToIntInst>(I) ||
         isa<AddrSpaceCastInst>(I);
}

/// A sum that is an address and nothing else: code with pointers has a
/// getelementptr there.
static bool isAddressSum(const User *U) {
  const auto *Sum = dyn_cast<BinaryOperator>(U);
  return Sum && Sum->getOpcode() == Instruction::Add && !Sum->use_empty() &&
         all_of(Sum->users(), IsaPred<IntToPtrInst>);
}

/// An index that is scaled for addresses alone.
static bool isScaledIndex(const Instruction &I) {
  return (I.getOpcode() == Instruction::Shl ||
          I.getOpcode() == Instruction::Mul) &&
         isa<ConstantInt>(I.getOperand(1)) && !I.use_empty() &&
         all_of(I.users(), isAddressSum);
}

unsigned stepsOf(const BasicBlock &BB) {
  return count_if(BB, [](const Instruction &I) {
    return !isPointerCast(I) && !isScaledIndex(I);
  });
}

} // namespace cupilot
