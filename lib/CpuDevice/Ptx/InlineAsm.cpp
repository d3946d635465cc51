//===- InlineAsm.cpp - Inline PTX as plain IR -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CUDA's headers, CUTLASS and hand-tuned kernels write much as inline PTX. An
// asm statement of which every instruction stands in the table (PtxTable.cpp)
// becomes IR before anything else is done, so that what it decides is seen, and
// it is optimised, checked and counted like other code. Every other one stays,
// and is named to the user.
//
//===----------------------------------------------------------------------===//

#include "llvm/IR/InlineAsm.h"
#include "DeviceValues.h"
#include "InlineAsm.h"
#include "cupilot/CpuDevice/InlinePtx.h"
#include "llvm/Analysis/InstructionSimplify.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace cupilot {

static constexpr char ImpliedName[] = "cupilot.implied";

bool isImplied(const Instruction &I) {
  return I.getMetadata(ImpliedName) != nullptr;
}

void markImplied(Function &F, const SmallPtrSetImpl<const Value *> &Written) {
  MDNode *Implied = MDNode::get(F.getContext(), {});
  for (Instruction &I : instructions(F)) {
    bool MayDecide =
        I.isShift() ||
        isa<CmpInst, MinMaxIntrinsic, SelectInst, BranchInst, TruncInst>(I);
    if (MayDecide && !Written.contains(&I))
      I.setMetadata(ImpliedName, Implied);
  }
}

namespace {
/// Translates one asm statement into a function of its own, and puts that where
/// the statement stood.
class AsmLowering : public BodyLowering {
public:
  AsmLowering(CallInst &Call, const ptx::Fragment &Program,
              ForeignStatement Foreign)
      : BodyLowering(*Call.getModule(),
                     cast<InlineAsm>(Call.getCalledOperand())->hasSideEffects(),
                     Foreign),
        Call(Call), Program(Program) {}
  /// Replaces the statement; else an error says what is not known of it, and
  /// nothing has changed.
  Error run();

private:
  Error emit();
  bool bindOperands();
  void finish();
  void tidy();
  bool directive(const ptx::Statement &S) override {
    return S.as<ptx::Pragma>();
  }

  CallInst &Call;
  const ptx::Fragment &Program;
  SmallVector<AllocaInst *> Outputs;
};
} // namespace

static unsigned bitsOfType(Type *T) {
  return T->isPointerTy() ? 64
                          : static_cast<unsigned>(T->getPrimitiveSizeInBits());
}

bool AsmLowering::bindOperands() {
  auto *Asm = cast<InlineAsm>(Call.getCalledOperand());
  auto *Struct = dyn_cast<StructType>(Call.getType());
  unsigned Number = 0, Argument = 0;
  for (const InlineAsm::ConstraintInfo &C : Asm->ParseConstraints()) {
    if (C.Type == InlineAsm::isClobber)
      continue;
    if (C.isIndirect || C.Type == InlineAsm::isLabel)
      return false;
    std::string Name = "$" + std::to_string(Number++);
    if (C.Type == InlineAsm::isOutput) {
      unsigned Bits = bitsOfType(Struct ? Struct->getElementType(Outputs.size())
                                        : Call.getType());
      if (Bits == 0)
        return false;
      Outputs.push_back(variable(Bits));
      declare(Name, Outputs.back());
      continue;
    }
    if (Argument == Body->arg_size())
      return false;
    Value *V = bitsOf(B, Body->getArg(Argument++));
    unsigned Tied = 0;
    if (!C.Codes.empty() && !StringRef(C.Codes[0]).getAsInteger(10, Tied)) {
      AllocaInst *Output = find("$" + std::to_string(Tied));
      if (!Output || Output->getAllocatedType() != V->getType())
        return false;
      B.CreateStore(V, Output);
      declare(Name, Output);
    } else {
      AllocaInst *Input = variable(V->getType()->getIntegerBitWidth());
      B.CreateStore(V, Input);
      declare(Name, Input);
    }
  }
  return true;
}

