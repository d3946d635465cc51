//===- FoldedDecisions.cpp - Comparisons that are arithmetic --------------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The optimiser knows which arithmetic is a comparison. What computes a number
// becomes a function of its own, of whatever that is computed from, and is
// asked whether it is 0; what the optimiser makes of it goes back.
//
//===----------------------------------------------------------------------===//

#include "FoldedDecisions.h"
#include "PreparedCode.h"
#include "cupilot/CpuDevice/Decisions.h"
#include "cupilot/Support/Pipeline.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include <cmath>

using namespace llvm;
using namespace llvm::PatternMatch;

namespace cupilot {

/// More instructions than these are no comparison.
static constexpr size_t MostInstructions = 48;

namespace {
/// The arithmetic behind a decision, in a function of its own.
class Slice {
public:
  /// Copies what \p V is computed from; false where that is too much.
  bool copy(const Value &V, Module &Into);
  /// The same for numbers in floats, in units of 2^-Scale.
  bool copyFloats(const FCmpInst &Cmp, Module &Into);
  bool copyFloats(const Value &L, const Value &R, CmpInst::Predicate P,
                  Module &Into);
  /// Puts what has become of it before \p At; null where it is no comparison.
  ICmpInst *paste(Instruction &At);

private:
  Value *integer(const Value &V);
  Value *number(const Value &V);
  Value *leaf(const Value &V);
  void begin(ArrayRef<const Value *> Roots, Module &Into);
  void collect(const Value &V);

