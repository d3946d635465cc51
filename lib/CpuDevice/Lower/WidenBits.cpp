//===- WidenBits.cpp - Twins of floats in memory and integers -------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Half precision and shuffles carry floats in integers: a half2 is 32 bits that
// are shifted, cast and stored. What is followed here keeps its float64 value;
// what is not is rounded, as the original rounds it.
//
//===----------------------------------------------------------------------===//

#include "Execute/WideMemory.h"
#include "Widen.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace cupilot {

/// Deeper expressions than this are not packing and unpacking.
static constexpr unsigned MaxDepth = 8;

static uint64_t bytesOf(Type *T) { return T->getPrimitiveSizeInBits() / 8; }

static NarrowFormat formatOf(Type *T) {
  return T->isFloatTy()  ? NarrowFormat::Float
         : T->isHalfTy() ? NarrowFormat::Half
                         : NarrowFormat::BFloat;
}

/// Moves \p B behind \p I, wherever that may be.
static void moveBehind(IRBuilder<> &B, Instruction &I) {
  B.SetInsertPoint(&I);
  if (auto Next = I.getInsertionPointAfterDef())
    B.SetInsertPoint(*Next);
  B.SetCurrentDebugLocation(I.getDebugLoc());
}

Value *Widener::runtime(IRBuilder<> &B, StringRef Name, Type *Result,
                        ArrayRef<Value *> Args) {
  SmallVector<Value *> All = {F.getArg(0)};
  SmallVector<Type *> Types = {F.getArg(0)->getType()};
  for (Value *Arg : Args) {
    if (Arg->getType()->isPointerTy())
      Arg = B.CreatePointerBitCastOrAddrSpaceCast(Arg, B.getPtrTy());
    All.push_back(Arg);
    Types.push_back(Arg->getType());
  }
  return B.CreateCall(F.getParent()->getOrInsertFunction(
                          Name, FunctionType::get(Result, Types, false)),
                      All);
}

Value *Widener::fromLoad(LoadInst &Load, uint64_t Offset, Type *T) {
  Value *&Part = Parts[{&Load, Offset}];
  if (Part)
    return Part;
  // Of the bits that were loaded; a second load could find others.
  IRBuilder<> B(&Load);
  moveBehind(B, Load);
  Type *Bits = B.getIntNTy(Load.getType()->getPrimitiveSizeInBits());
  Value *Whole = B.CreateBitCast(&Load, Bits);
  Value *Narrow =
      B.CreateBitCast(B.CreateTrunc(B.CreateLShr(Whole, Offset * 8),
                                    B.getIntNTy(T->getPrimitiveSizeInBits())),
                      T);
  Value *Place =
      B.CreateConstGEP1_64(B.getInt8Ty(),
                           B.CreatePointerBitCastOrAddrSpaceCast(
                               Load.getPointerOperand(), B.getPtrTy()),
                           Offset);
  Value *Result = runtime(B, "cupilot_rt_wide_load", B.getDoubleTy(),
                          {Place, B.CreateFPExt(Narrow, B.getDoubleTy()),
                           B.getInt32(static_cast<uint32_t>(formatOf(T)))});
  return Parts[{&Load, Offset}] = Result;
}

/// A float that a warp shuffles arrives as it was sent: in two halves.
Value *Widener::fromShuffle(CallInst &Call, Type *T, unsigned Depth) {
  Function *Callee = Call.getCalledFunction();
  if (!Callee || !Callee->getName().starts_with("llvm.nvvm.shfl.sync.") ||
      !T->isFloatTy() || Call.arg_size() != 4 || Call.getType()->isStructTy())
    return nullptr;
  Value *Sent = Call.getArgOperand(1);
  Value *Twin = Sent->getType()->isFloatTy() ? wide(Sent, &Call)
                                             : fromBits(Sent, 0, T, Depth + 1);
  if (!Twin)
    return nullptr;
  IRBuilder<> B(&Call);
  B.SetCurrentDebugLocation(Call.getDebugLoc());
  std::string Name = Callee->getName().str();
  if (constexpr StringLiteral Float = ".f32"; StringRef(Name).ends_with(Float))
    Name.replace(Name.size() - Float.size(), Float.size(), ".i32");
  Type *I32 = B.getInt32Ty();
  FunctionCallee Shuffle = F.getParent()->getOrInsertFunction(
      Name, FunctionType::get(I32, {I32, I32, I32, I32}, false));
  Value *Word = B.CreateBitCast(Twin, B.getInt64Ty());
  Value *Result = B.getInt64(0);
  for (unsigned Shift : {0, 32}) {
    CallInst *Half =
        B.CreateCall(Shuffle, {Call.getArgOperand(0),
                               B.CreateTrunc(B.CreateLShr(Word, Shift), I32),
                               Call.getArgOperand(2), Call.getArgOperand(3)});
    Half->setAttributes(Call.getAttributes());
    Result = B.CreateOr(Result,
                        B.CreateShl(B.CreateZExt(Half, B.getInt64Ty()), Shift));
  }
  return B.CreateBitCast(Result, B.getDoubleTy());
}

