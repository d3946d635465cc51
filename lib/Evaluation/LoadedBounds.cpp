//===- LoadedBounds.cpp - Bounds for integers in memory -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelCode.h"
#include "LoadedWalk.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/ConstantRange.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/KnownBits.h"
#include "llvm/Support/NVPTXAddrSpace.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace cupilot {

bool LoadedWalk::decides(const Value *V,
                         SmallPtrSetImpl<const Value *> &Seen) const {
  if (!Seen.insert(V).second)
    return false;
  for (const User *U : V->users()) {
    if (isa<ICmpInst, SwitchInst, GetElementPtrInst, IntToPtrInst>(U))
      return true;
    if (isa<BinaryOperator, CastInst, PHINode, SelectInst, FreezeInst>(U) &&
        U->getType()->isIntOrIntVectorTy() && decides(U, Seen))
      return true;
  }
  return false;
}

void LoadedWalk::addBounds(Roots Of, LoadedBound::Kind K, uint64_t Bound,
                           const Instruction &I,
                           std::vector<LoadedBound> &To) const {
  for (auto [N, From] : enumerate(Sources))
    if (Of >> N & 1)
      To.push_back({K, From, Bound, locationOf(I)});
}

/// Elements of the array of fixed size that \p GEP indexes with its last index;
/// 0 for what is none.
static uint64_t fixedElements(const GetElementPtrInst &GEP) {
  const Value *Object = getUnderlyingObject(GEP.getPointerOperand(), 32);
  const Type *Whole = nullptr;
  if (const auto *Alloca = dyn_cast<AllocaInst>(Object))
    Whole = Alloca->getAllocatedType();
  else if (const auto *G = dyn_cast<GlobalVariable>(Object);
           G && G->getAddressSpace() == NVPTXAS::ADDRESS_SPACE_SHARED &&
           !G->isDeclaration())
    Whole = G->getValueType();
  if (!Whole || !Whole->isArrayTy())
    return 0;
  if (const auto *A = dyn_cast<ArrayType>(GEP.getSourceElementType());
      A && GEP.getNumIndices() == 2)
    return A->getNumElements();
  const DataLayout &DL = GEP.getDataLayout();
  uint64_t Element = DL.getTypeAllocSize(GEP.getSourceElementType());
  return Element ? DL.getTypeAllocSize(const_cast<Type *>(Whole)) / Element : 0;
}

/// Whether \p Index is below \p Size whatever was loaded.
static bool isBelow(const Value *Index, uint64_t Size, const DataLayout &DL) {
  KnownBits Known = computeKnownBits(Index, DL);
  if (Known.getMaxValue().ult(Size))
    return true;
  ConstantRange Range = computeConstantRange(Index, /*ForSigned=*/false);
  return Range.getUnsignedMax().ult(Size);
}

/// Whether \p Side of a branch on \p C says that \p V, one of its operands, is
/// not above the other one.
static bool isUpperBound(const ICmpInst &C, bool OfFirst, unsigned Side) {
  CmpInst::Predicate P = OfFirst ? C.getPredicate() : C.getSwappedPredicate();
  if (Side)
    P = CmpInst::getInversePredicate(P);
  return P == CmpInst::ICMP_EQ || ICmpInst::isLT(P) || ICmpInst::isLE(P);
}

/// Whether \p I runs only where a comparison says that \p V, or what it was
/// cast from, is below a constant of at most \p Size, or below an argument, of
/// which launches of all sizes say how large it may be.
static bool isGuarded(const Value *V, uint64_t Size, const Instruction &I,
                      const DominatorTree &Dominators) {
  const Value *Plain = uncast(V);
  // What is compared may be widened before; cut, it says nothing of the rest.
  SmallVector<const Value *, 4> Same = {Plain};
  for (size_t N = 0; N < Same.size(); ++N)
    for (const User *U : Same[N]->users())
      if (isa<SExtInst, ZExtInst>(U) && !is_contained(Same, U))
        Same.push_back(U);
  for (const Value *Each : Same)
    for (const User *U : Each->users()) {
      const auto *C = dyn_cast<ICmpInst>(U);
      if (!C)
        continue;
      const bool IsFirst = C->getOperand(0) == Each;
      const Value *Other = uncast(C->getOperand(IsFirst ? 1 : 0));
      const auto *Limit = dyn_cast<ConstantInt>(Other);
      if (Limit ? Limit->getValue().getActiveBits() > 63 ||
                      Limit->getZExtValue() > Size
                : !isa<Argument>(Other))
        continue;
      for (const User *B : C->users())
        if (const auto *Branch = dyn_cast<BranchInst>(B))
          for (unsigned Side = 0; Side < Branch->getNumSuccessors(); ++Side)
            if (isUpperBound(*C, IsFirst, Side) &&
                Dominators.dominates(BasicBlockEdge(Branch->getParent(),
                                                    Branch->getSuccessor(Side)),
                                     I.getParent()))
              return true;
    }
  return false;
}

