//===- SideConditions.cpp - What must hold for a side -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DecisionReader.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace cupilot {

/// Longer rings count their turns beyond what is told apart.
static constexpr int64_t LongestRing = (MostTurns - 2) / 2;

std::string textOf(const Expr &E, const Kernel &K) {
  if (E.K == Expr::Kind::Symbol &&
      static_cast<size_t>(E.Value) < K.Scalars.size()) {
    const ScalarRef &S = K.Scalars[E.Value];
    std::string Name = S.Param < K.Params.size() ? K.Params[S.Param].Name : "";
    if (Name.empty())
      return E.str();
    bool Field = S.Offset || K.Params[S.Param].Size * 8 > S.Bits;
    return Name + (Field ? "." + utostr(S.Offset) : "");
  }
  if (E.Operands.size() != 2)
    return E.str();
  auto Side = [&](const Expr &Of) {
    std::string Text = textOf(Of, K);
    return Of.Operands.empty() ? Text : "(" + Text + ")";
  };
  const Expr &L = E.Operands[0], &R = E.Operands[1];
  if (E.K == Expr::Kind::Add && R.K == Expr::Kind::Constant && R.Value < 0 &&
      R.Value != INT64_MIN)
    return textOf(L, K) + " - " + itostr(-R.Value);
  if (E.K == Expr::Kind::Add && L.K != Expr::Kind::Mod)
    return textOf(L, K) + " + " + Side(R);
  const char *Operator = E.K == Expr::Kind::Add        ? " + "
                         : E.K == Expr::Kind::Mul      ? " * "
                         : E.K == Expr::Kind::Mod      ? " mod "
                         : E.K == Expr::Kind::FloorDiv ? " floordiv "
                                                       : " ceildiv ";
  return Side(L) + Operator + Side(R);
}

std::string DecisionReader::text(const SymbolicRange &R, const Value &V) const {
  if (R.isExact())
    return textOf(R.High->expr(), Of.kernel());
  // The optimiser's own names begin with a point.
  if (const auto *Phi = dyn_cast<PHINode>(&V); Phi && !Phi->getName().empty())
    return Phi->getName().starts_with(".") ? "a counter" : Phi->getName().str();
  return "";
}

/// The pointers whose low bits \p V is, and below which power of two.
static bool lowBits(const Value *V, const Kernel &K,
                    SideCondition::AlignmentTest &Test) {
  const APInt *Mask = nullptr;
  const Value *Of = nullptr;
  if (!match(V, m_And(m_Value(Of), m_APInt(Mask))) &&
      !(match(V, m_URem(m_Value(Of), m_APInt(Mask)))))
    return false;
  bool Rest = cast<Instruction>(V)->getOpcode() == Instruction::URem;
  if (Rest ? !Mask->isPowerOf2() : !Mask->isMask())
    return false;
  Test.Bytes = Mask->getLimitedValue(1 << 20) + !Rest;
  SmallVector<const Value *> Work = {Of};
  while (!Work.empty()) {
    const Value *Part = Work.pop_back_val();
    const Value *L = nullptr, *R = nullptr;
    if (match(Part, m_Or(m_Value(L), m_Value(R)))) {
      Work.append({L, R});
      continue;
    }
    if (isa<TruncInst>(Part) || isa<PtrToIntInst>(Part)) {
      Work.push_back(cast<Instruction>(Part)->getOperand(0));
      continue;
    }
    std::optional<Leaf> Known = leafOf(*Part->stripPointerCasts(), K);
    if (!Known || Known->K != Leaf::Kind::Pointer)
      return false;
    Test.Pointers.push_back(K.Pointers[Known->Index]);
  }
  return true;
}

static std::string nameOf(const PointerRef &P, const Kernel &K) {
  std::string Name = P.Param < K.Params.size() ? K.Params[P.Param].Name : "";
  return Name.empty() ? "a pointer"
                      : Name + (P.Offset ? "." + utostr(P.Offset) : "");
}

