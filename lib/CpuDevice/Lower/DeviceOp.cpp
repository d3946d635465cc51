//===- DeviceOp.cpp - Instructions that the run time executes -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Hopper/DeviceOps.h"
#include "Lowering.h"
#include "cupilot/CpuDevice/InlinePtx.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace cupilot {

static constexpr StringRef Prefix = "cupilot.op:";

bool isDeviceOp(const CallBase &Call) {
  const Function *Callee = Call.getCalledFunction();
  return Callee && Callee->getName().starts_with(Prefix);
}

SmallVector<Value *> emitDeviceOp(IRBuilderBase &B, StringRef Name,
                                  const OpRule &Rule, Value *Predicate,
                                  ArrayRef<Value *> Inputs) {
  Module &M = *B.GetInsertBlock()->getModule();
  Type *I64 = B.getInt64Ty();
  SmallVector<Value *> Args = {Predicate ? B.CreateZExt(Predicate, I64)
                                         : B.getInt64(1)};
  for (Value *Input : Inputs)
    Args.push_back(B.CreateZExtOrTrunc(Input, I64));
  Type *Result =
      Rule.Results.empty()
          ? B.getVoidTy()
          : static_cast<Type *>(ArrayType::get(I64, Rule.Results.size()));
  // The number of operands is a part of the name: some are optional.
  std::string Symbol =
      (Prefix + Name + "/" + Twine(static_cast<uint64_t>(Args.size()))).str();
  FunctionCallee Callee = M.getOrInsertFunction(
      Symbol,
      FunctionType::get(Result, SmallVector<Type *>(Args.size(), I64), false));
  auto *Function = cast<llvm::Function>(Callee.getCallee());
  Function->setConvergent();
  Function->setDoesNotThrow();
  CallInst *Call = B.CreateCall(Callee, Args);
  Call->setConvergent();
  SmallVector<Value *> Results;
  for (unsigned I = 0; I < Rule.Results.size(); ++I)
    Results.push_back(B.CreateExtractValue(Call, I));
  return Results;
}

namespace {
/// The calls of one function and what they need of it.
class OpLowering {
public:
  OpLowering(Function &F, LoweredModule &Tables, LoweredKernel &K)
      : F(F), Tables(Tables), K(K) {}
  void run();

private:
  uint32_t addSite(const CallInst &Call, bool IsStore, uint32_t Alignment);
  void lower(CallInst &Call, StringRef Name);

  Function &F;
  LoweredModule &Tables;
  LoweredKernel &K;
  AllocaInst *Words = nullptr;
  uint64_t NumWords = 0;
};
} // namespace

uint32_t OpLowering::addSite(const CallInst &Call, bool IsStore,
                             uint32_t Alignment) {
  AccessSite Site;
  Site.Kernel = K.Name;
  Site.Location = locationOf(Call.getDebugLoc());
  Site.Align = Alignment;
  Site.IsStore = IsStore;
  numberLocation(Site, K);
  Tables.Sites.push_back(std::move(Site));
  return Tables.Sites.size() - 1;
}

void OpLowering::lower(CallInst &Call, StringRef Name) {
  SmallVector<StringRef> Parts;
  Name.split(Parts, '.');
  DeviceOp Op;
  Op.Name = Name.str();
  Op.Rule = *findOp(Parts);
  Op.Inputs = Call.arg_size() - 1;
  Op.ReadSite = addSite(Call, /*IsStore=*/false, Op.Rule.ReadAlign);
  Op.WriteSite = addSite(Call, /*IsStore=*/true, Op.Rule.WriteAlign);
  Op.Where = addPlace(Tables, Call.getDebugLoc());
  // Optimisation may have copied the instruction: lanes of a warp that run
  // different copies still run the same instruction of the source.
  const std::string &Place = Tables.Sites[Op.ReadSite].Location;
  uint32_t Index = Tables.Ops.size();
  auto Same = find_if(Tables.Ops, [&](const DeviceOp &Other) {
    return Other.Name == Op.Name &&
           Tables.Sites[Other.ReadSite].Location == Place;
  });
  Op.Key = Same == Tables.Ops.end() ? Index : Same->Key;
  uint64_t Results = Op.Rule.Results.size();
  NumWords = std::max<uint64_t>(NumWords, Call.arg_size() + Results);
  Tables.Ops.push_back(std::move(Op));

  IRBuilder<> B(&Call);
  Type *I64 = B.getInt64Ty();
  auto Word = [&](uint64_t I) {
    return B.CreateConstInBoundsGEP1_64(I64, Words, I);
  };
  uint64_t Next = 0;
  for (Value *Arg : Call.args())
    B.CreateStore(Arg, Word(Next++));
  FunctionCallee Run = F.getParent()->getOrInsertFunction(
      "cupilot_rt_op", B.getVoidTy(), B.getPtrTy(), B.getInt32Ty(),
      B.getPtrTy());
  B.CreateCall(Run, {F.getArg(0), B.getInt32(Index), Words});
  if (Results > 0) {
    Value *Whole = PoisonValue::get(Call.getType());
    for (unsigned I = 0; I < Results; ++I)
      Whole = B.CreateInsertValue(Whole, B.CreateLoad(I64, Word(Next++)), I);
    Call.replaceAllUsesWith(Whole);
  }
  Call.eraseFromParent();
}

void OpLowering::run() {
  SmallVector<std::pair<CallInst *, StringRef>> Calls;
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallInst>(&I))
      if (Function *Callee = Call->getCalledFunction())
        if (StringRef Name = Callee->getName(); Name.consume_front(Prefix))
          Calls.push_back({Call, Name.rsplit('/').first});
  if (Calls.empty())
    return;
  K.NeedsFibers = true;
  // One array serves all: nothing stays in it from one call to the next.
  IRBuilder<> B(&*F.getEntryBlock().getFirstInsertionPt());
  Words = B.CreateAlloca(B.getInt64Ty(), B.getInt64(1), "words");
  for (auto [Call, Name] : Calls)
    lower(*Call, Name);
  Words->setOperand(0, B.getInt64(NumWords));
}

void lowerDeviceOps(Function &F, LoweredModule &Tables, LoweredKernel &K) {
  OpLowering(F, Tables, K).run();
}

} // namespace cupilot
