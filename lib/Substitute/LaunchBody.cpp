//===- LaunchBody.cpp - The function that stands in for a launch ----------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchBody.h"

using namespace llvm;

namespace cupilot {

LaunchForm launchFormOf(const Function &Entry) {
  StringRef Name = Entry.getName();
  Name.consume_back("_ptsz"); // The twin for per-thread default streams.
  FunctionType *T = Entry.getFunctionType();
  unsigned Params = T->getNumParams();
  if (!Entry.isDeclaration() || !T->getReturnType()->isIntegerTy(32))
    return LaunchForm::Unknown;
  if (Name == "cudaLaunchKernelExC")
    return Params == 3 ? LaunchForm::Config : LaunchForm::Unknown;
  if (Name != "cudaLaunchKernel" && Name != "__cudaLaunchKernel")
    return LaunchForm::Unknown;
  if (Params == 8 && T->getParamType(1)->isIntegerTy(64))
    return LaunchForm::Words;
  return Params == 6 && T->getParamType(1)->isArrayTy() ? LaunchForm::Arrays
                                                        : LaunchForm::Unknown;
}

FunctionType *variantLaunchType(LLVMContext &Context) {
  Type *Ptr = PointerType::get(Context, 0);
  return FunctionType::get(Type::getInt32Ty(Context), {Ptr, Ptr, Ptr, Ptr},
                           false);
}

static CallInst *call(IRBuilder<> &B, Function &Entry, StringRef Name,
                      ArrayRef<Value *> Args) {
  CallInst *Call = B.CreateCall(
      Entry.getParent()->getOrInsertFunction(Name, Entry.getFunctionType()),
      Args);
  Call->setCallingConv(Entry.getCallingConv());
  return Call;
}

void emitVariantLaunch(Function &F, Function &Entry) {
  IRBuilder<> B(&F.getEntryBlock());
  Type *I32 = B.getInt32Ty(), *I64 = B.getInt64Ty(), *Ptr = B.getPtrTy();
  Value *Launch = F.getArg(0), *Kernel = F.getArg(1), *Shape = F.getArg(2),
        *Args = F.getArg(3);
  auto At = [&](Value *From, size_t Place) {
    return B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), From, Place);
  };
  auto Load = [&](Type *T, Value *From, size_t Place) {
    return B.CreateAlignedLoad(T, At(From, Place), Align(4));
  };
  constexpr size_t Grid = offsetof(CupilotShape, grid),
                   Block = offsetof(CupilotShape, block);
  Value *Shared = Load(I64, Shape, offsetof(CupilotShape, shared)),
        *Stream = Load(Ptr, Launch, offsetof(CupilotLaunch, stream));
  SmallVector<Value *> Passed;
  switch (launchFormOf(Entry)) {
  case LaunchForm::Words:
    Passed = {Kernel,
              Load(I64, Shape, Grid),
              Load(I32, Shape, Grid + 8),
              Load(I64, Shape, Block),
              Load(I32, Shape, Block + 8),
              Args,
              Shared,
              Stream};
    break;
  case LaunchForm::Arrays: {
    auto Array = [&](size_t From) {
      Value *V = PoisonValue::get(Entry.getFunctionType()->getParamType(1));
      V = B.CreateInsertValue(V, Load(I64, Shape, From), 0);
      return B.CreateInsertValue(
          V, B.CreateZExt(Load(I32, Shape, From + 8), I64), 1);
    };
    Passed = {Kernel, Array(Grid), Array(Block), Args, Shared, Stream};
    break;
  }
  default:
    Value *Copy =
        B.CreateAlloca(ArrayType::get(B.getInt8Ty(), CupilotConfigSize));
    cast<AllocaInst>(Copy)->setAlignment(Align(8));
    B.CreateMemCpy(Copy, Align(8),
                   Load(Ptr, Launch, offsetof(CupilotLaunch, config)), Align(8),
                   CupilotConfigSize);
    // gridDim and blockDim.
    B.CreateMemCpy(Copy, Align(8), At(Shape, Grid), Align(4), 24);
    B.CreateAlignedStore(Shared, At(Copy, CupilotConfigShared), Align(8));
    // Its attributes are those that a variant can do without: Dispatch.c.
    B.CreateAlignedStore(
        B.CreateSelect(B.CreateIsNotNull(Load(
                           I32, Shape, offsetof(CupilotShape, attributes))),
                       Load(I32, Copy, CupilotConfigNumAttrs), B.getInt32(0)),
        At(Copy, CupilotConfigNumAttrs), Align(8));
    Passed = {Copy, Kernel, Args};
  }
  // A variant is known by the address that was registered for it.
  StringRef Name = Entry.getName();
  Name.consume_front("__");
  B.CreateRet(call(B, Entry, Name, Passed));
}

void LaunchBody::describe(Value *To, Function *With) {
  Type *I32 = B.getInt32Ty(), *I64 = B.getInt64Ty(), *Ptr = B.getPtrTy();
  constexpr size_t Grid = offsetof(CupilotLaunch, grid),
                   Block = offsetof(CupilotLaunch, block);
  static_assert(Grid == 0 && Block == 12, "as in cudaLaunchConfig_t");
  Value *Config = ConstantPointerNull::get(B.getPtrTy()), *Args, *Shared,
        *Stream, *Plain = B.getInt32(1);
  auto Field = [&](size_t Place, Type *T) {
    return B.CreateAlignedLoad(
        T, B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Config, Place),
        Align(4));
  };
  switch (How) {
  case LaunchForm::Words:
    for (auto [Index, Place] : {std::pair(1, Grid), std::pair(3, Block)}) {
      store(F.getArg(Index), To, Place);
      store(F.getArg(Index + 1), To, Place + 8);
    }
    Args = F.getArg(5);
    Shared = F.getArg(6);
    Stream = F.getArg(7);
    break;
  case LaunchForm::Arrays:
    for (auto [Index, Place] : {std::pair(1, Grid), std::pair(2, Block)}) {
      store(B.CreateExtractValue(F.getArg(Index), 0), To, Place);
      // The upper half of the last word is padding.
      store(B.CreateTrunc(B.CreateExtractValue(F.getArg(Index), 1), I32), To,
            Place + 8);
    }
    Args = F.getArg(3);
    Shared = F.getArg(4);
    Stream = F.getArg(5);
    break;
  default:
    Config = F.getArg(0);
    B.CreateMemCpy(To, Align(8), Config, Align(8), 24);
    Args = F.getArg(2);
    Shared = Field(CupilotConfigShared, I64);
    Stream = Field(CupilotConfigStream, Ptr);
    Plain = B.CreateZExt(
        B.CreateICmpEQ(Field(CupilotConfigNumAttrs, I32), B.getInt32(0)), I32);
  }
  store(Shared, To, offsetof(CupilotLaunch, shared));
  store(Args, To, offsetof(CupilotLaunch, args));
  store(Stream, To, offsetof(CupilotLaunch, stream));
  store(Config, To, offsetof(CupilotLaunch, config));
  store(Plain, To, offsetof(CupilotLaunch, plain));
  store(With, To, offsetof(CupilotLaunch, with));
}

void LaunchBody::returnOriginal() {
  SmallVector<Value *> Args;
  for (Argument &A : F.args())
    Args.push_back(&A);
  B.CreateRet(call(B, Entry, Entry.getName(), Args));
}

} // namespace cupilot