static const char *signOf(CmpInst::Predicate P) {
  switch (P) {
  case CmpInst::ICMP_EQ:
    return " == ";
  case CmpInst::ICMP_NE:
    return " != ";
  case CmpInst::ICMP_SLT:
  case CmpInst::ICMP_ULT:
    return " < ";
  case CmpInst::ICMP_SLE:
  case CmpInst::ICMP_ULE:
    return " <= ";
  case CmpInst::ICMP_SGT:
  case CmpInst::ICMP_UGT:
    return " > ";
  default:
    return " >= ";
  }
}

/// What follows from \p Need where quotients stand alone in it, multiplied out:
/// n floordiv 4 > 1000 floordiv m asks for n * m > 4 * 1000, of which a box may
/// know the product. Nothing where there are none, or too many.
static std::optional<Polynomial> withoutQuotients(const Polynomial &Need) {
  constexpr unsigned MostQuotients = 2;
  std::optional<Polynomial> Numerator = Polynomial::constant(0),
                            Denominator = Polynomial::constant(1);
  auto Times = [](const std::optional<Polynomial> &A,
                  const std::optional<Polynomial> &B) {
    return A && B ? A->times(*B) : std::nullopt;
  };
  auto Add = [&](const std::optional<Polynomial> &Top,
                 const std::optional<Polynomial> &Bottom, int64_t Count) {
    std::optional<Polynomial> Own = Times(Numerator, Bottom),
                              New = Times(Top, Denominator);
    Numerator = Own && New ? Own->plus(*New, Count) : std::nullopt;
    Denominator = Times(Denominator, Bottom);
  };
  const std::optional<Polynomial> One = Polynomial::constant(1);
  unsigned Quotients = 0;
  for (const auto &[Factors, Count] : Need.terms()) {
    if (Factors.size() == 1 && Factors[0].K == Expr::Kind::FloorDiv) {
      std::optional<Polynomial> Top = Polynomial::of(Factors[0].Operands[0]),
                                Bottom = Polynomial::of(Factors[0].Operands[1]);
      if (++Quotients > MostQuotients || !Top || !Bottom)
        return std::nullopt;
      // It is at most the quotient, and at least that less what the rest of
      // the division may be. Divisors are positive, or there is no value.
      if (Count < 0)
        Top = Top->plus(*One);
      if (Count < 0 && Top)
        Top = Top->plus(*Bottom, -1);
      Add(Top, Bottom, Count);
      continue;
    }
    std::optional<Polynomial> Term = One;
    for (const Expr &E : Factors)
      Term = Times(Term, Polynomial::of(E));
    Add(Term, One, Count);
  }
  return Quotients ? Numerator : std::nullopt;
}

/// What must hold for a thread to come to \p BB at all: of a long chain, the
/// nearest conditions. Fewer claim less. Where all is known of the side itself,
/// that would only blur it.
void DecisionReader::addWayTo(const BasicBlock &BB, SideCondition &C) {
  if (C.Exact || C.Float || C.Null || C.Alignment)
    return;
  const bool OfItself = C.Known;
  const DomTreeNode *At = Of.dominators().getNode(&BB);
  for (unsigned Step = 0; At && At->getIDom(); At = At->getIDom(), ++Step) {
    if (Step == MostSteps) {
      C.Exact = C.AnySign = false;
      return;
    }
    const BasicBlock *To = At->getBlock(), *From = At->getIDom()->getBlock();
    const auto *Br = dyn_cast<BranchInst>(From->getTerminator());
    const auto *Cmp = Br && Br->isConditional()
                          ? dyn_cast<ICmpInst>(Br->getCondition())
                          : nullptr;
    if (!Cmp || To->getSinglePredecessor() != From)
      continue;
    // Behind the end of a loop, the way says nothing of when a comparison of
    // data holds.
    if (const Loop *L = Of.loops().getLoopFor(From);
        L && !OfItself && L->getHeader() == From && !L->contains(To)) {
      C.Known = false;
      C.Needs.clear();
      C.Fits.clear();
      return;
    }
    SideCondition Way =
        compared(Br->getSuccessor(0) == To ? Cmp->getPredicate()
                                           : Cmp->getInversePredicate(),
                 *Cmp->getOperand(0), *Cmp->getOperand(1), *From);
    if (!Way.Known || Way.Needs.empty())
      continue;
    C.Exact = Way.Exact && (C.Exact || !C.Known);
    C.AnySign = Way.AnySign && (C.AnySign || !C.Known);
    C.Known = true;
    append_range(C.Needs, std::move(Way.Needs));
    append_range(C.Fits, std::move(Way.Fits));
  }
}

