//===- Decisions.cpp - Sees what device code decides -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The decisions of the code as it was written are seen, before anything becomes
// a select, or is folded into something else. A side that is taken is a call of
// a function that touches no memory that others know, so that the optimiser
// does what it would do without, and in the end a store of a byte.
//
//===----------------------------------------------------------------------===//

#include "cupilot/CpuDevice/Decisions.h"
#include "Lowering.h"
#include "cupilot/CpuDevice/InlinePtx.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/IR/StructuralHash.h"
#include "llvm/Support/NVPTXAddrSpace.h"
#include "llvm/Support/Path.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace cupilot {

static constexpr char SiteName[] = "cupilot.decision";
static constexpr char LoopName[] = "cupilot.turns";
static constexpr char MinimumName[] = "cupilot.minimum";
static constexpr char SeenName[] = "__cupilot_seen";

static std::optional<unsigned> numberIn(const Instruction &I, StringRef Kind) {
  if (const MDNode *Node = I.getMetadata(Kind))
    return static_cast<unsigned>(
        mdconst::extract<ConstantInt>(Node->getOperand(0))->getZExtValue());
  return std::nullopt;
}
std::optional<unsigned> decisionOf(const Instruction &I) {
  return numberIn(I, SiteName);
}
std::optional<unsigned> turnedLoopOf(const Instruction &I) {
  return numberIn(I, LoopName);
}

static void number(Instruction &I, StringRef Kind, unsigned Number) {
  LLVMContext &C = I.getContext();
  I.setMetadata(Kind, MDNode::get(C, ConstantAsMetadata::get(ConstantInt::get(
                                         Type::getInt32Ty(C), Number))));
}

/// clang splits a path where it leaves the folder it works in, but not that of
/// the unit: only whole paths can be compared.
static SmallString<128> wholePath(const DIFile &File) {
  SmallString<128> Path(File.getFilename());
  if (!sys::path::is_absolute(Path)) {
    Path = File.getDirectory();
    sys::path::append(Path, File.getFilename());
  }
  sys::path::remove_dots(Path, /*remove_dot_dot=*/true);
  return Path;
}

/// Whether \p F is in the file that was compiled, not in a header of the
/// toolkit.
static bool isAuthors(const Function &F) {
  if (F.isDeclaration() || F.getName().starts_with("__nv_"))
    return false;
  const DISubprogram *Sub = F.getSubprogram();
  return !Sub || !Sub->getUnit() || !Sub->getFile() ||
         !Sub->getUnit()->getFile() ||
         wholePath(*Sub->getFile()) == wholePath(*Sub->getUnit()->getFile());
}

/// The minimum or maximum that \p F is nothing else than, or what keeps floats
/// from 0 to 1; not_intrinsic for other functions.
static Intrinsic::ID minimumOf(const Function &F, unsigned Depth = 0) {
  switch (F.getIntrinsicID()) {
  case Intrinsic::smin:
  case Intrinsic::smax:
  case Intrinsic::umin:
  case Intrinsic::umax:
  case Intrinsic::minimum: // Inline PTX has those of floats.
  case Intrinsic::maximum:
  case Intrinsic::minimumnum:
  case Intrinsic::maximumnum:
    return F.getIntrinsicID();
  default:
    break;
  }
  Intrinsic::ID Library =
      StringSwitch<Intrinsic::ID>(F.getName())
          .Cases({"__nv_fminf", "__nv_fmin"}, Intrinsic::minnum)
          .Cases({"__nv_fmaxf", "__nv_fmax"}, Intrinsic::maxnum)
          .Case("__nv_saturatef", Intrinsic::nvvm_saturate_f)
          .Default(Intrinsic::not_intrinsic);
  if (Library != Intrinsic::not_intrinsic)
    return Library;
  if (F.isDeclaration() || F.size() > 1 || F.arg_empty() || F.arg_size() > 2 ||
      Depth > 4 || isAuthors(F))
    return Intrinsic::not_intrinsic;
  Intrinsic::ID Found = Intrinsic::not_intrinsic;
  for (const Instruction &I : F.front()) {
    if (isa<AllocaInst, LoadInst, StoreInst, ReturnInst, DbgInfoIntrinsic>(I))
      continue;
    const auto *Call = dyn_cast<CallInst>(&I);
    const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    if (!Callee || Found != Intrinsic::not_intrinsic ||
        Call->getType() != F.getReturnType())
      return Intrinsic::not_intrinsic;
    Found = minimumOf(*Callee, Depth + 1);
    if (Found == Intrinsic::not_intrinsic)
      return Found;
  }
  return Found;
}

