//===- Libdevice.cpp - libdevice on the host -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libdevice's bodies are made for the GPU's special units, which the cpu device
// has as well: they run as they are, and give a GPU's bits. In float64 they
// would not give what was meant: where the host's libm has the same function,
// it is called instead. The optimiser knows the functions of libm and makes
// some of others (ldexp of exp2, exp2 of pow), so these run, too.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "cupilot/Model/Architecture.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/TargetParser/Host.h"

using namespace llvm;

namespace cupilot {

/// Functions of libm with the same name in libdevice, without the "f".
static const StringSet<> &hostFunctions() {
  static const StringSet<> Names = {
      "sin",  "cos",       "tan",   "asin",  "acos",  "atan",   "atan2",
      "sinh", "cosh",      "tanh",  "asinh", "acosh", "atanh",  "exp",
      "exp2", "exp10",     "expm1", "log",   "log2",  "log10",  "log1p",
      "pow",  "cbrt",      "hypot", "erf",   "erfc",  "tgamma", "lgamma",
      "fmod", "remainder", "j0",    "j1",    "y0",    "y1",     "nextafter",
      "fdim", "logb"};
  return Names;
}

/// What the optimiser may call besides: numbers in, a number out. Whatever else
/// a host has (strlen, puts, calloc), device code would not run it as its own.
static constexpr LibFunc KnownFunctions[] = {
#define BOTH(Name) LibFunc_##Name, LibFunc_##Name##f
    BOTH(acos), BOTH(acosh), BOTH(asin), BOTH(asinh), BOTH(atan), BOTH(atan2),
    BOTH(atanh), BOTH(cbrt), BOTH(ceil), BOTH(copysign), BOTH(cos), BOTH(cosh),
    BOTH(erf), BOTH(exp), BOTH(exp10), BOTH(exp2), BOTH(expm1), BOTH(fabs),
    BOTH(fdim), BOTH(floor), BOTH(fmax), BOTH(fmin), BOTH(fmod), BOTH(hypot),
    BOTH(ldexp), BOTH(log), BOTH(log10), BOTH(log1p), BOTH(log2), BOTH(logb),
    BOTH(nearbyint), BOTH(nextafter), BOTH(pow), BOTH(remainder), BOTH(rint),
    BOTH(round), BOTH(roundeven), BOTH(sin), BOTH(sinh), BOTH(sqrt), BOTH(tan),
    BOTH(tanh), BOTH(tgamma), BOTH(trunc),
#undef BOTH
    // Loops and copies become these, as intrinsics, which are checked.
    LibFunc_memcpy, LibFunc_memmove, LibFunc_memset};

const TargetLibraryInfoImpl &hostLibrary() {
  static const TargetLibraryInfoImpl Library = [] {
    Triple Host(sys::getProcessTriple());
    TargetLibraryInfoImpl All(Host), Known(Host);
    Known.disableAllFunctions();
    for (LibFunc F : KnownFunctions)
      if (TargetLibraryInfo(All).has(F))
        Known.setAvailable(F);
    return Known;
  }();
  return Library;
}

bool isOfHostLibrary(const Function &F) {
  TargetLibraryInfo Library(hostLibrary());
  LibFunc Which;
  return Library.getLibFunc(F, Which) && Library.has(Which) &&
         F.getReturnType()->isFloatingPointTy();
}

static void startBody(Function &F, IRBuilder<> &B) {
  F.deleteBody();
  F.setAttributes(AttributeList());
  F.setLinkage(GlobalValue::InternalLinkage);
  B.SetInsertPoint(BasicBlock::Create(F.getContext(), "entry", &F));
}

/// Calls the libm function \p Name on \p Args, in float64.
static Value *callHost(IRBuilder<> &B, Module &M, StringRef Name, bool IsFloat,
                       ArrayRef<Value *> Args) {
  Type *Single = B.getFloatTy(), *Wide = B.getDoubleTy();
  SmallVector<Value *> Converted;
  for (Value *Arg : Args)
    Converted.push_back(IsFloat ? B.CreateFPExt(Arg, Wide) : Arg);
  FunctionCallee Host = M.getOrInsertFunction(
      Name.str(),
      FunctionType::get(Wide, SmallVector<Type *>(Args.size(), Wide),
                        /*isVarArg=*/false));
  if (auto *F = dyn_cast<Function>(Host.getCallee())) {
    F->setDoesNotThrow();
    F->setOnlyAccessesInaccessibleMemory(); // errno at most.
    F->addFnAttr(Attribute::WillReturn);
  }
  Value *Result = B.CreateCall(Host, Converted);
  return IsFloat ? B.CreateFPTrunc(Result, Single) : Result;
}

static bool allOfType(const Function &F, Type *T) {
  return F.getReturnType() == T &&
         all_of(F.args(), [&](const Argument &A) { return A.getType() == T; });
}

/// sincos writes its results through pointers.
static void lowerSinCos(Function &F, bool IsFloat) {
  IRBuilder<> B(F.getContext());
  startBody(F, B);
  Value *X = F.getArg(0);
  B.CreateStore(callHost(B, *F.getParent(), "sin", IsFloat, X), F.getArg(1));
  B.CreateStore(callHost(B, *F.getParent(), "cos", IsFloat, X), F.getArg(2));
  B.CreateRetVoid();
}

static void foldReflect(Module &M, const CpuDeviceOptions &Options) {
  Function *Reflect = M.getFunction("__nvvm_reflect");
  if (!Reflect)
    return;
  unsigned Arch = capabilityNumber(Options.Arch);
  bool Ftz = false;
  if (auto *Flag = mdconst::extract_or_null<ConstantInt>(
          M.getModuleFlag("nvvm-reflect-ftz")))
    Ftz = !Flag->isZero();
  for (User *U : make_early_inc_range(Reflect->users())) {
    auto *Call = dyn_cast<CallInst>(U);
    if (!Call)
      continue;
    StringRef Name;
    if (auto *G = dyn_cast<GlobalVariable>(
            Call->getArgOperand(0)->stripPointerCasts()))
      if (auto *Data = dyn_cast_or_null<ConstantDataSequential>(
              G->hasInitializer() ? G->getInitializer() : nullptr))
        Name = Data->isCString() ? Data->getAsCString() : StringRef();
    unsigned Value = StringSwitch<unsigned>(Name)
                         .Case("__CUDA_ARCH", Arch * 10)
                         .Case("__CUDA_FTZ", Ftz)
                         .Cases({"__CUDA_PREC_SQRT", "__CUDA_PREC_DIV"}, 1)
                         .Default(0);
    Call->replaceAllUsesWith(ConstantInt::get(Call->getType(), Value));
    Call->eraseFromParent();
  }
}

void lowerLibdevice(Module &M, const CpuDeviceOptions &Options) {
  foldReflect(M, Options);
  if (!Options.WidenFloats)
    return;
  Type *Single = Type::getFloatTy(M.getContext()),
       *Double = Type::getDoubleTy(M.getContext());
  for (Function &F : make_early_inc_range(M)) {
    StringRef Name = F.getName();
    if (!Name.consume_front("__nv_"))
      continue;
    bool IsFloat =
        Name.ends_with("f") && Name != "erf" && !allOfType(F, Double);
    StringRef Base = IsFloat ? Name.drop_back() : Name;
    if (Base == "sincos") {
      lowerSinCos(F, IsFloat);
      continue;
    }
    if (Base.consume_front("fast_"))
      IsFloat = true; // The reference computes what was meant.
    bool Uniform = allOfType(F, IsFloat ? Single : Double);
    if (!Uniform || !hostFunctions().contains(Base))
      continue;
    IRBuilder<> B(M.getContext());
    startBody(F, B);
    SmallVector<Value *> Args;
    for (Argument &A : F.args())
      Args.push_back(&A);
    B.CreateRet(callHost(B, M, Base, IsFloat, Args));
  }
}

} // namespace cupilot