/// Whether the operand may be a number that the result does not hold, be both
/// signed or not.
static bool losesBits(const TruncInst &Trunc, const DataLayout &DL) {
  const Value *V = Trunc.getOperand(0);
  unsigned Bits = Trunc.getType()->getScalarSizeInBits();
  return computeKnownBits(V, DL).countMaxActiveBits() > Bits &&
         ComputeMaxSignificantBits(V, DL) > Bits;
}

bool LoadedWalk::returns(const Value *Number,
                         SmallPtrSetImpl<const Value *> &Seen) const {
  if (!Seen.insert(Number).second)
    return false;
  for (const User *U : Number->users()) {
    const auto *Call = dyn_cast<IntrinsicInst>(U);
    if (isa<FPToSIInst, FPToUIInst>(U) ||
        (Call && (Call->getIntrinsicID() == Intrinsic::fptosi_sat ||
                  Call->getIntrinsicID() == Intrinsic::fptoui_sat))) {
      SmallPtrSet<const Value *, 8> Integers;
      if (decides(U, Integers))
        return true;
      continue;
    }
    if (U->getType()->isFPOrFPVectorTy() && !isa<LoadInst, CallInst>(U) &&
        returns(U, Seen))
      return true;
  }
  return false;
}

/// Whether \p Cast may be of an integer that the floating type does not hold.
static bool losesBits(const CastInst &Cast, const DataLayout &DL) {
  const Value *V = Cast.getOperand(0);
  const auto Held =
      unsigned(Cast.getDestTy()->getScalarType()->getFPMantissaWidth());
  // A sign takes a bit that the significand need not have.
  return computeKnownBits(V, DL).countMaxActiveBits() > Held &&
         (!isa<SIToFPInst>(Cast) ||
          ComputeMaxSignificantBits(V, DL) > Held + 1);
}

/// The bits of an integer that \p I leaves, by a mask or by shifts to the left
/// and back; 0 where it leaves all, or so few that cases of all lengths and
/// indices go beyond them. What is left may be packed with other numbers.
static unsigned keptBits(const Instruction &I) {
  // And no memory is so large that an index of it takes more.
  constexpr unsigned Tried = 16, Most = 40;
  const Value *V = nullptr;
  const APInt *Mask = nullptr, *Up = nullptr, *Down = nullptr;
  unsigned Width = I.getType()->getScalarSizeInBits(), Bits = 0;
  if (match(&I, m_And(m_Value(V), m_LowBitMask(Mask))))
    Bits = Mask->countr_one();
  else if (auto Raised = m_Shl(m_Value(V), m_APInt(Up));
           match(&I, m_Shr(m_CombineOr(Raised, m_c_Or(Raised, m_Value())),
                           m_APInt(Down))) &&
           *Up == *Down)
    Bits = Width - static_cast<unsigned>(Up->getZExtValue());
  if (Bits <= Tried || Bits >= Width - 1 || Bits > Most)
    return 0;
  if (computeKnownBits(V, I.getDataLayout()).countMaxActiveBits() <= Bits)
    return 0;
  return Bits;
}