void DecisionReader::addExact(const Value &Condition, bool Taken,
                              const BasicBlock &At, SideCondition &C) {
  const Value *L = nullptr, *R = nullptr;
  if (match(&Condition, m_Not(m_Value(L))))
    return addExact(*L, !Taken, At, C);
  if (Taken ? match(&Condition, m_And(m_Value(L), m_Value(R)))
            : match(&Condition, m_Or(m_Value(L), m_Value(R)))) {
    addExact(*L, Taken, At, C);
    return addExact(*R, Taken, At, C);
  }
  const auto *Cmp = dyn_cast<ICmpInst>(&Condition);
  if (!Cmp || !Cmp->getOperand(0)->getType()->isIntegerTy())
    return;
  SideCondition Way =
      compared(Taken ? Cmp->getPredicate() : Cmp->getInversePredicate(),
               *Cmp->getOperand(0), *Cmp->getOperand(1), At);
  if (!Way.Known || !Way.AnySign || Way.Alignment)
    return;
  append_range(C.Needs, std::move(Way.Needs));
  append_range(C.Fits, std::move(Way.Fits));
}

void DecisionReader::addExactWayTo(const BasicBlock &BB, SideCondition &C) {
  if (!C.Known || C.Float || C.Null || C.Alignment || C.Halving)
    return;
  const DomTreeNode *At = Of.dominators().getNode(&BB);
  for (unsigned Step = 0; Step < MostSteps && At && At->getIDom();
       At = At->getIDom(), ++Step) {
    const BasicBlock *To = At->getBlock(), *From = At->getIDom()->getBlock();
    const auto *Br = dyn_cast<BranchInst>(From->getTerminator());
    if (Br && Br->isConditional() && To->getSinglePredecessor() == From)
      addExact(*Br->getCondition(), Br->getSuccessor(0) == To, *From, C);
  }
}

SymbolicRanges &DecisionReader::rangesAt(const BasicBlock &BB) {
  const Loop *L = Of.loops().getLoopFor(&BB);
  if (L && L->getHeader() == &BB)
    L = L->getParentLoop();
  return Ranges.try_emplace(L, Of, L).first->second;
}

/// Whether a scalar or a dimension, as \p K says, is in \p P.
static bool hasPart(const Polynomial &P, Expr::Kind K) {
  auto In = [K](const Expr &E, const auto &Self) -> bool {
    return E.K == K ||
           any_of(E.Operands, [&](const Expr &O) { return Self(O, Self); });
  };
  return any_of(P.terms(), [&](const auto &Term) {
    return any_of(Term.first, [&](const Expr &E) { return In(E, In); });
  });
}

/// Dimensions of a launch are never negative.
static bool hasNoScalar(const Polynomial &P) {
  return !hasPart(P, Expr::Kind::Symbol);
}

