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

namespace {
/// cudaLaunchConfig_t (CUDA Runtime API): dim3 gridDim, dim3 blockDim, size_t
/// dynamicSmemBytes, cudaStream_t stream, attributes, their number.
namespace config {
constexpr unsigned Grid = 0, Block = 12, Shared = 24, Stream = 32,
                   Attributes = 40, NumAttributes = 48, Size = 56;
} // namespace config

/// cudaLaunchAttribute: its id, and at 8 its value, which for
/// cudaLaunchAttributeClusterDimension is three numbers.
namespace attribute {
constexpr unsigned Value = 8, Size = 72, ClusterDimension = 4;
} // namespace attribute
} // namespace

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

Value *LaunchBody::copy() {
  if (!Copy)
    Copy = local(config::Size);
  return Copy;
}

LaunchValues LaunchBody::read() {
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
  case LaunchForm::Words:
    Set(GridX, F.getArg(1), Wide(F.getArg(2)));
    Set(BlockX, F.getArg(3), Wide(F.getArg(4)));
    L.Args = F.getArg(5);
    L.Dims[SharedBytes] = F.getArg(6);
    break;
  case LaunchForm::Arrays:
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

Value *LaunchBody::plain() {
  if (How != LaunchForm::Config)
    return B.getTrue();
  return B.CreateICmpEQ(
      field(F.getArg(0), config::NumAttributes, B.getInt32Ty()), B.getInt32(0));
}

Value *LaunchBody::stream() {
  switch (How) {
  case LaunchForm::Words:
    return F.getArg(7);
  case LaunchForm::Arrays:
    return F.getArg(5);
  default:
    return B.CreateAlignedLoad(B.getPtrTy(), at(F.getArg(0), config::Stream),
                               Align(8));
  }
}

void LaunchBody::writeShape(Value *Config, const EmittedShape &Shape) {
  Type *I32 = B.getInt32Ty();
  for (unsigned I = 0; I < 3; ++I) {
    B.CreateAlignedStore(B.CreateTrunc(Shape.Grid[I], I32),
                         at(Config, config::Grid + 4 * I), Align(4));
    B.CreateAlignedStore(B.CreateTrunc(Shape.Block[I], I32),
                         at(Config, config::Block + 4 * I), Align(4));
  }
  B.CreateAlignedStore(Shape.Shared, at(Config, config::Shared), Align(8));
}

CallInst *LaunchBody::launchCluster(Value *Kernel, const EmittedShape &Shape,
                                    Value *Args) {
  Value *Config = copy();
  if (!Attribute)
    Attribute = local(attribute::Size);
  B.CreateMemSet(Config, B.getInt8(0), config::Size, Align(8));
  B.CreateMemSet(Attribute, B.getInt8(0), attribute::Size, Align(8));
  writeShape(Config, Shape);
  B.CreateAlignedStore(stream(), at(Config, config::Stream), Align(8));
  B.CreateAlignedStore(Attribute, at(Config, config::Attributes), Align(8));
  B.CreateAlignedStore(B.getInt32(1), at(Config, config::NumAttributes),
                       Align(8));
  B.CreateAlignedStore(B.getInt32(attribute::ClusterDimension), Attribute,
                       Align(8));
  for (unsigned I = 0; I < 3; ++I)
    B.CreateAlignedStore(B.CreateTrunc(Shape.Cluster[I], B.getInt32Ty()),
                         at(Attribute, attribute::Value + 4 * I), Align(4));
  Type *Ptr = B.getPtrTy();
  return B.CreateCall(
      F.getParent()->getOrInsertFunction(
          ("cudaLaunchKernelExC" + suffix()).str(),
          FunctionType::get(B.getInt32Ty(), {Ptr, Ptr, Ptr}, false)),
      {Config, Kernel, Args});
}

CallInst *LaunchBody::launch(Value *Kernel, const EmittedShape *Shape,
                             Value *NewArgs) {
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
  Args[How == LaunchForm::Config ? 1 : 0] = Kernel;
  if (NewArgs)
    Args[How == LaunchForm::Words    ? 5
         : How == LaunchForm::Arrays ? 3
                                     : 2] = NewArgs;
  if (Shape && How == LaunchForm::Words) {
    Args[1] = Pack(Shape->Grid[0], Shape->Grid[1]);
    Args[2] = B.CreateTrunc(Shape->Grid[2], I32);
    Args[3] = Pack(Shape->Block[0], Shape->Block[1]);
    Args[4] = B.CreateTrunc(Shape->Block[2], I32);
    Args[6] = Shape->Shared;
  } else if (Shape && How == LaunchForm::Arrays) {
    Args[1] = Array(Shape->Grid);
    Args[2] = Array(Shape->Block);
    Args[4] = Shape->Shared;
  } else if (Shape) {
    B.CreateMemCpy(copy(), Align(8), F.getArg(0), Align(8), config::Size);
    writeShape(copy(), *Shape);
    Args[0] = copy();
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

} // namespace cupilot
