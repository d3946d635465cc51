//===- LaunchDispatch.cpp - Choosing between kernels at a launch ----------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchDispatch.h"
#include "LaunchAttempt.h"
#include "llvm/Demangle/Demangle.h"

using namespace llvm;

namespace cupilot {

Value *launchedKernel(const CallBase &Call) {
  const Function *Entry = Call.getCalledFunction();
  if (!Entry || Call.getFunctionType() != Entry->getFunctionType())
    return nullptr;
  switch (launchFormOf(*Entry)) {
  case LaunchForm::Unknown:
    return nullptr;
  case LaunchForm::Words:
  case LaunchForm::Arrays:
    return Call.getArgOperand(0)->stripPointerCasts();
  case LaunchForm::Config:
    return Call.getArgOperand(1)->stripPointerCasts();
  }
  return nullptr;
}

void setHandles(Launchable &L, HostRuntime &Runtime,
                ArrayRef<GlobalVariable *> Handles) {
  bool Several = L.V.Plan.Launches.size() > 1;
  for (auto [I, Handle] : enumerate(Handles)) {
    bool Raise = Several;
    for (const Launch &Each : L.V.Plan.Launches)
      Raise |= L.V.Plan.indexOf(Each) == I &&
               Each.Shared != Expr::dim(SharedBytes) &&
               Each.Shared != Expr::constant(0);
    L.Handles.push_back(Runtime.createHandle(Handle, Several, Raise));
  }
}

Function *LaunchDispatch::forKernel(Function &Entry, Function &Stub) {
  std::vector<Launchable> &Variants = Kernels[&Stub];
  Function *F = Runtime.createFunction("__cupilot_launch_" + Entry.getName() +
                                           "_" + Stub.getName(),
                                       Entry.getFunctionType());
  F->setCallingConv(Entry.getCallingConv());
  GlobalVariable *&Fallback = Fallbacks[&Stub];
  if (!Fallback) {
    StringRef Kernel = Variants.front().Kernel;
    Fallback = Runtime.createCounter("__cupilot_fallbacks_" + Kernel,
                                     "originals in place of variants of " +
                                         demangle(Kernel));
  }
  LaunchBody Code(*F, Entry);
  IRBuilder<> &B = Code.B;
  BasicBlock *Original = Code.block("original"), *Legal = Code.block("legal"),
             *Next = Code.block("next");
  LaunchValues Values = Code.read();
  // A launch that the run time would refuse stays refused.
  Value *Plain = B.CreateAnd(emitLegal(B, Values), Code.plain());
  B.CreateCondBr(Plain, Legal, Original);
  B.SetInsertPoint(Legal);
  Value *Device = Runtime.emitDevice(B);
  B.CreateCondBr(B.CreateICmpSGE(Device, B.getInt32(0)), Next, Original);
  for (Launchable &L : Variants) {
    BasicBlock *After = Code.block("next");
    B.SetInsertPoint(Next);
    LaunchAttempt(Code, Runtime, L, Values).emit(Device, Original, After);
    Next = After;
  }
  B.SetInsertPoint(Next);
  B.CreateBr(Original);
  B.SetInsertPoint(Original);
  Runtime.emitCount(B, Fallback);
  B.CreateRet(Code.launchOriginal());
  return F;
}

Function *LaunchDispatch::forAny(Function &Entry) {
  Function *F = Runtime.createFunction("__cupilot_launch_" + Entry.getName(),
                                       Entry.getFunctionType());
  F->setCallingConv(Entry.getCallingConv());
  LaunchBody Code(*F, Entry);
  IRBuilder<> &B = Code.B;
  SmallVector<Value *> Args;
  for (Argument &A : F->args())
    Args.push_back(&A);
  for (auto &[Stub, Variants] : Kernels) {
    BasicBlock *Hit = Code.block("hit"), *Next = Code.block("next");
    B.CreateCondBr(B.CreateICmpEQ(Code.kernel(), Stub), Hit, Next);
    B.SetInsertPoint(Hit);
    B.CreateRet(B.CreateCall(standIn(Entry, Stub), Args));
    B.SetInsertPoint(Next);
  }
  B.CreateRet(Code.launchOriginal());
  return F;
}

Function *LaunchDispatch::standIn(Function &Entry, Function *Stub) {
  if (Function *Known = Made.lookup({&Entry, Stub}))
    return Known;
  Function *F = Stub ? forKernel(Entry, *Stub) : forAny(Entry);
  Made[{&Entry, Stub}] = F;
  return F;
}

} // namespace cupilot