  Function *F = nullptr;
  std::unique_ptr<IRBuilder<>> B;
  SmallVector<const Value *> Leaves;
  DenseMap<const Value *, Value *> Copies;
  size_t Count = 0;
  unsigned Scale = 0;
};
} // namespace

/// Integer arithmetic that is the same wherever it is computed.
static bool isArithmetic(const Value &V) {
  const auto *I = dyn_cast<Instruction>(&V);
  if (!I || !I->getType()->isIntegerTy() ||
      any_of(I->operands(), [](const Use &U) {
        return !isa<Function>(U.get()) && !U->getType()->isIntegerTy();
      }))
    return false;
  if (isa<BinaryOperator, CastInst, SelectInst, ICmpInst, FreezeInst>(I))
    return true;
  const auto *Call = dyn_cast<IntrinsicInst>(I);
  if (!Call)
    return false;
  switch (Call->getIntrinsicID()) {
  case Intrinsic::abs:
  case Intrinsic::bitreverse:
  case Intrinsic::bswap:
  case Intrinsic::ctlz:
  case Intrinsic::ctpop:
  case Intrinsic::cttz:
  case Intrinsic::fshl:
  case Intrinsic::fshr:
  case Intrinsic::smax:
  case Intrinsic::smin:
  case Intrinsic::umax:
  case Intrinsic::umin:
    return true;
  default:
    return false;
  }
}

/// The parts of a sum of floats; none where it is none.
static SmallVector<const Value *, 2> partsOf(const Value &V) {
  const auto *I = dyn_cast<Instruction>(&V);
  if (!I || !V.getType()->isFloatingPointTy())
    return {};
  switch (I->getOpcode()) {
  case Instruction::FAdd:
  case Instruction::FSub:
    return {I->getOperand(0), I->getOperand(1)};
  case Instruction::FMul:
    if (isa<ConstantFP>(I->getOperand(0)))
      return {I->getOperand(1)};
    if (isa<ConstantFP>(I->getOperand(1)))
      return {I->getOperand(0)};
    return {};
  case Instruction::FNeg:
  case Instruction::FPExt:
    return {I->getOperand(0)};
  default:
    break;
  }
  switch (mathCallOf(V)) {
  case MathCall::Abs:
    return {I->getOperand(0)};
  case MathCall::Min:
  case MathCall::Max:
    return {I->getOperand(0), I->getOperand(1)};
  case MathCall::None:
    return {};
  }
  llvm_unreachable("a call");
}

static bool isFromInteger(const Value &V) {
  return isa<SIToFPInst, UIToFPInst>(V) &&
         cast<CastInst>(V).getOperand(0)->getType()->getIntegerBitWidth() <= 32;
}

void Slice::collect(const Value &V) {
  SmallVector<const Value *> Work = {&V};
  SmallPtrSet<const Value *, 32> Seen;
  while (!Work.empty() && Seen.size() <= MostInstructions) {
    const Value *Of = Work.pop_back_val();
    if (isa<Constant>(Of) || !Seen.insert(Of).second)
      continue;
    ++Count;
    if (Of->getType()->isFloatingPointTy()) {
      if (isFromInteger(*Of))
        Work.push_back(cast<Instruction>(Of)->getOperand(0));
      else
        append_range(Work, partsOf(*Of));
    } else if (isArithmetic(*Of)) {
      for (const Use &U : cast<Instruction>(Of)->operands())
        if (!isa<Function>(U.get()))
          Work.push_back(U.get());
    } else if (!is_contained(Leaves, Of)) {
      Leaves.push_back(Of);
    }
  }
}

void Slice::begin(ArrayRef<const Value *> Roots, Module &Into) {
  for (const Value *V : Roots)
    collect(*V);
  SmallVector<Type *> Types;
  for (const Value *V : Leaves)
    Types.push_back(V->getType());
  LLVMContext &C = Into.getContext();
  F = Function::Create(FunctionType::get(Type::getInt1Ty(C), Types, false),
                       GlobalValue::ExternalLinkage, "slice", Into);
  B = std::make_unique<IRBuilder<>>(BasicBlock::Create(C, "", F));
  for (size_t I = 0; I < Leaves.size(); ++I)
    Copies[Leaves[I]] = F->getArg(static_cast<unsigned>(I));
}

Value *Slice::integer(const Value &V) {
  if (isa<Constant>(V))
    return isa<ConstantInt>(V) ? const_cast<Value *>(&V) : nullptr;
  if (Value *Known = Copies.lookup(&V))
    return Known;
  if (!isArithmetic(V))
    return nullptr;
  const auto &I = cast<Instruction>(V);
  SmallVector<Value *> Operands;
  for (const Use &U : I.operands()) {
    if (isa<Function>(U.get()))
      continue;
    Operands.push_back(integer(*U.get()));
    if (!Operands.back())
      return nullptr;
  }
  Value *Copy = nullptr;
  if (const auto *Call = dyn_cast<IntrinsicInst>(&I)) {
    SmallVector<Type *, 1> Types = {I.getType()};
    Copy = B->CreateIntrinsic(Call->getIntrinsicID(), Types, Operands);
  } else {
    Instruction *Clone = I.clone();
    Clone->dropUnknownNonDebugMetadata();
    Clone->setDebugLoc(DebugLoc());
    for (unsigned N = 0; N < Operands.size(); ++N)
      Clone->setOperand(N, Operands[N]);
    Copy = B->Insert(Clone);
  }
  return Copies[&V] = Copy;
}

/// In units of 2^-Scale; null where it is no sum of integers. Only small
/// constants: near them floats are whole, and far from them in order.
Value *Slice::number(const Value &V) {
  constexpr double Largest = 1 << 22;
  Type *I64 = B->getInt64Ty();
  auto Whole = [&](const Value &Of, unsigned Bits) -> Value * {
    const auto *C = dyn_cast<ConstantFP>(&Of);
    if (!C || !C->getValueAPF().isFinite())
      return nullptr;
    APFloat Copy = C->getValueAPF();
    bool Lost = false;
    Copy.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &Lost);
    double Value = Copy.convertToDouble() * double(uint64_t(1) << Bits);
    if (std::fabs(Copy.convertToDouble()) > Largest ||
        Value != std::trunc(Value))
      return nullptr;
    return ConstantInt::getSigned(I64, static_cast<int64_t>(Value));
  };
  if (isa<ConstantFP>(V))
    return Whole(V, Scale);
  if (Value *Known = Copies.lookup(&V))
    return Known;
  if (isFromInteger(V)) {
    Value *Of = integer(*cast<CastInst>(V).getOperand(0));
    if (!Of)
      return nullptr;
    Of = isa<SIToFPInst>(V) ? B->CreateSExt(Of, I64) : B->CreateZExt(Of, I64);
    return Scale ? B->CreateShl(Of, Scale, "", true, true) : Of;
  }
  SmallVector<Value *, 2> Parts;
  for (const Value *Part : partsOf(V)) {
    Parts.push_back(number(*Part));
    if (!Parts.back())
      return nullptr;
  }
  if (Parts.empty())
    return nullptr;
  const auto &I = cast<Instruction>(V);
  auto Minimum = [&](Intrinsic::ID Id) {
    return B->CreateBinaryIntrinsic(Id, Parts[0], Parts[1]);
  };
  Value *Copy = nullptr;
  switch (I.getOpcode()) {
  case Instruction::FAdd:
    Copy = B->CreateNSWAdd(Parts[0], Parts[1]);
    break;
  case Instruction::FSub:
    Copy = B->CreateNSWSub(Parts[0], Parts[1]);
    break;
  case Instruction::FNeg:
    Copy = B->CreateNSWSub(ConstantInt::get(I64, 0), Parts[0]);
    break;
  case Instruction::FPExt:
    Copy = Parts[0];
    break;
  case Instruction::FMul: {
    Value *By = Whole(*I.getOperand(isa<ConstantFP>(I.getOperand(0)) ? 0 : 1),
                      /*Bits=*/0);
    if (!By)
      return nullptr;
    Copy = B->CreateNSWMul(Parts[0], By);
    break;
  }
  default:
    switch (mathCallOf(V)) {
    case MathCall::Abs:
      Copy = B->CreateBinaryIntrinsic(Intrinsic::abs, Parts[0], B->getTrue());
      break;
    case MathCall::Min:
      Copy = Minimum(Intrinsic::smin);
      break;
    case MathCall::Max:
      Copy = Minimum(Intrinsic::smax);
      break;
    case MathCall::None:
      return nullptr;
    }
  }
  return Copies[&V] = Copy;
}

