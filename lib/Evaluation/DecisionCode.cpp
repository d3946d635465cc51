//===- DecisionCode.cpp - When code takes the sides of its decisions -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DecisionReader.h"
#include "FactCollector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace cupilot {

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
  if (!Of.isOfArguments(Data))
    return true;
  Code.Facts[Site].HangsOnArguments = true;
  for (auto [I, Number] : enumerate(Of.floats()))
    if (Data.has(Of.floatBit(unsigned(I))) &&
        !is_contained(Code.Facts[Site].Numbers, Number))
      Code.Facts[Site].Numbers.push_back(Number);
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

/// Tables of weights are larger.
static constexpr unsigned FewEntries = 64;

static bool isTrap(const Instruction &I) {
  if (isa<UnreachableInst>(I))
    return true;
  const auto *Call = dyn_cast<CallBase>(&I);
  if (!Call)
    return false;
  switch (Call->getIntrinsicID()) {
  case Intrinsic::trap:
  case Intrinsic::debugtrap:
  case Intrinsic::ubsantrap:
    return true;
  default:
    break;
  }
  const Function *F = Call->getCalledFunction();
  return F && F->getName() == "__assertfail";
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
    if (any_of(*BB, isTrap))
      return true;
  }
  return false;
}

/// Whoever comes to \p BB ends in a trap, after nothing that is repeated.
static bool endsInTrap(const BasicBlock *BB) {
  SmallPtrSet<const BasicBlock *, 8> Seen;
  for (; BB && Seen.insert(BB).second; BB = BB->getSingleSuccessor())
    if (any_of(*BB, isTrap))
      return true;
  return false;
}

/// Memory and output are asked for beyond the launch, whatever decides it.
void DecisionReader::addService(const Instruction &Call, unsigned Site) {
  const BasicBlock &BB = *Call.getParent();
  if (!Of.dominators().isReachableFromEntry(&BB) || endsInTrap(&BB))
    return;
  Code.Facts[Site].Matters = true;
  SideCondition C;
  // A number or a pointer on the way says all that a condition can hold.
  const DomTreeNode *At = Of.dominators().getNode(&BB);
  for (unsigned Step = 0;
       Step < MostSteps && At->getIDom() && !C.Float && !C.Null && !C.Alignment;
       At = At->getIDom(), ++Step) {
    const BasicBlock *To = At->getBlock(), *From = At->getIDom()->getBlock();
    const auto *Br = dyn_cast<BranchInst>(From->getTerminator());
    const auto *Cmp = Br && Br->isConditional()
                          ? dyn_cast<CmpInst>(Br->getCondition())
                          : nullptr;
    if (Cmp && To->getSinglePredecessor() == From)
      C = sideOf(*Cmp, Br->getSuccessor(0) == To);
  }
  if (!C.Float && !C.Null && !C.Alignment) {
    C = SideCondition();
    addWayTo(BB, C);
  }
  side(Site, 0).Places.push_back(std::move(C));
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

SideCondition DecisionReader::sideOfFloats(CmpInst::Predicate P, const Value &L,
                                           const Value &R) {
  SideCondition C;
  const Value *Number = &L;
  const auto *Constant = dyn_cast<ConstantFP>(&R);
  if (!Constant) {
    Constant = dyn_cast<ConstantFP>(&L);
    Number = &R;
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
    raw_string_ostream(C.Text)
        << Name << ' ' << CmpInst::getPredicateName(P) << ' ' << C.Float->Value;
  }
  return C;
}

SideCondition DecisionReader::sideOf(const CmpInst &Cmp, bool Taken) {
  const Value &L = *Cmp.getOperand(0), &R = *Cmp.getOperand(1);
  CmpInst::Predicate P = Taken ? Cmp.getPredicate() : Cmp.getInversePredicate();
  SideCondition C = isa<ICmpInst>(Cmp) ? compared(P, L, R, *Cmp.getParent())
                                       : sideOfFloats(P, L, R);
  return C.Known ? C : sideOfFolded(Cmp, Taken);
}

SideCondition DecisionReader::sideOfFolded(const Instruction &I, bool Taken) {
  const ICmpInst *Cmp = Folded.Compares.lookup(&I);
  return Cmp ? sideOf(*Cmp, Taken) : SideCondition();
}

void DecisionReader::addCompare(const CmpInst &Cmp, unsigned Site) {
  if (!matters({Cmp.getOperand(0), Cmp.getOperand(1)}, Site,
               isa<FCmpInst>(Cmp)))
    return;
  std::array<bool, 2> Traps = trapping(Cmp);
  for (unsigned Side = 0; Side < 2; ++Side) {
    if (Traps[Side])
      continue;
    SideCondition C = sideOf(Cmp, Side);
    if (isa<ICmpInst>(Cmp) || C.Known)
      addWayTo(*Cmp.getParent(), C);
    side(Site, Side).Places.push_back(std::move(C));
  }
}

/// Arithmetic that comes to a comparison.
void DecisionReader::addNumber(const Instruction &I, unsigned Site) {
  auto [L, R] = comparedIn(I);
  if (L ? !matters({L, R}, Site, /*IsFloat=*/true)
        : !Folded.Numbers.contains(&I) || !matters({&I}, Site))
    return;
  for (unsigned Side = 0; Side < 2; ++Side) {
    SideCondition C = sideOfFolded(I, Side);
    if (L && !C.Known)
      C = sideOfFloats(Side ? CmpInst::FCMP_OLT : CmpInst::FCMP_OGE, *L, *R);
    if (C.Known)
      addWayTo(*I.getParent(), C);
    side(Site, Side).Places.push_back(std::move(C));
  }
}

/// A byte or a bit that is read as a condition.
void DecisionReader::addTruth(const Value &Condition, const BasicBlock &BB,
                              unsigned Site) {
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
                                     *Byte, *Zero, BB));
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

