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
#include "LaunchSites.h"
#include "cupilot/Model/Contract.h"
#include "cupilot/Portable/UnitName.h"
#include "cupilot/Substitute/GpuBinary.h"
#include "cupilot/Substitute/Names.h"
#include "cupilot/Substitute/Substitute.h"
#include "llvm/Frontend/Offloading/Utility.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace cupilot {

namespace {
/// How the host module tells the run time of a kernel: by a call, or, in
/// relocatable device code of clang's new driver, by an entry in a table that
/// what the linker adds goes through (clang, "Offloading Design & Internals").
struct KernelRegistration {
  std::string Name;         ///< Of the kernel in the device code.
  CallInst *Call = nullptr; ///< Null: by an entry.
};

class HostSubstitution {
public:
  HostSubstitution(Module &M, const SubstitutionOptions &Options)
      : M(M), Options(Options), Runtime(M) {}
  Expected<std::vector<SubstitutionOutcome>> run();

private:
  Error substitute();
  void findKernels();
  Expected<bool> readBinary();
  Error findVariants();
  GlobalVariable *registerHandle(const KernelRegistration &Kernel,
                                 StringRef Name);
  Function *knownStub(const CallBase &Call) const;
  bool isWanted(const CallBase &Call) const;
  void redirect();
  void redirectPointer(CallBase &Call);
  CallBase *pointerLaunch(const CallBase &Call) const;

