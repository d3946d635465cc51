//===- FactCollector.cpp - Reads facts from the code of a kernel -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FactCollector.h"
#include "cupilot/CpuDevice/InlinePtx.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/NVPTXAddrSpace.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace cupilot {

/// Larger divisors are no tile, but parts of numbers.
static constexpr int64_t LargestModulus = 65536;
static constexpr size_t MostProducts = 64;

FactCollector::FactCollector(const Dependence &Of, CodeFacts &Found)
    : Of(Of), Ranges(Of), Found(Found) {
  Found.Scalars.resize(Of.kernel().Scalars.size());
  Found.Pointers.resize(Of.kernel().Pointers.size());
}

ValueUse &FactCollector::floatUse(const FloatRef &Number) {
  for (auto &[Known, Use] : Found.Floats)
    if (Known == Number)
      return Use;
  return Found.Floats.emplace_back(Number, ValueUse()).second;
}

void FactCollector::mark(const Sources &S, bool ValueUse::*How) {
  for (unsigned D = 0; D < NumLaunchDims; ++D)
    if (S.dim(D))
      Found.Dims[D].*How = true;
  for (unsigned I = 0; I < Found.Scalars.size(); ++I)
    if (S.has(Of.scalarBit(I)))
      Found.Scalars[I].*How = true;
  for (unsigned I = 0; I < Found.Pointers.size(); ++I)
    if (S.has(Of.pointerBit(I)))
      Found.Pointers[I].*How = true;
  for (unsigned I = 0; I < Of.floats().size(); ++I)
    if (S.has(Of.floatBit(I)))
      floatUse(Of.floats()[I]).*How = true;
}

std::optional<Polynomial> extentOf(const SymbolicRange &R) {
  if (!R.High)
    return std::nullopt;
  return R.isExact() ? R.High : R.High->plus(Polynomial::constant(1));
}

void noteModulus(CodeFacts &Found, const std::optional<Polynomial> &Extent,
                 int64_t Modulus, std::string Where) {
  if (!Extent || Extent->asConstant() || Modulus < 2 ||
      Modulus > LargestModulus)
    return;
  std::optional<Polynomial> Sizes =
      Extent->plus(Polynomial::constant(Extent->constantPart()), -1);
  if (!Sizes)
    return;
  Expr E = Sizes->expr();
  if (none_of(Found.Moduli, [&](const ModulusFact &M) {
        return M.E == E && M.Modulus == Modulus;
      }))
    Found.Moduli.push_back({std::move(E), Modulus, std::move(Where)});
}

void FactCollector::addModulus(const std::optional<Polynomial> &Extent,
                               int64_t Modulus, const Instruction &At) {
  noteModulus(Found, Extent, Modulus, sourceOf(At));
}

void FactCollector::addThreshold(const std::optional<Polynomial> &E,
                                 int64_t Value, const Instruction &At) {
  if (!E || E->asConstant())
    return;
  // The constant stands on one side alone.
  std::optional<Polynomial> Rest =
      E->plus(Polynomial::constant(E->constantPart()), -1);
  int64_t Moved = 0;
  if (!Rest || SubOverflow(Value, E->constantPart(), Moved))
    return;
  Expr Left = Rest->expr();
  for (const ThresholdFact &T : Found.Thresholds)
    if (T.E == Left && T.Value == Moved)
      return;
  Found.Thresholds.push_back({std::move(Left), Moved, sourceOf(At)});
}

void FactCollector::addProducts(const SymbolicRange &R) {
  if (!R.High)
    return;
  for (const auto &Term : R.High->terms()) {
    if (Term.first.size() < 2 || Found.Products.size() >= MostProducts)
      continue;
    Expr Product = Term.first.front();
    for (size_t I = 1; I < Term.first.size(); ++I)
      Product =
          Expr::binary(Expr::Kind::Mul, std::move(Product), Term.first[I]);
    if (!is_contained(Found.Products, Product))
      Found.Products.push_back(std::move(Product));
  }
}

/// What a pointer is compared for, or two integers.
void FactCollector::compare(const Value &L, const Value &R,
                            const Instruction &At) {
  mark(Of.data(L), &ValueUse::Decides);
  mark(Of.data(R), &ValueUse::Decides);
  if (!L.getType()->isIntegerTy())
    return;
  SymbolicRange A = Ranges.of(L), B = Ranges.of(R);
  if (A.isExact() && A.High->asConstant())
    std::swap(A, B);
  std::optional<int64_t> Number =
      B.isExact() ? B.High->asConstant() : std::nullopt;
  if (Number)
    addThreshold(extentOf(A), *Number, At);
  else if (A.isExact() && B.isExact())
    addThreshold(A.High->plus(*B.High, -1), 0, At);
  // Threads of all blocks, with the block's size written as a number, against
  // an extent.
  for (auto [Index, Extent] : {std::pair(&A, &B), std::pair(&B, &A)}) {
    if (!Index->High || Index->isExact() || !Extent->isExact())
      continue;
    for (const auto &[Factors, Times] : Index->High->terms())
      if (Factors.size() == 1 && Times > 1 &&
          Factors.front().K == Expr::Kind::Dim)
        addModulus(Extent->High, Times, At);
  }
}