bool Slice::copy(const Value &V, Module &Into) {
  begin({&V}, Into);
  Value *Copy = Count <= MostInstructions ? integer(V) : nullptr;
  if (Copy)
    Copy = B->CreateIsNotNull(Copy);
  B->CreateRet(Copy ? Copy : B->getFalse());
  return Copy != nullptr;
}

bool Slice::copyFloats(const Value &L, const Value &R, CmpInst::Predicate P,
                       Module &Into) {
  for (unsigned Bits : {0u, 8u}) {
    if (F)
      F->eraseFromParent();
    *this = Slice();
    Scale = Bits;
    begin({&L, &R}, Into);
    Value *Left = Count <= MostInstructions ? number(L) : nullptr,
          *Right = Left ? number(R) : nullptr;
    B->CreateRet(Right ? B->CreateICmp(P, Left, Right) : B->getFalse());
    if (Right)
      return true;
  }
  return false;
}

bool Slice::copyFloats(const FCmpInst &Cmp, Module &Into) {
  CmpInst::Predicate P = CmpInst::BAD_ICMP_PREDICATE;
  switch (Cmp.getPredicate()) {
  case CmpInst::FCMP_OEQ:
  case CmpInst::FCMP_UEQ:
    P = CmpInst::ICMP_EQ;
    break;
  case CmpInst::FCMP_ONE:
  case CmpInst::FCMP_UNE:
    P = CmpInst::ICMP_NE;
    break;
  case CmpInst::FCMP_OLT:
  case CmpInst::FCMP_ULT:
    P = CmpInst::ICMP_SLT;
    break;
  case CmpInst::FCMP_OLE:
  case CmpInst::FCMP_ULE:
    P = CmpInst::ICMP_SLE;
    break;
  case CmpInst::FCMP_OGT:
  case CmpInst::FCMP_UGT:
    P = CmpInst::ICMP_SGT;
    break;
  case CmpInst::FCMP_OGE:
  case CmpInst::FCMP_UGE:
    P = CmpInst::ICMP_SGE;
    break;
  default:
    return false;
  }
  return copyFloats(*Cmp.getOperand(0), *Cmp.getOperand(1), P, Into);
}

/// Combines bits of numbers that may be negative: intervals say nothing of it.
static bool mixesBits(const Instruction &I) {
  switch (I.getOpcode()) {
  case Instruction::Or:
  case Instruction::Xor:
    return true;
  case Instruction::And:
    return !match(&I, m_And(m_Value(), m_NonNegative()));
  default:
    return false;
  }
}