std::vector<LoadedBound> LoadedWalk::bounds() const {
  std::vector<LoadedBound> Result;
  const DataLayout &DL = F.getDataLayout();
  for (const Instruction &I : instructions(F)) {
    if (const auto *GEP = dyn_cast<GetElementPtrInst>(&I)) {
      const Value *Index = GEP->idx_end()[-1];
      Roots R = anyOf(Index);
      uint64_t Size = R ? fixedElements(*GEP) : 0;
      if (Size && !isBelow(Index, Size, DL) &&
          !isGuarded(Index, Size, I, Dominators))
        addBounds(R, LoadedBound::Kind::FixedArray, Size, I, Result);
    }
    if (const auto *Trunc = dyn_cast<TruncInst>(&I)) {
      unsigned Bits = Trunc->getType()->getScalarSizeInBits();
      SmallPtrSet<const Value *, 8> Seen;
      if (Roots R = of(Trunc->getOperand(0));
          R && Bits > 1 && decides(Trunc, Seen) && losesBits(*Trunc, DL) &&
          (Bits < 32 || !isGuarded(Trunc->getOperand(0), maxUIntN(Bits), *Trunc,
                                   Dominators)))
        addBounds(R, LoadedBound::Kind::NarrowType, Bits, I, Result);
    }
    if (unsigned Bits = I.getType()->isIntegerTy() ? keptBits(I) : 0) {
      SmallPtrSet<const Value *, 8> Seen;
      // Where the other bits live on, these are fields of a word.
      Roots Whole = 0;
      for (const Instruction &Other : instructions(F))
        if (const APInt *By = nullptr;
            match(&Other, m_Shr(m_Value(), m_APInt(By))) && !By->isZero() &&
            By->ule(Bits) && !keptBits(Other))
          Whole |= of(&Other);
      if (Roots R = of(&I) & ~Whole; R && decides(&I, Seen))
        addBounds(R, LoadedBound::Kind::NarrowType, Bits, I, Result);
    }
    if (isa<SIToFPInst, UIToFPInst>(I)) {
      SmallPtrSet<const Value *, 8> Seen;
      if (Roots R = of(I.getOperand(0));
          R && returns(&I, Seen) && losesBits(cast<CastInst>(I), DL))
        addBounds(R, LoadedBound::Kind::NarrowFloat,
                  unsigned(I.getType()->getScalarType()->getFPMantissaWidth()),
                  I, Result);
    }
  }
  for (const Loop *L : Loops.getLoopsInPreorder()) {
    SmallVector<const ICmpInst *> Compares;
    exits(*L, Compares);
    const ICmpInst *Constant = nullptr;
    uint64_t Turns = 0;
    Roots Ended = 0;
    for (const ICmpInst *C : Compares)
      for (unsigned Side : {0u, 1u}) {
        if (!counterIn(C->getOperand(Side), *L))
          continue;
        const Value *Other = C->getOperand(1 - Side);
        if (const auto *N = dyn_cast<ConstantInt>(Other);
            N && N->getValue().getActiveBits() <= 63 && N->getZExtValue() > 1) {
          Constant = C;
          Turns = N->getZExtValue();
        }
        Ended |= of(Other);
      }
    if (!Constant)
      continue;
    // Or what the counter reaches is compared with it inside.
    for (const BasicBlock *BB : L->blocks())
      for (const Instruction &I : *BB)
        if (const auto *C = dyn_cast<ICmpInst>(&I))
          for (unsigned Side : {0u, 1u})
            if (counterIn(C->getOperand(Side), *L))
              Ended |= of(C->getOperand(1 - Side));
    addBounds(Ended, LoadedBound::Kind::ConstantTurns, Turns, *Constant,
              Result);
  }
  return Result;
}

/// Sums and products, of which the low bits are right however many the high
/// ones would be.
static const BinaryOperator *ringIn(const Value *V) {
  const auto *Op = dyn_cast<BinaryOperator>(V);
  if (!Op || !Op->getType()->isIntegerTy() || Op->getType()->isIntegerTy(1))
    return nullptr;
  switch (Op->getOpcode()) {
  case Instruction::Add:
  case Instruction::Sub:
  case Instruction::Mul:
  case Instruction::Shl:
    return Op;
  default:
    return nullptr;
  }
}