void AsmLowering::finish() {
  Type *T = Call.getType();
  if (T->isVoidTy()) {
    B.CreateRetVoid();
    return;
  }
  auto *Struct = dyn_cast<StructType>(T);
  Value *Result = PoisonValue::get(T);
  for (auto [I, Output] : enumerate(Outputs)) {
    Type *Each = Struct ? Struct->getElementType(I) : T;
    Value *V = B.CreateLoad(Output->getAllocatedType(), Output);
    V = Each->isPointerTy() ? B.CreateIntToPtr(V, Each)
                            : B.CreateBitCast(V, Each);
    Result = Struct ? B.CreateInsertValue(Result, V, I) : V;
  }
  B.CreateRet(Result);
}

Error AsmLowering::emit() {
  B.SetInsertPoint(BasicBlock::Create(M.getContext(), "entry", Body));
  if (!bindOperands())
    return createStringError("its operands");
  if (Error E = emitStatements(Program.Statements, *Program.Text))
    return E;
  finish();
  return Error::success();
}

/// Makes values of the registers, and marks what is implied.
void AsmLowering::tidy() {
  DominatorTree Dominators(*Body);
  SmallVector<AllocaInst *> Registers;
  for (Instruction &I : Body->getEntryBlock())
    if (auto *Register = dyn_cast<AllocaInst>(&I);
        Register && isAllocaPromotable(Register))
      Registers.push_back(Register);
  PromoteMemToReg(Registers, Dominators);
  for (Instruction &I : make_early_inc_range(instructions(*Body))) {
    // An address that came from a pointer is that pointer.
    if (Value *V = simplifyInstruction(&I, M.getDataLayout());
        V && !Written.contains(&I)) {
      I.replaceAllUsesWith(V);
      if (isInstructionTriviallyDead(&I))
        I.eraseFromParent();
    }
  }
  markImplied(*Body, Written);
}

Error AsmLowering::run() {
  SmallVector<Type *> Types;
  for (Value *Arg : Call.args())
    Types.push_back(Arg->getType());
  Body = Function::Create(FunctionType::get(Call.getType(), Types, false),
                          GlobalValue::InternalLinkage, "__cupilot_asm", M);
  Body->setDoesNotThrow();
  if (Error Unknown = emit()) {
    Body->dropAllReferences();
    Body->eraseFromParent();
    return Unknown;
  }
  tidy();
  IRBuilder<> At(&Call);
  SmallVector<Value *> Args(Call.args());
  CallInst *New = At.CreateCall(Body, Args);
  New->setDebugLoc(Call.getDebugLoc());
  Call.replaceAllUsesWith(New);
  Call.eraseFromParent();
  InlineFunctionInfo Info;
  InlineFunction(*New, Info, /*MergeAttributes=*/false,
                 /*CalleeAAR=*/nullptr, /*InsertLifetime=*/false);
  Body->eraseFromParent();
  return Error::success();
}

void lowerInlineAsm(Module &M, ForeignStatement Foreign) {
  SmallVector<CallInst *> Calls;
  for (Function &F : M)
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallInst>(&I); Call && Call->isInlineAsm())
        Calls.push_back(Call);
  for (CallInst *Call : Calls) {
    auto *Asm = cast<InlineAsm>(Call->getCalledOperand());
    Expected<ptx::Fragment> Program = readAsm(Asm->getAsmString());
    // An empty statement, perhaps with a comment, keeps the order of what
    // stands around it.
    if (Program && Program->Statements.empty() && Call->getType()->isVoidTy()) {
      Call->setCalledOperand(InlineAsm::get(Call->getFunctionType(), "",
                                            Asm->getConstraintString(),
                                            Asm->hasSideEffects()));
      continue;
    }
    if (Error Unknown = Program ? AsmLowering(*Call, *Program, Foreign).run()
                                : Program.takeError())
      Call->setMetadata(
          "cupilot.unknown",
          MDNode::get(
              M.getContext(),
              MDString::get(M.getContext(), toString(std::move(Unknown)))));
  }
}

} // namespace cupilot
