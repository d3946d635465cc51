//===- DeviceCost.cpp - What instructions cost a GPU -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Support/DeviceCost.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace cupilot {

DeviceCost &DeviceCost::operator+=(const DeviceCost &O) {
  for (uint32_t DeviceCost::*Field :
       {&DeviceCost::Fp32, &DeviceCost::Fp64, &DeviceCost::Fp16,
        &DeviceCost::Integer, &DeviceCost::Special, &DeviceCost::Control,
        &DeviceCost::Conversion, &DeviceCost::Shuffle, &DeviceCost::Memory})
    this->*Field += O.*Field;
  return *this;
}

static const Instruction *onlyUser(const Instruction &I) {
  return I.hasOneUse() ? cast<Instruction>(*I.user_begin()) : nullptr;
}

static bool isLogic(const Instruction &I) { return I.isBitwiseLogicOp(); }

/// Whether the machine's instruction for the only user of \p I does \p I too:
/// products in sums, shifts in sums, three operands in logic.
static bool mergesIntoUser(const Instruction &I) {
  const Instruction *User = onlyUser(I);
  if (!User || User->getParent() != I.getParent())
    return false;
  bool InSum = User->getOpcode() == Instruction::Add ||
               User->getOpcode() == Instruction::Sub;
  switch (I.getOpcode()) {
  case Instruction::FMul:
    return I.hasAllowContract() && (User->getOpcode() == Instruction::FAdd ||
                                    User->getOpcode() == Instruction::FSub);
  case Instruction::Mul:
    return InSum;
  case Instruction::Shl:
    return InSum && isa<ConstantInt>(I.getOperand(1));
  case Instruction::Add:
    // A sum of three; one with a constant is part of an address.
    return (InSum && !isa<ConstantInt>(I.getOperand(1))) ||
           (isa<ConstantInt>(I.getOperand(1)) &&
            (isa<GetElementPtrInst>(User) || isa<CastInst>(User)));
  default:
    return isLogic(I) && isLogic(*User);
  }
}

/// Instructions that a 64-bit integer operation takes, for one of 32 bits.
static unsigned wordsOf(const Type *T) {
  return T->isIntegerTy() && T->getIntegerBitWidth() > 32 ? 2 : 1;
}

static uint32_t &floatClass(DeviceCost &Cost, const Type *T) {
  return T->isDoubleTy()                    ? Cost.Fp64
         : T->isHalfTy() || T->isBFloatTy() ? Cost.Fp16
                                            : Cost.Fp32;
}

/// A reciprocal or root of the special unit and the steps that make it exact.
static void addRefined(DeviceCost &Cost, const Type *T, unsigned Lanes,
                       bool Rough) {
  Cost.Special += Lanes;
  if (!Rough)
    floatClass(Cost, T) += 8 * Lanes;
}

static void addDivision(DeviceCost &Cost, const Instruction &I,
                        unsigned Lanes) {
  const APInt *By;
  unsigned Words = wordsOf(I.getType()->getScalarType());
  if (match(I.getOperand(1), m_APInt(By))) {
    Cost.Integer += (By->isPowerOf2() ? 2 : 4) * Words * Lanes;
    return;
  }
  // Through the reciprocal of a float; 64 bits are a called sequence.
  Cost.Special += Lanes;
  Cost.Conversion += 2 * Lanes;
  Cost.Integer += (Words == 1 ? 14 : 60) * Lanes;
}

static void addCall(DeviceCost &Cost, const CallBase &Call, unsigned Lanes) {
  const Function *Callee = Call.getCalledFunction();
  StringRef Name = Callee ? Callee->getName() : "";
  const Type *T = Call.getType()->getScalarType();
  auto IsOneOf = [&](ArrayRef<StringRef> Parts) {
    return any_of(Parts, [&](StringRef P) { return Name.contains(P); });
  };
  if (isa<DbgInfoIntrinsic>(Call) ||
      IsOneOf({"llvm.nvvm.read", "llvm.lifetime", "llvm.dbg", "llvm.assume",
               "llvm.experimental", "llvm.fabs", "llvm.nvvm.fabs",
               "llvm.annotation", "llvm.ptr.annotation"}))
    return;
  if (IsOneOf({"shfl", ".vote.", "redux"})) {
    ++Cost.Shuffle;
  } else if (IsOneOf({"approx", ".ex2.", ".lg2.", ".sin.", ".cos.", "rsqrt"})) {
    // Ahead of its subnormal range the special unit's operand is scaled.
    Cost.Special += Lanes;
    floatClass(Cost, T) += Name.contains(".ftz") ? 0 : Lanes;
  } else if (IsOneOf({"llvm.sqrt", "nvvm.sqrt", "nvvm.rcp", "nvvm.div"})) {
    addRefined(Cost, T, Lanes, Name.contains(".full"));
  } else if (IsOneOf({"llvm.fma", "llvm.fmuladd", ".fma.", ".add.r", ".mul.r",
                      "llvm.copysign"})) {
    floatClass(Cost, T) += Lanes;
  } else if (IsOneOf({"minnum", "maxnum", "minimum", "maximum", ".fmin",
                      ".fmax"})) {
    (T->isDoubleTy() ? Cost.Fp64 : Cost.Integer) += Lanes;
  } else if (IsOneOf({"llvm.floor", "llvm.ceil", "llvm.trunc", "llvm.rint",
                      "llvm.round", "llvm.nearbyint", "2i", "i2", "ui2",
                      "llvm.fpto", "llvm.nvvm.f2", "llvm.nvvm.d2"})) {
    Cost.Conversion += Lanes;
  } else if (Name.starts_with("llvm.")) {
    if (T->isFloatingPointTy())
      floatClass(Cost, T) += Lanes;
    else
      Cost.Integer += Lanes * wordsOf(T);
  } else {
    // A function of libdevice that stays a call here: about a dozen
    // operations, twice that for float64.
    ++Cost.Special;
    floatClass(Cost, T) += T->isDoubleTy() ? 24 : 12;
  }
}