static void replaceMinima(Function &F) {
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    auto *Call = dyn_cast<CallInst>(&I);
    const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    if (!Callee || Callee->isIntrinsic() || !I.getType()->isIntegerTy())
      continue;
    Intrinsic::ID Id = minimumOf(*Callee);
    if (Id == Intrinsic::not_intrinsic)
      continue;
    IRBuilder<> B(Call);
    Call->replaceAllUsesWith(B.CreateBinaryIntrinsic(Id, Call->getArgOperand(0),
                                                     Call->getArgOperand(1)));
    Call->eraseFromParent();
  }
}

/// The functions of \p M that may come to malloc or printf: those themselves,
/// and who calls them. null stands among them for calls by address.
static SmallPtrSet<const Function *, 8> servicesOf(const Module &M) {
  SmallPtrSet<const Function *, 8> Found;
  SmallVector<const Function *> Work;
  for (StringRef Name : {"malloc", "vprintf"})
    if (const Function *F = M.getFunction(Name); F && Found.insert(F).second)
      Work.push_back(F);
  bool ByAddress = false;
  while (!Work.empty()) {
    const Function *F = Work.pop_back_val();
    for (const User *U : F->users()) {
      const auto *Call = dyn_cast<CallBase>(U);
      ByAddress |= !Call || Call->getCalledOperand() != F;
      if (Call && Found.insert(Call->getFunction()).second)
        Work.push_back(Call->getFunction());
    }
    if (Work.empty() && ByAddress && Found.insert(nullptr).second)
      for (const Function &By : M)
        if (any_of(instructions(By),
                   [](const Instruction &I) {
                     const auto *Call = dyn_cast<CallBase>(&I);
                     return Call && Call->isIndirectCall();
                   }) &&
            Found.insert(&By).second)
          Work.push_back(&By);
  }
  return Found;
}

static void showServices(Function &F,
                         const SmallPtrSet<const Function *, 8> &Services) {
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    auto *Call = dyn_cast<CallBase>(&I);
    if (!Call || Call->isInlineAsm() ||
        !Services.contains(Call->getCalledFunction()))
      continue;
    IRBuilder<> B(Call);
    B.CreateIntrinsic(B.getVoidTy(), Intrinsic::sideeffect, {});
  }
}

/// Before each minimum, maximum and saturation of floats, what it compares.
static void showFloatMinima(Function &F) {
  Function *Mark = nullptr;
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    auto *Call = dyn_cast<CallInst>(&I);
    const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    if (!Callee || !I.getType()->isFloatingPointTy())
      continue;
    Intrinsic::ID Id = minimumOf(*Callee);
    if (Id == Intrinsic::not_intrinsic)
      continue;
    if (!Mark)
      Mark = Intrinsic::getOrInsertDeclaration(F.getParent(),
                                               Intrinsic::sideeffect);
    IRBuilder<> B(Call);
    auto Show = [&](Value *L, Value *R) {
      B.CreateCall(Mark, {},
                   {OperandBundleDef(MinimumName, ArrayRef<Value *>({L, R}))});
    };
    Value *L = Call->getArgOperand(0);
    if (Id == Intrinsic::nvvm_saturate_f) {
      Show(L, ConstantFP::get(L->getType(), 0));
      Show(L, ConstantFP::get(L->getType(), 1));
    } else {
      Show(L, Call->getArgOperand(1));
    }
  }
}

static bool isMark(const Instruction &I) {
  const auto *Call = dyn_cast<IntrinsicInst>(&I);
  return Call && Call->getIntrinsicID() == Intrinsic::sideeffect;
}

std::pair<const Value *, const Value *> comparedIn(const Instruction &I) {
  if (isMark(I))
    if (std::optional<OperandBundleUse> Floats =
            cast<CallBase>(I).getOperandBundle(MinimumName))
      return {Floats->Inputs[0].get(), Floats->Inputs[1].get()};
  return {nullptr, nullptr};
}

