//===- DecisionCode.cpp - When code takes the sides of its decisions -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DecisionCode.h"
#include "FactCollector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
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

namespace {
/// Reads one kernel as one launch of a plan runs it.
class DecisionReader {
public:
  DecisionReader(const Dependence &Of, DecisionCode &Code)
      : Of(Of), Ranges(Of), Code(Code) {}
  void run();

private:
  void visit(const Instruction &I, unsigned Site);
  void visitLoop(const Loop &L, unsigned Site);
  SiteFacts::Side &side(unsigned Site, unsigned Number, bool AtLeast = false);
  bool matters(ArrayRef<const Value *> Operands, unsigned Site,
               bool IsFloat = false);
  void addCompare(const CmpInst &Cmp, unsigned Site);
  SideCondition compared(CmpInst::Predicate P, const Value &L, const Value &R);
  void addTruth(const Value &Condition, unsigned Site);
  SideCondition turns(const Loop &L, unsigned Turns, bool AtLeast);
  std::string text(const SymbolicRange &R, const Value &V) const;
  bool waits(const Value &Condition) const;
  int64_t ringOf(const Loop &L);
  bool onlyTraps(const BasicBlock *From, const BasicBlock *To) const;
  /// Which results of \p Condition lead to nothing but a trap.
  std::array<bool, 2> trapping(const Value &Condition) const;

  const Dependence &Of;
  SymbolicRanges Ranges;
  DecisionCode &Code;
};
} // namespace

SiteFacts::Side &DecisionReader::side(unsigned Site, unsigned Number,
                                      bool AtLeast) {
  std::vector<SiteFacts::Side> &Sides = Code.Facts[Site].Sides;
  for (SiteFacts::Side &S : Sides)
    if (S.Number == Number && S.AtLeast == AtLeast)
      return S;
  return Sides.emplace_back(SiteFacts::Side{Number, AtLeast, {}});
}

/// What came from floats in memory is data, whatever else is in it.
bool DecisionReader::matters(ArrayRef<const Value *> Operands, unsigned Site,
                             bool IsFloat) {
  Sources Data, All;
  for (const Value *V : Operands) {
    Data.add(Of.data(*V));
    All.add(Of.all(*V));
  }
  if (Data.floats() || !Of.decidesByMoreThanFloats(IsFloat ? Data : All))
    return false;
  Code.Facts[Site].Matters = true;
  Code.Facts[Site].HangsOnMemory |= All.ints();
  return true;
}

/// Whether it asks for what other threads write: how often, and whether at all,
/// only their order says.
bool DecisionReader::waits(const Value &Condition) const {
  SmallVector<const Value *> Work = {&Condition};
  SmallPtrSet<const Value *, 32> Seen;
  while (!Work.empty()) {
    const auto *I = dyn_cast<Instruction>(Work.pop_back_val());
    if (!I || !Seen.insert(I).second || Seen.size() > 256)
      continue;
    if (I->isAtomic() || I->isVolatile())
      return true;
    if (const auto *Call = dyn_cast<CallBase>(I);
        Call && Call->mayReadOrWriteMemory() &&
        !Call->onlyAccessesInaccessibleMemory())
      return true;
    if (isa<LoadInst>(I))
      continue;
    Work.append(I->op_begin(), I->op_end());
  }
  return false;
}

