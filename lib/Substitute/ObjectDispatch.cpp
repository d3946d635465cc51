//===- ObjectDispatch.cpp - Dispatch for objects of other compilers -*- C++
//-*-===//
//
// Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cupilot/Substitute/ObjectDispatch.h"
#include "HostRuntime.h"
#include "LaunchDispatch.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace cupilot {

namespace {
class ObjectDispatch {
public:
  ObjectDispatch(Module &M, ArrayRef<ObjectKernel> Kernels);
  Error emit(ArrayRef<std::string> Entries);

private:
  void addVariant(Function *Key, const ObjectKernel &K,
                  const CompiledVariant &V);
  Function *standIn(StringRef Entry);
  void emitConstructor();

  Module &M;
  LLVMContext &C;
  Type *Void, *I32, *I64, *Ptr;
  HostRuntime Runtime;
  LaunchableKernels Launchables;
  LaunchDispatch Dispatch{Runtime, M, Launchables};
  SmallVector<Constant *> Binaries;
};
} // namespace

/// Of crt/host_runtime.h: the mark of a fat binary's wrapper.
static constexpr uint32_t WrapperMagic = 0x466243b1;

ArrayRef<StringRef> redirectedEntries() {
  static const StringRef Entries[] = {
      "__cudaRegisterFunction", "__cudaGetKernel",
      "__cudaLaunchKernel",     "__cudaLaunchKernel_ptsz",
      "cudaLaunchKernel",       "cudaLaunchKernel_ptsz",
      "cudaLaunchKernelExC",    "cudaLaunchKernelExC_ptsz",
      "cudaFuncSetAttribute",   "cudaFuncSetCacheConfig"};
  return Entries;
}

std::string standInName(StringRef Entry) {
  return ("__cupilot_for_" + Entry).str();
}

ObjectDispatch::ObjectDispatch(Module &M, ArrayRef<ObjectKernel> Kernels)
    : M(M), C(M.getContext()), Void(Type::getVoidTy(C)),
      I32(Type::getInt32Ty(C)), I64(Type::getInt64Ty(C)),
      Ptr(PointerType::get(C, 0)), Runtime(M) {
  for (const ObjectKernel &K : Kernels) {
    // Never defined and never used: only a name for the launch dispatch.
    Function *Key = Function::Create(FunctionType::get(Void, false),
                                     GlobalValue::ExternalLinkage, K.Symbol, M);
    Dispatch.setAddresses(Key, Runtime.state(Ptr, "__cupilot_host_" + K.Symbol),
                          Runtime.state(Ptr, "__cupilot_kernel_" + K.Symbol));
    for (const CompiledVariant &V : K.Variants)
      addVariant(Key, K, V);
  }
}

void ObjectDispatch::addVariant(Function *Key, const ObjectKernel &K,
                                const CompiledVariant &V) {
  // Sections and alignment as nvcc has them (crt/host_runtime.h).
  Constant *Bytes =
      ConstantDataArray::getString(C, V.Fatbin, /*AddNull=*/false);
  auto *Data = new GlobalVariable(M, Bytes->getType(), true,
                                  GlobalValue::InternalLinkage, Bytes,
                                  V.Symbols.front() + "_fatbin");
  Data->setSection(".nv_fatbin");
  Data->setAlignment(Align(8));
  Constant *Wrapped = ConstantStruct::getAnon(
      {ConstantInt::get(I32, WrapperMagic), ConstantInt::get(I32, 1), Data,
       Constant::getNullValue(Ptr)});
  auto *Wrapper = new GlobalVariable(M, Wrapped->getType(), false,
                                     GlobalValue::InternalLinkage, Wrapped,
                                     V.Symbols.front() + "_wrapper");
  Wrapper->setSection(".nvFatBinSegment");
  Wrapper->setAlignment(Align(8));
  Launchable L;
  L.Kernel = K.Symbol;
  L.V = V.V;
  L.Names = V.Names;
  L.Params = V.Params;
  L.WaitsFirst = V.WaitsFirst;
  SmallVector<Constant *> Names, Handles;
  for (const std::string &Symbol : V.Symbols) {
    L.Handles.push_back(Runtime.state(Type::getInt8Ty(C), Symbol + "_handle"));
    Handles.push_back(L.Handles.back());
    Names.push_back(Runtime.text(Symbol));
  }
  Binaries.push_back(Runtime.structure(
      sizeof(CupilotBinary),
      {{offsetof(CupilotBinary, wrapper), Wrapper},
       {offsetof(CupilotBinary, registered),
        Runtime.state(Ptr, Wrapper->getName() + "_binary")},
       {offsetof(CupilotBinary, names),
        Runtime.table(Names, Wrapper->getName() + "_names")},
       {offsetof(CupilotBinary, addresses),
        Runtime.table(Handles, Wrapper->getName() + "_handles")},
       {offsetof(CupilotBinary, numKernels), Runtime.number(Names.size())}}));
  Launchables[Key].push_back(std::move(L));
}