SideCondition DecisionReader::compared(CmpInst::Predicate P, const Value &L,
                                       const Value &R, const BasicBlock &At) {
  SideCondition C;
  const Kernel &K = Of.kernel();
  if (L.getType()->isPointerTy()) {
    std::optional<Leaf> Known = leafOf(*L.stripPointerCasts(), K);
    if (isa<ConstantPointerNull>(R.stripPointerCasts()) && Known &&
        Known->K == Leaf::Kind::Pointer && ICmpInst::isEquality(P)) {
      C.Known = true;
      C.Null = {K.Pointers[Known->Index], P == CmpInst::ICMP_EQ};
      C.Text = nameOf(C.Null->Pointer, K) + signOf(P) + "null";
    }
    return C;
  }
  SideCondition::AlignmentTest Low;
  if (match(&R, m_Zero()) && ICmpInst::isEquality(P) && lowBits(&L, K, Low)) {
    C.Known = true;
    Low.Aligned = P == CmpInst::ICMP_EQ;
    C.Text = nameOf(Low.Pointers.front(), K) +
             (Low.Aligned ? " is" : " is not") + " a multiple of " +
             utostr(Low.Bytes);
    C.Alignment = std::move(Low);
    return C;
  }
  SymbolicRanges &Here = rangesAt(At);
  SymbolicRange A = Here.of(L), B = Here.of(R);
  C.Exact = A.isExact() && B.isExact();
  C.AnySign = true;
  bool Whole = true;
  for (const auto &Side : {A.Low, A.High, B.Low, B.High}) {
    Whole &= Side.has_value();
    if (Side)
      C.Fits.push_back(
          {*Side, L.getType()->getIntegerBitWidth(), !CmpInst::isUnsigned(P)});
  }
  // Some value of \p Least is at most one of \p Most, less \p Gap.
  auto AtMost = [&](const SymbolicRange &Least, const SymbolicRange &Most,
                    int64_t Gap) {
    if (!Least.Low || !Most.High)
      return;
    std::optional<Polynomial> Rest = Most.High->plus(*Least.Low, -1);
    if (Rest && Gap)
      Rest = Rest->plus(Polynomial::constant(Gap), -1);
    if (!Rest)
      return;
    C.Known = true;
    C.AnySign &= (Least.isExact() || hasNoScalar(*Least.Low)) &&
                 (Most.isExact() || hasNoScalar(*Most.High));
    if (std::optional<Polynomial> Product = withoutQuotients(*Rest))
      C.Needs.push_back(std::move(*Product));
    C.Needs.push_back(std::move(*Rest));
  };
  switch (P) {
  case CmpInst::ICMP_SLT:
  case CmpInst::ICMP_ULT:
    AtMost(A, B, 1);
    break;
  case CmpInst::ICMP_SLE:
  case CmpInst::ICMP_ULE:
    AtMost(A, B, 0);
    break;
  case CmpInst::ICMP_SGT:
  case CmpInst::ICMP_UGT:
    AtMost(B, A, 1);
    break;
  case CmpInst::ICMP_SGE:
  case CmpInst::ICMP_UGE:
    AtMost(B, A, 0);
    break;
  case CmpInst::ICMP_EQ:
    AtMost(A, B, 0);
    AtMost(B, A, 0);
    break;
  case CmpInst::ICMP_NE:
    // The square of the difference: never 0, where they are not equal.
    if (A.isExact() && B.isExact())
      if (std::optional<Polynomial> Gap = A.High->plus(*B.High, -1))
        if (std::optional<Polynomial> Square = Gap->times(*Gap))
          if (auto Need = Square->plus(Polynomial::constant(1), -1)) {
            C.Known = true;
            C.Needs.push_back(std::move(*Need));
          }
    break;
  default:
    break;
  }
  // What is not known may be negative, which is large without a sign.
  if (CmpInst::isUnsigned(P) && !Whole)
    C.Known = false;
  std::string Left = text(A, L), Right = text(B, R);
  if (!Left.empty() && !Right.empty())
    C.Text = Left + signOf(P) + Right;
  else if (!Right.empty() && A.High)
    C.Text = "an index up to " + textOf(A.High->expr(), K) + " is" + signOf(P) +
             Right;
  return C;
}

