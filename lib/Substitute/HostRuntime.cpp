//===- HostRuntime.cpp - What dispatch code needs at run time -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostRuntime.h"

using namespace llvm;

namespace cupilot {

/// Devices whose answer is remembered; beyond them the original runs.
static constexpr unsigned MaxDevices = 64;
/// Places of two fields in cudaFuncAttributes (CUDA Runtime API), and more than
/// its size in any version.
static constexpr unsigned PtxVersionOffset = 32, BinaryVersionOffset = 36,
                          AttributesSize = 256;

Function *HostRuntime::createFunction(const Twine &Name, FunctionType *Type) {
  // The module's unwind tables and frame pointers: backtraces pass through.
  Function *F = Function::createWithDefaultAttr(
      Type, GlobalValue::InternalLinkage,
      M.getDataLayout().getProgramAddressSpace(), Name, &M);
  BasicBlock::Create(M.getContext(), "entry", F);
  return F;
}

GlobalVariable *HostRuntime::createCounter(const Twine &Name, StringRef Label) {
  Type *I64 = Type::getInt64Ty(M.getContext());
  auto *Counter =
      new GlobalVariable(M, I64, false, GlobalValue::InternalLinkage,
                         ConstantInt::get(I64, 0), Name);
  Counters.emplace_back(Label.str(), Counter);
  return Counter;
}

VariantState HostRuntime::createState(StringRef Name, StringRef Label,
                                      StringRef Arch) {
  VariantState S;
  Type *States = ArrayType::get(Type::getInt8Ty(M.getContext()), MaxDevices);
  S.PerDevice =
      new GlobalVariable(M, States, false, GlobalValue::InternalLinkage,
                         ConstantAggregateZero::get(States), Name + "_state");
  S.Count = createCounter(Name + "_launches", Label);
  // "sm_90a" is of compute capability 90; an image's version says no more.
  if (!Arch.consume_front("sm_") || Arch.consumeInteger(10, S.Arch))
    S.Arch = 0;
  return S;
}

/// i32 mode(): 1 apply, 2 off, 3 stats. Read once from CUPILOT_RUNTIME.
Function *HostRuntime::modeFunction() {
  if (Mode)
    return Mode;
  LLVMContext &C = M.getContext();
  IRBuilder<> B(C);
  Type *I32 = B.getInt32Ty(), *Ptr = B.getPtrTy();
  Report = createFunction("__cupilot_report",
                          FunctionType::get(B.getVoidTy(), false));
  Mode = createFunction("__cupilot_mode", FunctionType::get(I32, false));
  auto *Cached = new GlobalVariable(M, I32, false, GlobalValue::InternalLinkage,
                                    B.getInt32(0), "__cupilot_mode_cache");
  auto Block = [&](const char *Name) {
    return BasicBlock::Create(C, Name, Mode);
  };
  BasicBlock *Known = Block("known"), *Read = Block("read"),
             *Set = Block("set"), *Stats = Block("stats"),
             *Store = Block("store");
  B.SetInsertPoint(&Mode->getEntryBlock());
  LoadInst *Value = B.CreateAlignedLoad(I32, Cached, Align(4));
  Value->setAtomic(AtomicOrdering::Acquire);
  B.CreateCondBr(B.CreateICmpNE(Value, B.getInt32(0)), Known, Read);
  B.SetInsertPoint(Known);
  B.CreateRet(Value);
  B.SetInsertPoint(Read);
  llvm::Value *Env = B.CreateCall(
      M.getOrInsertFunction("getenv", FunctionType::get(Ptr, {Ptr}, false)),
      {B.CreateGlobalString("CUPILOT_RUNTIME")});
  B.CreateCondBr(
      B.CreateICmpNE(Env, ConstantPointerNull::get(cast<PointerType>(Ptr))),
      Set, Store);
  B.SetInsertPoint(Set);
  FunctionCallee Compare = M.getOrInsertFunction(
      "strcmp", FunctionType::get(I32, {Ptr, Ptr}, false));
  auto Equals = [&](const char *Word) {
    return B.CreateICmpEQ(
        B.CreateCall(Compare, {Env, B.CreateGlobalString(Word)}),
        B.getInt32(0));
  };
  llvm::Value *IsStats = Equals("stats");
  llvm::Value *Chosen =
      B.CreateSelect(Equals("off"), B.getInt32(2),
                     B.CreateSelect(IsStats, B.getInt32(3), B.getInt32(1)));
  B.CreateCondBr(IsStats, Stats, Store);
  B.SetInsertPoint(Stats);
  // Of threads that come here at once, one registers the report.
  llvm::Value *Won = B.CreateExtractValue(
      B.CreateAtomicCmpXchg(Cached, B.getInt32(0), B.getInt32(3), Align(4),
                            AtomicOrdering::AcquireRelease,
                            AtomicOrdering::Acquire),
      1);
  BasicBlock *Register = Block("register");
  B.CreateCondBr(Won, Register, Store);
  B.SetInsertPoint(Register);
  B.CreateCall(
      M.getOrInsertFunction("atexit", FunctionType::get(I32, {Ptr}, false)),
      {Report});
  B.CreateBr(Store);
  B.SetInsertPoint(Store);
  PHINode *Final = B.CreatePHI(I32, 4);
  Final->addIncoming(B.getInt32(1), Read);
  Final->addIncoming(Chosen, Set);
  Final->addIncoming(Chosen, Stats);
  Final->addIncoming(Chosen, Register);
  StoreInst *Write = B.CreateAlignedStore(Final, Cached, Align(4));
  Write->setAtomic(AtomicOrdering::Release);
  B.CreateRet(Final);
  return Mode;
}

/// i1 ready(ptr handle, ptr states, i32 arch).
Function *HostRuntime::readyFunction() {
  if (Ready)
    return Ready;
  LLVMContext &C = M.getContext();
  IRBuilder<> B(C);
  Type *I1 = B.getInt1Ty(), *I8 = B.getInt8Ty(), *I32 = B.getInt32Ty(),
       *Ptr = B.getPtrTy();
  Function *ModeOf = modeFunction();
  Ready = createFunction("__cupilot_ready",
                         FunctionType::get(I1, {Ptr, Ptr, I32}, false));
  auto Block = [&](const char *Name) {
    return BasicBlock::Create(C, Name, Ready);
  };
  BasicBlock *On = Block("on"), *Clean = Block("clean"),
             *Device = Block("device"), *Look = Block("look"),
             *Ask = Block("ask"), *Clear = Block("clear"),
             *Keep = Block("keep"), *Known = Block("known"), *No = Block("no");
  B.SetInsertPoint(&Ready->getEntryBlock());
  Value *Id = B.CreateAlloca(I32),
        *Attributes = B.CreateAlloca(ArrayType::get(I8, AttributesSize));
  cast<AllocaInst>(Attributes)->setAlignment(Align(16));
  B.CreateCondBr(B.CreateICmpEQ(B.CreateCall(ModeOf), B.getInt32(2)), No, On);
  // A failed launch must be cleared, which would clear an error that the
  // program has not asked for yet.
  B.SetInsertPoint(On);
  B.CreateCondBr(
      B.CreateICmpEQ(emitStatusCall(B, "cudaPeekAtLastError"), B.getInt32(0)),
      Clean, No);
  B.SetInsertPoint(Clean);
  Value *Error =
      B.CreateCall(M.getOrInsertFunction("cudaGetDevice",
                                         FunctionType::get(I32, {Ptr}, false)),
                   {Id});
  B.CreateCondBr(B.CreateICmpEQ(Error, B.getInt32(0)), Device, No);
  B.SetInsertPoint(Device);
  Value *Index = B.CreateLoad(I32, Id);
  B.CreateCondBr(B.CreateICmpULT(Index, B.getInt32(MaxDevices)), Look, No);
  B.SetInsertPoint(Look);
  Value *Slot = B.CreateInBoundsGEP(I8, Ready->getArg(1),
                                    B.CreateZExt(Index, B.getInt64Ty()));
  LoadInst *State = B.CreateAlignedLoad(I8, Slot, Align(1));
  State->setAtomic(AtomicOrdering::Monotonic);
  B.CreateCondBr(B.CreateICmpEQ(State, B.getInt8(0)), Ask, Known);
  B.SetInsertPoint(Ask);
  Value *Status = B.CreateCall(
      M.getOrInsertFunction("cudaFuncGetAttributes",
                            FunctionType::get(I32, {Ptr, Ptr}, false)),
      {Attributes, Ready->getArg(0)});
  B.CreateCondBr(B.CreateICmpEQ(Status, B.getInt32(0)), Keep, Clear);
  B.SetInsertPoint(Clear);
  emitClearError(B);
  B.CreateBr(Keep);
  B.SetInsertPoint(Keep);
  auto Field = [&](unsigned Offset) {
    return B.CreateLoad(I32,
                        B.CreateConstInBoundsGEP1_64(I8, Attributes, Offset));
  };
  Value *Fits = B.CreateAnd(
      B.CreateICmpEQ(Status, B.getInt32(0)),
      B.CreateAnd(B.CreateICmpEQ(Field(BinaryVersionOffset), Ready->getArg(2)),
                  B.CreateICmpEQ(Field(PtxVersionOffset), Ready->getArg(2))));
  StoreInst *Remember = B.CreateAlignedStore(
      B.CreateSelect(Fits, B.getInt8(1), B.getInt8(2)), Slot, Align(1));
  Remember->setAtomic(AtomicOrdering::Monotonic);
  B.CreateRet(Fits);
  B.SetInsertPoint(Known);
  B.CreateRet(B.CreateICmpEQ(State, B.getInt8(1)));
  B.SetInsertPoint(No);
  B.CreateRet(B.getFalse());
  return Ready;
}

Value *HostRuntime::emitReady(IRBuilderBase &B, const VariantState &S,
                              Value *Handle) {
  return B.CreateCall(readyFunction(),
                      {Handle, S.PerDevice, B.getInt32(S.Arch)});
}

void HostRuntime::emitCount(IRBuilderBase &B, GlobalVariable *Counter) {
  B.CreateAtomicRMW(AtomicRMWInst::Add, Counter, B.getInt64(1), Align(8),
                    AtomicOrdering::Monotonic);
}

Value *HostRuntime::emitStatusCall(IRBuilderBase &B, StringRef Name) {
  return B.CreateCall(
      M.getOrInsertFunction(Name, FunctionType::get(B.getInt32Ty(), false)));
}

Value *HostRuntime::emitCapturing(IRBuilderBase &Caller, Value *Stream,
                                  StringRef Suffix) {
  std::string Name = ("__cupilot_capturing" + Suffix).str();
  Function *F = M.getFunction(Name);
  if (!F) {
    Type *I1 = Caller.getInt1Ty(), *I32 = Caller.getInt32Ty(),
         *Ptr = Caller.getPtrTy();
    F = createFunction(Name, FunctionType::get(I1, {Ptr}, false));
    IRBuilder<> B(&F->getEntryBlock());
    Value *Status = B.CreateAlloca(I32);
    Value *Error = B.CreateCall(
        M.getOrInsertFunction(("cudaStreamIsCapturing" + Suffix).str(),
                              FunctionType::get(I32, {Ptr, Ptr}, false)),
        {F->getArg(0), Status});
    BasicBlock *Told = BasicBlock::Create(M.getContext(), "told", F),
               *Untold = BasicBlock::Create(M.getContext(), "untold", F);
    B.CreateCondBr(B.CreateICmpEQ(Error, B.getInt32(0)), Told, Untold);
    B.SetInsertPoint(Told);
    B.CreateRet(B.CreateICmpNE(B.CreateLoad(I32, Status), B.getInt32(0)));
    // The legacy stream while another one is under capture.
    B.SetInsertPoint(Untold);
    emitClearError(B);
    B.CreateRet(B.getTrue());
  }
  return Caller.CreateCall(F, {Stream});
}

void HostRuntime::emitClearError(IRBuilderBase &B) {
  emitStatusCall(B, "cudaGetLastError");
}

void HostRuntime::finish() {
  if (!Report)
    return;
  IRBuilder<> B(&Report->getEntryBlock());
  FunctionCallee Print = M.getOrInsertFunction(
      "dprintf",
      FunctionType::get(B.getInt32Ty(), {B.getInt32Ty(), B.getPtrTy()}, true));
  Value *Format = B.CreateGlobalString("cupilot: %llu launches of %s\n");
  for (const auto &[Label, Counter] : Counters) {
    LoadInst *Count = B.CreateAlignedLoad(B.getInt64Ty(), Counter, Align(8));
    Count->setAtomic(AtomicOrdering::Monotonic);
    B.CreateCall(Print,
                 {B.getInt32(2), Format, Count, B.CreateGlobalString(Label)});
  }
  B.CreateRetVoid();
}

} // namespace cupilot