/// Code that faults need not be seen.
bool DecisionReader::onlyTraps(const BasicBlock *From,
                               const BasicBlock *To) const {
  SmallPtrSet<const BasicBlock *, 8> Seen;
  for (const BasicBlock *BB = To; BB && Seen.insert(BB).second;
       BB = BB->getSingleSuccessor()) {
    if (BB != To && !BB->getSinglePredecessor())
      return false; // Others come here, too.
    if (BB == To && BB->getSinglePredecessor() != From)
      return false;
    for (const Instruction &I : *BB) {
      if (isa<UnreachableInst>(I))
        return true;
      const auto *Call = dyn_cast<CallBase>(&I);
      if (!Call)
        continue;
      switch (Call->getIntrinsicID()) {
      case Intrinsic::trap:
      case Intrinsic::debugtrap:
      case Intrinsic::ubsantrap:
        return true;
      default:
        break;
      }
      if (const Function *F = Call->getCalledFunction();
          F && F->getName() == "__assertfail")
        return true;
      if (const auto *Asm = dyn_cast<InlineAsm>(Call->getCalledOperand());
          Asm && StringRef(Asm->getAsmString()).trim(" \t;") == "trap")
        return true;
    }
  }
  return false;
}

std::array<bool, 2> DecisionReader::trapping(const Value &Condition) const {
  std::array<bool, 2> Traps = {false, false};
  for (const User *U : Condition.users()) {
    const auto *Br = dyn_cast<BranchInst>(U);
    if (match(U, m_Not(m_Specific(&Condition)))) {
      std::array<bool, 2> Other = trapping(*U);
      Traps = {Traps[0] || Other[1], Traps[1] || Other[0]};
    } else if (Br && Br->isConditional()) {
      Traps[0] |= onlyTraps(Br->getParent(), Br->getSuccessor(1));
      Traps[1] |= onlyTraps(Br->getParent(), Br->getSuccessor(0));
    }
  }
  return Traps;
}

