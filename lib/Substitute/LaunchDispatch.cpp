//===- LaunchDispatch.cpp - Choosing between kernels at a launch ----------===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchDispatch.h"
#include "cupilot/Substitute/EmitGuard.h"
#include "llvm/Demangle/Demangle.h"

using namespace llvm;

namespace cupilot {

namespace {
/// How an entry takes the shape of a launch.
enum class Form {
  Unknown,
  Words,  ///< x86-64: dim3 as i64 and i32; kernel, grid, block, arguments,
          ///< shared, stream. __cudaLaunchKernel of nvcc's stubs has the same,
          ///< with a cudaKernel_t for the kernel.
  Arrays, ///< AArch64: the same with dim3 as [2 x i64].
  Config, ///< cudaLaunchConfig_t *, kernel, arguments.
};

/// cudaLaunchConfig_t (CUDA Runtime API): dim3 gridDim, dim3 blockDim, size_t
/// dynamicSmemBytes, cudaStream_t stream, attributes, their number.
namespace config {
constexpr unsigned Grid = 0, Block = 12, Shared = 24, Stream = 32,
                   NumAttributes = 48, Size = 56;
} // namespace config
} // namespace

static Form formOf(const Function &Entry) {
  StringRef Name = Entry.getName();
  Name.consume_back("_ptsz"); // The twin for per-thread default streams.
  FunctionType *T = Entry.getFunctionType();
  unsigned Params = T->getNumParams();
  if (!Entry.isDeclaration() || !T->getReturnType()->isIntegerTy(32))
    return Form::Unknown;
  if (Name == "cudaLaunchKernelExC")
    return Params == 3 ? Form::Config : Form::Unknown;
  if (Name != "cudaLaunchKernel" && Name != "__cudaLaunchKernel")
    return Form::Unknown;
  if (Params == 8 && T->getParamType(1)->isIntegerTy(64))
    return Form::Words;
  return Params == 6 && T->getParamType(1)->isArrayTy() ? Form::Arrays
                                                        : Form::Unknown;
}

Value *launchedKernel(const CallBase &Call) {
  const Function *Entry = Call.getCalledFunction();
  if (!Entry || Call.getFunctionType() != Entry->getFunctionType())
    return nullptr;
  switch (formOf(*Entry)) {
  case Form::Unknown:
    return nullptr;
  case Form::Words:
  case Form::Arrays:
    return Call.getArgOperand(0)->stripPointerCasts();
  case Form::Config:
    return Call.getArgOperand(1)->stripPointerCasts();
  }
  return nullptr;
}

namespace {
/// The body of one stand-in: reads the launch from its arguments, and makes
/// launches with other kernels and shapes.
class Body {
public:
  Body(Function &F, Function &Entry)
      : F(F), Entry(Entry), How(formOf(Entry)), B(&F.getEntryBlock()) {
    if (How == Form::Config) {
      Copy = B.CreateAlloca(B.getInt8Ty(), B.getInt64(config::Size));
      Copy->setAlignment(Align(8));
    }
  }

  LaunchValues read();
  /// True when the launch carries nothing but a shape and a stream.
  Value *plain();
  Value *stream();
  /// Calls the entry for \p Kernel; with the original's shape when \p Shape is
  /// null.
  CallInst *launch(Value *Kernel, const EmittedShape *Shape);
  Value *kernel() { return F.getArg(How == Form::Config ? 1 : 0); }

  BasicBlock *block(const Twine &Name) {
    return BasicBlock::Create(F.getContext(), Name, &F);
  }

private:
  Value *field(Value *Config, unsigned Offset, Type *T) {
    return B.CreateAlignedLoad(T, at(Config, Offset), Align(4));
  }
  Value *at(Value *Config, unsigned Offset) {
    return B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), Config, Offset);
  }

  Function &F, &Entry;
  Form How;
  AllocaInst *Copy = nullptr;

public:
  IRBuilder<> B;
};
} // namespace

LaunchValues Body::read() {
  Type *I64 = B.getInt64Ty();
  auto Wide = [&](Value *V) { return B.CreateZExt(V, I64); };
  auto Low = [&](Value *V) { return B.CreateAnd(V, 0xffffffffull); };
  auto High = [&](Value *V) { return B.CreateLShr(V, 32); };
  LaunchValues L;
  auto Set = [&](unsigned First, Value *XY, Value *Z) {
    L.Dims[First] = Low(XY);
    L.Dims[First + 1] = High(XY);
    L.Dims[First + 2] = Z;
  };
  switch (How) {
  case Form::Words:
    Set(GridX, F.getArg(1), Wide(F.getArg(2)));
    Set(BlockX, F.getArg(3), Wide(F.getArg(4)));
    L.Args = F.getArg(5);
    L.Dims[SharedBytes] = F.getArg(6);
    break;
  case Form::Arrays:
    for (unsigned I : {0u, 1u}) {
      Value *XY = B.CreateExtractValue(F.getArg(1 + I), 0);
      // The upper half of the last word is padding.
      Set(I ? BlockX : GridX, XY,
          Low(B.CreateExtractValue(F.getArg(1 + I), 1)));
    }
    L.Args = F.getArg(3);
    L.Dims[SharedBytes] = F.getArg(4);
    break;
  default:
    for (unsigned I = 0; I < 3; ++I) {
      Type *I32 = B.getInt32Ty();
      L.Dims[GridX + I] = Wide(field(F.getArg(0), config::Grid + 4 * I, I32));
      L.Dims[BlockX + I] = Wide(field(F.getArg(0), config::Block + 4 * I, I32));
    }
    L.Dims[SharedBytes] = field(F.getArg(0), config::Shared, I64);
    L.Args = F.getArg(2);
  }
  return L;
}