  Module &M;
  const SubstitutionOptions &Options;
  HostRuntime Runtime;
  GpuBinary Binary;
  MapVector<Function *, KernelRegistration> Registrations; ///< By stub.
  LaunchableKernels Kernels;
  KernelStubs Stubs;
  OwnCopies Copies;
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

/// The stub and the name that \p G holds, if it is an entry for a kernel of
/// CUDA's: llvm::offloading::EntryTy.
static std::pair<Function *, StringRef> kernelOfEntry(const GlobalVariable &G) {
  if (G.getSection() != "llvm_offload_entries" || !G.hasInitializer())
    return {};
  const auto *Entry = dyn_cast<ConstantStruct>(G.getInitializer());
  if (!Entry || Entry->getNumOperands() < 7)
    return {};
  auto Is = [&](unsigned I, uint64_t Value) {
    const auto *N = dyn_cast<ConstantInt>(Entry->getOperand(I));
    return N && N->getZExtValue() == Value;
  };
  // Kind, flags and size.
  if (!Is(2, object::OFK_Cuda) || !Is(3, offloading::OffloadGlobalEntry) ||
      !Is(6, 0))
    return {};
  return {dyn_cast<Function>(Entry->getOperand(4)->stripPointerCasts()),
          stringOf(Entry->getOperand(5))};
}

void HostSubstitution::findKernels() {
  auto Found = [&](Function *Stub, StringRef Name, CallInst *Call) {
    if (!Stub)
      return;
    Registrations[Stub] = {Name.str(), Call};
    Stubs[Stub] = Name.str();
  };
  if (Function *Register = M.getFunction("__cudaRegisterFunction"))
    for (User *U : Register->users())
      if (auto *Call = dyn_cast<CallInst>(U);
          Call && Call->getCalledFunction() == Register)
        Found(dyn_cast<Function>(Call->getArgOperand(1)->stripPointerCasts()),
              stringOf(Call->getArgOperand(2)), Call);
  for (const GlobalVariable &G : M.globals()) {
    auto [Stub, Name] = kernelOfEntry(G);
    Found(Stub, Name, nullptr);
  }
}

/// Where drivers put device code: whole; relocatable, for CUDA's device linker
/// and for clang's.
static bool holdsDeviceCode(StringRef Section) {
  return Section == ".nv_fatbin" || Section == "__nv_relfatbin" ||
         Section == ".llvm.offloading";
}

Expected<bool> HostSubstitution::readBinary() {
  for (GlobalVariable &G : M.globals()) {
    if (!G.hasInitializer() || !holdsDeviceCode(G.getSection()))
      continue;
    auto *Data = dyn_cast<ConstantDataSequential>(G.getInitializer());
    if (!Data)
      continue;
    Expected<GpuBinary> Parsed = GpuBinary::parse(Data->getRawDataValues());
    if (!Parsed)
      return Parsed.takeError();
    if (!Parsed->images()) // Another language's.
      continue;
    Binary = std::move(*Parsed);
    return true;
  }
  return false;
}

Error HostSubstitution::findVariants() {
  // All that the store is asked for, before the module is changed.
  std::vector<std::vector<BuildRecord>> Records;
  for (auto &[Stub, Registration] : Registrations)
    if (Error E = Options.Store->recordsFor(withoutUnitName(Registration.Name))
                      .moveInto(Records.emplace_back()))
      return E;
  for (auto &&[Registered, Own] : zip_equal(Registrations, Records)) {
    auto &[Stub, Registration] = Registered;
    StringRef Name = Registration.Name;
    for (BuildRecord &R : Own)
      for (BuildVariant &V : R.Variants) {
        std::vector<std::string> Symbols = variantSymbols(Name, V);
        if (whyNotBuilt(Name, V, Options.Evidence, Options.Store->root()))
          continue; // As the device half did.
        restrictDomain(V, Options.Evidence);
        if (Symbols.empty() || !all_of(Symbols, [&](StringRef Each) {
              return Binary.allHold(Each);
            }))
          continue;
        Launchable L;
        L.Kernel = Name.str();
        L.V = V;
        L.Names = R.names();
        L.Params = R.Params;
        for (StringRef Each : Symbols)
          L.Handles.push_back(registerHandle(Registration, Each));
        Outcomes.push_back(
            {Name.str(), SubstitutionResult::VariantApplied,
             noteOfApplied(V, V.Genome + " (for " + V.When.Arch + ")" +
                                  contractRemark(R.Contract)),
             /*Variant=*/"", Stub->getName().str(), conditionsOf(V, R)});
        Kernels[Stub].push_back(std::move(L));
      }
  }
  return Error::success();
}

GlobalVariable *
HostSubstitution::registerHandle(const KernelRegistration &Kernel,
                                 StringRef Name) {
  LLVMContext &C = M.getContext();
  auto *Handle = new GlobalVariable(
      M, Type::getInt8Ty(C), /*isConstant=*/false, GlobalValue::InternalLinkage,
      ConstantInt::get(Type::getInt8Ty(C), 0), Name + "_handle");
  if (!Kernel.Call) {
    offloading::emitOffloadingEntry(M, object::OFK_Cuda, Handle, Name,
                                    /*Size=*/0, offloading::OffloadGlobalEntry,
                                    /*Data=*/0);
    return Handle;
  }
  IRBuilder<> B(Kernel.Call->getNextNode());
  Value *Text = B.CreateGlobalString(Name, Name + "_name");
  auto *Call = cast<CallInst>(Kernel.Call->clone());
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

/// A call through a pointer enters a stub; where that is shared, this unit's
/// copy of it has the dispatch.
void HostSubstitution::redirectPointer(CallBase &Call) {
  IRBuilder<> B(&Call);
  Value *Callee = Call.getCalledOperand();
  for (const auto &[Stub, Variants] : Kernels)
    if (Function *Copy = Copies.lookup(Stub);
        Copy && Stub->getFunctionType() == Call.getFunctionType())
      Callee = B.CreateSelect(B.CreateICmpEQ(Call.getCalledOperand(), Stub),
                              Copy, Callee);
  Call.setCalledOperand(Callee);
}

/// The launch that \p Call begins, when it goes through a pointer that may be
/// a shared stub of a kernel with variants.
CallBase *HostSubstitution::pointerLaunch(const CallBase &Call) const {
  CallBase *Launch = launchAfter(const_cast<CallBase &>(Call), Stubs);
  if (!Launch || Launch->getCalledFunction() ||
      none_of(Kernels, [&](const auto &Each) {
        return isShared(*Each.first) &&
               Each.first->getFunctionType() == Launch->getFunctionType();
      }))
    return nullptr;
  return Launch;
}

void HostSubstitution::redirect() {
  auto SetsAttribute = [&](const CallBase &Call) {
    const Function *Entry = Call.getCalledFunction();
    if (!Entry || !setsAttribute(*Entry) ||
        Call.getFunctionType() != Entry->getFunctionType())
      return false;
    Value *Kernel = Call.getArgOperand(0)->stripPointerCasts();
    auto *Stub = dyn_cast<Function>(Kernel);
    return !isa<Constant>(Kernel) || (Stub && Kernels.contains(Stub));
  };
  Copies = makeOwnCopies(M, [&](const CallBase &Call) {
    return isWanted(Call) || SetsAttribute(Call) || pointerLaunch(Call);
  });
  SmallVector<CallBase *> Launches, Pointers, Attributes;
  for (Function &F : M)
    if (hasOwnBody(F))
      for (Instruction &I : instructions(F))
        if (auto *Call = dyn_cast<CallBase>(&I)) {
          if (isWanted(*Call))
            Launches.push_back(Call);
          else if (SetsAttribute(*Call))
            Attributes.push_back(Call);
          else if (CallBase *Launch = pointerLaunch(*Call))
            Pointers.push_back(Launch);
        }
  LaunchDispatch Dispatch(Runtime, M, Kernels);
  for (CallBase *Call : Launches)
    Call->setCalledFunction(
        Dispatch.standIn(*Call->getCalledFunction(), knownStub(*Call)));
  for (CallBase *Call : Attributes)
    Call->setCalledFunction(
        Dispatch.attributeStandIn(*Call->getCalledFunction()));
  for (CallBase *Call : Pointers)
    redirectPointer(*Call);
}

Expected<std::vector<SubstitutionOutcome>> HostSubstitution::run() {
  findKernels();
  Error Failed = substitute();
  if (Failed)
    return std::move(Failed);
  if (Options.Sites)
    *Options.Sites = findLaunchSites(M, Stubs, Kernels, Copies);
  return std::move(Outcomes);
}

Error HostSubstitution::substitute() {
  if (Registrations.empty())
    return Error::success();
  Expected<bool> Found = readBinary();
  if (!Found) {
    Outcomes.push_back(
        {"", SubstitutionResult::Refused, noteOf(Found.takeError())});
    return Error::success();
  }
  if (!*Found || Options.CheckOnly || !Binary.anyHolds(VariantPrefix))
    return Error::success();
  if (Error E = findVariants())
    return E;
  if (Kernels.empty())
    return Error::success();
  Runtime.follow(*Kernels.front().first);
  redirect();
  return Runtime.link();
}

Expected<std::vector<SubstitutionOutcome>>
substituteHost(Module &M, const SubstitutionOptions &Options) {
  return HostSubstitution(M, Options).run();
}

} // namespace cupilot