Value *Widener::fromBits(Value *Bits, uint64_t Offset, Type *T,
                         unsigned Depth) {
  uint64_t Size = bytesOf(T), Width = bytesOf(Bits->getType());
  if (Depth > MaxDepth || Width == 0 || Offset + Size > Width)
    return nullptr;
  auto *I = dyn_cast<Instruction>(Bits);
  if (!I)
    return nullptr;
  if (isNarrow(Bits->getType())) {
    if (Bits->getType()->getScalarType() != T || Offset % Size != 0)
      return nullptr;
    Value *Twin = wide(Bits, I);
    if (!Bits->getType()->isVectorTy())
      return Twin;
    auto *Def = dyn_cast<Instruction>(Twin);
    IRBuilder<> B(I);
    moveBehind(B, Def ? *Def : *I);
    return B.CreateExtractElement(Twin, Offset / Size);
  }
  if (auto *Load = dyn_cast<LoadInst>(I))
    return Load->isAtomic() ? nullptr : fromLoad(*Load, Offset, T);
  if (isa<BitCastInst>(I))
    return fromBits(I->getOperand(0), Offset, T, Depth + 1);
  if (isa<TruncInst>(I) && !I->getType()->isVectorTy())
    return fromBits(I->getOperand(0), Offset, T, Depth + 1);
  if (isa<ZExtInst>(I) && !I->getType()->isVectorTy())
    return fromBits(I->getOperand(0), Offset, T, Depth + 1);
  const APInt *Shift = nullptr;
  Value *From = nullptr, *Other = nullptr;
  if (match(I, m_LShr(m_Value(From), m_APInt(Shift))) ||
      match(I, m_AShr(m_Value(From), m_APInt(Shift))))
    return Shift->urem(8) == 0 && !I->getType()->isVectorTy()
               ? fromBits(From, Offset + Shift->getZExtValue() / 8, T,
                          Depth + 1)
               : nullptr;
  if (match(I, m_Shl(m_Value(From), m_APInt(Shift)))) {
    uint64_t By = Shift->getZExtValue() / 8;
    return Shift->urem(8) == 0 && Offset >= By && !I->getType()->isVectorTy()
               ? fromBits(From, Offset - By, T, Depth + 1)
               : nullptr;
  }
  if (match(I, m_Or(m_Value(From), m_Value(Other)))) {
    // Two parts packed into one word: one of them gives nothing to this place.
    const DataLayout &DL = F.getParent()->getDataLayout();
    APInt Here = APInt::getBitsSet(Width * 8, Offset * 8, (Offset + Size) * 8);
    if (I->getType()->isVectorTy())
      return nullptr;
    if (!MaskedValueIsZero(From, Here, DL))
      std::swap(From, Other);
    return MaskedValueIsZero(From, Here, DL)
               ? fromBits(Other, Offset, T, Depth + 1)
               : nullptr;
  }
  uint64_t Lane = 0;
  if (match(I, m_ExtractElt(m_Value(From), m_ConstantInt(Lane))))
    return fromBits(From, Lane * Width + Offset, T, Depth + 1);
  if (match(I,
            m_InsertElt(m_Value(From), m_Value(Other), m_ConstantInt(Lane)))) {
    uint64_t Element = bytesOf(Other->getType());
    return Offset / Element == Lane
               ? fromBits(Other, Offset % Element, T, Depth + 1)
               : fromBits(From, Offset, T, Depth + 1);
  }
  if (auto *Call = dyn_cast<CallInst>(I))
    return Offset == 0 ? fromShuffle(*Call, T, Depth) : nullptr;
  return nullptr;
}