/// Shifts and divisions, which may leave nothing of a number, and what is left
/// of its sign.
static bool isNumber(const Instruction &I) {
  if (!I.getType()->isIntegerTy() || I.getType()->isIntegerTy(1))
    return false;
  switch (I.getOpcode()) {
  case Instruction::LShr:
  case Instruction::AShr:
  case Instruction::SDiv:
  case Instruction::UDiv:
    return true;
  default:
    return match(&I, m_And(m_Value(), m_SignMask()));
  }
}

/// Whether an element of \p G is read.
static bool isRead(const GetElementPtrInst &G) {
  return any_of(G.users(), [](const User *U) { return isa<LoadInst>(U); });
}

/// The elements of the constant array behind \p G: a variable, or a copy of
/// one in a variable of the thread; or of an array of the thread or block that
/// \p G reads, which the kernel may fill with constants. 0: it is none.
static uint64_t tableEntries(const GetElementPtrInst &G) {
  const auto *Array = dyn_cast<ArrayType>(G.getSourceElementType());
  if (!Array || Array->getNumElements() > MostTableEntries ||
      G.getNumIndices() < 2 || isa<Constant>(G.getOperand(2)))
    return 0;
  const Value *Base = G.getPointerOperand()->stripPointerCasts();
  // What a program fills in begins as zeros.
  auto Constant = [](const Value *V) {
    const auto *Of = dyn_cast<GlobalVariable>(V->stripPointerCasts());
    return Of && Of->isConstant() && Of->hasInitializer() &&
           (!Of->isExternallyInitialized() ||
            !Of->getInitializer()->isNullValue());
  };
  if (isa<AllocaInst>(Base)) {
    bool Filled = false;
    for (const User *U : Base->users())
      if (const auto *Copy = dyn_cast<MemTransferInst>(U))
        Filled |= Copy->getDest() == Base && Constant(Copy->getSource());
    return Filled || isRead(G) ? Array->getNumElements() : 0;
  }
  if (const auto *Shared = dyn_cast<GlobalVariable>(Base);
      Shared && Shared->getAddressSpace() == NVPTXAS::ADDRESS_SPACE_SHARED)
    return isRead(G) ? Array->getNumElements() : 0;
  return Constant(Base) ? Array->getNumElements() : 0;
}

/// A comparison, perhaps negated.
static bool isCompare(const Value *V) {
  const Value *Of = nullptr;
  return isa<CmpInst>(V) || (match(V, m_Not(m_Value(Of))) && isCompare(Of));
}

/// A condition that is made of others, which are seen by themselves.
static bool isSeenElsewhere(const Value *V) {
  if (isa<Constant>(V) || isCompare(V) || isa<TruncInst>(V))
    return true;
  const Value *Of = nullptr;
  if (match(V, m_Not(m_Value(Of))))
    return isSeenElsewhere(Of);
  const auto *Phi = dyn_cast<PHINode>(V);
  return Phi && all_of(Phi->incoming_values(), [](const Value *In) {
           return isa<Constant>(In) || isCompare(In) || isa<TruncInst>(In);
         });
}

namespace {
class Marker {
public:
  Marker(Function &F, std::vector<DecisionSite> &Sites)
      : F(F), Sites(Sites), Dominators(F), Loops(Dominators),
        Body(StructuralHash(F, /*DetailedHash=*/true)) {}
  void run();

private:
  unsigned add(DecisionKind Kind, unsigned Sides, const DebugLoc &At);
  std::optional<std::pair<DecisionKind, unsigned>> kindOf(const Instruction &I);
  void addLoop(Loop &L);

  Function &F;
  std::vector<DecisionSite> &Sites;
  DominatorTree Dominators;
  LoopInfo Loops;
  uint64_t Body;
  unsigned InBody = 0;
  SmallPtrSet<const Value *, 8> Tests; ///< That only say how often loops turn.
};
} // namespace