void DecisionReader::visitSwitch(const SwitchInst &Switch, unsigned Site) {
  SmallVector<const BasicBlock *> To;
  for (unsigned S = 0; S < Switch.getNumSuccessors(); ++S) {
    const BasicBlock *BB = Switch.getSuccessor(S);
    auto *At = find(To, BB);
    unsigned Number = static_cast<unsigned>(At - To.begin());
    if (At == To.end())
      To.push_back(BB);
    if (onlyTraps(Switch.getParent(), BB))
      continue;
    const ConstantInt *Case = onlyCaseOf(Switch, *BB);
    side(Site, Number)
        .Places.push_back(Case && Number ? compared(CmpInst::ICMP_EQ,
                                                    *Switch.getCondition(),
                                                    *Case, *Switch.getParent())
                                         : SideCondition());
  }
}

void DecisionReader::visitTable(const GetElementPtrInst &G, unsigned Site) {
  const Value *Index = G.getOperand(G.getNumOperands() - 1);
  MemoryObject Object = objectOf(&G);
  // What the kernel fills in is no table where it came from memory.
  const bool IsConstant =
      Object.K == MemoryObject::Kind::Table ||
      any_of(Object.Base->users(), [&](const User *U) {
        const auto *Copy = dyn_cast<MemTransferInst>(U);
        return Copy && Copy->getDest() == Object.Base &&
               objectOf(Copy->getSource()).K == MemoryObject::Kind::Table;
      });
  const Sources &Filled = Of.data(*Object.Base);
  if (!IsConstant && (Filled.ints() || Filled.floats()))
    return;
  if (!matters({Index}, Site))
    return;
  const unsigned Entries = Code.Sites[Site].Sides - 1;
  for (unsigned Entry = 0; Entry < Entries; ++Entry) {
    SideCondition C =
        compared(CmpInst::ICMP_EQ, *Index,
                 *ConstantInt::get(Index->getType(), Entry), *G.getParent());
    // Of the entries of a large table, or of what threads have filled, only an
    // argument says which are used.
    if ((Entries > FewEntries || !IsConstant) && !C.Exact)
      return;
    side(Site, Entry).Places.push_back(std::move(C));
  }
}