/// Whether all of \p V becomes part of an index or of a result with more bits:
/// no mask or cast takes bits away first. \p Widened: it has become wider.
static bool isReadWider(const Value *V, bool Widened,
                        SmallPtrSetImpl<const Value *> &Seen) {
  if (!Seen.insert(V).second)
    return false;
  return any_of(V->users(), [&](const User *U) {
    if (const auto *GEP = dyn_cast<GetElementPtrInst>(U))
      return GEP->getPointerOperand() != V;
    if (const auto *Store = dyn_cast<StoreInst>(U))
      return Widened && Store->getValueOperand() == V;
    const bool Widens = isa<SExtInst, ZExtInst>(U);
    return (Widens || isa<PHINode, FreezeInst, SelectInst>(U) || ringIn(U)) &&
           isReadWider(U, Widened || Widens, Seen);
  });
}

/// What \p Op adds and multiplies, in its own width, without constants.
static void termsOf(const BinaryOperator &Op,
                    SmallVectorImpl<const Value *> &Terms) {
  for (const Use &U : Op.operands())
    if (const BinaryOperator *Inner = ringIn(U.get()))
      termsOf(*Inner, Terms);
    else if (!isa<Constant>(U.get()))
      Terms.push_back(U.get());
}

std::vector<LoadedBound> LoadedWalk::narrowSums(bool WithConstants) const {
  std::vector<LoadedBound> Result;
  for (const Instruction &I : instructions(F)) {
    const BinaryOperator *Op = ringIn(&I);
    Roots R = Op ? of(Op) : 0;
    if (!R)
      continue;
    const unsigned Bits = Op->getType()->getIntegerBitWidth();
    SmallPtrSet<const Value *, 8> Seen;
    if (Bits >= 64 || !isReadWider(Op, /*Widened=*/false, Seen))
      continue;
    SmallVector<const Value *, 4> Terms;
    termsOf(*Op, Terms);
    const bool Counts = Terms.size() > 1 ||
                        Op->getOpcode() == Instruction::Mul ||
                        Op->getOpcode() == Instruction::Shl;
    // In a quarter of the type, so that the sum of two is in it. A sum that
    // grows in a loop is what is added to it.
    auto IsBelow = [&](const Value *V) {
      const auto *Phi = dyn_cast<PHINode>(V);
      return !of(V) || (Phi && is_contained(Phi->incoming_values(), Op)) ||
             ComputeMaxSignificantBits(V, F.getDataLayout()) < Bits - 1 ||
             isGuarded(V, maxUIntN(Bits - 2), I, Dominators);
    };
    if (WithConstants || (Counts && !all_of(Terms, IsBelow)))
      addBounds(R, LoadedBound::Kind::NarrowSum, Bits, I, Result);
  }
  return Result;
}

std::vector<std::pair<LoadedFrom, unsigned>> LoadedWalk::sums() const {
  std::vector<std::pair<LoadedFrom, unsigned>> Result;
  auto Add = [&](Roots Of, unsigned Bits) {
    for (auto [N, From] : enumerate(Sources))
      if (Of >> N & 1)
        Result.push_back({From, Bits});
  };
  for (const Instruction &I : instructions(F)) {
    if (const BinaryOperator *Op = ringIn(&I)) {
      SmallVector<const Value *, 4> Terms;
      termsOf(*Op, Terms);
      if (Terms.size() > 1 || Op->getOpcode() == Instruction::Mul ||
          Op->getOpcode() == Instruction::Shl)
        Add(of(Op), Op->getType()->getIntegerBitWidth());
      continue;
    }
    // A pointer to a row, and an index in it. Where the row begins is a sum of
    // 64 bits if it comes from memory, or was computed in as many.
    const auto *GEP = dyn_cast<GetElementPtrInst>(&I);
    const auto *Row =
        GEP ? dyn_cast<GetElementPtrInst>(GEP->getPointerOperand()) : nullptr;
    if (!Row)
      continue;
    const Value *Index = GEP->idx_end()[-1], *Begin = Row->idx_end()[-1];
    if (ringIn(Begin) || (of(Begin) && of(Index)))
      Add(of(Begin) | of(Index), 64);
  }
  return Result;
}

