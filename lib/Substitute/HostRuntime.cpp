//===- HostRuntime.cpp - What dispatch code needs at run time -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostRuntime.h"
#include "cupilot/Model/Architecture.h"
#include "cupilot/Support/Toolchain.h"

using namespace llvm;

namespace cupilot {

/// Places of fields in cudaFuncAttributes (CUDA Runtime API), and more than its
/// size in any version.
namespace attributes {
constexpr unsigned StaticShared = 0, MaxThreads = 24, PtxVersion = 32,
                   BinaryVersion = 36, MaxShared = 44, Size = 256;
} // namespace attributes
/// cudaFuncAttributeMaxDynamicSharedMemorySize and
/// cudaDevAttrMaxSharedMemoryPerBlockOptin.
static constexpr unsigned DynamicShared = 8, SharedOfBlock = 97;

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
  S.Arch = capabilityNumber(Arch); // An image's version says no more.
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

HandleState HostRuntime::createHandle(GlobalVariable *Handle, bool Limits,
                                      bool Raise) {
  HandleState H{Handle, nullptr, Raise};
  if (Limits) {
    Type *Pairs = ArrayType::get(Type::getInt64Ty(M.getContext()), MaxDevices);
    H.Limits = new GlobalVariable(M, Pairs, false, GlobalValue::InternalLinkage,
                                  ConstantAggregateZero::get(Pairs),
                                  Handle->getName() + "_limits");
  }
  return H;
}

/// i32 device(): the current one, or -1.
Function *HostRuntime::deviceFunction() {
  if (Function *F = M.getFunction("__cupilot_device"))
    return F;
  IRBuilder<> B(M.getContext());
  Type *I32 = B.getInt32Ty();
  Function *ModeOf = modeFunction(),
           *F = createFunction("__cupilot_device",
                               FunctionType::get(I32, false));
  auto Block = [&](const char *Name) {
    return BasicBlock::Create(M.getContext(), Name, F);
  };
  BasicBlock *On = Block("on"), *Clean = Block("clean"),
             *Known = Block("known"), *No = Block("no");
  B.SetInsertPoint(&F->getEntryBlock());
  Value *Id = B.CreateAlloca(I32);
  B.CreateCondBr(B.CreateICmpEQ(B.CreateCall(ModeOf), B.getInt32(2)), No, On);
  // A failed launch must be cleared, which would clear an error that the
  // program has not asked for yet.
  B.SetInsertPoint(On);
  B.CreateCondBr(
      B.CreateICmpEQ(emitStatusCall(B, "cudaPeekAtLastError"), B.getInt32(0)),
      Clean, No);
  B.SetInsertPoint(Clean);
  Value *Error = emitStatusCall(B, "cudaGetDevice", {Id});
  B.CreateCondBr(B.CreateICmpEQ(Error, B.getInt32(0)), Known, No);
  B.SetInsertPoint(Known);
  Value *Index = B.CreateLoad(I32, Id);
  B.CreateRet(B.CreateSelect(B.CreateICmpULT(Index, B.getInt32(MaxDevices)),
                             Index, B.getInt32(-1)));
  B.SetInsertPoint(No);
  B.CreateRet(B.getInt32(-1));
  return F;
}

Value *HostRuntime::emitDevice(IRBuilderBase &B) {
  return B.CreateCall(deviceFunction());
}

/// i1 fits(ptr handle, i32 arch, i32 device, ptr limits): whether the device
/// runs the image for arch. Limits, where wanted, are threads in the lower and
/// dynamic shared memory in the upper half. \p Raise grants the kernel what the
/// device has of the latter.
Function *HostRuntime::fitsFunction(bool Raise) {
  StringRef Name = Raise ? "__cupilot_fits_raised" : "__cupilot_fits";
  if (Function *F = M.getFunction(Name))
    return F;
  IRBuilder<> B(M.getContext());
  Type *I1 = B.getInt1Ty(), *I32 = B.getInt32Ty(), *I64 = B.getInt64Ty(),
       *Ptr = B.getPtrTy();
  Function *F =
      createFunction(Name, FunctionType::get(I1, {Ptr, I32, I32, Ptr}, false));
  auto Block = [&](const char *Label) {
    return BasicBlock::Create(M.getContext(), Label, F);
  };
  BasicBlock *Told = Block("told"), *Untold = Block("untold"),
             *Fits = Block("fits"), *Limits = Block("limits"),
             *Keep = Block("keep"), *Yes = Block("yes"), *No = Block("no");
  B.SetInsertPoint(&F->getEntryBlock());
  auto *Attributes =
      B.CreateAlloca(ArrayType::get(B.getInt8Ty(), attributes::Size));
  Attributes->setAlignment(Align(16));
  Value *Most = Raise ? B.CreateAlloca(I32) : nullptr;
  Value *Status =
      emitStatusCall(B, "cudaFuncGetAttributes", {Attributes, F->getArg(0)});
  B.CreateCondBr(B.CreateICmpEQ(Status, B.getInt32(0)), Told, Untold);
  B.SetInsertPoint(Untold);
  emitClearError(B);
  B.CreateRet(B.getFalse());
  B.SetInsertPoint(Told);
  auto Field = [&](unsigned Offset) {
    return B.CreateLoad(
        I32, B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Attributes, Offset));
  };
  Value *Arch = F->getArg(1);
  B.CreateCondBr(
      B.CreateAnd(B.CreateICmpEQ(Field(attributes::BinaryVersion), Arch),
                  B.CreateICmpEQ(Field(attributes::PtxVersion), Arch)),
      Fits, No);
  B.SetInsertPoint(Fits);
  Value *Shared = Field(attributes::MaxShared);
  if (Raise) {
    BasicBlock *Set = Block("set"), *Refused = Block("refused");
    Value *Granted = Shared;
    Status = emitStatusCall(B, "cudaDeviceGetAttribute",
                            {Most, B.getInt32(SharedOfBlock), F->getArg(2)});
    B.CreateCondBr(B.CreateICmpEQ(Status, B.getInt32(0)), Set, Refused);
    B.SetInsertPoint(Set);
    Value *Wanted =
        B.CreateSub(B.CreateLoad(I32, Most), Field(attributes::StaticShared));
    Status = emitStatusCall(B, "cudaFuncSetAttribute",
                            {F->getArg(0), B.getInt32(DynamicShared), Wanted});
    B.CreateCondBr(B.CreateICmpEQ(Status, B.getInt32(0)), Limits, Refused);
    B.SetInsertPoint(Refused);
    emitClearError(B);
    B.CreateBr(Limits);
    B.SetInsertPoint(Limits);
    PHINode *Known = B.CreatePHI(I32, 2);
    Known->addIncoming(Wanted, Set);
    Known->addIncoming(Granted, Refused);
    Shared = Known;
  } else {
    B.CreateBr(Limits);
    B.SetInsertPoint(Limits);
  }
  B.CreateCondBr(B.CreateIsNull(F->getArg(3)), Yes, Keep);
  B.SetInsertPoint(Keep);
  StoreInst *Store = B.CreateAlignedStore(
      B.CreateOr(B.CreateZExt(Field(attributes::MaxThreads), I64),
                 B.CreateShl(B.CreateZExt(Shared, I64), 32)),
      B.CreateInBoundsGEP(I64, F->getArg(3), B.CreateZExt(F->getArg(2), I64)),
      Align(8));
  Store->setAtomic(AtomicOrdering::Monotonic);
  B.CreateBr(Yes);
  B.SetInsertPoint(Yes);
  B.CreateRet(B.getTrue());
  B.SetInsertPoint(No);
  B.CreateRet(B.getFalse());
  return F;
}