/// What the turns of \p L go around: the largest number of places in shared
/// memory that their counter is reduced to.
int64_t DecisionReader::ringOf(const Loop &L) {
  int64_t Ring = 0;
  DenseSet<const Value *> Addresses;
  SmallVector<const Value *> Work;
  for (const BasicBlock *BB : L.blocks())
    for (const Instruction &I : *BB)
      for (const Value *V : I.operands())
        if (V->getType()->isPointerTy() &&
            objectOf(V).K == MemoryObject::Kind::Shared)
          Work.push_back(V);
  while (!Work.empty()) {
    const auto *I = dyn_cast<Instruction>(Work.pop_back_val());
    if (!I || !L.contains(I) || !Addresses.insert(I).second || isa<LoadInst>(I))
      continue;
    Work.append(I->op_begin(), I->op_end());
    const APInt *Number = nullptr;
    int64_t Places = 0;
    if (match(I, m_URem(m_Value(), m_APInt(Number))) ||
        match(I, m_SRem(m_Value(), m_APInt(Number))))
      Places = static_cast<int64_t>(Number->abs().getLimitedValue(1 << 20));
    else if (match(I, m_And(m_Value(), m_APInt(Number))) && Number->isMask())
      Places = static_cast<int64_t>(Number->getLimitedValue(1 << 20)) + 1;
    else if (match(I, m_Xor(m_Value(), m_APInt(Number))) && Number->isOne())
      Places = 2;
    // It goes around with the turns, and does not tell threads apart.
    const Value *Of2 = Places ? I->getOperand(0) : nullptr;
    // Back to the start after the last: s = s + 1 == S ? 0 : s + 1.
    if (const auto *Select = dyn_cast<SelectInst>(I);
        Select && (match(Select->getTrueValue(), m_Zero()) ||
                   match(Select->getFalseValue(), m_Zero())))
      if (const auto *Cmp = dyn_cast<ICmpInst>(Select->getCondition());
          Cmp && match(Cmp->getOperand(1), m_APInt(Number))) {
        Places = static_cast<int64_t>(Number->getLimitedValue(1 << 20));
        Of2 = Cmp->getOperand(0);
      }
    if (Of2 && Places <= LongestRing && !Of.data(*Of2).launch())
      Ring = std::max(Ring, Places);
  }
  return Ring;
}

SideCondition DecisionReader::turns(const Loop &L, unsigned Turns,
                                    bool AtLeast) {
  SideCondition C;
  SymbolicRanges &Here = rangesAt(*L.getHeader());
  for (const PHINode &Phi : L.getHeader()->phis()) {
    std::optional<SymbolicRanges::Counter> Count = Here.counterOf(Phi);
    if (!Count || !Count->Bound)
      continue;
    SymbolicRange Start = Here.before(Phi, L), End = *Count->Bound;
    if (Count->Shift) {
      C.Known = true;
      C.Halving = {Start, End, Count->Shift, Turns, AtLeast};
      return C;
    }
    bool Falls = Count->Step && *Count->Step < 0;
    if (!Count->By && !Count->Step)
      continue;
    SymbolicRange By = Count->Step
                           ? SymbolicRange::exactly(Polynomial::constant(
                                 Falls ? -*Count->Step : *Count->Step))
                           : Here.of(*Count->By);
    if (Falls)
      std::swap(Start, End);
    // The way is longer than all turns before this one, and no longer than
    // these.
    auto Way = [&](const SymbolicRange &To, const SymbolicRange &From,
                   bool Longest) -> std::optional<Polynomial> {
      const auto &A = Longest ? To.High : To.Low;
      const auto &B = Longest ? From.Low : From.High;
      return A && B ? A->plus(*B, -1) : std::nullopt;
    };
    if (std::optional<Polynomial> Most = Way(End, Start, true);
        Most && By.Low && Turns > 0)
      if (auto Need = Most->plus(*By.Low, -static_cast<int64_t>(Turns - 1)))
        if ((Need = Need->plus(Polynomial::constant(1), -1))) {
          C.Known = true;
          C.Needs.push_back(std::move(*Need));
        }
    if (std::optional<Polynomial> Least = Way(End, Start, false);
        Least && By.High && !AtLeast) {
      std::optional<Polynomial> Need = Polynomial::constant(0).plus(*Least, -1);
      if (Need)
        Need = Need->plus(*By.High, static_cast<int64_t>(Turns));
      if (Need) {
        C.Known = true;
        C.Needs.push_back(std::move(*Need));
      }
    }
    if (C.Known) {
      C.AnySign = Start.isExact() && End.isExact() && By.isExact();
      // A grid follows sizes, and not each number of turns is a launch's.
      C.Exact = C.AnySign && none_of(C.Needs, [](const Polynomial &P) {
                  return hasPart(P, Expr::Kind::Dim);
                });
      return C;
    }
  }
  return C;
}

} // namespace cupilot
