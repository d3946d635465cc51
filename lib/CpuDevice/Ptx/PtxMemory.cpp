//===- PtxMemory.cpp - Memory instructions of PTX -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Accesses become plain loads, stores and atomics of IR, which the checks see
// like all others. Those of a volatile asm statement are volatile, or a loop
// that waits for another thread would read once only; "cupilot.weak" marks the
// ones that are weak accesses in PTX all the same.
//
//===----------------------------------------------------------------------===//

#include "PtxRules.h"

using namespace llvm;

namespace cupilot {

static StringRef spaceOf(const PtxStatement &S) {
  if (S.has("param") || S.has("param::entry") || S.has("param::func"))
    return "param";
  for (StringRef Each : {"global", "local", "const"})
    if (S.has(Each))
      return Each;
  bool Shared =
      S.has("shared") || S.has("shared::cta") || S.has("shared::cluster");
  return Shared ? "shared" : "";
}

AtomicOrdering ptxOrdering(const PtxStatement &S) {
  return S.has("sc")        ? AtomicOrdering::SequentiallyConsistent
         : S.has("acq_rel") ? AtomicOrdering::AcquireRelease
         : S.has("acquire") ? AtomicOrdering::Acquire
         : S.has("release") ? AtomicOrdering::Release
                            : AtomicOrdering::Monotonic;
}

/// Strong accesses are atomic: PTX ISA, "Memory Consistency Model".
static bool isStrong(const PtxStatement &S) {
  return S.has("relaxed") || S.has("acquire") || S.has("release") ||
         S.has("mmio");
}

static void mark(BodyLowering &L, const PtxStatement &S, Instruction *I) {
  if (!S.has("volatile"))
    I->setMetadata("cupilot.weak", MDNode::get(I->getContext(), {}));
}

/// The number of a vector's parts, which the operand must have too; 0 when it
/// has not.
static unsigned vectorOf(const PtxStatement &S, ArrayRef<ptx::Operand> Has) {
  unsigned Parts = S.has("v2") ? 2 : S.has("v4") ? 4 : S.has("v8") ? 8 : 1;
  return Has.size() == Parts ? Parts : 0;
}

bool ptxLoad(BodyLowering &L, const PtxStatement &S) {
  if (S.Operands.size() != (S.has("L2::cache_hint") ? 3 : 2))
    return false;
  IRBuilder<> &B = L.B;
  unsigned Bits = ptxTypeBits(S.types().back()),
           Parts = vectorOf(S, partsOf(S.Operands[0]));
  Value *Place = L.address(S.operand(1), spaceOf(S));
  if (!Parts || !Place || S.has("release") || S.has("acq_rel"))
    return false;
  Type *T = B.getIntNTy(Bits);
  bool Signed = S.types().back().starts_with("s");
  Align Whole(Bits / 8 * Parts);
  if (isStrong(S)) {
    for (auto [I, Part] : enumerate(partsOf(S.Operands[0]))) {
      LoadInst *V =
          B.CreateAlignedLoad(T, B.CreateConstGEP1_64(T, Place, I),
                              I == 0 ? Whole : Align(Bits / 8), L.IsVolatile);
      V->setAtomic(ptxOrdering(S));
      if (!L.write(Part, V, Signed))
        return false;
    }
    return true;
  }
  bool Volatile = S.has("volatile") || (L.IsVolatile && !S.has("nc"));
  Type *All = Parts == 1 ? T : FixedVectorType::get(T, Parts);
  LoadInst *V = B.CreateAlignedLoad(All, Place, Whole, Volatile);
  if (Volatile)
    mark(L, S, V);
  for (auto [I, Part] : enumerate(partsOf(S.Operands[0])))
    if (!L.write(Part,
                 Parts == 1 ? static_cast<Value *>(V)
                            : B.CreateExtractElement(V, I),
                 Signed))
      return false;
  return true;
}

bool ptxStore(BodyLowering &L, const PtxStatement &S) {
  if (S.Operands.size() != (S.has("L2::cache_hint") ? 3 : 2))
    return false;
  IRBuilder<> &B = L.B;
  unsigned Bits = ptxTypeBits(S.types().back()),
           Parts = vectorOf(S, partsOf(S.Operands[1]));
  Value *Place = L.address(S.operand(0), spaceOf(S));
  if (!Parts || !Place || S.has("acquire") || S.has("acq_rel"))
    return false;
  Type *T = L.type(S.types().back());
  Align Whole(Bits / 8 * Parts);
  Type *All = Parts == 1 ? T : FixedVectorType::get(T, Parts);
  Value *V = PoisonValue::get(All);
  for (auto [I, Part] : enumerate(partsOf(S.Operands[1]))) {
    Value *Element = L.readAs(Part, T);
    if (!Element)
      return false;
    if (isStrong(S)) {
      StoreInst *Store =
          B.CreateAlignedStore(B.CreateBitCast(Element, B.getIntNTy(Bits)),
                               B.CreateConstGEP1_64(T, Place, I),
                               I == 0 ? Whole : Align(Bits / 8), L.IsVolatile);
      Store->setAtomic(ptxOrdering(S));
    }
    V = Parts == 1 ? Element : B.CreateInsertElement(V, Element, I);
  }
  if (isStrong(S))
    return true;
  bool Volatile = S.has("volatile") || L.IsVolatile;
  StoreInst *Store = B.CreateAlignedStore(V, Place, Whole, Volatile);
  if (Volatile)
    mark(L, S, Store);
  return true;
}

static std::optional<AtomicRMWInst::BinOp> operationOf(const PtxStatement &S,
                                                       Type *T) {
  bool Float = T->isFPOrFPVectorTy(),
       Signed = S.types().back().starts_with("s");
  bool Bits = S.types().back().starts_with("b") && !Float;
  if (S.has("exch"))
    return AtomicRMWInst::Xchg;
  if (S.has("and") || S.has("or") || S.has("xor")) {
    if (!Bits)
      return std::nullopt;
    return S.has("and")  ? AtomicRMWInst::And
           : S.has("or") ? AtomicRMWInst::Or
                         : AtomicRMWInst::Xor;
  }
  if (Bits)
    return std::nullopt;
  if (S.has("add"))
    return Float ? AtomicRMWInst::FAdd : AtomicRMWInst::Add;
  if (S.has("min"))
    return Float    ? AtomicRMWInst::FMin
           : Signed ? AtomicRMWInst::Min
                    : AtomicRMWInst::UMin;
  if (S.has("max"))
    return Float    ? AtomicRMWInst::FMax
           : Signed ? AtomicRMWInst::Max
                    : AtomicRMWInst::UMax;
  if (Float || Signed)
    return std::nullopt;
  return S.has("inc") ? AtomicRMWInst::UIncWrap : AtomicRMWInst::UDecWrap;
}

/// An atomic operation. Of float32, a sum in global memory flushes subnormal
/// numbers, and one in shared memory does not.
static Value *atomicOperation(BodyLowering &L, AtomicRMWInst::BinOp Op,
                              Value *Place, Value *X, Align A,
                              AtomicOrdering Order, StringRef Space) {
  IRBuilder<> &B = L.B;
  LLVMContext &C = B.getContext();
  auto Emit = [&](bool Flush) {
    AtomicRMWInst *V = B.CreateAtomicRMW(Op, Place, X, A, Order);
    if (Flush)
      V->setMetadata("cupilot.flush", MDNode::get(C, {}));
    return V;
  };
  bool Flushes = Op == AtomicRMWInst::FAdd && X->getType()->isFloatTy();
  if (!Flushes || !Space.empty())
    return Emit(Flushes && Space == "global");
  Function *F = B.GetInsertBlock()->getParent();
  BasicBlock *Shared = BasicBlock::Create(C, "shared", F),
             *Global = BasicBlock::Create(C, "global", F),
             *Next = BasicBlock::Create(C, "next", F);
  B.CreateCondBr(L.nvvm("isspacep.shared", {Place}), Shared, Global);
  B.SetInsertPoint(Shared);
  AtomicRMWInst *First = Emit(false);
  First->setVolatile(true); // Or both would become one, which flushes not.
  B.CreateBr(Next);
  B.SetInsertPoint(Global);
  Value *Second = Emit(true);
  B.CreateBr(Next);
  B.SetInsertPoint(Next);
  PHINode *V = B.CreatePHI(X->getType(), 2);
  V->addIncoming(First, Shared);
  V->addIncoming(Second, Global);
  return V;
}

/// atom d, [a], b{, c}{, policy} and red [a], b{, policy}. Each element of a
/// vector is an atomic operation of its own.
bool ptxAtomic(BodyLowering &L, const PtxStatement &S) {
  IRBuilder<> &B = L.B;
  bool Result = S.base() == "atom", Swap = S.has("cas");
  unsigned First = Result ? 1 : 0;
  if (S.Operands.size() !=
          First + 2 + (Swap ? 1 : 0) + (S.has("L2::cache_hint") ? 1 : 0) ||
      S.has("volatile") || S.has("weak") || S.has("mmio"))
    return false;
  Value *Place = L.address(S.operand(First), spaceOf(S));
  ArrayRef<ptx::Operand> Sources = partsOf(S.Operands[First + 1]);
  unsigned Parts = vectorOf(S, Sources), Bits = ptxTypeBits(S.types().back());
  if (!Place || !Parts || (Result && partsOf(S.Operands[0]).size() != Parts))
    return false;
  AtomicOrdering Order = ptxOrdering(S);
  Align Whole(Bits / 8 * Parts), Each(Bits / 8);
  if (Swap) {
    Value *Old = L.read(Sources.front(), Bits),
          *New = L.read(S.operand(First + 2), Bits);
    if (!Old || !New || Parts != 1 || !S.types().back().starts_with("b"))
      return false;
    AtomicCmpXchgInst *V = B.CreateAtomicCmpXchg(
        Place, Old, New, Whole, Order,
        AtomicCmpXchgInst::getStrongestFailureOrdering(Order));
    return L.write(S, B.CreateExtractValue(V, 0));
  }
  Type *T = L.type(S.types().back());
  auto Op = operationOf(S, T);
  if (!Op || (*Op == AtomicRMWInst::Xchg && !T->isIntegerTy()))
    return false;
  for (auto [I, Source] : enumerate(Sources)) {
    Value *X = L.readAs(Source, T);
    if (!X)
      return false;
    Value *V = atomicOperation(L, *Op, B.CreateConstGEP1_64(T, Place, I), X,
                               I == 0 ? Whole : Each, Order, spaceOf(S));
    if (Result && !L.write(partsOf(S.Operands[0])[I], V,
                           S.types().back().starts_with("s")))
      return false;
  }
  return true;
}

/// What only makes things faster on a GPU.
bool ptxHint(BodyLowering &, const PtxStatement &) { return true; }

bool ptxPolicy(BodyLowering &L, const PtxStatement &S) {
  return L.write(S, L.B.getInt64(0));
}

/// Addresses are the host's; one of shared memory may have lost its upper half
/// in a 32-bit register.
bool ptxConvertAddress(BodyLowering &L, const PtxStatement &S) {
  IRBuilder<> &B = L.B;
  unsigned Bits = ptxTypeBits(S.types().back());
  Value *V = L.read(S.operand(1), Bits);
  bool Shared = spaceOf(S) == "shared";
  if (S.Operands.size() != 2 || !V || (Bits == 32 && !(Shared && S.has("to"))))
    return false;
  if (Shared && !S.has("to"))
    V = B.CreatePtrToInt(L.sharedPointer(V), B.getInt64Ty());
  return L.write(S, V);
}

bool ptxIsSpace(BodyLowering &L, const PtxStatement &S) {
  IRBuilder<> &B = L.B;
  Value *V = L.read(S.operand(1), 64);
  if (S.Operands.size() != 2 || !V)
    return false;
  StringRef Space = S.has("shared::cluster") ? "shared.cluster" : spaceOf(S);
  return L.write(
      S, L.nvvm("isspacep." + Space, {B.CreateIntToPtr(V, B.getPtrTy())}));
}

/// An address in shared memory of the cluster, in any form, as a pointer.
static Value *clusterPointer(BodyLowering &L, const PtxStatement &S) {
  Value *V = L.read(S.operand(1), S.has("u32") ? 32 : 64);
  if (!V)
    return nullptr;
  if (S.has("shared::cluster"))
    return L.B.CreateAddrSpaceCast(L.sharedPointer(V), L.B.getPtrTy());
  return S.has("u64") ? L.B.CreateIntToPtr(V, L.B.getPtrTy()) : nullptr;
}

/// mapa d, a, b: what a is in the shared memory of the cluster's block b.
bool ptxMapAddress(BodyLowering &L, const PtxStatement &S) {
  IRBuilder<> &B = L.B;
  Value *Place = clusterPointer(L, S), *Rank = L.read(S.operand(2), 32);
  if (S.Operands.size() != 3 || !Place || !Rank)
    return false;
  Value *There = L.nvvm("mapa", {Place, Rank});
  return L.write(S, B.CreatePtrToInt(There, S.has("u32") ? B.getInt32Ty()
                                                         : B.getInt64Ty()));
}

bool ptxBlockRank(BodyLowering &L, const PtxStatement &S) {
  Value *Place = clusterPointer(L, S);
  return S.Operands.size() == 2 && Place &&
         L.write(S, L.nvvm("getctarank", {Place}));
}

} // namespace cupilot