/// The number that \p V is, but for its sign and format.
static const Value *numberOf(const Value *V, bool &Negated, bool &Any) {
  while (true) {
    if (const auto *Un = dyn_cast<UnaryOperator>(V);
        Un && Un->getOpcode() == Instruction::FNeg) {
      Negated = !Negated;
      V = Un->getOperand(0);
    } else if (isa<FPExtInst, FPTruncInst, FreezeInst>(V)) {
      V = cast<Instruction>(V)->getOperand(0);
    } else if (mathCallOf(*V) == MathCall::Abs) {
      Any = true;
      V = cast<CallBase>(V)->getArgOperand(0);
    } else {
      return V;
    }
  }
}

void FactCollector::compareFloats(const Value &L, const Value &R,
                                  const Instruction &At) {
  // Numbers in memory are data; but what decides with them does decide.
  mark(Of.data(L), &ValueUse::Decides);
  mark(Of.data(R), &ValueUse::Decides);
  const Value *Number = &L;
  const auto *C = dyn_cast<ConstantFP>(&R);
  if (!C) {
    C = dyn_cast<ConstantFP>(&L);
    Number = &R;
  }
  bool Negated = false, Any = false;
  std::optional<Leaf> Known =
      leafOf(*numberOf(Number, Negated, Any), Of.kernel());
  if (!C || !Known || Known->K != Leaf::Kind::Float)
    return;
  APFloat Exact = C->getValueAPF();
  bool Lost = false;
  Exact.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &Lost);
  double Value = Exact.convertToDouble();
  auto Add = [&](double At2) {
    for (const FloatThresholdFact &F : Found.FloatThresholds)
      if (F.Number == Known->Number && F.Value == At2)
        return;
    Found.FloatThresholds.push_back({Known->Number, At2, sourceOf(At)});
  };
  Add(Negated ? -Value : Value);
  if (Any && Value != 0)
    Add(Negated ? Value : -Value);
}

void FactCollector::compareAny(const Value &L, const Value &R,
                               const Instruction &At) {
  if (L.getType()->isFPOrFPVectorTy())
    compareFloats(L, R, At);
  else
    compare(L, R, At);
}

void FactCollector::divide(const BinaryOperator &I) {
  const auto *C = dyn_cast<ConstantInt>(I.getOperand(1));
  if (!C || C->getBitWidth() > 64 || I.getType()->isIntegerTy(1))
    return;
  const APInt &N = C->getValue();
  int64_t Modulus = 0;
  switch (I.getOpcode()) {
  case Instruction::URem:
  case Instruction::SRem:
  case Instruction::UDiv:
  case Instruction::SDiv:
    Modulus = N.abs().getActiveBits() < 63
                  ? static_cast<int64_t>(N.abs().getZExtValue())
                  : 0;
    break;
  case Instruction::LShr:
  case Instruction::AShr:
    if (N.ult(32))
      Modulus = int64_t(1) << N.getZExtValue();
    break;
  case Instruction::And:
    if (N.isMask() && N.countr_one() < 32)
      Modulus = int64_t(1) << N.countr_one();
    else if (N.isNegatedPowerOf2() && N.countr_zero() < 32)
      Modulus = int64_t(1) << N.countr_zero();
    else if (N.isPowerOf2() && N.countr_zero() < 31) // One bit.
      Modulus = int64_t(2) << N.countr_zero();
    break;
  default:
    return;
  }
  addModulus(extentOf(Ranges.of(*I.getOperand(0))), Modulus, I);
}

/// Whether all bits of \p Of live on beside \p Part, as those of a 64-bit seed
/// in two halves.
static bool otherHalfLives(const TruncInst &Part) {
  const Value *Of = Part.getOperand(0);
  unsigned Left = Part.getType()->getIntegerBitWidth();
  for (const User *U : Of->users()) {
    const APInt *Shift = nullptr;
    if (match(U, m_Shr(m_Specific(Of), m_APInt(Shift))) && Shift->ule(Left))
      return true;
  }
  return false;
}

bool losesBits(const TruncInst &I) {
  unsigned Left = I.getType()->getIntegerBitWidth();
  if (Left == 1)
    return false; // A boolean.
  const Value *From = I.getOperand(0);
  unsigned Width = From->getType()->getIntegerBitWidth();
  const APInt *Number = nullptr;
  if (match(From, m_Shr(m_Value(), m_APInt(Number))) &&
      Number->uge(Width - Left))
    return false; // The upper half.
  if (match(From, m_And(m_Value(), m_APInt(Number))) &&
      Number->getActiveBits() <= Left)
    return false;
  if (const auto *Ext = dyn_cast<CastInst>(From);
      Ext && isa<ZExtInst, SExtInst>(Ext) &&
      Ext->getSrcTy()->getScalarSizeInBits() <= Left)
    return false;
  return !otherHalfLives(I);
}