Value *Body::plain() {
  if (How != Form::Config)
    return B.getTrue();
  return B.CreateICmpEQ(
      field(F.getArg(0), config::NumAttributes, B.getInt32Ty()), B.getInt32(0));
}

Value *Body::stream() {
  switch (How) {
  case Form::Words:
    return F.getArg(7);
  case Form::Arrays:
    return F.getArg(5);
  default:
    return B.CreateAlignedLoad(B.getPtrTy(), at(F.getArg(0), config::Stream),
                               Align(8));
  }
}

CallInst *Body::launch(Value *Kernel, const EmittedShape *Shape) {
  SmallVector<Value *> Args;
  for (Argument &A : F.args())
    Args.push_back(&A);
  Type *I32 = B.getInt32Ty();
  auto Pack = [&](Value *X, Value *Y) {
    return B.CreateOr(X, B.CreateShl(Y, 32));
  };
  auto Array = [&](const std::array<Value *, 3> &Dims) -> Value * {
    Value *V = PoisonValue::get(Entry.getFunctionType()->getParamType(1));
    V = B.CreateInsertValue(V, Pack(Dims[0], Dims[1]), 0);
    return B.CreateInsertValue(V, Dims[2], 1);
  };
  Args[How == Form::Config ? 1 : 0] = Kernel;
  if (Shape && How == Form::Words) {
    Args[1] = Pack(Shape->Grid[0], Shape->Grid[1]);
    Args[2] = B.CreateTrunc(Shape->Grid[2], I32);
    Args[3] = Pack(Shape->Block[0], Shape->Block[1]);
    Args[4] = B.CreateTrunc(Shape->Block[2], I32);
    Args[6] = Shape->Shared;
  } else if (Shape && How == Form::Arrays) {
    Args[1] = Array(Shape->Grid);
    Args[2] = Array(Shape->Block);
    Args[4] = Shape->Shared;
  } else if (Shape) {
    B.CreateMemCpy(Copy, Align(8), F.getArg(0), Align(8), config::Size);
    for (unsigned I = 0; I < 3; ++I) {
      B.CreateAlignedStore(B.CreateTrunc(Shape->Grid[I], I32),
                           at(Copy, config::Grid + 4 * I), Align(4));
      B.CreateAlignedStore(B.CreateTrunc(Shape->Block[I], I32),
                           at(Copy, config::Block + 4 * I), Align(4));
    }
    B.CreateAlignedStore(Shape->Shared, at(Copy, config::Shared), Align(8));
    Args[0] = Copy;
  }
  // A variant is known by the address that was registered for it.
  FunctionCallee Callee(&Entry);
  StringRef Name = Entry.getName();
  if (Shape && Name.consume_front("__"))
    Callee = F.getParent()->getOrInsertFunction(Name, Entry.getFunctionType());
  CallInst *Call = B.CreateCall(Callee, Args);
  Call->setCallingConv(Entry.getCallingConv());
  return Call;
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
  Body Code(*F, Entry);
  IRBuilder<> &B = Code.B;
  BasicBlock *Original = Code.block("original"), *Next = Code.block("next");
  LaunchValues Values = Code.read();
  // A launch that the run time would refuse stays refused.
  EmittedShape Same;
  Value *Legal = emitGuard(B, Guard(), Launch(), {}, Values, Same);
  B.CreateCondBr(B.CreateAnd(Legal, Code.plain()), Next, Original);
  for (Launchable &L : Variants) {
    BasicBlock *Guarded = Code.block("guard"), *Free = Code.block("stream"),
               *Try = Code.block("variant"), *Launched = Code.block("launched"),
               *Failed = Code.block("failed"), *After = Code.block("next");
    B.SetInsertPoint(Next);
    B.CreateCondBr(Runtime.emitReady(B, L.State, L.Handle), Guarded, After);
    B.SetInsertPoint(Guarded);
    EmittedShape Shape;
    Value *Holds = emitGuard(B, L.V.When, L.V.Plan.Launches.front(), L.Scalars,
                             Values, Shape);
    B.CreateCondBr(Holds, Free, After);
    B.SetInsertPoint(Free);
    B.CreateCondBr(Runtime.emitCapturing(
                       B, Code.stream(),
                       Entry.getName().ends_with("_ptsz") ? "_ptsz" : ""),
                   After, Try);
    B.SetInsertPoint(Try);
    CallInst *Status = Code.launch(L.Handle, &Shape);
    B.CreateCondBr(B.CreateICmpEQ(Status, B.getInt32(0)), Launched, Failed);
    B.SetInsertPoint(Launched);
    Runtime.emitCount(B, L.State.Count);
    B.CreateRet(Status);
    // A variant that cannot be launched leaves no trace.
    B.SetInsertPoint(Failed);
    Runtime.emitClearError(B);
    B.CreateBr(After);
    Next = After;
  }
  B.SetInsertPoint(Next);
  B.CreateBr(Original);
  B.SetInsertPoint(Original);
  Runtime.emitCount(B, Fallback);
  B.CreateRet(Code.launch(Code.kernel(), nullptr));
  return F;
}

Function *LaunchDispatch::forAny(Function &Entry) {
  Function *F = Runtime.createFunction("__cupilot_launch_" + Entry.getName(),
                                       Entry.getFunctionType());
  F->setCallingConv(Entry.getCallingConv());
  Body Code(*F, Entry);
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
  B.CreateRet(Code.launch(Code.kernel(), nullptr));
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
