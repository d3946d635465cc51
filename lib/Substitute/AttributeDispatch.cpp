//===- AttributeDispatch.cpp - Attributes of kernels, for variants too ----===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttributeDispatch.h"

using namespace llvm;

namespace cupilot {

bool setsAttribute(const Function &Entry) {
  StringRef Name = Entry.getName();
  FunctionType *T = Entry.getFunctionType();
  return Entry.isDeclaration() && T->getReturnType()->isIntegerTy(32) &&
         ((Name == "cudaFuncSetAttribute" && T->getNumParams() == 3) ||
          (Name == "cudaFuncSetCacheConfig" && T->getNumParams() == 2)) &&
         T->getParamType(0)->isPointerTy();
}

void emitAttributeDispatch(
    HostRuntime &Runtime, Function &F, Function &Entry,
    const LaunchableKernels &Kernels,
    function_ref<Value *(IRBuilderBase &, Function *)> HostOf) {
  LLVMContext &C = F.getContext();
  IRBuilder<> B(&F.getEntryBlock());
  auto Block = [&](const char *Name) {
    return BasicBlock::Create(C, Name, &F);
  };
  SmallVector<Value *> Args;
  for (Argument &A : F.args())
    Args.push_back(&A);
  auto Call = [&] {
    CallInst *Set = B.CreateCall(&Entry, Args);
    Set->setCallingConv(Entry.getCallingConv());
    return Set;
  };
  Value *Status = Call();
  BasicBlock *Next = Block("done"), *Return = Block("return");
  B.CreateCondBr(B.CreateICmpEQ(Status, B.getInt32(0)), Next, Return);
  for (const auto &[Stub, Variants] : Kernels) {
    B.SetInsertPoint(Next);
    BasicBlock *Hit = Block("hit");
    Next = Block("next");
    B.CreateCondBr(B.CreateICmpEQ(F.getArg(0), HostOf(B, Stub)), Hit, Next);
    B.SetInsertPoint(Hit);
    for (const Launchable &L : Variants) {
      BasicBlock *Set = Block("set"), *Failed = Block("failed"),
                 *After = Block("after");
      B.CreateCondBr(Runtime.emitReady(B, L.State, L.Handle), Set, After);
      B.SetInsertPoint(Set);
      Args[0] = L.Handle;
      B.CreateCondBr(B.CreateICmpEQ(Call(), B.getInt32(0)), After, Failed);
      B.SetInsertPoint(Failed);
      Runtime.emitClearError(B);
      B.CreateBr(After);
      B.SetInsertPoint(After);
    }
    B.CreateBr(Return);
  }
  B.SetInsertPoint(Next);
  B.CreateBr(Return);
  B.SetInsertPoint(Return);
  B.CreateRet(Status);
}

} // namespace cupilot