unsigned Marker::add(DecisionKind Kind, unsigned Sides, const DebugLoc &At) {
  DecisionSite S;
  S.Kind = Kind;
  S.Function = F.getName().str();
  S.Body = Body;
  S.InBody = InBody++;
  S.Location = locationOf(At);
  S.First = Sites.empty() ? 0 : Sites.back().First + Sites.back().Sides;
  S.Sides = Sides;
  Sites.push_back(std::move(S));
  return static_cast<unsigned>(Sites.size() - 1);
}

std::optional<std::pair<DecisionKind, unsigned>>
Marker::kindOf(const Instruction &I) {
  if (isImplied(I))
    return std::nullopt;
  if (isa<CmpInst>(I) && I.getType()->isIntegerTy(1) && !Tests.contains(&I))
    return std::pair(DecisionKind::Compare, 2u);
  if (isa<TruncInst>(I) && I.getType()->isIntegerTy(1))
    return std::pair(DecisionKind::Boolean, 2u);
  if (isa<MinMaxIntrinsic>(I) && I.getType()->isIntegerTy())
    return std::pair(DecisionKind::MinMax, 2u);
  if (const auto *Br = dyn_cast<BranchInst>(&I);
      Br && Br->isConditional() && !isSeenElsewhere(Br->getCondition()))
    return std::pair(DecisionKind::Boolean, 2u);
  if (const auto *Select = dyn_cast<SelectInst>(&I);
      Select && Select->getCondition()->getType()->isIntegerTy(1) &&
      !isSeenElsewhere(Select->getCondition()))
    return std::pair(DecisionKind::Boolean, 2u);
  if (const auto *Switch = dyn_cast<SwitchInst>(&I)) {
    SmallPtrSet<const BasicBlock *, 8> To;
    for (unsigned S = 0; S < Switch->getNumSuccessors(); ++S)
      To.insert(Switch->getSuccessor(S));
    return std::pair(DecisionKind::Switch, static_cast<unsigned>(To.size()));
  }
  if (isNumber(I))
    return std::pair(DecisionKind::Number, 2u);
  if (comparedIn(I).first)
    return std::pair(DecisionKind::FloatMinMax, 3u);
  if (isMark(I))
    return std::pair(DecisionKind::Service, 1u);
  if (const auto *G = dyn_cast<GetElementPtrInst>(&I))
    if (uint64_t Entries = tableEntries(*G))
      return std::pair(DecisionKind::Table,
                       static_cast<unsigned>(Entries) + 1); // Or none.
  return std::nullopt;
}

void Marker::addLoop(Loop &L) {
  BasicBlock *Header = L.getHeader();
  const DebugLoc &At = L.getStartLoc();
  unsigned Number = add(DecisionKind::Loop, MostTurns + 1, At);
  auto *Br = dyn_cast<BranchInst>(Header->getTerminator());
  if (Br && Br->isConditional() && L.isLoopExiting(Header)) {
    // A body of one block is left where it ends.
    Sites[Number].MayTurnNever = !L.isLoopLatch(Header);
    if (L.getExitingBlock() == Header && isa<CmpInst>(Br->getCondition()) &&
        Br->getCondition()->hasOneUse() && Sites[Number].MayTurnNever)
      Tests.insert(Br->getCondition());
  }
  SmallVector<BasicBlock *> Latches;
  L.getLoopLatches(Latches);
  for (BasicBlock *Latch : Latches)
    number(*Latch->getTerminator(), LoopName, Number);
}

void Marker::run() {
  for (Loop *L : Loops.getLoopsInPreorder())
    addLoop(*L);
  for (Instruction &I : instructions(F))
    if (auto Kind = kindOf(I))
      number(I, SiteName, add(Kind->first, Kind->second, I.getDebugLoc()));
}

std::vector<DecisionSite> markDecisions(Module &M) {
  std::vector<DecisionSite> Sites;
  const SmallPtrSet<const Function *, 8> Services = servicesOf(M);
  for (Function &F : M) {
    if (!isAuthors(F))
      continue;
    replaceMinima(F);
    showFloatMinima(F);
    if (!Services.empty())
      showServices(F, Services);
    Marker(F, Sites).run();
  }
  return Sites;
}

//===----------------------------------------------------------------------===//
// Seeing them
//===----------------------------------------------------------------------===//