Expected<std::vector<LoadedBound>>
boundsOnLoaded(StringRef Original, StringRef OriginalSymbol, StringRef Variant,
               ArrayRef<std::string> Symbols) {
  Expected<KernelCode> Own = KernelCode::of(Original);
  if (!Own)
    return Own.takeError();
  Expected<KernelCode> Mine = KernelCode::of(Variant);
  if (!Mine)
    return Mine.takeError();
  std::vector<LoadedBound> Known;
  std::vector<std::pair<LoadedFrom, unsigned>> Sums;
  unsigned Params = 0;
  if (const Function *F = Own->kernel(OriginalSymbol)) {
    LoadedWalk Walk(*F);
    Known = Walk.bounds();
    append_range(Known, Walk.narrowSums(/*WithConstants=*/true));
    Sums = Walk.sums();
    Params = static_cast<unsigned>(F->arg_size());
  }
  std::vector<LoadedBound> Result;
  for (const std::string &Symbol : Symbols) {
    const Function *F = Mine->kernel(Symbol);
    if (!F)
      continue;
    LoadedWalk Walk(*F);
    std::vector<LoadedBound> Bounds = Walk.bounds();
    // Who computes what the original does not compute at all is not narrower.
    for (LoadedBound &B : Walk.narrowSums(/*WithConstants=*/false))
      if (any_of(Sums, [&](const auto &S) {
            return S.first.holds(B.From) && S.second > B.Bound;
          }))
        Bounds.push_back(std::move(B));
    for (const LoadedBound &B : Bounds) {
      // Scratch memory and its own variables hold what the variant itself
      // wrote.
      if (B.From.Variable.empty() ? B.From.Pointer.Param >= Params
                                  : !Own->M->getNamedGlobal(B.From.Variable))
        continue;
      if (none_of(Known,
                  [&](const LoadedBound &K) {
                    return K.K == B.K && K.From.holds(B.From) &&
                           K.Bound <= B.Bound;
                  }) &&
          // One sum of two places is one fault.
          (B.K != LoadedBound::Kind::NarrowSum ||
           none_of(Result, [&](const LoadedBound &R) {
             return R.K == B.K && R.Location == B.Location;
           })))
        Result.push_back(B);
    }
  }
  return Result;
}

bool LoadedBound::isPassedIn(const GateCase &C) const {
  // No case has memory for an index beyond that.
  if (K == Kind::NarrowSum)
    return false;
  auto Passes = [this](int64_t V) {
    if (K == Kind::NarrowFloat)
      return V > int64_t(1) << Bound || V < -(int64_t(1) << Bound);
    if (K != Kind::NarrowType)
      return V >= 0 && static_cast<uint64_t>(V) >= Bound;
    return V < minIntN(Bound) || V > static_cast<int64_t>(maxUIntN(Bound));
  };
  if (!From.Variable.empty())
    return any_of(C.Globals, [&](const auto &G) {
      return G.first == From.Variable &&
             any_of(integersAt(From, G.second), Passes);
    });
  for (const WorkloadPointer &P : C.Pointers) {
    if (P.Param != From.Pointer.Param || P.Offset != From.Pointer.Offset)
      continue;
    const Layout &L = C.Layouts[P.Buffer];
    const Bytes &B = C.Buffers[P.Buffer];
    for (const LayoutField &F : L.Fields)
      for (size_t At = F.Offset;
           isInteger(F.Kind) && At + sizeOf(F.Kind) <= B.size(); At += L.Stride)
        if (Passes(readInteger(F.Kind, B.data() + At)))
          return true;
  }
  return false;
}

std::string LoadedBound::str() const {
  std::string Where = Location.empty() ? "" : " at " + Location;
  std::string Integers =
      From.Variable.empty()
          ? "integers in memory"
          : "integers of the device variable '" + From.Variable + "'";
  switch (K) {
  case Kind::FixedArray:
    return "an array of " + std::to_string(Bound) + " elements is indexed by " +
           Integers + Where;
  case Kind::ConstantTurns:
    return "a loop over " + Integers + " ends after " + std::to_string(Bound) +
           " turns" + Where;
  case Kind::NarrowType:
    return Integers + " are cut to " + std::to_string(Bound) + " bits" + Where;
  case Kind::NarrowFloat:
    return Integers + " go through a float that holds " +
           std::to_string(Bound) + " bits" + Where;
  case Kind::NarrowSum:
    return Integers + " are added or multiplied in " + std::to_string(Bound) +
           " bits" + Where + ", by the original in more";
  }
  llvm_unreachable("a kind that is none");
}

} // namespace cupilot