/// What nvcc's optimiser and the library's functions decide is theirs; what
/// hangs on launch and arguments alone is the text's as well.
void DecisionReader::visitBuilt(const Instruction &I, unsigned Site) {
  const BasicBlock &BB = *I.getParent();
  auto Add = [&](CmpInst::Predicate P, const Value &L, const Value &R,
                 std::array<bool, 2> Traps) {
    if (!L.getType()->isIntegerTy() || L.getType()->isIntegerTy(1))
      return;
    std::array<SideCondition, 2> Both = {
        compared(CmpInst::getInversePredicate(P), L, R, BB),
        compared(P, L, R, BB)};
    if (any_of(Both,
               [](const SideCondition &C) {
                 return !C.Known || !C.Exact || C.Alignment;
               }) ||
        !matters({&L, &R}, Site))
      return;
    for (unsigned Side = 0; Side < 2; ++Side)
      if (!Traps[Side]) {
        addExactWayTo(BB, Both[Side]);
        side(Site, Side).Places.push_back(std::move(Both[Side]));
      }
  };
  if (const auto *Cmp = dyn_cast<ICmpInst>(&I)) {
    Add(Cmp->getPredicate(), *Cmp->getOperand(0), *Cmp->getOperand(1),
        trapping(*Cmp));
  } else if (const auto *M = dyn_cast<MinMaxIntrinsic>(&I)) {
    Add(M->isSigned() ? CmpInst::ICMP_SLT : CmpInst::ICMP_ULT, *M->getLHS(),
        *M->getRHS(), {});
  } else if (const auto *Switch = dyn_cast<SwitchInst>(&I);
             Switch && rangesAt(BB).of(*Switch->getCondition()).isExact() &&
             matters({Switch->getCondition()}, Site)) {
    visitSwitch(*Switch, Site);
  }
}

void DecisionReader::visit(const Instruction &I, unsigned Site) {
  // A condition by which a loop waits is exempt, also where the loop asks for
  // its opposite.
  auto LeavesLoop = [&](const Value &V, const auto &Self) -> bool {
    for (const User *U : V.users()) {
      if (match(U, m_Not(m_Specific(&V))) && Self(*U, Self))
        return true;
      if (const auto *Br = dyn_cast<BranchInst>(U)) {
        const Loop *L = Of.loops().getLoopFor(Br->getParent());
        if (L && L->isLoopExiting(Br->getParent()))
          return true;
      }
    }
    return false;
  };
  const Value *Condition =
      isa<BranchInst, SelectInst>(I) ? I.getOperand(0) : &I;
  if (Condition->getType()->isIntegerTy(1) &&
      LeavesLoop(*Condition, LeavesLoop) && waits(*Condition))
    return;
  switch (Code.Sites[Site].Kind) {
  case DecisionKind::Compare:
    if (const auto *Cmp = dyn_cast<CmpInst>(&I))
      addCompare(*Cmp, Site);
    break;
  case DecisionKind::Boolean:
    addTruth(*Condition, *I.getParent(), Site);
    break;
  case DecisionKind::MinMax: {
    const auto *M = dyn_cast<MinMaxIntrinsic>(&I);
    if (!M || !matters({M->getLHS(), M->getRHS()}, Site))
      break;
    for (unsigned Side = 0; Side < 2; ++Side)
      side(Site, Side)
          .Places.push_back(
              compared(Side ? CmpInst::ICMP_SLT : CmpInst::ICMP_SGE,
                       *M->getLHS(), *M->getRHS(), *I.getParent()));
    break;
  }
  case DecisionKind::Switch:
    if (const auto *Switch = dyn_cast<SwitchInst>(&I);
        Switch && matters({Switch->getCondition()}, Site))
      visitSwitch(*Switch, Site);
    break;
  case DecisionKind::Table:
    if (const auto *G = dyn_cast<GetElementPtrInst>(&I);
        G && G->getNumOperands() > 1)
      visitTable(*G, Site);
    break;
  case DecisionKind::Number:
  case DecisionKind::FloatMinMax:
    addNumber(I, Site);
    break;
  case DecisionKind::Service:
    addService(I, Site);
    break;
  case DecisionKind::Loop:
    break;
  }
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
    addExactWayTo(*L.getHeader(), C);
    C.Text = "the loop turns " +
             (Body == 0   ? std::string("never")
              : Body == 1 ? std::string("once")
                          : utostr(Body) + " times") +
             (AtLeast ? " or more" : "");
    side(Site, Body - First, AtLeast).Places.push_back(std::move(C));
  };
  // Where nothing is counted, small numbers of turns need not exist.
  bool Counts = any_of(L.getHeader()->phis(), [&](const PHINode &Phi) {
    auto C = rangesAt(*L.getHeader()).counterOf(Phi);
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
      IsBuilt ? visitBuilt(I, *Site) : visit(I, *Site);
    if (std::optional<unsigned> Site = turnedLoopOf(I); Site && !IsBuilt) {
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
                                   const LaunchPlan &Plan, bool IsBuilt) {
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
    FoldedDecisions Folded = IsBuilt ? FoldedDecisions() : foldDecisions(**F);
    Dependence Of(**F, K, Terms);
    DecisionReader(Of, Folded, Code, IsBuilt).run();
  }
  return Code;
}

} // namespace cupilot
