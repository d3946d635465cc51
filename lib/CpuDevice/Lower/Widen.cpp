//===- Widen.cpp - Arithmetic in float64 -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The yardstick of the precision contract. Every value narrower than float64
// gets a float64 twin; what has no twin (a call that is not known) is rounded
// there and widened again. Memory keeps its types, so that buffers, addresses
// and aliasing are those of the original; what was stored is remembered beside
// it unrounded (WideMemory.h).
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "NvvmFloats.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace cupilot {

namespace {
/// Gives the narrow floating-point values of one function float64 twins.
class Widener {
public:
  explicit Widener(Function &F) : F(F) {}
  void run();

private:
  /// float, half, bfloat, and vectors of them.
  static bool isNarrow(Type *T);
  static Type *wideType(Type *T);
  /// The float64 value of \p V, for use before \p User.
  Value *wide(Value *V, Instruction *User);
  Value *widen(Instruction &I);
  Value *widenCall(CallInst &Call, IRBuilder<> &B);
  Value *widenAtomic(AtomicRMWInst &RMW, IRBuilder<> &B);
  void widenUser(Instruction &I);
  void finishPhis();
  void roundUses();

  // Values that go through memory and through integers.
  /// The twin of the narrow scalar of type \p T that lies \p Offset bytes into
  /// \p Bits; null when it cannot be followed.
  Value *fromBits(Value *Bits, uint64_t Offset, Type *T, unsigned Depth = 0);
  Value *fromLoad(LoadInst &Load, uint64_t Offset, Type *T);
  Value *fromShuffle(CallInst &Call, Type *T, unsigned Depth);
  /// The twin of a bit cast or a load of any shape.
  Value *fromReinterpreted(Instruction &I);
  /// Remembers unrounded what \p Store stores.
  void remember(StoreInst &Store);
  /// Visits the narrow scalars that make up \p Bits, with their byte offsets.
  void eachNarrow(Value *Bits, uint64_t Offset,
                  function_ref<void(uint64_t, Value *)> Visit,
                  unsigned Depth = 0);
  Value *runtime(IRBuilder<> &B, StringRef Name, Type *Result,
                 ArrayRef<Value *> Args);

  Function &F;
  DenseMap<Value *, Value *> Twins;
  DenseMap<std::pair<Value *, uint64_t>, Value *> Parts;
  SmallVector<PHINode *> Phis;
};
} // namespace

bool Widener::isNarrow(Type *T) {
  Type *Scalar = T->getScalarType();
  return (Scalar->isFloatTy() || Scalar->isHalfTy() || Scalar->isBFloatTy()) &&
         !isa<ScalableVectorType>(T);
}

Type *Widener::wideType(Type *T) {
  Type *Wide = Type::getDoubleTy(T->getContext());
  if (auto *V = dyn_cast<FixedVectorType>(T))
    return FixedVectorType::get(Wide, V->getNumElements());
  return Wide;
}

Value *Widener::wide(Value *V, Instruction *User) {
  if (auto It = Twins.find(V); It != Twins.end())
    return It->second;
  if (auto *C = dyn_cast<Constant>(V))
    if (Constant *Folded = ConstantFoldCastInstruction(Instruction::FPExt, C,
                                                       wideType(V->getType())))
      return Folded;
  // Not computed here: an argument, an unknown call.
  IRBuilder<> B(User);
  if (auto *Def = dyn_cast<Instruction>(V)) {
    if (isa<PHINode>(Def))
      B.SetInsertPoint(Def->getParent(),
                       Def->getParent()->getFirstInsertionPt());
    else if (auto Next = Def->getInsertionPointAfterDef())
      B.SetInsertPoint(*Next);
  } else {
    B.SetInsertPoint(&F.getEntryBlock(),
                     F.getEntryBlock().getFirstInsertionPt());
  }
  return Twins[V] = B.CreateFPExt(V, wideType(V->getType()), "wide");
}

