//===- SymbolicRanges.cpp - Between which expressions values lie -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SymbolicRanges.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PatternMatch.h"
#include <cmath>

using namespace llvm;
using namespace llvm::PatternMatch;

namespace cupilot {

using Maybe = std::optional<Polynomial>;

static Maybe plus(const Maybe &A, const Maybe &B, int64_t Times = 1) {
  return A && B ? A->plus(*B, Times) : std::nullopt;
}
static Maybe plus(const Maybe &A, int64_t B) {
  return plus(A, Polynomial::constant(B));
}
static Maybe times(const Maybe &A, const Maybe &B) {
  return A && B ? A->times(*B) : std::nullopt;
}
static Maybe divided(Expr::Kind How, const Maybe &A, const Maybe &B) {
  return A && B ? A->divided(How, *B) : std::nullopt;
}
/// Sizes count as not negative; what is subtracted from them may be.
static bool isNotNegative(const Maybe &A) {
  return A &&
         all_of(A->terms(), [](const auto &Term) { return Term.second >= 0; });
}
static SymbolicRange between(int64_t Low, int64_t High) {
  return {Polynomial::constant(Low), Polynomial::constant(High)};
}

const SymbolicRange &SymbolicRanges::of(const Value &V) {
  // A value that hangs on itself finds nothing here meanwhile.
  if (auto [At, New] = Known.try_emplace(&V); !New)
    return At->second;
  SymbolicRange R = compute(V);
  return Known[&V] = std::move(R);
}

SymbolicRange SymbolicRanges::leaf(const Leaf &L) {
  switch (L.K) {
  case Leaf::Kind::Scalar:
    return SymbolicRange::exactly(Polynomial::of(Expr::symbol(L.Index)));
  case Leaf::Kind::Dim:
    return SymbolicRange::exactly(Of.terms()[L.Index]);
  case Leaf::Kind::Index:
    return {Polynomial::constant(0), plus(Of.terms()[L.Index], -1)};
  case Leaf::Kind::Lane:
    return between(0, 31);
  default:
    return {};
  }
}

/// The one or the other: at most their sum, as long as none is negative.
SymbolicRange SymbolicRanges::merged(ArrayRef<const Value *> Values) {
  SmallVector<Polynomial> Highs, Lows;
  bool High = true, Low = true;
  for (const Value *V : Values) {
    SymbolicRange R = of(*V);
    High &= R.High.has_value();
    Low &= R.Low.has_value();
    if (R.High && !is_contained(Highs, *R.High))
      Highs.push_back(*R.High);
    if (R.Low && !is_contained(Lows, *R.Low))
      Lows.push_back(*R.Low);
  }
  SymbolicRange R;
  if (High) {
    int64_t Most = INT64_MIN;
    Maybe Sum;
    for (const Polynomial &P : Highs)
      if (std::optional<int64_t> C = P.asConstant())
        Most = std::max(Most, *C);
      else
        Sum = Sum ? plus(Sum, P) : P;
    if (!Sum && Most != INT64_MIN)
      Sum = Polynomial::constant(Most);
    else if (Most > 0)
      Sum = plus(Sum, Most);
    R.High = Sum;
  }
  if (Low) {
    bool Numbers = all_of(Lows, [](auto &P) { return P.asConstant(); });
    if (Numbers)
      R.Low = *llvm::min_element(Lows, [](auto &A, auto &B) {
        return *A.asConstant() < *B.asConstant();
      });
    else if (Lows.size() == 1)
      R.Low = Lows.front();
  }
  return R;
}

SymbolicRange SymbolicRanges::minimum(const Value &A, const Value &B,
                                      bool Most) {
  if (Most)
    return merged({&A, &B});
  SymbolicRange L = of(A), R = of(B);
  SymbolicRange Result;
  bool Right = !L.High || (R.High && R.High->asConstant());
  Result.High = Right ? R.High : L.High;
  if (L.Low && R.Low && L.Low->asConstant() && R.Low->asConstant())
    Result.Low = Polynomial::constant(
        std::min(*L.Low->asConstant(), *R.Low->asConstant()));
  return Result;
}

SymbolicRange SymbolicRanges::remainder(const SymbolicRange &A,
                                        const SymbolicRange &B) {
  if (A.isExact() && B.isExact())
    return SymbolicRange::exactly(divided(Expr::Kind::Mod, A.Low, B.Low));
  return {Polynomial::constant(0), plus(B.High, -1)};
}

SymbolicRange SymbolicRanges::quotient(const SymbolicRange &A,
                                       const SymbolicRange &B) {
  if (!B.isExact())
    return {};
  return {divided(Expr::Kind::FloorDiv, A.Low, B.Low),
          divided(Expr::Kind::FloorDiv, A.High, B.Low)};
}

SymbolicRange SymbolicRanges::binary(const BinaryOperator &I) {
  const Value &L = *I.getOperand(0), &R = *I.getOperand(1);
  SymbolicRange A = of(L), B = of(R);
  const auto *C = dyn_cast<ConstantInt>(&R);
  const APInt *Number = C && C->getBitWidth() <= 64 ? &C->getValue() : nullptr;
  auto PowerOf = [&](const APInt &Shift) -> SymbolicRange {
    return Shift.ult(62) ? SymbolicRange::exactly(Polynomial::constant(
                               int64_t(1) << Shift.getZExtValue()))
                         : SymbolicRange();
  };
  switch (I.getOpcode()) {
  case Instruction::Or:
    if (I.getType()->isIntegerTy(1))
      return between(0, 1);
    // Bits of both: no more than the sum, and no less than each.
    if (!isNotNegative(A.Low) || !isNotNegative(B.Low))
      return {};
    return {plus(A.Low, cast<PossiblyDisjointInst>(I).isDisjoint()
                            ? B.Low
                            : Polynomial::constant(0)),
            plus(A.High, B.High)};
  case Instruction::Add:
    return {plus(A.Low, B.Low), plus(A.High, B.High)};
  case Instruction::Xor:
    if (I.getType()->isIntegerTy(1))
      return between(0, 1);
    if (Number && Number->isAllOnes()) { // -1 less the number.
      const Maybe Last = Polynomial::constant(-1);
      return {plus(Last, A.High, -1), plus(Last, A.Low, -1)};
    }
    if (!isNotNegative(A.Low) || !isNotNegative(B.Low))
      return {};
    return {Polynomial::constant(0), plus(A.High, B.High)};
  case Instruction::Sub:
    return {plus(A.Low, B.High, -1), plus(A.High, B.Low, -1)};
  case Instruction::Mul:
    return {times(A.Low, B.Low), times(A.High, B.High)};
  case Instruction::Shl:
    if (!Number)
      return {};
    B = PowerOf(*Number);
    return {times(A.Low, B.Low), times(A.High, B.High)};
  case Instruction::UDiv:
  case Instruction::SDiv:
    return quotient(A, B);
  case Instruction::LShr:
  case Instruction::AShr:
    if (!isNotNegative(A.Low) &&
        (!Number || I.getOpcode() == Instruction::LShr))
      return {};
    if (!Number)
      return {Polynomial::constant(0), A.High};
    return quotient(A, PowerOf(*Number));
  case Instruction::URem:
  case Instruction::SRem:
    return remainder(A, B);
  case Instruction::And:
    if (I.getType()->isIntegerTy(1))
      return between(0, 1);
    if (!Number) { // No more than either that is not negative.
      const bool Left = A.High && isNotNegative(A.Low),
                 Right = B.High && isNotNegative(B.Low);
      return Left || Right ? SymbolicRange{Polynomial::constant(0),
                                           Left ? A.High : B.High}
                           : SymbolicRange();
    }
    if (Number->isMask())
      return remainder(A, PowerOf(APInt(64, Number->countr_one())));
    if (Number->isNegatedPowerOf2()) { // Rounds down.
      SymbolicRange By = PowerOf(APInt(64, Number->countr_zero()));
      SymbolicRange Q = quotient(A, By);
      return {times(Q.Low, By.Low), times(Q.High, By.High)};
    }
    if (Number->isNonNegative())
      return between(0, Number->getSExtValue());
    if (!isNotNegative(A.Low))
      return {};
    return {Polynomial::constant(0), A.High};
  default:
    return {};
  }
}

/// What a counter gains in a turn: \p Next less \p Phi.
static const BinaryOperator *stepOf(const PHINode &Phi, const Value *Next) {
  const auto *Op = dyn_cast<BinaryOperator>(Next);
  return Op && (Op->getOperand(0) == &Phi || Op->getOperand(1) == &Phi)
             ? Op
             : nullptr;
}

/// The comparison that \p V is, through the bytes that hold a bool; \p Negated
/// changes where it is the opposite.
static const ICmpInst *comparisonIn(const Value *V, bool &Negated) {
  while (true) {
    const Value *In = nullptr;
    CmpPredicate P = CmpInst::ICMP_EQ;
    if (match(V, m_Not(m_Value(In)))) {
      Negated = !Negated;
    } else if (match(V, m_ICmp(P, m_ZExt(m_Value(In)), m_Zero())) &&
               In->getType()->isIntegerTy(1) && ICmpInst::isEquality(P)) {
      Negated ^= P == CmpInst::ICMP_EQ;
    } else if (!match(V, m_Trunc(m_ZExt(m_Value(In)))) &&
               !match(V, m_Freeze(m_Value(In)))) {
      return dyn_cast<ICmpInst>(V);
    }
    V = In;
  }
}

namespace {
/// A branch on whose condition a loop goes on.
struct LoopTest {
  const BranchInst *Branch;
  bool StaysWhenTrue;
};
} // namespace

/// The branch that leads to \p BB by one of its sides alone.
static std::optional<std::pair<const BranchInst *, unsigned>>
branchTo(const BasicBlock *BB, const Loop &L) {
  while (const BasicBlock *From = BB->getSinglePredecessor()) {
    const auto *Br = dyn_cast<BranchInst>(From->getTerminator());
    if (!Br || !L.contains(From))
      return std::nullopt;
    if (Br->isConditional())
      return std::pair(Br, Br->getSuccessor(0) == BB ? 0 : 1);
    BB = From;
  }
  return std::nullopt;
}

/// The tests of \p L. A `break` from within blocks of the source sets a number
/// for which a switch behind them leaves the loop.
static SmallVector<LoopTest> testsOf(const Loop &L) {
  SmallVector<LoopTest> Tests;
  SmallVector<BasicBlock *> Exiting;
  L.getExitingBlocks(Exiting);
  for (const BasicBlock *BB : Exiting) {
    if (const auto *Br = dyn_cast<BranchInst>(BB->getTerminator());
        Br && Br->isConditional())
      Tests.push_back({Br, L.contains(Br->getSuccessor(0))});
    const auto *Switch = dyn_cast<SwitchInst>(BB->getTerminator());
    const auto *Ways =
        Switch ? dyn_cast<PHINode>(Switch->getCondition()) : nullptr;
    if (!Ways || Ways->getParent() != BB)
      continue;
    for (auto [Value, From] : zip(Ways->incoming_values(), Ways->blocks()))
      if (const auto *Number = dyn_cast<ConstantInt>(Value);
          Number &&
          !L.contains(Switch->findCaseValue(Number)->getCaseSuccessor()))
        if (auto Found = branchTo(From, L))
          Tests.push_back({Found->first, Found->second == 1});
  }
  return Tests;
}

std::optional<SymbolicRanges::Counter>
SymbolicRanges::counterOf(const PHINode &Phi) {
  const Loop *L = Of.loops().getLoopFor(Phi.getParent());
  if (!L || L->getHeader() != Phi.getParent() || !L->getLoopLatch() ||
      !Phi.getType()->isIntegerTy())
    return std::nullopt;
  const BinaryOperator *Step =
      stepOf(Phi, Phi.getIncomingValueForBlock(L->getLoopLatch()));
  if (!Step)
    return std::nullopt;
  Counter Result;
  const Value *By = Step->getOperand(Step->getOperand(0) == &Phi ? 1 : 0);
  const auto *Number = dyn_cast<ConstantInt>(By);
  if (Step->getOpcode() == Instruction::Add) {
    Result.By = By;
  } else if (Number && Step->getOperand(0) == &Phi) {
    if (Step->getOpcode() == Instruction::LShr ||
        Step->getOpcode() == Instruction::AShr)
      Result.Shift =
          static_cast<unsigned>(Number->getValue().getLimitedValue(63));
    else if (Step->isIntDivRem() && Number->getValue().isPowerOf2())
      Result.Shift = Number->getValue().logBase2();
  }
  if (Step->getOpcode() == Instruction::Add ||
      Step->getOpcode() == Instruction::Sub) {
    if (const auto *C = dyn_cast<ConstantInt>(By); C && C->getBitWidth() <= 64)
      Result.Step = Step->getOpcode() == Instruction::Add ? C->getSExtValue()
                                                          : -C->getSExtValue();
  } else if (Step->getOpcode() != Instruction::Mul &&
             Step->getOpcode() != Instruction::Shl) {
    Result.Step = -1; // Shifted or divided: it falls.
  }
  for (const LoopTest &T : testsOf(*L)) {
    bool Negated = false;
    const ICmpInst *Test = comparisonIn(T.Branch->getCondition(), Negated);
    if (!Test)
      continue;
    for (unsigned Side = 0; Side < 2; ++Side) {
      const Value *Counted = Test->getOperand(Side);
      int64_t More = 0;
      while (true) {
        if (isa<SExtInst, ZExtInst, FreezeInst>(Counted))
          Counted = cast<Instruction>(Counted)->getOperand(0);
        else if (const auto *Op = dyn_cast<BinaryOperator>(Counted);
                 Op &&
                 (Op->getOpcode() == Instruction::Add ||
                  Op->getOpcode() == Instruction::Sub) &&
                 isa<ConstantInt>(Op->getOperand(1)) &&
                 cast<ConstantInt>(Op->getOperand(1))->getBitWidth() < 64) {
          const int64_t By =
              cast<ConstantInt>(Op->getOperand(1))->getSExtValue();
          More += Op->getOpcode() == Instruction::Add ? By : -By;
          Counted = Op->getOperand(0);
        } else {
          break;
        }
      }
      if (Counted != &Phi)
        continue;
      CmpInst::Predicate P =
          Side ? Test->getSwappedPredicate() : Test->getPredicate();
      if (T.StaysWhenTrue == Negated)
        P = CmpInst::getInversePredicate(P);
      SymbolicRange Bound = of(*Test->getOperand(1 - Side));
      int64_t Shift = -More +
                      (P == CmpInst::ICMP_SLE || P == CmpInst::ICMP_ULE) -
                      (P == CmpInst::ICMP_SGE || P == CmpInst::ICMP_UGE);
      Bound.Low = plus(Bound.Low, Shift);
      Bound.High = plus(Bound.High, Shift);
      if (Result.Test && ICmpInst::isEquality(P))
        continue;
      Result.Bound = Bound;
      Result.Test = Test;
      if (ICmpInst::isRelational(P))
        return Result;
    }
  }
  return Result;
}

/// What \p Phi gains in a turn at most, when that is constants alone.
static std::optional<int64_t> gainOf(const PHINode &Phi, const Value *V,
                                     unsigned Depth = 0) {
  if (V == &Phi)
    return 0;
  if (Depth > 16)
    return std::nullopt;
  auto Most = [&](auto Values) {
    std::optional<int64_t> Result = 0;
    for (const Value *In : Values) {
      std::optional<int64_t> Gain = gainOf(Phi, In, Depth + 1);
      Result = Gain && Result ? std::optional(std::max(*Gain, *Result))
                              : std::nullopt;
    }
    return Result;
  };
  if (const auto *Merge = dyn_cast<PHINode>(V))
    return Most(Merge->incoming_values());
  if (const auto *Select = dyn_cast<SelectInst>(V))
    return Most(ArrayRef<const Value *>(
        {Select->getTrueValue(), Select->getFalseValue()}));
  if (isa<ZExtInst, SExtInst, TruncInst>(V))
    return gainOf(Phi, cast<Instruction>(V)->getOperand(0), Depth + 1);
  const auto *Op = dyn_cast<BinaryOperator>(V);
  if (!Op || Op->getOpcode() != Instruction::Add)
    return std::nullopt;
  std::optional<int64_t> Gain = gainOf(Phi, Op->getOperand(0), Depth + 1);
  const Value *More = Op->getOperand(1);
  if (const auto *C = dyn_cast<ConstantInt>(More);
      Gain && C && C->getBitWidth() <= 64 && !C->isNegative())
    return *Gain + C->getSExtValue();
  // A comparison as a number.
  if (const auto *Bit = dyn_cast<ZExtInst>(More);
      Gain && Bit && Bit->getSrcTy()->isIntegerTy(1))
    return *Gain + 1;
  return std::nullopt;
}

/// The turns of the loop that \p Header begins, at most.
Maybe SymbolicRanges::turnsOf(const BasicBlock &Header) {
  const Loop *L = Of.loops().getLoopFor(&Header);
  for (const PHINode &Phi : Header.phis()) {
    std::optional<Counter> C = counterOf(Phi);
    if (!C || !C->Bound || (C->Step && *C->Step <= 0))
      continue;
    SymbolicRange Begin = merged(beforeLoop(Phi, *L));
    if (Maybe Turns = plus(C->Bound->High, Begin.Low, -1))
      return Turns;
  }
  return std::nullopt;
}

SmallVector<const Value *> SymbolicRanges::beforeLoop(const PHINode &Phi,
                                                      const Loop &L) {
  SmallVector<const Value *> First;
  for (unsigned I = 0; I < Phi.getNumIncomingValues(); ++I)
    if (!L.contains(Phi.getIncomingBlock(I)))
      First.push_back(Phi.getIncomingValue(I));
  return First;
}

/// Whether only values within the bound of \p C, a counter of \p L, are seen:
/// in the body of a loop that asks before each turn.
bool SymbolicRanges::isSeenInside(const Loop &L, const Counter &C) const {
  return !Inside || (*Inside && L.contains(*Inside) && C.Test &&
                     C.Test->getParent() == L.getHeader());
}

/// All values of a counter that begins as \p Begin, with the one that ends the
/// loop.
SymbolicRange SymbolicRanges::widened(SymbolicRange Begin, const Counter &C) {
  if (C.Shift)
    return {Polynomial::constant(0), Begin.High};
  if (C.Step && *C.Step < 0)
    return {plus(C.Bound->Low, *C.Step + 1), Begin.High};
  Maybe Last = C.Step ? plus(C.Bound->High, *C.Step - 1)
               : C.By ? plus(plus(C.Bound->High, of(*C.By).High), -1)
                      : std::nullopt;
  // It may begin beyond its bound.
  if (std::optional<int64_t> First =
          Begin.High ? Begin.High->asConstant() : std::nullopt)
    return {Begin.Low, *First > 0 ? plus(Last, *First) : Last};
  return {Begin.Low, plus(Last, Begin.High)};
}

SymbolicRange SymbolicRanges::header(const PHINode &Phi) {
  const Loop *L = Of.loops().getLoopFor(Phi.getParent());
  std::optional<Counter> C = counterOf(Phi);
  SymbolicRange Begin = merged(beforeLoop(Phi, *L));
  if ((!C || (C->Step && *C->Step > 0 && !C->Bound)) && L->getLoopLatch()) {
    std::optional<int64_t> Gain =
        gainOf(Phi, Phi.getIncomingValueForBlock(L->getLoopLatch()));
    if (!Gain)
      return {};
    return {Begin.Low, plus(Begin.High, times(turnsOf(*Phi.getParent()),
                                              Polynomial::constant(*Gain)))};
  }
  if (!C)
    return {};
  if (C->Bound && !isSeenInside(*L, *C))
    return widened(std::move(Begin), *C);
  if (C->Step && *C->Step < 0)
    return {C->Bound ? C->Bound->Low : Polynomial::constant(0), Begin.High};
  if (!C->Bound)
    return {Begin.Low, std::nullopt};
  return {Begin.Low, plus(C->Bound->High, -1)};
}

SymbolicRange SymbolicRanges::compute(const Value &V) {
  if (const auto *C = dyn_cast<ConstantInt>(&V))
    return C->getBitWidth() <= 64
               ? SymbolicRange::exactly(Polynomial::constant(
                     C->getBitWidth() == 1 ? int64_t(C->isOne())
                                           : C->getSExtValue()))
               : SymbolicRange();
  if (std::optional<Leaf> L = leafOf(V, Of.kernel()))
    return leaf(*L);
  if (!V.getType()->isIntegerTy())
    return {};
  if (const auto *Phi = dyn_cast<PHINode>(&V)) {
    if (const Loop *L = Of.loops().getLoopFor(Phi->getParent());
        L && L->getHeader() == Phi->getParent())
      return header(*Phi);
    SmallVector<const Value *> Values;
    for (const Value *In : Phi->incoming_values())
      Values.push_back(In);
    return merged(Values);
  }
  if (const auto *Select = dyn_cast<SelectInst>(&V))
    return merged({Select->getTrueValue(), Select->getFalseValue()});
  if (isa<CmpInst>(V))
    return between(0, 1);
  if (const auto *Cut = dyn_cast<TruncInst>(&V);
      Cut && Cut->getType()->getIntegerBitWidth() < 32) {
    // Others may wrap; wider ones do when an extent is out of all bounds.
    SymbolicRange R = of(*Cut->getOperand(0));
    unsigned Bits = Cut->getType()->getIntegerBitWidth();
    if (Bits > 1 && R.High &&
        R.High->largest(Of.kernel().Scalars) < std::ldexp(1.0, int(Bits) - 1))
      return R;
    return Bits > 1 ? SymbolicRange() : between(0, 1);
  }
  if (isa<ZExtInst, SExtInst, TruncInst, FreezeInst>(V))
    return of(*cast<Instruction>(V).getOperand(0));
  if (const auto *I = dyn_cast<BinaryOperator>(&V))
    return binary(*I);
  if (const auto *MinMax = dyn_cast<MinMaxIntrinsic>(&V))
    return minimum(*MinMax->getLHS(), *MinMax->getRHS(),
                   MinMax->getIntrinsicID() == Intrinsic::smax ||
                       MinMax->getIntrinsicID() == Intrinsic::umax);
  return {};
}

} // namespace cupilot