namespace {
/// Puts the calls that see decisions into one function.
class Seer {
public:
  Seer(Function &F, ArrayRef<DecisionSite> Sites, const BitVector &Which)
      : F(F), Sites(Sites), Which(Which), Dominators(F), Loops(Dominators) {
    LLVMContext &C = F.getContext();
    Seen = F.getParent()->getOrInsertFunction(SeenName, Type::getVoidTy(C),
                                              Type::getInt32Ty(C));
    auto *S = cast<Function>(Seen.getCallee());
    S->setOnlyAccessesInaccessibleMemory();
    for (Attribute::AttrKind Kind :
         {Attribute::NoUnwind, Attribute::WillReturn, Attribute::NoSync,
          Attribute::NoFree, Attribute::NoCallback})
      S->addFnAttr(Kind);
  }
  void run();

private:
  void see(IRBuilder<> &B, const DecisionSite &S, Value *Side) {
    // What is not defined, and decides nothing in the source, decides nothing
    // here.
    Value *Known = B.CreateFreeze(Side);
    B.CreateCall(Seen, B.CreateAdd(B.CreateZExt(Known, B.getInt32Ty()),
                                   B.getInt32(S.First)));
  }
  bool wanted(unsigned Number) const {
    return Which.empty() || (Number < Which.size() && Which[Number]);
  }
  void seeInstruction(Instruction &I, const DecisionSite &S);
  void countTurns(Loop &L, const DecisionSite &S);

  Function &F;
  ArrayRef<DecisionSite> Sites;
  const BitVector &Which;
  DominatorTree Dominators;
  LoopInfo Loops;
  FunctionCallee Seen;
};
} // namespace

void Seer::seeInstruction(Instruction &I, const DecisionSite &S) {
  IRBuilder<> B(&I);
  B.SetCurrentDebugLocation(I.getDebugLoc());
  switch (S.Kind) {
  case DecisionKind::Compare:
    B.SetInsertPoint(I.getNextNode());
    return see(B, S, &I);
  case DecisionKind::Boolean:
    if (isa<TruncInst>(I)) {
      B.SetInsertPoint(I.getNextNode());
      return see(B, S, &I);
    }
    return see(B, S, I.getOperand(0));
  case DecisionKind::MinMax: {
    auto &M = cast<MinMaxIntrinsic>(I);
    return see(
        B, S,
        B.CreateICmp(M.isSigned() ? CmpInst::ICMP_SLT : CmpInst::ICMP_ULT,
                     M.getLHS(), M.getRHS()));
  }
  case DecisionKind::Switch: {
    auto &Switch = cast<SwitchInst>(I);
    SmallVector<const BasicBlock *> To;
    auto SideOf = [&](const BasicBlock *BB) {
      auto *At = find(To, BB);
      if (At == To.end())
        At = To.insert(To.end(), BB);
      return B.getInt32(static_cast<unsigned>(At - To.begin()));
    };
    Value *Side = SideOf(Switch.getDefaultDest());
    for (const auto &Case : Switch.cases())
      Side = B.CreateSelect(
          B.CreateICmpEQ(Switch.getCondition(), Case.getCaseValue()),
          SideOf(Case.getCaseSuccessor()), Side);
    return see(B, S, Side);
  }
  case DecisionKind::Table: {
    Value *Index = cast<GetElementPtrInst>(I).getOperand(2);
    Value *Side = B.CreateBinaryIntrinsic(
        Intrinsic::umin, Index,
        ConstantInt::get(Index->getType(), S.Sides - 1));
    return see(B, S, B.CreateZExtOrTrunc(Side, B.getInt32Ty()));
  }
  case DecisionKind::Number:
    B.SetInsertPoint(I.getNextNode());
    return see(B, S, B.CreateIsNotNull(B.CreateFreeze(&I)));
  case DecisionKind::FloatMinMax: {
    const CallBase &Mark = cast<CallBase>(I);
    OperandBundleUse Floats = *Mark.getOperandBundle(MinimumName);
    Value *L = Floats.Inputs[0], *R = Floats.Inputs[1];
    Value *Less = B.CreateZExt(B.CreateFCmpOLT(L, R), B.getInt32Ty());
    return see(B, S,
               B.CreateSelect(B.CreateFCmpUNO(L, R), B.getInt32(2), Less));
  }
  case DecisionKind::Service:
    return see(B, S, B.getInt32(0));
  case DecisionKind::Loop:
    return;
  }
}

