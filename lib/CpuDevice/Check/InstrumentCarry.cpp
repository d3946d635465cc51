//===- InstrumentCarry.cpp - Unwritten bytes that are only copied -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A load whose value only goes to memory again is no use of it: the bits that
// say what is unwritten go with the value, through vectors and structs.
//
//===----------------------------------------------------------------------===//

#include "Instrument.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace cupilot {

/// Bytes of a value that can be told apart in a mask.
static constexpr uint64_t MaskBytes = 64;

/// Whether each element of a type is a number of whole bytes.
static bool hasByteElements(Type *T, const DataLayout &DL) {
  if (auto *V = dyn_cast<FixedVectorType>(T))
    return V->getScalarSizeInBits() % 8 == 0;
  if (auto *S = dyn_cast<StructType>(T))
    return all_of(S->elements(),
                  [&](Type *E) { return hasByteElements(E, DL); });
  if (auto *A = dyn_cast<ArrayType>(T))
    return hasByteElements(A->getElementType(), DL);
  return DL.getTypeSizeInBits(T) % 8 == 0;
}

/// True when \p V ends in memory, unchanged, and nowhere else.
bool Instrumenter::onlyCopied(Value *V, SmallPtrSetImpl<Value *> &Seen) const {
  if (!Seen.insert(V).second)
    return true;
  if (!V->getType()->isSized() || !hasByteElements(V->getType(), DL) ||
      DL.getTypeStoreSize(V->getType()) > MaskBytes)
    return false;
  for (Use &U : V->uses()) {
    auto *I = cast<Instruction>(U.getUser());
    if (auto *Store = dyn_cast<StoreInst>(I)) {
      Value *Base = getUnderlyingObject(Store->getPointerOperand(), 0);
      if (U.getOperandNo() != 0 || Store->isAtomic() || isa<AllocaInst>(Base))
        return false;
      continue;
    }
    if (isMasked(*I))
      continue;
    bool Moves = isa<BitCastInst, FreezeInst, PHINode, ShuffleVectorInst,
                     ExtractValueInst, InsertValueInst>(I);
    Moves |= isMaskedExtreme(*I);
    if (isa<SelectInst>(I))
      Moves = U.getOperandNo() != 0;
    if (auto *Extract = dyn_cast<ExtractElementInst>(I))
      Moves = isa<ConstantInt>(Extract->getIndexOperand());
    if (auto *Insert = dyn_cast<InsertElementInst>(I))
      Moves = isa<ConstantInt>(Insert->getOperand(2));
    if (!Moves || !onlyCopied(I, Seen))
      return false;
  }
  return true;
}

void Instrumenter::findCarriers() {
  for (const CheckedAccess &A : Accesses) {
    auto *Load = dyn_cast<LoadInst>(A.I);
    SmallPtrSet<Value *, 8> Seen;
    if (Load && Load->isSimple() && !Load->use_empty() &&
        onlyCopied(Load, Seen))
      Carriers.insert(Load);
  }
}