std::string DecisionReader::text(const SymbolicRange &R, const Value &V) const {
  if (R.isExact())
    return textOf(R.High->expr(), Of.kernel());
  if (const auto *Phi = dyn_cast<PHINode>(&V); Phi && !Phi->getName().empty())
    return Phi->getName().str();
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

SideCondition DecisionReader::compared(CmpInst::Predicate P, const Value &L,
                                       const Value &R) {
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
  SymbolicRange A = Ranges.of(L), B = Ranges.of(R);
  C.Exact = A.isExact() && B.isExact();
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

void DecisionReader::addCompare(const CmpInst &Cmp, unsigned Site) {
  const Value *L = Cmp.getOperand(0), *R = Cmp.getOperand(1);
  if (!matters({L, R}, Site, isa<FCmpInst>(Cmp)))
    return;
  std::array<bool, 2> Traps = trapping(Cmp);
  for (unsigned Side = 0; Side < 2; ++Side) {
    if (Traps[Side])
      continue;
    CmpInst::Predicate P =
        Side ? Cmp.getPredicate() : Cmp.getInversePredicate();
    if (isa<ICmpInst>(Cmp)) {
      side(Site, Side).Places.push_back(compared(P, *L, *R));
      continue;
    }
    SideCondition C;
    const Value *Number = L;
    const auto *Constant = dyn_cast<ConstantFP>(R);
    if (!Constant) {
      Constant = dyn_cast<ConstantFP>(L);
      Number = R;
      P = CmpInst::getSwappedPredicate(P);
    }
    while (isa<FPExtInst>(Number))
      Number = cast<Instruction>(Number)->getOperand(0);
    std::optional<Leaf> Known = leafOf(*Number, Of.kernel());
    if (Constant && Known && Known->K == Leaf::Kind::Float) {
      APFloat Value = Constant->getValueAPF();
      bool Lost = false;
      Value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &Lost);
      C.Known = true;
      C.Float = {Known->Number, P, Value.convertToDouble()};
      std::string Name = Of.kernel().Params[Known->Number.Param].Name;
      raw_string_ostream(C.Text) << Name << ' ' << CmpInst::getPredicateName(P)
                                 << ' ' << C.Float->Value;
    }
    side(Site, Side).Places.push_back(std::move(C));
  }
}

/// A byte or a bit that is read as a condition.
void DecisionReader::addTruth(const Value &Condition, unsigned Site) {
  const Value *Byte = &Condition;
  const auto *Cut = dyn_cast<TruncInst>(&Condition);
  if (Cut)
    Byte = Cut->getOperand(0);
  if (!matters({Byte}, Site))
    return;
  std::array<bool, 2> Traps = trapping(Condition);
  Value *Zero = ConstantInt::get(Byte->getType(), 0);
  for (unsigned Side = 0; Side < 2; ++Side)
    if (!Traps[Side])
      side(Site, Side)
          .Places.push_back(compared(Side ? CmpInst::ICMP_NE : CmpInst::ICMP_EQ,
                                     *Byte, *Zero));
}

/// The one value for which \p Switch goes to \p BB.
static const ConstantInt *onlyCaseOf(const SwitchInst &Switch,
                                     const BasicBlock &BB) {
  const ConstantInt *Only = nullptr;
  for (const auto &Case : Switch.cases())
    if (Case.getCaseSuccessor() == &BB) {
      if (Only)
        return nullptr;
      Only = Case.getCaseValue();
    }
  return Only;
}

void DecisionReader::visit(const Instruction &I, unsigned Site) {
  // A condition by which a loop waits is exempt.
  auto LeavesLoop = [&](const Value &V) {
    for (const User *U : V.users())
      if (const auto *Br = dyn_cast<BranchInst>(U)) {
        const Loop *L = Of.loops().getLoopFor(Br->getParent());
        if (L && L->isLoopExiting(Br->getParent()))
          return true;
      }
    return false;
  };
  const Value *Condition =
      isa<BranchInst, SelectInst>(I) ? I.getOperand(0) : &I;
  if (Condition->getType()->isIntegerTy(1) && LeavesLoop(*Condition) &&
      waits(*Condition))
    return;
  switch (Code.Sites[Site].Kind) {
  case DecisionKind::Compare:
    if (const auto *Cmp = dyn_cast<CmpInst>(&I))
      addCompare(*Cmp, Site);
    break;
  case DecisionKind::Boolean:
    addTruth(*Condition, Site);
    break;
  case DecisionKind::MinMax: {
    const auto *M = dyn_cast<MinMaxIntrinsic>(&I);
    if (!M || !matters({M->getLHS(), M->getRHS()}, Site))
      break;
    for (unsigned Side = 0; Side < 2; ++Side)
      side(Site, Side)
          .Places.push_back(
              compared(Side ? CmpInst::ICMP_SLT : CmpInst::ICMP_SGE,
                       *M->getLHS(), *M->getRHS()));
    break;
  }
  case DecisionKind::Switch: {
    const auto *Switch = dyn_cast<SwitchInst>(&I);
    if (!Switch || !matters({Switch->getCondition()}, Site))
      break;
    SmallVector<const BasicBlock *> To;
    for (unsigned S = 0; S < Switch->getNumSuccessors(); ++S) {
      const BasicBlock *BB = Switch->getSuccessor(S);
      auto At = find(To, BB);
      unsigned Number = static_cast<unsigned>(At - To.begin());
      if (At == To.end())
        To.push_back(BB);
      if (onlyTraps(Switch->getParent(), BB))
        continue;
      const ConstantInt *Case = onlyCaseOf(*Switch, *BB);
      side(Site, Number)
          .Places.push_back(
              Case && Number
                  ? compared(CmpInst::ICMP_EQ, *Switch->getCondition(), *Case)
                  : SideCondition());
    }
    break;
  }
  case DecisionKind::Table: {
    const auto *G = dyn_cast<GetElementPtrInst>(&I);
    if (!G || G->getNumOperands() < 2)
      break;
    const Value *Index = G->getOperand(G->getNumOperands() - 1);
    if (!matters({Index}, Site))
      break;
    for (unsigned Entry = 0; Entry + 1 < Code.Sites[Site].Sides; ++Entry)
      side(Site, Entry)
          .Places.push_back(
              compared(CmpInst::ICMP_EQ, *Index,
                       *ConstantInt::get(Index->getType(), Entry)));
    break;
  }
  case DecisionKind::Loop:
    break;
  }
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
  for (const PHINode &Phi : L.getHeader()->phis()) {
    std::optional<SymbolicRanges::Counter> Count = Ranges.counterOf(Phi);
    if (!Count || !Count->Bound)
      continue;
    SymbolicRange Start = Ranges.before(Phi, L), End = *Count->Bound;
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
                           : Ranges.of(*Count->By);
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
    if (C.Known)
      return C;
  }
  return C;
}

void DecisionReader::visitLoop(const Loop &L, unsigned Site) {
  SmallVector<BasicBlock *> Exiting;
  L.getExitingBlocks(Exiting);
  SmallVector<const Value *> Conditions;
  for (const BasicBlock *BB : Exiting)
    if (const auto *Br = dyn_cast<BranchInst>(BB->getTerminator());
        Br && Br->isConditional() &&
        !onlyTraps(BB, L.contains(Br->getSuccessor(0)) ? Br->getSuccessor(1)
                                                       : Br->getSuccessor(0)))
      Conditions.push_back(Br->getCondition());
  if (Conditions.empty() ||
      any_of(Conditions, [&](const Value *V) { return waits(*V); }))
    return;
  Sources Data;
  for (const Value *V : Conditions)
    Data.add(Of.data(*V));
  if (!Of.decidesByMoreThanFloats(Data))
    return;
  SiteFacts &Facts = Code.Facts[Site];
  Facts.Matters = true;
  Facts.HangsOnMemory |= Data.ints();
  // Those that run their body first have turned once less.
  unsigned First = Code.Sites[Site].MayTurnNever ? 0 : 1;
  auto Demand = [&](unsigned Body, bool AtLeast) {
    SideCondition C = turns(L, Body - First, AtLeast);
    C.Text = "the loop turns " +
             (Body == 0   ? std::string("never")
              : Body == 1 ? std::string("once")
                          : utostr(Body) + " times") +
             (AtLeast ? " or more" : "");
    side(Site, Body - First, AtLeast).Places.push_back(std::move(C));
  };
  // Where nothing is counted, small numbers of turns need not exist.
  bool Counts = any_of(L.getHeader()->phis(), [&](const PHINode &Phi) {
    auto C = Ranges.counterOf(Phi);
    return C && C->Bound;
  });
  if (!Counts)
    return Demand(2, true);
  for (unsigned Body = First; Body < 4; ++Body)
    Demand(Body, false);
  if (int64_t Ring = ringOf(L); Ring > 1)
    Demand(static_cast<unsigned>(2 * Ring + 1), true);
}

void DecisionReader::run() {
  SmallPtrSet<const Loop *, 8> Done;
  for (const Instruction &I : instructions(Of.function())) {
    if (std::optional<unsigned> Site = decisionOf(I))
      visit(I, *Site);
    if (std::optional<unsigned> Site = turnedLoopOf(I)) {
      // A latch may close the loops of several calls that were inlined.
      for (const BasicBlock *To : successors(&I))
        if (const Loop *L = Of.loops().getLoopFor(To);
            L && L->getHeader() == To && L->contains(&I) &&
            Done.insert(L).second)
          visitLoop(*L, *Site);
    }
  }
}

Expected<DecisionCode> decisionsOf(const Kernel &K, StringRef Bitcode,
                                   const LaunchPlan &Plan) {
  DecisionCode Code;
  Expected<PreparedCode> Prepared =
      prepareCode(Bitcode, [&](Module &M) { Code.Sites = markDecisions(M); });
  if (!Prepared)
    return Prepared.takeError();
  Code.Facts.resize(Code.Sites.size());
  for (const Launch &L : Plan.Launches) {
    Expected<Function *> F = Prepared->kernel(L.Symbol);
    if (!F)
      return F.takeError();
    LaunchTerms Terms = termsOf(L);
    Dependence Of(**F, K, Terms);
    DecisionReader(Of, Code).run();
  }
  return Code;
}

} // namespace cupilot