/// A comparison by which subnormal numbers become zeros: an instruction with
/// .ftz does that by itself. Where nothing else compares with that number, it
/// is what LLVM left of one.
static bool isFlushTest(const Value *V) {
  CmpPredicate Predicate;
  const APFloat *Least;
  if (!match(V, m_FCmp(Predicate, m_Value(), m_APFloat(Least))))
    return false;
  return (Predicate == FCmpInst::FCMP_OLT || Predicate == FCmpInst::FCMP_OEQ) &&
         Least->isSmallestNormalized() && !Least->isNegative();
}

/// Whether \p I makes subnormal numbers zeros.
static bool flushes(const Instruction &I) {
  if (const auto *S = dyn_cast<SelectInst>(&I))
    return isFlushTest(S->getCondition());
  if (const auto *B = dyn_cast<BranchInst>(&I))
    return B->isConditional() && isFlushTest(B->getCondition());
  return isFlushTest(&I) || match(&I, m_CopySign(m_AnyZeroFP(), m_Value()));
}

DeviceCost deviceCost(const Instruction &I) {
  DeviceCost Cost;
  if (flushes(I))
    return Cost;
  Type *T = I.getType()->getScalarType();
  unsigned Lanes = 1;
  if (auto *V = dyn_cast<FixedVectorType>(I.getType()))
    Lanes = V->getNumElements();
  if (mergesIntoUser(I))
    return Cost;
  switch (I.getOpcode()) {
  case Instruction::FAdd:
  case Instruction::FSub:
  case Instruction::FMul:
    floatClass(Cost, T) += Lanes;
    break;
  case Instruction::FCmp: // As integers, but for float64.
    T = I.getOperand(0)->getType()->getScalarType();
    (T->isDoubleTy()  ? Cost.Fp64
     : T->isFloatTy() ? Cost.Integer
                      : Cost.Fp16) += Lanes;
    break;
  case Instruction::FDiv:
  case Instruction::FRem:
    addRefined(Cost, T, Lanes, I.hasApproxFunc());
    break;
  case Instruction::FPToSI:
  case Instruction::FPToUI:
  case Instruction::SIToFP:
  case Instruction::UIToFP:
  case Instruction::FPExt:
  case Instruction::FPTrunc:
    Cost.Conversion += Lanes;
    break;
  case Instruction::Load:
  case Instruction::Store:
  case Instruction::AtomicRMW:
  case Instruction::AtomicCmpXchg:
    ++Cost.Memory;
    break;
  case Instruction::Br:
    // What falls through costs nothing.
    Cost.Control += cast<BranchInst>(I).isConditional();
    break;
  case Instruction::Switch:
  case Instruction::Ret:
    ++Cost.Control;
    break;
  case Instruction::SDiv:
  case Instruction::UDiv:
  case Instruction::SRem:
  case Instruction::URem:
    addDivision(Cost, I, Lanes);
    break;
  case Instruction::GetElementPtr:
    Cost.Integer += !cast<GetElementPtrInst>(I).hasAllConstantIndices();
    break;
  case Instruction::PHI:
  case Instruction::FNeg:
  case Instruction::Freeze:
  case Instruction::BitCast:
  case Instruction::AddrSpaceCast:
  case Instruction::PtrToInt:
  case Instruction::IntToPtr:
  case Instruction::Alloca:
  case Instruction::ExtractElement:
  case Instruction::InsertElement:
  case Instruction::ExtractValue:
  case Instruction::InsertValue:
  case Instruction::SExt:
  case Instruction::ZExt:
  case Instruction::Trunc:
  case Instruction::Unreachable:
    break; // Registers only, or part of what uses them.
  case Instruction::Call:
    addCall(Cost, cast<CallBase>(I), Lanes);
    break;
  case Instruction::Mul:
    Cost.Integer += Lanes * (wordsOf(T) == 1 ? 1 : 3);
    break;
  case Instruction::ICmp:
    Cost.Integer += Lanes * wordsOf(I.getOperand(0)->getType());
    break;
  default:
    // Truth values live in predicates, which branches and selections combine.
    if (!T->isIntegerTy(1))
      Cost.Integer += Lanes * wordsOf(T);
  }
  return Cost;
}

bool followsItself(const Instruction &I) {
  SmallVector<const Value *, 16> Todo{getLoadStorePointerOperand(&I)};
  SmallPtrSet<const Value *, 16> Done;
  while (!Todo.empty()) {
    const auto *Each = dyn_cast<Instruction>(Todo.pop_back_val());
    if (Each == &I)
      return true;
    if (!Each || Each->mayReadOrWriteMemory() || !Done.insert(Each).second)
      continue;
    append_range(Todo, Each->operands());
  }
  return false;
}

} // namespace cupilot