/// A mask of the bytes of \p V that hold nothing, as an i64; null for none.
Value *Instrumenter::unwrittenBytes(Value *V) {
  if (auto It = Unwritten.find(V); It != Unwritten.end())
    return It->second;
  auto *I = dyn_cast<Instruction>(V);
  if (!I)
    return nullptr;
  auto SizeOf = [&](Type *T) -> uint64_t { return DL.getTypeStoreSize(T); };
  auto Ones = [](uint64_t Bytes) {
    return Bytes >= 64 ? ~0ull : (1ull << Bytes) - 1;
  };
  IRBuilder<> B(I);
  Type *I64 = B.getInt64Ty();
  auto Or0 = [&](Value *Mask) { return Mask ? Mask : B.getInt64(0); };
  auto Part = [&](Value *Mask, uint64_t From, uint64_t Bytes) {
    return B.CreateAnd(B.CreateLShr(Mask, From), Ones(Bytes));
  };
  auto Replace = [&](Value *Mask, Value *New, uint64_t From, uint64_t Bytes) {
    return B.CreateOr(B.CreateAnd(Mask, ~(Ones(Bytes) << From)),
                      B.CreateShl(New, From));
  };
  auto OffsetOf = [&](Type *T, ArrayRef<unsigned> Path) {
    SmallVector<Value *> Indices = {B.getInt32(0)};
    for (unsigned Index : Path)
      Indices.push_back(B.getInt32(Index));
    return static_cast<uint64_t>(DL.getIndexedOffsetInType(T, Indices));
  };
  if (auto *Phi = dyn_cast<PHINode>(I)) {
    auto *Mask = PHINode::Create(I64, Phi->getNumIncomingValues(), "unwritten",
                                 Phi->getIterator());
    Unwritten[V] = Mask;
    for (unsigned K = 0; K < Phi->getNumIncomingValues(); ++K) {
      Value *Of = unwrittenBytes(Phi->getIncomingValue(K));
      Mask->addIncoming(Of ? Of : B.getInt64(0), Phi->getIncomingBlock(K));
    }
    return Mask;
  }
  Value *Result = nullptr;
  if (isMaskedExtreme(*I)) {
    Value *X = unwrittenBytes(I->getOperand(0)),
          *Y = unwrittenBytes(I->getOperand(1));
    if (X || Y) // Neither byte is known without all of both.
      Result = B.CreateSelect(
          B.CreateICmpEQ(B.CreateOr(Or0(X), Or0(Y)), B.getInt64(0)),
          B.getInt64(0), B.getInt64(Ones(SizeOf(I->getType()))));
  } else if (isa<BitCastInst, FreezeInst>(I)) {
    Result = unwrittenBytes(I->getOperand(0));
  } else if (auto *Select = dyn_cast<SelectInst>(I)) {
    Value *True = unwrittenBytes(Select->getTrueValue()),
          *False = unwrittenBytes(Select->getFalseValue());
    if ((True || False) && !Select->getCondition()->getType()->isVectorTy())
      Result = B.CreateSelect(Select->getCondition(), Or0(True), Or0(False));
  } else if (auto *Extract = dyn_cast<ExtractElementInst>(I)) {
    uint64_t Bytes = SizeOf(I->getType());
    if (Value *Of = unwrittenBytes(Extract->getVectorOperand()))
      if (auto *Index = dyn_cast<ConstantInt>(Extract->getIndexOperand()))
        Result = Part(Of, Index->getZExtValue() * Bytes, Bytes);
  } else if (auto *Insert = dyn_cast<InsertElementInst>(I)) {
    Value *Into = unwrittenBytes(Insert->getOperand(0)),
          *New = unwrittenBytes(Insert->getOperand(1));
    uint64_t Bytes = SizeOf(Insert->getOperand(1)->getType());
    auto *Index = dyn_cast<ConstantInt>(Insert->getOperand(2));
    if ((Into || New) && Index)
      Result =
          Replace(Or0(Into), Or0(New), Index->getZExtValue() * Bytes, Bytes);
  } else if (auto *Shuffle = dyn_cast<ShuffleVectorInst>(I)) {
    Value *Sides[2] = {unwrittenBytes(Shuffle->getOperand(0)),
                       unwrittenBytes(Shuffle->getOperand(1))};
    int Lanes = cast<FixedVectorType>(Shuffle->getOperand(0)->getType())
                    ->getNumElements();
    uint64_t Bytes = SizeOf(I->getType()->getScalarType());
    for (auto [To, From] : enumerate(Shuffle->getShuffleMask())) {
      Value *Side = From < 0 ? nullptr : Sides[From >= Lanes];
      if (!Side)
        continue;
      Value *Moved =
          B.CreateShl(Part(Side, From % Lanes * Bytes, Bytes), To * Bytes);
      Result = Result ? B.CreateOr(Result, Moved) : Moved;
    }
  } else if (auto *Extract = dyn_cast<ExtractValueInst>(I)) {
    if (Value *Of = unwrittenBytes(Extract->getAggregateOperand()))
      Result = Part(Of,
                    OffsetOf(Extract->getAggregateOperand()->getType(),
                             Extract->getIndices()),
                    SizeOf(I->getType()));
  } else if (auto *Insert = dyn_cast<InsertValueInst>(I)) {
    Value *Into = unwrittenBytes(Insert->getAggregateOperand()),
          *New = unwrittenBytes(Insert->getInsertedValueOperand());
    if (Into || New)
      Result = Replace(Or0(Into), Or0(New),
                       OffsetOf(I->getType(), Insert->getIndices()),
                       SizeOf(Insert->getInsertedValueOperand()->getType()));
  }
  Unwritten[V] = Result;
  return Result;
}

void Instrumenter::carryUnwritten() {
  for (const CheckedAccess &A : Accesses) {
    auto *Store = dyn_cast<StoreInst>(A.I);
    auto Site = CarrySites.find(A.I);
    if (!Store || Carriers.empty() || Site == CarrySites.end())
      continue;
    Value *Mask = unwrittenBytes(Store->getValueOperand());
    if (!Mask)
      continue;
    IRBuilder<> B(Store);
    Type *Ptr = B.getPtrTy(), *I32 = B.getInt32Ty(), *I64 = B.getInt64Ty();
    Value *Generic = B.CreatePointerBitCastOrAddrSpaceCast(A.Pointer, Ptr);
    branchUnlessOk(B, B.CreateICmpEQ(Mask, B.getInt64(0)));
    B.CreateCall(runtime("cupilot_rt_carry", {Ptr, Ptr, I64, I64, I32}),
                 {Entry.getArg(0), Generic, B.getInt64(A.Size), Mask,
                  B.getInt32(Site->second)});
  }
}

} // namespace cupilot
