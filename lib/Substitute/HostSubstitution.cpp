//===- HostSubstitution.cpp - Variants into host modules -*- C++ -*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Launches go through one call of the CUDA run time, in the kernel's stub or
// direct. At that call: if the run time takes the variant's image, and the
// guard holds, launch the variant; else, or when that launch fails, the
// original.
//
//===----------------------------------------------------------------------===//

#include "HostRuntime.h"
#include "LaunchDispatch.h"
#include "OwnCopies.h"
#include "cupilot/Substitute/GpuBinary.h"
#include "cupilot/Substitute/Names.h"
#include "cupilot/Substitute/Substitute.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace cupilot {

namespace {
class HostSubstitution {
public:
  HostSubstitution(Module &M, const SubstitutionOptions &Options)
      : M(M), Options(Options), Runtime(M) {}
  Expected<std::vector<SubstitutionOutcome>> run();

private:
  void findKernels();
  Expected<bool> readBinary();
  Error findVariants();
  GlobalVariable *registerHandle(CallInst *Registration, StringRef Name);
  Function *knownStub(const CallBase &Call) const;
  bool isWanted(const CallBase &Call) const;
  void redirect();

  Module &M;
  const SubstitutionOptions &Options;
  HostRuntime Runtime;
  GpuBinary Binary;
  /// Stub to the call that registers it.
  MapVector<Function *, CallInst *> Registrations;
  LaunchableKernels Kernels;
  std::vector<SubstitutionOutcome> Outcomes;
};
} // namespace

static StringRef stringOf(const Value *V) {
  auto *G = dyn_cast<GlobalVariable>(V->stripPointerCasts());
  auto *Data = G && G->hasInitializer()
                   ? dyn_cast<ConstantDataSequential>(G->getInitializer())
                   : nullptr;
  return Data && Data->isCString() ? Data->getAsCString() : StringRef();
}

void HostSubstitution::findKernels() {
  Function *Register = M.getFunction("__cudaRegisterFunction");
  if (!Register)
    return;
  for (User *U : Register->users())
    if (auto *Call = dyn_cast<CallInst>(U);
        Call && Call->getCalledFunction() == Register)
      if (auto *Stub =
              dyn_cast<Function>(Call->getArgOperand(1)->stripPointerCasts()))
        Registrations[Stub] = Call;
}

Expected<bool> HostSubstitution::readBinary() {
  for (GlobalVariable &G : M.globals()) {
    if (!G.hasInitializer() || G.getSection() != ".nv_fatbin")
      continue;
    auto *Data = dyn_cast<ConstantDataSequential>(G.getInitializer());
    if (!Data)
      continue;
    Expected<GpuBinary> Parsed = GpuBinary::parse(Data->getRawDataValues());
    if (!Parsed)
      return Parsed.takeError();
    Binary = std::move(*Parsed);
    return true;
  }
  return false;
}

Error HostSubstitution::findVariants() {
  for (auto &[Stub, Registration] : Registrations) {
    StringRef Name = stringOf(Registration->getArgOperand(2));
    Expected<std::vector<BuildRecord>> Records =
        Options.Store->recordsFor(Name);
    if (!Records)
      return Records.takeError();
    for (BuildRecord &R : *Records)
      for (BuildVariant &V : R.Variants) {
        std::vector<std::string> Symbols = variantSymbols(Name, V);
        if (Symbols.empty() || !all_of(Symbols, [&](StringRef Each) {
              return Binary.allHold(Each);
            }))
          continue;
        Launchable L;
        L.Kernel = Name.str();
        L.V = V;
        L.Scalars = R.Scalars;
        L.Params = R.Params;
        SmallVector<GlobalVariable *> Handles;
        for (StringRef Each : Symbols)
          Handles.push_back(registerHandle(Registration, Each));
        setHandles(L, Runtime, Handles);
        L.State = Runtime.createState(
            Symbols.front(), demangle(Name) + " " + V.Name, L.V.When.Arch);
        Outcomes.push_back({Name.str(), "VariantApplied",
                            "variant " + V.Name + ": " + V.Genome + " (for " +
                                V.When.Arch + ")",
                            true, Stub->getName().str()});
        Kernels[Stub].push_back(std::move(L));
      }
  }
  return Error::success();
}

GlobalVariable *HostSubstitution::registerHandle(CallInst *Registration,
                                                 StringRef Name) {
  LLVMContext &C = M.getContext();
  auto *Handle = new GlobalVariable(
      M, Type::getInt8Ty(C), /*isConstant=*/false, GlobalValue::InternalLinkage,
      ConstantInt::get(Type::getInt8Ty(C), 0), Name + "_handle");
  IRBuilder<> B(Registration->getNextNode());
  Value *Text = B.CreateGlobalString(Name, Name + "_name");
  auto *Call = cast<CallInst>(Registration->clone());
  Call->setArgOperand(1, Handle);
  Call->setArgOperand(2, Text);
  Call->setArgOperand(3, Text);
  B.Insert(Call);
  return Handle;
}

/// The stub of a kernel with variants that \p Call launches, if it names one.
Function *HostSubstitution::knownStub(const CallBase &Call) const {
  Value *Kernel = launchedKernel(Call);
  auto *Stub = dyn_cast_or_null<Function>(Kernel);
  return Stub && Kernels.contains(Stub) ? Stub : nullptr;
}

/// True for launches of kernels with variants, and of kernels that are known
/// at run time only.
bool HostSubstitution::isWanted(const CallBase &Call) const {
  Value *Kernel = launchedKernel(Call);
  return Kernel && (!isa<Constant>(Kernel) || knownStub(Call));
}

void HostSubstitution::redirect() {
  auto Wanted = [&](const CallBase &Call) { return isWanted(Call); };
  makeOwnCopies(M, Wanted);
  SmallVector<CallBase *> Launches;
  for (Function &F : M)
    if (!isShared(F))
      for (Instruction &I : instructions(F))
        if (auto *Call = dyn_cast<CallBase>(&I); Call && isWanted(*Call))
          Launches.push_back(Call);
  LaunchDispatch Dispatch(Runtime, Kernels);
  for (CallBase *Call : Launches)
    Call->setCalledFunction(
        Dispatch.standIn(*Call->getCalledFunction(), knownStub(*Call)));
}

Expected<std::vector<SubstitutionOutcome>> HostSubstitution::run() {
  findKernels();
  if (Registrations.empty())
    return std::move(Outcomes);
  Expected<bool> Found = readBinary();
  if (!Found) {
    Outcomes.push_back({"", "Refused",
                        "the originals stay: " + toString(Found.takeError()),
                        false});
    return std::move(Outcomes);
  }
  if (!*Found || Options.CheckOnly || !Binary.anyHolds(VariantPrefix))
    return std::move(Outcomes);
  if (Error E = findVariants())
    return std::move(E);
  if (Kernels.empty())
    return std::move(Outcomes);
  redirect();
  Runtime.finish();
  return std::move(Outcomes);
}

Expected<std::vector<SubstitutionOutcome>>
substituteHost(Module &M, const SubstitutionOptions &Options) {
  return HostSubstitution(M, Options).run();
}

} // namespace cupilot