Value *Widener::widenCall(CallInst &Call, IRBuilder<> &B) {
  Intrinsic::ID Id = Call.getIntrinsicID();
  auto Arg = [&](unsigned I) { return wide(Call.getArgOperand(I), &Call); };
  Type *Wide = wideType(Call.getType());
  switch (Id) {
  case Intrinsic::fma:
  case Intrinsic::fmuladd:
    return B.CreateIntrinsic(Intrinsic::fma, {Wide}, {Arg(0), Arg(1), Arg(2)});
  case Intrinsic::fabs:
  case Intrinsic::sqrt:
  case Intrinsic::floor:
  case Intrinsic::ceil:
  case Intrinsic::trunc:
  case Intrinsic::rint:
  case Intrinsic::nearbyint:
  case Intrinsic::round:
  case Intrinsic::roundeven:
    return B.CreateIntrinsic(Id, {Wide}, {Arg(0)});
  case Intrinsic::minnum:
  case Intrinsic::maxnum:
  case Intrinsic::minimum:
  case Intrinsic::maximum:
  case Intrinsic::minimumnum: // Those of PTX.
  case Intrinsic::maximumnum:
  case Intrinsic::copysign:
    return B.CreateIntrinsic(Id, {Wide}, {Arg(0), Arg(1)});
  default:
    break;
  }
  std::optional<FloatForm> Form = floatFormOf(Id);
  if (!Form || !isNarrow(Call.getType()))
    return nullptr;
  Type *D = Wide;
  auto Unary = [&](Intrinsic::ID Of) {
    return B.CreateIntrinsic(Of, {D}, {Arg(0)});
  };
  switch (Form->Op) {
  case FloatOp::Fma:
    return B.CreateIntrinsic(Intrinsic::fma, {D}, {Arg(0), Arg(1), Arg(2)});
  case FloatOp::Add:
    return B.CreateFAdd(Arg(0), Arg(1));
  case FloatOp::Mul:
    return B.CreateFMul(Arg(0), Arg(1));
  case FloatOp::Div:
    return B.CreateFDiv(Arg(0), Arg(1));
  case FloatOp::Rcp:
    return B.CreateFDiv(ConstantFP::get(D, 1.0), Arg(0));
  case FloatOp::Sqrt:
    return Unary(Intrinsic::sqrt);
  case FloatOp::Rsqrt:
    return B.CreateFDiv(ConstantFP::get(D, 1.0), Unary(Intrinsic::sqrt));
  case FloatOp::Abs:
    return Unary(Intrinsic::fabs);
  case FloatOp::Max:
  case FloatOp::Min:
    if (Form->has(FloatForm::Nan))
      return nullptr;
    return B.CreateIntrinsic(Form->Op == FloatOp::Max ? Intrinsic::maxnum
                                                      : Intrinsic::minnum,
                             {D}, {Arg(0), Arg(1)});
  case FloatOp::Floor:
    return Unary(Intrinsic::floor);
  case FloatOp::Ceil:
    return Unary(Intrinsic::ceil);
  case FloatOp::Trunc:
    return Unary(Intrinsic::trunc);
  case FloatOp::Clamp:
    return B.CreateIntrinsic(
        Intrinsic::minnum, {D},
        {B.CreateIntrinsic(Intrinsic::maxnum, {D},
                           {Arg(0), ConstantFP::get(D, 0.0)}),
         ConstantFP::get(D, 1.0)});
  case FloatOp::Exp2:
    return Unary(Intrinsic::exp2);
  case FloatOp::Tanh:
    return Unary(Intrinsic::tanh);
  case FloatOp::Log2:
    return Unary(Intrinsic::log2);
  case FloatOp::Sin:
    return Unary(Intrinsic::sin);
  case FloatOp::Cos:
    return Unary(Intrinsic::cos);
  default:
    return nullptr;
  }
}

/// Memory and slot change together, in the run time; the load before it is
/// there to be checked.
Value *Widener::widenAtomic(AtomicRMWInst &RMW, IRBuilder<> &B) {
  switch (RMW.getOperation()) {
  case AtomicRMWInst::FAdd:
  case AtomicRMWInst::FSub:
  case AtomicRMWInst::FMax:
  case AtomicRMWInst::FMin:
  case AtomicRMWInst::Xchg:
    break;
  default:
    return nullptr;
  }
  if (!RMW.getType()->isFloatTy())
    return nullptr;
  Value *Pointer = RMW.getPointerOperand();
  LoadInst *Probe = B.CreateAlignedLoad(RMW.getType(), Pointer, RMW.getAlign());
  Probe->setAtomic(AtomicOrdering::Monotonic);
  Value *Operand = wide(RMW.getValOperand(), &RMW);
  return runtime(B, "cupilot_rt_wide_atomic", B.getDoubleTy(),
                 {Pointer, B.getInt32(RMW.getOperation()), Operand});
}