/// Counts in a variable, up to MostTurns: what waits for other threads must
/// come to look the same each turn.
void Seer::countTurns(Loop &L, const DecisionSite &S) {
  IRBuilder<> Entry(&*F.getEntryBlock().begin());
  Type *I32 = Entry.getInt32Ty();
  AllocaInst *Turns = Entry.CreateAlloca(I32);
  BasicBlock *Header = L.getHeader();
  for (BasicBlock *From : predecessors(Header))
    if (!L.contains(From)) {
      IRBuilder<> B(From->getTerminator());
      B.CreateStore(B.getInt32(0), Turns);
    }
  SmallVector<BasicBlock *> Latches;
  L.getLoopLatches(Latches);
  SmallVector<Loop::Edge> Exits;
  L.getExitEdges(Exits);
  // An edge that leaves from a latch counts the turns before.
  for (auto &[From, To] : Exits) {
    BasicBlock *Edge =
        SplitEdge(const_cast<BasicBlock *>(From), const_cast<BasicBlock *>(To));
    IRBuilder<> B(&*Edge->getFirstInsertionPt());
    see(B, S, B.CreateLoad(I32, Turns));
  }
  for (BasicBlock *Latch : Latches) {
    IRBuilder<> B(Latch->getTerminator());
    if (Latch->getTerminator()->getNumSuccessors() > 1)
      B.SetInsertPoint(&*SplitEdge(Latch, Header)->getFirstInsertionPt());
    Value *Now = B.CreateLoad(I32, Turns);
    B.CreateStore(
        B.CreateAdd(Now, B.CreateZExt(
                             B.CreateICmpULT(Now, B.getInt32(MostTurns)), I32)),
        Turns);
  }
}

void Seer::run() {
  SmallVector<std::pair<Instruction *, unsigned>> Work;
  for (Instruction &I : instructions(F))
    if (std::optional<unsigned> N = decisionOf(I); N && wanted(*N))
      Work.push_back({&I, *N});
  SmallVector<std::pair<Loop *, unsigned>> Counted;
  for (Loop *L : Loops.getLoopsInPreorder()) {
    SmallVector<BasicBlock *> Latches;
    L->getLoopLatches(Latches);
    if (std::optional<unsigned> N =
            turnedLoopOf(*Latches.front()->getTerminator());
        N && wanted(*N))
      Counted.push_back({L, *N});
  }
  for (auto [I, N] : Work)
    seeInstruction(*I, Sites[N]);
  for (auto [L, N] : Counted)
    countTurns(*L, Sites[N]);
  for (Instruction &I : make_early_inc_range(instructions(F)))
    if (isMark(I))
      I.eraseFromParent();
}

void seeDecisions(Module &M, LoweredModule &Tables,
                  const CpuDeviceOptions &Options) {
  if (!Options.Decisions)
    return;
  Tables.Decisions = markDecisions(M);
  if (Tables.Decisions.empty())
    return;
  const DecisionSite &Last = Tables.Decisions.back();
  Tables.Decided.assign(Last.First + Last.Sides, 0);
  for (Function &F : M)
    if (isAuthors(F))
      Seer(F, Tables.Decisions, Options.OnlyDecisions).run();
}

void lowerDecisions(Function &F, LoweredModule &Tables) {
  for (Instruction &I : make_early_inc_range(instructions(F))) {
    auto *Call = dyn_cast<CallInst>(&I);
    const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    if (!Callee || Callee->getName() != SeenName)
      continue;
    IRBuilder<> B(Call);
    Value *Table = F.getParent()->getOrInsertGlobal(
        DecidedName, ArrayType::get(B.getInt8Ty(), Tables.Decided.size()));
    Value *Slot = B.CreateInBoundsGEP(
        B.getInt8Ty(), Table,
        B.CreateZExt(Call->getArgOperand(0), B.getInt64Ty()));
    // Host threads may see the same.
    StoreInst *Store = B.CreateStore(B.getInt8(1), Slot);
    Store->setAtomic(AtomicOrdering::Unordered);
    Call->eraseFromParent();
  }
}

} // namespace cupilot