ICmpInst *Slice::paste(Instruction &At) {
  BasicBlock &Body = F->getEntryBlock();
  auto *Cmp =
      dyn_cast<ICmpInst>(cast<ReturnInst>(Body.getTerminator())->getOperand(0));
  if (!Cmp || any_of(Body, [](const Instruction &I) {
        return !I.isTerminator() && (!isArithmetic(I) || mixesBits(I));
      }))
    return nullptr;
  DenseMap<const Value *, Value *> Back;
  for (size_t I = 0; I < Leaves.size(); ++I)
    Back[F->getArg(static_cast<unsigned>(I))] = const_cast<Value *>(Leaves[I]);
  IRBuilder<> Builder(&At);
  for (const Instruction &I : Body) {
    if (I.isTerminator())
      break;
    SmallVector<Value *> Operands;
    for (const Use &U : I.operands())
      if (!isa<Function>(U.get()))
        Operands.push_back(isa<Constant>(U.get()) ? U.get()
                                                  : Back.lookup(U.get()));
    if (const auto *Call = dyn_cast<IntrinsicInst>(&I)) {
      SmallVector<Type *, 1> Types = {I.getType()};
      Back[&I] =
          Builder.CreateIntrinsic(Call->getIntrinsicID(), Types, Operands);
      continue;
    }
    Instruction *Clone = I.clone();
    for (unsigned N = 0; N < Operands.size(); ++N)
      Clone->setOperand(N, Operands[N]);
    Back[&I] = Builder.Insert(Clone);
  }
  return cast<ICmpInst>(Back.lookup(Cmp));
}

/// Whether \p V is a number that can be 0 and one thing else, without being
/// made of comparisons, or is a constant by something.
static bool isTwofold(const Instruction &V, const DataLayout &DL) {
  if (match(&V, m_UDiv(m_ConstantInt(), m_Value())) ||
      match(&V, m_SDiv(m_ConstantInt(), m_Value())))
    return true;
  const unsigned Bits = V.getType()->getIntegerBitWidth();
  if (ComputeNumSignBits(&V, DL) == Bits)
    return true; // 0 or -1.
  KnownBits Known = computeKnownBits(&V, DL);
  return Known.One.isZero() && Known.Zero.popcount() + 1 == Bits;
}

/// Whether a side is a count or an order of bits, or has more than 64: ranges
/// say nothing of these.
static bool comparesBits(const ICmpInst &Cmp) {
  return any_of(Cmp.operands(), [](const Use &U) {
    const Value *V = U.get();
    if (V->getType()->isIntegerTy() && V->getType()->getIntegerBitWidth() > 64)
      return true;
    while (isa<ZExtInst, SExtInst, TruncInst, FreezeInst>(V))
      V = cast<Instruction>(V)->getOperand(0);
    const auto *Call = dyn_cast<IntrinsicInst>(V);
    switch (Call ? Call->getIntrinsicID() : Intrinsic::not_intrinsic) {
    case Intrinsic::bitreverse:
    case Intrinsic::bswap:
    case Intrinsic::ctlz:
    case Intrinsic::ctpop:
    case Intrinsic::cttz:
      return true;
    default:
      return false;
    }
  });
}

FoldedDecisions foldDecisions(Function &F) {
  FoldedDecisions Found;
  const DataLayout &DL = F.getParent()->getDataLayout();
  Module Slices("slices", F.getContext());
  Slices.setDataLayout(DL);
  std::vector<std::pair<Instruction *, Slice>> All;
  for (Instruction &I : instructions(F)) {
    if (!decisionOf(I))
      continue;
    Slice S;
    if (const auto *Cmp = dyn_cast<FCmpInst>(&I)) {
      if (S.copyFloats(*Cmp, Slices))
        All.emplace_back(&I, std::move(S));
    } else if (const auto *Whole = dyn_cast<ICmpInst>(&I);
               Whole && comparesBits(*Whole)) {
      if (S.copy(I, Slices))
        All.emplace_back(&I, std::move(S));
    } else if (auto [L, R] = comparedIn(I); L) {
      if (S.copyFloats(*L, *R, CmpInst::ICMP_SLT, Slices))
        All.emplace_back(&I, std::move(S));
    } else if (isa<BinaryOperator>(I) && isTwofold(I, DL)) {
      Found.Numbers.insert(&I);
      if (S.copy(I, Slices))
        All.emplace_back(&I, std::move(S));
    }
  }
  if (All.empty())
    return Found;
  ModulePassManager Passes;
  Passes.addPass(createModuleToFunctionPassAdaptor(InstCombinePass()));
  Pipeline().run(std::move(Passes), Slices);
  for (auto &[I, S] : All)
    if (const ICmpInst *Cmp = S.paste(*I->getNextNode()))
      Found.Compares[I] = Cmp;
  return Found;
}

} // namespace cupilot