Value *Widener::widen(Instruction &I) {
  IRBuilder<> B(&I);
  Type *Wide = wideType(I.getType());
  switch (I.getOpcode()) {
  case Instruction::FAdd:
  case Instruction::FSub:
  case Instruction::FMul:
  case Instruction::FDiv:
  case Instruction::FRem:
    return B.CreateBinOp(static_cast<Instruction::BinaryOps>(I.getOpcode()),
                         wide(I.getOperand(0), &I), wide(I.getOperand(1), &I));
  case Instruction::FNeg:
    return B.CreateFNeg(wide(I.getOperand(0), &I));
  case Instruction::Freeze:
    return B.CreateFreeze(wide(I.getOperand(0), &I));
  case Instruction::Select:
    return B.CreateSelect(I.getOperand(0), wide(I.getOperand(1), &I),
                          wide(I.getOperand(2), &I));
  case Instruction::SIToFP:
    return B.CreateSIToFP(I.getOperand(0), Wide);
  case Instruction::UIToFP:
    return B.CreateUIToFP(I.getOperand(0), Wide);
  case Instruction::FPTrunc:
  case Instruction::FPExt: {
    // Rounding to a narrower type is what this pass takes away.
    Value *From = I.getOperand(0);
    if (isNarrow(From->getType()))
      return wide(From, &I);
    return From->getType() == Wide ? From : nullptr;
  }
  case Instruction::ExtractElement:
    return B.CreateExtractElement(wide(I.getOperand(0), &I), I.getOperand(1));
  case Instruction::InsertElement:
    return B.CreateInsertElement(wide(I.getOperand(0), &I),
                                 wide(I.getOperand(1), &I), I.getOperand(2));
  case Instruction::ShuffleVector:
    return B.CreateShuffleVector(wide(I.getOperand(0), &I),
                                 wide(I.getOperand(1), &I),
                                 cast<ShuffleVectorInst>(I).getShuffleMask());
  case Instruction::Load:
  case Instruction::BitCast:
    return fromReinterpreted(I);
  case Instruction::AtomicRMW:
    return widenAtomic(cast<AtomicRMWInst>(I), B);
  case Instruction::Call:
    if (Value *Shuffled = fromShuffle(cast<CallInst>(I), I.getType(), 0))
      return Shuffled;
    return widenCall(cast<CallInst>(I), B);
  default:
    return nullptr;
  }
}

/// Comparisons and conversions look at the unrounded value.
void Widener::widenUser(Instruction &I) {
  IRBuilder<> B(&I);
  Type *From =
      I.getNumOperands() > 0 ? I.getOperand(0)->getType() : I.getType();
  if (auto *Store = dyn_cast<StoreInst>(&I)) {
    remember(*Store);
  } else if (auto *Call = dyn_cast<CallInst>(&I)) {
    // What an approximation in float64 was meant to be.
    std::optional<FloatForm> Form = floatFormOf(Call->getIntrinsicID());
    if (Form && Form->has(FloatForm::Approx) && From->isDoubleTy()) {
      Value *X = Call->getArgOperand(0);
      if (Form->Op == FloatOp::Rsqrt)
        X = B.CreateIntrinsic(Intrinsic::sqrt, {From}, {X});
      Call->replaceAllUsesWith(B.CreateFDiv(ConstantFP::get(From, 1.0), X));
    }
  } else if (auto *Move = dyn_cast<AnyMemTransferInst>(&I)) {
    B.SetInsertPoint(Move->getNextNode());
    runtime(B, "cupilot_rt_wide_copy", B.getVoidTy(),
            {Move->getRawDest(), Move->getRawSource(),
             B.CreateZExtOrTrunc(Move->getLength(), B.getInt64Ty())});
  } else if (auto *Cmp = dyn_cast<FCmpInst>(&I); Cmp && isNarrow(From)) {
    Cmp->replaceAllUsesWith(B.CreateFCmp(Cmp->getPredicate(),
                                         wide(Cmp->getOperand(0), &I),
                                         wide(Cmp->getOperand(1), &I)));
  } else if (isa<FPExtInst>(I) && isNarrow(From) &&
             wideType(From) == I.getType()) {
    Value *Twin = wide(I.getOperand(0), &I);
    if (Twin != &I)
      I.replaceAllUsesWith(Twin);
    for (auto &Entry : Twins) // What stood for the replaced instruction.
      if (Entry.second == &I)
        Entry.second = Twin;
  } else if ((isa<FPToSIInst>(I) || isa<FPToUIInst>(I)) && isNarrow(From)) {
    I.replaceAllUsesWith(B.CreateCast(cast<CastInst>(I).getOpcode(),
                                      wide(I.getOperand(0), &I), I.getType()));
  }
}

void Widener::finishPhis() {
  for (PHINode *Phi : Phis) {
    auto *Twin = cast<PHINode>(Twins[Phi]);
    for (unsigned I = 0; I < Phi->getNumIncomingValues(); ++I) {
      BasicBlock *From = Phi->getIncomingBlock(I);
      Twin->addIncoming(wide(Phi->getIncomingValue(I), From->getTerminator()),
                        From);
    }
  }
}