Value *HostRuntime::emitReady(IRBuilderBase &Caller, VariantState &S,
                              ArrayRef<HandleState> Handles, Value *Device) {
  if (!S.Ask) {
    IRBuilder<> B(M.getContext());
    Type *I8 = B.getInt8Ty(), *I32 = B.getInt32Ty();
    S.Ask = createFunction(S.PerDevice->getName() + "_ready",
                           FunctionType::get(B.getInt1Ty(), {I32}, false));
    auto Block = [&](const char *Name) {
      return BasicBlock::Create(M.getContext(), Name, S.Ask);
    };
    BasicBlock *Known = Block("known"), *Ask = Block("ask");
    B.SetInsertPoint(&S.Ask->getEntryBlock());
    Value *Slot = B.CreateInBoundsGEP(
        I8, S.PerDevice, B.CreateZExt(S.Ask->getArg(0), B.getInt64Ty()));
    LoadInst *State = B.CreateAlignedLoad(I8, Slot, Align(1));
    State->setAtomic(AtomicOrdering::Acquire);
    B.CreateCondBr(B.CreateICmpEQ(State, B.getInt8(0)), Ask, Known);
    B.SetInsertPoint(Known);
    B.CreateRet(B.CreateICmpEQ(State, B.getInt8(1)));
    B.SetInsertPoint(Ask);
    Value *Ok = B.getTrue();
    for (const HandleState &H : Handles) {
      Value *Limits = ConstantPointerNull::get(B.getPtrTy());
      if (H.Limits)
        Limits = H.Limits;
      Ok = B.CreateAnd(
          Ok, B.CreateCall(fitsFunction(H.Raise), {H.Handle, B.getInt32(S.Arch),
                                                   S.Ask->getArg(0), Limits}));
    }
    StoreInst *Remember = B.CreateAlignedStore(
        B.CreateSelect(Ok, B.getInt8(1), B.getInt8(2)), Slot, Align(1));
    Remember->setAtomic(AtomicOrdering::Release);
    B.CreateRet(Ok);
  }
  return Caller.CreateCall(S.Ask, {Device});
}

