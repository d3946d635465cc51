//===- Arithmetic.cpp - Wrong operators, constants and precision -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sites.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace cupilot {

using Opcode = Instruction::BinaryOps;

static void replaceOpcode(BinaryOperator &I, Opcode New) {
  auto *Other = BinaryOperator::Create(New, I.getOperand(0), I.getOperand(1),
                                       "", I.getIterator());
  if (isa<FPMathOperator>(Other) && isa<FPMathOperator>(I))
    Other->copyFastMathFlags(&I);
  Other->setDebugLoc(I.getDebugLoc());
  I.replaceAllUsesWith(Other);
  I.eraseFromParent();
}

static std::optional<Opcode> confused(Opcode Is) {
  switch (Is) {
  case Instruction::Add:
    return Instruction::Sub;
  case Instruction::Sub:
  case Instruction::Mul:
    return Instruction::Add;
  case Instruction::SDiv:
  case Instruction::UDiv:
    return Instruction::Mul;
  case Instruction::SRem:
    return Instruction::SDiv;
  case Instruction::URem:
    return Instruction::UDiv;
  case Instruction::FAdd:
    return Instruction::FSub;
  case Instruction::FSub:
  case Instruction::FMul:
    return Instruction::FAdd;
  case Instruction::FDiv:
    return Instruction::FMul;
  case Instruction::And:
    return Instruction::Or;
  case Instruction::Or:
    return Instruction::And;
  case Instruction::Xor:
    return Instruction::Or;
  case Instruction::Shl:
    return Instruction::LShr;
  case Instruction::LShr:
  case Instruction::AShr:
    return Instruction::Shl;
  default:
    return std::nullopt;
  }
}

static std::optional<Opcode> otherSign(Opcode Is) {
  switch (Is) {
  case Instruction::AShr:
    return Instruction::LShr;
  case Instruction::LShr:
    return Instruction::AShr;
  default:
    return std::nullopt;
  }
}

static std::optional<Instruction::CastOps> otherSign(Instruction::CastOps Is) {
  switch (Is) {
  case Instruction::SExt:
    return Instruction::ZExt;
  case Instruction::ZExt:
    return Instruction::SExt;
  case Instruction::SIToFP:
    return Instruction::UIToFP;
  case Instruction::UIToFP:
    return Instruction::SIToFP;
  case Instruction::FPToSI:
    return Instruction::FPToUI;
  case Instruction::FPToUI:
    return Instruction::FPToSI;
  default:
    return std::nullopt;
  }
}

static const char *nameOf(unsigned Code) {
  return Instruction::getOpcodeName(Code);
}

static void addCast(CastInst &I, Sites &S) {
  auto Other = otherSign(I.getOpcode());
  // An index that is negative lies out of bounds either way.
  bool Index = all_of(I.users(),
                      [](const User *U) { return isa<GetElementPtrInst>(U); });
  if (!Other || Index || I.getSrcTy()->isIntegerTy(1))
    return;
  S.add(I, "sign", nameOf(I.getOpcode()), nameOf(*Other), [&I, Other] {
    auto *New = CastInst::Create(*Other, I.getOperand(0), I.getType(), "",
                                 I.getIterator());
    New->setDebugLoc(I.getDebugLoc());
    I.replaceAllUsesWith(New);
    I.eraseFromParent();
  });
}

void addArithmetic(Instruction &I, Sites &S) {
  if (auto *Cast = dyn_cast<CastInst>(&I))
    return addCast(*Cast, S);
  if (I.getOpcode() == Instruction::FNeg) {
    S.add(I, "arithmetic", "-x", "x", [&I] {
      I.replaceAllUsesWith(I.getOperand(0));
      I.eraseFromParent();
    });
    return;
  }
  auto *Binary = dyn_cast<BinaryOperator>(&I);
  if (!Binary)
    return;
  Opcode Is = Binary->getOpcode();
  StringRef Kind = Binary->isShift()            ? "shift"
                   : Binary->isBitwiseLogicOp() ? "bits"
                                                : "arithmetic";
  if (auto Other = confused(Is))
    S.add(I, Kind, nameOf(Is), nameOf(*Other),
          [Binary, Other] { replaceOpcode(*Binary, *Other); });
  if (auto Other = otherSign(Is))
    S.add(I, "sign", nameOf(Is), nameOf(*Other),
          [Binary, Other] { replaceOpcode(*Binary, *Other); });
  // Right for powers of two.
  if ((Is == Instruction::URem || Is == Instruction::SRem) &&
      !isa<Constant>(I.getOperand(1)))
    S.add(I, "bits", "a % b", "a & (b - 1)", [&I] {
      IRBuilder<> B(&I);
      Value *Mask =
          B.CreateSub(I.getOperand(1), ConstantInt::get(I.getType(), 1));
      I.replaceAllUsesWith(B.CreateAnd(I.getOperand(0), Mask));
      I.eraseFromParent();
    });
}

static std::string textOf(const APFloat &V) {
  SmallString<16> Text;
  V.toString(Text);
  return Text.str().str();
}