/// Uses that need the narrow type round the twin once, where it is used.
void Widener::roundUses() {
  SmallVector<std::pair<Value *, Value *>> All(Twins.begin(), Twins.end());
  for (auto [Narrow, Twin] : All) {
    auto *I = dyn_cast<Instruction>(Narrow);
    if (!I || isa<LoadInst>(I) || isa<BitCastInst>(I))
      continue;
    if (auto *Ext = dyn_cast<FPExtInst>(Twin);
        Ext && Ext->getOperand(0) == Narrow)
      continue; // The twin is made from it.
    SmallVector<Use *> Uses;
    for (Use &U : I->uses())
      Uses.push_back(&U);
    for (Use *U : Uses) {
      auto *User = cast<Instruction>(U->getUser());
      bool Rounds = isa<StoreInst>(User) || isa<BitCastInst>(User) ||
                    isa<CallBase>(User) || isa<AtomicRMWInst>(User) ||
                    isa<InsertValueInst>(User) || isa<ReturnInst>(User);
      if (!Rounds)
        continue;
      IRBuilder<> B(User);
      U->set(B.CreateFPTrunc(Twin, Narrow->getType()));
    }
    if (isa<AtomicRMWInst>(I) && I->use_empty())
      I->eraseFromParent(); // The run time has done it.
  }
}

void Widener::run() {
  // Definitions before uses, except around loops: phis get empty twins first.
  SmallVector<Instruction *> Work;
  for (BasicBlock *BB : ReversePostOrderTraversal<Function *>(&F))
    for (Instruction &I : *BB)
      Work.push_back(&I);
  for (Instruction *I : Work)
    if (auto *Phi = dyn_cast<PHINode>(I); Phi && isNarrow(Phi->getType())) {
      IRBuilder<> B(Phi);
      Twins[Phi] = B.CreatePHI(wideType(Phi->getType()),
                               Phi->getNumIncomingValues(), "wide");
      Phis.push_back(Phi);
    }
  for (Instruction *I : Work) {
    if (!isNarrow(I->getType()))
      widenUser(*I);
    else if (!isa<PHINode>(I) && !Twins.count(I))
      if (Value *Twin = widen(*I))
        Twins[I] = Twin;
  }
  finishPhis();
  roundUses();
}

void widenFloats(Function &F) { Widener(F).run(); }

//===----------------------------------------------------------------------===//
// Twins of floats in memory and integers
//
// Half precision and shuffles carry floats in integers: a half2 is 32 bits that
// are shifted, cast and stored. What is followed here keeps its float64 value;
// what is not is rounded, as the original rounds it.
//===----------------------------------------------------------------------===//

/// Deeper expressions than this are not packing and unpacking.
static constexpr unsigned MaxDepth = 8;

static uint64_t bytesOf(Type *T) { return T->getPrimitiveSizeInBits() / 8; }

static FloatFormat formatOf(Type *T) {
  return T->isFloatTy()  ? FloatFormat::Float
         : T->isHalfTy() ? FloatFormat::Half
                         : FloatFormat::BFloat;
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

/// The shuffle of 32-bit words that stands for one of values without a
/// predicate; none for another intrinsic.
static Intrinsic::ID shuffleOfWords(Intrinsic::ID Id) {
  switch (Id) {
  case Intrinsic::nvvm_shfl_sync_idx_i32:
  case Intrinsic::nvvm_shfl_sync_idx_f32:
    return Intrinsic::nvvm_shfl_sync_idx_i32;
  case Intrinsic::nvvm_shfl_sync_up_i32:
  case Intrinsic::nvvm_shfl_sync_up_f32:
    return Intrinsic::nvvm_shfl_sync_up_i32;
  case Intrinsic::nvvm_shfl_sync_down_i32:
  case Intrinsic::nvvm_shfl_sync_down_f32:
    return Intrinsic::nvvm_shfl_sync_down_i32;
  case Intrinsic::nvvm_shfl_sync_bfly_i32:
  case Intrinsic::nvvm_shfl_sync_bfly_f32:
    return Intrinsic::nvvm_shfl_sync_bfly_i32;
  default:
    return Intrinsic::not_intrinsic;
  }
}

/// A float that a warp shuffles arrives as it was sent: in two halves.
Value *Widener::fromShuffle(CallInst &Call, Type *T, unsigned Depth) {
  Intrinsic::ID Words = shuffleOfWords(Call.getIntrinsicID());
  if (Words == Intrinsic::not_intrinsic || !T->isFloatTy())
    return nullptr;
  Value *Sent = Call.getArgOperand(1);
  Value *Twin = Sent->getType()->isFloatTy() ? wide(Sent, &Call)
                                             : fromBits(Sent, 0, T, Depth + 1);
  if (!Twin)
    return nullptr;
  IRBuilder<> B(&Call);
  B.SetCurrentDebugLocation(Call.getDebugLoc());
  Type *I32 = B.getInt32Ty();
  Function *Shuffle = Intrinsic::getOrInsertDeclaration(F.getParent(), Words);
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