/// What calls of \p Entry go to: for launches and attributes as in a host
/// module, for registrations the run time's own.
Function *ObjectDispatch::standIn(StringRef Entry) {
  auto Real = [&](FunctionType *Type) {
    return cast<Function>(M.getOrInsertFunction(Entry, Type).getCallee());
  };
  if (Entry == "__cudaRegisterFunction" || Entry == "__cudaGetKernel") {
    Dispatch.choices();
    // Their types are the run time's.
    return Runtime.function(standInName(Entry), FunctionType::get(Void, false));
  }
  if (Entry == "cudaFuncSetAttribute")
    return Dispatch.attributeStandIn(
        *Real(FunctionType::get(I32, {Ptr, I32, I32}, false)));
  if (Entry == "cudaFuncSetCacheConfig")
    return Dispatch.attributeStandIn(
        *Real(FunctionType::get(I32, {Ptr, I32}, false)));
  FunctionType *Type =
      Entry.starts_with("cudaLaunchKernelExC")
          ? FunctionType::get(I32, {Ptr, Ptr, Ptr}, false)
          : FunctionType::get(I32, {Ptr, I64, I32, I64, I32, Ptr, I64, Ptr},
                              false);
  Function *F = Runtime.createFunction(standInName(Entry), Type);
  Dispatch.emitForAny(*F, *Real(Type));
  return F;
}

/// Registers the fat binaries, as nvcc's own code does for the unit's.
void ObjectDispatch::emitConstructor() {
  Runtime.define("binaries", Binaries);
  appendToGlobalCtors(
      M, Runtime.function("__cupilot_register", FunctionType::get(Void, false)),
      /*Priority=*/65535);
}

Error ObjectDispatch::emit(ArrayRef<std::string> Entries) {
  SmallVector<std::string> Names;
  for (StringRef Entry : Entries)
    Names.push_back(standIn(Entry)->getName().str());
  emitConstructor();
  if (Error E = Runtime.link())
    return E;
  for (auto [Entry, Name] : zip_equal(Entries, Names)) {
    Function *F = M.getFunction(Name);
    F->setName(standInName(Entry));
    F->setLinkage(GlobalValue::ExternalLinkage);
    F->setVisibility(GlobalValue::HiddenVisibility);
  }
  return Error::success();
}

Expected<std::unique_ptr<Module>>
createObjectDispatch(LLVMContext &Context, const Triple &Target,
                     ArrayRef<std::string> Entries,
                     ArrayRef<ObjectKernel> Kernels) {
  auto M = std::make_unique<Module>("cupilot-dispatch", Context);
  M->setTargetTriple(Target);
  // Position independent, with unwind tables: it goes where the object goes.
  M->setPICLevel(PICLevel::BigPIC);
  M->setUwtable(UWTableKind::Async);
  // The object may be marked so: what is merged in must be too.
  M->addModuleFlag(Module::Min, "cf-protection-branch", 1);
  M->addModuleFlag(Module::Min, "cf-protection-return", 1);
  if (Error E = ObjectDispatch(*M, Kernels).emit(Entries))
    return std::move(E);
  return std::move(M);
}

} // namespace cupilot