Value *Widener::fromReinterpreted(Instruction &I) {
  auto *Load = dyn_cast<LoadInst>(&I);
  Value *Source = Load ? Load : I.getOperand(0);
  Type *Scalar = I.getType()->getScalarType();
  auto Element = [&](uint64_t Offset) -> Value * {
    if (Load)
      return fromLoad(*Load, Offset, Scalar);
    return fromBits(Source, Offset, Scalar);
  };
  auto *Vector = dyn_cast<FixedVectorType>(I.getType());
  if (!Vector)
    return Element(0);
  SmallVector<Value *> Elements;
  for (unsigned N = 0; N < Vector->getNumElements(); ++N) {
    Value *Twin = Element(N * bytesOf(Scalar));
    if (!Twin)
      return nullptr;
    Elements.push_back(Twin);
  }
  // Behind the last of them, which may stand behind the instruction.
  IRBuilder<> B(&I);
  moveBehind(B, I);
  for (Value *Twin : Elements)
    if (auto *Def = dyn_cast<Instruction>(Twin);
        Def && Def->getParent() == B.GetInsertBlock() &&
        (B.GetInsertPoint() == Def->getIterator() ||
         B.GetInsertPoint()->comesBefore(Def)))
      moveBehind(B, *Def);
  Value *Result = PoisonValue::get(wideType(Vector));
  for (unsigned N = 0; N < Elements.size(); ++N)
    Result = B.CreateInsertElement(Result, Elements[N], N);
  return Result;
}

void Widener::eachNarrow(Value *Bits, uint64_t Offset,
                         function_ref<void(uint64_t, Value *)> Visit,
                         unsigned Depth) {
  if (Depth > MaxDepth)
    return;
  if (isNarrow(Bits->getType()))
    return Visit(Offset, Bits);
  auto *I = dyn_cast<Instruction>(Bits);
  const APInt *Shift = nullptr;
  Value *From = nullptr, *Other = nullptr;
  uint64_t Lane = 0;
  if (!I)
    return;
  if (isa<BitCastInst>(I) || (isa<ZExtInst>(I) && !I->getType()->isVectorTy()))
    return eachNarrow(I->getOperand(0), Offset, Visit, Depth + 1);
  if (match(I, m_Shl(m_Value(From), m_APInt(Shift))) && Shift->urem(8) == 0)
    return eachNarrow(From, Offset + Shift->getZExtValue() / 8, Visit,
                      Depth + 1);
  if (match(I, m_Or(m_Value(From), m_Value(Other)))) {
    eachNarrow(From, Offset, Visit, Depth + 1);
    return eachNarrow(Other, Offset, Visit, Depth + 1);
  }
  if (match(I,
            m_InsertElt(m_Value(From), m_Value(Other), m_ConstantInt(Lane)))) {
    eachNarrow(From, Offset, Visit, Depth + 1);
    eachNarrow(Other, Offset + Lane * bytesOf(Other->getType()), Visit,
               Depth + 1);
  }
}

void Widener::remember(StoreInst &Store) {
  SmallVector<std::pair<uint64_t, Value *>> Found;
  eachNarrow(Store.getValueOperand(), 0,
             [&](uint64_t Offset, Value *V) { Found.push_back({Offset, V}); });
  for (auto [Offset, V] : Found) {
    if (isa<Constant>(V))
      continue; // Memory holds all of it.
    Value *Twin = wide(V, &Store);
    IRBuilder<> B(Store.getNextNode());
    Value *Base = B.CreatePointerBitCastOrAddrSpaceCast(
        Store.getPointerOperand(), B.getPtrTy());
    auto *Vector = dyn_cast<FixedVectorType>(V->getType());
    for (unsigned N = 0; N < (Vector ? Vector->getNumElements() : 1); ++N)
      runtime(B, "cupilot_rt_wide_store", B.getVoidTy(),
              {B.CreateConstGEP1_64(
                   B.getInt8Ty(), Base,
                   Offset + N * bytesOf(V->getType()->getScalarType())),
               Vector ? B.CreateExtractElement(Twin, N) : Twin});
  }
}

} // namespace cupilot