static void addInteger(Instruction &I, unsigned Operand, const ConstantInt &C,
                       Sites &S) {
  auto Replace = [&](StringRef Kind, const APInt &New) {
    Constant *To = ConstantInt::get(C.getType(), New);
    unsigned Bits = C.getBitWidth();
    S.add(I, Kind,
          Bits == 1 ? toString(C.getValue(), 10, false)
                    : toString(C.getValue(), 10, true),
          Bits == 1 ? toString(New, 10, false) : toString(New, 10, true),
          [&I, Operand, To] { I.setOperand(Operand, To); });
  };
  const APInt &V = C.getValue();
  if (C.getBitWidth() == 1)
    return Replace("logical", ~V);
  Replace("constant", V + 1);
  Replace("constant", V - 1);
  if (V.ugt(1) && !V.isAllOnes())
    Replace("constant", APInt::getZero(C.getBitWidth()));
}

static void addFloat(Instruction &I, unsigned Operand, const ConstantFP &C,
                     Sites &S) {
  auto Replace = [&](double New) {
    Constant *To = ConstantFP::get(C.getType(), New);
    S.add(I, "constant", textOf(C.getValueAPF()),
          textOf(cast<ConstantFP>(To)->getValueAPF()),
          [&I, Operand, To] { I.setOperand(Operand, To); });
  };
  if (!C.getType()->isFloatTy() && !C.getType()->isDoubleTy())
    return;
  double V = C.getType()->isFloatTy() ? double(C.getValueAPF().convertToFloat())
                                      : C.getValueAPF().convertToDouble();
  if (C.isZero())
    return Replace(1);
  Replace(-V);
  if (!C.getValueAPF().isFinite())
    return;
  Replace(0);
  Replace(V * 1.001);
}

void addConstants(Instruction &I, Sites &S) {
  bool Wanted = isa<BinaryOperator, CmpInst, StoreInst, SelectInst, PHINode,
                    ReturnInst>(I); // addMemory has indices.
  if (auto *Call = dyn_cast<CallInst>(&I))
    Wanted = Call->getCalledFunction() && !isa<IntrinsicInst>(I) &&
             !StringRef(calleeName(*Call)).starts_with("__shfl") &&
             !StringRef(calleeName(*Call)).starts_with("__syncwarp");
  if (!Wanted)
    return;
  unsigned Count = I.getNumOperands();
  if (auto *Call = dyn_cast<CallInst>(&I))
    Count = Call->arg_size();
  for (unsigned Operand = 0; Operand < Count; ++Operand) {
    const Value *V = I.getOperand(Operand);
    if (auto *Integer = dyn_cast<ConstantInt>(V))
      addInteger(I, Operand, *Integer, S);
    else if (auto *Float = dyn_cast<ConstantFP>(V))
      addFloat(I, Operand, *Float, S);
  }
}

void filterResult(Instruction &I,
                  function_ref<Value *(IRBuilder<> &, Value *)> Change) {
  IRBuilder<> B(I.getNextNode());
  B.SetCurrentDebugLocation(I.getDebugLoc());
  Instruction *Keep = I.clone(); // Its uses are not replaced.
  Keep->insertAfter(I.getIterator());
  B.SetInsertPoint(Keep->getNextNode());
  Value *New = Change(B, Keep);
  I.replaceAllUsesWith(New);
  I.eraseFromParent();
}

void addPrecision(Instruction &I, Sites &S) {
  if (!isa<BinaryOperator, CallInst>(I) || I.use_empty())
    return;
  if (auto *Call = dyn_cast<CallInst>(&I))
    if (std::string Name = calleeName(*Call);
        StringRef(Name).contains("shfl") || StringRef(Name).contains("atomic"))
      return;
  if (I.getType()->isFloatTy()) {
    S.add(I, "precision", "float", "half", [&I] {
      filterResult(I, [](IRBuilder<> &B, Value *V) {
        return B.CreateFPExt(B.CreateFPTrunc(V, B.getHalfTy()), B.getFloatTy());
      });
    });
    S.add(I, "precision", "float", "16 bits of mantissa", [&I] {
      filterResult(I, [](IRBuilder<> &B, Value *V) {
        Value *Bits = B.CreateBitCast(V, B.getInt32Ty());
        return B.CreateBitCast(B.CreateAnd(Bits, 0xffffff80u), B.getFloatTy());
      });
    });
    S.add(I, "precision", "float", "zero for denormals", [&I] {
      filterResult(I, [](IRBuilder<> &B, Value *V) {
        Value *Bits = B.CreateBitCast(V, B.getInt32Ty());
        Value *Small =
            B.CreateICmpEQ(B.CreateAnd(Bits, 0x7f800000u), B.getInt32(0));
        return B.CreateSelect(
            Small,
            B.CreateBitCast(B.CreateAnd(Bits, 0x80000000u), B.getFloatTy()), V);
      });
    });
  } else if (I.getType()->isDoubleTy()) {
    S.add(I, "precision", "double", "float", [&I] {
      filterResult(I, [](IRBuilder<> &B, Value *V) {
        return B.CreateFPExt(B.CreateFPTrunc(V, B.getFloatTy()),
                             B.getDoubleTy());
      });
    });
  }
}

} // namespace cupilot