Value *HostRuntime::emitFits(IRBuilderBase &B, const HandleState &H,
                             Value *Device, Value *Threads, Value *Shared) {
  LoadInst *Limits = B.CreateAlignedLoad(
      B.getInt64Ty(),
      B.CreateInBoundsGEP(B.getInt64Ty(), H.Limits,
                          B.CreateZExt(Device, B.getInt64Ty())),
      Align(8));
  Limits->setAtomic(AtomicOrdering::Monotonic);
  return B.CreateAnd(
      B.CreateICmpULE(Threads, B.CreateAnd(Limits, 0xffffffffull)),
      B.CreateICmpULE(Shared, B.CreateLShr(Limits, 32)));
}

/// void count(ptr counter). Threads that share a counter wait for each other,
/// so only programs that report have one.
Function *HostRuntime::countFunction() {
  if (Function *F = M.getFunction("__cupilot_count"))
    return F;
  IRBuilder<> B(M.getContext());
  Function *ModeOf = modeFunction(),
           *F = createFunction(
               "__cupilot_count",
               FunctionType::get(B.getVoidTy(), {B.getPtrTy()}, false));
  BasicBlock *Add = BasicBlock::Create(M.getContext(), "add", F),
             *Return = BasicBlock::Create(M.getContext(), "return", F);
  B.SetInsertPoint(&F->getEntryBlock());
  B.CreateCondBr(B.CreateICmpEQ(B.CreateCall(ModeOf), B.getInt32(3)), Add,
                 Return);
  B.SetInsertPoint(Add);
  B.CreateAtomicRMW(AtomicRMWInst::Add, F->getArg(0), B.getInt64(1), Align(8),
                    AtomicOrdering::Monotonic);
  B.CreateBr(Return);
  B.SetInsertPoint(Return);
  B.CreateRetVoid();
  return F;
}

void HostRuntime::emitCount(IRBuilderBase &B, GlobalVariable *Counter) {
  B.CreateCall(countFunction(), {Counter});
}

Value *HostRuntime::emitStatusCall(IRBuilderBase &B, StringRef Name,
                                   ArrayRef<Value *> Args) {
  SmallVector<Type *> Types;
  for (Value *V : Args)
    Types.push_back(V->getType());
  return B.CreateCall(
      M.getOrInsertFunction(Name,
                            FunctionType::get(B.getInt32Ty(), Types, false)),
      Args);
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
