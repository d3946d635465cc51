//===- Narrowings.cpp - Integers that go through fewer bits -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FactCollector.h"
#include "FindDomain.h"
#include "cupilot/CpuDevice/InlinePtx.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include <cmath>

using namespace llvm;
using namespace llvm::PatternMatch;

namespace cupilot {

FactCollector::Values FactCollector::reaching() const {
  Values Found;
  SmallVector<const Value *> Work;
  DenseMap<const Value *, SmallVector<const Value *>> Stored;
  auto Add = [&](const Value *V) {
    if ((isa<Instruction>(V) || isa<Argument>(V)) && Found.insert(V).second)
      Work.push_back(V);
  };
  auto Private = [](const Value *Pointer) {
    MemoryObject::Kind K = objectOf(Pointer).K;
    return K == MemoryObject::Kind::Local || K == MemoryObject::Kind::Shared;
  };
  for (const Instruction &I : instructions(Of.function())) {
    const Value *Pointer = getLoadStorePointerOperand(&I);
    if (!Pointer && isa<AtomicRMWInst, AtomicCmpXchgInst>(I))
      Pointer = I.getOperand(0);
    if (Pointer && !Private(Pointer))
      Add(Pointer);
    if (const auto *Store = dyn_cast<StoreInst>(&I)) {
      if (Private(Pointer))
        Stored[objectOf(Pointer).Base].push_back(Store->getValueOperand());
      else if (Store->getValueOperand()->getType()->isIntegerTy())
        Add(Store->getValueOperand());
    }
    // What is added to memory is a result, too.
    if (Pointer && isa<AtomicRMWInst>(I) && I.getType()->isIntegerTy())
      Add(I.getOperand(1));
    if (const auto *Br = dyn_cast<BranchInst>(&I); Br && Br->isConditional())
      Add(Br->getCondition());
    if (const auto *Switch = dyn_cast<SwitchInst>(&I))
      Add(Switch->getCondition());
    if (const auto *Select = dyn_cast<SelectInst>(&I))
      Add(Select->getCondition());
    if (const auto *Call = dyn_cast<CallBase>(&I); Call && isDeviceOp(*Call))
      for (const Value *V : Call->args())
        if (const Value *Pointer = addressIn(*V); Pointer && !Private(Pointer))
          Add(Pointer);
  }
  while (!Work.empty()) {
    const auto *I = dyn_cast<Instruction>(Work.pop_back_val());
    if (!I)
      continue;
    if (const auto *Load = dyn_cast<LoadInst>(I)) {
      if (Private(Load->getPointerOperand()))
        for (const Value *V : Stored[objectOf(Load->getPointerOperand()).Base])
          Add(V);
      continue;
    }
    if (isa<AtomicRMWInst, AtomicCmpXchgInst>(I))
      continue;
    for (const Value *V : I->operands())
      Add(V);
  }
  return Found;
}

/// Arithmetic whose low bits are right however many the high ones would be.
static bool isRing(const Value *V) {
  const auto *Op = dyn_cast<BinaryOperator>(V);
  if (!Op || !Op->getType()->isIntegerTy() || Op->getType()->isIntegerTy(1))
    return false;
  switch (Op->getOpcode()) {
  case Instruction::Add:
  case Instruction::Sub:
  case Instruction::Mul:
  case Instruction::Shl:
    return true;
  default:
    return false;
  }
}

/// Whether \p U needs all bits of \p V to be right, and how it reads them: as a
/// signed number, or not. Nothing for what only hands them on.
static std::optional<bool> readsSigned(const Instruction &U, const Value *V) {
  if (const auto *Op = dyn_cast<BinaryOperator>(&U)) {
    switch (Op->getOpcode()) {
    case Instruction::AShr:
    case Instruction::SDiv:
    case Instruction::SRem:
      return true;
    case Instruction::LShr:
    case Instruction::UDiv:
    case Instruction::URem:
      // A shift amount is no number.
      return Op->getOperand(0) == V ? std::optional(false) : std::nullopt;
    default:
      return std::nullopt;
    }
  }
  if (isa<SExtInst, SIToFPInst, GetElementPtrInst>(U))
    return true;
  if (isa<ZExtInst, UIToFPInst, IntToPtrInst>(U))
    return false;
  if (const auto *Cmp = dyn_cast<ICmpInst>(&U))
    return ICmpInst::isEquality(Cmp->getPredicate())
               ? std::nullopt
               : std::optional(Cmp->isSigned());
  if (const auto *MinMax = dyn_cast<MinMaxIntrinsic>(&U))
    return MinMax->isSigned();
  return std::nullopt;
}

/// How \p I is read, perhaps through phis and selects, by one of \p Among;
/// nothing when it is not.
static std::optional<bool> readSigned(const Instruction &I,
                                      const DenseSet<const Value *> &Among) {
  SmallVector<const Value *> Work = {&I};
  SmallPtrSet<const Value *, 16> Seen;
  while (!Work.empty()) {
    const Value *V = Work.pop_back_val();
    if (!Seen.insert(V).second)
      continue;
    for (const User *U : V->users()) {
      const auto *Reader = cast<Instruction>(U);
      if (!Among.contains(Reader))
        continue;
      if (std::optional<bool> Signed = readsSigned(*Reader, V))
        return Signed;
      if (isa<PHINode, SelectInst>(Reader))
        Work.push_back(Reader);
    }
  }
  return std::nullopt;
}

/// Whether a factor of \p V is an integer from memory.
static bool scalesMemory(const Value *V, const Dependence &Of,
                         unsigned Depth = 0) {
  if (!isRing(V) || Depth > 8)
    return false;
  const auto *Op = cast<BinaryOperator>(V);
  if (Op->getOpcode() == Instruction::Mul ||
      Op->getOpcode() == Instruction::Shl)
    return Of.data(*V).ints();
  return scalesMemory(Op->getOperand(0), Of, Depth + 1) ||
         scalesMemory(Op->getOperand(1), Of, Depth + 1);
}

/// The largest integer up to which all are numbers of the type.
static double capacity(const NarrowingFact &N) {
  return std::ldexp(1.0, static_cast<int>(N.Bits) - (!N.IsFloat && N.Signed)) -
         !N.IsFloat;
}

void FactCollector::addNarrowing(const Value &From, NarrowingFact N,
                                 const Instruction &At) {
  N.FromMemory = Of.data(From).ints();
  if (!N.FromMemory && !N.Most)
    if (const SymbolicRange &R = Ranges.of(From); R.High) {
      if (R.High->largest(Of.kernel().Scalars) <= capacity(N))
        return;
      N.Most = R.High->expr();
    }
  N.Location = sourceOf(At);
  for (const NarrowingFact &Old : Found.Narrowings)
    if (Old.Most == N.Most && Old.Bits == N.Bits && Old.Signed == N.Signed &&
        Old.IsFloat == N.IsFloat && Old.FromMemory == N.FromMemory &&
        (N.Most || Old.Location == N.Location))
      return;
  Found.Narrowings.push_back(std::move(N));
}

static std::string textOf(const CastInst &I) {
  std::string Text;
  raw_string_ostream OS(Text);
  OS << I.getOpcodeName() << ' ' << *I.getSrcTy() << " to " << *I.getDestTy();
  return Text;
}

/// A float that turns of a loop are counted in, and that becomes an integer.
void FactCollector::countedInFloat(const CastInst &I) {
  if (Of.data(*I.getOperand(0)).floats())
    return; // Numbers that are rounded.
  SmallVector<const Value *> Work = {I.getOperand(0)};
  SmallPtrSet<const Value *, 16> Seen;
  while (!Work.empty()) {
    const auto *V = dyn_cast<Instruction>(Work.pop_back_val());
    if (!V || !V->getType()->isFloatingPointTy() || !Seen.insert(V).second)
      continue;
    const auto *Phi = dyn_cast<PHINode>(V);
    const Loop *L = Phi ? Of.loops().getLoopFor(Phi->getParent()) : nullptr;
    if (!L || L->getHeader() != Phi->getParent()) {
      for (const Value *Operand : V->operands())
        Work.push_back(Operand);
      continue;
    }
    NarrowingFact N;
    N.Bits = significandOf(V->getType());
    N.IsFloat = true;
    N.What = "counter in " +
             std::string(V->getType()->isDoubleTy() ? "double" : "float");
    for (const PHINode &Other : Phi->getParent()->phis())
      if (std::optional<SymbolicRanges::Counter> C = Ranges.counterOf(Other);
          C && C->Bound && C->Bound->High && !N.Most)
        N.Most = C->Bound->High->expr();
    addNarrowing(*V, std::move(N), I);
    return;
  }
}

/// What is added in \p Sum beside integers from memory, whose bounds are
/// LoadedBound's matter, and cannot be larger than the sum may be.
void FactCollector::addKnownTerms(const Instruction &Sum,
                                  const NarrowingFact &N) {
  for (const Value *Term : Sum.operands()) {
    if (!isRing(Term))
      continue;
    if (Of.data(*Term).ints())
      addKnownTerms(*cast<Instruction>(Term), N);
    else if (Ranges.of(*Term).High)
      addNarrowing(*Term, N, Sum);
  }
}

void FactCollector::findNarrowings() {
  Values Reaching = reaching();
  for (const Instruction &I : instructions(Of.function())) {
    if (!Reaching.contains(&I))
      continue;
    NarrowingFact N;
    if (const auto *Cut = dyn_cast<TruncInst>(&I)) {
      if (!losesBits(*Cut))
        continue;
      N.Bits = I.getType()->getScalarSizeInBits();
      for (const User *U : I.users())
        if (std::optional<bool> Signed = readsSigned(*cast<Instruction>(U), &I))
          N.Signed = *Signed;
      N.What = textOf(*Cut);
      addNarrowing(*Cut->getOperand(0), std::move(N), I);
    } else if (isa<SIToFPInst, UIToFPInst>(I)) {
      unsigned Bits = I.getOperand(0)->getType()->getScalarSizeInBits();
      N.Bits = significandOf(I.getType());
      N.IsFloat = true;
      N.What = textOf(cast<CastInst>(I));
      if (Bits - isa<SIToFPInst>(I) > N.Bits)
        addNarrowing(*I.getOperand(0), std::move(N), I);
    } else if (isa<FPToSIInst, FPToUIInst>(I)) {
      countedInFloat(cast<CastInst>(I));
    } else if (isRing(&I) && I.getType()->getIntegerBitWidth() < 64) {
      // Too wide a product shows where its bits are read, not before.
      std::optional<bool> Signed = readSigned(I, Reaching);
      if (!Signed)
        continue;
      N.Bits = I.getType()->getIntegerBitWidth();
      N.Signed = *Signed;
      N.What = ("i" + Twine(N.Bits) + " arithmetic").str();
      // Sums of what is not known say nothing in the width of an index.
      if (Of.data(I).ints() ? scalesMemory(&I, Of)
                            : Ranges.of(I).High || N.Bits < 32)
        addNarrowing(I, std::move(N), I);
      else if (Of.data(I).ints() && N.Bits >= 32)
        addKnownTerms(I, N);
    }
  }
}

/// Whether the numbers of \p Small are among those of \p Large: each product is
/// there, as often.
static bool isWithin(const Expr &Small, const Expr &Large) {
  std::optional<Polynomial> S = Polynomial::of(Small),
                            L = Polynomial::of(Large);
  if (!S || !L)
    return false;
  for (const auto &[Factors, Times] : S->terms()) {
    if (Factors.empty() || Times <= 0)
      continue;
    auto At = L->terms().find(Factors);
    if (At == L->terms().end() || At->second < Times)
      return false;
  }
  return true;
}

std::vector<NarrowingFact> narrowerThan(const CodeFacts &Original,
                                        const CodeFacts &Variant) {
  std::vector<NarrowingFact> Missing;
  for (const NarrowingFact &N : Variant.Narrowings) {
    bool There = any_of(Original.Narrowings, [&](const NarrowingFact &O) {
      if (capacity(O) > capacity(N))
        return false;
      if (N.FromMemory || !N.Most)
        return O.FromMemory == N.FromMemory && (N.FromMemory || !O.Most);
      return O.Most && isWithin(*N.Most, *O.Most);
    });
    if (!There)
      Missing.push_back(N);
  }
  return Missing;
}

std::optional<RangeClause> fits(const NarrowingFact &N) {
  if (!N.Most)
    return std::nullopt;
  int64_t Most = static_cast<int64_t>(capacity(N));
  // Of an argument itself, its least value is known, too.
  int64_t Least = N.Most->K != Expr::Kind::Symbol ? INT64_MIN
                  : N.IsFloat                     ? -Most
                  : N.Signed                      ? -Most - 1
                                                  : INT64_MIN;
  return RangeClause{*N.Most, {{Least, Most}}};
}

std::vector<RangeClause> narrowedRanges(const GateVerdict &V) {
  std::vector<RangeClause> Ranges;
  if (V.Basis)
    for (const NarrowingFact &N : V.Basis->Narrowings)
      if (std::optional<RangeClause> C = fits(N);
          C && !is_contained(Ranges, *C))
        Ranges.push_back(std::move(*C));
  return Ranges;
}

std::vector<RangeClause> comparedConstants(const GateVerdict &V) {
  std::vector<RangeClause> Constants;
  if (V.Basis)
    for (const ThresholdFact &T : V.Basis->Frame.Facts.Thresholds)
      if (RangeClause C{T.E, {{T.Value, T.Value}}}; !is_contained(Constants, C))
        Constants.push_back(std::move(C));
  return Constants;
}

} // namespace cupilot