unsigned significandOf(const Type *T) {
  return APFloat::semanticsPrecision(T->getScalarType()->getFltSemantics());
}

void FactCollector::visitUses(const Instruction &I) {
  auto Address = [&](const Value *Pointer) {
    mark(Of.data(*Pointer), &ValueUse::Addresses);
  };
  if (const Value *Pointer = getLoadStorePointerOperand(&I))
    Address(Pointer);
  else if (isa<AtomicRMWInst, AtomicCmpXchgInst>(I))
    Address(I.getOperand(0));
  if (const auto *Call = dyn_cast<CallBase>(&I);
      Call && !isa<DbgInfoIntrinsic>(I) && !I.isLifetimeStartOrEnd()) {
    // Lanes, masks, operands of instructions that are not looked into.
    bool Decides = Call->isConvergent();
    for (const Value *V : Call->args())
      if (const Value *Pointer = addressIn(*V))
        Address(Pointer);
      else if (Decides && V->getType()->isIntegerTy())
        mark(Of.data(*V), &ValueUse::Decides);
  }
  if (isa<IntToPtrInst>(I))
    mark(Of.data(*I.getOperand(0)), &ValueUse::Addresses);
  if (const auto *Switch = dyn_cast<SwitchInst>(&I)) {
    mark(Of.data(*Switch->getCondition()), &ValueUse::Decides);
    for (const auto &Case : Switch->cases())
      if (Case.getCaseValue()->getBitWidth() <= 64)
        addThreshold(extentOf(Ranges.of(*Switch->getCondition())),
                     Case.getCaseValue()->getSExtValue(), I);
  }
  if (const auto *Br = dyn_cast<BranchInst>(&I); Br && Br->isConditional())
    mark(Of.data(*Br->getCondition()), &ValueUse::Decides);
  if (const auto *Select = dyn_cast<SelectInst>(&I))
    mark(Of.data(*Select->getCondition()), &ValueUse::Decides);
  if (const auto *Cut = dyn_cast<TruncInst>(&I)) {
    if (Cut->getType()->isIntegerTy(1))
      mark(Of.data(*Cut->getOperand(0)), &ValueUse::Decides);
    else if (losesBits(*Cut))
      mark(Of.data(*Cut->getOperand(0)), &ValueUse::Narrowed);
  } else if (isa<FPTruncInst>(I)) {
    mark(Of.data(*I.getOperand(0)), &ValueUse::Narrowed);
  } else if (isa<SIToFPInst, UIToFPInst>(I)) {
    unsigned Bits = I.getOperand(0)->getType()->getScalarSizeInBits();
    if (Bits - isa<SIToFPInst>(I) > significandOf(I.getType()))
      mark(Of.data(*I.getOperand(0)), &ValueUse::Narrowed);
  }
}

void FactCollector::visitLoop(const PHINode &Phi) {
  std::optional<SymbolicRanges::Counter> C = Ranges.counterOf(Phi);
  if (!C || !C->Step || !C->Bound || *C->Step == INT64_MIN)
    return;
  if (*C->Step > 0)
    addModulus(extentOf(*C->Bound), *C->Step, *C->Test);
  else
    for (const Value *In : Phi.incoming_values())
      if (const SymbolicRange &R = Ranges.of(*In); R.isExact())
        addModulus(R.High, -*C->Step, *C->Test);
}

void FactCollector::run() {
  for (const Argument &A : Of.function().args())
    if (leafOf(A, Of.kernel()) && !A.use_empty())
      mark(Of.data(A), &ValueUse::Used);
  for (const Instruction &I : instructions(Of.function())) {
    if (leafOf(I, Of.kernel()) && !I.use_empty())
      mark(Of.data(I), &ValueUse::Used);
    visitUses(I);
    for (const Value *V : I.operands())
      if (const auto *G = dyn_cast<GlobalVariable>(V->stripPointerCasts());
          G && G->getAddressSpace() == NVPTXAS::ADDRESS_SPACE_SHARED &&
          G->isDeclaration() && Of.terms()[SharedBytes])
        Found.Dims[SharedBytes].Used = Found.Dims[SharedBytes].Addresses = true;
    // Its numbers would be an instruction's, not the code's.
    if (isImplied(I))
      continue;
    if (isa<CmpInst>(I))
      compareAny(*I.getOperand(0), *I.getOperand(1), I);
    else if (MathCall Math = mathCallOf(I);
             Math == MathCall::Min || Math == MathCall::Max)
      compareAny(*I.getOperand(0), *I.getOperand(1), I);
    else if (const auto *Op = dyn_cast<BinaryOperator>(&I)) {
      divide(*Op);
      if (I.getType()->isIntegerTy())
        addProducts(Ranges.of(I));
    } else if (const auto *Phi = dyn_cast<PHINode>(&I)) {
      visitLoop(*Phi);
    }
  }
  findNarrowings();
}

} // namespace cupilot
