//===- LaneStride.cpp - How values follow from the thread -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaneStride.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Support/MathExtras.h"
#include <cstdlib>
#include <optional>

using namespace llvm;

namespace cupilot {

using Kind = Lane::Kind;

/// A stride that nobody knows, but that is no small one: rows of a matrix.
static constexpr int64_t Far = int64_t(1) << 20;

static Lane irregular() { return {Kind::Irregular, 0}; }

static Lane linear(int64_t Stride) {
  return Stride == 0 ? Lane{Kind::Block, 0} : Lane{Kind::Linear, Stride};
}

static Lane sum(Lane A, Lane B, int64_t Sign = 1) {
  if (A.K == Kind::Irregular || B.K == Kind::Irregular)
    return irregular();
  if (A.isUniform() && B.isUniform())
    return {std::max(A.K, B.K), 0};
  return linear(A.Stride + Sign * B.Stride);
}

static Lane product(Lane A, Lane B, const Value *Left, const Value *Right) {
  if (A.K == Kind::Irregular || B.K == Kind::Irregular)
    return irregular();
  if (A.isUniform() && B.isUniform())
    return {std::max(A.K, B.K), 0};
  if (!A.isUniform() && !B.isUniform())
    return irregular();
  const Value *Factor = A.isUniform() ? Left : Right;
  int64_t Stride = A.isUniform() ? B.Stride : A.Stride;
  if (const auto *C = dyn_cast<ConstantInt>(Factor);
      C && C->getValue().getSignificantBits() <= 32)
    return linear(Stride * C->getSExtValue());
  return linear(Far);
}

/// The same whichever way control came: only equal ones stay what they are.
static Lane join(Lane A, Lane B) {
  if (A == B)
    return A;
  if (A.isUniform() && B.isUniform())
    return {std::max(A.K, B.K), 0};
  // A bound that some threads are held at.
  if (A.isUniform() && B.K == Kind::Linear)
    return B;
  if (B.isUniform() && A.K == Kind::Linear)
    return A;
  return irregular();
}

Lane LaneStrides::ofAddress(const GEPOperator &Gep) {
  Lane Result = of(Gep.getPointerOperand());
  for (auto It = gep_type_begin(Gep), End = gep_type_end(Gep); It != End;
       ++It) {
    if (It.isStruct())
      continue;
    Lane Index = of(It.getOperand());
    if (Index.K == Kind::Linear)
      Index.Stride *=
          static_cast<int64_t>(It.getSequentialElementStride(Layout));
    Result = sum(Result, Index);
  }
  return Result;
}

Lane LaneStrides::ofCall(const Value *V) {
  const auto *Call = cast<CallBase>(V);
  switch (Call->getIntrinsicID()) {
  case Intrinsic::nvvm_read_ptx_sreg_tid_x:
  case Intrinsic::nvvm_read_ptx_sreg_laneid:
    return {Kind::Linear, 1};
  case Intrinsic::nvvm_read_ptx_sreg_tid_y:
  case Intrinsic::nvvm_read_ptx_sreg_tid_z:
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_x:
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_y:
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_z:
    return {Kind::Block, 0};
  case Intrinsic::smin:
  case Intrinsic::smax:
  case Intrinsic::umin:
  case Intrinsic::umax:
    return join(of(Call->getArgOperand(0)), of(Call->getArgOperand(1)));
  default:
    break;
  }
  Lane Result;
  for (const Value *Arg : Call->args())
    Result = join(Result, of(Arg));
  return Result.isUniform() ? Result : irregular();
}

Lane LaneStrides::compute(const Value *V) {
  if (const auto *Gep = dyn_cast<GEPOperator>(V))
    return ofAddress(*Gep);
  const auto *I = dyn_cast<Instruction>(V);
  if (!I)
    return {}; // Arguments, constants, variables.
  auto Left = [&] { return of(I->getOperand(0)); };
  auto Right = [&] { return of(I->getOperand(1)); };
  switch (I->getOpcode()) {
  case Instruction::Add:
    return sum(Left(), Right());
  case Instruction::Or: // As an addition where no bit is in both.
    if (cast<PossiblyDisjointInst>(I)->isDisjoint())
      return sum(Left(), Right());
    break;
  case Instruction::Sub:
    return sum(Left(), Right(), -1);
  case Instruction::Mul:
    return product(Left(), Right(), I->getOperand(0), I->getOperand(1));
  case Instruction::Shl:
    if (const auto *C = dyn_cast<ConstantInt>(I->getOperand(1))) {
      Lane A = Left();
      if (A.K == Kind::Linear && C->getZExtValue() < 32)
        A.Stride *= int64_t(1) << C->getZExtValue();
      return A;
    }
    break;
  case Instruction::SExt:
  case Instruction::ZExt:
  case Instruction::Trunc:
  case Instruction::BitCast:
  case Instruction::AddrSpaceCast:
  case Instruction::Freeze:
    return Left();
  case Instruction::UDiv:
  case Instruction::SDiv:
  case Instruction::LShr:
  case Instruction::AShr: {
    // The row of a thread: neighbours mostly share it, unless rows are short.
    Lane A = Left(), B = Right();
    if (A.K != Kind::Linear || !B.isUniform())
      break;
    const auto *C = dyn_cast<ConstantInt>(I->getOperand(1));
    bool Shift = I->getOpcode() == Instruction::LShr ||
                 I->getOpcode() == Instruction::AShr;
    uint64_t Short = Shift ? 5 : 32;
    if (C && C->getZExtValue() < Short)
      break;
    return {Kind::Block, 0};
  }
  case Instruction::URem:
  case Instruction::SRem: { // The column.
    Lane A = Left();
    if (A.K == Kind::Linear && Right().isUniform())
      return A;
    break;
  }
  case Instruction::And: { // As a remainder, with a mask of low bits.
    Lane A = Left();
    const auto *C = dyn_cast<ConstantInt>(I->getOperand(1));
    if (A.K == Kind::Linear && C && C->getValue().isMask() &&
        C->getValue().countr_one() >= 5)
      return A;
    break;
  }
  case Instruction::Select:
    return join(of(I->getOperand(1)), of(I->getOperand(2)));
  case Instruction::PHI: {
    // What comes from above first: a loop's own values are then seen with it.
    const auto *Phi = cast<PHINode>(I);
    std::optional<Lane> All;
    for (bool Back : {false, true}) {
      size_t Before = Order.size();
      Lane Assumed = All.value_or(Lane());
      for (unsigned In = 0; In < Phi->getNumIncomingValues(); ++In) {
        bool IsBack = Phi->getIncomingBlock(In)->getNumber() >=
                      Phi->getParent()->getNumber();
        if (IsBack != Back || Phi->getIncomingValue(In) == Phi)
          continue;
        Lane Each = of(Phi->getIncomingValue(In));
        All = All ? join(*All, Each) : Each;
        Known[Phi] = *All;
      }
      // What was found with another start is looked at anew.
      if (Back && All && *All != Assumed)
        while (Order.size() > Before)
          Known.erase(Order.pop_back_val());
    }
    Known[Phi] = All.value_or(Lane());
    return All.value_or(Lane());
  }
  case Instruction::Call:
    return ofCall(I);
  case Instruction::Load: {
    Lane Address = Left();
    return Address.isUniform() ? Address : irregular();
  }
  default:
    break;
  }
  Lane Result;
  for (const Value *Op : I->operands())
    Result = join(Result, of(Op));
  return Result.isUniform() ? Result : irregular();
}

Lane LaneStrides::of(const Value *V) {
  auto At = Known.find(V);
  if (At != Known.end())
    return At->second;
  // Every circle goes through a value that a loop carries: it begins with what
  // it starts with.
  if (isa<PHINode>(V))
    Known[V] = Lane();
  Lane Result = compute(V);
  Known[V] = Result;
  Order.push_back(V);
  return Result;
}

double warpBytes(Lane Address, uint64_t Size) {
  constexpr double Sector = 32, Lanes = 32;
  double Each = std::max(Sector, double(alignTo(Size, uint64_t(Sector))));
  switch (Address.K) {
  case Kind::Grid:
    return 0;
  case Kind::Block:
    return double(Size);
  case Kind::Linear: {
    auto Stride = static_cast<double>(std::abs(Address.Stride));
    return std::min(Lanes * Each, Lanes * std::max(Stride, double(Size)));
  }
  case Kind::Irregular:
    return Lanes * Each;
  }
  return 0;
}

} // namespace cupilot
